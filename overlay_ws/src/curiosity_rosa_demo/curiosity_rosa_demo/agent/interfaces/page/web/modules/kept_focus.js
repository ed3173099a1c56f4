// A mixin for what is drawn anew or in another order: the keyboard focus stays with the element of the
// same event, or of what the data attribute that `keeps` names tells.
import { defineComponent } from '../vendor/vue.js';

export const keptFocus = defineComponent({
  data: () => ({
    /** @type {string | undefined} */
    focused: undefined,
  }),
  computed: {
    /** @returns {string} */
    kept() {
      return this.$options.keeps ?? 'event';
    },
  },
  beforeUpdate() {
    const focused = document.activeElement;
    this.focused =
      focused instanceof HTMLElement || focused instanceof SVGElement
        ? this.$el.contains(focused)
          ? focused.dataset[this.kept]
          : undefined
        : undefined;
  },
  updated() {
    if (this.focused === undefined) return;
    for (const shape of this.$el.querySelectorAll(`[data-${this.kept}]`)) {
      if (shape.dataset[this.kept] === this.focused) shape.focus();
    }
  },
});
