// What the page shows: the live view, which link.js receives, or the view of another time, which this asks for.
import { shallowReactive } from '../vendor/vue.js';
import { traceRows } from './trace_rows.js';

const SPEEDS = [1, 2, 5, 10];
const PLAY_MS = 200;
/** @type {(keyof ViewParts)[]} */
const LIVE_PARTS = ['about', 'alarms', 'approvals', 'time'];

/** @typedef {{ parts: ViewParts, drawings: Record<string, DrawingFacts> }} View */

const { view } = window.curiosity;

export const shown = shallowReactive({
  /** @type {View} */
  live: { parts: { ...view.parts }, drawings: { ...view.drawings } },
  /** @type {View | null} of another time */
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

/** @type {Record<string, unknown>} how each drawing is shown here */
const looks = {};
let asked = 0; // the number of the newest request for another time
let asking = false;
let count = -1; // of the lines that are shown of another time

/** @param {Partial<TimeFacts>} facts */
const setTime = (facts) => {
  shown.time = { ...shown.time, ...facts };
};

/** The parts that are shown. @returns {ViewParts} */
export function parts() {
  const { live, past } = shown;
  if (!past) return live.parts;
  const kept = Object.fromEntries(LIVE_PARTS.map((name) => [name, live.parts[name]]));
  return { ...past.parts, ...kept, talk: { ...live.parts.talk, captures: past.parts.captures.rows } };
}

/** @param {string} name */
export const drawing = (name) => (shown.past ?? shown.live).drawings[name];

/**
 * How a drawing is shown here.
 * @param {string} name
 * @param {unknown} look
 */
export function setLook(name, look) {
  looks[name] = look;
  window.curiosity.send({ looks });
  if (shown.looksBack()) see();
}

/** @param {CustomEvent<ViewMessage>} event */
function received({ detail }) {
  if (detail.parts) shown.live = { ...shown.live, parts: { ...shown.live.parts, ...detail.parts } };
  if (detail.drawings) shown.live = { ...shown.live, drawings: { ...shown.live.drawings, ...detail.drawings } };
  if (shown.time.recording === '' && detail.parts?.time) setTime(detail.parts.time);
  if (detail.lines && !shown.past) (detail.replace ? traceRows.replace : traceRows.add)(detail.lines);
}

/** Asks for the time that is to be shown; the newest request counts, one is on its way at once. */
async function see() {
  asked += 1;
  if (asking) return;
  asking = true;
  const { at, recording } = shown.time;
  const number = asked;
  const query = new URLSearchParams({ at: String(at), recording, looks: JSON.stringify(looks) });
  const answer = await fetch(`/view?${query}`, { cache: 'no-store' }).catch(() => null);
  const found = answer?.ok ? await answer.json().catch(() => null) : null;
  asking = false;
  if (shown.time.at === null || shown.time.recording !== recording) return; // live again, or of another story
  if (found) {
    shown.past = { parts: found.parts, drawings: found.drawings };
    if (found.count !== count) traceRows.replace(found.lines);
    count = found.count;
  }
  if (asked !== number) see();
}

/** @param {number} at */
function show(at) {
  const { start, end } = shown.time;
  if (start === null) return;
  if (!shown.looksBack()) {
    shown.since = window.curiosity.now();
    count = -1;
  }
  setTime({ at: Math.min(Math.max(at, start), Math.max(start, end ?? window.curiosity.now())) });
  see();
}

function live() {
  setTime({ at: null, playing: false, recording: '', reading: '', problem: '', ...shown.live.parts.time });
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
    setTime({ reading: '', problem: found.detail ?? 'The agent does not answer.' });
    return;
  }
  setTime({ ...found, recording: name, reading: '', playing: false });
  count = -1;
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
window.addEventListener('view-opened', () => window.curiosity.send({ looks }));
setInterval(step, PLAY_MS);
readRecordings();
traceRows.replace(view.lines);
if (view.parts.time) setTime(view.parts.time);
