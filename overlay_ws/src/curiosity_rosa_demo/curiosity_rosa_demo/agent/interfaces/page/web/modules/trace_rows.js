// The rows of the trace, kept once: the trace, the conversation and the drawer of a task show them.
// The event trace-rows tells of a change. They are frozen, so that Vue does not watch each of them.
import { traceRow } from './trace_facts.js';

const KEPT = 500;

/** @type {readonly TraceRow[]} */
let rows = Object.freeze([]);

export const traceRows = {
  all: () => rows,

  /**
   * The page shows another time.
   * @param {readonly TraceJson[]} lines
   */
  replace(lines) {
    rows = Object.freeze([]);
    traceRows.add(lines);
  },

  /** @param {readonly TraceJson[]} lines */
  add(lines) {
    const known = new Set(rows.map((row) => row.id));
    const next = [...rows];
    for (const line of lines) if (!known.has(line.event_id)) next.push(traceRow(line, next.at(-1)));
    rows = Object.freeze(next.slice(-KEPT));
    window.dispatchEvent(new Event('trace-rows'));
  },
};
