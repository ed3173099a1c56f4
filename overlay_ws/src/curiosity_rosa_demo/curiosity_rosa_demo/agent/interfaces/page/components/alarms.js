// What an operator must not miss: SAFE, a replay, and what has failed.
import { looksBack } from 'curiosity/looks_back.js';
import { defineComponent } from 'vue';

/** @import { PropType } from 'vue' */

export default defineComponent({
  mixins: [looksBack],
  props: { facts: { type: /** @type {PropType<AlarmsFacts>} */ (Object), required: true } },
  data: () => ({
    /** @type {string[]} the IDs of rows */
    dismissed: [],
    reply: '',
  }),
  computed: {
    /** @returns {AlarmRow[]} */
    rows() {
      return this.facts.rows.filter((row) => !this.dismissed.includes(row.id));
    },
  },
  template: `
    <div v-if="facts.safe || facts.replay || rows.length" class="alarms" role="region" aria-label="Alarms">
      <div v-if="facts.safe" class="banner safe" role="alert">
        <p><b><span aria-hidden="true">■ </span>SAFE: {{ facts.safe.cause }}</b><br />Nothing may move. {{ facts.safe.way_out }}<template v-if="reply"><br />{{ reply }}</template></p>
        <button v-if="facts.safe.latched" type="button" :disabled="past" @click="clear">Clear</button>
      </div>
      <div v-if="facts.replay" class="banner replay">
        <p><b role="status">REPLAY of a recording: this is not the live rover</b><template v-if="facts.replay_text"><br />{{ facts.replay_text }}</template><br />Battery, mast, wheels, place, pictures and ages are the recording's. Mode, e-stop, nodes and tasks are this agent's own.</p>
      </div>
      <ul v-if="rows.length" class="troubles" aria-label="Failures">
        <li v-for="row in rows" :key="row.id" :class="{ told: row.told }">
          <span class="text">{{ row.text }}</span>
          <button v-if="row.line" type="button" class="small" :disabled="past" @click="say(row.line)">{{ row.button }}</button>
          <button v-if="row.dismissable" type="button" class="small" :aria-label="'Dismiss: ' + row.text" @click="dismissed.push(row.id)">Dismiss</button>
        </li>
      </ul>
    </div>`,
  watch: {
    'facts.safe': {
      immediate: true,
      /** @param {AlarmsFacts['safe']} safe */
      handler(safe) {
        window.curiosity.attention({ mode: safe ? 'SAFE' : 'other' });
        if (!safe) this.reply = '';
      },
    },
  },
  mounted() {
    window.addEventListener('line-answered', this.answered);
  },
  unmounted() {
    window.removeEventListener('line-answered', this.answered);
  },
  methods: {
    /** @param {WindowEventMap['line-answered']} event */
    answered(event) {
      if (event.detail.line === ':clear') this.reply = event.detail.words;
    },
    /** @param {string} line */
    say: (line) => window.dispatchEvent(new CustomEvent('say-line', { detail: line })),
    clear() {
      this.reply = '…';
      this.say(':clear');
    },
  },
});
