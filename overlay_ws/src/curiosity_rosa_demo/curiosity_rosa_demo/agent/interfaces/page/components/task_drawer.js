// One task in full: its state and buttons, what it used, its plan, captures, history and trace.
/** @type {Record<string, string>} */
const SIGNS = { pending: '○', running: '▶', success: '✓', failed: '✗', skipped: '–', wait_confirmation: '?' };
const SHOWN = 100; // newest lines of its trace

import { foldRows } from 'curiosity/fold.js';
import { looksBack } from 'curiosity/looks_back.js';
import { actOfKey } from 'curiosity/task_acts.js';
import { traceRows } from 'curiosity/trace_rows.js';
import { defineComponent } from 'vue';

/** @import { PropType } from 'vue' */
/** @import { FoldedRow } from 'curiosity/fold.js' */

export default defineComponent({
  mixins: [looksBack],
  props: { facts: { type: /** @type {PropType<TaskDetail | null>} */ (Object), default: null } },
  emits: ['act', 'open'],
  data: () => ({
    /** @type {readonly TraceRow[]} */
    rows: [],
    message: '',
    failed: false,
    questions: 0,
    last: '', // the ID of the task that was open last
    returnsFocus: true,
    SIGNS,
  }),
  template: `
    <div v-if="facts" class="drawer" role="dialog" aria-labelledby="drawer-title" @keydown="onKey">
      <div class="bar">
        <h2 id="drawer-title">Task <code :title="facts.id">{{ facts.short }}</code></h2>
        <button ref="close" type="button" @click="$emit('open', '')">Close</button>
      </div>
      <p v-if="questions" class="asking" role="status"><b class="text">A question waits for your answer</b> <button type="button" class="small" @click="showQuestion">Show the question</button></p>
      <div class="inside" tabindex="0" role="group" aria-label="The task in full">
        <p><strong class="text">{{ facts.what }}</strong><span v-if="facts.by" class="quiet"> by {{ facts.by }}</span></p>
        <p><b>{{ facts.state }}{{ facts.held ? ' (held)' : '' }}</b> since <time>{{ time(facts.since) }}</time><span v-if="facts.reason" class="text">: {{ facts.reason }}</span></p>
        <p class="quiet">Priority {{ facts.priority }}{{ facts.urgent ? ', urgent' : '' }}; submitted at <time>{{ time(facts.created) }}</time></p>
        <p class="quiet">{{ facts.usage || 'No call of a language model' }}</p>
        <p v-if="past" class="asking">The page looks back; this is the task as it is now. Press L to change it.</p>
        <div v-if="facts.live && !past" class="row acts" role="group" aria-label="Change the task">
          <button v-if="!facts.held" type="button" aria-keyshortcuts="P" @click="act('pause')">Pause</button>
          <button v-else type="button" aria-keyshortcuts="P" @click="act('resume')">Resume</button>
          <button type="button" aria-keyshortcuts="Delete" @click="act('cancel')">Cancel task</button>
          <template v-if="!facts.runs">
            <button type="button" aria-keyshortcuts="-" aria-label="Lower priority" @click="act('priority', -1)">− priority</button>
            <button type="button" aria-keyshortcuts="+" aria-label="Higher priority" @click="act('priority', 1)">+ priority</button>
          </template>
        </div>
        <p role="status" :class="{ warning: failed }">{{ message }}</p>
        <ul v-if="facts.progress.rows.length" class="progress" aria-label="Progress of the task">
          <li v-for="row in facts.progress.rows" :key="row.id"><progress v-bind="row.fraction === null ? {} : { value: row.fraction, max: 1 }" :aria-label="row.text"></progress> <span class="text">{{ row.text }}</span></li>
        </ul>
        <h3>Plan</h3>
        <p v-if="facts.plan.goal"><strong>{{ facts.plan.goal }}</strong> <span class="quiet">{{ facts.plan.status }}</span></p>
        <ol v-if="facts.plan.steps.length">
          <li v-for="(step, index) in facts.plan.steps" :key="index" :class="['step', step.status]">
            <span aria-hidden="true">{{ SIGNS[step.status] ?? '·' }}</span>
            <span class="text"><b>{{ step.action }}</b> <code v-if="step.parameters">{{ step.parameters }}</code> {{ step.text }}<span v-if="step.why" class="quiet why">{{ step.why }}</span></span>
            <span class="state">{{ step.status }}</span>
          </li>
        </ol>
        <p v-else class="quiet">No plan: the agent decides step by step.</p>
        <template v-if="facts.captures.rows.length">
          <h3>Captures</h3>
          <ul class="shots">
            <li v-for="row in facts.captures.rows" :key="row.id"><button type="button" class="shot" aria-label="Open the capture" @click="pick(row.id)">
              <img :src="'/page/captures/' + encodeURIComponent(row.id) + '.jpg'" :alt="'Capture, score ' + row.score.toFixed(2)" loading="lazy" width="112" height="84" />
            </button></li>
          </ul>
        </template>
        <h3>History</h3>
        <ol class="past"><li v-for="row in facts.history"><time>{{ time(row.at) }}</time> <b>{{ row.state }}</b> <span class="quiet">{{ row.reason }}</span></li></ol>
        <h3>Trace <button v-if="trace.length" type="button" class="small" @click="filter">Show it in the trace table</button></h3>
        <ol v-if="trace.length" class="past"><li v-for="{ row, times } in trace" :key="row.id" :class="{ warning: row.ok === false }"><time>{{ time(row.ts) }}</time> <span class="kind">{{ row.kind.toLowerCase() }}</span> <span class="text">{{ row.text }}{{ times > 1 ? ' × ' + times : '' }}</span></li></ol>
        <p v-else class="quiet">No events of this task are kept here.</p>
      </div>
    </div>`,
  computed: {
    /** @returns {FoldedRow[]} */
    trace() {
      return foldRows(this.rows).slice(-SHOWN);
    },
  },
  watch: {
    /** @param {string | undefined} id */
    async 'facts.id'(id) {
      this.changed();
      this.message = '';
      this.questions = document.querySelectorAll('.approval').length; // from before, too
      const { last, returnsFocus } = this;
      this.last = id ?? '';
      this.returnsFocus = true;
      if (id) {
        await this.$nextTick();
        /** @type {HTMLElement} */ (this.$refs.close).focus();
      } else if (returnsFocus) {
        const opener = document.querySelector(`[data-opens="${CSS.escape(last)}"]`);
        if (opener instanceof HTMLElement) opener.focus();
      }
    },
  },
  mounted() {
    window.addEventListener('trace-rows', this.changed);
    window.addEventListener('questions-open', this.asked);
  },
  unmounted() {
    window.removeEventListener('trace-rows', this.changed);
    window.removeEventListener('questions-open', this.asked);
  },
  methods: {
    changed() {
      this.rows = this.facts ? traceRows.of(this.facts.id) : [];
    },
    /** @param {CustomEvent<number>} event */
    asked(event) {
      this.questions = event.detail;
    },
    /**
     * @param {TaskAct['act']} act
     * @param {number} [by] the change of the priority
     */
    act(act, by) {
      const { facts } = this;
      if (facts) this.$emit('act', { id: facts.id, act, priority: by && facts.priority + by });
    },
    showQuestion() {
      this.returnsFocus = false;
      this.$emit('open', '');
      window.dispatchEvent(new Event('show-question'));
    },
    /**
     * @param {boolean} ok
     * @param {string} words
     */
    told(ok, words) {
      this.message = words;
      this.failed = !ok;
    },
    /** @param {KeyboardEvent} event */
    onKey(event) {
      const act = this.facts && !this.past && actOfKey(event, this.facts);
      if (act) this.$emit('act', act);
    },
    /** @param {string} id */
    pick(id) {
      this.returnsFocus = false;
      this.$emit('open', '');
      window.dispatchEvent(new CustomEvent('pick-capture', { detail: id }));
    },
    filter() {
      window.dispatchEvent(new CustomEvent('trace-task', { detail: this.facts?.id }));
      window.curiosity.showPanel('thought');
    },
    /** @param {number} moment */
    time: (moment) => window.curiosity.time(moment),
  },
});
