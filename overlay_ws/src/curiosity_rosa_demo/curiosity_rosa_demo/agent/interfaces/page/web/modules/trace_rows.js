// The rows of the trace, kept once: the trace, the conversation and the drawer of a task show them.
// The event trace-rows tells of a change. They are frozen, so that Vue does not watch each of them.
const KEPT = 500;

/** @type {readonly TraceRow[]} */
let rows = Object.freeze([]);

export const traceRows = {
  all: () => rows,

  /** @param {string} task its ID */
  of: (task) => rows.filter((row) => row.task === task),

  /**
   * The page shows another time.
   * @param {readonly TraceRow[]} lines
   */
  replace(lines) {
    rows = Object.freeze([]);
    traceRows.add(lines);
  },

  /** @param {readonly TraceRow[]} lines */
  add(lines) {
    const known = new Set(rows.map((row) => row.id));
    const fresh = lines.filter((line) => !known.has(line.id)).map((line) => Object.freeze(line));
    rows = Object.freeze([...rows, ...fresh].slice(-KEPT));
    window.dispatchEvent(new Event('trace-rows'));
  },
};
