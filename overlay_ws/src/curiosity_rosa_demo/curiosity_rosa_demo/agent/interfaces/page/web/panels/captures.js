// The captures, the newest first; one of them opens in full.

import { captureUrl } from '../modules/captures.js';
import { html } from '../modules/html.js';
import { defineComponent } from '../vendor/vue.js';

/** @import { PropType } from '../vendor/vue.js' */

export default defineComponent({
  props: { facts: { type: /** @type {PropType<CapturesFacts>} */ (Object), required: true } },
  data: () => ({
    /** @type {string | null} the ID of the capture that is shown in full */
    open: null,
  }),
  computed: {
    /** @returns {CaptureRow | undefined} */
    capture() {
      return this.facts.rows.find((row) => row.id === this.open);
    },
  },
  render() {
    const { capture, facts, open } = this;
    return html`
      <div class="captures">
        ${
          capture &&
          html`<div class="capture" role="group" aria-label="A capture">
            <img src=${captureUrl(capture.id)} alt=${this.words(capture)} />
            <p>${this.words(capture)}</p>
            <button type="button" onClick=${() => this.pick(null)}>Close</button>
          </div>`
        }
        ${
          facts.rows.length
            ? html`<ul aria-label="Captures, the newest first">
                ${facts.rows.map(
                  (row) => html`<li key=${row.id}>
                    <button type="button" class=${row.good ? 'good' : 'poor'} aria-pressed=${row.id === open} title=${this.words(row)} onClick=${() => this.pick(open === row.id ? null : row.id)}>
                      <img src=${captureUrl(row.id)} alt=${this.words(row)} loading="lazy" width="72" height="72" />
                      <span>${row.good ? '✓' : '✗'} ${row.score.toFixed(2)}</span>
                    </button>
                  </li>`,
                )}
              </ul>`
            : html`<p class="quiet">No captures yet.</p>`
        }
      </div>`;
  },
  mounted() {
    window.addEventListener('pick-capture', this.picked);
  },
  unmounted() {
    window.removeEventListener('pick-capture', this.picked);
  },
  methods: {
    /** @param {CaptureRow} row */
    words: (row) =>
      `${row.good ? 'Good' : 'Too dark'}: score ${row.score.toFixed(2)} at ${row.place}, ${window.curiosity.time(row.at)}`,
    /** @param {CustomEvent<string>} event */
    picked(event) {
      this.pick(event.detail);
    },
    /** @param {string | null} id */
    async pick(id) {
      this.open = id;
      if (!id) return;
      await this.$nextTick();
      this.$el.scrollIntoView({ block: 'nearest' });
    },
  },
});
