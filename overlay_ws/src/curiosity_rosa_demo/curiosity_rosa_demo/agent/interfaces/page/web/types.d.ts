// The types of the page's JavaScript: what the server sends (status_rows.py, head_rows.py, alarm_rows.py,
// task_detail.py, talk_lines.py, fleet_rows.py), the events of the page, and what the scripts of the head offer.
// Times are in seconds since the epoch, ages in seconds, lengths in metres.

/** A line of the trace. `role`: what it is in a conversation. `took`: seconds after the line before. */
interface TraceRow {
  readonly id: string;
  readonly event: TraceJson;
  readonly ts: number;
  readonly took: number | null;
  readonly kind: string;
  readonly tool: string;
  readonly text: string;
  readonly ok: boolean | null;
  readonly replay: boolean;
  /** Of the agent that ran before this one. */
  readonly earlier: boolean;
  readonly role: TraceRole;
  /** The ID of its task; '': of none. */
  readonly task: string;
  /** The ID of the question that it asks or answers; '': none. */
  readonly question: string;
}

type TraceRole =
  | 'said'
  | 'thought'
  | 'act'
  | 'progress'
  | 'result'
  | 'asks'
  | 'answered'
  | 'answer'
  | 'failure'
  | 'note';

/** A task. Those that wait run in the order of `urgent`, `priority` and `seq`. */
interface TaskRow {
  id: string;
  short: string;
  what: string;
  by: string;
  state: string;
  held: boolean;
  live: boolean;
  runs: boolean;
  waits: boolean;
  urgent: boolean;
  priority: number;
  seq: number;
  reason: string;
  since: number;
  behind?: string;
}

/** A change of a task that a person asks for. `priority`: the new one, of the act priority. */
interface TaskAct {
  id: string;
  act: 'pause' | 'resume' | 'cancel' | 'priority';
  priority?: number;
}

interface TaskDetail extends TaskRow {
  created: number;
  usage: string;
  history: { at: number; state: string; reason: string }[];
  plan: PlanFacts;
  progress: ProgressRow[];
  captures: CaptureRow[];
}

/** How far a running skill is. `fraction` null: unknown. */
interface ProgressRow {
  id: string;
  /** The ID of its task. */
  task: string;
  skill: string;
  text: string;
  fraction: number | null;
}

interface PlanStep {
  id: string;
  action: string;
  parameters: string;
  status: string;
  text: string;
  why?: string;
}

interface PlanFacts {
  goal: string;
  status: string;
  rehearsal: string[];
  differs: boolean;
  steps: PlanStep[];
}

/** An open question. `until`: when it is rejected without an answer; null: never. */
interface QuestionRow {
  id: string;
  short: string;
  text: string;
  reasons: string[];
  rehearsal: string[];
  skill: string;
  /** As JSON text. */
  arguments: string;
  editable: boolean;
  until: number | null;
}

/** A line that a person typed in a browser, with its reply, or, without `text`, what came of a button. */
interface TalkLine {
  /** Counts up from 1. */
  id: number;
  /** The name that the page gave the line; '': none. */
  token: string;
  at: number;
  text: string;
  /** The name of the person; '': unknown. */
  by: string;
  /** The reply; '': none yet. */
  words: string;
  ok: boolean;
  /** The ID of the task that the line became; '': of none. */
  task: string;
}

/** What a person answers. `arguments`: JSON text, of an EDIT. */
interface QuestionAnswer {
  id: string;
  action: 'APPROVE' | 'EDIT' | 'REJECT';
  arguments: string;
  why: string;
}

interface CaptureRow {
  id: string;
  score: number;
  good: boolean;
  at: number;
  place: string;
}

/** The newest first. */
interface CapturesFacts {
  rows: CaptureRow[];
  replay: boolean;
  past?: boolean;
}

/** The newest analysis of the ground; without one, only `rows`, which is empty. */
interface GroundFacts {
  id: string;
  at: number;
  picture: boolean;
  note: string;
  rows: { name: string; value: string; sure: string }[];
}

/** A value of the head. `from`: the source whose age is the value's. */
interface HeadValue {
  name: string;
  text: string;
  from: string | null;
  limit: number | null;
  bad: boolean;
}

interface StatusFacts {
  mode: string;
  why: string;
  task: string;
  auto: string;
  auto_on: boolean;
  queued: string;
  pausable: boolean;
  held: boolean;
  motion: HeadValue[];
  power: HeadValue[];
  sources: { name: string; silent: boolean; limit: number | null }[];
  nodes: { name: string; ok: boolean; aged: boolean; text: string }[];
  usage: string;
  /** Which rover it is, such as the stand-in; empty where nobody has said. */
  body: string;
  replay: boolean;
  past?: boolean;
}

interface AlarmRow {
  id: string;
  text: string;
  /** Set at home: no alarm, but worth telling. */
  told?: boolean;
  line?: string;
  button?: string;
  dismissable?: boolean;
}

interface AlarmsFacts {
  safe: { cause: string; way_out: string; latched: boolean } | null;
  replay: boolean;
  replay_text: string;
  rows: AlarmRow[];
}

interface TriggerRow {
  name: string;
  on: boolean;
  state: string;
  value: string;
  what: string;
  why: string;
}

/** A result: whether it succeeded, and a text for the operator. */
interface Told {
  ok: boolean;
  words: string;
}

/** What every update of the page brings: clock and time of the server, and the age of its data by source. */
interface Beat {
  /** Steady seconds. */
  clock: number;
  now: number;
  ages: Record<string, number | null>;
  /** Number of open pages in all browsers. */
  pages: number;
}

/** What does not change while the agent runs. */
interface About {
  camera_period_s: number;
  commands: [name: string, argument: string, help: string][];
  fleet: boolean;
  /** The longest name of a person. */
  name_chars: number;
  /** Which rover it is, such as the stand-in; empty where nobody has said. */
  body: string;
  /** The age in seconds from which a source is stale. */
  limits: Record<string, number>;
  /** From the middle of the rover, in metres. */
  rover: { front_m: number; rear_m: number; half_width_m: number };
  zone: { bright_zone_x_min: number; bright_zone_x_max: number; bright_zone_half_width: number };
  fence: { enabled: boolean; x_min: number; x_max: number; y_min: number; y_max: number };
  score_threshold: number;
  /** The model by which the simulator scores: 0 up to x_min, 1 from x_good on. */
  light: { x_min: number; x_good: number };
}

// --- The public JSON: what the routes of the HTTP API give. A missing value is unknown, or null there. ---

interface Place {
  x: number;
  y: number;
  yaw_rad?: number;
}

interface RehearsalJson {
  text?: string;
  path?: [x: number, y: number][];
  real?: { exceeded?: string[] } | null;
}

/** GET /state, without what changes with every tick. */
interface StateJson {
  brain_state?: {
    world?: { obstacles?: { distance_m?: unknown; bearing_rad?: unknown }[] };
    robot?: {
      mast?: string;
      appendages?: Record<string, string>;
      moving?: boolean;
      estop?: boolean;
      safety_latch?: string;
      silent?: string[];
      battery_pct?: number;
      battery_state?: string;
    };
    tasks?: {
      mode?: string;
      mode_reason?: string;
      active_task_id?: string;
      queue?: { task_id: string; goal: string }[];
    };
    skills?: {
      running?: { goal_id: string; task_id: string; skill_name: string; progress?: Record<string, unknown> }[];
    };
    /** A model may have written the plan. */
    react?: { plan?: unknown; rehearsal?: RehearsalJson };
  };
  pose?: Place;
  nodes?: { name: string; ok: boolean; heard: boolean; text: string }[];
  ready?: string;
  auto?: string;
  auto_on?: boolean;
  usage_text?: string;
  replay?: string;
  sources?: string[];
  way_ahead?: string;
  warnings?: string[];
}

/** GET /tasks/ID, with its history. */
interface TaskJson {
  id: string;
  name: string;
  state: string;
  priority: number;
  metadata?: Record<string, unknown>;
  reason: string;
  held: boolean;
  urgent: boolean;
  seq: number;
  summary: string;
  asked_by: string;
  created_at: string;
  updated_at: string;
  history: { at: number; state: string; reason: string }[];
}

/** Of GET /approvals. */
interface QuestionJson {
  id: string;
  text: string;
  op: { skill: string; arguments: Record<string, unknown> } | null;
  reasons: string[];
  until: number | null;
  rehearsal: RehearsalJson | null;
}

/** Of GET /captures. */
interface CaptureJson {
  event_id: string;
  at: number;
  score: number;
  is_good: boolean;
  pose?: Place;
}

/** Of GET /triggers. */
interface TriggerJson {
  name: string;
  state: string;
  condition: string;
  action: string;
  value?: unknown;
  why_not: string;
}

/** GET /ground. */
interface GroundJson {
  event_id: string;
  at: number;
  analysis: { geometry_note: string };
  figures: { name: string; value: string; sure: string }[];
  has_picture: boolean;
}

/** Of GET /trace. `earlier`: of the agent that ran before this one. A restart has its ID and time alone. */
interface TraceJson {
  readonly event_id: string;
  readonly ts: number;
  readonly kind: string;
  readonly message?: string;
  readonly tool_name?: string | null;
  readonly ok?: boolean | null;
  readonly score?: number | null;
  readonly type?: string;
  readonly data?: Readonly<Record<string, unknown>> | null;
  readonly earlier?: boolean;
}

/** What is known of the robot. Of another time, what is unknown is missing. */
interface RobotDocument {
  about?: About;
  state?: StateJson;
  tasks?: Record<string, TaskJson>;
  approvals?: QuestionJson[];
  triggers?: Record<string, TriggerJson>;
  captures?: Record<string, CaptureJson>;
  ground?: GroundJson;
  talk?: TalkLine[];
  trail?: [x: number, y: number][];
  time?: Pick<TimeFacts, 'start' | 'marks' | 'note'> & { end?: number };
}

/** A robot as the fleet knows it, with its last good answers. */
interface FleetRobotJson {
  name: string;
  url: string;
  link: 'live' | 'lost' | 'waiting';
  failure: string;
  stop?: { ok: boolean; answer: string; took_ms: number };
  state?: StateJson;
  approvals?: QuestionJson[];
}

interface FleetDocument {
  name_chars?: number;
  limit_s?: number;
  robots?: Record<string, FleetRobotJson>;
}

/** A message of the socket /view. The first one, which has `process`, has all. */
interface ViewMessage {
  /** Of the agent's run. */
  process?: string;
  /** What has changed: a JSON Merge Patch (RFC 7396). */
  patch?: Record<string, unknown>;
  /** Lines of the trace: the new ones, or, with `replace`, all. */
  lines?: TraceJson[];
  replace?: boolean;
  beat?: Beat;
  /** What came of a stop. */
  stopped?: Told;
  /** What the page has sent. */
  echo?: number;
}

/** What this browser keeps for its person. */
interface BrowserSettings {
  name: string;
  sound: boolean;
  notify: boolean;
}

/** What the scripts of the head offer to the components. They load before every module, so that STOP needs none. */
interface HeadScripts {
  // link.js
  /** All that the socket has told so far. */
  view: { document: RobotDocument & FleetDocument; lines: readonly TraceJson[] };
  refresh(): void;
  /** Through the socket, if it is open. */
  send(message: Record<string, unknown>): void;
  connected(): boolean;
  live(): boolean;
  pages(): number;
  /** The time of the server. */
  now(): number;
  /** The time of day in this browser. */
  time(moment: number): string;
  // browser_settings.js
  settings: BrowserSettings;
  keep(changes: Partial<BrowserSettings>): void;
  /** The query of a request: who makes it. */
  caller(): string;
  // alert.js
  alert(what: 'asks' | 'safe'): void;
  /** Each returns why it cannot be switched on; '' when it is. */
  switchSound(on: boolean): string;
  switchNotify(on: boolean): Promise<string>;
  // attention.js
  attention(news: { mode?: string; open?: number }): void;
  // panels.js
  showPanels(): void;
  showPanel(name: string): void;
  /** Whether the key is meant for a field, or for the browser. */
  isTyping(event: KeyboardEvent): boolean;
}

interface Window {
  curiosity: HeadScripts;
}

/** A mark of the scrubber: its time, and error, capture, question or restart. */
type TimeMark = [moment: number, kind: string];

/** What the scrubber shows. `end` null: now, which moves on. `at` null: live. */
interface TimeFacts {
  start: number | null;
  end: number | null;
  at: number | null;
  playing: boolean;
  speed: number;
  speeds: number[];
  /** The name of the recording that is shown; '': this robot. */
  recording: string;
  recordings: string[];
  problem: string;
  /** The name of the recording that is being read; '': none. */
  reading: string;
  note: string;
  /** Those of one kind in the order of time. */
  marks: TimeMark[];
}

interface WindowEventMap {
  /** The rows of the trace have changed. */
  'trace-rows': Event;
  /** The trace is to show this task only. */
  'trace-task': CustomEvent<string>;
  /** A line is on its way to the agent. */
  'line-said': Event;
  /** The socket told something; it has opened anew. */
  view: CustomEvent<ViewMessage>;
  'view-opened': Event;
  /** The number of open questions. */
  'questions-open': CustomEvent<number>;
  'show-question': Event;
  /** The ID of a capture that is to be shown. */
  'pick-capture': CustomEvent<string>;
  /** A stop begins: what can wait makes room. */
  stopping: Event;
  'stop-answered': CustomEvent<Told>;
}
