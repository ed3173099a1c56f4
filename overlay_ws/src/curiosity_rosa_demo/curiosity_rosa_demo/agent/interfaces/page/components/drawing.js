// A drawing made by the server, which escapes all text in it.
export default {
  props: { facts: Object, label: String },
  emits: ['pick'],
  template: `
    <figure class="drawing" :aria-label="label">
      <div v-html="facts.svg" @click="pick" @keydown.enter="pick" @keydown.space.prevent="pick"></div>
    </figure>`,
  mounted() { this.showLocalTime(); },
  updated() { this.showLocalTime(); },
  methods: {
    showLocalTime() {  // in the time zone of this browser, like the rest of the page
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
