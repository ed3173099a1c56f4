// The trace as a table: filtered and folded here; a click requests the raw event. One tab stop: the
// arrow keys move between its lines.
import { foldRows } from 'curiosity/fold.js';
import { newestLast } from 'curiosity/newest_last.js';
import { traceRows } from 'curiosity/trace_rows.js';
import { defineComponent } from 'vue';

/** @import { PropType } from 'vue' */
/** @import { FoldedRow } from 'curiosity/fold.js' */

const KINDS = ['OBSERVE', 'HYPOTHESIZE', 'DECIDE', 'ACT', 'RESULT', 'ERROR'];
const SHORT = 8; // characters of a task's ID
const ALL = 500; // lines

export default defineComponent({
  mixins: [newestLast],
  stops: 'li > button',
  props: { lines: { type: /** @type {PropType<TraceRow[]>} */ (Array), required: true } },
  emits: ['raw'],
  data() {
    traceRows.add(this.lines);
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
      asked: '',
      kinds: KINDS,
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
  template: `
    <div class="trace">
      <div class="filters" role="group" aria-label="What the trace shows">
        <button v-for="kind in kinds" :key="kind" type="button" class="small" :class="kind" :aria-pressed="!hidden.includes(kind)" @click="toggle(kind)">{{ kind.toLowerCase() }}</button>
        <select v-model="tool" aria-label="Tool of the trace that is shown"><option value="">any tool</option><option v-for="each in tools" :key="each" :value="each">{{ each }}</option></select>
        <select v-model="task" aria-label="Task of the trace that is shown"><option value="">any task</option><option v-for="each in tasks" :key="each" :value="each">{{ short(each) }}</option></select>
        <input v-model="search" type="search" placeholder="text" aria-label="Text of the trace that is shown" />
      </div>
      <p v-if="!shown.length" class="quiet">{{ rows.length ? 'The filter hides all events.' : 'No events yet.' }}</p>
      <div class="scroller">
        <ol ref="list" class="lines" tabindex="0" aria-label="Trace, the newest last" @scroll.passive="scrolled"
          @keydown.down.prevent="move(1)" @keydown.up.prevent="move(-1)" @keydown.home.prevent="move(-${ALL})" @keydown.end.prevent="move(${ALL})">
          <li v-for="{ row, last, times } in shown" :key="row.id" :class="[row.kind, { failed: row.ok === false, earlier: row.earlier }]">
            <button type="button" tabindex="-1" :aria-expanded="open === row.id" @click="toggleRaw(row, last)">
              <time>{{ time(last.ts) }}</time>
              <span class="kind">{{ row.kind.toLowerCase() }}</span>
              <span class="of-tool">{{ row.tool }}</span>
              <code class="of-task">{{ short(row.task) }}</code>
              <span class="text">{{ row.replay ? '(replay) ' : '' }}{{ row.earlier ? '(before the restart) ' : '' }}{{ row.text }} <span v-if="times > 1" class="times">× {{ times }}</span></span>
              <span class="took" title="after the line before">{{ times > 1 ? '' : took(row) }}</span>
            </button>
            <pre v-if="open === row.id" class="raw">{{ raw }}</pre>
          </li>
        </ol>
        <button v-if="!follows" type="button" class="jump" @click="jump">↓ Jump to latest</button>
      </div>
    </div>`,
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
    /** @param {TraceRow[]} lines */
    append: (lines) => traceRows.add(lines),
    /** @param {TraceRow[]} lines those of another time */
    replace: (lines) => traceRows.replace(lines),
    /**
     * @param {string} id
     * @param {string} raw
     */
    show(id, raw) {
      if (this.asked === id) this.raw = raw;
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
      this.raw = '…';
      this.asked = last.id;
      if (this.open) this.$emit('raw', last.id);
    },
    /** @param {number} moment */
    time: (moment) => window.curiosity.time(moment),
    // Very short and very long gaps are not the duration of a step.
    /** @param {TraceRow} row */
    took: (row) =>
      row.took === null || row.took < 0.01 || row.took > 600 ? '' : `+${row.took.toFixed(row.took < 10 ? 2 : 0)} s`,
  },
});
