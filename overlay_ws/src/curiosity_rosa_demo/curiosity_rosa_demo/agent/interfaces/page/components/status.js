// The head: mode and task, motion, power, health. link.js marks values that are old.
import { defineComponent } from 'vue';

/** @import { PropType } from 'vue' */

export default defineComponent({
  props: { facts: { type: /** @type {PropType<StatusFacts>} */ (Object), required: true } },
  template: `
    <header class="status" aria-label="State of the rover">
      <div class="group task-now" role="group" aria-label="Mode and task">
        <div class="row">
          <h1>Curiosity ROSA</h1>
          <span v-if="facts.body" class="quiet body" title="The body of the rover: not a real one">{{ facts.body }}</span>
          <dl><div class="fact mode" :class="{ recorded: facts.past }" :data-mode="facts.past ? null : facts.mode"><dt class="sr">Mode</dt><dd :title="facts.why" :data-from="facts.past ? null : 'node:kernel'"><span class="value">{{ facts.mode }}{{ facts.past ? ' (then)' : '' }}</span></dd></div></dl>
          <label class="switch" title="Whether the rover acts on its own: :auto">
            <input type="checkbox" role="switch" :disabled="facts.past" :checked="facts.auto_on" @click.prevent="say(facts.auto_on ? ':auto off' : ':auto on')" />auto
          </label>
        </div>
        <p class="now" :title="facts.task || facts.auto">{{ facts.task || facts.why || facts.auto }}</p>
        <div class="row">
          <button v-if="facts.pausable" type="button" class="small" @click="say(':pause')">Pause</button>
          <button v-if="facts.held" type="button" class="small" @click="say(':resume')">Resume</button>
          <span v-if="facts.queued" class="quiet">{{ facts.queued }}</span>
        </div>
      </div>
      <div class="group motion" role="group" aria-label="Motion">
        <p class="caption" aria-hidden="true">Motion</p>
        <dl>
          <div v-for="row in facts.motion" :key="row.name" class="fact" :class="{ recorded: facts.replay && row.from, bad: row.bad }">
            <dt>{{ label(row) }}</dt>
            <dd :data-from="facts.replay ? null : row.from" :data-limit="row.limit"><span class="value">{{ row.text }}</span></dd>
          </div>
        </dl>
      </div>
      <div class="group power" role="group" aria-label="Power">
        <p class="caption" aria-hidden="true">Power</p>
        <dl>
          <div v-for="row in facts.power" :key="row.name" class="fact" :class="{ recorded: facts.replay, bad: row.bad && !facts.replay }">
            <dt>{{ label(row) }}</dt>
            <dd :data-from="facts.replay ? null : row.from" :data-limit="row.limit"><span class="value">{{ row.text }}</span></dd>
          </div>
        </dl>
      </div>
      <div class="group health" role="group" aria-label="Health">
        <p class="caption"><span aria-hidden="true">Health</span> <span id="delay" title="Round trip to the agent, and the age of its newest data"></span></p>
        <ul class="ages" aria-label="Nodes, and when they were last heard">
          <li v-for="node in facts.nodes" :key="node.name" :class="{ bad: !node.ok }" :title="node.text">
            <span aria-hidden="true">{{ node.ok ? '●' : '▲' }}</span> {{ node.name }}
            <span class="sr">{{ node.ok ? 'ok' : 'not ok' }} {{ node.text }}</span>
            <span v-if="node.aged" class="age" :data-age="'node:' + node.name"></span>
          </li>
        </ul>
        <ul v-if="facts.sources.length" class="ages" aria-label="Age of the data">
          <template v-for="source in facts.sources" :key="source.name">
            <li v-if="facts.replay" class="recorded">{{ source.name }} <span class="age">{{ facts.past ? 'then' : 'recorded' }}</span></li>
            <li v-else :class="{ bad: source.silent }">
              <span aria-hidden="true">{{ source.silent ? '▲' : '○' }}</span> {{ source.name }}
              <span class="age" :data-age="source.name" :data-limit="source.limit"></span>
            </li>
          </template>
        </ul>
        <p v-if="facts.usage" class="quiet usage">Model: {{ facts.usage }}</p>
      </div>
    </header>`,
  updated() {
    window.curiosity.refresh(); // the template may have replaced a value that was marked as old
  },
  methods: {
    /** @param {string} line */
    say: (line) => window.dispatchEvent(new CustomEvent('say-line', { detail: line })),
    // The value is that of an earlier time or of the recording, not the live rover's.
    /** @param {HeadValue} row */
    label(row) {
      if (this.facts.past) return `${row.name} (then)`;
      return this.facts.replay && row.from ? `${row.name} (recorded)` : row.name;
    },
  },
});
