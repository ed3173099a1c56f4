// The input line; it takes the same lines as the console, completes commands by the tab key as the
// console does, and its history outlives the page. A button anywhere on the page sends its line
// through here too (event say-line). conversation.js shows the lines and their replies.
import { looksBack } from 'curiosity/looks_back.js';
import { defineComponent } from 'vue';

/** @import { PropType } from 'vue' */

/** @typedef {[name: string, argument: string, help: string]} Command */

const KEY = 'curiosity-lines';
const KEPT = 200;
const HINTS = 6;
const QUICK = [
  [':cap', 'Capture'],
  [':mast_open', 'Mast up'],
  [':mast_close', 'Stow mast'],
  [':pause', 'Pause'],
  [':resume', 'Resume'],
  [':status', 'Status'],
  [':why', 'Why'],
  [':demo', 'Demo'],
  [':record on', 'Record'],
  [':record off', 'End record'],
];

/**
 * What was typed in this browser, the newest last.
 * @returns {string[]}
 */
function read() {
  try {
    const kept = JSON.parse(localStorage.getItem(KEY) ?? '[]');
    return Array.isArray(kept) ? kept.filter((line) => typeof line === 'string') : [];
  } catch {
    return []; // the browser keeps nothing, or something else
  }
}

/** A name for a line that no other page gives. */
const newToken = () => `${Date.now().toString(36)}-${Math.random().toString(36).slice(2)}`;

export default defineComponent({
  mixins: [looksBack],
  props: { commands: { type: /** @type {PropType<Command[]>} */ (Array), required: true } },
  emits: ['say'],
  data: () => ({ text: '', typed: read(), place: 0, quick: QUICK }),
  computed: {
    /** @returns {Command[]} */
    matches() {
      const known = this.commands.filter(([name]) => `:${name}`.startsWith(this.text.split(' ')[0].toLowerCase()));
      return !this.text.startsWith(':')
        ? []
        : known.filter(([name]) => !this.text.includes(' ') || this.text.startsWith(`:${name} `));
    },
  },
  template: `
    <form class="say" @submit.prevent="send(text)">
      <ul v-if="matches.length" id="say-hints" class="hints" aria-label="Commands">
        <li v-for="[name, argument, help] in matches.slice(0, ${HINTS})" :key="name"><code>:{{ name }} {{ argument }}</code> <span class="quiet">{{ help }}</span></li>
        <li v-if="matches.length > ${HINTS}" class="quiet">and {{ matches.length - ${HINTS} }} more</li>
      </ul>
      <div class="line">
        <label>
          <span class="sr">A goal, a question or a command</span>
          <input v-model="text" name="say" autocomplete="off" maxlength="10000" enterkeyhint="send" aria-description="Tab completes a command"
            :placeholder="past ? 'Looking back: only a stop is sent' : 'Type a goal, or :help'" @keydown.up.prevent="older(-1)" @keydown.down.prevent="older(1)" @keydown.tab="complete" />
        </label>
        <button type="submit">Say</button>
      </div>
      <div class="quick" role="group" aria-label="Quick actions">
        <button v-for="[line, name] in quick" :key="line" type="button" class="small" :disabled="past" :title="line" @click="send(line)">{{ name }}</button>
      </div>
    </form>`,
  created() {
    this.place = this.typed.length;
  },
  mounted() {
    window.addEventListener('say-line', this.fromButton);
  },
  unmounted() {
    window.removeEventListener('say-line', this.fromButton);
  },
  methods: {
    /** @param {CustomEvent<string>} event */
    fromButton(event) {
      this.send(event.detail);
    },
    /** @param {string} line */
    send(line) {
      const text = line.trim();
      if (!text) return;
      const token = newToken();
      this.remember(text);
      if (line === this.text) this.text = '';
      window.dispatchEvent(new CustomEvent('line-said', { detail: { token, text } }));
      this.$emit('say', { token, text });
    },
    /** @param {string} text */
    remember(text) {
      if (this.typed.at(-1) !== text) this.typed = [...this.typed, text].slice(-KEPT);
      this.place = this.typed.length;
      try {
        localStorage.setItem(KEY, JSON.stringify(this.typed));
      } catch {
        /* a browser that keeps nothing has the history of this page */
      }
    },
    /** @param {number} by lines */
    older(by) {
      this.place = Math.min(this.typed.length, Math.max(0, this.place + by));
      this.text = this.typed[this.place] ?? '';
    },
    // Where there is nothing to complete, the tab key moves on as everywhere.
    /** @param {KeyboardEvent} event */
    complete(event) {
      const names = this.matches.map(([name]) => `:${name}`);
      if (event.shiftKey || !names.length || this.text.includes(' ')) return;
      let common = names[0];
      while (!names.every((name) => name.startsWith(common))) common = common.slice(0, -1);
      const full = names.length === 1 ? `${common} ` : common;
      if (full.trimEnd() === this.text.toLowerCase()) return;
      this.text = full;
      event.preventDefault();
    },
  },
});
