// The input line; it takes the same lines as the console, completes commands by the tab key as the
// console does, and its history outlives the page. conversation.js shows the lines and their replies.

import { say } from '../modules/acts.js';
import { html } from '../modules/html.js';
import { shown } from '../modules/shown.js';
import { defineComponent } from '../vendor/vue.js';

/** @import { PropType } from '../vendor/vue.js' */

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

export default defineComponent({
  props: { commands: { type: /** @type {PropType<Command[]>} */ (Array), required: true } },
  data: () => ({ text: '', typed: read(), place: 0 }),
  computed: {
    past: () => shown.looksBack(),
    /** @returns {Command[]} */
    matches() {
      const known = this.commands.filter(([name]) => `:${name}`.startsWith(this.text.split(' ')[0].toLowerCase()));
      return !this.text.startsWith(':')
        ? []
        : known.filter(([name]) => !this.text.includes(' ') || this.text.startsWith(`:${name} `));
    },
  },
  render() {
    const { matches, past } = this;
    return html`
      <form class="say" onSubmit=${this.submit}>
        ${
          matches.length > 0 &&
          html`<ul id="say-hints" class="hints" aria-label="Commands">
            ${matches.slice(0, HINTS).map(([name, argument, help]) => html`<li key=${name}><code>:${name} ${argument}</code> <span class="quiet">${help}</span></li>`)}
            ${matches.length > HINTS && html`<li class="quiet">and ${matches.length - HINTS} more</li>`}
          </ul>`
        }
        <div class="line">
          <label>
            <span class="sr">A goal, a question or a command</span>
            <input value=${this.text} name="say" autocomplete="off" maxlength="4000" enterkeyhint="send" aria-description="Tab completes a command"
              placeholder=${past ? 'Looking back: only a stop is sent' : 'Type a goal, or :help'} onInput=${this.typing} onKeydown=${this.key} />
          </label>
          <button type="submit">Say</button>
        </div>
        <div class="quick" role="group" aria-label="Quick actions">
          ${QUICK.map(([line, name]) => html`<button key=${line} type="button" class="small" disabled=${past} title=${line} onClick=${() => this.send(line)}>${name}</button>`)}
        </div>
      </form>`;
  },
  created() {
    this.place = this.typed.length;
  },
  methods: {
    /** @param {Event} event */
    submit(event) {
      event.preventDefault();
      this.send(this.text);
    },
    /** @param {Event} event */
    typing(event) {
      this.text = /** @type {HTMLInputElement} */ (event.target).value;
    },
    /** @param {KeyboardEvent} event */
    key(event) {
      if (event.key === 'Tab') this.complete(event);
      else if (event.key === 'ArrowUp' || event.key === 'ArrowDown') {
        event.preventDefault();
        this.older(event.key === 'ArrowUp' ? -1 : 1);
      }
    },
    /** @param {string} line */
    send(line) {
      const text = line.trim();
      if (!text) return;
      this.remember(text);
      if (line === this.text) this.text = '';
      say(text);
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
