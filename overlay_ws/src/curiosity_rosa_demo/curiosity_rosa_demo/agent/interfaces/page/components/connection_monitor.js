// The heartbeat of every update, the round trip to the agent, and the second path of a stop.
import { defineComponent } from 'vue';

const ECHO_MS = 2000;

export default defineComponent({
  template: '<span hidden></span>',
  emits: ['stop', 'echo'],
  data: () => ({ timer: 0 }),
  mounted() {
    window.addEventListener('stop-again', this.again);
    window.curiosity.showPanels();
    this.timer = setInterval(() => document.hidden || this.echo(), ECHO_MS);
    this.echo();
  },
  unmounted() {
    clearInterval(this.timer);
    window.removeEventListener('stop-again', this.again);
  },
  methods: {
    again() {
      this.$emit('stop');
    },
    echo() {
      this.$emit('echo', performance.now());
    },
    /** @param {Beat} beat */
    beat(beat) {
      window.curiosity.beat(beat);
    },
    /** @param {unknown} sent when, as the event echo told it */
    echoed(sent) {
      if (typeof sent === 'number') window.curiosity.roundTrip((performance.now() - sent) / 1000);
    },
    /**
     * @param {boolean} ok
     * @param {string} words
     */
    stopped(ok, words) {
      window.dispatchEvent(new CustomEvent('stop-answered', { detail: { ok, words } }));
    },
  },
});
