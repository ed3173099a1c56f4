// The trace. Lines are stored and filtered here; a click requests the raw event.
const KINDS = ['OBSERVE', 'HYPOTHESIZE', 'DECIDE', 'ACT', 'RESULT', 'ERROR'];
const KEPT = 500;

export default {
  props: { lines: Array },
  emits: ['raw'],
  data() {
    return { rows: [...this.lines], hidden: [], open: null, raw: '', kinds: KINDS };
  },
  computed: {
    shown() {
      return this.rows.filter((row) => !this.hidden.includes(row.kind));
    },
  },
  template: `
    <div class="trace">
      <div class="filters" role="group" aria-label="Kinds that are shown">
        <button v-for="kind in kinds" :key="kind" type="button" :class="kind" :aria-pressed="!hidden.includes(kind)" @click="toggle(kind)">{{ kind.toLowerCase() }}</button>
      </div>
      <p v-if="!shown.length" class="quiet">{{ rows.length ? 'The filter hides all events.' : 'No events yet.' }}</p>
      <ol ref="list" class="lines" tabindex="0" aria-label="Trace, the newest last">
        <li v-for="row in shown" :key="row.id" :class="[row.kind, { failed: row.ok === false }]">
          <button type="button" :aria-expanded="open === row.id" @click="toggleRaw(row)">
            <time>{{ time(row.ts) }}</time>
            <span class="kind">{{ row.kind.toLowerCase() }}</span>
            <span class="text">{{ row.replay ? '(replay) ' : '' }}{{ row.text }}</span>
            <span class="took" title="after the line before">{{ took(row) }}</span>
          </button>
          <pre v-if="open === row.id" class="raw" tabindex="0">{{ raw }}</pre>
        </li>
      </ol>
    </div>`,
  mounted() {
    this.toEnd();
  },
  methods: {
    append(lines) {
      const list = this.$refs.list;
      const follows = list.scrollTop + list.clientHeight >= list.scrollHeight - 40;
      const known = new Set(this.rows.map((row) => row.id));
      this.rows = [...this.rows, ...lines.filter((line) => !known.has(line.id))].slice(-KEPT);
      if (follows) this.$nextTick(this.toEnd);
    },
    show(id, raw) {
      if (this.open === id) this.raw = raw;
    },
    toEnd() {
      this.$refs.list.scrollTop = this.$refs.list.scrollHeight;
    },
    toggle(kind) {
      this.hidden = this.hidden.includes(kind) ? this.hidden.filter((each) => each !== kind) : [...this.hidden, kind];
    },
    toggleRaw(row) {
      this.open = this.open === row.id ? null : row.id;
      this.raw = '…';
      if (this.open) this.$emit('raw', row.id);
    },
    time: (moment) => window.curiosity.time(moment),
    // Very short and very long gaps are not the duration of a step.
    took: (row) => (row.took === null || row.took < 0.01 || row.took > 600 ? '' : `+${row.took.toFixed(row.took < 10 ? 2 : 0)} s`),
  },
};
