// The input line; it takes the same lines as the console. A button anywhere on the page sends its
// line through here too (event say-line), so that its answer stands here.
const KEPT = 50;
const QUICK = [
  [':cap', 'Capture'], [':mast_open', 'Mast up'], [':mast_close', 'Stow mast'], [':pause', 'Pause'],
  [':resume', 'Resume'], [':status', 'Status'], [':why', 'Why'], [':demo', 'Demo'],
  [':record on', 'Record'], [':record off', 'End record'],
];

export default {
  emits: ['say'],
  data: () => ({ text: '', typed: [], place: 0, lines: [], number: 0, quick: QUICK }),
  template: `
    <form class="say" @submit.prevent="send(text)">
      <ol ref="list" class="talk-lines" tabindex="0" aria-label="What was said, the newest last">
        <li v-if="!lines.length"><p class="quiet">Type a goal, a question, or a command. Answers appear here.</p></li>
        <li v-for="line in lines" :key="line.number">
          <p v-if="line.text" class="mine">{{ line.text }}</p>
          <p role="status" :class="line.state">{{ line.words }}</p>
        </li>
      </ol>
      <div class="line">
        <label>
          <span class="sr">A goal, a question or a command</span>
          <input v-model="text" name="say" autocomplete="off" maxlength="10000" enterkeyhint="send"
            placeholder="Type a goal, or :help" @keydown.up.prevent="older(-1)" @keydown.down.prevent="older(1)" />
        </label>
        <button type="submit">Say</button>
      </div>
      <div class="quick" role="group" aria-label="Quick actions">
        <button v-for="[line, name] in quick" :key="line" type="button" class="small" :title="line" @click="send(line)">{{ name }}</button>
      </div>
    </form>`,
  mounted() {
    this.fromButton = (event) => this.send(event.detail);
    window.addEventListener('say-line', this.fromButton);
  },
  unmounted() {
    window.removeEventListener('say-line', this.fromButton);
  },
  methods: {
    send(line) {
      const text = line.trim();
      if (!text) return;
      const number = ++this.number;
      if (this.typed.at(-1) !== text) this.typed.push(text);
      this.place = this.typed.length;
      this.lines = [...this.lines, { number, text, words: '…', state: 'quiet' }].slice(-KEPT);
      if (line === this.text) this.text = '';
      this.toEnd();
      this.$emit('say', { number, text });
    },
    addMessage(ok, words) {
      this.lines = [...this.lines, { number: ++this.number, text: '', words, state: ok ? '' : 'warning' }].slice(-KEPT);
      this.toEnd();
    },
    reply(number, ok, words) {
      const line = this.lines.find((each) => each.number === number);
      if (!line) return;
      line.words = words;
      line.state = ok ? '' : 'warning';
      window.dispatchEvent(new CustomEvent('line-answered', { detail: { line: line.text, ok, words } }));
      this.toEnd();
    },
    older(by) {
      this.place = Math.min(this.typed.length, Math.max(0, this.place + by));
      this.text = this.typed[this.place] ?? '';
    },
    toEnd() {
      this.$nextTick(() => (this.$refs.list.scrollTop = this.$refs.list.scrollHeight));
    },
  },
};
