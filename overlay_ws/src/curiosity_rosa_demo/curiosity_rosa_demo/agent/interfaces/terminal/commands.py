# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The commands of the console, in the order of ``:help``: name, arguments, help and handler.

A handler answers at once, or returns a message for the agent. It raises TaskError,
QuestionNotFound.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timezone
import difflib
from functools import partial
import math
from pathlib import Path
import time
from typing import TypeVar
import unicodedata

from curiosity_rosa_demo.agent.interfaces.terminal import syntax
from curiosity_rosa_demo.agent.interfaces.terminal.syntax import (
    BadCommand,
    Command,
    Handler,
    Spec,
    SWITCH,
    TypedLine,
)
from curiosity_rosa_demo.agent.kernel.hear import (
    Answered,
    Asked,
    AskedGraph,
    Message,
    Ordered,
    Said,
)
from curiosity_rosa_demo.agent.language import understand
from curiosity_rosa_demo.agent.llm.usage import usage_table
from curiosity_rosa_demo.agent.memory import event_line
from curiosity_rosa_demo.agent.react.plan import plan_text
from curiosity_rosa_demo.agent.react.texts import budget_text, pending_table
from curiosity_rosa_demo.agent.runtime.approvals import find_question, split_id_and_reason
from curiosity_rosa_demo.agent.tasks import Task
from curiosity_rosa_demo.agent.tasks.origin import with_origin
from curiosity_rosa_demo.agent.tasks.task import BadTask, TaskError
from curiosity_rosa_demo.agent.tasks.texts import (
    history_table,
    mode_text,
    table,
    task_text,
    tasks_table,
)
from curiosity_rosa_demo.domain.adapter_status import TriggerStatus, UnknownTrigger
from curiosity_rosa_demo.domain.brain_state import ApprovalAction, UserInterruptType
from curiosity_rosa_demo.domain.origin import named_caller
from curiosity_rosa_demo.domain.plan import Plan, PlanError
from curiosity_rosa_demo.domain.plan_reader import create_plan_from_llm_response
from curiosity_rosa_demo.domain.skills import Outcome
from curiosity_rosa_demo.domain.text import short_repr, visible
from curiosity_rosa_demo.infra.config.agent import Template
from curiosity_rosa_demo.infra.config.behaviour import ALL
from curiosity_rosa_demo.trace.reporter import summary_of

MAX_TASKS = 30
MAX_STOP_CHARS = 1000  # of a line that stops at once; the rules read so many in 3 ms
MAX_FILE_BYTES = 1_000_000  # of a plan
NO_TOKENS = 'tokens  none: the rule model costs nothing'
EMPTY_LINE = 'The line is empty; :help lists the commands.'
NO_RECORDING = 'nothing can be recorded here'
NO_TRIGGERS = 'no triggers; triggers.yaml can have some (docs/howto/triggers.md)'

RULES_NOTE = (
    'The agent uses the rule model, not a language model. '
    'To use a model, set llm.provider and llm.model in agent.yaml.'
)
H = TypeVar('H', bound=Handler)
COMMANDS: dict[str, Spec] = {}


def command(
    name: str,
    argument: str,
    help: str,
    read: syntax.Read = syntax.word,
    *,
    raw: Callable[[Spec, str], Command] | None = None,
    choices: tuple[str, ...] = (),
    early: bool = False,
) -> Callable[[H], H]:
    """A row of COMMANDS; the fields are those of Spec."""

    def add(run: H) -> H:
        COMMANDS[name] = Spec(name, argument, help, run, read, raw, choices, early)
        return run

    return add


at_once = partial(command, early=True)
choose, raw_text = partial(at_once, choices=SWITCH), syntax.raw_text


# --- What orders and answers are made of ------------------------------------------------------


def say(line: TypedLine) -> Message:
    return Said(line.command.text, line.by, line.question_id, stops=line.stops, origin=line.origin)


def intent(act: UserInterruptType) -> Handler:
    def ask(line: TypedLine) -> Message:
        task_id = _task(line).id if line.command.text else ''
        return Asked(act, task_id, stops=line.stops)

    return ask


def answer(action: ApprovalAction) -> Handler:
    """Raises QuestionNotFound."""

    def give(line: TypedLine) -> Message:
        command, shown = line.command, line.robot.questions()
        start, why = command.text, ''
        if action is ApprovalAction.REJECT:
            start, why = split_id_and_reason(command.text, shown)
        asked = find_question(shown, start)
        arguments = command.data if action is ApprovalAction.EDIT else None
        return Answered(action, asked.id, why, line.by, arguments, stops=line.stops)

    return give


def skill(name: str) -> Handler:
    """Runs the skill ``name``; '': the one that the command names."""

    def order(line: TypedLine) -> Message:
        command = line.command
        arguments = {'duration_s': command.number} if command.number else command.data
        return _ordered(line, line.robot.make_task(name or command.text, arguments))

    return order


def template(line: TypedLine) -> Message:
    metadata = {'text': line.command.text, **line.command.data}
    return _ordered(line, Task('react', metadata=metadata))


def _ordered(line: TypedLine, task: Task) -> Message:
    with_origin(task, line.origin, named_caller(line.by))
    return Ordered(task, stops=line.stops)


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


def _task(line: TypedLine) -> Task:
    """The task whose ID begins with the text of the command. Raises TaskError."""
    start, robot = line.command.text, line.robot
    found = [task for task in robot.wait(robot.tasks()) if task.id.startswith(start)]
    if len(found) == 1:
        return found[0]
    what = f'{len(found)} tasks' if found else 'no task'
    raise TaskError(f'{what} with an ID that begins with {start[:40]!r}; :tasks shows them')


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


# --- The table ---------------------------------------------------------------------------------


@at_once('help', '', 'list the commands')
def _help(line: TypedLine) -> Outcome:
    config = line.robot.config
    notes = [RULES_NOTE] if config.agent.llm.provider == 'routine' else []
    return Outcome(True, '\n'.join([help_text(with_templates(config.prompts.templates)), *notes]))


@command('status', '', 'show the pose and the mast of the rover')
def show_status(line: TypedLine) -> Outcome:
    result = line.robot.rover_status()
    return Outcome(result.ok, summary_of('get_status', result))


command('cap', '', 'take a picture and score the light')(skill('capture_and_score'))


@command('stop', '', 'stop the rover and cancel all tasks')
@command('demo', '', 'let the agent analyze the ground texture')
def _never(line: TypedLine) -> Outcome:
    """The console itself stops, quits and fills a template in."""
    raise AssertionError(line.command.name)


command('mast_open', '', 'raise the camera mast')(skill('mast_open'))
command('mast_close', '', 'stow the camera mast')(skill('mast_close'))
command('mast_rotate', '', 'turn the raised mast once around')(skill('mast_rotate'))
command('forward', '[s]', 'drive ahead for s seconds (default 4)', syntax.seconds)(
    skill('move_forward')
)
command('left', '[s]', 'drive an arc to the left, as :forward', syntax.seconds)(skill('turn_left'))
command('right', '[s]', 'drive an arc to the right, as :forward', syntax.seconds)(
    skill('turn_right')
)


@at_once('trace', '[n]', 'show the last n trace events (default 10)', syntax.count(10))
def show_trace(line: TypedLine) -> Outcome:
    lines = [event_line(event) for event in line.robot.recent_events()]
    return Outcome(True, '\n'.join(lines[-int(line.command.number) :]) or 'no events')


@at_once('tasks', '', 'list open tasks and those that ended lately')
def list_tasks(line: TypedLine) -> Outcome:
    tasks = line.robot.wait(line.robot.tasks())
    return Outcome(True, tasks_table(tasks[: -MAX_TASKS - 1 : -1], datetime.now(timezone.utc)))


@at_once('task', 'ID', 'show one task; the first characters of its ID are enough')
def show_task(line: TypedLine) -> Outcome:
    return Outcome(True, task_text(_task(line)))


@at_once('history', 'ID', 'show the state changes of a task')
def show_history(line: TypedLine) -> Outcome:
    return Outcome(True, history_table(line.robot.wait(line.robot.history(_task(line).id))))


command('submit', 'NAME [json]', 'queue a skill with these arguments', raw=syntax.submit)(
    skill('')
)


@command('run', 'FILE', 'run the plan in a file', raw=raw_text)
def run_plan(line: TypedLine) -> Message:
    return _ordered(line, plan_task(line.command.text))


command('pause', '', 'stop the rover and pause the active tasks')(intent(UserInterruptType.PAUSE))
command('resume', '[ID]', 'resume the paused and held tasks, or this one')(
    intent(UserInterruptType.RESUME)
)


@at_once('cancel', 'ID', 'end a task')
def cancel(line: TypedLine) -> Outcome:
    task = _task(line)
    line.robot.wait(line.robot.cancel(task.id, 'Cancelled by the operator'))
    return Outcome(True, f'cancelled {task.id[:8]}')


@at_once(
    'priority', 'ID N', 'set the priority of a waiting task; higher runs first', syntax.priority
)
def prioritise(line: TypedLine) -> Outcome:
    task, priority = _task(line), int(line.command.number)
    line.robot.wait(line.robot.prioritise(task.id, priority))
    return Outcome(True, f'{task.id[:8]} has priority {priority}')


@at_once('pending', '', 'list the questions that wait for your answer')
def show_questions(line: TypedLine) -> Outcome:
    return Outcome(True, pending_table(line.robot.questions(), time.time()))


at_once('approve', '[ID]', 'answer yes to the oldest question, or to this one')(
    answer(ApprovalAction.APPROVE)
)
at_once('edit', '[ID] {json}', 'answer yes, with these arguments', raw=syntax.edit)(
    answer(ApprovalAction.EDIT)
)
at_once('reject', '[ID] [why]', 'answer no; the agent reads the reason', raw=raw_text)(
    answer(ApprovalAction.REJECT)
)


@at_once('plan', '', 'show the plan that the agent follows')
def show_plan(line: TypedLine) -> Outcome:
    plan = line.robot.state().react.plan
    return Outcome(True, plan_text(Plan.from_dict(plan)) if plan else 'no plan')


@at_once('budget', '', 'show the used part of the budget of the turn')
def show_budget(line: TypedLine) -> Outcome:
    """Of the turn, and what the model's calls have used, with the limits of llm.budget."""
    config, ledger = line.robot.config, line.robot.ledger
    limits, steps = config.guardrails.budget, config.agent.turn.max_steps
    text = budget_text(line.robot.state().react, limits, steps)
    if ledger.llm.provider == 'routine':
        return Outcome(True, f'{text}\n{NO_TOKENS}')
    ledger.open()
    text = f'{text}\n{table(usage_table(ledger.llm, ledger.report()))}'
    return Outcome(True, f'{text}\n! {ledger.problem}' if ledger.problem else text)


@at_once('mode', '', 'show what the rules allow now, and why')
def show_mode(line: TypedLine) -> Outcome:
    return Outcome(True, mode_text(line.robot.state()))


@choose('auto', '[on|off]', 'let the rover act on its own, or not; alone: show')
def switch_autonomy(line: TypedLine) -> Outcome:
    autonomy, to = line.robot.autonomy, line.command.text
    if to == 'on':
        return autonomy.switch_on()
    return autonomy.switch_off('by the operator') if to == 'off' else autonomy.status()


@at_once('why', '[n]', 'explain its last n decisions on its own (default 5)', syntax.count(5))
def explain(line: TypedLine) -> Outcome:
    return line.robot.autonomy.decision_log(int(line.command.number))


@at_once('tree', '[FILE]', 'show its behaviour tree, or draw it in an SVG file', raw=raw_text)
def show_tree(line: TypedLine) -> Outcome:
    autonomy, file = line.robot.autonomy, line.command.text
    return autonomy.write_tree(file) if file else autonomy.tree_text()


@at_once('message', 'TEXT', 'send data, not an order, to a rover on its own', raw=raw_text)
def post_message(line: TypedLine) -> Outcome:
    return line.robot.autonomy.post_message(line.command.text)


@at_once('device', 'NAME on|off', 'let the rover use a device, or not', syntax.device)
def set_device(line: TypedLine) -> Outcome:
    return line.robot.autonomy.set_device(line.command.text, bool(line.command.number))


@choose('triggers', '[on|off] [NAME]', 'show the triggers, or switch NAME or all', syntax.triggers)
def switch_triggers(line: TypedLine) -> Outcome:
    """The list, after a switch."""
    robot, name = line.robot, line.command.text
    names = [each.name for each in robot.triggers()] if name == ALL else [name] * bool(name)
    try:
        for each in names:
            robot.switch_trigger(each, bool(line.command.number))
    except UnknownTrigger as error:
        return Outcome(False, str(error))
    return Outcome(True, '\n'.join(map(trigger_text, robot.triggers())) or NO_TRIGGERS)


@at_once(
    'record',
    '[on|off|status]',
    'record the run into an MCAP file; alone: show',
    choices=(*SWITCH, 'status'),
)
def record(line: TypedLine) -> Outcome:
    recording = line.robot.recording
    if recording is None:
        return Outcome(False, NO_RECORDING)
    return recording.run_command(line.command.text)


@command('graph', 'QUESTION', 'answer a question about the ROS graph; reads only', raw=raw_text)
def ask_graph(line: TypedLine) -> Message:
    return AskedGraph(line.command.text)


command('clear', '', 'release the safety latch, once its cause is gone')(
    intent(UserInterruptType.CLEAR)
)
command('quit', '', 'stop the rover and exit')(_never)

# What a line without a colon is, and what a template with an expected result stands for.
TEXT, TEMPLATE = (
    Spec('text', '', '', say, syntax.word),
    Spec('template', '', '', template, syntax.word),
)


def with_templates(templates: Mapping[str, Template]) -> dict[str, Spec]:
    """COMMANDS, and one for each template."""
    own = {
        name: Spec(name, '', each.label, _never, syntax.word) for name, each in templates.items()
    }
    return {**COMMANDS, **own}


def spec_of(command: Command, commands: Mapping[str, Spec] = COMMANDS) -> Spec:
    return {'text': TEXT, 'template': TEMPLATE}.get(command.name) or commands[command.name]


def parse(
    line: str, *, longest_drive_s: float, commands: Mapping[str, Spec] = COMMANDS
) -> Command | None:
    """The command in ``line``, None for an empty one. Raises BadCommand."""
    line = line.strip()
    if not line:
        return None
    if not line.startswith((':', '：')):
        return Command('text', text=line)
    # A Japanese keyboard writes full-width letters, digits and spaces: NFKC makes them ASCII.
    name, *words = unicodedata.normalize('NFKC', line)[1:].split() or ['']
    name = name.lower()
    if name not in commands:
        raise BadCommand(_unknown(name, commands))
    spec = commands[name]
    if spec.raw is not None:
        _, *typed = line[1:].split(None, 1)
        return spec.raw(spec, typed[0] if typed else '')
    named = spec.argument.split()
    if not len([each for each in named if each[0] != '[']) <= len(words) <= len(named):
        raise BadCommand(f'usage: {spec.usage}')
    if spec.choices and words:
        spec.check(words[0].lower() in spec.choices, words[0], syntax.neither(spec.choices))
    return spec.read(spec, words, longest_drive_s)


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


def is_short_stop(text: str) -> bool:
    """As ``is_stop_line``, in a few milliseconds at most."""
    return len(text) <= MAX_STOP_CHARS and is_stop_line(text)


def help_text(commands: Mapping[str, Spec] = COMMANDS) -> str:
    width = max(len(spec.usage) for spec in commands.values())
    lines = [f'  {spec.usage:<{width}}  {spec.help}' for spec in commands.values()]
    return '\n'.join([*lines, '  the agent reads every other line as a goal or a question'])


def _unknown(name: str, commands: Mapping[str, Spec]) -> str:
    name = name[:40]
    prefixed = [each for each in commands if name and each.startswith(name)]
    near = prefixed or difflib.get_close_matches(name, commands, n=1, cutoff=0.5)
    hint = f'did you mean :{near[0]}? ' if near else ''
    return f'no command :{name}; {hint}:help lists all'
