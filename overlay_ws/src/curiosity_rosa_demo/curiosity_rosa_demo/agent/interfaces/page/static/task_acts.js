// What a key does to a task, and the priority of a task that is dropped on another. Tasks that wait
// run by urgency, then by priority, the highest first, then in the order of their submission.
(() => {
  const KEYS = { '+': 1, '=': 1, '-': -1 };

  window.curiosity.taskActs = {
    inOrder: (one, other) => other.urgent - one.urgent || other.priority - one.priority || one.seq - other.seq,
    ofKey(event, row) {
      if (!row.live || event.ctrlKey || event.altKey || event.metaKey || event.target.matches('input, select, textarea')) return null;
      if (event.key === 'Delete') return { id: row.id, act: 'cancel' };
      if (event.key.toLowerCase() === 'p') return { id: row.id, act: row.held ? 'resume' : 'pause' };
      if (event.key in KEYS && !row.runs) return { id: row.id, act: 'priority', priority: row.priority + KEYS[event.key] };
      return null;
    },
    // Dropped on a task that runs later, it runs after that one; dropped on an earlier one, before.
    ofDrop(row, target) {
      const down = window.curiosity.taskActs.inOrder(row, target) < 0;
      if (down) return { id: row.id, act: 'priority', priority: row.seq > target.seq ? target.priority : target.priority - 1 };
      return { id: row.id, act: 'priority', priority: row.seq < target.seq ? target.priority : target.priority + 1 };
    },
  };
})();
