// Where the time of the last turn went, as one bar: thinking, checking, acting, asking.
import { html } from '../modules/html.js';
import { sized } from '../modules/sized.js';
import { fittingLabel } from '../modules/svg.js';
import { lastTurn, PHASES, phaseSpans } from '../modules/trace_facts.js';
import { traceRows } from '../modules/trace_rows.js';
import { defineComponent } from '../vendor/vue.js';

/** @import { Span } from '../modules/trace_facts.js' */

const HEIGHT = 46;
const BAR = 20;
const MARGIN = 4;
const PADDING = 4; // beside a label in a bar
const MAX_EVENTS = 200; // only the newest are drawn

/** Such as "0.4 ms", "812 ms", "3.2 s", "125 s". @param {number} seconds */
function duration(seconds) {
  if (seconds < 0.9995) return `${(1000 * seconds).toFixed(seconds < 0.01 ? 1 : 0)} ms`;
  return `${seconds.toFixed(seconds < 99.95 ? 1 : 0)} s`;
}

/** @param {Span[]} spans */
const total = (spans) => spans.reduce((sum, span) => sum + span.seconds, 0);

export default defineComponent({
  mixins: [sized],
  data: () => ({ rows: traceRows.all() }),
  computed: {
    /** @returns {Span[]} */
    spans() {
      const events = this.rows.map((row) => row.event);
      return phaseSpans(lastTurn(events.slice(-MAX_EVENTS)));
    },
    /** @returns {string} */
    words() {
      const { spans } = this;
      const sums = PHASES.map((phase) => ({ phase, seconds: total(spans.filter((span) => span.phase === phase)) }));
      const told = sums.filter(({ seconds }) => seconds).map(({ phase, seconds }) => `${phase} ${duration(seconds)}`);
      return told.length ? `${duration(total(spans))}: ${told.join(' · ')}` : 'no steps yet';
    },
  },
  render() {
    const { width } = this.box;
    const whole = width - 2 * MARGIN;
    const room = total(this.spans);
    let left = MARGIN;
    const bars = this.spans.map(({ phase, seconds, detail }) => {
      const [x, wide] = [left, (whole * seconds) / room];
      left += wide;
      const words = `${phase}${detail && ` ${detail}`}: ${duration(seconds)}`;
      return html`<g class=${`cr-bar cr-${phase}`}>
        <title>${words}</title>
        <rect x=${x} y="4" width=${Math.max(0, wide)} height=${BAR} />
        ${fittingLabel([words, duration(seconds)], x + PADDING, 18, wide - 2 * PADDING)}
      </g>`;
    });
    return html`
      <figure class="drawing" aria-label="Where the time of the last turn went">
        <div ref="place">
          <svg class="cr-drawing cr-steps" role="img" viewBox=${`0 0 ${width} ${HEIGHT}`} aria-label=${`Time of the turn: ${this.words}`}>
            <rect class="cr-ground" width=${width} height=${HEIGHT} />
            ${bars}
            ${fittingLabel([this.words, this.words.split(': ')[0]], MARGIN, HEIGHT - 8, whole)}
          </svg>
        </div>
      </figure>`;
  },
  mounted() {
    window.addEventListener('trace-rows', this.changed);
  },
  unmounted() {
    window.removeEventListener('trace-rows', this.changed);
  },
  methods: {
    changed() {
      this.rows = traceRows.all();
    },
  },
});
