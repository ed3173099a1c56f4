// The marks of the scrubber: a time in seconds and a kind (error, capture, question or restart), those of
// one kind in the order of time. Pure, as are the words for times.
/** @typedef {{ place: number, kind: string }} ShownMark */

const APART_S = 0.0005; // times are rounded to a millisecond

/**
 * The time of the next mark of a kind; null: there is none.
 * @param {readonly TimeMark[]} marks
 * @param {string} kind
 * @param {number} at the time that is shown
 * @param {number} direction 1: later, -1: earlier
 * @returns {number | null}
 */
export function nextMark(marks, kind, at, direction) {
  const of = marks.filter(([, each]) => each === kind).map(([moment]) => moment);
  const found =
    direction > 0 ? of.find((moment) => moment > at + APART_S) : of.findLast((moment) => moment < at - APART_S);
  return found ?? null;
}

/**
 * The marks that can be told apart on a scrubber, each with its place from 0 to 100.
 * @param {readonly TimeMark[]} marks
 * @param {number} start
 * @param {number} end
 * @returns {ShownMark[]}
 */
export function shownMarks(marks, start, end) {
  const STEPS = 250; // over the whole scrubber
  /** @type {Map<string, ShownMark>} */
  const seen = new Map();
  for (const [moment, kind] of marks) {
    const step = Math.round((STEPS * (moment - start)) / Math.max(1e-3, end - start));
    if (step >= 0 && step <= STEPS) seen.set(`${kind} ${step}`, { place: (100 * step) / STEPS, kind });
  }
  return [...seen.values()];
}

/**
 * A duration in words, such as "2 min 10 s".
 * @param {number} seconds
 * @returns {string}
 */
export function duration(seconds) {
  const whole = Math.max(0, Math.round(seconds));
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60];
  if (hours) return `${hours} h ${minutes} min`;
  return minutes ? `${minutes} min ${whole % 60} s` : `${whole} s`;
}
