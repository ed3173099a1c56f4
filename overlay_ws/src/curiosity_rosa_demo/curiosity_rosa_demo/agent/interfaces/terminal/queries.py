# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Commands that start no task: queries, and small changes of tasks and of autonomy."""

from __future__ import annotations

from datetime import datetime, timezone
import time

from curiosity_rosa_demo.agent.interfaces.terminal.command_tasks import triggers_outcome
from curiosity_rosa_demo.agent.interfaces.terminal.commands import (
    Command,
    help_text,
    with_templates,
)
from curiosity_rosa_demo.agent.llm.budget import usage_table
from curiosity_rosa_demo.agent.memory import event_line as trace_line
from curiosity_rosa_demo.agent.policy.autonomy import Autonomy
from curiosity_rosa_demo.agent.react.plan import plan_text
from curiosity_rosa_demo.agent.react.texts import budget_text, pending_table
from curiosity_rosa_demo.agent.runtime.execution.session import AgentSession
from curiosity_rosa_demo.agent.runtime.runtime import Runtime
from curiosity_rosa_demo.agent.tasks.texts import history_table, table, task_text, tasks_table
from curiosity_rosa_demo.domain.adapter_status import NoTriggers, Triggers
from curiosity_rosa_demo.domain.plan import Plan
from curiosity_rosa_demo.domain.skills import Outcome
from curiosity_rosa_demo.infra.config.topics import Config
from curiosity_rosa_demo.recording.recorder import RecordingControl
from curiosity_rosa_demo.trace.reporter import summary_of

MAX_TASKS = 30
RULES_NOTE = (
    'The agent uses the rule model, not a language model. '
    'To use a model, set llm.provider and llm.model in agent.yaml.'
)
NO_TOKENS = 'tokens  none: the rule model costs nothing'
NO_RECORDING = 'nothing can be recorded here'
AUTONOMY_COMMANDS = ('auto', 'why', 'tree', 'message', 'device')


def answer_query(
    command: Command,
    session: AgentSession,
    runtime: Runtime,
    autonomy: Autonomy,
    config: Config,
    recording: RecordingControl | None = None,
    triggers: Triggers | None = None,
) -> Outcome:
    """Run ``command`` at once. ``recording``: None if it is unavailable. Raises TaskError."""
    if command.name == 'record':
        return recording.run_command(command.text) if recording else Outcome(False, NO_RECORDING)
    if command.name == 'triggers':
        return triggers_outcome(command, triggers or NoTriggers())
    if command.name in AUTONOMY_COMMANDS:
        return _autonomy_outcome(command, autonomy)
    if command.name == 'status':
        result = session.rover_status()
        return Outcome(result.ok, summary_of('get_status', result))
    if command.name == 'cancel':
        task = runtime.find_task(command.text)
        ended = runtime.call(runtime.runner.cancel(task.id, 'Cancelled by the operator'))
        words = f'cancelled {task.id[:8]}' if ended else f'{task.id[:8]} had ended already'
        return Outcome(ended, words)
    if command.name == 'priority':
        task, priority = runtime.find_task(command.text), int(command.number)
        runtime.call(runtime.runner.reprioritise(task.id, priority))
        return Outcome(True, f'{task.id[:8]} has priority {priority}')
    return Outcome(True, _query_text(command, session, runtime, config))


def _autonomy_outcome(command: Command, autonomy: Autonomy) -> Outcome:
    name, text = command.name, command.text
    if name == 'why':
        return autonomy.decision_log(int(command.number))
    if name == 'message':
        return autonomy.post_message(text)
    if name == 'device':
        return autonomy.set_device(text, bool(command.number))
    if name == 'tree':
        return autonomy.write_tree(text) if text else autonomy.tree_text()
    if text == 'on':
        return autonomy.switch_on()
    return autonomy.switch_off('by the operator') if text == 'off' else autonomy.status()


def _query_text(command: Command, session: AgentSession, runtime: Runtime, config: Config) -> str:
    name = command.name
    if name == 'trace':
        lines = [trace_line(event) for event in session.recent_events()]
        return '\n'.join(lines[-int(command.number) :]) or 'no events'
    if name == 'pending':
        return pending_table(runtime.shown_questions, time.time())
    if name == 'plan':
        plan = session.react_state.plan
        return plan_text(Plan.from_dict(plan)) if plan else 'no plan'
    if name == 'budget':
        text = budget_text(
            session.react_state, config.guardrails.budget, config.agent.turn.max_steps
        )
        return f'{text}\n{_usage_text(session)}'
    if name == 'mode':
        return runtime.mode_text()
    if name == 'tasks':
        return tasks_table(runtime.list_tasks()[: -MAX_TASKS - 1 : -1], datetime.now(timezone.utc))
    if name == 'task':
        return task_text(runtime.find_task(command.text))
    if name == 'history':
        return history_table(runtime.task_history(runtime.find_task(command.text).id))
    notes = [RULES_NOTE] if config.agent.llm.provider == 'routine' else []
    return '\n'.join([help_text(with_templates(config.prompts.templates)), *notes])


def _usage_text(session: AgentSession) -> str:
    """What the model's calls have used, with the limits of llm.budget."""
    usage = session.usage
    if usage.llm.provider == 'routine':
        return NO_TOKENS
    usage.open()
    text = table(usage_table(usage.llm, usage.report()))
    return f'{text}\n! {usage.problem}' if usage.problem else text
