// The newest frame, requested one at a time while the panel is visible. A stream would occupy a
// connection that a stop may need.
const STALE_S = 2;

export default {
  props: { facts: Object, period: Number },
  data: () => ({ source: '', words: 'no picture yet', age: null, stale: false }),
  computed: {
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
    this.seen = true;
    this.came = null; // when the frame that is shown came, seconds since the epoch of the server
    this.watcher = new IntersectionObserver((entries) => (this.seen = entries.at(-1).isIntersecting));
    this.watcher.observe(this.$el);
    this.makeRoom = () => this.asking?.abort();
    window.addEventListener('stopping', this.makeRoom);
    this.timer = setInterval(this.grow, 200);
    this.requestFrame();
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
      this.age = this.came === null ? null : Math.max(0, window.curiosity.now() - this.came);
      this.stale = !window.curiosity.live() || this.age > STALE_S;
    },
    async requestFrame() {
      const began = performance.now();
      // All open pages together send 25 requests a second at most, and leave room for other clients.
      let wait = 1000 * Math.max(this.period, 0.04 * window.curiosity.pages());
      if (this.seen && !document.hidden && !this.facts.past) {
        this.asking = new AbortController();
        try {
          wait = Math.max(wait, await this.show(await fetch('/page/frame.jpg?px=' + this.pixels(), { cache: 'no-store', priority: 'low', signal: this.asking.signal })));
        } catch {
          wait = 1000; // a stop is pending, or the server is gone
        }
      }
      if (!this.ended) this.next = setTimeout(this.requestFrame, Math.max(20, wait - (performance.now() - began)));
    },
    time: (moment) => window.curiosity.time(moment),
    pixels() {
      const { width, height } = this.$el.getBoundingClientRect();
      return Math.min(4096, Math.max(64, Math.ceil(Math.max(width, height) * devicePixelRatio)));
    },
    async show(answer) {
      if (answer.status !== 200) {
        this.words = answer.headers.get('x-problem') || `no picture: status ${answer.status}`;
        return 1000 * (Number(answer.headers.get('retry-after')) || 1);
      }
      const frame = URL.createObjectURL(await answer.blob());
      URL.revokeObjectURL(this.source);
      this.source = frame;
      this.words = '';
      this.came = Number(answer.headers.get('x-timestamp'));
      return 0;
    },
  },
};
