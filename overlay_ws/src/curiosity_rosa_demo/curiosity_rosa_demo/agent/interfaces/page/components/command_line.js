// The input line; it takes the same lines as the console.
const KEPT = 50;

export default {
  emits: ['say'],
  data: () => ({ text: '', typed: [], place: 0, lines: [], number: 0 }),
  template: `
    <form class="say" @submit.prevent="send">
      <ol v-if="lines.length" ref="list" class="talk" tabindex="0" aria-label="Command history">
        <li v-for="line in lines" :key="line.number">
          <p v-if="line.text" class="mine">{{ line.text }}</p>
          <p role="status" :class="line.state">{{ line.words }}</p>
        </li>
      </ol>
      <label>
        <span class="sr">A goal, a question or a command</span>
        <input v-model="text" name="say" autocomplete="off" maxlength="10000" enterkeyhint="send"
          placeholder="Type a goal, or :help" @keydown.up.prevent="older(-1)" @keydown.down.prevent="older(1)" />
      </label>
      <button type="submit">Say</button>
    </form>`,
  methods: {
    send() {
      const text = this.text.trim();
      if (!text) return;
      const number = ++this.number;
      if (this.typed.at(-1) !== text) this.typed.push(text);
      this.place = this.typed.length;
      this.lines = [...this.lines, { number, text, words: '…', state: 'quiet' }].slice(-KEPT);
      this.text = '';
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
