// A drawing made by the server, which escapes all text in it. It is drawn in pixels for the place
// that it has here, so that its text keeps its size.
const SETTLE_MS = 100; // a panel that is being resized asks for one drawing

export default {
  mixins: [window.curiosity.keptFocus],
  props: { facts: Object, label: String },
  emits: ['pick', 'look'],
  template: `
    <figure class="drawing" :aria-label="label">
      <div ref="place" v-html="facts.svg" @click="pick" @keydown.enter="pick" @keydown.space.prevent="pick"></div>
    </figure>`,
  mounted() {
    this.showLocalTime();
    this.watcher = new ResizeObserver(() => {
      clearTimeout(this.settle);
      this.settle = setTimeout(this.ask, SETTLE_MS);
    });
    this.watcher.observe(this.$refs.place);
    this.ask();
  },
  unmounted() {
    this.watcher.disconnect();
    clearTimeout(this.settle);
  },
  updated() {
    this.showLocalTime();
  },
  methods: {
    ask() {
      const { clientWidth: width, clientHeight: height } = this.$refs.place;
      if (width > 0) this.$emit('look', { width, height });
    },
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
