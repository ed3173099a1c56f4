// The captures, the newest first; one of them opens in full.
import { defineComponent } from 'vue';

/** @import { PropType } from 'vue' */

export default defineComponent({
  props: { facts: { type: /** @type {PropType<CapturesFacts>} */ (Object), required: true } },
  data: () => ({
    /** @type {string | null} the ID of the capture that is shown in full */
    open: null,
  }),
  computed: {
    /** @returns {CaptureRow | undefined} */
    capture() {
      return this.facts.rows.find((row) => row.id === this.open);
    },
  },
  template: `
    <div class="captures">
      <div v-if="capture" class="capture" role="group" aria-label="A capture">
        <img :src="url(capture)" :alt="words(capture)" />
        <p>{{ words(capture) }}</p>
        <button type="button" @click="open = null">Close</button>
      </div>
      <ul v-if="facts.rows.length" aria-label="Captures, the newest first">
        <li v-for="row in facts.rows" :key="row.id">
          <button type="button" :class="row.good ? 'good' : 'poor'" :aria-pressed="row.id === open" :title="words(row)" @click="pick(row.id)">
            <img :src="url(row)" :alt="words(row)" loading="lazy" width="72" height="72" />
            <span>{{ row.good ? '✓' : '✗' }} {{ row.score.toFixed(2) }}</span>
          </button>
        </li>
      </ul>
      <p v-else class="quiet">No captures yet.</p>
    </div>`,
  mounted() {
    window.addEventListener('pick-capture', this.picked);
  },
  unmounted() {
    window.removeEventListener('pick-capture', this.picked);
  },
  methods: {
    /** @param {CaptureRow} row */
    url: (row) => `/page/captures/${encodeURIComponent(row.id)}.jpg`,
    /** @param {CaptureRow} row */
    words: (row) =>
      `${row.good ? 'Good' : 'Too dark'}: score ${row.score.toFixed(2)} at ${row.place}, ${window.curiosity.time(row.at)}`,
    /** @param {CustomEvent<string>} event */
    picked(event) {
      if (this.open !== event.detail) this.pick(event.detail);
    },
    /** @param {string} id */
    async pick(id) {
      this.open = this.open === id ? null : id;
      if (!this.open) return;
      await this.$nextTick();
      this.$el.scrollIntoView({ block: 'nearest' });
    },
  },
});
