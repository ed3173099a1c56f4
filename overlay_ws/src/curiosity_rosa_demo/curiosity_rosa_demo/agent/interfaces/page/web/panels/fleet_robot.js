// One robot of the fleet: state, question, picture, and the result of the last stop for all. Its name
// leads to its page, and so does a click anywhere on it.
import { html } from '../modules/html.js';
import { LivePicture } from '../modules/live_picture.js';
import { batteryFacts, wheelsText } from '../modules/state_facts.js';
import { clip, clipColumns } from '../modules/text.js';
import { defineComponent, markRaw } from '../vendor/vue.js';

/** @import { PropType } from '../vendor/vue.js' */

const STALE_S = 5;
const PERIOD_S = 1;
const MAX_COLUMNS = 80;
const SIGNS = { live: '●', lost: '✕', waiting: '○' };

export default defineComponent({
  props: {
    robot: { type: /** @type {PropType<FleetRobotJson>} */ (Object), required: true },
    limit: { type: Number, required: true }, // seconds after which it is lost
    robots: { type: Number, required: true }, // how many the page shows
  },
  data: () => ({
    source: '',
    words: '',
    /** @type {number | null} */
    age: null,
    timer: 0,
    /** @type {LivePicture | null} */
    picture: null,
  }),
  computed: {
    // A loopback address is that of the agent's machine, which this browser reaches under the name of this page.
    /** @returns {string} */
    url() {
      const url = new URL(this.robot.url);
      if (['127.0.0.1', 'localhost', '[::1]'].includes(url.hostname)) url.hostname = location.hostname;
      return url.href;
    },
    /** What the robot does, or why it is in its mode. @returns {string} */
    doing() {
      const { ready, brain_state: brain } = this.robot.state ?? {};
      const { mode, mode_reason: why, queue = [], active_task_id: id } = brain?.tasks ?? {};
      const active = mode === 'SAFE' ? undefined : queue.find((task) => task.task_id === id);
      return clipColumns(active?.goal ?? (why || ready || ''), MAX_COLUMNS);
    },
    /** @returns {{ name: string, text: string, bad: boolean }[]} */
    facts() {
      const { state } = this.robot;
      if (!state) return [];
      const { silent = [], mast = 'unknown', estop } = state.brain_state?.robot ?? {};
      const still = silent.includes('odometry');
      const battery = batteryFacts(state);
      return [
        { name: 'Wheels', text: `${wheelsText(state)}${still ? ', odometry silent' : ''}`, bad: still },
        { name: 'Battery', text: battery.text, bad: battery.bad || silent.includes('battery') },
        { name: 'Mast', text: clip(mast), bad: false },
        ...(estop ? [{ name: 'E-stop', text: 'PRESSED', bad: true }] : []),
      ];
    },
  },
  render() {
    const { robot, facts, doing, url } = this;
    const mode = robot.state?.brain_state?.tasks?.mode;
    return html`
      <article class="robot" data-link=${robot.link} aria-label=${`Robot ${robot.name}`}>
        <div class="top">
          <h2><a href=${url}>${robot.name}</a></h2>
          ${mode && html`<dl><div class="fact mode" data-mode=${mode}><dt class="sr">Mode</dt><dd>${mode}</dd></div></dl>`}
          <p class="connection"><span aria-hidden="true">${SIGNS[robot.link]}</span> ${robot.link}${' '}
            ${robot.link !== 'waiting' && html`<span class="age" data-age=${`robot:${robot.name}`} data-limit=${this.limit}></span>`}</p>
        </div>
        ${robot.failure && html`<p class="warning">▲ ${clip(robot.failure)}</p>`}
        ${robot.stop && html`<p class=${['stopped', { failed: !robot.stop.ok }]} role="status">${clip(robot.stop.answer)} (${robot.stop.took_ms} ms)</p>`}
        ${robot.approvals?.map((question) => html`<p class="question">${clip(question.text)} <a href=${url}>Answer on the page of ${robot.name}</a></p>`)}
        <div class="state">
          ${mode && html`<p class="doing" title=${doing}>${doing}</p>`}
          ${facts.length > 0 && html`<dl>${facts.map((row) => html`<div key=${row.name} class=${['fact', { bad: row.bad }]}><dt>${row.name}</dt><dd>${row.text}</dd></div>`)}</dl>`}
          <div class="frame">
            ${this.source ? html`<img src=${this.source} alt=${`Camera image of ${robot.name}`} />` : html`<p class="quiet">${this.words}</p>`}
            ${this.source && html`<span class="age-of-frame" data-stale=${(this.age ?? 0) > STALE_S || robot.link !== 'live' ? '' : null}>${(this.age ?? 0).toFixed(0)} s old</span>`}
          </div>
        </div>
      </article>`;
  },
  mounted() {
    this.timer = setInterval(this.grow, 1000);
    const options = {
      path: () => `/fleet/${this.robot.name}/frame.jpg`,
      period: () => PERIOD_S,
      cameras: () => this.robots,
      wanted: () => this.robot.link !== 'lost',
      changed: this.grow,
    };
    this.picture = markRaw(new LivePicture(this.$el, options));
    this.grow();
    window.curiosity.refresh();
  },
  updated() {
    window.curiosity.refresh(); // the template may have replaced an age
  },
  unmounted() {
    clearInterval(this.timer);
    this.picture?.end();
  },
  methods: {
    grow() {
      if (!this.picture) return;
      this.source = this.picture.source;
      this.words = this.picture.words;
      this.age = this.picture.age();
    },
  },
});
