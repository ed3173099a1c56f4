// What the camera sees now, and what came of the last capture.
import { LivePicture } from 'curiosity/live_picture.js';
import { defineComponent, markRaw } from 'vue';

/** @import { PropType } from 'vue' */

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
  template: `
    <figure class="camera">
      <div class="frame">
        <template v-if="facts.past">
          <img v-if="last" :src="'/page/captures/' + encodeURIComponent(last.id) + '.jpg'" alt="The last capture before the time that is shown" />
          <p class="words">{{ last ? 'Capture of ' + time(last.at) : 'No capture before this time' }}</p>
        </template>
        <img v-else-if="source" :src="source" :alt="facts.replay ? 'Camera image of a recording' : 'Live camera image'" />
        <p v-if="words && !facts.past" class="words">{{ words }}</p>
        <span class="age-of-frame" v-if="facts.past" data-recorded>looking back</span>
        <span class="age-of-frame" v-else-if="facts.replay" data-recorded>recorded</span>
        <span class="age-of-frame" v-else-if="age !== null" :data-stale="stale ? '' : null">{{ age.toFixed(1) }} s old</span>
      </div>
      <figcaption v-if="last">
        Last capture: score {{ last.score.toFixed(2) }}
        <strong :class="last.good ? 'good' : 'poor'">{{ last.good ? '✓ good' : '✗ too dark' }}</strong>
      </figcaption>
      <figcaption v-else>No capture yet</figcaption>
    </figure>`,
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
    /** @param {number} moment */
    time: (moment) => window.curiosity.time(moment),
    path() {
      const { width, height } = this.$el.getBoundingClientRect();
      const pixels = Math.min(4096, Math.max(64, Math.ceil(Math.max(width, height) * devicePixelRatio)));
      return `/page/frame.jpg?px=${pixels}`;
    },
  },
});
