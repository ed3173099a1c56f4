// A mixin for a list whose newest entry is the last: it stays at its end until somebody scrolls
// back. It is one stop of the tab key: the arrow keys move between what `stops` selects in it.
window.curiosity.newestLast = {
  data: () => ({ follows: true }),
  created() {
    this.top = 0;
  },
  mounted() {
    this.toEnd();
    // A list that grows or was hidden stays at its newest entry.
    this.watcher = new ResizeObserver(() => this.follows && this.toEnd());
    this.watcher.observe(this.$refs.list);
  },
  unmounted() {
    this.watcher.disconnect();
  },
  methods: {
    scrolled() {
      const nearPx = 40; // as near to the end counts as at the end
      const list = this.$refs.list;
      const back = list.scrollTop < this.top; // an entry that comes moves the end, not the reader
      this.top = list.scrollTop;
      if (list.scrollTop + list.clientHeight >= list.scrollHeight - nearPx) this.follows = true;
      else if (back) this.follows = false;
    },
    grown() {
      if (this.follows) this.$nextTick(this.toEnd);
    },
    toEnd() {
      const list = this.$refs.list;
      list.scrollTop = list.scrollHeight;
      this.top = list.scrollTop;
    },
    jump() {
      this.follows = true;
      this.toEnd();
      this.$refs.list.focus();
    },
    move(by) {
      const entries = [...this.$refs.list.querySelectorAll(this.$options.stops)];
      if (!entries.length) return;
      const at = entries.indexOf(document.activeElement);
      const next = at < 0 ? entries.length - 1 : at + by;
      entries[Math.min(entries.length - 1, Math.max(0, next))].focus();
    },
  },
};
