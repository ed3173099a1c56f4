// What was said, thought, done, asked and answered, in order, the newest last. The lines that people typed in any
// browser stand among it with their replies; an open question has its form where it was asked.

import { answerQuestion } from '../modules/acts.js';
import { ApprovalForm } from '../modules/approval_form.js';
import { captureUrl, pickCapture } from '../modules/captures.js';
import { html } from '../modules/html.js';
import { newestLast } from '../modules/newest_last.js';
import { shown } from '../modules/shown.js';
import { talkItems } from '../modules/talk_items.js';
import { traceRows } from '../modules/trace_rows.js';
import { defineComponent } from '../vendor/vue.js';

/** @import { PropType } from '../vendor/vue.js' */
/** @import { Act, Sentence } from '../modules/conversation.js' */
/** @import { TalkItem } from '../modules/talk_items.js' */

const SHOWN = 200; // entries
/** @type {Record<string, number>} */
const MOVES = { ArrowDown: 1, ArrowUp: -1, Home: -SHOWN, End: SHOWN };

/** @param {Sentence} item */
const failed = (item) => item.kind === 'failure' || item.row.ok === false;

/** @param {Act} item */
const sign = (item) => (!item.result ? '►' : item.result.ok === false ? '▲' : '✓');

/** @param {Act} item */
const took = (item) => (item.took === null || item.took > 3600 ? '' : `${item.took.toFixed(item.took < 10 ? 1 : 0)} s`);

export default defineComponent({
  mixins: [newestLast],
  stops: '.talk-lines > li',
  holds: '.approval',
  props: {
    captures: { type: /** @type {PropType<CaptureRow[]>} */ (Array), required: true },
    said: { type: /** @type {PropType<TalkLine[]>} */ (Array), required: true },
    questions: { type: /** @type {PropType<QuestionRow[]>} */ (Array), required: true },
    tasks: { type: /** @type {PropType<TaskRow[]>} */ (Array), required: true },
  },
  data: () => ({
    /** @type {readonly TraceRow[]} */
    rows: traceRows.all(),
    /** @type {(Told & { id: string }) | null} what came of the last answer, and the ID of its question */
    result: null,
  }),
  computed: {
    // While the page looks back, those of the time that it shows, and what was typed since.
    /** @returns {TalkLine[]} */
    lines() {
      const { since, own } = shown;
      const { at } = shown.time;
      const known = new Set(this.said.map((line) => line.token));
      const lines = [...this.said, ...own.filter((line) => !known.has(line.token))];
      return at === null ? lines : lines.filter((line) => line.at <= at || line.at >= (since ?? at));
    },
    /** @returns {TalkItem[]} */
    items() {
      return talkItems(this.rows, this.lines, this.questions, SHOWN);
    },
    /** @returns {Map<string, CaptureRow>} */
    pictures() {
      return new Map(this.captures.map((row) => [row.id, row]));
    },
  },
  watch: {
    lines() {
      this.grown();
    },
    questions() {
      this.grown();
    },
  },
  render() {
    const { items, result } = this;
    return html`
      <div class="scroller">
        <ol ref="list" class="talk-lines" tabindex="0" aria-label="Conversation, the newest last" onScrollPassive=${this.scrolled} onKeydown=${this.onKey}>
          ${!items.length && html`<li><p class="quiet">Type a goal, a question, or a command. Answers appear here.</p></li>`}
          ${items.map((item) => html`<li key=${item.key} tabindex="-1" class=${[`is-${item.kind}`, { earlier: 'row' in item && item.row?.earlier }]}>${this.entry(item)}</li>`)}
        </ol>
        ${!this.follows && html`<button type="button" class="jump" onClick=${this.jump}>↓ Jump to latest</button>`}
      </div>
      ${result && !this.isOpen(result.id) && html`<p role="status" class=${result.ok ? 'quiet' : 'warning'}>${result.words}</p>`}`;
  },
  mounted() {
    window.addEventListener('trace-rows', this.changed);
    window.addEventListener('line-said', this.lineSaid);
    this.changed();
  },
  unmounted() {
    window.removeEventListener('trace-rows', this.changed);
    window.removeEventListener('line-said', this.lineSaid);
  },
  methods: {
    changed() {
      this.rows = traceRows.all();
      this.grown();
    },
    lineSaid() {
      this.follows = true;
      this.grown();
    },
    /** @param {TalkItem} item */
    entry(item) {
      if (item.kind === 'line') return this.typed(item.line);
      if (item.kind === 'thought') return this.thought(item.rows);
      if (item.kind === 'act') return this.act(item);
      const form =
        item.open &&
        html`<${ApprovalForm} question=${item.open} result=${this.result?.id === item.open.id ? this.result : null} onAnswer=${this.answer} />`;
      if (!item.row || item.open) return form;
      return html`<p class=${{ warning: failed(item) }}>${item.row.replay && '(replay) '}${item.row.text}${item.words && html`<span class="quiet reply"> ${item.words}</span>`}</p>`;
    },
    /** @param {TalkLine} line */
    typed(line) {
      const behind = line.task && this.tasks.find((row) => row.id === line.task)?.behind;
      const words = [line.words, behind].filter(Boolean).join(', ');
      return [
        line.text &&
          html`<p class="mine">${line.text}${line.by && html`<span class="quiet"> by ${line.by}</span>`}</p>`,
        html`<p role="status" class=${{ warning: !line.ok, quiet: !line.words }}>${words || '…'}</p>`,
      ];
    },
    /** @param {TraceRow[]} rows */
    thought: (rows) => html`
      <details>
        <summary tabindex="-1"><span class="quiet">${rows.length > 1 ? `${rows.length} thoughts` : 'Thought'}</span> ${rows.at(-1)?.text}</summary>
        ${rows.map((row) => html`<p key=${row.id}><time>${window.curiosity.time(row.ts)}</time> ${row.text}</p>`)}
      </details>`,
    /** @param {Act} item */
    act(item) {
      const picture = item.result && this.pictures.get(item.result.id);
      return [
        html`<p class=${{ warning: item.result?.ok === false }}>
          <span class="sign" aria-hidden="true">${sign(item)}</span>${' '}
          ${!item.alone && html`<b>${item.row.text}</b>`}${' '}
          ${item.times > 1 ? html`<span class="times">× ${item.times}</span>` : took(item) && html`<span class="took">${took(item)}</span>`}${' '}
          <span>${item.result ? item.words : item.progress || '…'}</span>
        </p>`,
        picture &&
          html`<button type="button" class="shot" tabindex="-1" aria-label="Open the capture" onClick=${() => pickCapture(picture.id)}>
            <img src=${captureUrl(picture.id)} alt=${`Capture, score ${picture.score.toFixed(2)}`} loading="lazy" width="112" height="84" />
          </button>`,
      ];
    },
    /** @param {QuestionAnswer} given */
    async answer(given) {
      this.result = { id: given.id, ...(await answerQuestion(given)) };
    },
    /** @param {string} id of a question */
    isOpen(id) {
      return this.questions.some((question) => question.id === id);
    },
    /** @param {KeyboardEvent} event */
    onKey(event) {
      const target = /** @type {HTMLElement} */ (event.target);
      if (target.closest('.approval')) return;
      const by = MOVES[event.key];
      if (by) this.move(by);
      else if (event.key === 'Enter' && target.matches('li')) this.enter(target);
      else return;
      event.preventDefault();
    },
    /**
     * Opens what the entry holds, or goes to its form: a key that moves never answers a question.
     * @param {HTMLElement} entry
     */
    enter(entry) {
      /** @type {HTMLElement | null} */
      const form = entry.querySelector('.approval button:not(:disabled)');
      /** @type {HTMLElement | null} */
      const inside = entry.querySelector('summary, button');
      if (form) form.focus();
      else inside?.click();
    },
  },
});
