// The page of a robot: its panels, each with the part of the view that it shows.
import { html } from './modules/html.js';
import { drawing, parts, shown } from './modules/shown.js';
import Alarms from './panels/alarms.js';
import BrowserSettings from './panels/browser_settings.js';
import Camera from './panels/camera.js';
import Captures from './panels/captures.js';
import CommandLine from './panels/command_line.js';
import Conversation from './panels/conversation.js';
import Drawing from './panels/drawing.js';
import Ground from './panels/ground.js';
import WorldMap from './panels/map.js';
import Plan from './panels/plan.js';
import Progress from './panels/progress.js';
import QuestionAlert from './panels/question_alert.js';
import Status from './panels/status.js';
import TaskDrawer from './panels/task_drawer.js';
import Tasks from './panels/tasks.js';
import TimeBar from './panels/time_bar.js';
import Trace from './panels/trace.js';
import Triggers from './panels/triggers.js';
import { createApp, defineComponent } from './vendor/vue.js';

/**
 * A panel with its heading and its buttons, for which head/panels.js is.
 * @param {string} name
 * @param {string} heading
 * @param {unknown[]} content
 */
const section = (name, heading, ...content) => html`
  <section class=${`panel ${name}`} aria-labelledby=${`heading-${name}`} data-panel=${name}>
    <div class="bar">
      <h2 id=${`heading-${name}`}>${heading}</h2>
      <button type="button" data-act="enlarge" aria-label=${`Enlarge ${heading}`} title=${`Enlarge ${heading}`}>⤢</button>
      <button type="button" data-act="hide" aria-label=${`Hide ${heading}`} title=${`Hide ${heading}`}>–</button>
    </div>
    <div class="body">${content}</div>
  </section>`;

const Page = defineComponent({
  data: () => ({
    /** @type {string} the ID of the task whose drawer is open; '': none */
    task: '',
  }),
  render() {
    const facts = parts();
    if (!facts.status) return html`<p class="quiet">Waiting for the agent …</p>`;
    const opens = (/** @type {string} */ id) => {
      this.task = id;
    };
    const { about } = facts;
    return html`
      <${Status} facts=${facts.status} />
      <${Alarms} facts=${facts.alarms} />
      <${QuestionAlert} facts=${facts.approvals} />
      <${TimeBar} facts=${shown.time} />
      <div class="hidden-panels"></div>
      <div class="board">
        <div class="column place">
          ${section('map', 'Map', html`<${WorldMap} facts=${drawing('map')} label="Map of the rover and its surroundings" />`)}
          ${section(
            'tasks',
            'Tasks',
            html`<${Progress} facts=${facts.progress} />`,
            html`<${Tasks} facts=${facts.tasks} onOpen=${opens} />`,
            html`<${Drawing} name="times" facts=${drawing('times')} label="Tasks over time" />`,
            html`<${Triggers} facts=${facts.triggers} />`,
          )}
        </div>
        <div class="column look">
          ${section(
            'camera',
            'Camera',
            html`<${Camera} facts=${facts.captures} period=${about.camera_period_s} />`,
            html`<${Captures} facts=${facts.captures} />`,
            html`<${Ground} facts=${facts.ground} />`,
          )}
          ${section('plan', 'Plan', html`<${Plan} facts=${facts.plan} />`)}
          ${section('plot', 'Score over position', html`<${Drawing} name="plot" facts=${drawing('plot')} label="Score of the captures over position" />`)}
        </div>
        <div class="column talking">
          ${section('talk', 'Conversation', html`<${Conversation} facts=${facts.talk} />`, html`<${CommandLine} commands=${about.commands} />`)}
          ${section(
            'thought',
            'Trace',
            html`<${Drawing} name="steps" facts=${drawing('steps')} label="Where the time of the last turn went" />`,
            html`<${Trace} />`,
          )}
        </div>
      </div>
      <${TaskDrawer} task=${this.task} onOpen=${opens} />
      <${BrowserSettings} longest=${about.name_chars} />
      ${about.fleet && html`<a class="to-fleet" href="/fleet">All robots</a>`}`;
  },
  updated() {
    window.curiosity.showPanels();
  },
});

createApp(Page).mount('#app');
