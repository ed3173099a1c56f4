// Where on the map a place is. The server draws the map; a view says which part of the world, in
// metres, the drawing of so many pixels shows. Pure.

/**
 * @typedef {{ width: number, height: number }} Box in pixels
 * @typedef {[number, number]} Point
 * @typedef {{ x: number, y: number, scale: number }} Centre in metres, and in pixels a metre
 * @typedef {Centre & { metres: (across: number, down: number) => Point, pixels: (east: number, north: number) => Point }} Frame
 */

const MIN_SCALE = 0.2; // pixels a metre
const MAX_SCALE = 400;

/**
 * @param {[number, number, number, number]} view x_min, x_max, y_min, y_max
 * @param {Box} box
 * @returns {Frame}
 */
export function frame(view, box) {
  const [xMin, xMax, yMin, yMax] = view;
  const scale = Math.min(box.width / (xMax - xMin), box.height / (yMax - yMin));
  const [x, y] = [(xMin + xMax) / 2, (yMin + yMax) / 2];
  return {
    x,
    y,
    scale,
    metres: (across, down) => [x + (across - box.width / 2) / scale, y - (down - box.height / 2) / scale],
    pixels: (east, north) => [box.width / 2 + (east - x) * scale, box.height / 2 - (north - y) * scale],
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
