// The plan of the last turn, step by step.
import { defineComponent } from 'vue';

/** @import { PropType } from 'vue' */

/** @type {Record<string, string>} */
const SIGNS = { pending: '○', running: '▶', success: '✓', failed: '✗', skipped: '–', wait_confirmation: '?' };

export default defineComponent({
  props: { facts: { type: /** @type {PropType<PlanFacts>} */ (Object), required: true } },
  template: `
    <div class="plan">
      <p v-if="facts.goal"><strong>{{ facts.goal }}</strong> <span class="quiet">{{ facts.status }}</span></p>
      <p v-for="line in facts.rehearsal" :class="{ rehearsal: true, warning: facts.differs }">{{ line }}</p>
      <ol v-if="facts.steps.length">
        <li v-for="(step, index) in facts.steps" :key="index" :class="['step', step.status]" :aria-current="step.status === 'running' ? 'step' : null">
          <span aria-hidden="true">{{ sign(step) }}</span>
          <span class="text"><b>{{ step.action }}</b> <code v-if="step.parameters">{{ step.parameters }}</code> {{ step.text }}</span>
          <span class="state">{{ step.status }}</span>
        </li>
      </ol>
      <p v-else class="quiet">No plan: the agent decides step by step.</p>
    </div>`,
  methods: {
    /** @param {PlanStep} step */
    sign: (step) => SIGNS[step.status] ?? '·',
  },
});
