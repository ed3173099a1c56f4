// The heartbeat of every update, the round trip to the agent, and the second path of a stop.
const ECHO_MS = 2000;

export default {
  template: '<span hidden></span>',
  emits: ['stop', 'echo'],
  mounted() {
    this.again = () => this.$emit('stop');
    window.addEventListener('stop-again', this.again);
    window.curiosity.showPanels();
    this.timer = setInterval(() => document.hidden || this.$emit('echo', performance.now()), ECHO_MS);
    this.$emit('echo', performance.now());
  },
  unmounted() {
    clearInterval(this.timer);
    window.removeEventListener('stop-again', this.again);
  },
  methods: {
    beat(beat) {
      window.curiosity.beat(beat);
    },
    echoed(sent) {
      if (typeof sent === 'number') window.curiosity.roundTrip((performance.now() - sent) / 1000);
    },
    stopped(ok, words) {
      window.dispatchEvent(new CustomEvent('stop-answered', { detail: { ok, words } }));
    },
  },
};
