export default {
  props: { facts: Object },
  template: `
    <header class="status" aria-label="State of the rover">
      <h1>Curiosity ROSA</h1>
      <div v-if="facts.replay" class="replay">
        <p role="status">REPLAY of a recording: this is not the live rover</p>
        <p v-if="facts.replay_text">{{ facts.replay_text }}</p>
        <p>Battery, mast, wheels, place, pictures and ages are the recording's. Mode, e-stop, nodes and tasks are this agent's own.</p>
      </div>
      <dl>
        <div class="fact mode" :data-mode="facts.mode"><dt>Mode</dt><dd :title="facts.why">{{ facts.mode }}</dd></div>
        <div class="fact" :class="{ recorded: facts.replay, bad: facts.battery_state === 'LOW' && !facts.replay }">
          <dt>{{ label('Battery') }}</dt>
          <dd>{{ facts.battery === null ? 'unknown' : facts.battery + ' %' }}{{ facts.battery_state === 'LOW' ? ' low' : '' }}</dd>
        </div>
        <div class="fact" :class="{ recorded: facts.replay }"><dt>{{ label('Mast') }}</dt><dd>{{ facts.mast }}</dd></div>
        <div class="fact" :class="{ recorded: facts.replay }"><dt>{{ label('Wheels') }}</dt><dd>{{ facts.moving ? 'moving' : 'still' }}</dd></div>
        <div class="fact" :class="{ recorded: facts.replay }"><dt>{{ label('Place') }}</dt><dd>{{ facts.pose }}</dd></div>
        <div class="fact" :class="{ recorded: facts.replay }"><dt>{{ label('Way ahead') }}</dt><dd>{{ facts.way }}</dd></div>
        <div class="fact" :class="{ bad: facts.estop }"><dt>E-stop</dt><dd>{{ facts.estop ? 'PRESSED' : 'released' }}</dd></div>
      </dl>
      <ul class="ages" aria-label="Nodes, and when they were last heard">
        <li v-for="node in facts.nodes" :key="node.name" :class="{ bad: !node.ok }" :title="node.text">
          <span aria-hidden="true">{{ node.ok ? '●' : '▲' }}</span> {{ node.name }}
          <span class="sr">{{ node.ok ? 'ok' : 'not ok' }} {{ node.text }}</span>
          <span v-if="node.aged" class="age" :data-age="'node:' + node.name"></span>
        </li>
      </ul>
      <ul v-if="facts.sources.length" class="ages" aria-label="Age of the data">
        <template v-for="source in facts.sources" :key="source.name">
          <li v-if="facts.replay" class="recorded">{{ source.name }} <span class="age">recorded</span></li>
          <li v-else :class="{ bad: source.silent }">
            <span aria-hidden="true">{{ source.silent ? '▲' : '○' }}</span> {{ source.name }}
            <span class="age" :data-age="source.name" :data-limit="source.limit"></span>
          </li>
        </template>
      </ul>
      <p v-if="facts.latch" class="warning">Held: {{ facts.latch }} (<kbd>:clear</kbd> releases it)</p>
      <p v-if="facts.waits_for" class="warning">Nothing can run yet: {{ facts.waits_for }}</p>
      <p v-if="facts.auto" class="quiet">On its own: {{ facts.auto }}</p>
      <p v-if="facts.usage" class="quiet">Model: {{ facts.usage }}</p>
    </header>`,
  methods: {
    // The value is the recording's, not the live rover's.
    label(name) {
      return this.facts.replay ? `${name} (recorded)` : name;
    },
  },
};
