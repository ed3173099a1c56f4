// What was said, thought, done, asked and answered, in order, the newest last. The lines that people typed in any
// browser stand among it with their replies; an open question has its form where it was asked.
import { ApprovalForm } from 'curiosity/approval_form.js';
import { newestLast } from 'curiosity/newest_last.js';
import { talkItems } from 'curiosity/talk_items.js';
import { traceRows } from 'curiosity/trace_rows.js';
import { defineComponent } from 'vue';

/** @import { PropType } from 'vue' */
/** @import { Act, Sentence } from 'curiosity/conversation.js' */
/** @import { TalkItem } from 'curiosity/talk_items.js' */

/** @typedef {{ captures: CaptureRow[], lines: TalkLine[], questions: QuestionRow[] }} TalkFacts */

const SHOWN = 200; // entries
/** @type {Record<string, number>} */
const MOVES = { ArrowDown: 1, ArrowUp: -1, Home: -SHOWN, End: SHOWN };

export default defineComponent({
  components: { ApprovalForm },
  mixins: [newestLast],
  stops: '.talk-lines > li',
  holds: '.approval',
  props: { facts: { type: /** @type {PropType<TalkFacts>} */ (Object), required: true } },
  emits: ['answer'],
  data: () => ({
    /** @type {readonly TraceRow[]} */
    rows: traceRows.all(),
    /** @type {TalkLine[]} lines of this page that the agent has not told of yet */
    pending: [],
    /** @type {(Told & { id: string }) | null} what came of the last answer, and the ID of its question */
    result: null,
    /** @type {TimeShown} */
    shownTime: { at: null, since: null },
  }),
  computed: {
    // While the page looks back, those of the time that it shows, and what was typed since.
    /** @returns {TalkLine[]} */
    lines() {
      const { at, since } = this.shownTime;
      const lines = [...this.facts.lines, ...this.pending];
      return at === null ? lines : lines.filter((line) => line.at <= at || line.at >= (since ?? at));
    },
    /** @returns {TalkItem[]} */
    items() {
      return talkItems(this.rows, this.lines, this.facts.questions, SHOWN);
    },
    /** @returns {Map<string, CaptureRow>} */
    pictures() {
      return new Map(this.facts.captures.map((row) => [row.id, row]));
    },
  },
  watch: {
    /** @param {TalkLine[]} lines */
    'facts.lines'(lines) {
      const known = new Set(lines.map((line) => line.token));
      this.pending = this.pending.filter((line) => !known.has(line.token));
      this.grown();
    },
    'facts.questions'() {
      this.grown();
    },
  },
  template: `
    <div class="scroller">
      <ol ref="list" class="talk-lines" tabindex="0" aria-label="Conversation, the newest last" @scroll.passive="scrolled" @keydown="onKey">
        <li v-if="!items.length"><p class="quiet">Type a goal, a question, or a command. Answers appear here.</p></li>
        <li v-for="item in items" :key="item.key" tabindex="-1" :class="['is-' + item.kind, { earlier: item.row?.earlier }]">
          <template v-if="item.kind === 'line'">
            <p v-if="item.line.text" class="mine">{{ item.line.text }}<span v-if="item.line.by" class="quiet"> by {{ item.line.by }}</span></p>
            <p role="status" :class="{ warning: !item.line.ok, quiet: !item.line.words }">{{ item.line.words || '…' }}</p>
          </template>
          <details v-else-if="item.kind === 'thought'">
            <summary tabindex="-1"><span class="quiet">{{ item.rows.length > 1 ? item.rows.length + ' thoughts' : 'Thought' }}</span> {{ item.rows.at(-1).text }}</summary>
            <p v-for="row in item.rows" :key="row.id"><time>{{ time(row.ts) }}</time> {{ row.text }}</p>
          </details>
          <template v-else-if="item.kind === 'act'">
            <p :class="{ warning: item.result?.ok === false }">
              <span class="sign" aria-hidden="true">{{ sign(item) }}</span>{{ ' ' }}
              <template v-if="!item.alone"><b>{{ item.row.text }}</b>{{ ' ' }}</template>
              <template v-if="item.times > 1"><span class="times">× {{ item.times }}</span>{{ ' ' }}</template>
              <template v-else-if="took(item)"><span class="took">{{ took(item) }}</span>{{ ' ' }}</template>
              <span>{{ item.result ? item.words : item.progress || '…' }}</span>
            </p>
            <button v-if="pictures.has(item.result?.id)" type="button" class="shot" tabindex="-1" aria-label="Open the capture" @click="pick(item.result.id)">
              <img :src="'/page/captures/' + encodeURIComponent(item.result.id) + '.jpg'" :alt="'Capture, score ' + pictures.get(item.result.id).score.toFixed(2)" loading="lazy" width="112" height="84" />
            </button>
          </template>
          <p v-else-if="item.row && !item.open" :class="{ warning: failed(item) }">{{ item.row.replay ? '(replay) ' : '' }}{{ item.row.text }}<span v-if="item.words" class="quiet reply">{{ ' ' }}{{ item.words }}</span></p>
          <approval-form v-if="item.open" :question="item.open" :result="result?.id === item.open.id ? result : null" @answer="$emit('answer', $event)"></approval-form>
        </li>
      </ol>
      <button v-if="!follows" type="button" class="jump" @click="jump">↓ Jump to latest</button>
    </div>
    <p v-if="result && !isOpen(result.id)" role="status" :class="result.ok ? 'quiet' : 'warning'">{{ result.words }}</p>`,
  mounted() {
    window.addEventListener('trace-rows', this.changed);
    window.addEventListener('line-said', this.lineSaid);
    window.addEventListener('time-shown', this.timeShown);
    this.changed();
  },
  unmounted() {
    window.removeEventListener('trace-rows', this.changed);
    window.removeEventListener('line-said', this.lineSaid);
    window.removeEventListener('time-shown', this.timeShown);
  },
  methods: {
    changed() {
      this.rows = traceRows.all();
      this.grown();
    },
    /** @param {WindowEventMap['time-shown']} event */
    timeShown(event) {
      this.shownTime = event.detail;
    },
    /** @param {WindowEventMap['line-said']} event */
    lineSaid(event) {
      const { token, text } = event.detail;
      const at = window.curiosity.now();
      const line = { id: 0, token, at, text, by: '', words: '', ok: true, task: '' };
      this.pending = [...this.pending, line].slice(-SHOWN);
      this.follows = true;
      this.grown();
    },
    /**
     * The reply to a line that this page has sent.
     * @param {string} token
     * @param {boolean} ok
     * @param {string} words
     */
    reply(token, ok, words) {
      const line = this.pending.find((each) => each.token === token);
      if (!line) return;
      Object.assign(line, { ok, words }); // until the agent tells of it
      window.dispatchEvent(new CustomEvent('line-answered', { detail: { line: line.text, ok, words } }));
    },
    /**
     * What came of the answer to a question.
     * @param {string} id
     * @param {boolean} ok
     * @param {string} words
     */
    answered(id, ok, words) {
      this.result = { id, ok, words };
    },
    /** @param {string} id of a question */
    isOpen(id) {
      return this.facts.questions.some((question) => question.id === id);
    },
    /** @param {KeyboardEvent} event */
    onKey(event) {
      const target = /** @type {HTMLElement} */ (event.target);
      if (target.closest('.approval')) return;
      const by = MOVES[event.key];
      if (by) this.move(by);
      else if (event.key === 'Enter' && target.matches('li')) this.enter(target);
      else return;
      event.preventDefault();
    },
    /**
     * Opens what the entry holds, or goes to its form: a key that moves never answers a question.
     * @param {HTMLElement} entry
     */
    enter(entry) {
      /** @type {HTMLElement | null} */
      const form = entry.querySelector('.approval button:not(:disabled)');
      /** @type {HTMLElement | null} */
      const inside = entry.querySelector('summary, button');
      if (form) form.focus();
      else inside?.click();
    },
    /** @param {string} id */
    pick: (id) => window.dispatchEvent(new CustomEvent('pick-capture', { detail: id })),
    /** @param {Sentence} item */
    failed: (item) => item.kind === 'failure' || item.row.ok === false,
    /** @param {Act} item */
    sign: (item) => (!item.result ? '►' : item.result.ok === false ? '▲' : '✓'),
    /** @param {Act} item */
    took: (item) => (item.took == null || item.took > 3600 ? '' : `${item.took.toFixed(item.took < 10 ? 1 : 0)} s`),
    /** @param {number} moment */
    time: (moment) => window.curiosity.time(moment),
  },
});
