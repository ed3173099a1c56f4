// The page of several robots.
import { html } from './modules/html.js';
import BrowserSettings from './panels/browser_settings.js';
import FleetHead from './panels/fleet_head.js';
import FleetRobot from './panels/fleet_robot.js';
import { createApp, defineComponent } from './vendor/vue.js';

const { view } = window.curiosity;

const Fleet = defineComponent({
  data: () => ({ parts: { ...view.parts } }),
  mounted() {
    window.addEventListener('view', ({ detail }) => {
      if (detail.parts) this.parts = { ...this.parts, ...detail.parts };
    });
  },
  render() {
    const { head, robots } = this.parts;
    if (!head) return html`<p class="quiet">Waiting for the agent …</p>`;
    return html`
      <${FleetHead} facts=${head} />
      <div class="robots">${robots.map((robot) => html`<${FleetRobot} key=${robot.name} facts=${robot} robots=${robots.length} />`)}</div>
      <${BrowserSettings} longest=${head.name_chars} />`;
  },
});

createApp(Fleet).mount('#app');
