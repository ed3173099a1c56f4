// The page of a robot: its panels, each with the part of the view that it shows.
import { html } from './modules/html.js';
import { facts, shown } from './modules/shown.js';
import Alarms from './panels/alarms.js';
import BrowserSettings from './panels/browser_settings.js';
import Camera from './panels/camera.js';
import Captures from './panels/captures.js';
import CommandLine from './panels/command_line.js';
import Conversation from './panels/conversation.js';
import Ground from './panels/ground.js';
import WorldMap from './panels/map.js';
import Plan from './panels/plan.js';
import Plot from './panels/plot.js';
import Progress from './panels/progress.js';
import QuestionAlert from './panels/question_alert.js';
import Status from './panels/status.js';
import Steps from './panels/steps.js';
import TaskDrawer from './panels/task_drawer.js';
import Tasks from './panels/tasks.js';
import TimeBar from './panels/time_bar.js';
import Times from './panels/times.js';
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
    const { about } = shown.live;
    if (!about) return html`<p class="quiet">Waiting for the agent …</p>`;
    const shows = facts(about);
    const known = shown.past ?? shown.live;
    const opens = (/** @type {string} */ id) => {
      this.task = id;
    };
    return html`
      <${Status} facts=${shows.status} />
      <${Alarms} facts=${shows.alarms} />
      <${QuestionAlert} rows=${shows.questions} />
      <${TimeBar} facts=${shown.time} />
      <div class="hidden-panels"></div>
      <div class="board">
        <div class="column place">
          ${section('map', 'Map', html`<${WorldMap} about=${about} />`)}
          ${section(
            'tasks',
            'Tasks',
            html`<${Progress} rows=${shows.progress} />`,
            html`<${Tasks} rows=${shows.tasks} onOpen=${opens} />`,
            html`<${Times} tasks=${known.tasks} />`,
            html`<${Triggers} rows=${shows.triggers} />`,
          )}
        </div>
        <div class="column look">
          ${section(
            'camera',
            'Camera',
            html`<${Camera} facts=${shows.captures} period=${about.camera_period_s} />`,
            html`<${Captures} facts=${shows.captures} />`,
            html`<${Ground} facts=${shows.ground} />`,
          )}
          ${section('plan', 'Plan', html`<${Plan} facts=${shows.plan} />`)}
          ${section('plot', 'Score over position', html`<${Plot} captures=${known.captures} about=${about} />`)}
        </div>
        <div class="column talking">
          ${section('talk', 'Conversation', html`<${Conversation} captures=${shows.captures.rows} said=${shown.live.talk ?? []} questions=${shows.questions} tasks=${shows.tasks} />`, html`<${CommandLine} commands=${about.commands} />`)}
          ${section('thought', 'Trace', html`<${Steps} />`, html`<${Trace} />`)}
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
