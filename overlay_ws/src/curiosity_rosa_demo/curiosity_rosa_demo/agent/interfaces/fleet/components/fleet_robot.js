// One robot of the fleet: state, question, picture, and the result of the last stop for all. Its name
// leads to its page, and so does a click anywhere on it.
import { LivePicture } from 'curiosity/live_picture.js';
import { defineComponent, markRaw } from 'vue';

/** @import { PropType } from 'vue' */

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
    STALE_S,
  }),
  computed: {
    // A loopback address is that of the agent's machine, which this browser reaches under the name of this page.
    /** @returns {string} */
    url() {
      const url = new URL(this.facts.url);
      if (['127.0.0.1', 'localhost', '[::1]'].includes(url.hostname)) url.hostname = location.hostname;
      return url.href;
    },
    /** @returns {string} */
    sign() {
      return SIGNS[this.facts.link];
    },
  },
  template: `
    <article class="robot" :data-link="facts.link" :aria-label="'Robot ' + facts.name">
      <div class="top">
        <h2><a :href="url">{{ facts.name }}</a></h2>
        <dl v-if="facts.mode"><div class="fact mode" :data-mode="facts.mode"><dt class="sr">Mode</dt><dd>{{ facts.mode }}</dd></div></dl>
        <p class="connection"><span aria-hidden="true">{{ sign }}</span> {{ facts.link }}
          <span v-if="facts.link !== 'waiting'" class="age" :data-age="facts.age" :data-limit="facts.limit"></span></p>
      </div>
      <p v-if="facts.failure" class="warning">▲ {{ facts.failure }}</p>
      <p v-if="facts.stop" class="stopped" :class="{ failed: !facts.stop.ok }" role="status">{{ facts.stop.text }}</p>
      <p v-for="(question, index) in facts.questions" :key="index" class="question">{{ question }} <a :href="url">Answer on the page of {{ facts.name }}</a></p>
      <div class="state">
        <p v-if="facts.mode" class="doing" :title="facts.doing">{{ facts.doing }}</p>
        <dl v-if="facts.facts">
          <div v-for="row in facts.facts" :key="row.name" class="fact" :class="{ bad: row.bad }"><dt>{{ row.name }}</dt><dd>{{ row.text }}</dd></div>
        </dl>
        <div class="frame">
          <img v-if="source" :src="source" :alt="'Camera image of ' + facts.name" />
          <p v-else class="quiet">{{ words }}</p>
          <span v-if="source" class="age-of-frame" :data-stale="age > STALE_S || facts.link !== 'live' ? '' : null">{{ age.toFixed(0) }} s old</span>
        </div>
      </div>
    </article>`,
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
