// A mixin for what is drawn anew or in another order: the keyboard focus stays with the element of the
// same event, or of what the data attribute that `keeps` names tells.
window.curiosity.keptFocus = {
  created() {
    this.kept = this.$options.keeps ?? 'event';
  },
  beforeUpdate() {
    const focused = this.$el.contains(document.activeElement) && document.activeElement;
    this.focused = focused ? focused.dataset[this.kept] : undefined;
  },
  updated() {
    if (this.focused === undefined) return;
    for (const shape of this.$el.querySelectorAll(`[data-${this.kept}]`)) {
      if (shape.dataset[this.kept] === this.focused) shape.focus();
    }
  },
};
