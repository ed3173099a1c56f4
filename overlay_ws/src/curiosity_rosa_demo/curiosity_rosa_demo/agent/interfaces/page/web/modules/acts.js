// What the page asks of the agent: the routes of the HTTP API, as any script uses them. Of a page that looks back,
// nothing is sent but a stop.
import { shown } from './shown.js';

export const REFUSED = 'Not sent: this page looks back. Press L for the live view, then try again.';
const KEPT = 200; // lines

/** @typedef {{ ok: boolean, words: string, body: any }} Answer */

/**
 * @param {string} method
 * @param {string} path
 * @param {unknown} [body] as JSON
 * @returns {Promise<Answer>}
 */
export async function request(method, path, body) {
  try {
    const answer = await fetch(`${path}${window.curiosity.caller()}`, {
      method,
      cache: 'no-store',
      redirect: 'error',
      headers: { 'Content-Type': 'application/json' },
      body: body === undefined ? null : JSON.stringify(body),
    });
    const found = await answer.json().catch(() => ({}));
    return { ok: answer.ok, words: String(found.detail ?? ''), body: found };
  } catch {
    return { ok: false, words: 'The agent does not answer.', body: {} };
  }
}

/**
 * A request that changes something.
 * @param {string} method
 * @param {string} path
 * @param {unknown} [body]
 * @returns {Promise<Answer>}
 */
const act = async (method, path, body) =>
  shown.looksBack() ? { ok: false, words: REFUSED, body: {} } : request(method, path, body);

/** @param {TalkLine} line that this page has sent, or what came of a button: until the agent tells of it */
const keep = (line) => {
  shown.own = [...shown.own.filter((each) => each.token !== line.token), line].slice(-KEPT);
};

/**
 * @param {string} text
 * @param {boolean} ok
 * @param {string} words
 * @returns {TalkLine} with a name that no other page gives
 */
const newLine = (text, ok, words) => ({
  id: 0,
  token: `${Date.now().toString(36)}-${Math.random().toString(36).slice(2)}`,
  at: window.curiosity.now(),
  text,
  by: '',
  words,
  ok,
  task: '',
});

/**
 * Says a line, as at the console. The agent tells a page that looks back what is no stop.
 * @param {string} text
 * @returns {Promise<Answer>}
 */
export async function say(text) {
  const line = newLine(text, true, '');
  keep(line);
  window.dispatchEvent(new Event('line-said'));
  const unless_stop = shown.looksBack() ? REFUSED : '';
  const answer = await request('POST', '/say', { text, token: line.token, unless_stop });
  const { ok, words, task } = answer.body;
  const told = {
    ok: answer.ok && ok,
    words: answer.ok ? words || (task ? `task ${task.id.slice(0, 8)}` : 'done') : answer.words,
  };
  keep({ ...line, ...told });
  return { ...answer, ...told };
}

/**
 * Tells in the conversation what came of a button.
 * @param {boolean} ok
 * @param {string} words
 */
function tell(ok, words) {
  keep(newLine('', ok, words));
  return { ok, words };
}

/**
 * @param {TaskAct} change
 * @returns {Promise<Told>}
 */
export async function changeTask({ id, act: what, priority }) {
  const path = `/tasks/${encodeURIComponent(id)}`;
  const short = id.slice(0, 8);
  if (what === 'priority') {
    const { ok, words } = await act('PATCH', path, { priority });
    return tell(ok, ok ? `${short} has priority ${priority}` : words);
  }
  const { ok, words, body } = await (what === 'cancel' ? act('DELETE', path) : act('POST', `${path}/${what}`));
  const runsOn = what === 'pause' && !body.held ? `${short} runs to its end first` : '';
  const done = { pause: 'paused', resume: 'resumed', cancel: 'cancelled' }[what];
  return tell(ok, ok ? runsOn || `${short} ${done}` : words);
}

/**
 * @param {QuestionAnswer} answer
 * @returns {Promise<Told>}
 */
export async function answerQuestion({ id, action, arguments: text, why }) {
  const body = /** @type {Record<string, unknown>} */ ({ action: action.toLowerCase(), why });
  if (action === 'EDIT') {
    try {
      body.arguments = JSON.parse(text);
    } catch (error) {
      return { ok: false, words: `Not sent: the arguments are not JSON: ${/** @type {Error} */ (error).message}` };
    }
    if (typeof body.arguments !== 'object' || body.arguments === null || Array.isArray(body.arguments))
      return { ok: false, words: 'Not sent: the arguments must be an object, such as {"x": 6.5}' };
  }
  const told = await act('POST', `/approvals/${encodeURIComponent(id)}`, body);
  return { ok: told.ok, words: told.ok ? String(told.body.answer) : told.words };
}

/**
 * @param {string} name
 * @param {boolean} on
 */
export async function switchTrigger(name, on) {
  const { ok, words, body } = await act('POST', `/triggers/${encodeURIComponent(name)}`, { on });
  tell(ok, ok ? `trigger ${body.name}: ${body.state}` : words);
}

const FACE_M = 6; // ahead of the rover in the new heading: it has to drive to turn

/**
 * The task of a goal on the map; null: the place of the rover is unknown.
 * @param {'drive' | 'face'} what
 * @param {number} x
 * @param {number} y
 */
function goalTask(what, x, y) {
  /** @param {number} value */
  const round = (value) => Math.round(value * 100) / 100;
  if (what === 'drive') return { name: 'navigate_to_pose', metadata: { x: round(x), y: round(y) } };
  const pose = shown.live.state?.pose;
  if (!pose) return null;
  const yaw = Math.atan2(y - pose.y, x - pose.x);
  const [east, north] = [pose.x + FACE_M * Math.cos(yaw), pose.y + FACE_M * Math.sin(yaw)];
  return {
    name: 'navigate_to_pose',
    metadata: { x: round(east), y: round(north), yaw_rad: Math.round(yaw * 1000) / 1000 },
  };
}

const NO_POSE = 'The position of the rover is unknown.';

/**
 * What a goal on the map would do.
 * @param {'drive' | 'face'} what
 * @param {number} x
 * @param {number} y
 * @returns {Promise<{ ok: boolean, lines: string[], path: [number, number][] }>}
 */
export async function proposeGoal(what, x, y) {
  const task = goalTask(what, x, y);
  const { ok, words, body } = task ? await act('POST', '/rehearsals', task) : { ok: false, words: NO_POSE, body: {} };
  if (!ok) return { ok, lines: [words], path: [] };
  const lines = body.lines.length ? body.lines : ['Nothing can be predicted now.'];
  return { ok: !body.refusal, lines: body.refusal ? [body.refusal, ...lines] : lines, path: body.path };
}

/**
 * @param {'drive' | 'face'} what
 * @param {number} x
 * @param {number} y
 */
export async function orderGoal(what, x, y) {
  const task = goalTask(what, x, y);
  const { ok, words, body } = task ? await act('POST', '/tasks', task) : { ok: false, words: NO_POSE, body: {} };
  return tell(ok, ok ? `task ${body.id.slice(0, 8)}` : words);
}
