// What a key does to a task, and the priority of a task that is dropped on another. Tasks that wait
// run by urgency, then by priority, the highest first, then in the order of their submission.

/** @type {Record<string, number>} */
/** @type {Record<string, string>} by state */
export const taskSigns = {
  pending: '○',
  waiting: '◔',
  active: '►',
  paused: '‖',
  recovering: '↻',
  completed: '✓',
  failed: '▲',
  cancelled: '⊘',
};

/** @type {Record<string, number>} */
const KEYS = { '+': 1, '=': 1, '-': -1 };

/**
 * For a sort of tasks that wait.
 * @param {TaskRow} one
 * @param {TaskRow} other
 */
export const inOrder = (one, other) =>
  Number(other.urgent) - Number(one.urgent) || other.priority - one.priority || one.seq - other.seq;

/**
 * @param {KeyboardEvent} event
 * @param {TaskRow} row
 * @returns {TaskAct | null} null: the key means nothing here
 */
export function actOfKey(event, row) {
  const types = event.target instanceof Element && event.target.matches('input, select, textarea');
  if (!row.live || event.repeat || event.ctrlKey || event.altKey || event.metaKey || types) return null;
  if (event.key === 'Delete') return { id: row.id, act: 'cancel' };
  if (event.key.toLowerCase() === 'p') return { id: row.id, act: row.held ? 'resume' : 'pause' };
  if (event.key in KEYS && !row.runs) return { id: row.id, act: 'priority', priority: row.priority + KEYS[event.key] };
  return null;
}

/**
 * Dropped on a task that runs later, it runs after that one; dropped on an earlier one, before.
 * @param {TaskRow} row
 * @param {TaskRow} target
 * @returns {TaskAct}
 */
export function actOfDrop(row, target) {
  const below = inOrder(row, target) < 0;
  const moved = below ? target.priority - 1 : target.priority + 1;
  const keeps = below ? row.seq > target.seq : row.seq < target.seq;
  return { id: row.id, act: 'priority', priority: keeps ? target.priority : moved };
}
