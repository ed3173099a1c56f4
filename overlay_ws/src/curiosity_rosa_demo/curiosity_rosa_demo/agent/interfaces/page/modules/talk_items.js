// The entries of the conversation: the rows of the trace, the lines that people typed, and the open questions, in
// order. Pure.
import { conversation } from './conversation.js';

/** @import { Item } from './conversation.js' */

/**
 * @typedef {{ kind: 'line', at: number, line: TalkLine }} LineItem
 * @typedef {{ kind: 'asks', at: number, row: null, words: '' }} Untraced an open question without a row of the trace
 * @typedef {(Item | LineItem | Untraced) & { key: string, open?: QuestionRow }} TalkItem `open`: the question that waits for
 *   its answer here
 */

/**
 * The last `shown` entries, and before them the open questions that are older. A question stands where it was asked; one that the
 * trace does not tell of stands at the end.
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
  for (const open of questions) {
    const asked = items.findLast((item) => item.kind === 'asks' && item.row?.question === open.id && !item.words);
    // The form keeps its key, and with it what a person has typed into it, when the trace tells of the question.
    const key = `question ${open.id}`;
    if (asked) Object.assign(asked, { open, key });
    else items.push({ kind: 'asks', at: end, row: null, words: '', open, key });
  }
  const older = items.slice(0, -shown).filter((item) => item.open);
  return [...older, ...items.slice(-shown)];
}

/** @param {TalkLine} line */
const keyOf = (line) => `line ${line.token || line.id}`;
