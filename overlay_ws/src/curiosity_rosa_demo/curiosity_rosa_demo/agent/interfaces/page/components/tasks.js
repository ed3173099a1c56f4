export default {
  props: { facts: Object },
  emits: ['cancel'],
  template: `
    <div class="table">
      <table v-if="facts.rows.length">
        <caption class="sr">Tasks, the newest first</caption>
        <thead><tr><th>Task</th><th>State</th><th>What</th><th class="since">Since</th><th><span class="sr">Cancel</span></th></tr></thead>
        <tbody>
          <tr v-for="row in facts.rows" :key="row.id" :class="['task', row.state]">
            <td><code :title="row.id">{{ row.short }}</code></td>
            <td><span class="state">{{ row.state }}{{ row.held ? ' (held)' : '' }}</span></td>
            <td class="text">{{ row.what }}<span v-if="row.by" class="quiet"> by {{ row.by }}</span><span v-if="row.reason" class="quiet why">{{ row.reason }}</span></td>
            <td class="since"><time>{{ time(row.since) }}</time></td>
            <td><button v-if="row.live" type="button" :aria-label="'Cancel ' + row.what" @click="$emit('cancel', row.id)">Cancel</button></td>
          </tr>
        </tbody>
      </table>
      <p v-else class="quiet">No tasks.</p>
    </div>`,
  methods: { time: (moment) => window.curiosity.time(moment) },
};
