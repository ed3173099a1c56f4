// The rows of the trace as a conversation, in order: sentences, thoughts (neighbours are one item),
// acts with their results, questions, answers. Equal acts in a row are one item with a count.

/**
 * An item has the time at which it stands in the order.
 * @typedef {{ kind: 'thought', row: TraceRow, at: number, rows: TraceRow[] }} Thought
 * @typedef {{ kind: 'act', row: TraceRow, at: number, result: TraceRow | null, words: string, progress: string,
 *   times: number, took: number | null, alone: boolean }} Act `alone`: only its result is known
 * @typedef {{ kind: Exclude<TraceRole, 'thought' | 'act'>, row: TraceRow, at: number, words: string }} Sentence
 *   `words`: the answer to a question; '': none yet
 * @typedef {Thought | Act | Sentence} Item
 */

/** @param {TraceRow} row */
const withoutName = (row) =>
  row.tool && row.text.startsWith(`${row.tool}: `) ? row.text.slice(row.tool.length + 2) : row.text;

/**
 * @param {Item} item
 * @param {TraceRow} row
 */
const sameTask = (item, row) => item.row.task === row.task && item.row.earlier === row.earlier;

/**
 * @param {TraceRow} row
 * @returns {Act}
 */
const newAct = (row, alone = false) => ({
  kind: 'act',
  row,
  at: row.ts,
  result: null,
  words: '',
  progress: '',
  times: 1,
  took: null,
  alone,
});

/**
 * @param {Item[]} items
 * @param {TraceRow} row
 * @returns {Act | undefined}
 */
function openAct(items, row) {
  const act = items.findLast(
    (item) => item.kind === 'act' && !item.result && item.row.tool === row.tool && sameTask(item, row),
  );
  return act?.kind === 'act' ? act : undefined;
}

/**
 * @param {Item[]} items
 * @param {TraceRow} row
 */
function addResult(items, row) {
  let act = openAct(items, row);
  if (!act) {
    act = newAct(row, true);
    items.push(act);
  }
  act.result = row;
  act.words = act.alone ? row.text : withoutName(row);
  act.took = act.alone ? null : Math.max(0, row.ts - act.row.ts);
  act.progress = '';
  const before = items.at(-2);
  if (items.at(-1) !== act || before?.kind !== 'act' || before.result?.ok !== row.ok) return;
  if (before.row.text !== act.row.text || before.words !== act.words || !sameTask(before, row)) return;
  items.pop();
  before.times += 1;
}

/**
 * @param {Item[]} items
 * @param {TraceRow} row
 */
function addAnswer(items, row) {
  const asked = items.findLast((item) => item.kind === 'asks' && item.row.question === row.question && !item.words);
  if (asked?.kind === 'asks') asked.words = row.text;
  else items.push({ kind: 'asks', row, at: row.ts, words: '' });
}

/**
 * @param {Item[]} items
 * @param {TraceRow} row
 */
function add(items, row) {
  const last = items.at(-1);
  if (row.role === 'thought' && last?.kind === 'thought' && sameTask(last, row)) last.rows.push(row);
  else if (row.role === 'thought') items.push({ kind: 'thought', row, at: row.ts, rows: [row] });
  else if (row.role === 'act') items.push(newAct(row));
  else if (row.role === 'result') addResult(items, row);
  else if (row.role === 'answered') addAnswer(items, row);
  else if (row.role === 'progress') {
    const act = openAct(items, row);
    if (act) act.progress = withoutName(row);
  } else if (row.kind === 'RESTART' || row.role !== 'note') items.push({ kind: row.role, row, at: row.ts, words: '' });
}

/**
 * @param {readonly TraceRow[]} rows
 * @returns {Item[]}
 */
export function conversation(rows) {
  /** @type {Item[]} */
  const items = [];
  for (const row of rows) add(items, row);
  // In the order in which they came: a recording that is played back has times of its own.
  let at = 0;
  for (const item of items) {
    at = Math.max(at, item.at);
    item.at = at;
  }
  return items;
}
