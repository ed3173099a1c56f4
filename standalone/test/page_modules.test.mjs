// What the page's pure modules promise, without a browser: scripts/page.sh runs it.

import assert from 'node:assert/strict';
import { test } from 'node:test';

const modules = '../../overlay_ws/src/curiosity_rosa_demo/curiosity_rosa_demo/agent/interfaces/page/web/modules';
const { conversation } = await import(`${modules}/conversation.js`);
const { actOfDrop, inOrder } = await import(`${modules}/task_acts.js`);

test('a dropped task runs on the other side of the task below it', () => {
  const rows = [];
  for (const priority of [-1000, 2, 3, 4, 1000])
    for (const seq of [1, 2, 3]) rows.push({ priority, seq, urgent: false });
  for (const row of rows)
    for (const target of rows.filter(({ seq }) => seq !== row.seq)) {
      const moved = { ...row, priority: actOfDrop(row, target).priority };
      const [before, after] = inOrder(row, target) < 0 ? [target, moved] : [moved, target];
      assert(inOrder(before, after) < 0, JSON.stringify([row, target]));
    }
});

test('a conversation keeps every row and the order: four rows of every role in every order', () => {
  const roles = ['said', 'thought', 'act', 'result', 'asks', 'answered', 'answer', 'failure'];
  for (let number = 0; number < roles.length ** 4; number += 1) {
    const rows = [0, 1, 2, 3].map((place) => ({
      id: `${place}`,
      ts: place % 3,
      text: `${place}`,
      kind: 'ACT',
      tool: 'speak',
      task: 't',
      role: roles[Math.floor(number / roles.length ** place) % roles.length],
      question: 'q',
      ok: true,
      earlier: false,
    }));
    const items = conversation(rows);
    const told = items.flatMap((item) => [
      item.row.id,
      ...(item.rows ?? []).map((row) => row.id),
      item.result?.id,
      item.words,
    ]);
    const what = rows.map((row) => row.role).join(' ');
    assert.deepEqual(
      rows.filter((row) => !told.includes(row.id)),
      [],
      what,
    );
    assert(
      items.every((item, place) => !place || items[place - 1].at <= item.at),
      what,
    );
  }
});

test('neighbouring thoughts and equal acts are one item, an answer stands at its question', () => {
  const plain = { ts: 1, kind: 'ACT', tool: '', task: 't', ok: true };
  const row = (role, text, more = {}) => ({ ...plain, id: text, role, text, ...more });
  const turn = { tool: 'turn_left' };
  const acts = [1, 2, 3].flatMap(() => [row('act', 'turn_left(s=1)', turn), row('result', 'turn_left: done', turn)]);
  const items = conversation([
    row('said', 'look'),
    row('thought', 'dark'),
    row('thought', 'I drive on'),
    ...acts,
    row('act', 'speak("hi")', { tool: 'speak', task: 'another' }),
    row('act', 'mast_open()', { tool: 'mast_open' }),
    row('result', 'mast_open: stuck', { tool: 'mast_open', ok: false }),
    row('asks', 'Drive?', { question: 'q1' }),
    row('answered', 'q1 approve', { question: 'q1' }),
    row('answer', 'bright'),
  ]);
  assert.deepEqual(
    items.map((item) => [item.kind, item.row.text, item.times ?? item.rows?.length, item.words]),
    [
      ['said', 'look', undefined, ''],
      ['thought', 'dark', 2, undefined],
      ['act', 'turn_left(s=1)', 3, 'done'],
      ['act', 'speak("hi")', 1, ''],
      ['act', 'mast_open()', 1, 'stuck'],
      ['asks', 'Drive?', undefined, 'q1 approve'],
      ['answer', 'bright', undefined, ''],
    ],
  );
});

// --- what the panels show of the public JSON ------------------------------------------------------

const about = {
  limits: { odometry: 1, scan: 1, battery: 10, adapter: 2 },
  body: '',
  zone: { bright_zone_x_min: 5, bright_zone_x_max: 9, bright_zone_half_width: 2 },
  rover: { front_m: 1, rear_m: 1, half_width_m: 1 },
  fence: { enabled: false },
};
const now = 1000;
const task = (summary, state, more = {}) => ({
  id: summary,
  name: 'react',
  state,
  priority: 3,
  reason: '',
  held: false,
  urgent: false,
  seq: 1,
  summary,
  asked_by: '',
  created_at: new Date(1000 * now).toISOString(),
  updated_at: new Date(1000 * now).toISOString(),
  history: [],
  ...more,
});
const tasksOf = (...tasks) => facts.taskRows(Object.fromEntries(tasks.map((each) => [each.id, each])));
const facts = {
  ...(await import(`${modules}/state_facts.js`)),
  ...(await import(`${modules}/task_facts.js`)),
  ...(await import(`${modules}/trace_facts.js`)),
  ...(await import(`${modules}/text.js`)),
};

test('of another time what is unknown says so, and nothing is left out or thrown', () => {
  for (const state of [undefined, {}, { brain_state: {} }, { pose: { x: 1, y: 2 } }]) {
    const shown = facts.statusFacts(state, [], about, false, true);
    assert.equal(shown.mode, 'UNKNOWN');
    assert.deepEqual(
      shown.motion.map((row) => row.name),
      ['Wheels', 'Place', 'Way ahead', 'Mast', 'E-stop'],
    );
    const known = state?.pose ? ['Place'] : [];
    assert.deepEqual(
      shown.motion.filter((row) => row.text !== 'unknown').map((row) => row.name),
      known,
    );
    assert.deepEqual(facts.alarmsFacts(state, [], false, now).rows, []);
    assert.deepEqual(facts.progressRows(state), []);
    assert.deepEqual(facts.shownPlan(state).steps, []);
  }
  assert.deepEqual(facts.taskRows(undefined), []);
});

test('every failure is told, and SAFE has its cause and the way out', () => {
  const alarms = (robot, more = {}, tasks = []) =>
    facts.alarmsFacts({ brain_state: { robot, tasks: more.tasks }, ...more }, tasksOf(...tasks), false, now);
  for (const [robot, way] of [
    [{ estop: true, safety_latch: 'e-stop' }, 'Release the e-stop, then press Clear.'],
    [{ safety_latch: 'e-stop' }, 'Look at the rover, then press Clear.'],
    [{}, 'SAFE ends when it is back.'],
  ]) {
    const tasks = { mode: 'SAFE', mode_reason: 'e-stop pressed' };
    const { safe } = alarms(robot, { tasks });
    assert.deepEqual(safe, { cause: 'e-stop pressed', way_out: way, latched: 'safety_latch' in robot });
  }
  const nodes = [
    { name: 'adapter', ok: false, heard: false, text: 'gone' },
    { name: 'kernel', ok: false, heard: true, text: '' },
    { name: 'tasks', ok: true, heard: false, text: '' },
  ];
  const low = { battery_state: 'LOW', battery_pct: 12, silent: ['odometry'], estop: true };
  const { rows } = alarms(low, { ready: 'no database', nodes }, [task('a', 'paused', { held: true })]);
  assert.deepEqual(
    rows.map((row) => row.text),
    [
      'Nothing can run yet: no database',
      'The e-stop is pressed',
      'odometry is silent',
      'The battery is low: 12 %',
      'adapter: gone',
      'kernel: not well',
      '1 task held until a person resumes',
    ],
  );
  assert.equal(rows.at(-1).line, ':resume');
  const failed = ['first', 'second', 'third', 'long ago'].map((name, place) =>
    task(name, 'failed', { updated_at: new Date(1000 * (now - 60 * [1, 2, 3, 16][place])).toISOString() }),
  );
  const told = alarms({}, {}, [...failed, task('done', 'completed')]).rows;
  assert.deepEqual(
    told.map((row) => [row.text.split('failed: ')[1], row.dismissable]),
    [
      ['first', true],
      ['second', true],
    ],
  );
});

test('what is approved is seen in full, and what hides in it as an escape', () => {
  const long = `${'why '.repeat(2000)}`;
  const op = { skill: 'move\u202e', arguments: { text: 'a\u200bb\u00a0c', metres: 2 } };
  const [row, plain] = facts.questionRows([
    { id: 'q1', text: long, op, reasons: [long], until: null, rehearsal: { text: 'one\ntwo' } },
    { id: 'a'.repeat(20), text: 'go on?', op: null, reasons: [], until: 5, rehearsal: null },
  ]);
  assert.deepEqual([row.text, ...row.reasons], [long, long]);
  assert.equal(row.skill, 'move\\u202e');
  assert.equal(row.arguments, '{\n  "text": "a\\u200bb\\u00a0c",\n  "metres": 2\n}');
  assert.deepEqual(JSON.parse(row.arguments), op.arguments);
  assert.deepEqual([row.editable, plain.editable, plain.short], [true, false, 'aaaaaaaa']);
  assert.deepEqual(row.rehearsal, ['one', 'two']);
});

test('whatever a model wrote is a plan that can be shown', () => {
  for (const plan of [null, 3, 'x', [], {}, { steps: 7 }, { steps: [null, 3, [], { action: {}, parameters: [] }] }]) {
    for (const step of facts.planFacts(plan).steps)
      assert(['id', 'action', 'parameters', 'status', 'text'].every((part) => typeof step[part] === 'string'));
  }
});

test('a task has its place behind the running one, its own use of a model, and its plan', () => {
  const rows = tasksOf(task('runs', 'active'), task('waits', 'pending', { seq: 2 }), task('held', 'paused', { held: true }));
  assert.deepEqual(
    rows.map((row) => [row.what, row.behind]),
    [
      ['waits', 'queued behind runs runs'],
      ['runs', ''],
      ['held', ''],
    ],
  );
  const plan = { plan_id: 'p', steps: [{ step_id: 1, action: 'mast_close' }, { step_id: 2, action: 'speak' }] };
  const call = { task_id: 't1', input: 100, output: 20, cost: 0.25, currency: 'USD' };
  const events = [
    { kind: 'HYPOTHESIZE', data: { ...plan, in_task: 't1' } },
    { kind: 'RESULT', tool_name: 'plan', data: { plan_id: 'p', step_id: 1, message: 'stowed', status: 'success', in_task: 't1' } },
    { kind: 'OBSERVE', data: { model_call: call } },
    { kind: 'OBSERVE', data: { model_call: call } },
    { kind: 'OBSERVE', data: { model_call: { ...call, task_id: 't2' } } },
    { kind: 'RESULT', tool_name: 'capture_and_score', event_id: 'c1', data: { in_task: 't1' } },
  ].map((event, place) => facts.traceRow({ event_id: `${place}`, ts: place, message: '', ...event }, undefined));
  const captures = { c1: { event_id: 'c1', score: 1 }, c2: { event_id: 'c2', score: 1 } };
  const detail = facts.taskDetail(task('t1', 'active'), events, [], { plan_id: 'p', status: 'running' }, captures);
  assert.equal(detail.usage, '2 calls: 200 tokens in, 40 out, 0.500000 USD');
  assert.equal(detail.plan.status, 'running');
  assert.deepEqual(
    detail.plan.steps.map((step) => [step.status, step.why]),
    [
      ['success', 'stowed'],
      ['pending', ''],
    ],
  );
  assert.deepEqual(
    detail.captures.map((row) => row.id),
    ['c1'],
  );
});

test("a plan's step ends in the conversation once: with the result of its call, or in its own words", () => {
  const event = (kind, tool_name, message, data) => ({ event_id: message, ts: 1, kind, tool_name, message, ok: true, data });
  const ended = { plan_id: 'p', step_id: 1, success: true, status: 'success' };
  const rows = [
    event('ACT', 'mast_close', 'mast_close()', {}),
    event('RESULT', 'mast_close', 'mast_close: done', {}),
    event('RESULT', 'plan', 'plan step 1: done', { ...ended, told: true }),
    event('RESULT', 'plan', 'plan step 2: found after 2 looks', ended),
  ].map((line) => facts.traceRow(line, undefined));
  assert.deepEqual(
    conversation(rows).map((item) => [item.row.text, item.words]),
    [
      ['mast_close()', 'done'],
      ['plan step 2: found after 2 looks', 'plan step 2: found after 2 looks'],
    ],
  );
});

test('each stretch of a turn has its name and time', () => {
  const event = (ts, kind, tool_name, data) => ({ event_id: `${ts}`, ts, kind, tool_name, data, message: '' });
  const turn = [
    event(10, 'HYPOTHESIZE'),
    event(10.5, 'DECIDE', 'mast_close'),
    event(10.51, 'ACT', 'mast_close'),
    event(12.51, 'RESULT', 'mast_close'),
    event(13, 'OBSERVE'),
    event(13.51, 'DECIDE', 'move_forward'),
    event(13.52, 'DECIDE', 'move_forward', { question: 'q' }),
    event(23.52, 'OBSERVE'),
    event(23.53, 'ACT', 'move_forward'),
    event(27.53, 'ERROR', 'move_forward'),
    event(28.53, 'RESULT'),
    event(99, 'OBSERVE'),
  ];
  const spans = (events) => facts.phaseSpans(events).map((each) => [each.phase, each.seconds.toFixed(2), each.detail]);
  assert.deepEqual(spans(turn), [
    ['thinking', '0.50', ''],
    ['checking', '0.01', 'mast_close'],
    ['acting', '2.00', 'mast_close'],
    ['thinking', '1.00', 'mast_close'],
    ['checking', '0.01', 'move_forward'],
    ['asking', '10.00', 'move_forward'],
    ['checking', '0.01', 'move_forward'],
    ['acting', '4.00', 'move_forward'],
    ['thinking', '1.00', 'move_forward'],
  ]);
  // Neither the wait for the next goal nor that after a command of a person is thinking.
  assert.deepEqual(spans([...turn, event(3000, 'OBSERVE')]), spans(turn));
  const started = event(5, 'OBSERVE', null, { turn_calls: 0 });
  assert.deepEqual(facts.lastTurn([event(1, 'ACT', 'x'), started, ...turn]), [started, ...turn]);
});

test('a text is cut to its columns, of which a Japanese letter takes two', () => {
  assert.equal(facts.clipColumns('地面のテクスチャ', 16), '地面のテクスチャ');
  assert.equal(facts.clipColumns('地面のテクスチャ', 15), '地面のテクス...');
  assert.equal(facts.clipColumns('a'.repeat(40), 10), `${'a'.repeat(7)}...`);
  assert(facts.columns(facts.clipColumns('地a'.repeat(50), 31)) <= 31);
});

const map = await import(`${modules}/map_drawing.js`);
const { fitted, frame, zoomed } = await import(`${modules}/map_view.js`);

test('the map shows all that is known, and keeps a view that will do', () => {
  const hostile = [{ distance_m: 'x', bearing_rad: 0 }, {}];
  for (const pose of [undefined, { x: 2, y: 1, yaw_rad: 0.5 }, { x: 1e9, y: 0 }]) {
    const known = { state: { pose, brain_state: { world: { obstacles: hostile } } }, trail: [[0, 0], [30, -4]] };
    const scene = map.sceneOf(about, known, [], []);
    const view = map.viewOf(scene, null);
    const shown = frame(fitted(view, { width: 480, height: 400 }), { width: 480, height: 400 });
    for (const [x, y] of [[5, 2], [9, -2], [0, 0], [30, -4]]) {
      const [across, down] = shown.pixels(x, y);
      assert(across > 0 && across < 480 && down > 0 && down < 400);
      assert(Math.hypot(shown.metres(across, down)[0] - x, shown.metres(across, down)[1] - y) < 1e-6);
    }
    assert.equal(map.viewOf(map.sceneOf(about, { ...known, trail: [[0, 0], [30.5, -4]] }, [], []), view), view);
    assert.notDeepEqual(map.viewOf(map.sceneOf(about, { trail: [[0, 0], [90, 0]] }, [], []), view), view);
    assert(map.drawMap(scene, shown).length > 0);
    const near = zoomed(shown, 2, [100, 100]);
    assert.deepEqual(frame(near, shown).metres(100, 100).map((m) => m.toFixed(6)), shown.metres(100, 100).map((m) => m.toFixed(6)));
  }
});

// --- another time ---------------------------------------------------------------------------------

/** Of a robot with 12 % and a recording, whose battery at each time is that time. `refuse`: what answers. */
async function lookingBack() {
  let refuse = null;
  const json = (body, ok = true) => ({ ok, json: async () => body });
  globalThis.fetch = async (path) => {
    if (path === '/recordings') return json(['run.mcap']);
    if (path.startsWith('/recordings/')) return json({ start: 100, end: 200, marks: [], note: '' });
    if (refuse) return refuse();
    const power = Number(new URLSearchParams(path.split('?')[1]).get('at'));
    return json({ document: { state: { brain_state: { robot: { battery_pct: power } } } }, lines: [], count: 1 });
  };
  globalThis.window = new EventTarget();
  globalThis.document = { createElement: () => ({}) };
  globalThis.Element = globalThis.SVGElement = class {};
  const state = { brain_state: { robot: { battery_pct: 12 } } };
  const lines = [{ event_id: 'e', ts: 1, kind: 'ACT', message: 'live' }];
  window.curiosity = { view: { document: { state, time: { start: 0 } }, lines }, now: () => 1000 };
  const { setInterval } = globalThis;
  globalThis.setInterval = () => 0; // that of the player would run for ever
  const { shown, changeTime } = await import(`${modules}/shown.js`);
  globalThis.setInterval = setInterval;
  const { traceRows } = await import(`${modules}/trace_rows.js`);
  return {
    async ask(act, more = {}) {
      changeTime({ act, ...more });
      for (let turn = 0; turn < 20; turn += 1) await null;
    },
    changeTime,
    refuse: (answer) => {
      refuse = answer;
    },
    failure: (detail) => () => json({ detail }, false),
    seen: () => {
      const { at, playing, problem } = shown.time;
      const power = (shown.past ?? shown.live).state?.brain_state.robot.battery_pct;
      return { at, power, lines: traceRows.all().length, playing, problem };
    },
  };
}

test('a time that cannot be read is not shown: the page goes back to what it has read, and says why', async () => {
  const page = await lookingBack();
  const live = { at: null, power: 12, lines: 1, playing: false, problem: '' };
  assert.deepEqual(page.seen(), live);
  page.refuse(page.failure('Too many requests.'));
  page.changeTime({ act: 'show', at: 50 });
  assert.deepEqual(page.seen(), { ...live, at: 50, power: undefined, lines: 0 });
  await page.ask('play');
  assert.deepEqual(page.seen(), { ...live, problem: 'Too many requests.' });

  page.refuse(null);
  await page.ask('show', { at: 60 });
  const read = { at: 60, power: 60, lines: 0, playing: false, problem: '' };
  assert.deepEqual(page.seen(), read);
  await page.ask('play');
  page.refuse(() => Promise.reject(new TypeError('no connection')));
  await page.ask('show', { at: 70 });
  assert.deepEqual(page.seen(), { ...read, problem: 'The agent does not answer.' });
  page.refuse(page.failure('Too many requests.'));
  page.changeTime({ act: 'show', at: 80 });
  page.refuse(null);
  await page.ask('show', { at: 90 }); // a newer request: only that counts
  assert.deepEqual(page.seen(), { ...read, at: 90, power: 90 });

  page.refuse(page.failure('There is no such recording any more.'));
  await page.ask('recording', { name: 'run.mcap' });
  assert.deepEqual(page.seen(), { ...live, problem: 'There is no such recording any more.' });
});
