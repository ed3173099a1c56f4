// The page of the fleet: each robot's public state, question and picture, and one STOP for all of them.
import { html } from './modules/html.js';
import BrowserSettings from './panels/browser_settings.js';
import FleetHead from './panels/fleet_head.js';
import FleetRobot from './panels/fleet_robot.js';
import { createApp, defineComponent, shallowRef } from './vendor/vue.js';

const { view } = window.curiosity;
const known = shallowRef(view.document);

window.addEventListener('view', () => {
  known.value = view.document;
});

const Fleet = defineComponent({
  render() {
    const { robots, limit_s, name_chars } = known.value;
    if (!robots || !limit_s || !name_chars) return html`<p class="quiet">Waiting for the agent …</p>`;
    const all = Object.values(robots);
    return html`
      <${FleetHead} robots=${all} />
      <div class="robots">${all.map((robot) => html`<${FleetRobot} key=${robot.name} robot=${robot} limit=${limit_s} robots=${all.length} />`)}</div>
      <${BrowserSettings} longest=${name_chars} />`;
  },
});

createApp(Fleet).mount('#app');
