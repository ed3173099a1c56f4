// The tasks. Ended ones are folded, but for the newest. Those that wait stand in the order in which
// they run, which keys and dragging change; a task opens its drawer.
const USUAL = 3; // a priority that is not told

import { changeTask } from '../modules/acts.js';
import { html } from '../modules/html.js';
import { shown } from '../modules/shown.js';
import { actOfDrop, actOfKey, inOrder, taskSigns } from '../modules/task_acts.js';
import { defineComponent } from '../vendor/vue.js';

/** @import { PropType } from '../vendor/vue.js' */

export default defineComponent({
  props: { rows: { type: /** @type {PropType<TaskRow[]>} */ (Array), required: true } },
  emits: ['open'],
  data: () => ({
    unfolded: false,
    /** @type {TaskRow | null} */
    dragged: null,
    /** @type {string | undefined} the ID of the task that has the focus */
    focused: undefined,
  }),
  computed: {
    past: () => shown.looksBack(),
    /** @returns {TaskRow[]} */
    ended() {
      return this.rows.filter((row) => !row.live);
    },
    /** @returns {TaskRow[]} */
    shown() {
      const ended = this.unfolded ? this.ended : this.ended.slice(0, 1);
      const live = this.rows.filter((row) => row.live);
      return [...live.filter((row) => row.runs), ...live.filter((row) => !row.runs).sort(inOrder), ...ended];
    },
  },
  render() {
    const { ended, unfolded } = this;
    return html`
      <div class="table">
        ${
          this.shown.length
            ? html`<table>
                <caption class="sr">Tasks: the running one, then those that wait, then those that have ended. Keys on a task: P pauses and resumes, plus and minus change its priority, Delete cancels it.</caption>
                <thead><tr><th>Task</th><th>State</th><th>What</th><th class="since">Since</th><th><span class="sr">Cancel</span></th></tr></thead>
                <tbody>${this.shown.map((row) => this.row(row, this.past))}</tbody>
              </table>`
            : html`<p class="quiet">No tasks.</p>`
        }
        ${ended.length > 1 && html`<button type="button" class="small" aria-expanded=${unfolded} onClick=${this.fold}>${unfolded ? 'Fold ended tasks' : `${ended.length - 1} more ended`}</button>`}
      </div>`;
  },
  // A row that moves would lose the focus of the keyboard.
  beforeUpdate() {
    const { activeElement } = document;
    const inside = activeElement instanceof HTMLElement && this.$el.contains(activeElement);
    this.focused = inside ? activeElement.dataset.opens : undefined;
  },
  updated() {
    if (!this.focused) return;
    /** @type {HTMLElement | null} */
    const opener = this.$el.querySelector(`[data-opens="${CSS.escape(this.focused)}"]`);
    opener?.focus();
  },
  methods: {
    fold() {
      this.unfolded = !this.unfolded;
    },
    /**
     * @param {TaskRow} row
     * @param {boolean} past
     */
    row(row, past) {
      /** @param {string} text */
      const why = (text) => text && html`<span class="quiet why">${text}</span>`;
      const priority = row.live && row.priority !== USUAL ? `priority ${row.priority}` : '';
      return html`
        <tr key=${row.id} class=${['task', row.state]} draggable=${row.live && !row.runs && !past} onKeydown=${(/** @type {KeyboardEvent} */ event) => this.onKey(event, row)}
          onDragstart=${() => this.drag(row)} onDragend=${() => this.drag(null)} onDragover=${(/** @type {DragEvent} */ event) => this.onOver(event, row)} onDrop=${(/** @type {DragEvent} */ event) => this.onDrop(event, row)}>
          <td><button type="button" class="id" title=${row.id} data-opens=${row.id} aria-label=${`Open task ${row.short}, ${row.what}`} aria-keyshortcuts="P + - Delete" onClick=${() => this.$emit('open', row.id)}><code>${row.short}</code></button></td>
          <td><span class="state"><span class="sign" aria-hidden="true">${taskSigns[row.state] ?? '·'}</span>${row.state}${row.held && ' (held)'}</span></td>
          <td class="text">${row.what}${row.by && html`<span class="quiet"> by ${row.by}</span>`}${why(priority)}${why(row.behind ?? '')}${why(row.reason)}</td>
          <td class="since"><time>${window.curiosity.time(row.since)}</time></td>
          <td>${row.live && !past && html`<button type="button" aria-label=${`Cancel ${row.what}`} onClick=${() => changeTask({ id: row.id, act: 'cancel' })}>Cancel</button>`}</td>
        </tr>`;
    },
    /** @param {TaskRow | null} row */
    drag(row) {
      this.dragged = row;
    },
    /**
     * @param {KeyboardEvent} event
     * @param {TaskRow} row
     */
    onKey(event, row) {
      const act = this.past ? null : actOfKey(event, row);
      if (act) changeTask(act);
    },
    /**
     * @param {DragEvent} event
     * @param {TaskRow} row
     */
    onOver(event, row) {
      if (this.dragged && this.dragged.id !== row.id && row.live && !row.runs) event.preventDefault();
    },
    /**
     * @param {DragEvent} event
     * @param {TaskRow} row
     */
    onDrop(event, row) {
      event.preventDefault();
      if (this.dragged && this.dragged.id !== row.id) changeTask(actOfDrop(this.dragged, row));
    },
  },
});
