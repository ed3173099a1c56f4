// The form of one open question: its text, its arguments, which can be edited, and the buttons that answer it.

import { defineComponent } from '../vendor/vue.js';
import { html } from './html.js';
import { shown } from './shown.js';

/** @import { PropType } from '../vendor/vue.js' */

export const ApprovalForm = defineComponent({
  props: {
    question: { type: /** @type {PropType<QuestionRow>} */ (Object), required: true },
    // What came of its last answer; null: nothing yet.
    result: { type: /** @type {PropType<Told | null>} */ (Object), default: null },
  },
  emits: ['answer'],
  data: () => ({
    /** @type {string | null} the arguments while they are edited */
    edit: null,
    why: '',
    sent: false,
    now: 0,
    timer: 0,
  }),
  render() {
    const { question, edit, past, sent, result } = this;
    return html`
      <article class="approval" tabindex="-1" aria-label=${`Question ${question.short}`}>
        <h2><code>${question.short}</code> ${question.text}</h2>
        <div class="about">
          ${question.reasons.length > 0 && html`<ul>${question.reasons.map((reason) => html`<li>${reason}</li>`)}</ul>`}
          ${question.rehearsal.map((line) => html`<p class="rehearsal">${line}</p>`)}
          ${question.until !== null && html`<p class="quiet">${this.left}</p>`}
        </div>
        ${
          question.editable &&
          html`<div class="op">
            ${
              edit === null
                ? html`<pre>${question.skill} ${question.arguments}</pre>`
                : html`<label>Arguments of <code>${question.skill}</code>, as JSON
                    <textarea ref="editor" value=${edit} rows="4" spellcheck="false" name=${`arguments-${question.short}`} onInput=${this.typed}></textarea>
                  </label>`
            }
          </div>`
        }
        ${past && html`<p class="quiet">Answer it in the live view: press L.</p>`}
        <div class="buttons">
          <button type="button" class="yes" disabled=${past || edit !== null || sent} onClick=${() => this.answer('APPROVE')}>Approve</button>
          ${question.editable && edit === null && html`<button ref="begin" type="button" disabled=${sent} onClick=${() => this.setEdit(question.arguments)}>Edit</button>`}
          ${edit !== null && html`<button type="button" class="yes" disabled=${past || sent} onClick=${() => this.answer('EDIT')}>Approve with changes</button>`}
          ${edit !== null && html`<button type="button" onClick=${() => this.setEdit(null)}>Cancel edit</button>`}
          <input value=${this.why} placeholder="why (for a no)" maxlength="500" aria-label=${`Why not, for ${question.short}`} onInput=${this.typedWhy} />
          <button type="button" class="no" disabled=${past || sent} onClick=${() => this.answer('REJECT')}>Reject</button>
        </div>
        ${result && !result.ok && html`<p role="status" class="warning">${result.words}</p>`}
      </article>`;
  },
  computed: {
    past: () => shown.looksBack(),
    /** @returns {string} */
    left() {
      const until = this.question.until ?? 0;
      return `No answer within ${Math.max(0, Math.round(until - this.now))} s is a no.`;
    },
  },
  watch: {
    result() {
      this.sent = false;
    },
  },
  created() {
    this.now = window.curiosity.now();
  },
  mounted() {
    this.timer = setInterval(() => {
      this.now = window.curiosity.now();
    }, 1000);
  },
  beforeUnmount() {
    clearInterval(this.timer);
    // The focus stays where the question stood.
    if (this.$el.contains(document.activeElement)) this.$el.closest('li')?.focus();
  },
  methods: {
    /** @param {Event} event */
    typed(event) {
      this.edit = /** @type {HTMLTextAreaElement} */ (event.target).value;
    },
    /** @param {Event} event */
    typedWhy(event) {
      this.why = /** @type {HTMLInputElement} */ (event.target).value;
    },
    /** @param {string | null} text the arguments to begin with; null ends the edit */
    async setEdit(text) {
      this.edit = text;
      await this.$nextTick();
      const next = /** @type {HTMLElement | undefined} */ (this.$refs[text === null ? 'begin' : 'editor']);
      next?.focus();
    },
    /** @param {QuestionAnswer['action']} action */
    answer(action) {
      this.$el.focus(); // a button that is disabled loses it
      this.sent = true;
      this.$emit('answer', { id: this.question.id, action, arguments: this.edit ?? '', why: this.why });
    },
  },
});
