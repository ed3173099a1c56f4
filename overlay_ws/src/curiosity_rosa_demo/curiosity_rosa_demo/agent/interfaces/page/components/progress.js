// How far the running skills are.
import { defineComponent } from 'vue';

/** @import { PropType } from 'vue' */

export default defineComponent({
  props: { facts: { type: /** @type {PropType<ProgressFacts>} */ (Object), required: true } },
  template: `
    <ul class="progress" aria-label="Progress of the running skills">
      <li v-for="row in facts.rows" :key="row.id">
        <progress v-if="row.fraction !== null" :value="row.fraction" max="1" :aria-label="row.skill">{{ row.text }}</progress>
        <progress v-else :aria-label="row.skill">{{ row.text }}</progress>
        <span class="text">{{ row.text }}</span>
      </li>
    </ul>`,
});
