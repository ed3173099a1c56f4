// The head: mode and task, motion, power, health. link.js marks values that are old.

import { say } from '../modules/acts.js';
import { html } from '../modules/html.js';
import { defineComponent } from '../vendor/vue.js';

/** @import { PropType } from '../vendor/vue.js' */

export default defineComponent({
  props: { facts: { type: /** @type {PropType<StatusFacts>} */ (Object), required: true } },
  render() {
    const { facts } = this;
    const { past, replay } = facts;
    /** @param {HeadValue} row */
    const value = (row) => html`
      <div key=${row.name} class=${['fact', { recorded: replay && row.from, bad: row.bad && !(replay && row.from) }]}>
        <dt>${this.label(row)}</dt>
        <dd data-from=${replay ? null : row.from} data-limit=${row.limit}><span class="value">${row.text}</span></dd>
      </div>`;
    return html`
      <header class="status" aria-label="State of the rover">
        <div class="group task-now" role="group" aria-label="Mode and task">
          <div class="row">
            <h1>Curiosity ROSA</h1>
            ${facts.body && html`<span class="quiet body" title="The body of the rover: not a real one">${facts.body}</span>`}
            <dl><div class=${['fact', 'mode', { recorded: past }]} data-mode=${past ? null : facts.mode}><dt class="sr">Mode</dt><dd title=${facts.why} data-from=${past ? null : 'node:kernel'}><span class="value">${facts.mode}${past ? ' (then)' : ''}</span></dd></div></dl>
            <label class="switch" title="Whether the rover acts on its own: :auto">
              <input type="checkbox" role="switch" disabled=${past} checked=${facts.auto_on} onClick=${this.switchAuto} />auto
            </label>
          </div>
          <p class="now" title=${facts.task || facts.auto}>${facts.task || facts.why || facts.auto}</p>
          <div class="row">
            ${facts.pausable && html`<button type="button" class="small" onClick=${() => say(':pause')}>Pause</button>`}
            ${facts.held && html`<button type="button" class="small" onClick=${() => say(':resume')}>Resume</button>`}
            ${facts.queued && html`<span class="quiet">${facts.queued}</span>`}
          </div>
        </div>
        <div class="group motion" role="group" aria-label="Motion">
          <p class="caption" aria-hidden="true">Motion</p>
          <dl>${facts.motion.map(value)}</dl>
        </div>
        <div class="group power" role="group" aria-label="Power">
          <p class="caption" aria-hidden="true">Power</p>
          <dl>${facts.power.map(value)}</dl>
        </div>
        <div class="group health" role="group" aria-label="Health">
          <p class="caption"><span aria-hidden="true">Health</span> <span id="delay" title="Round trip to the agent, and the age of its newest data"></span></p>
          <ul class="ages" aria-label="Nodes, and when they were last heard">
            ${facts.nodes.map(
              (node) => html`<li key=${node.name} class=${{ bad: !node.ok }} title=${node.text}>
                <span aria-hidden="true">${node.ok ? '●' : '▲'}</span> ${node.name}${' '}
                <span class="sr">${node.ok ? 'ok' : 'not ok'} ${node.text}</span>
                ${node.aged && html`<span class="age" data-age=${`node:${node.name}`}></span>`}
              </li>`,
            )}
          </ul>
          ${
            facts.sources.length > 0 &&
            html`<ul class="ages" aria-label="Age of the data">
              ${facts.sources.map((source) =>
                replay
                  ? html`<li key=${source.name} class="recorded">${source.name} <span class="age">${past ? 'then' : 'recorded'}</span></li>`
                  : html`<li key=${`${source.name} now`} class=${{ bad: source.silent }}>
                      <span aria-hidden="true">${source.silent ? '▲' : '○'}</span> ${source.name}${' '}
                      <span class="age" data-age=${source.name} data-limit=${source.limit}></span>
                    </li>`,
              )}
            </ul>`
          }
          ${facts.usage && html`<p class="quiet usage">Model: ${facts.usage}</p>`}
        </div>
      </header>`;
  },
  updated() {
    window.curiosity.refresh(); // the template may have replaced a value that was marked as old
  },
  methods: {
    /** @param {Event} event */
    switchAuto(event) {
      event.preventDefault();
      say(this.facts.auto_on ? ':auto off' : ':auto on');
    },
    // The value is that of an earlier time or of the recording, not the live rover's.
    /** @param {HeadValue} row */
    label(row) {
      if (this.facts.past) return `${row.name} (then)`;
      return this.facts.replay && row.from ? `${row.name} (recorded)` : row.name;
    },
  },
});
