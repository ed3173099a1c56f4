// The rows of the trace, kept once: the trace, the conversation and the drawer of a task show them.
// The event trace-rows tells of a change. They are frozen, so that Vue does not watch each of them.
(() => {
  const KEPT = 500;
  let rows = Object.freeze([]);

  window.curiosity.traceRows = {
    all: () => rows,
    // The page shows another time.
    replace(lines) {
      rows = Object.freeze([]);
      window.curiosity.traceRows.add(lines);
    },
    of: (task) => rows.filter((row) => row.task === task),
    add(lines) {
      const known = new Set(rows.map((row) => row.id));
      rows = Object.freeze([...rows, ...lines.filter((line) => !known.has(line.id)).map(Object.freeze)].slice(-KEPT));
      window.dispatchEvent(new Event('trace-rows'));
    },
  };
})();
