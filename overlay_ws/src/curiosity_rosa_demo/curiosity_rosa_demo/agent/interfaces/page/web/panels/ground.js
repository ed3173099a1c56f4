// The newest analysis of the ground. Nothing is shown without one.
import { html } from '../modules/html.js';
import { defineComponent } from '../vendor/vue.js';

/** @import { PropType } from '../vendor/vue.js' */

export default defineComponent({
  props: { facts: { type: /** @type {PropType<GroundFacts>} */ (Object), required: true } },
  render() {
    const { facts } = this;
    if (!facts.rows.length) return null;
    const url = `/ground.jpg?${encodeURIComponent(facts.id)}`;
    const words = facts.rows.map((row) => `${row.name} ${row.value}`).join('; ');
    return html`
      <details class="ground" open>
        <summary>Ground, ${window.curiosity.time(facts.at)}</summary>
        ${facts.picture && html`<a href=${url} target="_blank"><img src=${url} alt=${`The ground with what was found in it: ${words}`} /></a>`}
        <div class="table">
          <table>
            <caption class="sr">The ground</caption>
            <thead><tr><th>Figure</th><th>Value</th><th>How sure</th></tr></thead>
            <tbody>${facts.rows.map((row) => html`<tr key=${row.name}><td>${row.name}</td><td>${row.value}</td><td>${row.sure}</td></tr>`)}</tbody>
          </table>
        </div>
        ${facts.note && html`<p class="quiet">Sizes and distances are estimates: ${facts.note}</p>`}
      </details>`;
  },
});
