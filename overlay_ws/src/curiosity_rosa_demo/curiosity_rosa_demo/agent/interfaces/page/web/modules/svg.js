// What the drawings share: labels for which there is room, round numbers for axes, and the marks of captures. Pure.
import { html } from './html.js';
import { columns } from './text.js';

/** @import { VNode } from '../vendor/vue.js' */

/**
 * @typedef {[x: number, y: number]} Point
 * @typedef {[x: number, y: number, anchor: 'start' | 'middle' | 'end']} LabelPlace
 */

const LETTER_WIDTH = 7; // room for one of 12 pixels
const ASCENT = 11; // of a line of 12 pixels, from its baseline
const DESCENT = 3;
const MAX_COORDINATE = 1e7; // nothing beyond can be drawn

/** @param {string} words */
export const labelWidth = (words) => LETTER_WIDTH * columns(words);

/**
 * @param {string} words
 * @param {number} x
 * @param {number} y
 */
export const label = (words, x, y, anchor = 'start', kind = '') =>
  html`<text x=${x} y=${y} text-anchor=${anchor} class=${kind}>${words}</text>`;

/**
 * The first of the choices for which there is room; or nothing.
 * @param {string[]} choices
 * @param {number} x
 * @param {number} y
 * @param {number} width
 */
export function fittingLabel(choices, x, y, width) {
  const words = choices.find((each) => labelWidth(each) <= width);
  return words === undefined ? null : label(words, x, y);
}

/**
 * @param {number} x1
 * @param {number} y1
 * @param {number} x2
 * @param {number} y2
 */
export const line = (x1, y1, x2, y2, kind = '', title = '') =>
  html`<line x1=${x1} y1=${y1} x2=${x2} y2=${y2} class=${kind}>${title && html`<title>${title}</title>`}</line>`;

/** As polylines and polygons have them. @param {readonly Point[]} points */
export const pointsText = (points) => points.map(([x, y]) => `${x.toFixed(2)},${y.toFixed(2)}`).join(' ');

/** @param {unknown[]} values */
export const drawable = (...values) =>
  values.every((value) => typeof value === 'number' && Math.abs(value) <= MAX_COORDINATE);

/**
 * Gives each label the first of its places that is free and inside the drawing.
 * @param {number} width
 * @param {number} height
 */
export function labelPlacer(width, height) {
  /** @type {[left: number, top: number, right: number, bottom: number][]} */
  const taken = [];
  /**
   * @param {string} words
   * @param {LabelPlace[]} places
   * @returns {VNode | null} null: no place is free
   */
  return (words, places, kind = '') => {
    const wide = labelWidth(words);
    for (const [x, y, anchor] of places) {
      const left = x - { start: 0, middle: wide / 2, end: wide }[anchor];
      const [top, right, bottom] = [y - ASCENT, left + wide, y + DESCENT];
      const inside = Math.min(left, top) >= 0 && right <= width && bottom <= height;
      if (inside && !taken.some((each) => left < each[2] && each[0] < right && top < each[3] && each[1] < bottom)) {
        taken.push([left, top, right, bottom]);
        return label(words, x, y, anchor, kind);
      }
    }
    return null;
  };
}

// --- axes ----------------------------------------------------------------------------------------

/**
 * Values from `low` to `high`, which is more, onto `start` to `end`; never beyond the ends.
 * @param {number} low
 * @param {number} high
 * @param {number} start
 * @param {number} end
 */
export const axis = (low, high, start, end) => (/** @type {number} */ value) =>
  start + (end - start) * Math.min(1, Math.max(0, (value - low) / (high - low)));

/**
 * The smallest of 1, 2, 5, 10, ... that divides `span` (above 0) into `most` or fewer.
 * @param {number} span
 * @param {number} most
 */
export function roundStep(span, most) {
  const least = span / most;
  const power = 10 ** Math.floor(Math.log10(least));
  return ([1, 2, 5, 10].find((step) => step * power >= least) ?? 20) * power;
}

/**
 * The multiples of `step` from `low` to `high`.
 * @param {number} low
 * @param {number} high
 * @param {number} step
 */
export function ticks(low, high, step) {
  const [first, last] = [Math.ceil(low / step - 1e-9), Math.floor(high / step + 1e-9)];
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, place) => (first + place) * step);
}

/**
 * @param {number} value
 * @param {number} step
 */
export function tickText(value, step) {
  const decimals = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  const shown = value.toFixed(decimals);
  return Number(shown) === 0 ? shown.replace('-', '') : shown.replace('-', '−');
}

const TIME_STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400];

/**
 * Seconds between ticks, so that there are `most` or fewer in a span.
 * @param {number} span
 * @param {number} most
 */
export const timeStep = (span, most) => TIME_STEPS.find((step) => step >= span / most) ?? 86400;

// --- captures ------------------------------------------------------------------------------------

/** @typedef {{ id: string, x: number, y: number, score: number, good: boolean }} Spot in metres */

const MAX_SPOTS = 60; // are drawn, the newest

/** Those with a place, the oldest first. @param {Record<string, CaptureJson> | undefined} captures @returns {Spot[]} */
export const spotsOf = (captures = {}) =>
  Object.values(captures)
    .map(({ event_id: id, pose, score, is_good: good }) => ({ id, x: pose?.x ?? NaN, y: pose?.y ?? NaN, score, good }))
    .filter((spot) => drawable(spot.x, spot.y) && spot.score >= 0 && spot.score <= 1)
    .slice(-MAX_SPOTS);

/**
 * A disc with a tick when it is good, else a square, the fuller the brighter. A button, by its event.
 * @param {Spot} spot
 * @param {Point} place
 * @param {VNode | null} [told]
 */
export function marker(spot, [x, y], told = null) {
  const words = `capture at x ${spot.x.toFixed(2)} m, y ${spot.y.toFixed(2)} m: score ${spot.score.toFixed(2)}, ${spot.good ? 'good' : 'dark'}`;
  return html`
    <g key=${spot.id} class=${`cr-spot ${spot.good ? 'cr-good' : 'cr-dark'}`} data-event=${spot.id} tabindex="0" role="button" aria-label=${words}>
      <title>${words}</title>
      <circle class="cr-hit" cx=${x} cy=${y} r="12" />
      ${
        spot.good
          ? [
              html`<circle cx=${x} cy=${y} r="6" />`,
              html`<polyline class="cr-tick" points=${pointsText([
                [x - 2.8, y],
                [x - 0.8, y + 2.4],
                [x + 3, y - 2.4],
              ])} />`,
            ]
          : html`<rect x=${x - 4.5} y=${y - 4.5} width="9" height="9" fill-opacity=${spot.score} />`
      }
      ${told}
    </g>`;
}
