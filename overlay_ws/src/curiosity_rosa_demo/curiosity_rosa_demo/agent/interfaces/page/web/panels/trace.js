// The trace as a table: filtered and folded here; a click requests the raw event. One tab stop: the
// arrow keys move between its lines.

import { foldRows } from '../modules/fold.js';
import { html } from '../modules/html.js';
import { newestLast } from '../modules/newest_last.js';
import { traceRows } from '../modules/trace_rows.js';
import { defineComponent } from '../vendor/vue.js';

/** @import { FoldedRow } from '../modules/fold.js' */

const KINDS = ['OBSERVE', 'HYPOTHESIZE', 'DECIDE', 'ACT', 'RESULT', 'ERROR'];
const SHORT = 8; // characters of a task's ID
const ALL = 500; // lines
/** @type {Record<string, number>} */
const MOVES = { ArrowDown: 1, ArrowUp: -1, Home: -ALL, End: ALL };

// Very short and very long gaps are not the duration of a step.
/** @param {TraceRow} row */
const took = (row) =>
  row.took === null || row.took < 0.01 || row.took > 600 ? '' : `+${row.took.toFixed(row.took < 10 ? 2 : 0)} s`;

export default defineComponent({
  mixins: [newestLast],
  stops: 'li > button',
  data() {
    return {
      rows: traceRows.all(),
      /** @type {string[]} kinds */
      hidden: [],
      search: '',
      tool: '',
      task: '',
      /** @type {string | null} the ID of the row that shows its raw event */
      open: null,
      raw: '',
    };
  },
  computed: {
    /** @returns {FoldedRow[]} */
    shown() {
      const words = this.search.toLowerCase();
      /** @param {TraceRow} row */
      const found = (row) =>
        (!words || `${row.text} ${row.tool}`.toLowerCase().includes(words)) &&
        (!this.tool || row.tool === this.tool) &&
        (!this.task || row.task === this.task);
      return foldRows(this.rows.filter((row) => !this.hidden.includes(row.kind) && found(row)));
    },
    // What is chosen stays a choice, also once its last line is no longer kept.
    /** @returns {string[]} */
    tools() {
      return this.choices('tool');
    },
    /** @returns {string[]} */
    tasks() {
      return this.choices('task');
    },
  },
  render() {
    const { shown } = this;
    return html`
      <div class="trace">
        <div class="filters" role="group" aria-label="What the trace shows">
          ${KINDS.map((kind) => html`<button key=${kind} type="button" class=${['small', kind]} aria-pressed=${!this.hidden.includes(kind)} onClick=${() => this.toggle(kind)}>${kind.toLowerCase()}</button>`)}
          <select value=${this.tool} aria-label="Tool of the trace that is shown" onChange=${this.chooseTool}><option value="">any tool</option>${this.tools.map((each) => html`<option key=${each} value=${each}>${each}</option>`)}</select>
          <select value=${this.task} aria-label="Task of the trace that is shown" onChange=${this.chooseTask}><option value="">any task</option>${this.tasks.map((each) => html`<option key=${each} value=${each}>${this.short(each)}</option>`)}</select>
          <input value=${this.search} type="search" placeholder="text" aria-label="Text of the trace that is shown" onInput=${this.chooseText} />
        </div>
        ${!shown.length && html`<p class="quiet">${this.rows.length ? 'The filter hides all events.' : 'No events yet.'}</p>`}
        <div class="scroller">
          <ol ref="list" class="lines" tabindex="0" aria-label="Trace, the newest last" onScrollPassive=${this.scrolled} onKeydown=${this.onKey}>
            ${shown.map(
              ({
                row,
                last,
                times,
              }) => html`<li key=${row.id} class=${[row.kind, { failed: row.ok === false, earlier: row.earlier }]}>
                <button type="button" tabindex="-1" aria-expanded=${this.open === row.id} onClick=${() => this.toggleRaw(row, last)}>
                  <time>${window.curiosity.time(last.ts)}</time>
                  <span class="kind">${row.kind.toLowerCase()}</span>
                  <span class="of-tool">${row.tool}</span>
                  <code class="of-task">${this.short(row.task)}</code>
                  <span class="text">${row.replay && '(replay) '}${row.earlier && '(before the restart) '}${row.text} ${times > 1 && html`<span class="times">× ${times}</span>`}</span>
                  <span class="took" title="after the line before">${times > 1 ? '' : took(row)}</span>
                </button>
                ${this.open === row.id && html`<pre class="raw">${this.raw}</pre>`}
              </li>`,
            )}
          </ol>
          ${!this.follows && html`<button type="button" class="jump" onClick=${this.jump}>↓ Jump to latest</button>`}
        </div>
      </div>`;
  },
  mounted() {
    window.addEventListener('trace-rows', this.changed);
    window.addEventListener('trace-task', this.taskChosen);
  },
  unmounted() {
    window.removeEventListener('trace-rows', this.changed);
    window.removeEventListener('trace-task', this.taskChosen);
  },
  methods: {
    changed() {
      this.rows = traceRows.all();
      this.grown();
    },
    /** @param {CustomEvent<string>} event */
    taskChosen(event) {
      this.task = event.detail;
    },
    /** @param {KeyboardEvent} event */
    onKey(event) {
      const by = MOVES[event.key];
      if (!by) return;
      event.preventDefault();
      this.move(by);
    },
    /** @param {Event} event */
    chooseTool(event) {
      this.tool = /** @type {HTMLSelectElement} */ (event.target).value;
    },
    /** @param {Event} event */
    chooseTask(event) {
      this.task = /** @type {HTMLSelectElement} */ (event.target).value;
    },
    /** @param {Event} event */
    chooseText(event) {
      this.search = /** @type {HTMLInputElement} */ (event.target).value;
    },
    /**
     * @param {'tool' | 'task'} part
     * @returns {string[]}
     */
    choices(part) {
      return [...new Set([...this.rows.map((row) => row[part]), this[part]])].filter(Boolean).sort();
    },
    /** @param {string} id */
    short: (id) => id.slice(0, SHORT),
    /** @param {string} kind */
    toggle(kind) {
      this.hidden = this.hidden.includes(kind) ? this.hidden.filter((each) => each !== kind) : [...this.hidden, kind];
    },
    /**
     * @param {TraceRow} row
     * @param {TraceRow} last
     */
    toggleRaw(row, last) {
      this.open = this.open === row.id ? null : row.id;
      this.raw = JSON.stringify(last.event, null, 2);
    },
  },
});
