// The top-down map: metres of the world frame, X to the right and Y up. Pure.
import { html } from './html.js';
import {
  drawable,
  label,
  labelPlacer,
  labelWidth,
  line,
  marker,
  pointsText,
  roundStep,
  ticks,
  tickText,
} from './svg.js';
import { isObject } from './text.js';

/** @import { Frame } from './map_view.js' */
/** @import { LabelPlace, Point, Spot } from './svg.js' */

/**
 * @typedef {{ about: About, pose: Place | null, trail: Point[], spots: Spot[], obstacles: Point[], goal: Point | null,
 *   forecast: Point[] }} Scene `obstacles`: distance in metres and bearing in radians
 */

const MAX_PARTS = 12; // into which the longer side is divided: the view grows by whole ones
const MAX_RATIO = 2.5; // a kept view may be so many times longer than a fresh one
const CLEARANCE_M = 2; // around everything; the rover's corners are 2 m from its middle
const PADDING_M = 3;
const MAX_GRID_LINES = 12; // along the longer side
const EDGE = 12; // twice that at the top and the bottom without numbers
const MARGIN = 26;
// Shares of the body's front or rear, and of its half width.
/** @type {Point[]} */
const HULL = [
  [1, 0],
  [0.4, 0.6],
  [-0.9, 0.6],
  [-0.9, -0.6],
  [0.4, -0.6],
];
const WHEELS = [-0.7, 0, 0.8]; // on both sides
const MIN_SCALE = 10; // pixels a metre for the rover, which is never drawn smaller
const MAX_LABELLED = 6; // captures, the newest; more numbers hide the map
const MAX_OBSTACLES = 16;

/**
 * What is known, as far as it can be drawn.
 * @param {About} about
 * @param {RobotDocument} known
 * @param {QuestionJson[]} asked the open questions
 * @param {Spot[]} spots
 * @returns {Scene}
 */
export function sceneOf(about, known, asked, spots) {
  const { brain_state: brain, pose } = known.state ?? {};
  const question = asked.find((each) => each.rehearsal)?.rehearsal;
  const rehearsal = question ?? brain?.react?.rehearsal;
  return {
    about,
    pose: pose && drawable(pose.x, pose.y, pose.yaw_rad ?? 0) ? pose : null,
    trail: (known.trail ?? []).filter((place) => drawable(...place)),
    spots,
    obstacles: (brain?.world?.obstacles ?? [])
      .slice(0, MAX_OBSTACLES)
      .map((each) => /** @type {Point} */ ([each.distance_m, each.bearing_rad]))
      .filter((each) => drawable(...each)),
    goal: goalOf(known),
    forecast: rehearsal && !rehearsal.real ? (rehearsal.path ?? []).filter((place) => drawable(...place)) : [],
  };
}

/** That of the running navigation, a task or a step of the plan. @param {RobotDocument} known @returns {Point | null} */
function goalOf(known) {
  const drives = Object.values(known.tasks ?? {}).find(
    (task) => task.state === 'active' && task.name === 'navigate_to_pose',
  );
  const plan = /** @type {{ steps?: unknown } | undefined} */ (known.state?.brain_state?.react?.plan);
  const steps = Array.isArray(plan?.steps) ? plan.steps.filter(isObject) : [];
  const step = steps.find((each) => each.action === 'navigate_to_pose' && each.status === 'running');
  const given = drives ? drives.metadata?.arguments : step?.parameters;
  const { x, y } = /** @type {{ x?: any, y?: any }} */ (isObject(given) ? given : {});
  return drawable(x, y) ? [x, y] : null;
}

/** @typedef {[xMin: number, xMax: number, yMin: number, yMax: number]} View in metres */

/** @param {View} view */
const longest = ([xMin, xMax, yMin, yMax]) => Math.max(xMax - xMin, yMax - yMin);

/**
 * The part of the world that shows all; `last` for as long as it will do, so that the map seldom jumps.
 * @param {Scene} scene
 * @param {View | null} last
 * @returns {View}
 */
export function viewOf({ about, pose, trail, spots, goal, forecast }, last) {
  const { bright_zone_x_min: x_min, bright_zone_x_max: x_max, bright_zone_half_width: half } = about.zone;
  /** @type {Point[]} */
  const places = [[x_min, half], [x_max, -half], ...trail, ...forecast];
  for (const spot of spots) places.push([spot.x, spot.y]);
  if (pose) places.push([pose.x, pose.y]);
  if (goal) places.push(goal);
  const [xs, ys] = [places.map(([x]) => x), places.map(([, y]) => y)];
  /** @type {View} */
  const bounds = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  const step = roundStep(longest(bounds) + 2 * PADDING_M, MAX_PARTS);
  const by = Math.max(PADDING_M, step);
  /** @type {View} */
  const fresh = [
    Math.floor((bounds[0] - by) / step) * step,
    Math.ceil((bounds[1] + by) / step) * step,
    Math.floor((bounds[2] - by) / step) * step,
    Math.ceil((bounds[3] + by) / step) * step,
  ];
  const keeps =
    last &&
    last[0] <= bounds[0] - CLEARANCE_M &&
    bounds[1] + CLEARANCE_M <= last[1] &&
    last[2] <= bounds[2] - CLEARANCE_M &&
    bounds[3] + CLEARANCE_M <= last[3] &&
    longest(last) <= MAX_RATIO * longest(fresh);
  return keeps ? last : fresh;
}

/**
 * What is in the frame, from the ground up.
 * @param {Scene} scene
 * @param {Frame} frame
 */
export function drawMap(scene, frame) {
  const place = labelPlacer(frame.width, frame.height);
  const { fence } = scene.about;
  return [
    zone(scene.about.zone, frame, place),
    ...grid(frame),
    fence.enabled && geofence(fence, frame, place),
    scene.trail.length > 1 && html`<polyline class="cr-trail" points=${pointsText(scene.trail.map(at(frame)))} />`,
    forecast(scene.forecast, frame),
    goal(scene, frame),
    html`<g>${obstacles(scene, frame, place)}</g>`,
    rover(scene, frame),
    html`<g>${markers(scene.spots, frame, place)}</g>`,
    scaleBar(frame),
  ];
}

/** What a screen reader says of the map. @param {Scene} scene */
export function mapText({ pose, spots }) {
  const degrees = Math.round(((pose?.yaw_rad ?? 0) * 180) / Math.PI);
  const where = pose
    ? `rover at x ${pose.x.toFixed(2)} m, y ${pose.y.toFixed(2)} m, heading ${degrees} degrees`
    : 'position unknown';
  const best = spots.length ? `, the best scored ${Math.max(...spots.map((spot) => spot.score)).toFixed(2)}` : '';
  return `Map: ${where}; captures: ${spots.length}${best}`;
}

/** @typedef {ReturnType<typeof labelPlacer>} Placer */

/** @param {Frame} frame */
const at =
  (frame) =>
  (/** @type {Point} */ [x, y]) =>
    frame.pixels(x, y);

/**
 * @param {About['zone']} bright
 * @param {Frame} frame
 * @param {Placer} place
 */
function zone({ bright_zone_x_min: x_min, bright_zone_x_max: x_max, bright_zone_half_width: half }, frame, place) {
  const [left, top] = frame.pixels(x_min, half);
  const [right, bottom] = frame.pixels(x_max, -half);
  const name = 'bright zone';
  return html`
    <g>
      <rect class="cr-zone" x=${left} y=${top} width=${right - left} height=${bottom - top}><title>${name}</title></rect>
      ${right - left > labelWidth(name) && place(name, [[(left + right) / 2, Math.max(top - 5, 12), 'middle']])}
    </g>`;
}

/** @param {Frame} frame */
function grid(frame) {
  const { width, height } = frame;
  const [left, top] = frame.metres(0, 0);
  const [right, bottom] = frame.metres(width, height);
  const step = roundStep(Math.max(right - left, top - bottom), MAX_GRID_LINES);
  const across = ticks(left, right, step).map((x) => ({ value: x, pixels: frame.pixels(x, 0)[0] }));
  const down = ticks(bottom, top, step).map((y) => ({ value: y, pixels: frame.pixels(0, y)[1] }));
  /** @param {number} value */
  const kind = (value) => (Math.abs(value) < step / 2 ? 'cr-axis' : '');
  const named = across.filter(({ value, pixels }) => {
    const wide = labelWidth(tickText(value, step));
    return pixels >= wide / 2 && pixels <= width - labelWidth('x (m)') - wide;
  });
  return [
    html`<g class="cr-grid" aria-hidden="true">
      ${across.map(({ value, pixels }) => line(pixels, 0, pixels, height, kind(value)))}
      ${down.map(({ value, pixels }) => line(0, pixels, width, pixels, kind(value)))}
    </g>`,
    html`<g class="cr-numbers" aria-hidden="true">
      ${named.map(({ value, pixels }) => label(tickText(value, step), pixels, height - 5, 'middle'))}
      ${down.filter(({ pixels }) => pixels > 2 * EDGE && pixels < height - 2 * EDGE).map(({ value, pixels }) => label(tickText(value, step), 1.5, pixels + 4))}
      ${label('x (m)', width - 4, height - 5, 'end')}
      ${label('y (m)', 1.5, 13)}
    </g>`,
  ];
}

/**
 * Its sides, as far as they are to be seen.
 * @param {About['fence']} fence
 * @param {Frame} frame
 * @param {Placer} place
 */
function geofence(fence, frame, place) {
  const name = 'geofence';
  const [left, top] = frame.pixels(fence.x_min, fence.y_max);
  const [right, bottom] = frame.pixels(fence.x_max, fence.y_min);
  const [low, high] = [Math.max(0, left), Math.min(frame.width, right)];
  const [first, last] = [Math.max(0, top), Math.min(frame.height, bottom)];
  if (low >= high || first >= last) return null;
  const sides = [
    ...[left, right].filter((x) => x >= 0 && x <= frame.width).map((x) => line(x, first, x, last, 'cr-fence', name)),
    ...[top, bottom].filter((y) => y >= 0 && y <= frame.height).map((y) => line(low, y, high, y, 'cr-fence', name)),
  ];
  const across = Math.max(low, labelWidth('y (m)')) + 8;
  const down = Math.max(first, 2 * EDGE) + 14;
  const fits = sides.length && across + labelWidth(name) <= high && down <= last;
  return html`<g>${sides}${fits ? place(name, [[across, down, 'start']], 'cr-alarm') : null}</g>`;
}

/**
 * @param {Point[]} path
 * @param {Frame} frame
 */
function forecast(path, frame) {
  const way = path.map(at(frame));
  const end = way.at(-1);
  if (way.length < 2 || !end) return null;
  return html`<g class="cr-forecast"><title>rehearsed path</title><polyline points=${pointsText(way)} /><circle cx=${end[0]} cy=${end[1]} r="5" /></g>`;
}

/**
 * @param {Scene} scene
 * @param {Frame} frame
 */
function goal(scene, frame) {
  if (!scene.goal) return null;
  const [x, y] = at(frame)(scene.goal);
  const here = scene.pose && frame.pixels(scene.pose.x, scene.pose.y);
  const [east, north] = scene.goal;
  return html`
    <g>
      ${here && line(...here, x, y, 'cr-way')}
      <g class="cr-goal">
        <title>drives to x ${east.toFixed(2)} m, y ${north.toFixed(2)} m</title>
        <circle cx=${x} cy=${y} r="7" />${line(x - 12, y, x + 12, y)}${line(x, y - 12, x, y + 12)}
      </g>
    </g>`;
}

/**
 * A wall across the direction in which something is near.
 * @param {Scene} scene
 * @param {Frame} frame
 * @param {Placer} place
 */
function obstacles({ pose, obstacles: near }, frame, place) {
  if (!pose) return [];
  return near.map(([distance, bearing]) => {
    const angle = (pose.yaw_rad ?? 0) + bearing;
    const [cosine, sine] = [Math.cos(angle), Math.sin(angle)];
    const [x, y] = frame.pixels(pose.x + distance * cosine, pose.y + distance * sine);
    if (x < MARGIN || x > frame.width - MARGIN || y < MARGIN || y > frame.height - MARGIN) return null;
    const far = `${distance.toFixed(1)} m`;
    /** @type {LabelPlace[]} beyond, before */
    const sides = [1, -1].map((side) => [x + 20 * side * cosine, y - 20 * side * sine + 4, 'middle']);
    return html`<g class="cr-obstacle">
      <title>obstacle ${far} away</title>
      ${line(x - 9 * sine, y - 9 * cosine, x + 9 * sine, y + 9 * cosine)}
      ${place(far, sides)}
    </g>`;
  });
}

/**
 * @param {Spot[]} spots
 * @param {Frame} frame
 * @param {Placer} place
 */
function markers(spots, frame, place) {
  const told = new Map(
    spots
      .slice(-MAX_LABELLED)
      .reverse() // the newest first
      .map((spot) => {
        const [x, y] = frame.pixels(spot.x, spot.y);
        /** @type {LabelPlace[]} */
        const around = [
          [x, y - 9, 'middle'],
          [x, y + 19, 'middle'],
          [x + 10, y + 4, 'start'],
          [x - 10, y + 4, 'end'],
        ];
        return [spot.id, place(spot.score.toFixed(2), around)];
      }),
  );
  return spots.map((spot) => marker(spot, frame.pixels(spot.x, spot.y), told.get(spot.id)));
}

/**
 * @param {Scene} scene
 * @param {Frame} frame
 */
function rover({ pose, about }, frame) {
  if (!pose) {
    const middle = frame.width / 2;
    return html`<g class="cr-unknown"><rect x=${middle - 85} y="8" width="170" height="24" rx="4" />${label('position unknown', middle, 25, 'middle')}</g>`;
  }
  const size = Math.max(frame.scale, MIN_SCALE);
  const [x, y] = frame.pixels(pose.x, pose.y);
  const [cosine, sine] = [Math.cos(pose.yaw_rad ?? 0), Math.sin(pose.yaw_rad ?? 0)];
  const { front_m: front, rear_m: rear, half_width_m: half } = about.rover;
  /**
   * From shares of the body.
   * @param {Point} share
   * @returns {Point}
   */
  const part = ([ahead, left]) => {
    const [forward, aside] = [ahead * size * (ahead > 0 ? front : rear), left * size * half];
    return [x + forward * cosine - aside * sine, y - forward * sine - aside * cosine];
  };
  const wheels = WHEELS.flatMap((ahead) =>
    [-0.9, 0.9].map((side) => line(...part([ahead - 0.13, side]), ...part([ahead + 0.13, side]))),
  );
  return html`
    <g class="cr-rover">
      <title>rover: x ${pose.x.toFixed(2)} m, y ${pose.y.toFixed(2)} m</title>
      <g class="cr-wheels" stroke-width=${0.18 * size}>${wheels}</g>
      <polygon points=${pointsText(HULL.map(part))} />
      <circle class="cr-mast" cx=${x} cy=${y} r=${0.2 * size} />
    </g>`;
}

/** @param {Frame} frame */
function scaleBar({ width, height, scale }) {
  const metres = roundStep(60 / scale, 1);
  const [right, down] = [width - 12, height - 24];
  const left = right - metres * scale;
  return html`
    <g class="cr-scale">
      <polyline points=${pointsText([
        [left, down - 4],
        [left, down],
        [right, down],
        [right, down - 4],
      ])} />
      ${label(`${tickText(metres, metres)} m`, (left + right) / 2, down - 5, 'middle')}
    </g>`;
}
