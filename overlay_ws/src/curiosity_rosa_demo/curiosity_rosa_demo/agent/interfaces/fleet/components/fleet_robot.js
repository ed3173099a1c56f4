// One robot of the fleet: state, question, picture, and the result of the last stop for all. Its name
// leads to its page, and so does a click anywhere on it.
const STALE_S = 5;
const PERIOD_S = 1;

export default {
  props: { facts: Object, robots: Number },
  data: () => ({ source: '', words: 'no picture yet', age: null }),
  computed: {
    // A loopback address is that of the agent's machine, which this browser reaches under the name of this page.
    url() {
      const url = new URL(this.facts.url);
      if (['127.0.0.1', 'localhost', '[::1]'].includes(url.hostname)) url.hostname = location.hostname;
      return url.href;
    },
    sign() {
      return { live: '●', lost: '✕', waiting: '○' }[this.facts.link];
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
  created() {
    this.STALE_S = STALE_S;
  },
  mounted() {
    this.seen = true;
    this.came = null; // when the frame that is shown came, seconds since the epoch of the server
    this.watcher = new IntersectionObserver((entries) => (this.seen = entries.at(-1).isIntersecting));
    this.watcher.observe(this.$el);
    this.makeRoom = () => this.asking?.abort();
    window.addEventListener('stopping', this.makeRoom);
    this.timer = setInterval(this.grow, 1000);
    this.requestFrame();
    window.curiosity.refresh();
  },
  updated() {
    window.curiosity.refresh(); // the template may have replaced an age
  },
  unmounted() {
    this.ended = true;
    clearInterval(this.timer);
    clearTimeout(this.next);
    this.watcher.disconnect();
    window.removeEventListener('stopping', this.makeRoom);
    this.makeRoom();
    URL.revokeObjectURL(this.source);
  },
  methods: {
    grow() {
      if (this.came !== null) this.age = Math.max(0, window.curiosity.now() - this.came);
    },
    async requestFrame() {
      // All open pages together send 25 requests a second at most, as the page of one robot.
      const wait = 1000 * Math.max(PERIOD_S, 0.04 * this.robots * window.curiosity.pages());
      if (this.seen && !document.hidden && this.facts.link !== 'lost') {
        this.asking = new AbortController();
        try {
          await this.show(await fetch(`/fleet/${this.facts.name}/frame.jpg`, { cache: 'no-store', priority: 'low', signal: this.asking.signal }));
        } catch { /* a stop is pending, or the server is gone */ }
      }
      if (!this.ended) this.next = setTimeout(this.requestFrame, wait);
    },
    async show(answer) {
      if (answer.status !== 200) {
        this.words = answer.headers.get('x-problem') || `no picture: status ${answer.status}`;
        return;
      }
      const frame = URL.createObjectURL(await answer.blob());
      URL.revokeObjectURL(this.source);
      this.source = frame;
      this.came = Number(answer.headers.get('x-timestamp'));
      this.grow();
    },
  },
};
