// Above all robots: how many there are, and what calls a person.
import { defineComponent } from 'vue';

/** @import { PropType } from 'vue' */

export default defineComponent({
  props: { facts: { type: /** @type {PropType<FleetHeadFacts>} */ (Object), required: true } },
  template: `
    <header class="fleet-head" aria-label="All robots">
      <h1>Fleet</h1>
      <ul>
        <li>● {{ facts.live }} of {{ facts.robots }} connected</li>
        <li v-if="facts.lost" class="bad">✕ {{ facts.lost }} lost</li>
        <li v-if="facts.safe" class="bad">■ {{ facts.safe }} in SAFE</li>
        <li v-if="facts.questions" class="asks">{{ facts.questions === 1 ? '1 question waits' : facts.questions + ' questions wait' }}</li>
      </ul>
      <span id="delay" class="quiet" title="Round trip to this agent, and the age of its newest data"></span>
    </header>`,
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
