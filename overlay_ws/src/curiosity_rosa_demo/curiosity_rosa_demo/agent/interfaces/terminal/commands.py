# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Parsing of console lines into commands. Pure functions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
import difflib
import json
import math
from typing import Any
import unicodedata

from curiosity_rosa_demo.agent.language import understand
from curiosity_rosa_demo.domain.models import json_object
from curiosity_rosa_demo.infra.config.agent import Template


@dataclass(frozen=True)
class CommandSpec:
    name: str
    argument: str  # the argument as :help shows it; empty: no argument
    help: str


COMMANDS = {
    spec.name: spec
    for spec in (
        CommandSpec('help', '', 'list the commands'),
        CommandSpec('status', '', 'show the pose and the mast of the rover'),
        CommandSpec('cap', '', 'take a picture and score the light'),
        CommandSpec('demo', '', 'let the agent analyze the ground texture'),
        CommandSpec('stop', '', 'stop the rover and cancel all tasks'),
        CommandSpec('mast_open', '', 'raise the camera mast'),
        CommandSpec('mast_close', '', 'stow the camera mast'),
        CommandSpec('mast_rotate', '', 'turn the raised mast once around'),
        CommandSpec('forward', '[s]', 'drive ahead for s seconds'),
        CommandSpec('left', '[s]', 'drive an arc to the left for s seconds'),
        CommandSpec('right', '[s]', 'drive an arc to the right for s seconds'),
        CommandSpec('trace', '[n]', 'show the last n trace events'),
        CommandSpec('tasks', '', 'list open tasks and those that ended lately'),
        CommandSpec('task', 'ID', 'show one task; the first characters of its ID are enough'),
        CommandSpec('history', 'ID', 'show the state changes of a task'),
        CommandSpec('submit', 'NAME [json]', 'queue a skill with these arguments'),
        CommandSpec('run', 'FILE', 'run the plan in a file'),
        CommandSpec('pause', '', 'stop the rover and pause the active tasks'),
        CommandSpec('resume', '[ID]', 'resume the paused and held tasks, or this one'),
        CommandSpec('cancel', 'ID', 'end a task'),
        CommandSpec('priority', 'ID N', 'set the priority of a waiting task; higher runs first'),
        CommandSpec('pending', '', 'list the questions that wait for your answer'),
        CommandSpec('approve', '[ID]', 'answer yes to the oldest question, or to this one'),
        CommandSpec('edit', '[ID] {json}', 'answer yes, with these arguments'),
        CommandSpec('reject', '[ID] [why]', 'answer no; the agent reads the reason'),
        CommandSpec('plan', '', 'show the plan that the agent follows'),
        CommandSpec('budget', '', 'show the used part of the budget of the turn'),
        CommandSpec('mode', '', 'show what the rules allow now, and why'),
        CommandSpec('auto', '[on|off]', 'let the rover act on its own, or not; alone: show'),
        CommandSpec('why', '[n]', 'explain its last n decisions on its own'),
        CommandSpec('tree', '[FILE]', 'show its behaviour tree, or draw it in an SVG file'),
        CommandSpec('message', 'TEXT', 'send data, not an order, to a rover on its own'),
        CommandSpec('device', 'NAME on|off', 'let the rover use a device, or not'),
        CommandSpec('triggers', '[on|off] [NAME]', 'show the triggers, or switch NAME or all'),
        CommandSpec('record', '[on|off|status]', 'record the run into an MCAP file; alone: show'),
        CommandSpec('graph', 'QUESTION', 'answer a question about the ROS graph; reads only'),
        CommandSpec('clear', '', 'release the safety latch, once its cause is gone'),
        CommandSpec('quit', '', 'stop the rover and exit'),
    )
}
DEFAULT_DRIVE_S = 4.0
COMMAND_CHOICES = {'auto': ('on', 'off'), 'record': ('on', 'off', 'status')}
DEFAULT_COUNTS = {'trace': 10, 'why': 5}  # commands with a count, and its default


class BadCommand(ValueError):
    """The line is not a valid command. The message gives the usage."""


@dataclass(frozen=True)
class Command:
    """A console command, or a ``text`` for the model."""

    name: str  # of a command, or 'text'
    text: str = ''  # a free text, an ID, or the name of a skill or of a file
    number: float = 0.0
    data: dict[str, Any] = field(default_factory=dict)


def with_templates(templates: Mapping[str, Template]) -> dict[str, CommandSpec]:
    """COMMANDS, and one for each template."""
    own = {name: CommandSpec(name, '', each.label) for name, each in templates.items()}
    return {**COMMANDS, **own}


def parse(
    line: str, *, longest_drive_s: float, commands: Mapping[str, CommandSpec] = COMMANDS
) -> Command | None:
    """The command in ``line``, None for an empty one. Raises BadCommand."""
    line = line.strip()
    if not line:
        return None
    if not line.startswith((':', '：')):
        return Command('text', text=line)
    # A Japanese keyboard writes full-width letters, digits and spaces: NFKC makes them ASCII.
    name, *arguments = unicodedata.normalize('NFKC', line)[1:].split() or ['']
    name = name.lower()
    if name not in commands:
        raise BadCommand(_unknown(name, commands))
    spec = commands[name]
    if name in _FREE_TEXT_PARSERS:
        _, *typed = line[1:].split(None, 1)
        return _FREE_TEXT_PARSERS[name](spec, typed[0] if typed else '')
    named = spec.argument.split()
    if not len([each for each in named if each[0] != '[']) <= len(arguments) <= len(named):
        raise BadCommand(f'usage: {usage(spec)}')
    if name in ('forward', 'left', 'right'):
        limit = f'seconds, more than 0 and at most {longest_drive_s:g}'
        seconds = _number(spec, arguments, min(DEFAULT_DRIVE_S, longest_drive_s), limit)
        if not 0.0 < seconds <= longest_drive_s:
            raise BadCommand(f'{usage(spec)}: {arguments[0][:40]!r} is not {limit}')
        return Command(name, number=seconds)
    if name in COMMAND_CHOICES and arguments and arguments[0].lower() not in COMMAND_CHOICES[name]:
        *others, last = COMMAND_CHOICES[name]
        which = f'neither {", ".join(others)} nor {last}'
        raise BadCommand(f'{usage(spec)}: {arguments[0][:40]!r} is {which}')
    if name == 'device':
        if arguments[1].lower() not in ('on', 'off'):
            raise BadCommand(f'{usage(spec)}: {arguments[1][:40]!r} is neither on nor off')
        return Command(name, text=arguments[0].lower(), number=float(arguments[1].lower() == 'on'))
    if name == 'triggers':
        return _triggers(spec, arguments)
    if name in DEFAULT_COUNTS:
        count = _number(spec, arguments, DEFAULT_COUNTS[name], 'a count from 1 to 1000')
        if count != int(count) or not 1 <= count <= 1000:
            raise BadCommand(f'{usage(spec)}: {arguments[0][:40]!r} is not a count from 1 to 1000')
        return Command(name, number=count)
    if name == 'priority':
        limit = 'a whole number from -1000 to 1000'
        priority = _number(spec, arguments[1:], 0, limit)
        if priority != int(priority) or not -1000 <= priority <= 1000:
            raise BadCommand(f'{usage(spec)}: {arguments[1][:40]!r} is not {limit}')
        return Command(name, text=arguments[0].lower(), number=priority)
    return Command(name, text=arguments[0].lower() if arguments else '')


def _triggers(spec: CommandSpec, arguments: list[str]) -> Command:
    if not arguments:
        return Command(spec.name)
    switch = arguments[0].lower()
    if switch not in ('on', 'off'):
        raise BadCommand(f'{usage(spec)}: {arguments[0][:40]!r} is neither on nor off')
    if len(arguments) == 1:
        raise BadCommand(f'{usage(spec)}: which one? :triggers lists them; all stands for all')
    return Command(spec.name, text=arguments[1].lower(), number=float(switch == 'on'))


def is_stop(command: Command) -> bool:
    """Whether it is a stop, as a command or as a sentence."""
    is_sentence = command.name == 'text'
    return command.name == 'stop' or (is_sentence and understand.is_stop(command.text))


def is_stop_line(line: str) -> bool:
    """Whether ``line`` is a stop. For a thread that must not wait for the loop."""
    try:
        command = parse(line, longest_drive_s=math.inf)
    except BadCommand:
        return False
    return command is not None and is_stop(command)


def _submit(spec: CommandSpec, typed: str) -> Command:
    name, *arguments = typed.split(None, 1) or ['']
    if not name:
        raise BadCommand(f'usage: {usage(spec)}')
    data = _json_object(spec, arguments[0]) if arguments else {}
    return Command(spec.name, text=unicodedata.normalize('NFKC', name), data=data)


def _text(spec: CommandSpec, typed: str) -> Command:
    if not typed and spec.argument[0] != '[':
        raise BadCommand(f'usage: {usage(spec)}')
    return Command(spec.name, text=typed)


def _edit(spec: CommandSpec, typed: str) -> Command:
    words, brace, rest = typed.partition('{')
    start, *surplus = words.split() or ['']
    if not brace or surplus:
        raise BadCommand(f'usage: {usage(spec)}, such as {{"duration_s": 2}}')
    start = unicodedata.normalize('NFKC', start).lower()
    return Command(spec.name, text=start, data=_json_object(spec, brace + rest))


# These commands get their arguments unnormalized: a text may contain full-width letters.
_FREE_TEXT_PARSERS = {
    'submit': _submit,
    'run': _text,
    'tree': _text,
    'message': _text,
    'graph': _text,
    'edit': _edit,
    'reject': _text,  # the console splits ID and reason: it knows the open questions
}


def _json_object(spec: CommandSpec, text: str) -> dict[str, Any]:
    try:
        data = json.loads(text)
        if isinstance(data, dict):
            json_object(data)  # json.loads accepts NaN and lone surrogates
            return data
    except (ValueError, RecursionError) as error:
        raise BadCommand(f'{usage(spec)}: not JSON: {error}') from None
    raise BadCommand(f'{usage(spec)}: {text[:40]!r} is not a JSON object')


def usage(spec: CommandSpec) -> str:
    return f':{spec.name} {spec.argument}'.rstrip()


def help_text(commands: Mapping[str, CommandSpec] = COMMANDS) -> str:
    width = max(len(usage(spec)) for spec in commands.values())
    lines = [f'  {usage(spec):<{width}}  {spec.help}' for spec in commands.values()]
    return '\n'.join([*lines, '  the agent reads every other line as a goal or a question'])


def _unknown(name: str, commands: Mapping[str, CommandSpec]) -> str:
    name = name[:40]
    prefixed = [each for each in commands if name and each.startswith(name)]
    near = prefixed or difflib.get_close_matches(name, commands, n=1, cutoff=0.5)
    hint = f'did you mean :{near[0]}? ' if near else ''
    return f'no command :{name}; {hint}:help lists all'


def _number(spec: CommandSpec, arguments: list[str], default: float, allowed: str) -> float:
    if not arguments:
        return default
    try:
        number = float(arguments[0])
    except ValueError:
        number = float('nan')
    if number != number or number in (float('inf'), float('-inf')):
        raise BadCommand(f'{usage(spec)}: {arguments[0][:40]!r} is not {allowed}')
    return number
