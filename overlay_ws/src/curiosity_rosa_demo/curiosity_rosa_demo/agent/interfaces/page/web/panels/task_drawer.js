// One task in full: its state and buttons, what it used, its plan, captures, history and trace.
const SHOWN = 100; // newest lines of its trace

import { changeTask } from '../modules/acts.js';
import { captureUrl, pickCapture } from '../modules/captures.js';
import { foldRows } from '../modules/fold.js';
import { html } from '../modules/html.js';
import { planSteps } from '../modules/plan_steps.js';
import { shown } from '../modules/shown.js';
import { progressRows } from '../modules/state_facts.js';
import { actOfKey } from '../modules/task_acts.js';
import { taskDetail } from '../modules/task_facts.js';
import { traceRows } from '../modules/trace_rows.js';
import { defineComponent } from '../vendor/vue.js';

/** @import { FoldedRow } from '../modules/fold.js' */

export default defineComponent({
  props: { task: { type: String, required: true } }, // its ID; '': none is open
  emits: ['open'],
  data: () => ({
    rows: traceRows.all(),
    message: '',
    failed: false,
    questions: 0,
    last: '', // the ID of the task that was open last
    returnsFocus: true,
  }),
  render() {
    const { facts } = this;
    if (!facts) return null;
    const time = window.curiosity.time;
    return html`
      <div class="drawer" role="dialog" aria-labelledby="drawer-title" onKeydown=${this.onKey}>
        <div class="bar">
          <h2 id="drawer-title">Task <code title=${facts.id}>${facts.short}</code></h2>
          <button ref="close" type="button" onClick=${this.close}>Close</button>
        </div>
        ${this.questions > 0 && html`<p class="asking" role="status"><b class="text">A question waits for your answer</b> <button type="button" class="small" onClick=${this.showQuestion}>Show the question</button></p>`}
        <div class="inside" tabindex="0" role="group" aria-label="The task in full">
          <p><strong class="text">${facts.what}</strong>${facts.by && html`<span class="quiet"> by ${facts.by}</span>`}</p>
          <p><b>${facts.state}${facts.held && ' (held)'}</b> since <time>${time(facts.since)}</time>${facts.reason && html`<span class="text">: ${facts.reason}</span>`}</p>
          <p class="quiet">Priority ${facts.priority}${facts.urgent && ', urgent'}; submitted at <time>${time(facts.created)}</time></p>
          <p class="quiet">${facts.usage || 'No call of a language model'}</p>
          ${this.past && html`<p class="asking">The page looks back; this is the task as it is now. Press L to change it.</p>`}
          ${facts.live && !this.past && this.buttons(facts)}
          <p role="status" class=${{ warning: this.failed }}>${this.message}</p>
          ${
            facts.progress.length > 0 &&
            html`<ul class="progress" aria-label="Progress of the task">
              ${facts.progress.map((row) => html`<li key=${row.id}><progress ...${row.fraction === null ? {} : { value: row.fraction, max: 1 }} aria-label=${row.text}></progress> <span class="text">${row.text}</span></li>`)}
            </ul>`
          }
          <h3>Plan</h3>
          ${facts.plan.goal && html`<p><strong>${facts.plan.goal}</strong> <span class="quiet">${facts.plan.status}</span></p>`}
          ${planSteps(facts.plan)}
          ${facts.captures.length > 0 && html`<h3>Captures</h3>`}
          ${
            facts.captures.length > 0 &&
            html`<ul class="shots">
              ${facts.captures.map(
                (
                  row,
                ) => html`<li key=${row.id}><button type="button" class="shot" aria-label="Open the capture" onClick=${() => this.pick(row.id)}>
                  <img src=${captureUrl(row.id)} alt=${`Capture, score ${row.score.toFixed(2)}`} loading="lazy" width="112" height="84" />
                </button></li>`,
              )}
            </ul>`
          }
          <h3>History</h3>
          <ol class="past">${facts.history.map((row) => html`<li><time>${time(row.at)}</time> <b>${row.state}</b> <span class="quiet">${row.reason}</span></li>`)}</ol>
          <h3>Trace ${this.trace.length > 0 && html`<button type="button" class="small" onClick=${this.filter}>Show it in the trace table</button>`}</h3>
          ${
            this.trace.length
              ? html`<ol class="past">${this.trace.map(({ row, times }) => html`<li key=${row.id} class=${{ warning: row.ok === false }}><time>${time(row.ts)}</time> <span class="kind">${row.kind.toLowerCase()}</span> <span class="text">${row.text}${times > 1 && ` × ${times}`}</span></li>`)}</ol>`
              : html`<p class="quiet">No events of this task are kept here.</p>`
          }
        </div>
      </div>`;
  },
  computed: {
    past: () => shown.looksBack(),
    /** The task as it is now, also while the page looks back. @returns {TaskDetail | null} */
    facts() {
      const { state, tasks, captures } = shown.live;
      const task = tasks?.[this.task];
      const plan = state?.brain_state?.react?.plan;
      return task ? taskDetail(task, this.rows, progressRows(state), plan, captures) : null;
    },
    /** @returns {FoldedRow[]} */
    trace() {
      return foldRows(this.rows.filter((row) => row.task === this.task)).slice(-SHOWN);
    },
  },
  watch: {
    /** @param {string | undefined} id */
    async 'facts.id'(id) {
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
      this.rows = traceRows.all();
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
      if (facts) this.change({ id: facts.id, act, ...(by ? { priority: facts.priority + by } : {}) });
    },
    showQuestion() {
      this.returnsFocus = false;
      this.close();
      window.dispatchEvent(new Event('show-question'));
    },
    /** @param {TaskAct} change */
    async change(change) {
      const { ok, words } = await changeTask(change);
      this.message = words;
      this.failed = !ok;
    },
    /** @param {KeyboardEvent} event */
    onKey(event) {
      const act = this.facts && !this.past && actOfKey(event, this.facts);
      if (act) this.change(act);
    },
    /** @param {string} id */
    pick(id) {
      this.returnsFocus = false;
      this.close();
      pickCapture(id);
    },
    filter() {
      window.dispatchEvent(new CustomEvent('trace-task', { detail: this.facts?.id }));
      window.curiosity.showPanel('thought');
    },
    close() {
      this.$emit('open', '');
    },
    /** @param {TaskDetail} facts */
    buttons(facts) {
      return html`
        <div class="row acts" role="group" aria-label="Change the task">
          <button type="button" aria-keyshortcuts="P" onClick=${() => this.act(facts.held ? 'resume' : 'pause')}>${facts.held ? 'Resume' : 'Pause'}</button>
          <button type="button" aria-keyshortcuts="Delete" onClick=${() => this.act('cancel')}>Cancel task</button>
          ${!facts.runs && html`<button type="button" aria-keyshortcuts="-" aria-label="Lower priority" onClick=${() => this.act('priority', -1)}>− priority</button>`}
          ${!facts.runs && html`<button type="button" aria-keyshortcuts="+" aria-label="Higher priority" onClick=${() => this.act('priority', 1)}>+ priority</button>`}
        </div>`;
    },
  },
});
