// What the head, the alarms and the small panels show, made of the robot's public state. Pure.
import { clip, counted, isObject, memo, placeText, visible } from './text.js';

// Sources with a shown age; the e-stop publishes only changes.
const SOURCES = ['odometry', 'scan', 'battery'];
const FAILURE_SHOWN_S = 900; // a task that failed longer ago is in the list of tasks only
const MAX_FAILED = 2; // the newest
const NO_STATE = /** @type {StateJson} */ ({});

/** @param {StateJson} state */
const robotOf = (state) => state.brain_state?.robot ?? {};

/** @param {StateJson} state */
export const wheelsText = (state) =>
  !state.sources?.includes('odometry') ? 'unknown' : robotOf(state).moving ? 'moving' : 'still';

/** @param {StateJson} state */
export function batteryFacts(state) {
  const { battery_state: level, battery_pct: percent } = robotOf(state);
  const low = level === 'LOW';
  if (!level || level === 'UNKNOWN' || percent === undefined) return { text: 'unknown', bad: false };
  return { text: `${percent} %${low ? ' low' : ''}`, bad: low };
}

/** @param {boolean | undefined} pressed */
const estopText = (pressed) => (pressed === undefined ? 'unknown' : pressed ? 'PRESSED' : 'released');

/**
 * The head. `rows`: the tasks. `replay`: a recording is played. `past`: of another time.
 * @type {(state: StateJson | undefined, rows: TaskRow[], about: About, replay: boolean, past: boolean) => StatusFacts}
 */
export const statusFacts = memo((state = NO_STATE, rows, about, replay, past) => {
  const robot = robotOf(state);
  const silent = robot.silent ?? [];
  const { mode = 'UNKNOWN', mode_reason: why = '' } = state.brain_state?.tasks ?? {};
  /** @returns {HeadValue} */
  const value = (/** @type {string} */ name, /** @type {string} */ text, from = '', bad = false) => ({
    name,
    text: clip(text),
    from: from || null,
    limit: about.limits[from] ?? null,
    bad,
  });
  const battery = batteryFacts(state);
  return {
    mode,
    why: clip(why),
    auto: clip(state.auto),
    auto_on: state.auto_on ?? false,
    ...taskNow(rows, past),
    motion: [
      value('Wheels', wheelsText(state), 'odometry'),
      value('Place', placeText(state.pose), 'odometry'),
      value('Way ahead', state.way_ahead ?? 'unknown', 'scan'),
      value('Mast', robot.mast ?? 'unknown', 'adapter'),
      ...Object.entries(robot.appendages ?? {}).map(([name, posture]) =>
        value(name.charAt(0).toUpperCase() + name.slice(1), posture, 'adapter'),
      ),
      value('E-stop', estopText(robot.estop), '', robot.estop),
      ...(state.warnings ?? []).map((text) => value('Warning', text, 'adapter', true)),
    ],
    power: [value('Battery', battery.text, 'battery', battery.bad)],
    sources: SOURCES.filter((name) => state.sources?.includes(name)).map((name) => ({
      name,
      silent: silent.includes(name),
      limit: about.limits[name] ?? null,
    })),
    // A healthy node without an age is part of the agent itself.
    nodes: (state.nodes ?? []).map(({ name, ok, heard, text }) => ({
      name,
      ok,
      aged: !past && (heard || !ok),
      text: clip(text),
    })),
    usage: clip(state.usage_text),
    body: clip(about.body),
    replay: replay || past,
    past,
  };
});

/**
 * The task that runs, how many wait for it, and what the buttons may do.
 * @param {TaskRow[]} rows
 * @param {boolean} past
 */
function taskNow(rows, past) {
  const live = rows.filter((row) => row.live);
  const held = live.filter((row) => row.held).length;
  const queued = live.filter((row) => row.waits && !row.held).length;
  return {
    task: live.find((row) => row.runs)?.what ?? '',
    queued: [queued && `${queued} queued`, held && `${held} held`].filter(Boolean).join(', '),
    pausable: !past && live.length > held,
    held: !past && held > 0,
  };
}

/**
 * What an operator must not miss: SAFE, a replay, and what has failed. `now`: seconds since the epoch.
 * @type {(state: StateJson | undefined, rows: TaskRow[], replay: boolean, now: number) => AlarmsFacts}
 */
export const alarmsFacts = memo((state = NO_STATE, rows, replay, now) => {
  const safe = state.brain_state?.tasks?.mode === 'SAFE';
  return {
    safe: safe ? safeFacts(state) : null,
    replay,
    replay_text: clip(state.replay),
    rows: [
      ...conditions(state, safe),
      ...(state.nodes ?? [])
        .filter((node) => !node.ok)
        .map((node) => ({ id: `node:${node.name}`, text: clip(`${node.name}: ${node.text || 'not well'}`) })),
      ...failedTasks(rows, now),
      ...heldTasks(rows),
    ],
  };
});

/** @param {StateJson} state */
function safeFacts(state) {
  const { estop, safety_latch: latch } = robotOf(state);
  const look = estop ? 'Release the e-stop' : 'Look at the rover';
  return {
    cause: clip(state.brain_state?.tasks?.mode_reason || latch || 'cause unknown'),
    way_out: estop || latch ? `${look}, then press Clear.` : 'SAFE ends when it is back.',
    latched: Boolean(latch),
  };
}

/**
 * @param {StateJson} state
 * @param {boolean} safe
 * @returns {AlarmRow[]}
 */
function conditions(state, safe) {
  const { safety_latch: latch, estop, silent = [], battery_state: level, battery_pct: percent } = robotOf(state);
  /** @type {(AlarmRow | false)[]} */
  const rows = [
    Boolean(state.ready) && { id: 'waits', text: clip(`Nothing can run yet: ${state.ready}`) },
    Boolean(latch) && !safe && { id: 'latch', text: clip(`Held: ${latch}`), line: ':clear', button: 'Clear' },
    Boolean(estop) && !safe && { id: 'estop', text: 'The e-stop is pressed' },
    ...silent.map((source) => ({ id: `silent:${source}`, text: clip(`${source} is silent`) })),
    level === 'LOW' && { id: 'battery', text: `The battery is low: ${percent} %` },
  ];
  return rows.filter((row) => row !== false);
}

/**
 * @param {TaskRow[]} rows
 * @param {number} now
 * @returns {AlarmRow[]}
 */
const failedTasks = (rows, now) =>
  rows
    .filter((row) => row.state === 'failed' && now - row.since < FAILURE_SHOWN_S)
    .sort((one, other) => other.since - one.since)
    .slice(0, MAX_FAILED)
    .map((row) => ({
      id: `task:${row.id}`,
      text: clip(`Task ${row.short} failed: ${row.what}${row.reason && `: ${row.reason}`}`, 120),
      dismissable: true,
    }));

/**
 * No failure, but nothing goes on without a person.
 * @param {TaskRow[]} rows
 * @returns {AlarmRow[]}
 */
function heldTasks(rows) {
  const held = rows.filter((row) => row.live && row.held).length;
  if (!held) return [];
  const text = `${counted(held, 'task')} held until a person resumes`;
  return [{ id: 'held', text, told: true, line: ':resume', button: 'Resume' }];
}

// --- questions, captures, ground, triggers, progress --------------------------------------------

/** @param {RehearsalJson | null | undefined} rehearsal */
export const rehearsalLines = (rehearsal) => (rehearsal?.text ? rehearsal.text.split('\n').map(visible) : []);

/** In full: the operator must see all that is approved or edited. @type {(asked: QuestionJson[] | undefined) => QuestionRow[]} */
export const questionRows = memo((asked = []) =>
  asked.map(({ id, text, op, reasons, until, rehearsal }) => ({
    id,
    short: id.length <= 12 ? id : id.slice(0, 8),
    text,
    reasons,
    rehearsal: rehearsalLines(rehearsal),
    skill: op ? visible(op.skill) : '',
    arguments: JSON.stringify(op?.arguments ?? {}, null, 2)
      .split('\n')
      .map(visible)
      .join('\n'),
    editable: op !== null && op !== undefined,
    until,
  })),
);

/**
 * The newest first. `replay`: the camera shows a recording.
 * @type {(captures: Record<string, CaptureJson> | undefined, replay: boolean, past: boolean) => CapturesFacts}
 */
export const capturesFacts = memo((captures = {}, replay, past) => ({
  rows: Object.values(captures)
    .map(({ event_id: id, score, is_good: good, at, pose }) => ({ id, score, good, at, place: placeText(pose) }))
    .reverse(),
  replay: replay || past,
  past,
}));

/** @type {(ground: GroundJson | undefined, past: boolean) => GroundFacts} */
export const groundFacts = memo((ground, past) => ({
  id: ground?.event_id ?? '',
  at: ground?.at ?? 0,
  picture: Boolean(ground?.has_picture) && !past,
  note: clip(ground?.analysis.geometry_note),
  rows: ground?.figures ?? [],
}));

/** @type {(triggers: Record<string, TriggerJson> | undefined) => TriggerRow[]} */
export const triggerRows = memo((triggers = {}) =>
  Object.values(triggers).map(({ name, state, value, condition, action, why_not: why }) => ({
    name,
    on: state !== 'off',
    state,
    value: value === undefined ? '' : clip(JSON.stringify(value), 60),
    what: clip(`${condition}: ${action}`, 120),
    why: clip(why, 120),
  })),
);

/** The running skills that report progress. @type {(state: StateJson | undefined) => ProgressRow[]} */
export const progressRows = memo((state = NO_STATE) =>
  (state.brain_state?.skills?.running ?? [])
    .filter((run) => run.progress && Object.keys(run.progress).length)
    .map(({ goal_id: id, task_id: task, skill_name: skill, progress = {} }) => ({
      id,
      task: task || id,
      skill: clip(skill),
      fraction: fractionOf(progress),
      text: clip(progressText(skill, progress)),
    })),
);

/** @param {Record<string, unknown>} progress */
function fractionOf({ fraction }) {
  return typeof fraction === 'number' && fraction >= 0 && fraction <= 1 ? fraction : null;
}

/**
 * A line such as "navigate_to_pose: 40 %, 3 legs driven, 6.1 m left".
 * @param {string} skill
 * @param {Record<string, unknown>} progress
 */
function progressText(skill, progress) {
  const { legs, distance_m: metres, waited_s: seconds, loop_m: loop, straight_m: straight } = progress;
  if (legs === 0 && typeof loop === 'number' && typeof straight === 'number')
    return `${skill}: needs a loop of ${loop.toFixed(0)} m for a goal ${straight.toFixed(1)} m away`;
  const fraction = fractionOf(progress);
  const told = [
    fraction !== null && `${(100 * fraction).toFixed(0)} %`,
    typeof legs === 'number' && `${counted(legs, 'leg')} driven`,
    typeof metres === 'number' && `${metres.toFixed(1)} m left`,
    typeof seconds === 'number' && `waited ${seconds.toFixed(0)} s`,
  ].filter(Boolean);
  return `${skill}: ${told.join(', ') || 'under way'}`;
}

// --- the plan ------------------------------------------------------------------------------------

/**
 * Invalid parts, which a model may have written, are left out.
 * @param {unknown} plan
 * @param {RehearsalJson} [rehearsal]
 * @returns {PlanFacts}
 */
export function planFacts(plan, rehearsal) {
  const { goal, status, steps } = /** @type {Record<string, unknown>} */ (isObject(plan) ? plan : {});
  return {
    goal: clip(goal),
    status: clip(status),
    rehearsal: rehearsalLines(rehearsal),
    differs: Boolean(rehearsal?.real?.exceeded?.length),
    steps: Array.isArray(steps) ? steps.filter(isObject).map(stepFacts) : [],
  };
}

/**
 * @param {Record<string, unknown>} step
 * @returns {PlanStep}
 */
function stepFacts({ step_id: id, action, parameters, status, description }) {
  const given = isObject(parameters) && Object.keys(/** @type {object} */ (parameters)).length;
  return {
    id: clip(id),
    action: clip(action),
    parameters: given ? clip(JSON.stringify(parameters)) : '',
    status: clip(status ?? 'pending'),
    text: clip(description),
  };
}

export const shownPlan = memo((/** @type {StateJson | undefined} */ state) =>
  planFacts(state?.brain_state?.react?.plan, state?.brain_state?.react?.rehearsal),
);
