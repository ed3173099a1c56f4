// The triggers of triggers.yaml, each with its switch. Nothing is shown without triggers.

import { switchTrigger } from '../modules/acts.js';
import { html } from '../modules/html.js';
import { shown } from '../modules/shown.js';
import { defineComponent } from '../vendor/vue.js';

/** @import { PropType } from '../vendor/vue.js' */

export default defineComponent({
  props: { rows: { type: /** @type {PropType<TriggerRow[]>} */ (Array), required: true } },
  computed: { past: () => shown.looksBack() },
  render() {
    const { rows, past } = this;
    if (!rows.length) return null;
    return html`
      <details class="triggers" open>
        <summary>Triggers</summary>
        <div class="table">
          <table>
            <caption class="sr">Triggers: events that start tasks</caption>
            <thead><tr><th>On</th><th>Trigger</th><th>State</th><th>Value</th><th>What</th></tr></thead>
            <tbody>
              ${rows.map(
                (row) => html`<tr key=${row.name}>
                  <td><input type="checkbox" disabled=${past} checked=${row.on} aria-label=${`Trigger ${row.name}`} onClick=${(/** @type {Event} */ event) => this.turn(event, row)} /></td>
                  <td><code>${row.name}</code></td>
                  <td>${row.state}</td>
                  <td>${row.value}</td>
                  <td class="text">${row.what}${row.why && html`<span class="quiet why">${row.why}</span>`}</td>
                </tr>`,
              )}
            </tbody>
          </table>
        </div>
      </details>`;
  },
  methods: {
    /**
     * @param {Event} event
     * @param {TriggerRow} row
     */
    turn(event, row) {
      event.preventDefault(); // the agent tells what came of it
      switchTrigger(row.name, !row.on);
    },
  },
});
