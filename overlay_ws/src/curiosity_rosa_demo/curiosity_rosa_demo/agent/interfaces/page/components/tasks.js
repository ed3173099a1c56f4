// The tasks. Ended ones are folded, but for the newest. Those that wait stand in the order in which
// they run, which keys and dragging change; a task opens its drawer.
/** @type {Record<string, string>} */
const SIGNS = {
  pending: '○',
  waiting: '◔',
  active: '►',
  paused: '‖',
  recovering: '↻',
  completed: '✓',
  failed: '▲',
  cancelled: '⊘',
};
const USUAL = 3; // a priority that is not told

import { keptFocus } from 'curiosity/kept_focus.js';
import { actOfDrop, actOfKey, inOrder } from 'curiosity/task_acts.js';
import { defineComponent } from 'vue';

/** @import { PropType } from 'vue' */

export default defineComponent({
  mixins: [keptFocus],
  keeps: 'opens',
  props: { facts: { type: /** @type {PropType<{ rows: TaskRow[], past?: boolean }>} */ (Object), required: true } },
  emits: ['act', 'open'],
  data: () => ({
    unfolded: false,
    /** @type {TaskRow | null} */
    dragged: null,
  }),
  computed: {
    /** @returns {TaskRow[]} */
    ended() {
      return this.facts.rows.filter((row) => !row.live);
    },
    /** @returns {TaskRow[]} */
    shown() {
      const ended = this.unfolded ? this.ended : this.ended.slice(0, 1);
      const live = this.facts.rows.filter((row) => row.live);
      return [...live.filter((row) => row.runs), ...live.filter((row) => !row.runs).sort(inOrder), ...ended];
    },
  },
  template: `
    <div class="table">
      <table v-if="shown.length">
        <caption class="sr">Tasks: the running one, then those that wait, then those that have ended. Keys on a task: P pauses and resumes, plus and minus change its priority, Delete cancels it.</caption>
        <thead><tr><th>Task</th><th>State</th><th>What</th><th class="since">Since</th><th><span class="sr">Cancel</span></th></tr></thead>
        <tbody>
          <tr v-for="row in shown" :key="row.id" :class="['task', row.state]" :draggable="row.live && !row.runs && !facts.past" @keydown="onKey($event, row)"
            @dragstart="dragged = row" @dragend="dragged = null" @dragover="onOver($event, row)" @drop.prevent="onDrop(row)">
            <td><button type="button" class="id" :title="row.id" :data-opens="row.id" :aria-label="'Open task ' + row.short + ', ' + row.what" aria-keyshortcuts="P + - Delete" @click="$emit('open', row.id)"><code>{{ row.short }}</code></button></td>
            <td><span class="state"><span class="sign" aria-hidden="true">{{ sign(row) }}</span>{{ row.state }}{{ row.held ? ' (held)' : '' }}</span></td>
            <td class="text">{{ row.what }}<span v-if="row.by" class="quiet"> by {{ row.by }}</span><span v-if="unusual(row)" class="quiet why">{{ unusual(row) }}</span><span v-if="row.behind" class="quiet why">{{ row.behind }}</span><span v-if="row.reason" class="quiet why">{{ row.reason }}</span></td>
            <td class="since"><time>{{ time(row.since) }}</time></td>
            <td><button v-if="row.live && !facts.past" type="button" :aria-label="'Cancel ' + row.what" @click="$emit('act', { id: row.id, act: 'cancel' })">Cancel</button></td>
          </tr>
        </tbody>
      </table>
      <p v-else class="quiet">No tasks.</p>
      <button v-if="ended.length > 1" type="button" class="small" :aria-expanded="unfolded" @click="unfolded = !unfolded">{{ unfolded ? 'Fold ended tasks' : ended.length - 1 + ' more ended' }}</button>
    </div>`,
  methods: {
    /**
     * @param {KeyboardEvent} event
     * @param {TaskRow} row
     */
    onKey(event, row) {
      const act = this.facts.past ? null : actOfKey(event, row);
      if (act) this.$emit('act', act);
    },
    /**
     * @param {DragEvent} event
     * @param {TaskRow} row
     */
    onOver(event, row) {
      if (this.dragged && this.dragged.id !== row.id && row.live && !row.runs) event.preventDefault();
    },
    /** @param {TaskRow} row */
    onDrop(row) {
      if (this.dragged && this.dragged.id !== row.id) this.$emit('act', actOfDrop(this.dragged, row));
    },
    /** @param {TaskRow} row */
    unusual: (row) => (row.live && row.priority !== USUAL ? `priority ${row.priority}` : ''),
    /** @param {TaskRow} row */
    sign: (row) => SIGNS[row.state] ?? '·',
    /** @param {number} moment */
    time: (moment) => window.curiosity.time(moment),
  },
});
