// A mixin: whether the page looks back. It then sends nothing to the rover but a stop; the agent refuses
// the rest, too. The event time-shown comes from time_bar.js.
import { defineComponent } from 'vue';

export const looksBack = defineComponent({
  data: () => ({ past: false }),
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
