// What was said, thought, done, asked and answered, in order, the newest last. The lines typed in
// this browser stand among it with their replies.
const KEPT_LINES = 50;
const SHOWN = 200;

export default {
  mixins: [window.curiosity.newestLast],
  stops: '.talk-lines > li',
  props: { facts: Object },
  data: () => ({ rows: window.curiosity.traceRows.all(), lines: [], number: 0, shownTime: { at: null, since: null } }),
  computed: {
    // While the page looks back, those of the time that it shows, and what was typed since.
    shownLines() {
      const { at, since } = this.shownTime;
      return at === null ? this.lines : this.lines.filter((line) => line.at <= at || line.at >= since);
    },
    items() {
      const mine = new Set(this.shownLines.map((line) => line.task).filter(Boolean));
      const told = window.curiosity.conversation(this.rows).filter((item) => item.kind !== 'said' || !mine.has(item.row.task));
      return [...told, ...this.shownLines].sort((one, other) => one.at - other.at).slice(-SHOWN);
    },
    pictures() {
      return new Map(this.facts.rows.map((row) => [row.id, row]));
    },
  },
  template: `
    <div class="scroller">
      <ol ref="list" class="talk-lines" tabindex="0" aria-label="Conversation, the newest last" @scroll.passive="scrolled" @keydown="onKey">
        <li v-if="!items.length"><p class="quiet">Type a goal, a question, or a command. Answers appear here.</p></li>
        <li v-for="item in items" :key="keyOf(item)" tabindex="-1" :class="['is-' + item.kind, { earlier: item.row?.earlier }]">
          <template v-if="item.kind === 'line'">
            <p v-if="item.text" class="mine">{{ item.text }}</p>
            <p role="status" :class="item.state">{{ item.words }}</p>
          </template>
          <details v-else-if="item.kind === 'thought'">
            <summary tabindex="-1"><span class="quiet">{{ item.rows.length > 1 ? item.rows.length + ' thoughts' : 'Thought' }}</span> {{ item.rows.at(-1).text }}</summary>
            <p v-for="row in item.rows" :key="row.id"><time>{{ time(row.ts) }}</time> {{ row.text }}</p>
          </details>
          <template v-else-if="item.kind === 'act'">
            <p :class="{ warning: item.result?.ok === false }">
              <span class="sign" aria-hidden="true">{{ sign(item) }}</span>{{ ' ' }}
              <template v-if="!item.alone"><b>{{ item.row.text }}</b>{{ ' ' }}</template>
              <template v-if="item.times > 1"><span class="times">× {{ item.times }}</span>{{ ' ' }}</template>
              <template v-else-if="took(item)"><span class="took">{{ took(item) }}</span>{{ ' ' }}</template>
              <span>{{ item.result ? item.words : item.progress || '…' }}</span>
            </p>
            <button v-if="pictures.has(item.result?.id)" type="button" class="shot" tabindex="-1" aria-label="Open the capture" @click="pick(item.result.id)">
              <img :src="'/page/captures/' + encodeURIComponent(item.result.id) + '.jpg'" :alt="'Capture, score ' + pictures.get(item.result.id).score.toFixed(2)" loading="lazy" width="112" height="84" />
            </button>
          </template>
          <p v-else :class="{ warning: failed(item) }">{{ item.row.replay ? '(replay) ' : '' }}{{ item.row.text }}<span v-if="item.words" class="quiet reply">{{ ' ' }}{{ item.words }}</span></p>
        </li>
      </ol>
      <button v-if="!follows" type="button" class="jump" @click="jump">↓ Jump to latest</button>
    </div>`,
  mounted() {
    this.changed = () => {
      this.rows = window.curiosity.traceRows.all();
      this.grown();
    };
    this.lineSaid = (event) => this.add({ ...event.detail, words: '…', state: 'quiet' });
    window.addEventListener('trace-rows', this.changed);
    this.timeShown = (event) => (this.shownTime = event.detail);
    window.addEventListener('line-said', this.lineSaid);
    window.addEventListener('time-shown', this.timeShown);
    this.changed();
  },
  unmounted() {
    window.removeEventListener('trace-rows', this.changed);
    window.removeEventListener('line-said', this.lineSaid);
    window.removeEventListener('time-shown', this.timeShown);
  },
  methods: {
    add(line) {
      this.lines = [...this.lines, { kind: 'line', key: ++this.number, at: window.curiosity.now(), task: '', ...line }].slice(-KEPT_LINES);
      this.follows = true;
      this.grown();
    },
    addMessage(ok, words) {
      this.add({ text: '', words, state: ok ? '' : 'warning' });
    },
    reply(number, ok, words, task) {
      const line = this.lines.find((each) => each.number === number);
      if (!line) return;
      Object.assign(line, { words, task, state: ok ? '' : 'warning' });
      window.dispatchEvent(new CustomEvent('line-answered', { detail: { line: line.text, ok, words } }));
      this.grown();
    },
    onKey(event) {
      const by = { ArrowDown: 1, ArrowUp: -1, Home: -SHOWN, End: SHOWN }[event.key];
      if (by) this.move(by);
      else if (event.key === 'Enter' && event.target.matches('li')) event.target.querySelector('summary, button')?.click();
      else return;
      event.preventDefault();
    },
    pick: (id) => window.dispatchEvent(new CustomEvent('pick-capture', { detail: id })),
    keyOf: (item) => (item.kind === 'line' ? `line ${item.key}` : item.row.id),
    failed: (item) => item.kind === 'failure' || item.row.ok === false,
    sign: (item) => (!item.result ? '►' : item.result.ok === false ? '▲' : '✓'),
    took: (item) => (item.took == null || item.took > 3600 ? '' : `${item.took.toFixed(item.took < 10 ? 1 : 0)} s`),
    time: (moment) => window.curiosity.time(moment),
  },
};
