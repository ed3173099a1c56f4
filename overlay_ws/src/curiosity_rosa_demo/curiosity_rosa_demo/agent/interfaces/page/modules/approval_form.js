// The form of one open question: its text, its arguments, which can be edited, and the buttons that answer it.
import { defineComponent } from 'vue';
import { looksBack } from './looks_back.js';

/** @import { PropType } from 'vue' */

export const ApprovalForm = defineComponent({
  mixins: [looksBack],
  props: {
    question: { type: /** @type {PropType<QuestionRow>} */ (Object), required: true },
    // What came of its last answer; null: nothing yet.
    result: { type: /** @type {PropType<Told | null>} */ (Object), default: null },
  },
  emits: ['answer'],
  data: () => ({
    /** @type {string | null} the arguments while they are edited */
    edit: null,
    why: '',
    sent: false,
    now: 0,
    timer: 0,
  }),
  template: `
    <article class="approval" tabindex="-1" :aria-label="'Question ' + question.short">
      <h2><code>{{ question.short }}</code> {{ question.text }}</h2>
      <div class="about">
        <ul v-if="question.reasons.length"><li v-for="reason in question.reasons">{{ reason }}</li></ul>
        <p v-for="line in question.rehearsal" class="rehearsal">{{ line }}</p>
        <p v-if="question.until !== null" class="quiet">{{ left }}</p>
      </div>
      <div v-if="question.editable" class="op">
        <label v-if="edit !== null">
          Arguments of <code>{{ question.skill }}</code>, as JSON
          <textarea ref="editor" v-model="edit" rows="4" spellcheck="false" :name="'arguments-' + question.short"></textarea>
        </label>
        <pre v-else>{{ question.skill }} {{ question.arguments }}</pre>
      </div>
      <p v-if="past" class="quiet">Answer it in the live view: press L.</p>
      <div class="buttons">
        <button type="button" class="yes" :disabled="past || edit !== null || sent" @click="answer('APPROVE')">Approve</button>
        <button v-if="question.editable && edit === null" ref="begin" type="button" :disabled="sent" @click="setEdit(question.arguments)">Edit</button>
        <template v-if="edit !== null">
          <button type="button" class="yes" :disabled="past || sent" @click="answer('EDIT')">Approve with changes</button>
          <button type="button" @click="setEdit(null)">Cancel edit</button>
        </template>
        <input v-model="why" placeholder="why (for a no)" maxlength="500" :aria-label="'Why not, for ' + question.short" />
        <button type="button" class="no" :disabled="past || sent" @click="answer('REJECT')">Reject</button>
      </div>
      <p v-if="result && !result.ok" role="status" class="warning">{{ result.words }}</p>
    </article>`,
  computed: {
    /** @returns {string} */
    left() {
      const until = this.question.until ?? 0;
      return `No answer within ${Math.max(0, Math.round(until - this.now))} s is a no.`;
    },
  },
  watch: {
    result() {
      this.sent = false;
    },
  },
  created() {
    this.now = window.curiosity.now();
  },
  mounted() {
    this.timer = setInterval(() => {
      this.now = window.curiosity.now();
    }, 1000);
  },
  beforeUnmount() {
    clearInterval(this.timer);
    // The focus stays where the question stood.
    if (this.$el.contains(document.activeElement)) this.$el.closest('li')?.focus();
  },
  methods: {
    /** @param {string | null} text the arguments to begin with; null ends the edit */
    async setEdit(text) {
      this.edit = text;
      await this.$nextTick();
      const next = /** @type {HTMLElement | undefined} */ (this.$refs[text === null ? 'begin' : 'editor']);
      next?.focus();
    },
    /** @param {QuestionAnswer['action']} action */
    answer(action) {
      this.$el.focus(); // a button that is disabled loses it
      this.sent = true;
      this.$emit('answer', { id: this.question.id, action, arguments: this.edit ?? '', why: this.why });
    },
  },
});
