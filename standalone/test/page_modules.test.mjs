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
