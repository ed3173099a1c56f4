// Above all robots: how many there are, and what calls a person.
import { html } from '../modules/html.js';
import { defineComponent } from '../vendor/vue.js';

/** @import { PropType } from '../vendor/vue.js' */

export default defineComponent({
  props: { facts: { type: /** @type {PropType<FleetHeadFacts>} */ (Object), required: true } },
  render() {
    const { facts } = this;
    return html`
      <header class="fleet-head" aria-label="All robots">
        <h1>Fleet</h1>
        <ul>
          <li>● ${facts.live} of ${facts.robots} connected</li>
          ${facts.lost > 0 && html`<li class="bad">✕ ${facts.lost} lost</li>`}
          ${facts.safe > 0 && html`<li class="bad">■ ${facts.safe} in SAFE</li>`}
          ${facts.questions > 0 && html`<li class="asks">${facts.questions === 1 ? '1 question waits' : `${facts.questions} questions wait`}</li>`}
        </ul>
        <span id="delay" class="quiet" title="Round trip to this agent, and the age of its newest data"></span>
      </header>`;
  },
  watch: {
    facts: {
      immediate: true,
      /** @param {FleetHeadFacts} facts */
      handler(facts) {
        window.curiosity.attention({ mode: facts.safe ? 'SAFE' : 'IDLE', open: facts.questions });
      },
    },
  },
});
