// What the page shows: the live view, which link.js receives, or the view of another time, which this asks for.
import { shallowReactive } from '../vendor/vue.js';
import {
  alarmsFacts,
  capturesFacts,
  groundFacts,
  progressRows,
  questionRows,
  shownPlan,
  statusFacts,
  triggerRows,
} from './state_facts.js';
import { taskRows } from './task_facts.js';
import { isReplay } from './trace_facts.js';
import { traceRows } from './trace_rows.js';

const SPEEDS = [1, 2, 5, 10];
const PLAY_MS = 200;
const NO_ANSWER = 'The agent does not answer.';

const { view } = window.curiosity;

export const shown = shallowReactive({
  live: view.document,
  /** Whether a recording is played to the robot's topics. */
  replay: false,
  /** @type {RobotDocument | null} of another time; empty until it is read */
  past: null,
  /** @type {TimeFacts} */
  time: {
    start: null,
    end: null,
    at: null,
    playing: false,
    speed: 1,
    speeds: SPEEDS,
    recording: '',
    recordings: [],
    problem: '',
    reading: '',
    note: '',
    marks: [],
  },
  /** @type {number | null} when the person began to look back */
  since: null,
  /** @type {TalkLine[]} of this page */
  own: [],
  looksBack: () => shown.time.at !== null,
});

/** @type {number | null} the last other time that was read, of the story that is shown */
let readAt = null;
let asked = 0; // the number of the newest request for another time
let asking = false;
let count = -1; // of the lines that are shown of another time

/** @param {Partial<TimeFacts>} facts */
const setTime = (facts) => {
  shown.time = { ...shown.time, ...facts };
};

/** What the panels show. Alarms, questions and lines are those of now, whatever time is shown. @param {About} about */
export function facts(about) {
  const { live, past, replay } = shown;
  const known = past ?? live;
  const back = past !== null;
  const now = Math.floor(window.curiosity.now() / 10) * 10;
  const tasks = taskRows(known.tasks);
  return {
    status: statusFacts(known.state, tasks, about, replay, back),
    alarms: alarmsFacts(live.state, taskRows(live.tasks), replay, now),
    questions: questionRows(live.approvals),
    captures: capturesFacts(known.captures, replay, back),
    plan: shownPlan(known.state),
    progress: progressRows(known.state),
    tasks,
    triggers: triggerRows(known.triggers),
    ground: groundFacts(known.ground, back),
  };
}

const timeOfLive = () => ({ start: null, end: null, ...shown.live.time });

/** @param {CustomEvent<ViewMessage>} event */
function received({ detail }) {
  if (detail.patch && Object.keys(detail.patch).length) shown.live = view.document;
  if (shown.time.recording === '' && detail.patch?.time) setTime(timeOfLive());
  shown.replay = Boolean(view.document.state?.replay) || isReplay(view.lines.at(-1));
  if (!shown.past && (detail.replace || detail.lines?.length))
    (detail.replace ? traceRows.replace : traceRows.add)(detail.lines ?? []);
}

/** Asks for the time that is to be shown; the newest request counts, one is on its way at once. */
async function see() {
  asked += 1;
  if (asking) return;
  asking = true;
  const { at, recording } = shown.time;
  const number = asked;
  const query = new URLSearchParams({ at: String(at), recording });
  const answer = await fetch(`/view?${query}`, { cache: 'no-store' }).catch(() => null);
  const found = (await answer?.json().catch(() => null)) ?? {};
  asking = false;
  if (shown.time.at === null) return; // live again
  const read = answer?.ok && found.document;
  if (read && shown.time.recording === recording) {
    readAt = at;
    shown.past = found.document;
    if (found.count !== count) traceRows.replace(found.lines);
    count = found.count;
  }
  if (asked !== number) see();
  else if (!read) unread(found.detail ?? NO_ANSWER);
}

/** Back to the last time that was read, or to live. @param {string} problem */
function unread(problem) {
  if (readAt === null) live();
  setTime({ at: readAt, playing: false, problem });
}

/** @param {number} at */
function show(at) {
  const { start, end } = shown.time;
  if (start === null) return;
  if (!shown.looksBack()) {
    shown.since = window.curiosity.now();
    shown.past = {};
    traceRows.replace([]);
    readAt = null;
    count = -1;
  }
  setTime({ at: Math.min(Math.max(at, start), Math.max(start, end ?? window.curiosity.now())) });
  see();
}

function live() {
  setTime({ at: null, playing: false, recording: '', reading: '', problem: '', ...timeOfLive() });
  shown.past = null;
  shown.since = null;
  traceRows.replace(view.lines);
}

/** @param {string} name of a recording; '': this robot */
async function open(name) {
  if (!name) {
    live();
    return;
  }
  setTime({ reading: name });
  const answer = await fetch(`/recordings/${encodeURIComponent(name)}`, { cache: 'no-store' }).catch(() => null);
  const found = (await answer?.json().catch(() => null)) ?? {};
  if (shown.time.reading !== name) return; // the person has chosen another one, or the live view, meanwhile
  if (!answer?.ok) {
    setTime({ reading: '', problem: found.detail ?? NO_ANSWER });
    return;
  }
  live();
  setTime({ ...found, recording: name });
  show(found.start);
}

async function readRecordings() {
  const answer = await fetch('/recordings', { cache: 'no-store' }).catch(() => null);
  if (answer?.ok) setTime({ recordings: await answer.json() });
}

let played = 0; // steady milliseconds of the last step

function step() {
  const { at, playing, speed, end, recording } = shown.time;
  const now = performance.now();
  const next = (at ?? 0) + (speed * (now - played)) / 1000;
  played = now;
  if (at === null || !playing) return;
  const last = end ?? window.curiosity.now();
  if (next < last) show(next);
  else if (!recording) live();
  else {
    setTime({ playing: false });
    show(last);
  }
}

/**
 * What the scrubber asks for.
 * @param {{ act: string, at?: number, speed?: number, name?: string }} given
 */
export function changeTime({ act, at, speed, name }) {
  if (shown.time.problem) setTime({ problem: '' });
  if (act === 'show') show(at ?? 0);
  else if (act === 'play') setTime({ playing: shown.looksBack() });
  else if (act === 'pause') setTime({ playing: false });
  else if (act === 'speed') setTime({ speed: speed ?? 1 });
  else if (act === 'live') live();
  else if (act === 'recordings') readRecordings();
  else if (act === 'recording') open(name ?? '');
}

window.addEventListener('view', received);
setInterval(step, PLAY_MS);
readRecordings();
traceRows.replace(view.lines);
setTime(timeOfLive());
