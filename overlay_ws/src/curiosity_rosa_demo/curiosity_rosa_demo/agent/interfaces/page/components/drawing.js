// A drawing made by the server, which escapes all text in it.
export default {
  props: { facts: Object, label: String },
  emits: ['pick'],
  template: `
    <figure class="drawing" :aria-label="label">
      <div v-html="facts.svg" @click="pick" @keydown.enter="pick" @keydown.space.prevent="pick"></div>
    </figure>`,
  mounted() { this.showLocalTime(); },
  beforeUpdate() {  // a new drawing replaces its shapes, so the keyboard focus has to move to the new one
    const focused = this.$el.contains(document.activeElement) && document.activeElement;
    this.focusedEvent = focused ? focused.dataset.event : undefined;
  },
  updated() {
    this.showLocalTime();
    if (this.focusedEvent === undefined) return;
    for (const shape of this.$el.querySelectorAll('[data-event]')) {
      if (shape.dataset.event === this.focusedEvent) shape.focus();
    }
  },
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
