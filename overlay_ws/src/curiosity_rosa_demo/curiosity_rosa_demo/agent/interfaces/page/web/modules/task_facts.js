// What a task looks like, in the list and in full. Pure.
import { capturesFacts, planFacts } from './state_facts.js';
import { clip, clipColumns, counted, isObject, memo } from './text.js';
import { captureTaken, modelCalled } from './trace_facts.js';

const MOST_COLUMNS = 120;
const BEHIND_COLUMNS = 40;
const RUNS = ['active', 'recovering']; // its skill runs, or ran when the agent crashed
const WAITS = ['pending', 'paused']; // it runs as soon as it is picked, unless it is held
const ENDED = ['completed', 'failed', 'cancelled'];

/** @param {string} time */
const seconds = (time) => Date.parse(time) / 1000;

/** The newest first. @type {(tasks: Record<string, TaskJson> | undefined) => TaskRow[]} */
export const taskRows = memo((tasks = {}) => {
  const newest = Object.values(tasks).sort((one, other) => other.seq - one.seq);
  const runs = newest.find((task) => RUNS.includes(task.state));
  const behind = runs ? `queued behind ${runs.id.slice(0, 8)} ${clipColumns(runs.summary, BEHIND_COLUMNS)}` : '';
  return newest.map((task) => {
    const row = taskRow(task);
    return { ...row, behind: row.waits && !row.held ? behind : '' };
  });
});

/**
 * @param {TaskJson} task
 * @returns {TaskRow}
 */
function taskRow(task) {
  const live = !ENDED.includes(task.state);
  return {
    id: task.id,
    short: task.id.slice(0, 8),
    what: clipColumns(task.summary, MOST_COLUMNS),
    by: task.asked_by,
    state: task.state,
    held: task.held && live,
    live,
    runs: RUNS.includes(task.state),
    waits: WAITS.includes(task.state),
    urgent: task.urgent,
    priority: task.priority,
    seq: task.seq,
    reason: clipColumns(task.reason, MOST_COLUMNS),
    since: seconds(task.updated_at),
  };
}

/**
 * A task in full: its history, its plan with the state of each step, its captures, and what its calls of a language
 * model have used. `rows`: of the trace. `running`: the plan of the last turn, which knows the running step.
 * @type {(task: TaskJson, rows: readonly TraceRow[], progress: ProgressRow[], running: unknown,
 *   captures: Record<string, CaptureJson> | undefined) => TaskDetail}
 */
export const taskDetail = memo((task, rows, progress, running, captures = {}) => {
  const events = rows.filter((row) => row.task === task.id).map((row) => row.event);
  const taken = new Set(events.filter(captureTaken).map((event) => event.event_id));
  const own = Object.entries(captures).filter(([id]) => taken.has(id));
  return {
    ...taskRow(task),
    created: seconds(task.created_at),
    history: task.history,
    plan: planOf(task, events, running),
    progress: progress.filter((row) => row.task === task.id || row.id === task.id),
    captures: capturesFacts(Object.fromEntries(own), false, false).rows,
    usage: usageText(task.metadata?.usage, events),
  };
});

/**
 * Each step with `why`: what came of it.
 * @param {TaskJson} task
 * @param {TraceJson[]} events
 * @param {unknown} running
 * @returns {PlanFacts}
 */
function planOf(task, events, running) {
  const made = events.findLast((event) => event.kind === 'HYPOTHESIZE' && Array.isArray(event.data?.steps));
  const plan = /** @type {Record<string, unknown>} */ (made?.data ?? task.metadata?.plan);
  if (!isObject(plan)) return planFacts(null);
  const now = /** @type {Record<string, unknown>} */ (isObject(running) ? running : {});
  const facts = planFacts(now.plan_id === plan.plan_id ? { ...plan, ...now } : plan);
  const ended = events.filter((event) => event.tool_name === 'plan' && event.data?.plan_id === plan.plan_id);
  for (const step of facts.steps) {
    const result = ended.findLast((event) => String(event.data?.step_id) === step.id)?.data;
    step.why = clip(result?.message);
    if (step.status === 'pending' && result) step.status = clip(result.status);
  }
  return facts;
}

/**
 * Tokens and cost of a task's calls of a language model; '': it made none.
 * @param {unknown} stored their sum, once its turn has ended; until then, that of the events
 * @param {TraceJson[]} events
 */
function usageText(stored, events) {
  const calls = events.map(modelCalled).filter((call) => call !== undefined);
  /** @type {Record<string, any>} */
  const used = isObject(stored) ? /** @type {Record<string, any>} */ (stored) : summed(calls);
  if (!Number.isInteger(used.calls) || !used.calls) return '';
  const price = typeof used.cost === 'number' ? `${used.cost.toFixed(6)} ${used.currency}` : 'cost unknown';
  return clip(`${counted(used.calls, 'call')}: ${used.input} tokens in, ${used.output} out, ${price}`);
}

/** @param {Record<string, any>[]} calls */
function summed(calls) {
  /** @param {string} part */
  const sum = (part) => calls.reduce((total, call) => total + (call[part] ?? 0), 0);
  const priced = calls.some((call) => typeof call.cost === 'number');
  return {
    calls: calls.length,
    input: sum('input'),
    output: sum('output'),
    cost: priced ? sum('cost') : null,
    currency: calls[0]?.currency,
  };
}
