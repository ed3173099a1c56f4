// A mixin for a drawing: it is drawn in pixels for the place that it has, so that its text keeps its size.
import { defineComponent, markRaw } from '../vendor/vue.js';
import { pickCapture } from './captures.js';

export const sized = defineComponent({
  data: () => ({
    box: { width: 480, height: 400 }, // until it is measured
    /** @type {ResizeObserver | null} */
    watcher: null,
  }),
  mounted() {
    const place = /** @type {HTMLElement} */ (this.$refs.place);
    this.watcher = markRaw(
      new ResizeObserver(() => {
        const { clientWidth: width, clientHeight: height } = place;
        if (width > 0) this.box = { width, height };
      }),
    );
    this.watcher.observe(place);
  },
  unmounted() {
    this.watcher?.disconnect();
  },
  methods: {
    /** The capture that a person has chosen by its mark. @param {Event} event */
    pick(event) {
      if (event instanceof KeyboardEvent && event.key !== 'Enter' && event.key !== ' ') return;
      const shape = event.target instanceof Element ? event.target.closest('[data-event]') : null;
      if (!(shape instanceof SVGElement)) return;
      event.preventDefault();
      pickCapture(shape.dataset.event);
    },
  },
});
