// A mixin: whether the page looks back. It then sends nothing to the rover but a stop; the agent refuses
// the rest, too. The event time-shown comes from time_bar.js.
import { defineComponent } from 'vue';

let past = false; // also for a component that comes while the page looks back
window.addEventListener('time-shown', (event) => {
  past = event.detail.at !== null;
});

export const looksBack = defineComponent({
  data: () => ({ past }),
  mounted() {
    window.addEventListener('time-shown', this.lookedBack);
  },
  unmounted() {
    window.removeEventListener('time-shown', this.lookedBack);
  },
  methods: {
    /** @param {WindowEventMap['time-shown']} event */
    lookedBack(event) {
      this.past = event.detail.at !== null;
    },
  },
});
