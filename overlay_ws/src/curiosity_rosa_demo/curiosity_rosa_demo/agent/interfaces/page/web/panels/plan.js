// The plan of the last turn, step by step.
import { html } from '../modules/html.js';
import { planSteps } from '../modules/plan_steps.js';
import { defineComponent } from '../vendor/vue.js';

/** @import { PropType } from '../vendor/vue.js' */

export default defineComponent({
  props: { facts: { type: /** @type {PropType<PlanFacts>} */ (Object), required: true } },
  render() {
    const { facts } = this;
    return html`
      <div class="plan">
        ${facts.goal && html`<p><strong>${facts.goal}</strong> <span class="quiet">${facts.status}</span></p>`}
        ${facts.rehearsal.map((line) => html`<p class=${{ rehearsal: true, warning: facts.differs }}>${line}</p>`)}
        ${planSteps(facts)}
      </div>`;
  },
});
