// The heartbeat of every update, and the second path of a stop.
export default {
  template: '<span hidden></span>',
  emits: ['stop'],
  mounted() {
    this.again = () => this.$emit('stop');
    window.addEventListener('stop-again', this.again);
  },
  unmounted() {
    window.removeEventListener('stop-again', this.again);
  },
  methods: {
    beat(beat) {
      window.curiosity.beat(beat);
    },
    stopped(ok, words) {
      window.dispatchEvent(new CustomEvent('stop-answered', { detail: { ok, words } }));
    },
  },
};
