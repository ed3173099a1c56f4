// Equal neighbours of the trace become one row with a count, and so do equal pairs, such as an act
// and its result.

/** @typedef {{ row: TraceRow, last: TraceRow, times: number }} FoldedRow its first event, its last, and how often it came */

/** @type {(keyof TraceRow)[]} */
const COMPARED = ['kind', 'text', 'tool', 'ok', 'task', 'replay', 'earlier'];

/**
 * @param {FoldedRow} one
 * @param {FoldedRow} other
 */
const same = (one, other) => COMPARED.every((part) => one.row[part] === other.row[part]);

/**
 * @param {FoldedRow} into
 * @param {FoldedRow} from
 */
const merge = (into, from) => Object.assign(into, { last: from.last, times: into.times + from.times });

/**
 * @param {readonly TraceRow[]} rows
 * @returns {FoldedRow[]}
 */
export function foldRows(rows) {
  /** @type {FoldedRow[]} */
  const folded = [];
  for (const row of rows) {
    const next = { row, last: row, times: 1 };
    const [third, second, first] = [folded.at(-3), folded.at(-2), folded.at(-1)];
    if (first && same(first, next)) merge(first, next);
    else if (third && second && first && same(third, first) && same(second, next) && first.times === 1) {
      merge(third, first);
      folded.pop();
      merge(second, next);
    } else folded.push(next);
  }
  return folded;
}
