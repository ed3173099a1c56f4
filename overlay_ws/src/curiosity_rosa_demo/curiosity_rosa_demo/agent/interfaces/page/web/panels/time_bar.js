// The scrubber: it shows an earlier time of this robot, or a recording, to this page alone. STOP stops the
// live rover whatever is shown; modules/acts.js sends nothing else.
import { html } from '../modules/html.js';
import { changeTime } from '../modules/shown.js';
import { duration, nextMark, shownMarks } from '../modules/time_marks.js';
import { defineComponent } from '../vendor/vue.js';

/** @import { PropType } from '../vendor/vue.js' */
/** @import { ShownMark } from '../modules/time_marks.js' */

const KINDS = [
  ['error', '▲', 'e'],
  ['capture', '●', 'c'],
  ['question', '◆', 'q'],
];
/** @type {Record<string, number>} seconds */
const STEPS = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -10, PageUp: 10 };
const SEEK_MS = 100; // between two requests while a person drags

export default defineComponent({
  props: { facts: { type: /** @type {PropType<TimeFacts>} */ (Object), required: true } },
  data: () => ({
    now: window.curiosity.now(),
    /** @type {number | null} */
    dragged: null,
    timer: 0,
    seeking: 0,
  }),
  computed: {
    /** @returns {number} */
    start() {
      return this.facts.start ?? this.end;
    },
    /** @returns {number} */
    end() {
      return this.facts.end ?? Math.max(this.now, this.facts.at ?? 0);
    },
    /** @returns {number} */
    at() {
      return this.dragged ?? this.facts.at ?? this.end;
    },
    /** @returns {boolean} */
    back() {
      return this.facts.at !== null || this.dragged !== null;
    },
    /** @returns {string} */
    words() {
      if (this.back) return window.curiosity.time(this.at);
      return this.now && window.curiosity.live() ? 'live' : 'not live'; // asked for anew with each second
    },
    /** @returns {string} */
    away() {
      return this.facts.recording
        ? `${duration(this.at - this.start)} after its start`
        : `${duration(this.now - this.at)} ago`;
    },
    // The recording that is shown stays a choice, also once its file is gone.
    /** @returns {string[]} */
    stories() {
      const { recording, recordings } = this.facts;
      return !recording || recordings.includes(recording) ? recordings : [recording, ...recordings];
    },
    /** @returns {ShownMark[]} */
    marks() {
      return shownMarks(this.facts.marks, this.start, this.end);
    },
  },
  render() {
    const { facts, back, words } = this;
    /** @param {string} kind @param {number} direction @param {string} letter */
    const button = (kind, direction, letter) => {
      const name = `${direction < 0 ? 'Previous' : 'Next'} ${kind}`;
      return html`<button type="button" class="small" disabled=${this.next(kind, direction) === null} aria-label=${name} title=${`${name}: ${direction < 0 ? 'Shift+' : ''}${letter.toUpperCase()}`} onClick=${() => this.jump(kind, direction)}>${direction < 0 ? '‹' : '›'}</button>`;
    };
    return html`
      <section class=${['time-bar', { back }]} aria-label="Time" onKeydown=${this.key}>
        ${
          back &&
          html`<div class="banner past">
            <p><b><span class="sr" role="status">This page looks back.</span>Looking back${facts.recording && ` at ${facts.recording}`}: ${words}, ${this.away}.</b>${' '}
              STOP stops the live rover at once. Nothing else is sent.${facts.note && html`<br />${facts.note}`}</p>
            <button type="button" aria-keyshortcuts="L" onClick=${this.live}>Live again: L</button>
          </div>`
        }
        ${(facts.problem || facts.reading) && html`<p class=${{ warning: facts.problem }} role="status">${facts.problem || `Reading ${facts.reading} …`}</p>`}
        <div class="row">
          <button type="button" class="small" disabled=${!back} aria-keyshortcuts="K" aria-label=${facts.playing ? 'Pause' : 'Play'} onClick=${this.play}>${facts.playing ? '❚❚' : '▶'}</button>
          <div class="scrub">
            <svg class="marks" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
              ${this.marks.map((mark) => html`<line key=${mark.kind + mark.place} class=${`kind-${mark.kind}`} x1=${mark.place} x2=${mark.place} y1=${mark.kind === 'restart' ? 0 : 4} y2="10" />`)}
            </svg>
            <input ref="slider" type="range" min=${this.start} max=${this.end} step="any" value=${this.at} aria-label="Time that the page shows" aria-valuetext=${back ? `${words}, ${this.away}` : 'live'}
              onInput=${this.drag} onChange=${this.drop} />
          </div>
          <output class="time">${words}</output>
          <select class="speed" value=${facts.speed} aria-label="Speed" onChange=${this.setSpeed}>
            ${facts.speeds.map((speed) => html`<option key=${speed} value=${speed}>${speed}×</option>`)}
          </select>
          ${KINDS.map(
            ([kind, sign, letter]) => html`<span key=${kind} class="jumps" role="group" aria-label=${`Jump to ${kind}`}>
              ${button(kind, -1, letter)}${' '}
              <span class=${`kind-${kind}`} aria-hidden="true">${sign} ${kind}</span>${' '}
              ${button(kind, 1, letter)}
            </span>`,
          )}
          <select class="story" value=${facts.recording} aria-label="What the time line shows" onFocus=${() => changeTime({ act: 'recordings' })} onChange=${this.choose}>
            <option value="">This robot</option>
            ${this.stories.map((name) => html`<option key=${name} value=${name}>${name}</option>`)}
          </select>
        </div>
      </section>`;
  },
  mounted() {
    this.timer = setInterval(() => {
      this.now = window.curiosity.now();
    }, 1000);
    document.addEventListener('keydown', this.anywhere);
  },
  unmounted() {
    clearInterval(this.timer);
    clearTimeout(this.seeking);
    document.removeEventListener('keydown', this.anywhere);
  },
  methods: {
    /** @param {Event} event */
    setSpeed(event) {
      changeTime({ act: 'speed', speed: Number(/** @type {HTMLSelectElement} */ (event.target).value) });
    },
    /** @param {Event} event */
    choose(event) {
      changeTime({ act: 'recording', name: /** @type {HTMLSelectElement} */ (event.target).value });
    },
    slider() {
      return /** @type {HTMLInputElement} */ (this.$refs.slider);
    },
    // Anywhere but where a person types.
    /** @param {KeyboardEvent} event */
    anywhere(event) {
      if (event.key.toLowerCase() !== 'l' || !this.back || window.curiosity.isTyping(event)) return;
      this.live();
      event.preventDefault();
    },
    /** @param {number} at */
    show(at) {
      changeTime({ act: 'show', at });
    },
    drag() {
      this.dragged = Number(this.slider().value);
      this.seeking ||= setTimeout(() => {
        this.seeking = 0;
        if (this.dragged !== null) this.show(this.dragged);
      }, SEEK_MS);
    },
    drop() {
      clearTimeout(this.seeking);
      this.seeking = 0;
      this.show(Number(this.slider().value));
      this.dragged = null;
    },
    play() {
      changeTime({ act: this.facts.playing ? 'pause' : 'play' });
    },
    live() {
      this.dragged = null;
      changeTime({ act: 'live' });
      if (this.$el.contains(document.activeElement)) this.slider().focus();
    },
    /**
     * The time of the next mark of a kind; null: there is none.
     * @param {string} kind
     * @param {number} direction 1: later, -1: earlier
     */
    next(kind, direction) {
      return nextMark(this.facts.marks, kind, this.back ? this.at : Infinity, direction);
    },
    /**
     * @param {string} kind
     * @param {number} direction
     */
    jump(kind, direction) {
      const at = this.next(kind, direction);
      if (at !== null) this.show(at);
    },
    /** @param {KeyboardEvent} event */
    key(event) {
      if (window.curiosity.isTyping(event)) return;
      const onSlider = event.target === this.slider();
      const letter = event.key.toLowerCase();
      const kind = KINDS.find(([, , each]) => each === letter)?.[0];
      if (onSlider && event.key in STEPS) this.show(this.at + STEPS[event.key]);
      else if (onSlider && event.key === 'Home') this.show(this.start);
      else if (onSlider && event.key === 'End') this.toEnd();
      else if (letter === 'k' || (onSlider && event.key === ' ')) this.back && this.play();
      else if (kind) this.jump(kind, event.shiftKey ? -1 : 1);
      else return;
      event.preventDefault();
    },
    toEnd() {
      if (this.facts.recording) this.show(this.end);
      else this.live();
    },
  },
});
