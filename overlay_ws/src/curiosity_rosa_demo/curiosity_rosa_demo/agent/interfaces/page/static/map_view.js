// Where on the map a place is. The server draws the map; a view says which part of the world, in
// metres, the drawing of so many pixels shows. Pure.
(() => {
  const MIN_SCALE = 0.2, MAX_SCALE = 400; // pixels a metre

  /** @param {number[]} view x_min, x_max, y_min, y_max. @param {{width: number, height: number}} box */
  function frame(view, box) {
    const [xMin, xMax, yMin, yMax] = view;
    const scale = Math.min(box.width / (xMax - xMin), box.height / (yMax - yMin));
    const [x, y] = [(xMin + xMax) / 2, (yMin + yMax) / 2];
    return {
      x, y, scale,
      metres: (across, down) => [x + (across - box.width / 2) / scale, y - (down - box.height / 2) / scale],
      pixels: (east, north) => [box.width / 2 + (east - x) * scale, box.height / 2 - (north - y) * scale],
    };
  }

  /** The centre and scale after a zoom by ``factor`` about a point, which keeps its place. */
  function zoomed(shown, factor, [across, down]) {
    const scale = Math.min(MAX_SCALE, Math.max(MIN_SCALE, shown.scale * factor));
    const [x, y] = shown.metres(across, down);
    const kept = shown.scale / scale;
    return { x: x + (shown.x - x) * kept, y: y + (shown.y - y) * kept, scale };
  }

  window.curiosity.mapView = { frame, zoomed };
})();
