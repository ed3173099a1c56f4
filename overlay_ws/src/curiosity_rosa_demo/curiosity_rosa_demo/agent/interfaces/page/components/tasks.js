// The tasks. Ended ones are folded, but for the newest.
const SIGNS = { pending: '○', waiting: '◔', active: '►', paused: '‖', recovering: '↻', completed: '✓', failed: '▲', cancelled: '⊘' };

export default {
  props: { facts: Object },
  emits: ['cancel'],
  data: () => ({ unfolded: false }),
  computed: {
    ended() {
      return this.facts.rows.filter((row) => !row.live);
    },
    shown() {
      const ended = this.unfolded ? this.ended : this.ended.slice(0, 1);
      const live = this.facts.rows.filter((row) => row.live);
      return [...live.filter((row) => row.state === 'active'), ...live.filter((row) => row.state !== 'active').reverse(), ...ended];
    },
  },
  template: `
    <div class="table">
      <table v-if="shown.length">
        <caption class="sr">Tasks: the running one, then those that wait, then those that have ended</caption>
        <thead><tr><th>Task</th><th>State</th><th>What</th><th class="since">Since</th><th><span class="sr">Cancel</span></th></tr></thead>
        <tbody>
          <tr v-for="row in shown" :key="row.id" :class="['task', row.state]">
            <td><code :title="row.id">{{ row.short }}</code></td>
            <td><span class="state"><span class="sign" aria-hidden="true">{{ sign(row) }}</span>{{ row.state }}{{ row.held ? ' (held)' : '' }}</span></td>
            <td class="text">{{ row.what }}<span v-if="row.by" class="quiet"> by {{ row.by }}</span><span v-if="row.behind" class="quiet why">{{ row.behind }}</span><span v-if="row.reason" class="quiet why">{{ row.reason }}</span></td>
            <td class="since"><time>{{ time(row.since) }}</time></td>
            <td><button v-if="row.live" type="button" :aria-label="'Cancel ' + row.what" @click="$emit('cancel', row.id)">Cancel</button></td>
          </tr>
        </tbody>
      </table>
      <p v-else class="quiet">No tasks.</p>
      <button v-if="ended.length > 1" type="button" class="small" :aria-expanded="unfolded" @click="unfolded = !unfolded">{{ unfolded ? 'Fold ended tasks' : ended.length - 1 + ' more ended' }}</button>
    </div>`,
  methods: {
    sign: (row) => SIGNS[row.state] ?? '·',
    time: (moment) => window.curiosity.time(moment),
  },
};
