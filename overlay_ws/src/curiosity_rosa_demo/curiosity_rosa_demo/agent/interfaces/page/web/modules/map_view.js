// Where on the map a place is: from metres of the world to pixels of the drawing, the same scale both ways. Pure.

/**
 * @typedef {{ width: number, height: number }} Box in pixels
 * @typedef {[number, number]} Point
 * @typedef {{ x: number, y: number, scale: number }} Centre in metres, and in pixels a metre
 * @typedef {Box & Centre & { metres: (across: number, down: number) => Point, pixels: (east: number, north: number) => Point }} Frame
 */

const MIN_SCALE = 0.2; // pixels a metre
const MAX_SCALE = 400;
const MARGIN = 26; // around a view; it has room for numbers

/**
 * @param {Centre} centre
 * @param {Box} box
 * @returns {Frame}
 */
export function frame({ x, y, scale }, { width, height }) {
  return {
    width,
    height,
    x,
    y,
    scale,
    metres: (across, down) => [x + (across - width / 2) / scale, y - (down - height / 2) / scale],
    pixels: (east, north) => [width / 2 + (east - x) * scale, height / 2 - (north - y) * scale],
  };
}

/**
 * The centre and scale at which a box shows all of a view.
 * @param {[xMin: number, xMax: number, yMin: number, yMax: number]} view in metres
 * @param {Box} box
 * @returns {Centre}
 */
export function fitted([xMin, xMax, yMin, yMax], { width, height }) {
  const [wide, high] = [Math.max(1, width - 2 * MARGIN), Math.max(1, height - 2 * MARGIN)];
  return {
    x: (xMin + xMax) / 2,
    y: (yMin + yMax) / 2,
    scale: Math.min(wide / (xMax - xMin), high / (yMax - yMin)),
  };
}

/**
 * The centre and scale after a zoom by `factor` about a point, which keeps its place.
 * @param {Frame} shown
 * @param {number} factor
 * @param {Point} about
 * @returns {Centre}
 */
export function zoomed(shown, factor, [across, down]) {
  const scale = Math.min(MAX_SCALE, Math.max(MIN_SCALE, shown.scale * factor));
  const [x, y] = shown.metres(across, down);
  const kept = shown.scale / scale;
  return { x: x + (shown.x - x) * kept, y: y + (shown.y - y) * kept, scale };
}
