// A mixin: whether the page looks back. It then sends nothing to the rover but a stop; the agent refuses
// the rest, too. The event time-shown comes from time_bar.js.
window.curiosity.looksBack = {
  data: () => ({ past: false }),
  mounted() {
    this.timeShown = (event) => (this.past = event.detail.at !== null);
    window.addEventListener('time-shown', this.timeShown);
  },
  unmounted() {
    window.removeEventListener('time-shown', this.timeShown);
  },
};
