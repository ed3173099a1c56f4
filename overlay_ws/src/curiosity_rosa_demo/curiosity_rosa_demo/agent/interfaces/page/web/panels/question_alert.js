// At the top: that a question waits, and the way to its form in the conversation. An open drawer, which
// may cover it, hears of it by the event questions-open, and asks for the form by show-question.
import { html } from '../modules/html.js';
import { defineComponent } from '../vendor/vue.js';

/** @import { PropType } from '../vendor/vue.js' */

export default defineComponent({
  props: { rows: { type: /** @type {PropType<QuestionRow[]>} */ (Array), required: true } },
  render() {
    const { rows } = this;
    if (!rows.length) return null;
    return html`
      <p class="asking" role="status">
        <b>${rows.length > 1 ? `${rows.length} questions wait` : 'A question waits'} for your answer</b>
        <span class="text">${rows[0].text}</span>
        <button type="button" class="small" onClick=${this.show}>Show</button>
      </p>`;
  },
  watch: {
    'rows.length': {
      immediate: true,
      /** @param {number} open */
      handler(open) {
        window.curiosity.attention({ open }); // for an operator in another tab
        window.dispatchEvent(new CustomEvent('questions-open', { detail: open }));
      },
    },
  },
  mounted() {
    window.addEventListener('show-question', this.show);
  },
  unmounted() {
    window.removeEventListener('show-question', this.show);
  },
  methods: {
    show() {
      window.curiosity.showPanel('talk');
      const form = document.querySelector('.approval');
      form?.scrollIntoView({ block: 'center' });
      /** @type {HTMLButtonElement | null | undefined} */ (form?.querySelector('button:not(:disabled)'))?.focus();
    },
  },
});
