// Above all robots: how many there are, and what calls a person.
import { html } from '../modules/html.js';
import { defineComponent } from '../vendor/vue.js';

/** @import { PropType } from '../vendor/vue.js' */

export default defineComponent({
  props: { robots: { type: /** @type {PropType<FleetRobotJson[]>} */ (Array), required: true } },
  computed: {
    /** Lost robots call for nothing but their connection. */
    counts() {
      const live = this.robots.filter((robot) => robot.link === 'live');
      return {
        live: live.length,
        lost: this.robots.filter((robot) => robot.link === 'lost').length,
        safe: live.filter((robot) => robot.state?.brain_state?.tasks?.mode === 'SAFE').length,
        questions: live.reduce((sum, robot) => sum + (robot.approvals?.length ?? 0), 0),
      };
    },
  },
  render() {
    const { counts, robots } = this;
    return html`
      <header class="fleet-head" aria-label="All robots">
        <h1>Fleet</h1>
        <ul>
          <li>● ${counts.live} of ${robots.length} connected</li>
          ${counts.lost > 0 && html`<li class="bad">✕ ${counts.lost} lost</li>`}
          ${counts.safe > 0 && html`<li class="bad">■ ${counts.safe} in SAFE</li>`}
          ${counts.questions > 0 && html`<li class="asks">${counts.questions === 1 ? '1 question waits' : `${counts.questions} questions wait`}</li>`}
        </ul>
        <span id="delay" class="quiet" title="Round trip to this agent, and the age of its newest data"></span>
      </header>`;
  },
  watch: {
    counts: {
      immediate: true,
      /** @param {{ safe: number, questions: number }} counts */
      handler({ safe, questions }) {
        window.curiosity.attention({ mode: safe ? 'SAFE' : 'IDLE', open: questions });
      },
    },
  },
});
