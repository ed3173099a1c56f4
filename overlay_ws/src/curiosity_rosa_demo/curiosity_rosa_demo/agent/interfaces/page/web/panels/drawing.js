// A drawing made by the server, which escapes all text in it. It is drawn in pixels for the place
// that it has here, so that its text keeps its size.
const SETTLE_MS = 100; // a panel that is being resized asks for one drawing

import { pickCapture } from '../modules/captures.js';
import { html } from '../modules/html.js';
import { keptFocus } from '../modules/kept_focus.js';
import { setLook } from '../modules/shown.js';
import { defineComponent, markRaw } from '../vendor/vue.js';

/** @import { PropType } from '../vendor/vue.js' */

export default defineComponent({
  mixins: [keptFocus],
  props: {
    facts: { type: /** @type {PropType<DrawingFacts>} */ (Object), default: null },
    label: { type: String, required: true },
    name: { type: String, required: true },
  },
  data: () => ({
    settle: 0,
    /** @type {ResizeObserver | null} */
    watcher: null,
  }),
  render() {
    return html`
      <figure class="drawing" aria-label=${this.label}>
        <div ref="place" innerHTML=${this.facts?.svg ?? ''} onClick=${this.pick} onKeydown=${this.key}></div>
      </figure>`;
  },
  mounted() {
    this.showLocalTime();
    this.watcher = markRaw(
      new ResizeObserver(() => {
        clearTimeout(this.settle);
        this.settle = setTimeout(this.ask, SETTLE_MS);
      }),
    );
    this.watcher.observe(this.place());
    this.ask();
  },
  unmounted() {
    this.watcher?.disconnect();
    clearTimeout(this.settle);
  },
  updated() {
    this.showLocalTime();
  },
  methods: {
    place() {
      return /** @type {HTMLElement} */ (this.$refs.place);
    },
    ask() {
      const { clientWidth: width, clientHeight: height } = this.place();
      if (width > 0) setLook(this.name, { width, height });
    },
    // In the time zone of this browser, like the rest of the page.
    showLocalTime() {
      for (const label of this.$el.querySelectorAll('[data-at]')) {
        const [at, step] = [Number(label.dataset.at), Number(label.dataset.step)];
        const time = window.curiosity.time(at);
        if (step < 86400) label.textContent = step < 60 ? time : time.slice(0, 5);
      }
    },
    /** @param {KeyboardEvent} event */
    key(event) {
      if (event.key === ' ') event.preventDefault();
      if (event.key === 'Enter' || event.key === ' ') this.pick(event);
    },
    /** @param {Event} event */
    pick(event) {
      const shape = event.target instanceof Element ? event.target.closest('[data-event]') : null;
      if (shape instanceof SVGElement) pickCapture(shape.dataset.event);
    },
  },
});
