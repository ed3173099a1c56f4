// The map: wheel and pinch zoom, drag, follow; a click or a long press proposes a goal, Enter orders
// it. By keyboard: arrows move the cross in the middle, + and - zoom, Enter points at the cross.
const CLICK_PX = 6; // a pointer that moved less has clicked
const ZOOM = 1.25;
const PAN_PX = 40;

import { orderGoal, proposeGoal } from '../modules/acts.js';
import { pickCapture } from '../modules/captures.js';
import { html } from '../modules/html.js';
import { drawMap, mapText, sceneOf, viewOf } from '../modules/map_drawing.js';
import { fitted, frame, zoomed } from '../modules/map_view.js';
import { shown } from '../modules/shown.js';
import { sized } from '../modules/sized.js';
import { spotsOf } from '../modules/svg.js';
import { defineComponent, markRaw } from '../vendor/vue.js';

/** @import { PropType } from '../vendor/vue.js' */
/** @import { Scene, View } from '../modules/map_drawing.js' */
/** @import { Centre, Frame, Point } from '../modules/map_view.js' */

/**
 * @typedef {'drive' | 'face'} What
 * @typedef {{ x: number, y: number, what: What | null, lines: string[], path: Point[], ok: boolean | null }} Goal
 *   what a person points at. `ok`: whether it may be ordered; null: not known yet
 */

export default defineComponent({
  mixins: [sized],
  props: { about: { type: /** @type {PropType<About>} */ (Object), required: true } },
  data: () => ({
    /** @type {Centre | null} null shows all */
    centre: null,
    follows: false,
    /** @type {Goal | null} */
    goal: null,
    keys: false,
    number: 0, // of the newest goal and its requests: what comes of an earlier one is for nobody
    pointers: markRaw(/** @type {Map<number, Point>} */ (new Map())),
    /** @type {EventTarget | null} */
    pressed: null,
    travel: 0, // pixels
    last: markRaw({ view: /** @type {View | null} */ (null) }),
  }),
  computed: {
    past: () => shown.looksBack(),
    /** @returns {Record<string, string>} */
    size() {
      return { width: `${this.box.width}px`, height: `${this.box.height}px` };
    },
    /** @returns {Scene} */
    scene() {
      const known = shown.past ?? shown.live;
      const asked = (!shown.past && shown.live.approvals) || [];
      return sceneOf(this.about, known, asked, spotsOf(known.captures));
    },
    /** @returns {Frame} */
    drawn() {
      const { box, centre, follows, scene, last } = this;
      if (centre)
        return frame({ ...centre, ...(follows && scene.pose ? { x: scene.pose.x, y: scene.pose.y } : {}) }, box);
      last.view = viewOf(scene, last.view);
      return frame(fitted(last.view, box), box);
    },
    /** @returns {Point | null} */
    goalAt() {
      return this.goal && this.drawn.pixels(this.goal.x, this.goal.y);
    },
    /** @returns {string} */
    path() {
      return this.goal ? this.goal.path.map(([x, y]) => this.drawn.pixels(x, y).join(',')).join(' ') : '';
    },
  },
  render() {
    const { size, goalAt, goal, box, scene, drawn } = this;
    const [x, y] = this.middle();
    return html`
      <figure class="drawing world" aria-label="Map of the rover and its surroundings">
        <div ref="place" class="terrain" tabindex="0" role="application"
          aria-label="Map. Arrows move, plus and minus zoom, 0 shows all, F follows the rover, Enter points at the middle."
          onWheel=${this.wheel} onPointerdown=${this.down} onPointermove=${this.moved} onPointerup=${this.up} onPointercancel=${this.up}
          onKeydown=${this.key} onFocus=${() => this.setKeys(true)} onBlur=${() => this.setKeys(false)}>
          <div class="drawn" style=${size}>
            <svg class="cr-drawing cr-map" role="group" viewBox=${`0 0 ${box.width} ${box.height}`} aria-label=${mapText(scene)}>
              <rect class="cr-ground" width=${box.width} height=${box.height} />
              ${drawMap(scene, drawn)}
            </svg>
          </div>
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
  methods: {
    place() {
      return /** @type {HTMLElement} */ (this.$refs.place);
    },
    /**
     * @param {MouseEvent} event
     * @returns {Point}
     */
    at(event) {
      const box = this.place().getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    },
    /**
     * @param {number} factor
     * @param {Point} [about] the middle without it
     */
    zoom(factor, about) {
      this.centre = zoomed(this.drawn, factor, about ?? this.middle());
    },
    /**
     * @param {number} across pixels
     * @param {number} down
     */
    pan(across, down) {
      const { x, y, scale } = this.drawn;
      this.follows = false;
      this.centre = { x: x - across / scale, y: y + down / scale, scale };
    },
    /** @param {WheelEvent} event */
    wheel(event) {
      event.preventDefault();
      this.zoom(event.deltaY < 0 ? ZOOM : 1 / ZOOM, this.at(event));
    },
    all() {
      this.follows = false;
      this.centre = null;
    },
    follow() {
      const { x, y, scale } = this.drawn;
      this.follows = !this.follows;
      this.centre = { x, y, scale };
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
      if (this.past) return; // the rover has driven on since
      const [x, y] = this.drawn.metres(...place);
      this.number += 1;
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
      const number = ++this.number;
      this.goal = { ...this.goal, ok: null, lines: ['Ordering …'] };
      const { ok } = await orderGoal(what, x, y);
      if (number !== this.number || !this.goal) return;
      if (ok) this.close();
      else this.goal = { ...this.goal, ok: false, lines: ['Refused; the conversation says why.'] };
    },
    close() {
      this.goal = null;
      this.number += 1;
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
