// A mixin for drawings of the server: a new one replaces its shapes, so the keyboard focus moves to
// the new shape of the same event.
window.curiosity.keptFocus = {
  beforeUpdate() {
    const focused = this.$el.contains(document.activeElement) && document.activeElement;
    this.focusedEvent = focused ? focused.dataset.event : undefined;
  },
  updated() {
    if (this.focusedEvent === undefined) return;
    for (const shape of this.$el.querySelectorAll('[data-event]')) {
      if (shape.dataset.event === this.focusedEvent) shape.focus();
    }
  },
};
