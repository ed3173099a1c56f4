// What an event of the trace is to a person. Pure.
import { clip, isObject } from './text.js';

const RESTARTED = 'The agent was restarted; what stands above is of the agent before.';

/**
 * Whether the event is of a type of trace/events.py. That of an older recording has none; what it holds decides.
 * @param {TraceJson} event
 * @param {string} type
 * @param {string} kind
 */
const isOf = (event, type, kind) => event.kind === kind && (!event.type || event.type === type);

/** @param {TraceJson} event @returns {Record<string, any>} */
const dataOf = (event) => event.data ?? {};

/** @param {TraceJson} event */
export const turnStarted = (event) =>
  isOf(event, 'turn_started', 'OBSERVE') && Number.isInteger(dataOf(event).turn_calls);

/** @param {TraceJson} event */
export const turnAnswered = (event) => isOf(event, 'turn_answered', 'RESULT') && !event.tool_name;

/** @param {TraceJson} event */
export const questionAsked = (event) =>
  isOf(event, 'question_asked', 'DECIDE') && typeof dataOf(event).question === 'string';

/** @param {TraceJson} event */
const questionAnswered = (event) =>
  isOf(event, 'question_answered', 'OBSERVE') && typeof dataOf(event).answered?.question_id === 'string';

/** @param {TraceJson} event */
export const skillProgressed = (event) =>
  isOf(event, 'skill_progressed', 'OBSERVE') && isObject(dataOf(event).progress);

/** What a call of a model has used; undefined: it is another event. @param {TraceJson} event */
export const modelCalled = (event) =>
  isOf(event, 'model_called', 'OBSERVE') && isObject(dataOf(event).model_call) ? dataOf(event).model_call : undefined;

/** @param {TraceJson} event */
export const captureTaken = (event) => isOf(event, 'tool_result', 'RESULT') && event.tool_name === 'capture_and_score';

/** The end of a plan's step that the result of its call has told. @param {TraceJson} event */
const stepToldBefore = (event) => isOf(event, 'plan_step_ended', 'RESULT') && dataOf(event).told === true;

/** Whether it was played back from a recording. @param {TraceJson | undefined} event */
export const isReplay = (event) => Boolean(event?.data?.replay);

/** The ID of the task in which it happened; '': in none. @param {TraceJson} event */
export function taskOf(event) {
  const data = dataOf(event);
  const id = modelCalled(event)?.task_id ?? (skillProgressed(event) ? data.task_id : data.in_task);
  return typeof id === 'string' ? id : '';
}

/**
 * What the event is in a conversation; a note is not shown there.
 * @param {TraceJson} event
 * @returns {TraceRole}
 */
function roleOf(event) {
  if (turnStarted(event)) return dataOf(event).turn_calls ? 'thought' : 'said';
  if (turnAnswered(event)) return 'answer';
  if (questionAsked(event)) return 'asks';
  if (questionAnswered(event)) return 'answered';
  if (skillProgressed(event)) return 'progress';
  if (event.kind === 'RESTART' || modelCalled(event) || stepToldBefore(event)) return 'note';
  if (event.kind === 'ACT') return 'act';
  if (event.kind === 'RESULT' || event.kind === 'ERROR') return event.tool_name ? 'result' : 'failure';
  return taskOf(event) || event.kind !== 'OBSERVE' ? 'thought' : 'note';
}

/** The ID of the question that it asks or answers; '': none. @param {TraceJson} event */
function questionOf(event) {
  if (questionAsked(event)) return dataOf(event).question;
  return questionAnswered(event) ? dataOf(event).answered.question_id : '';
}

/**
 * A line of the trace, after `before`.
 * @param {TraceJson} event
 * @param {TraceRow | undefined} before
 * @returns {TraceRow}
 */
export function traceRow(event, before) {
  const earlier = event.earlier ?? false;
  const follows = before && before.kind !== 'RESTART' && before.earlier === earlier;
  return Object.freeze({
    id: event.event_id,
    event,
    ts: event.ts,
    took: follows ? Math.max(0, event.ts - before.ts) : null,
    kind: event.kind,
    tool: clip(event.tool_name),
    text: event.kind === 'RESTART' ? RESTARTED : clip(event.message),
    ok: event.ok ?? null,
    replay: isReplay(event),
    earlier,
    role: roleOf(event),
    task: clip(taskOf(event)),
    question: clip(questionOf(event)),
  });
}

// --- Where the time of a turn went ---------------------------------------------------------------

/** @typedef {{ phase: string, seconds: number, detail: string }} Span `detail`: the tool */

export const PHASES = ['thinking', 'checking', 'acting', 'asking'];
const LEAST_S = 1e-6; // of a span; clocks may jump
const MOST_S = 1e7;

/**
 * The steps of the last turn; of all events if its start is not among them. Reports of progress, and questions about
 * tasks, start no step.
 * @param {readonly TraceJson[]} events
 */
export function lastTurn(events) {
  const steps = events.filter((event) => !skillProgressed(event) && !asksAboutTask(event) && event.kind !== 'RESTART');
  return steps.slice(Math.max(0, steps.findLastIndex(turnStarted)));
}

/** @param {TraceJson} event */
function asksAboutTask(event) {
  const { in_task: task, question } = dataOf(event);
  return questionAsked(event) && Boolean(task) && task === question;
}

/**
 * The spans between the events of one turn, the oldest first. Thinking lasts until a DECIDE, checking until the ACT,
 * acting until the RESULT or ERROR; asking lasts from a question to its answer. What is not part of a turn is no span.
 * @param {readonly TraceJson[]} events
 * @returns {Span[]}
 */
export function phaseSpans(events) {
  /** @type {Span[]} */
  const spans = [];
  let phase = 'thinking';
  let detail = '';
  let inTurn = events[0]?.kind === 'OBSERVE' || events[0]?.kind === 'HYPOTHESIZE';
  for (const [place, event] of events.slice(0, -1).entries()) {
    if (turnStarted(event) || event.kind === 'DECIDE') inTurn = true;
    else if (turnAnswered(event) || (event.kind === 'ERROR' && !event.tool_name)) inTurn = false;
    phase = phaseAfter(event, phase, inTurn);
    detail = event.tool_name || detail;
    const seconds = Math.min(events[place + 1].ts - event.ts, MOST_S);
    if (!phase || seconds < LEAST_S) continue;
    const last = spans.at(-1);
    if (last?.phase === phase && last.detail === detail) last.seconds += seconds;
    else spans.push({ phase, seconds, detail });
  }
  return spans;
}

/**
 * '' is idle.
 * @param {TraceJson} event
 * @param {string} phase
 * @param {boolean} inTurn
 */
function phaseAfter(event, phase, inTurn) {
  const { kind } = event;
  if (kind === 'DECIDE') return questionAsked(event) ? 'asking' : 'checking';
  if (kind === 'ACT') return 'acting';
  if (!inTurn) return phase === 'acting' && kind === 'OBSERVE' ? phase : '';
  if (kind === 'RESULT' || kind === 'ERROR') return 'thinking';
  return kind === 'OBSERVE' && phase === 'asking' ? 'checking' : phase || 'thinking';
}
