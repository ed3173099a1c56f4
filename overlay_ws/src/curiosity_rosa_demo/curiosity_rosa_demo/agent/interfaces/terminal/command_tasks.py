# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Tasks for the console commands that start one."""

from __future__ import annotations

from curiosity_rosa_demo.agent.interfaces.terminal.commands import Command
from curiosity_rosa_demo.agent.runtime.runtime import Runtime
from curiosity_rosa_demo.agent.tasks import Task
from curiosity_rosa_demo.agent.tasks.plan_file import plan_task

COMMAND_SKILLS = {
    'cap': 'capture_and_score',
    'mast_open': 'mast_open',
    'mast_close': 'mast_close',
    'mast_rotate': 'mast_rotate',
}
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
