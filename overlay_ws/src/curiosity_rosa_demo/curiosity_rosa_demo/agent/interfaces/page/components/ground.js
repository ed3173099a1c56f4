// The newest analysis of the ground. Nothing is shown without one.
import { defineComponent } from 'vue';

/** @import { PropType } from 'vue' */

export default defineComponent({
  props: { facts: { type: /** @type {PropType<GroundFacts>} */ (Object), required: true } },
  template: `
    <details v-if="facts.rows.length" class="ground" open>
      <summary>Ground, {{ time(facts.at) }}</summary>
      <a v-if="facts.picture" :href="url(facts)" target="_blank"><img :src="url(facts)" :alt="'The ground with what was found in it: ' + words(facts)" /></a>
      <div class="table">
        <table>
          <caption class="sr">The ground</caption>
          <thead><tr><th>Figure</th><th>Value</th><th>How sure</th></tr></thead>
          <tbody>
            <tr v-for="row in facts.rows" :key="row.name"><td>{{ row.name }}</td><td>{{ row.value }}</td><td>{{ row.sure }}</td></tr>
          </tbody>
        </table>
      </div>
      <p v-if="facts.note" class="quiet">Sizes and distances are estimates: {{ facts.note }}</p>
    </details>`,
  methods: {
    /** @param {number} at */
    time: (at) => window.curiosity.time(at),
    /** @param {GroundFacts} facts */
    url: (facts) => `/page/ground/${encodeURIComponent(facts.id)}.jpg`,
    /** @param {GroundFacts} facts */
    words: (facts) => facts.rows.map((row) => `${row.name} ${row.value}`).join('; '),
  },
});
