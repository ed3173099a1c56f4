// One robot of the fleet: state, question, picture, and the result of the last stop for all. Its name
// leads to its page, and so does a click anywhere on it.
import { html } from '../modules/html.js';
import { LivePicture } from '../modules/live_picture.js';
import { defineComponent, markRaw } from '../vendor/vue.js';

/** @import { PropType } from '../vendor/vue.js' */

const STALE_S = 5;
const PERIOD_S = 1;
const SIGNS = { live: '●', lost: '✕', waiting: '○' };

export default defineComponent({
  props: {
    facts: { type: /** @type {PropType<FleetRobotFacts>} */ (Object), required: true },
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
      const url = new URL(this.facts.url);
      if (['127.0.0.1', 'localhost', '[::1]'].includes(url.hostname)) url.hostname = location.hostname;
      return url.href;
    },
  },
  render() {
    const { facts, url } = this;
    return html`
      <article class="robot" data-link=${facts.link} aria-label=${`Robot ${facts.name}`}>
        <div class="top">
          <h2><a href=${url}>${facts.name}</a></h2>
          ${facts.mode && html`<dl><div class="fact mode" data-mode=${facts.mode}><dt class="sr">Mode</dt><dd>${facts.mode}</dd></div></dl>`}
          <p class="connection"><span aria-hidden="true">${SIGNS[facts.link]}</span> ${facts.link}${' '}
            ${facts.link !== 'waiting' && html`<span class="age" data-age=${facts.age} data-limit=${facts.limit}></span>`}</p>
        </div>
        ${facts.failure && html`<p class="warning">▲ ${facts.failure}</p>`}
        ${facts.stop && html`<p class=${['stopped', { failed: !facts.stop.ok }]} role="status">${facts.stop.text}</p>`}
        ${facts.questions?.map((question) => html`<p class="question">${question} <a href=${url}>Answer on the page of ${facts.name}</a></p>`)}
        <div class="state">
          ${facts.mode && html`<p class="doing" title=${facts.doing}>${facts.doing}</p>`}
          ${facts.facts && html`<dl>${facts.facts.map((row) => html`<div key=${row.name} class=${['fact', { bad: row.bad }]}><dt>${row.name}</dt><dd>${row.text}</dd></div>`)}</dl>`}
          <div class="frame">
            ${this.source ? html`<img src=${this.source} alt=${`Camera image of ${facts.name}`} />` : html`<p class="quiet">${this.words}</p>`}
            ${this.source && html`<span class="age-of-frame" data-stale=${(this.age ?? 0) > STALE_S || facts.link !== 'live' ? '' : null}>${(this.age ?? 0).toFixed(0)} s old</span>`}
          </div>
        </div>
      </article>`;
  },
  mounted() {
    this.timer = setInterval(this.grow, 1000);
    const options = {
      path: () => `/fleet/${this.facts.name}/frame.jpg`,
      period: () => PERIOD_S,
      cameras: () => this.robots,
      wanted: () => this.facts.link !== 'lost',
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
