// The triggers of triggers.yaml, each with its switch. Nothing is shown without triggers.
import { defineComponent } from 'vue';

/** @import { PropType } from 'vue' */

export default defineComponent({
  props: { facts: { type: /** @type {PropType<{ rows: TriggerRow[], past?: boolean }>} */ (Object), required: true } },
  emits: ['switch'],
  template: `
    <details v-if="facts.rows.length" class="triggers" open>
      <summary>Triggers</summary>
      <div class="table">
        <table>
          <caption class="sr">Triggers: events that start tasks</caption>
          <thead><tr><th>On</th><th>Trigger</th><th>State</th><th>Value</th><th>What</th></tr></thead>
          <tbody>
            <tr v-for="row in facts.rows" :key="row.name">
              <td><input type="checkbox" :disabled="facts.past" :checked="row.on" :aria-label="'Trigger ' + row.name" @click.prevent="$emit('switch', { name: row.name, on: !row.on })" /></td>
              <td><code>{{ row.name }}</code></td>
              <td>{{ row.state }}</td>
              <td>{{ row.value }}</td>
              <td class="text">{{ row.what }}<span v-if="row.why" class="quiet why">{{ row.why }}</span></td>
            </tr>
          </tbody>
        </table>
      </div>
    </details>`,
});
