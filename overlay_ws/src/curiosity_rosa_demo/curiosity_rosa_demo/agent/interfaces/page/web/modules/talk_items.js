// The entries of the conversation: the rows of the trace, the lines that people typed, and the open questions, in
// order. Pure.
import { conversation } from './conversation.js';

/** @import { Item, Sentence } from './conversation.js' */

/**
 * @typedef {{ kind: 'line', at: number, line: TalkLine }} LineItem
 * @typedef {{ kind: 'asks', at: number, row: null, words: '' }} Untraced an open question without a row of the trace
 * @typedef {{ key: string, open?: QuestionRow }} Keyed `open`: the question that waits for its answer here
 * @typedef {(Item | LineItem | Untraced) & Keyed} TalkItem
 */

/**
 * The last `shown` entries, and before them the open questions that are older. A question stands where it was asked;
 * one that the trace does not tell of stands at the end.
 * @param {readonly TraceRow[]} rows
 * @param {readonly TalkLine[]} lines
 * @param {readonly QuestionRow[]} questions
 * @param {number} shown
 * @returns {TalkItem[]}
 */
export function talkItems(rows, lines, questions, shown) {
  const tasks = new Set(lines.map((line) => line.task).filter(Boolean));
  const told = conversation(rows).filter((item) => item.kind !== 'said' || !tasks.has(item.row.task));
  /** @type {TalkItem[]} */
  const items = [
    ...told.map((item) => ({ ...item, key: item.row.id })),
    ...lines.map((line) => ({ kind: /** @type {const} */ ('line'), at: line.at, line, key: keyOf(line) })),
  ];
  items.sort((one, other) => one.at - other.at);
  const end = items.at(-1)?.at ?? 0;
  const asked = lastAsked(items);
  for (const open of questions) {
    const item = asked.get(open.id);
    if (item && !item.words) Object.assign(item, { open });
    else items.push({ kind: 'asks', at: end, row: null, words: '', open, key: keyOfQuestion(open.id, item) });
  }
  const older = items.slice(0, -shown).filter((item) => item.open);
  return [...older, ...items.slice(-shown)];
}

/**
 * The last entry of each question, by its ID. Their keys stay the same before the trace tells of them, and after their
 * answer, so that neither a text that a person has typed nor the focus is lost.
 * @param {TalkItem[]} items
 */
function lastAsked(items) {
  /** @type {Map<string, Sentence & Keyed>} */
  const asked = new Map();
  for (const item of items) {
    if (item.kind === 'asks' && item.row?.question) asked.set(item.row.question, item);
  }
  for (const [id, item] of asked) item.key = keyOfQuestion(id);
  return asked;
}

/**
 * @param {string} id
 * @param {unknown} [taken] an entry that has the key
 */
const keyOfQuestion = (id, taken) => `question ${id}${taken ? ' again' : ''}`;

/** @param {TalkLine} line */
const keyOf = (line) => `line ${line.token || line.id}`;
