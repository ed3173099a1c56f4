// The rows of the trace as a conversation, in order: sentences, thoughts (neighbours are one item),
// acts with their results, questions, answers. Equal acts in a row are one item with a count.
(() => {
  const withoutName = (row) => (row.tool && row.text.startsWith(`${row.tool}: `) ? row.text.slice(row.tool.length + 2) : row.text);
  const sameTask = (item, row) => item.row.task === row.task && item.row.earlier === row.earlier;
  const openAct = (items, row) => items.findLast((item) => item.kind === 'act' && !item.result && item.row.tool === row.tool && sameTask(item, row));

  function addResult(items, row) {
    let act = openAct(items, row);
    if (!act) items.push((act = { kind: 'act', row, at: row.ts, alone: true, times: 1 }));
    act.result = row;
    act.words = act.alone ? row.text : withoutName(row);
    act.took = act.alone ? null : Math.max(0, row.ts - act.row.ts);
    act.progress = '';
    const before = items.at(-2);
    const equal = items.at(-1) === act && before?.result && before.row.text === act.row.text && before.words === act.words && before.result.ok === row.ok && sameTask(before, row);
    if (!equal) return;
    items.pop();
    before.times += 1;
  }

  function add(items, row) {
    const last = items.at(-1);
    if (row.role === 'thought' && last?.kind === 'thought' && sameTask(last, row)) last.rows.push(row);
    else if (row.role === 'thought') items.push({ kind: 'thought', row, at: row.ts, rows: [row] });
    else if (row.role === 'act') items.push({ kind: 'act', row, at: row.ts, result: null, words: '', progress: '', times: 1 });
    else if (row.role === 'result') addResult(items, row);
    else if (row.role === 'progress') {
      const act = openAct(items, row);
      if (act) act.progress = withoutName(row);
    } else if (row.role === 'answered') {
      const asked = items.findLast((item) => item.kind === 'asks' && item.row.question === row.question && !item.words);
      if (asked) asked.words = row.text;
      else items.push({ kind: 'asks', row, at: row.ts, words: '' });
    } else if (row.kind === 'RESTART' || row.role !== 'note') items.push({ kind: row.role, row, at: row.ts, words: '' });
  }

  window.curiosity.conversation = (rows) => {
    const items = [];
    for (const row of rows) add(items, row);
    // In the order in which they came: a recording that is played back has times of its own.
    let at = 0;
    for (const item of items) at = item.at = Math.max(at, item.at);
    return items;
  };
})();
