// The scrubber: it shows an earlier time of this robot, or a recording, to this page alone. STOP stops the
// live rover whatever is shown; the event time-shown tells the panels that they send nothing else.
const KINDS = [['error', '▲', 'e'], ['capture', '●', 'c'], ['question', '◆', 'q']];
const STEP_S = 1, LEAP_S = 10;
const SEEK_MS = 100; // between two requests while a person drags

export default {
  props: { facts: Object },
  emits: ['act'],
  data: () => ({ now: window.curiosity.now(), dragged: null, since: null }),
  computed: {
    start() {
      return this.facts.start ?? this.end;
    },
    end() {
      return this.facts.end ?? Math.max(this.now, this.facts.at ?? 0);
    },
    at() {
      return this.dragged ?? this.facts.at ?? this.end;
    },
    back() {
      return this.facts.at !== null || this.dragged !== null;
    },
    words() {
      return this.back ? window.curiosity.time(this.at) : 'live';
    },
    away() {
      const { duration } = window.curiosity.timeMarks;
      return this.facts.recording ? `${duration(this.at - this.start)} after its start` : `${duration(this.now - this.at)} ago`;
    },
    // The recording that is shown stays a choice, also once its file is gone.
    stories() {
      const { recording, recordings } = this.facts;
      return !recording || recordings.includes(recording) ? recordings : [recording, ...recordings];
    },
    marks() {
      return window.curiosity.timeMarks.shownMarks(this.facts.marks, this.start, this.end);
    },
  },
  template: `
    <section class="time-bar" :class="{ back }" aria-label="Time" @keydown="key">
      <div v-if="back" class="banner past">
        <p><b><span class="sr" role="status">This page looks back.</span>Looking back{{ facts.recording ? ' at ' + facts.recording : '' }}: {{ words }}, {{ away }}.</b>
          STOP stops the live rover at once. Nothing else is sent.<template v-if="facts.note"><br />{{ facts.note }}</template></p>
        <button type="button" aria-keyshortcuts="L" @click="live">Live again: L</button>
      </div>
      <p v-if="facts.problem || facts.reading" :class="{ warning: facts.problem }" role="status">{{ facts.problem || 'Reading ' + facts.reading + ' …' }}</p>
      <div class="row">
        <button type="button" class="small" :disabled="!back" aria-keyshortcuts="K" :aria-label="facts.playing ? 'Pause' : 'Play'" @click="play">{{ facts.playing ? '❚❚' : '▶' }}</button>
        <div class="scrub">
          <svg class="marks" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
            <line v-for="mark in marks" :key="mark.kind + mark.place" :class="'kind-' + mark.kind" :x1="mark.place" :x2="mark.place" :y1="mark.kind === 'restart' ? 0 : 4" y2="10" />
          </svg>
          <input ref="slider" type="range" :min="start" :max="end" step="any" :value="at" aria-label="Time that the page shows" :aria-valuetext="back ? words + ', ' + away : 'live'"
            @input="drag" @change="drop" />
        </div>
        <output class="time">{{ words }}</output>
        <select class="speed" :value="facts.speed" aria-label="Speed" @change="emit('speed', { speed: Number($event.target.value) })">
          <option v-for="speed in facts.speeds" :key="speed" :value="speed">{{ speed }}×</option>
        </select>
        <span v-for="[kind, sign, letter] in kinds" :key="kind" class="jumps" role="group" :aria-label="'Jump to ' + kind">
          <button type="button" class="small" :disabled="next(kind, -1) === null" :aria-label="'Previous ' + kind" :title="'Previous ' + kind + ': Shift+' + letter.toUpperCase()" @click="jump(kind, -1)">‹</button>
          <span :class="'kind-' + kind" aria-hidden="true">{{ sign }} {{ kind }}</span>
          <button type="button" class="small" :disabled="next(kind, 1) === null" :aria-label="'Next ' + kind" :title="'Next ' + kind + ': ' + letter.toUpperCase()" @click="jump(kind, 1)">›</button>
        </span>
        <select class="story" :value="facts.recording" aria-label="What the time line shows" @focus="emit('recordings')" @change="emit('recording', { name: $event.target.value })">
          <option value="">This robot</option>
          <option v-for="name in stories" :key="name" :value="name">{{ name }}</option>
        </select>
      </div>
    </section>`,
  watch: {
    back(back) {
      this.since = back ? window.curiosity.now() : null;
      this.tell();
    },
    at() {
      if (this.back) this.tell();
    },
  },
  created() {
    this.kinds = KINDS;
  },
  mounted() {
    this.timer = setInterval(() => (this.now = window.curiosity.now()), 1000);
    // Anywhere but where a person types.
    this.anywhere = (event) => {
      if (event.key.toLowerCase() !== 'l' || !this.back || this.typing(event)) return;
      this.live();
      event.preventDefault();
    };
    document.addEventListener('keydown', this.anywhere);
  },
  unmounted() {
    clearInterval(this.timer);
    clearTimeout(this.seeking);
    document.removeEventListener('keydown', this.anywhere);
  },
  methods: {
    emit(act, given = {}) {
      this.$emit('act', { act, ...given });
    },
    // at: the time that is shown, null: now; since: when the person began to look back.
    tell() {
      window.dispatchEvent(new CustomEvent('time-shown', { detail: { at: this.back ? this.at : null, since: this.since } }));
    },
    typing: (event) => event.ctrlKey || event.altKey || event.metaKey || event.target.matches('input:not([type=range]):not([type=checkbox]), textarea, select'),
    show(at) {
      this.emit('show', { at: Math.max(this.start, at) }); // the agent knows the end, which moves on
    },
    drag(event) {
      this.dragged = Number(event.target.value);
      this.seeking ??= setTimeout(() => {
        this.seeking = null;
        if (this.dragged !== null) this.show(this.dragged);
      }, SEEK_MS);
    },
    drop(event) {
      clearTimeout(this.seeking);
      this.seeking = null;
      this.show(Number(event.target.value));
      this.dragged = null;
    },
    play() {
      this.emit(this.facts.playing ? 'pause' : 'play');
    },
    live() {
      this.dragged = null;
      this.emit('live');
      if (this.$el.contains(document.activeElement)) this.$refs.slider.focus();
    },
    next(kind, direction) {
      return window.curiosity.timeMarks.nextMark(this.facts.marks, kind, this.back ? this.at : Infinity, direction);
    },
    jump(kind, direction) {
      const at = this.next(kind, direction);
      if (at !== null) this.show(at);
    },
    key(event) {
      if (this.typing(event)) return;
      const onSlider = event.target === this.$refs.slider;
      const steps = { ArrowLeft: -STEP_S, ArrowDown: -STEP_S, ArrowRight: STEP_S, ArrowUp: STEP_S, PageDown: -LEAP_S, PageUp: LEAP_S };
      const letter = event.key.toLowerCase();
      const kind = KINDS.find(([, , each]) => each === letter)?.[0];
      if (onSlider && event.key in steps) this.show(this.at + steps[event.key]);
      else if (onSlider && event.key === 'Home') this.show(this.start);
      else if (onSlider && event.key === 'End') this.facts.recording ? this.show(this.end) : this.live();
      else if (letter === 'k' || (onSlider && event.key === ' ')) this.back && this.play();
      else if (kind) this.jump(kind, event.shiftKey ? -1 : 1);
      else return;
      event.preventDefault();
    },
  },
};
