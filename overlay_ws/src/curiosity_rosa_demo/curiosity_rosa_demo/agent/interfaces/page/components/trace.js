// The trace. Lines are stored, filtered and folded here; a click requests the raw event. One tab
// stop: the arrow keys move between its lines.
const KINDS = ['OBSERVE', 'HYPOTHESIZE', 'DECIDE', 'ACT', 'RESULT', 'ERROR'];
const KEPT = 500;
const NEAR_PX = 40; // as near to the end counts as at the end

export default {
  props: { lines: Array },
  emits: ['raw'],
  data() {
    return { rows: [...this.lines], hidden: [], search: '', open: null, raw: '', kinds: KINDS, follows: true };
  },
  computed: {
    shown() {
      const words = this.search.toLowerCase();
      const found = (row) => !words || `${row.text} ${row.tool}`.toLowerCase().includes(words);
      return window.curiosity.foldRows(this.rows.filter((row) => !this.hidden.includes(row.kind) && found(row)));
    },
  },
  template: `
    <div class="trace">
      <div class="filters" role="group" aria-label="Kinds that are shown">
        <button v-for="kind in kinds" :key="kind" type="button" class="small" :class="kind" :aria-pressed="!hidden.includes(kind)" @click="toggle(kind)">{{ kind.toLowerCase() }}</button>
        <input v-model="search" type="search" placeholder="text or tool" aria-label="Text or tool of the trace that is shown" />
      </div>
      <p v-if="!shown.length" class="quiet">{{ rows.length ? 'The filter hides all events.' : 'No events yet.' }}</p>
      <div class="scroller">
        <ol ref="list" class="lines" tabindex="0" aria-label="Trace, the newest last" @scroll.passive="scrolled"
          @keydown.down.prevent="move(1)" @keydown.up.prevent="move(-1)" @keydown.home.prevent="move(-KEPT)" @keydown.end.prevent="move(KEPT)">
          <li v-for="{ row, last, times } in shown" :key="row.id" :class="[row.kind, { failed: row.ok === false, earlier: row.earlier }]">
            <button type="button" tabindex="-1" :aria-expanded="open === row.id" @click="toggleRaw(row, last)">
              <time>{{ time(last.ts) }}</time>
              <span class="kind">{{ row.kind.toLowerCase() }}</span>
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
    this.toEnd();
    // A list that grows or was hidden stays at its newest line.
    this.watcher = new ResizeObserver(() => this.follows && this.toEnd());
    this.watcher.observe(this.$refs.list);
  },
  unmounted() {
    this.watcher.disconnect();
  },
  methods: {
    append(lines) {
      const known = new Set(this.rows.map((row) => row.id));
      this.rows = [...this.rows, ...lines.filter((line) => !known.has(line.id))].slice(-KEPT);
      if (this.follows) this.$nextTick(this.toEnd);
    },
    show(id, raw) {
      if (this.asked === id) this.raw = raw;
    },
    scrolled() {
      const list = this.$refs.list;
      const back = list.scrollTop < this.top; // a line that comes moves the end, not the reader
      this.top = list.scrollTop;
      if (list.scrollTop + list.clientHeight >= list.scrollHeight - NEAR_PX) this.follows = true;
      else if (back) this.follows = false;
    },
    toEnd() {
      const list = this.$refs.list;
      list.scrollTop = list.scrollHeight;
      this.top = list.scrollTop;
    },
    jump() {
      this.follows = true;
      this.toEnd();
      this.$refs.list.focus();
    },
    move(by) {
      const lines = [...this.$refs.list.querySelectorAll('li > button')];
      if (!lines.length) return;
      const at = lines.indexOf(document.activeElement);
      const next = at < 0 ? lines.length - 1 : at + by;
      lines[Math.min(lines.length - 1, Math.max(0, next))].focus();
    },
    toggle(kind) {
      this.hidden = this.hidden.includes(kind) ? this.hidden.filter((each) => each !== kind) : [...this.hidden, kind];
    },
    toggleRaw(row, last) {
      this.open = this.open === row.id ? null : row.id;
      this.raw = '…';
      this.asked = last.id;
      if (this.open) this.$emit('raw', last.id);
    },
    time: (moment) => window.curiosity.time(moment),
    // Very short and very long gaps are not the duration of a step.
    took: (row) => (row.took === null || row.took < 0.01 || row.took > 600 ? '' : `+${row.took.toFixed(row.took < 10 ? 2 : 0)} s`),
  },
  created() {
    this.KEPT = KEPT;
    this.top = 0;
  },
};
