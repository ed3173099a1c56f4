// The open questions. An edit in progress survives updates.
export default {
  props: { facts: Object },
  mixins: [window.curiosity.looksBack],
  emits: ['answer'],
  data: () => ({ edits: {}, whys: {}, message: '', failed: false, sent: {}, now: 0 }),
  template: `
    <div v-if="facts.rows.length || message" class="approvals" role="region" aria-label="Waits for your answer">
      <article v-for="row in facts.rows" :key="row.id" :aria-label="'Question ' + row.short">
        <h2><code>{{ row.short }}</code> {{ row.text }}</h2>
        <div class="about">
        <ul v-if="row.reasons.length"><li v-for="reason in row.reasons">{{ reason }}</li></ul>
        <p v-for="line in row.rehearsal" class="rehearsal">{{ line }}</p>
        <p v-if="row.until !== null" class="quiet">{{ left(row) }}</p>
        </div>
        <div v-if="row.editable" class="op">
          <label v-if="row.id in edits">
            Arguments of <code>{{ row.skill }}</code>, as JSON
            <textarea v-model="edits[row.id]" rows="4" spellcheck="false" :name="'arguments-' + row.short"></textarea>
          </label>
          <pre v-else>{{ row.skill }} {{ row.arguments }}</pre>
        </div>
        <p v-if="past" class="quiet">Answer it in the live view: press L.</p>
        <div class="buttons">
          <button type="button" class="yes" :disabled="past || row.id in edits || sent[row.id]" @click="answer(row, 'APPROVE')">Approve</button>
          <button v-if="row.editable && !(row.id in edits)" type="button" :disabled="sent[row.id]" @click="edits[row.id] = row.arguments">Edit</button>
          <template v-if="row.id in edits">
            <button type="button" class="yes" :disabled="past || sent[row.id]" @click="answer(row, 'EDIT')">Approve with changes</button>
            <button type="button" @click="delete edits[row.id]">Cancel edit</button>
          </template>
          <input v-model="whys[row.id]" placeholder="why (for a no)" maxlength="500" :aria-label="'Why not, for ' + row.short" />
          <button type="button" class="no" :disabled="past || sent[row.id]" @click="answer(row, 'REJECT')">Reject</button>
        </div>
      </article>
      <p v-if="message" role="status" :class="{ warning: failed, quiet: !failed }">{{ message }}</p>
    </div>`,
  watch: {
    // The title shows the open question to an operator in another tab.
    'facts.rows.length': {
      immediate: true,
      handler(open) {
        window.curiosity.attention({ open });
      },
    },
  },
  mounted() {
    this.timer = setInterval(() => (this.now = window.curiosity.now()), 1000);
  },
  unmounted() {
    clearInterval(this.timer);
  },
  methods: {
    answer(row, action) {
      this.message = '';
      this.sent[row.id] = true;
      this.$emit('answer', { id: row.id, action, arguments: this.edits[row.id] ?? '', why: this.whys[row.id] ?? '' });
    },
    answered(id, ok, words) {
      delete this.sent[id];
      if (ok) delete this.edits[id];
      this.message = words;
      this.failed = !ok;
    },
    left(row) {
      const left = Math.max(0, Math.round(row.until - (this.now || window.curiosity.now())));
      return `No answer within ${left} s is a no.`;
    },
  },
};
