# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Tasks for the console commands that start one, and what ``:triggers`` prints."""

from __future__ import annotations

from pathlib import Path

from curiosity_rosa_demo.agent.interfaces.terminal.commands import Command
from curiosity_rosa_demo.agent.runtime.runtime import Runtime
from curiosity_rosa_demo.agent.tasks import Task
from curiosity_rosa_demo.agent.tasks.task import BadTask
from curiosity_rosa_demo.domain.adapter_status import Triggers, TriggerStatus, UnknownTrigger
from curiosity_rosa_demo.domain.plan import PlanError
from curiosity_rosa_demo.domain.plan_reader import create_plan_from_llm_response
from curiosity_rosa_demo.domain.skills import Outcome
from curiosity_rosa_demo.domain.text import short_repr, visible
from curiosity_rosa_demo.infra.config.behaviour import ALL

COMMAND_SKILLS = {
    'cap': 'capture_and_score',
    'mast_open': 'mast_open',
    'mast_close': 'mast_close',
    'mast_rotate': 'mast_rotate',
}
MAX_FILE_BYTES = 1_000_000  # of a plan
DRIVE_COMMANDS = {'forward': 'move_forward', 'left': 'turn_left', 'right': 'turn_right'}


def task_for_command(command: Command, runtime: Runtime) -> Task | None:
    """The task for ``command``; None: the command starts no task. Raises TaskError."""
    name = command.name
    if name == 'template':
        return Task('react', metadata={'text': command.text, **command.data})
    if name in DRIVE_COMMANDS:
        return runtime.make_task(DRIVE_COMMANDS[name], {'duration_s': command.number})
    if name in COMMAND_SKILLS:
        return runtime.make_task(COMMAND_SKILLS[name], {})
    if name == 'submit':
        return runtime.make_task(command.text, command.data)
    if name == 'run':
        return plan_task(command.text)
    return None


def plan_task(name: str) -> Task:
    """A task that executes the plan in the file ``name``. Raises BadTask."""
    try:
        path = Path(name).expanduser()
        if path.exists() and not path.is_file():  # opening a pipe would block
            raise BadTask(f'{name} is no file')
        with path.open('rb') as file:
            data = file.read(MAX_FILE_BYTES + 1)
        if len(data) > MAX_FILE_BYTES:
            raise BadTask(f'{name} has more than {MAX_FILE_BYTES} bytes; a plan may have so many')
        plan = create_plan_from_llm_response(data.decode())
    except BadTask:
        raise
    except PlanError as error:
        raise BadTask(f'{name}: {error}') from None
    except OSError as error:
        raise BadTask(f'cannot read {name}: {error.strerror or error}') from None
    except UnicodeDecodeError as error:
        byte = f'byte {error.start} is {data[error.start]:#04x}'
        raise BadTask(f'{name} is not UTF-8: {byte}') from None
    except (ValueError, RuntimeError) as error:  # a null character, or a ~user without a home
        raise BadTask(f'cannot read {name!r}: {error}') from None
    return Task('react', metadata={'text': plan.goal, 'expects': 'answer', 'plan': plan.to_dict()})


# --- The command ``:triggers`` -----------------------------------------------------------------


NO_TRIGGERS = 'no triggers; triggers.yaml can have some (docs/howto/triggers.md)'


def triggers_outcome(command: Command, triggers: Triggers) -> Outcome:
    """Run ``:triggers``: the list, or a switch."""
    if command.text:
        on = bool(command.number)
        found = [each.name for each in triggers.statuses()] if command.text == ALL else []
        try:
            for name in found or [command.text]:
                triggers.switch(name, on)
        except UnknownTrigger as error:
            return Outcome(False, str(error))
        return Outcome(True, '\n'.join(trigger_text(each) for each in triggers.statuses()))
    rows = [trigger_text(each) for each in triggers.statuses()]
    return Outcome(True, '\n'.join(rows) or NO_TRIGGERS)


def trigger_text(status: TriggerStatus) -> str:
    """One line: name, state, condition, action, last value, last firing, why not."""
    fired = status.fired_s_ago
    parts = [
        f'when {status.condition}: {status.action}',
        f'last value {short_repr(status.value)}',
        'not fired' if fired is None else f'fired {status.fired_count}x, {fired:.0f} s ago',
        *([status.why_not] if status.why_not else []),
    ]
    return visible(f'{status.name}  {status.state.value}  {"; ".join(parts)}')
