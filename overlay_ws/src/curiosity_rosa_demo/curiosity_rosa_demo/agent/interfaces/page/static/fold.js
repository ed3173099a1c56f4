// Equal neighbours of the trace become one row with a count, and so do equal pairs, such as an act
// and its result. A row of the answer: its first event, its last, and how often it came.
(() => {
  const same = (one, other) => one.row.kind === other.row.kind && one.row.text === other.row.text && one.row.tool === other.row.tool && one.row.ok === other.row.ok && one.row.task === other.row.task && one.row.replay === other.row.replay && one.row.earlier === other.row.earlier;
  const merge = (into, from) => Object.assign(into, { last: from.last, times: into.times + from.times });

  window.curiosity.foldRows = (rows) => {
    const folded = [];
    for (const row of rows) {
      const next = { row, last: row, times: 1 };
      const [third, second, first] = [folded.at(-3), folded.at(-2), folded.at(-1)];
      if (first && same(first, next)) merge(first, next);
      else if (third && same(third, first) && same(second, next) && first.times === 1) {
        merge(third, folded.pop());
        merge(second, next);
      } else folded.push(next);
    }
    return folded;
  };
})();
