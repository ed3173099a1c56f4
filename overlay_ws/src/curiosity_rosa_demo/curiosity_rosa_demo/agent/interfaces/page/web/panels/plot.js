// The score of the captures over X, with the threshold and the light model.
import { html } from '../modules/html.js';
import { sized } from '../modules/sized.js';
import {
  axis,
  label,
  labelWidth,
  line,
  marker,
  pointsText,
  roundStep,
  spotsOf,
  ticks,
  tickText,
} from '../modules/svg.js';
import { counted } from '../modules/text.js';
import { defineComponent } from '../vendor/vue.js';

/** @import { PropType } from '../vendor/vue.js' */
/** @import { Spot } from '../modules/svg.js' */

const HEIGHT = 168;
const USUAL_WIDTH = 480;
const LEFT = 40;
const TOP = 18;
const RIGHT = 16;
const BOTTOM = 40;
const PARTS = 6;
const MAX_TICKS = 9;
const LEVELS = [0, 0.2, 0.4, 0.6, 0.8, 1];

export default defineComponent({
  mixins: [sized],
  props: {
    captures: { type: /** @type {PropType<Record<string, CaptureJson>>} */ (Object), default: () => ({}) },
    about: { type: /** @type {PropType<About>} */ (Object), required: true },
  },
  computed: {
    /** @returns {Spot[]} */
    spots() {
      return spotsOf(this.captures);
    },
    /** Whole steps around all that is drawn, so that they seldom change. @returns {[low: number, high: number]} */
    metres() {
      const { x_min, x_good } = this.about.light;
      const xs = [...this.spots.map((spot) => spot.x), x_min, x_good];
      const [low, high] = [Math.min(...xs), Math.max(...xs)];
      const step = roundStep(Math.max(high - low, 1), PARTS);
      return [Math.floor(low / step - 0.2) * step, Math.ceil(high / step + 0.2) * step];
    },
  },
  render() {
    const { spots, metres, about, box } = this;
    const { width } = box;
    const [low, high] = metres;
    const [right, bottom] = [width - RIGHT, HEIGHT - BOTTOM];
    const across = axis(low, high, LEFT, right);
    const level = axis(0, 1, bottom, TOP);
    const most = Math.max(2, Math.min(MAX_TICKS, Math.floor((MAX_TICKS * width) / USUAL_WIDTH)));
    const step = roundStep(high - low, most);
    const numbers = ticks(low, high, step).map((x) => ({ x: across(x), words: tickText(x, step) }));
    const { score_threshold: threshold, light } = about;
    const good = `good from ${threshold.toFixed(2)}`;
    const words = `Score over position: ${counted(spots.length, 'capture')}, ${good}`;
    return html`
      <figure class="drawing" aria-label="Score of the captures over position">
        <div ref="place" onClick=${this.pick} onKeydown=${this.pick}>
          <svg class="cr-drawing cr-plot" role="group" viewBox=${`0 0 ${width} ${HEIGHT}`} aria-label=${words}>
            <rect class="cr-ground" width=${width} height=${HEIGHT} />
            <g class="cr-grid" aria-hidden="true">
              ${numbers.map(({ x }) => line(x, TOP, x, bottom))}
              ${LEVELS.map((score) => line(LEFT, level(score), right, level(score)))}
            </g>
            <g class="cr-ticks cr-numbers">
              <polyline points=${pointsText([
                [LEFT, TOP],
                [LEFT, bottom],
                [right, bottom],
              ])} />
              ${numbers.filter(({ x, words }) => x + labelWidth(words) / 2 <= width).map(({ x, words }) => label(words, x, bottom + 15, 'middle'))}
              ${LEVELS.map((score) => label(String(score), LEFT - 6, level(score) + 4, 'end'))}
              ${label('x (m)', right, HEIGHT - 8, 'end')}
              ${label('score', LEFT, 12)}
            </g>
            <polyline class="cr-light" points=${pointsText([
              [across(low), level(0)],
              [across(light.x_min), level(0)],
              [across(light.x_good), level(1)],
              [across(high), level(1)],
            ])}><title>light model</title></polyline>
            ${line(LEFT, level(threshold), right, level(threshold), 'cr-threshold', good)}
            ${label(good, LEFT + 5, level(threshold) - 5, 'start', 'cr-soft')}
            <g>${spots.map((spot) => marker(spot, [across(spot.x), level(spot.score)]))}</g>
            ${!spots.length && label('no captures yet', width / 2, HEIGHT / 2 - 10, 'middle')}
          </svg>
        </div>
      </figure>`;
  },
});
