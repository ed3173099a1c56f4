// A drawing that the server made: all text in it is escaped there.
export default {
  props: { facts: Object, label: String },
  emits: ['pick'],
  template: `
    <figure class="drawing" :aria-label="label">
      <div v-html="facts.svg" @click="pick" @keydown.enter="pick" @keydown.space.prevent="pick"></div>
    </figure>`,
  mounted() { this.tellTime(); },
  updated() { this.tellTime(); },
  methods: {
    tellTime() {  // as this browser has it, like everything else on the page
      for (const label of this.$el.querySelectorAll('[data-at]')) {
        const { at, step } = label.dataset;
        const time = window.curiosity.time(at);
        if (step < 86400) label.textContent = step < 60 ? time : time.slice(0, 5);
      }
    },
    pick(event) {
      const shape = event.target.closest('[data-event]');
      if (shape) this.$emit('pick', shape.dataset.event);
    },
  },
};
