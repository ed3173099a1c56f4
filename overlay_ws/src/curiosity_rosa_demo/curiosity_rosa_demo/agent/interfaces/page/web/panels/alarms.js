// What an operator must not miss: SAFE, a replay, and what has failed.

import { say } from '../modules/acts.js';
import { html } from '../modules/html.js';
import { shown } from '../modules/shown.js';
import { defineComponent } from '../vendor/vue.js';

/** @import { PropType } from '../vendor/vue.js' */

export default defineComponent({
  props: { facts: { type: /** @type {PropType<AlarmsFacts>} */ (Object), required: true } },
  data: () => ({
    /** @type {string[]} the IDs of rows */
    dismissed: [],
    reply: '',
  }),
  computed: {
    past: () => shown.looksBack(),
    /** @returns {AlarmRow[]} */
    rows() {
      return this.facts.rows.filter((row) => !this.dismissed.includes(row.id));
    },
  },
  render() {
    const { safe, replay, replay_text } = this.facts;
    if (!safe && !replay && !this.rows.length) return null;
    return html`
      <div class="alarms" role="region" aria-label="Alarms">
        ${
          safe &&
          html`<div class="banner safe" role="alert">
            <p><b><span aria-hidden="true">■ </span>SAFE: ${safe.cause}</b><br />Nothing may move. ${safe.way_out}${this.reply && html`<br />${this.reply}`}</p>
            ${safe.latched && html`<button type="button" disabled=${this.past} onClick=${this.clear}>Clear</button>`}
          </div>`
        }
        ${
          replay &&
          html`<div class="banner replay">
            <p><b role="status">REPLAY of a recording: this is not the live rover</b>${replay_text && html`<br />${replay_text}`}<br />Battery, mast, wheels, place, pictures and ages are the recording's. Mode, e-stop, nodes and tasks are this agent's own.</p>
          </div>`
        }
        ${
          this.rows.length > 0 &&
          html`<ul class="troubles" aria-label="Failures">
            ${this.rows.map(
              (row) => html`<li key=${row.id} class=${{ told: row.told }}>
                <span class="text">${row.text}</span>
                ${row.line && html`<button type="button" class="small" disabled=${this.past} onClick=${() => say(row.line ?? '')}>${row.button}</button>`}
                ${row.dismissable && html`<button type="button" class="small" aria-label=${`Dismiss: ${row.text}`} onClick=${() => this.dismissed.push(row.id)}>Dismiss</button>`}
              </li>`,
            )}
          </ul>`
        }
      </div>`;
  },
  watch: {
    'facts.safe': {
      immediate: true,
      /** @param {AlarmsFacts['safe']} safe */
      handler(safe) {
        window.curiosity.attention({ mode: safe ? 'SAFE' : 'other' });
        if (!safe) this.reply = '';
      },
    },
  },
  methods: {
    async clear() {
      this.reply = '…';
      const { words } = await say(':clear');
      if (this.reply) this.reply = words;
    },
  },
});
