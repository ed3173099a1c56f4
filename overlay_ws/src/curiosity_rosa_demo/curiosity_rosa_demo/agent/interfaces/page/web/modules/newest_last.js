// A mixin for a list whose newest entry is the last: it stays at its end until somebody scrolls
// back, or while the pointer or the focus is on what `holds` selects in it. It is one stop of the tab key:
// the arrow keys move between what `stops` selects in it.
import { defineComponent, markRaw } from '../vendor/vue.js';

const NEAR_PX = 40; // as near to the end counts as at the end

export const newestLast = defineComponent({
  data: () => ({
    follows: true,
    top: 0,
    /** @type {ResizeObserver | null} */
    watcher: null,
  }),
  mounted() {
    this.toEnd();
    // A list that grows or was hidden stays at its newest entry.
    this.watcher = markRaw(new ResizeObserver(this.follow));
    this.watcher.observe(this.list());
  },
  unmounted() {
    this.watcher?.disconnect();
  },
  methods: {
    list() {
      return /** @type {HTMLElement} */ (this.$refs.list);
    },
    scrolled() {
      const list = this.list();
      const back = list.scrollTop < this.top; // an entry that comes moves the end, not the reader
      this.top = list.scrollTop;
      if (list.scrollTop + list.clientHeight >= list.scrollHeight - NEAR_PX) this.follows = true;
      else if (back) this.follows = false;
    },
    async grown() {
      await this.$nextTick();
      this.follow();
    },
    follow() {
      if (this.follows && !this.isHeld()) this.toEnd();
    },
    /** Whether a person uses a part of the list, which must not move away then. */
    isHeld() {
      const { holds } = this.$options;
      return Boolean(holds && this.list().querySelector(`${holds}:hover, ${holds}:focus-within`));
    },
    toEnd() {
      const list = this.list();
      list.scrollTop = list.scrollHeight;
      this.top = list.scrollTop;
    },
    jump() {
      this.follows = true;
      this.toEnd();
      this.list().focus();
    },
    /** @param {number} by entries */
    move(by) {
      /** @type {HTMLElement[]} */
      const entries = [...this.list().querySelectorAll(this.$options.stops)];
      if (!entries.length) return;
      const at = entries.indexOf(/** @type {HTMLElement} */ (document.activeElement));
      const next = at < 0 ? entries.length - 1 : at + by;
      entries[Math.min(entries.length - 1, Math.max(0, next))].focus();
    },
  },
});
