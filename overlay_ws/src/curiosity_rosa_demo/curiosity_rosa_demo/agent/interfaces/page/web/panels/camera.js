// What the camera sees now, and what came of the last capture.

import { captureUrl } from '../modules/captures.js';
import { html } from '../modules/html.js';
import { LivePicture } from '../modules/live_picture.js';
import { defineComponent, markRaw } from '../vendor/vue.js';

/** @import { PropType } from '../vendor/vue.js' */

const STALE_S = 2;

export default defineComponent({
  props: {
    facts: { type: /** @type {PropType<CapturesFacts>} */ (Object), required: true },
    period: { type: Number, required: true }, // seconds between two frames
  },
  data: () => ({
    source: '',
    words: '',
    /** @type {number | null} */
    age: null,
    stale: false,
    timer: 0,
    /** @type {LivePicture | null} */
    picture: null,
  }),
  computed: {
    /** @returns {CaptureRow | undefined} */
    last() {
      return this.facts.rows[0];
    },
  },
  render() {
    const { facts, last, age } = this;
    const recorded = facts.past ? 'looking back' : facts.replay && 'recorded';
    return html`
      <figure class="camera">
        <div class="frame">
          ${facts.past && last && html`<img src=${captureUrl(last.id)} alt="The last capture before the time that is shown" />`}
          ${facts.past && html`<p class="words">${last ? `Capture of ${window.curiosity.time(last.at)}` : 'No capture before this time'}</p>`}
          ${!facts.past && this.source && html`<img src=${this.source} alt=${facts.replay ? 'Camera image of a recording' : 'Live camera image'} />`}
          ${!facts.past && this.words && html`<p class="words">${this.words}</p>`}
          ${recorded && html`<span class="age-of-frame" data-recorded="">${recorded}</span>`}
          ${!recorded && age !== null && html`<span class="age-of-frame" data-stale=${this.stale ? '' : null}>${age.toFixed(1)} s old</span>`}
        </div>
        ${
          last
            ? html`<figcaption>Last capture: score ${last.score.toFixed(2)} <strong class=${last.good ? 'good' : 'poor'}>${last.good ? '✓ good' : '✗ too dark'}</strong></figcaption>`
            : html`<figcaption>No capture yet</figcaption>`
        }
      </figure>`;
  },
  mounted() {
    this.timer = setInterval(this.grow, 200);
    const wanted = () => !this.facts.past;
    const options = { path: this.path, period: () => this.period, wanted, changed: this.grow };
    this.picture = markRaw(new LivePicture(this.$el, options));
    this.grow();
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
      this.stale = !window.curiosity.live() || (this.age ?? 0) > STALE_S;
    },
    path() {
      const { width, height } = this.$el.getBoundingClientRect();
      const pixels = Math.min(4096, Math.max(64, Math.ceil(Math.max(width, height) * devicePixelRatio)));
      return `/page/frame.jpg?px=${pixels}`;
    },
  },
});
