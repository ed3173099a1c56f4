// The steps of a plan, each with its state.
import { html } from './html.js';

/** @type {Record<string, string>} */
const SIGNS = { pending: '○', running: '▶', success: '✓', failed: '✗', skipped: '–', wait_confirmation: '?' };

/** @param {PlanFacts} plan */
export const planSteps = ({ steps }) =>
  steps.length
    ? html`<ol>
        ${steps.map(
          (
            step,
            index,
          ) => html`<li key=${index} class=${['step', step.status]} aria-current=${step.status === 'running' ? 'step' : null}>
            <span aria-hidden="true">${SIGNS[step.status] ?? '·'}</span>
            <span class="text"><b>${step.action}</b> ${step.parameters && html`<code>${step.parameters}</code>`} ${step.text}${step.why && html`<span class="quiet why">${step.why}</span>`}</span>
            <span class="state">${step.status}</span>
          </li>`,
        )}
      </ol>`
    : html`<p class="quiet">No plan: the agent decides step by step.</p>`;
