// The map: wheel and pinch zoom, drag, follow; a click or a long press proposes a goal, Enter orders
// it. By keyboard: arrows move the cross in the middle, + and - zoom, Enter points at the cross.
const SETTLE_MS = 60; // between two requests while a person drags or zooms
const CLICK_PX = 6; // a pointer that moved less has clicked
const ZOOM = 1.25;
const PAN_PX = 40;
// The server draws in these steps, so one metre is the same here and there.
const STEP_PX = 8;
const LEAST_PX = 120;

import { orderGoal, proposeGoal } from '../modules/acts.js';
import { pickCapture } from '../modules/captures.js';
import { html } from '../modules/html.js';
import { keptFocus } from '../modules/kept_focus.js';
import { frame, zoomed } from '../modules/map_view.js';
import { setLook, shown } from '../modules/shown.js';
import { defineComponent, markRaw } from '../vendor/vue.js';

/** @import { PropType } from '../vendor/vue.js' */
/** @import { Centre, Frame, Point } from '../modules/map_view.js' */

/**
 * @typedef {'drive' | 'face'} What
 * @typedef {{ x: number, y: number, what: What | null, lines: string[], path: Point[], ok: boolean | null }} Goal
 *   what a person points at. `ok`: whether it may be ordered; null: not known yet
 */

export default defineComponent({
  mixins: [keptFocus],
  props: {
    facts: { type: /** @type {PropType<DrawingFacts>} */ (Object), default: null },
    label: { type: String, required: true },
  },
  data: () => ({
    /** @type {Centre | null} null shows all */
    centre: null,
    follows: false,
    /** @type {Goal | null} */
    goal: null,
    box: { width: 1, height: 1 },
    keys: false,
    number: 0, // of the newest proposal
    pointers: markRaw(/** @type {Map<number, Point>} */ (new Map())),
    /** @type {EventTarget | null} */
    pressed: null,
    travel: 0, // pixels
    settle: 0,
    /** @type {ResizeObserver | null} */
    watcher: null,
  }),
  computed: {
    past: () => shown.looksBack(),
    /** @returns {Record<string, string>} */
    size() {
      return { width: `${this.box.width}px`, height: `${this.box.height}px` };
    },
    /** @returns {Frame | null} */
    drawn() {
      return this.facts?.view ? frame(this.facts.view, this.box) : null;
    },
    /** @returns {Point | null} */
    goalAt() {
      return this.goal && this.drawn ? this.drawn.pixels(this.goal.x, this.goal.y) : null;
    },
    /** @returns {string} */
    path() {
      const { drawn, goal } = this;
      return drawn && goal ? goal.path.map(([x, y]) => drawn.pixels(x, y).join(',')).join(' ') : '';
    },
  },
  render() {
    const { size, goalAt, goal, box } = this;
    const [x, y] = this.middle();
    return html`
      <figure class="drawing world" aria-label=${this.label}>
        <div ref="place" class="terrain" tabindex="0" role="application"
          aria-label="Map. Arrows move, plus and minus zoom, 0 shows all, F follows the rover, Enter points at the middle."
          onWheel=${this.wheel} onPointerdown=${this.down} onPointermove=${this.moved} onPointerup=${this.up} onPointercancel=${this.up}
          onKeydown=${this.key} onFocus=${() => this.setKeys(true)} onBlur=${() => this.setKeys(false)}>
          <div class="drawn" style=${size} innerHTML=${this.facts?.svg ?? ''}></div>
          <svg class="overlay" style=${size} aria-hidden="true" viewBox=${`0 0 ${box.width} ${box.height}`}>
            ${this.path && html`<polyline points=${this.path} class="cr-forecast" />`}
            ${goalAt && html`<g class="cr-goal"><circle cx=${goalAt[0]} cy=${goalAt[1]} r="9" /></g>`}
            ${this.keys && html`<path class="cross" d=${`M${x - 10} ${y}H${x + 10}M${x} ${y - 10}V${y + 10}`} />`}
          </svg>
        </div>
        <div class="map-tools" role="group" aria-label="Map view">
          <button type="button" class="small" aria-label="Zoom in" onClick=${() => this.zoom(1.5)}>+</button>
          <button type="button" class="small" aria-label="Zoom out" onClick=${() => this.zoom(1 / 1.5)}>−</button>
          <button type="button" class="small" aria-pressed=${!this.centre} onClick=${this.all}>All</button>
          <button type="button" class="small" aria-pressed=${this.follows} onClick=${this.follow}>Follow</button>
        </div>
        ${goal && this.card(goal)}
      </figure>`;
  },
  watch: {
    past() {
      this.goal = null; // it was chosen on the map of another time
    },
  },
  mounted() {
    this.watcher = markRaw(
      new ResizeObserver(() => {
        const { clientWidth, clientHeight } = this.place();
        const [width, height] = [clientWidth, clientHeight].map((pixels) =>
          Math.max(LEAST_PX, pixels - (pixels % STEP_PX)),
        );
        if (clientWidth > 0) this.box = { width, height };
        this.ask();
      }),
    );
    this.watcher.observe(this.place());
  },
  unmounted() {
    this.watcher?.disconnect();
    clearTimeout(this.settle);
  },
  methods: {
    place() {
      return /** @type {HTMLElement} */ (this.$refs.place);
    },
    ask() {
      if (this.settle) return;
      this.settle = setTimeout(() => {
        this.settle = 0;
        if (this.box.width > 1) setLook('map', { ...this.box, ...(this.centre ?? {}), follows: this.follows });
      }, SETTLE_MS);
    },
    /** @param {Centre | null} centre */
    show(centre) {
      this.centre = centre;
      this.ask();
    },
    /**
     * @param {MouseEvent} event
     * @returns {Point}
     */
    at(event) {
      const box = this.place().getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    },
    // What is asked for and not yet drawn counts, so that quick turns of the wheel add up.
    /** @returns {Frame | null} */
    current() {
      if (!this.centre || this.follows || !this.drawn) return this.drawn;
      const { x, y, scale } = this.centre;
      const [wide, high] = [this.box.width / scale / 2, this.box.height / scale / 2];
      return frame([x - wide, x + wide, y - high, y + high], this.box);
    },
    /**
     * @param {number} factor
     * @param {Point} [about] the middle without it
     */
    zoom(factor, about) {
      const shown = this.current();
      if (shown) this.show(zoomed(shown, factor, about ?? this.middle()));
    },
    /**
     * @param {number} across pixels
     * @param {number} down
     */
    pan(across, down) {
      const shown = this.current();
      if (!shown) return;
      this.follows = false;
      this.show({ x: shown.x - across / shown.scale, y: shown.y + down / shown.scale, scale: shown.scale });
    },
    /** @param {WheelEvent} event */
    wheel(event) {
      event.preventDefault();
      this.zoom(event.deltaY < 0 ? ZOOM : 1 / ZOOM, this.at(event));
    },
    all() {
      this.follows = false;
      this.show(null);
    },
    follow() {
      this.follows = !this.follows;
      const shown = this.current();
      if (shown) this.show({ x: shown.x, y: shown.y, scale: shown.scale });
    },
    /** @param {PointerEvent} event */
    down(event) {
      if (event.button !== 0) return;
      this.place().setPointerCapture(event.pointerId);
      this.pointers.set(event.pointerId, this.at(event));
      if (this.pointers.size === 1) this.travel = 0;
      this.pressed = event.target;
    },
    /** @param {PointerEvent} event */
    moved(event) {
      const before = this.pointers.get(event.pointerId);
      if (!before) return;
      const now = this.at(event);
      const others = [...this.pointers].filter(([id]) => id !== event.pointerId);
      this.pointers.set(event.pointerId, now);
      this.travel += Math.hypot(now[0] - before[0], now[1] - before[1]);
      if (others.length) {
        const other = others[0][1];
        /** @param {Point} point */
        const far = (point) => Math.max(1, Math.hypot(point[0] - other[0], point[1] - other[1]));
        this.travel = CLICK_PX;
        this.zoom(far(now) / far(before), [(now[0] + other[0]) / 2, (now[1] + other[1]) / 2]);
      } else if (this.travel >= CLICK_PX) this.pan(now[0] - before[0], now[1] - before[1]);
    },
    /** @param {PointerEvent} event */
    up(event) {
      const known = this.pointers.delete(event.pointerId);
      if (!known || event.type === 'pointercancel' || this.travel >= CLICK_PX || this.pointers.size) return;
      const shape = this.shapeAt(this.pressed);
      if (shape) pickCapture(shape.dataset.event);
      else this.point(this.at(event));
    },
    /** @param {EventTarget | null} target */
    shapeAt(target) {
      const shape = target instanceof Element ? target.closest('[data-event]') : null;
      return /** @type {SVGElement | null} */ (shape);
    },
    /** @param {KeyboardEvent} event */
    key(event) {
      /** @type {Record<string, Point>} */
      const pans = { ArrowLeft: [PAN_PX, 0], ArrowRight: [-PAN_PX, 0], ArrowUp: [0, PAN_PX], ArrowDown: [0, -PAN_PX] };
      const shape = this.shapeAt(event.target);
      if (shape && (event.key === 'Enter' || event.key === ' ')) pickCapture(shape.dataset.event);
      else if (pans[event.key]) this.pan(...pans[event.key]);
      else if (event.key === '+' || event.key === '=') this.zoom(ZOOM);
      else if (event.key === '-') this.zoom(1 / ZOOM);
      else if (event.key === '0') this.all();
      else if (event.key === 'f') this.follow();
      else if (event.key === 'Enter') this.point(this.middle());
      else return;
      event.preventDefault();
    },
    /** @returns {Point} */
    middle() {
      return [this.box.width / 2, this.box.height / 2];
    },
    /** @param {Point} place */
    async point(place) {
      const shown = this.current();
      if (!shown || this.past) return; // the rover has driven on since
      const [x, y] = shown.metres(...place);
      this.goal = { x, y, what: null, lines: [], path: [], ok: null };
      await this.$nextTick();
      this.focusOn('first');
    },
    /** @param {string} name of a button of the goal's card, if it is there */
    focusOn(name) {
      /** @type {HTMLElement | undefined} */ (this.$refs[name])?.focus();
    },
    /** @param {What} what */
    async propose(what) {
      if (!this.goal) return;
      const number = ++this.number;
      this.goal = { ...this.goal, what, lines: ['Rehearsing …'] };
      const proposal = await proposeGoal(what, this.goal.x, this.goal.y);
      if (number !== this.number || !this.goal) return;
      this.goal = { ...this.goal, ...proposal };
      await this.$nextTick();
      this.focusOn('go');
    },
    async order() {
      if (!this.goal?.what) return;
      const { what, x, y } = this.goal;
      this.goal = { ...this.goal, ok: null, lines: ['Ordering …'] };
      const { ok } = await orderGoal(what, x, y);
      if (ok) this.close();
      else if (this.goal) this.goal = { ...this.goal, ok: false, lines: ['Refused; the conversation says why.'] };
    },
    close() {
      this.goal = null;
      this.number += 1; // a proposal on its way is for nobody
      this.place().focus();
    },
    /** @param {boolean} on */
    setKeys(on) {
      this.keys = on;
    },
    /** @param {Goal} goal */
    card(goal) {
      const what = goal.what === 'drive' ? 'Drive there' : 'Face there';
      return html`
        <div class="goal-card" role="dialog" aria-label="A goal on the map" onKeydown=${(/** @type {KeyboardEvent} */ event) => event.key === 'Enter' && event.stopPropagation()}>
          <p><b>x ${goal.x.toFixed(1)} m, y ${goal.y.toFixed(1)} m</b></p>
          ${goal.lines.map((line) => html`<p class=${{ warning: goal.ok === false }}>${line}</p>`)}
          <div class="row">
            ${goal.what && html`<button ref="go" type="button" class="yes" disabled=${!goal.ok} onClick=${this.order}>${what} (Enter)</button>`}
            ${!goal.what && html`<button ref="first" type="button" onClick=${() => this.propose('drive')}>Drive here</button>`}
            ${!goal.what && html`<button type="button" onClick=${() => this.propose('face')}>Face here</button>`}
            <button type="button" onClick=${this.close}>Cancel</button>
          </div>
        </div>`;
    },
  },
});
