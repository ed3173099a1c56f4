export default {
  props: { facts: Object },
  data: () => ({ open: null }),
  computed: {
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
    this.picked = (event) => this.open !== event.detail && this.pick(event.detail);
    window.addEventListener('pick-capture', this.picked);
  },
  unmounted() {
    window.removeEventListener('pick-capture', this.picked);
  },
  methods: {
    url: (row) => '/page/captures/' + encodeURIComponent(row.id) + '.jpg',
    words: (row) => `${row.good ? 'Good' : 'Too dark'}: score ${row.score.toFixed(2)} at ${row.place}, ${window.curiosity.time(row.at)}`,
    pick(id) {
      this.open = this.open === id ? null : id;
      if (this.open) this.$nextTick(() => this.$el.scrollIntoView({ block: 'nearest' }));
    },
  },
};
