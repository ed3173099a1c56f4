// The states of the last tasks over the time of day.
import { html } from '../modules/html.js';
import { shown } from '../modules/shown.js';
import { sized } from '../modules/sized.js';
import { axis, fittingLabel, label, line, ticks, timeStep } from '../modules/svg.js';
import { taskSigns } from '../modules/task_acts.js';
import { clipColumns } from '../modules/text.js';
import { defineComponent } from '../vendor/vue.js';

/** @import { PropType } from '../vendor/vue.js' */

const ROW = 24;
const TOP = 6;
const BOTTOM = 22;
const LEFT = 148; // of the time axis
const RIGHT = 30;
const NAME_COLUMNS = 17;
const TITLE_COLUMNS = 80;
const MAX_ROWS = 6; // the panel is low
const MAX_TICKS = 5;
const TICK_WIDTH = 72;
const LEAST_S = 10; // of the axis
const LONGEST_S = 3600;
const PERIOD_MS = 2000; // it moves even without new data
const ENDED = ['completed', 'failed', 'cancelled'];

/** @param {number} seconds */
function duration(seconds) {
  /** @type {[number, string][]} */
  const units = [
    [86400, 'd'],
    [3600, 'h'],
    [60, 'min'],
  ];
  const [size, unit] = units.find(([least]) => seconds >= least) ?? [1, 's'];
  return `${Math.max(0, seconds / size).toFixed(0)} ${unit}`;
}

/** @param {{ state: string, reason: string }} row */
const stateText = ({ state, reason }) => `${state}${reason && `: ${clipColumns(reason, TITLE_COLUMNS)}`}`;

export default defineComponent({
  mixins: [sized],
  props: { tasks: { type: /** @type {PropType<Record<string, TaskJson>>} */ (Object), default: () => ({}) } },
  data: () => ({ now: window.curiosity.now(), timer: 0 }),
  computed: {
    /** @returns {TaskJson[]} the newest, in the order of submission */
    rows() {
      const known = Object.values(this.tasks).filter((task) => task.history.length);
      return known.sort((one, other) => one.seq - other.seq).slice(-MAX_ROWS);
    },
    /** @returns {number} seconds since the epoch */
    end() {
      return shown.time.at ?? this.now;
    },
  },
  render() {
    const { rows, end, box } = this;
    const { width } = box;
    const bottom = TOP + ROW * Math.max(1, rows.length);
    const right = width - RIGHT;
    const first = Math.min(...rows.map((task) => task.history[0].at), end);
    const length = Math.min(LONGEST_S, Math.max(LEAST_S, end - first));
    const most = Math.max(2, Math.min(MAX_TICKS, Math.floor((width - LEFT) / TICK_WIDTH)));
    const step = timeStep(length, most);
    const start = Math.floor((end - length) / step) * step; // a whole step, so that it seldom changes
    const at = axis(start, end, LEFT, right);
    const shift = step < 86400 ? 0 : 60 * new Date(end * 1000).getTimezoneOffset();
    const marks = ticks(start - shift, end - shift, step).map((moment) => moment + shift);
    /** @param {number} moment */
    const clock = (moment) => {
      if (step >= 86400) return new Date(moment * 1000).toLocaleDateString();
      const time = window.curiosity.time(moment);
      return step < 60 ? time : time.slice(0, 5);
    };
    return html`
      <figure class="drawing" aria-label="Tasks over time">
        <div ref="place">
          <svg class="cr-drawing cr-times" role="group" viewBox=${`0 0 ${width} ${bottom + BOTTOM}`} aria-label=${`Tasks over time: ${rows.length}`}>
            <rect class="cr-ground" width=${width} height=${bottom + BOTTOM} />
            <g class="cr-grid" aria-hidden="true">${marks.map((moment) => line(at(moment), TOP, at(moment), bottom))}</g>
            ${line(right, TOP, right, bottom, 'cr-now', 'now')}
            <g class="cr-numbers">${marks.map((moment) => label(clock(moment), at(moment), bottom + 15, 'middle'))}</g>
            ${rows.length ? rows.map((task, place) => this.row(task, TOP + ROW * place, at, end)) : label('no tasks yet', width / 2, TOP + 16, 'middle')}
          </svg>
        </div>
      </figure>`;
  },
  mounted() {
    this.timer = setInterval(() => {
      this.now = window.curiosity.now();
    }, PERIOD_MS);
  },
  unmounted() {
    clearInterval(this.timer);
  },
  methods: {
    /**
     * A bar for each state, until the next one or now; a sign for the end of the task.
     * @param {TaskJson} task
     * @param {number} top
     * @param {(moment: number) => number} at
     * @param {number} end
     */
    row({ id, summary, history }, top, at, end) {
      const last = history[history.length - 1];
      return html`
        <g key=${id} class="cr-task-row" data-task=${id}>
          <title>${clipColumns(summary, TITLE_COLUMNS)}: ${stateText(last)}</title>
          ${label(taskSigns[last.state] ?? '·', 6, top + 16, 'start', `cr-sign cr-${last.state}`)}
          ${label(clipColumns(summary, NAME_COLUMNS), 22, top + 16)}
          ${history.map((row, place) => {
            const until = Math.min(end, history[place + 1]?.at ?? end);
            const [left, right] = [at(row.at), at(until)];
            const sign = taskSigns[row.state] ?? '·';
            if (ENDED.includes(row.state))
              return html`<g class=${`cr-${row.state}`}><title>${stateText(row)}</title>${label(sign, left + 3, top + 16, 'start', 'cr-sign')}</g>`;
            if (right <= left) return null;
            return html`<g class=${`cr-bar cr-${row.state}`}>
              <title>${duration(until - row.at)} ${stateText(row)}</title>
              <rect x=${left} y=${top + 4} width=${right - left} height=${ROW - 8} rx="2" />
              ${fittingLabel([`${sign} ${row.state}`, sign], left + 4, top + 16, right - left - 8)}
            </g>`;
          })}
        </g>`;
    },
  },
});
