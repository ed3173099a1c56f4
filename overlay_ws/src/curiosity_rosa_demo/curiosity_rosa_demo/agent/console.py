# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The console: runs lines and prints answers. Most lines become tasks; a stop acts at once.

Over 300 lines in one file: one lock guards the queued lines and the count of pending requests.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import replace
import threading

from curiosity_rosa_demo.agent.interfaces.terminal.commands import (
    COMMANDS,
    EMPTY_LINE,
    is_stop,
    parse,
    spec_of,
    with_templates,
)
from curiosity_rosa_demo.agent.interfaces.terminal.syntax import BadCommand, Command, TypedLine
from curiosity_rosa_demo.agent.kernel.hear import Message, Ordered, Reply, Said
from curiosity_rosa_demo.agent.language.tables import say
from curiosity_rosa_demo.agent.language.understand import beside_the_stop, understand
from curiosity_rosa_demo.agent.memory import event_line as trace_line
from curiosity_rosa_demo.agent.react.ask import QuestionNotFound
from curiosity_rosa_demo.agent.robot import Robot
from curiosity_rosa_demo.agent.rule_model.texts import steps_text
from curiosity_rosa_demo.agent.tasks import Task
from curiosity_rosa_demo.agent.tasks.task import TaskError
from curiosity_rosa_demo.domain.brain_state import (
    UserInterruptType,
)
from curiosity_rosa_demo.domain.models import TraceEvent, TraceKind
from curiosity_rosa_demo.domain.operation import DECIDE_TOOL
from curiosity_rosa_demo.domain.origin import caller_prefix, Origin
from curiosity_rosa_demo.domain.skills import Outcome, outcome_of
from curiosity_rosa_demo.domain.text import (
    first_line,
    marked_lines,
    printable,
    without_controls,
)
from curiosity_rosa_demo.drawing.columns import clip_columns
from curiosity_rosa_demo.infra.config.agent import DEMO
from curiosity_rosa_demo.infra.config_loader import ConfigError
from curiosity_rosa_demo.trace.events import (
    IN_TASK,
    ModelCalled,
    PlanStepEnded,
    QuestionAsked,
    TurnAnswered,
    TurnFailed,
    TurnStarted,
)

OPERATOR = 'the operator'
STOP_WAIT_S = 3.0
UNCONFIRMED_TEXT = '(the stop is sent; the rover has not confirmed it yet)'
REMEMBERED_TASKS = 20
ECHO_COLUMNS = 200  # of a remote line, as the console shows it
MAX_LINE_CHARS = 10_000  # the intent rules read so many in 25 ms


class Console:
    """Runs lines of the operator and of remote clients. The methods are thread-safe.

    ``say`` prints one text. Several threads call it; it must not raise. Raises ConfigError for a
    template that has the name of a command.
    """

    def __init__(self, robot: Robot, say: Callable[[str], None]) -> None:
        self._robot, self._config, self._say = robot, robot.config, say
        config = robot.config
        robot.attach(self.handle_remote_line, lambda: self._ready)
        robot.subscribe_to_stops(self._drop_queued_lines)
        for name in COMMANDS.keys() & config.prompts.templates.keys():
            rule = 'a command has this name; choose another'
            raise ConfigError(f'prompts.yaml: templates.{name}: {rule}')
        self._commands = with_templates(config.prompts.templates)
        self._condition = threading.Condition()
        self._queued_lines: deque[TypedLine] = deque()  # lines from before the agent was ready
        self._ready = False
        self._pending_count = 0  # unfinished requests of the operator
        self._pending_tasks: dict[str, Task] = {}  # those that have become tasks
        self.last_outcome: Outcome | None = None
        self._languages: dict[Origin, str] = {}  # of the last sentence of each origin
        self._shown_result = ''  # the last result of a tool that was printed as a trace event
        self._decision: TraceEvent | None = None  # not printed yet
        # Of the tasks whose end is printed here. Their events may come after their end.
        self._reported: deque[Task] = deque(maxlen=REMEMBERED_TASKS)

    # --- lines in ---------------------------------------------------------------------------

    def handle_line(self, line: str) -> bool:
        """Run a line of the operator now, or queue it behind the active tasks. Returns False for
        ``:quit``.
        """
        typed = self._parse_line(line, OPERATOR, self._robot.stop_count)
        if typed is not None and typed.command.name == 'quit':
            return False
        if typed is not None:
            self._dispatch(typed)
        return True

    def handle_remote_line(
        self,
        line: str,
        by: str,
        on_reply: Callable[[Reply], None],
        origin: Origin,
        stops: int,
    ) -> None:
        """Run a line of a remote client. The client may neither quit nor name files of this
        machine. ``stops``: how many there were when it was said.

        ``on_reply`` is called once, from any thread, with the outcome, or with the task as soon as
        it exists. Blocks for STOP_WAIT_S at most if the line is a stop.
        """
        shown = printable(line[:MAX_LINE_CHARS])
        self._say(f'{caller_prefix(by)} {clip_columns(shown, ECHO_COLUMNS)}')
        typed = self._parse_line(line, by, stops, on_reply)
        if typed is not None and (why := _local_only_reason(typed.command)):
            self._report_outcome(Outcome(False, why), on_reply)
        elif typed is not None:
            self._dispatch(replace(typed, line=shown, origin=origin))

    def _parse_line(
        self, line: str, by: str, stops: int, on_reply: Callable[[Reply], None] | None = None
    ) -> TypedLine | None:
        """The parsed line; None: it is empty or invalid, and the reason was reported."""
        if len(line) > MAX_LINE_CHARS:
            why = f'{len(line)} characters; a line may have {MAX_LINE_CHARS}'
            self._report_outcome(Outcome(False, why), on_reply)
            return None
        try:
            longest_s = self._config.agent.turn.max_motion_s
            command = parse(line, longest_drive_s=longest_s, commands=self._commands)
        except BadCommand as problem:
            self._report_outcome(Outcome(False, str(problem)), on_reply)
            return None
        if command is None:
            if on_reply is not None:
                on_reply(Reply([EMPTY_LINE], ok=False))
            return None
        asked = next((each.id for each in self._robot.questions()), '')
        return TypedLine(command, self._robot, line.strip(), stops, asked, by, on_reply)

    def _dispatch(self, typed: TypedLine) -> None:
        if typed.command.name == 'text':
            self._languages[typed.origin] = understand(typed.command.text).language
        typed = replace(typed, command=self._expanded(typed.command, typed.origin))
        command = typed.command
        if is_stop(command):
            self._run_stop(typed)
            return
        with self._condition:
            is_early = not self._ready and not spec_of(command, self._commands).early
            if is_early and not self._queued_lines:  # otherwise it may ask about an earlier line
                is_early = not _is_question(command)
            if is_early:
                self._queued_lines.append(
                    typed if typed.on_reply is None else replace(typed, on_reply=_ignore_reply)
                )
        if not is_early:
            self._run_command(typed)
            return
        words = f'(queued until the other nodes are up; :stop drops it) {typed.line}'
        self._say(words)
        if typed.on_reply is not None:
            typed.on_reply(Reply([words]))

    def _expanded(self, command: Command, origin: Origin) -> Command:
        """What a template stands for, in the language of the last sentence of ``origin``."""
        name = DEMO if command.name == 'demo' else command.name
        prompts = self._config.prompts
        if (template := prompts.templates.get(name)) is None:
            return command
        text = template.text_in(self._languages.get(origin, prompts.default_language))
        if template.expects == 'answer':
            return Command('text', text=text)  # as if it had been typed
        return Command('template', text=text, data={'expects': template.expects})

    def run_queued_lines(self) -> None:
        """Run the queued lines, then let new lines run at once."""
        while True:
            with self._condition:
                if not self._queued_lines:
                    self._ready = True
                    self._condition.notify_all()
                    return
                typed = self._queued_lines.popleft()
                self._pending_count += 1  # keeps wait_until_idle() from returning in between
            try:
                self._run_command(replace(typed, line=''))
            finally:
                self._count_ended()

    def wait_until_idle(self, timeout_s: float | None = None) -> bool:
        """Wait until all requests of the operator have ended; False after ``timeout_s``."""
        with self._condition:
            return self._condition.wait_for(lambda: not self.busy, timeout_s)

    def stop(self, by: str) -> Outcome:
        """Stop the rover and end all tasks. Blocks until the rover has answered."""
        return self._robot.stop(by, tell=False).result()

    def _run_stop(self, typed: TypedLine) -> None:
        """Send the stop. What is typed next waits STOP_WAIT_S for the rover's answer: a simulation
        that stands still never gives it.
        """
        is_local, told = typed.on_reply is None, threading.Event()
        self._count_started(is_local)

        def report(done: Future[Outcome]) -> None:
            error = done.exception()
            outcome = done.result() if error is None else Outcome(False, f'No stop: {error!r}')
            self._report_outcome(_with_rest(outcome, typed.command), typed.on_reply)
            self._count_ended(is_local)
            told.set()

        self._robot.stop(typed.by, tell=False).add_done_callback(report)
        if not told.wait(STOP_WAIT_S):
            self._say(UNCONFIRMED_TEXT)

    def _drop_queued_lines(self, by: str) -> None:
        """After a stop."""
        with self._condition:
            dropped = len(self._queued_lines)
            self._queued_lines.clear()
        if dropped:
            self._say(f'({dropped} queued dropped)')

    def take_outcome(self) -> Outcome | None:
        """The outcome of the operator's last request; None: there is none since the last call."""
        outcome, self.last_outcome = self.last_outcome, None
        return outcome

    def blocked_reason(self) -> str:
        """Why the operator's requests wait for a person: the mode is SAFE, or all their tasks are
        held. '': they do not.
        """
        with self._condition:
            if not self.busy or not self._ready:
                return ''
            tasks = list(self._pending_tasks.values())
        if why := self._robot.order_refusal(''):
            return why
        if not tasks or not all(task.held for task in tasks):
            return ''
        first = tasks[0]
        return f'Task {first.id[:8]} is held ({first.reason}); :resume {first.id[:8]} continues it'

    def cancel_requests(self, why: str) -> None:
        """Cancel the unfinished tasks that the operator asked for."""
        with self._condition:
            task_ids = list(self._pending_tasks)
        for task_id in task_ids:
            with suppress(TaskError):  # it has ended, or ends by itself
                self._robot.wait(self._robot.cancel(task_id, why))

    def reject_questions(self) -> None:
        """Reject all open and later questions: no further line can answer them."""
        self._robot.reject_questions()

    @property
    def busy(self) -> bool:
        return not self._ready or self._pending_count > 0

    def print_event(self, event: TraceEvent) -> None:
        """Print a trace event, except for what the report of a task says again: the end of a turn
        with the decision that led to it, and why a command failed; and for the end of a step of a
        plan that its call has told.
        """
        decision, self._decision = self._decision, None
        in_task = (event.data or {}).get(IN_TASK)
        name = next((each.name for each in list(self._reported) if each.id == in_task), None)
        is_failure = event.type == TurnFailed.TYPE or (
            event.ok is False and event.tool_name == name
        )
        if event.type == TurnAnswered.TYPE or (name is not None and is_failure):
            return
        if decision is not None:
            self._say(f'  {trace_line(decision)}')
        if event.kind is TraceKind.DECIDE and event.tool_name == DECIDE_TOOL:
            self._decision = event  # the next event tells whether it ends the turn
            return
        # The console itself has printed the first two already.
        start, question = TurnStarted.of(event), QuestionAsked.of(event)
        step = PlanStepEnded.of(event)
        is_known = (
            (start is not None and start.calls == 0)
            or (question is not None and (question.task_id != '' or self._robot.is_attended))
            or (step is not None and step.told)
            or ModelCalled.of(event) is not None  # :budget has the sum
        )
        if not is_known:
            self._say(f'  {trace_line(event)}')
            if event.kind is TraceKind.RESULT:
                self._shown_result = event.message

    def print_notice(self, text: str) -> None:
        """Print a text, in one line, that is not the outcome of a command."""
        self._say(without_controls(text))

    def report_task_end(self, task: Task, on_reply: Callable[[Reply], None] | None = None) -> None:
        """Report the outcome of a requested task that has ended. Runs in the runtime's loop."""
        if self._robot.was_dropped(task.id):
            return
        outcome = outcome_of(task.state, task.metadata, task.reason)
        is_shown = outcome.ok and self._shown_result == f'{task.name}: {outcome.answer}'
        self._report_outcome(outcome, on_reply, is_shown=is_shown)

    # --- running ----------------------------------------------------------------------------

    def _run_command(self, typed: TypedLine) -> None:
        """Run the command. With an empty ``line`` no text reports that it is queued."""
        try:
            done = spec_of(typed.command, self._commands).run(typed)
        except (TaskError, QuestionNotFound) as error:
            self._report_outcome(Outcome(False, str(error)), typed.on_reply)
            return
        if isinstance(done, Outcome):
            self._report_outcome(done, typed.on_reply, lines=done.ok)
            return
        waits = isinstance(done, Said | Ordered) and typed.line and self._robot.busy
        if waits and not (_is_answer(typed) or _is_question(typed.command)):
            self._say(f'(queued behind the active tasks; :stop drops it) {typed.line}')
        self._watch(done, typed)
        self._robot.post(done)

    def _watch(self, message: Message, typed: TypedLine) -> None:
        """Report the outcome of ``message``, which is posted next, as soon as it is known."""
        is_local = typed.on_reply is None
        self._count_started(is_local)

        def on_reply(future: Future[Reply]) -> None:
            reply = future.result()
            if reply.task is None and not reply.dropped:
                words = reply.text or 'done'
                self._report_outcome(Outcome(reply.ok, words), typed.on_reply, lines=True)
            elif typed.on_reply is not None:
                typed.on_reply(reply)
            if reply.task is None:
                self._count_ended(is_local)
            else:
                if is_local:
                    with self._condition:
                        self._pending_tasks[reply.task.id] = reply.task
                self._reported.append(reply.task)
                self._robot.call_on_end(reply.task, on_end)

        def on_end(task: Task) -> None:
            with self._condition:
                self._pending_tasks.pop(task.id, None)
            self.report_task_end(task, None if is_local else _ignore_reply)
            self._count_ended(is_local)

        message.reply.add_done_callback(on_reply)

    def _count_started(self, is_local: bool = True) -> None:
        """Count a request. ``wait_until_idle`` does not wait for requests of remote clients."""
        with self._condition:
            self._pending_count += is_local

    def _count_ended(self, is_local: bool = True) -> None:
        with self._condition:
            self._pending_count -= is_local
            self._condition.notify_all()

    def _report_outcome(
        self,
        outcome: Outcome,
        on_reply: Callable[[Reply], None] | None = None,
        *,
        lines: bool = False,
        is_shown: bool = False,
    ) -> None:
        """``lines``: our own text, whose line breaks are printed; a script gets the first line.
        The text of a model, a skill, a client or an error gets a mark before each further line: it
        could look like the agent's.
        ``is_shown``: the same text was just printed as a trace event.
        """
        if on_reply is None:
            answer = first_line(outcome.answer) if lines and outcome.ok else outcome.answer
            self.last_outcome = replace(outcome, answer=answer)
        else:
            on_reply(Reply([outcome.answer], outcome.ok))
        if not is_shown:
            shown = outcome.answer if lines else marked_lines(outcome.answer)
            self._say(shown if outcome.ok else f'! {shown}')


def _ignore_reply(reply: Reply) -> None: ...


def _with_rest(outcome: Outcome, command: Command) -> Outcome:
    """The outcome of a stop, with what the line orders besides."""
    if command.name != 'text' or not outcome.ok:
        return outcome
    intent = understand(beside_the_stop(command.text)).intent
    language = understand(command.text).language
    rest = steps_text(intent.steps or intent.understood, language)
    if not rest:
        return outcome
    answer = say('reply.rest_not_done', language, stopped=outcome.answer, rest=rest)
    return replace(outcome, answer=answer)


def _local_only_reason(command: Command) -> str:
    """The reason why a remote client may not run ``command``; empty: it may."""
    if command.name == 'quit':
        return ':quit is for the operator at the console.'
    if command.name == 'run' or (command.name == 'tree' and command.text):
        return f':{command.name} names a file of this machine; only at the console.'
    return ''


def _is_question(command: Command) -> bool:
    """Whether the agent answers the text at once, with an answer or a question."""
    return command.name == 'text' and understand(command.text).act is UserInterruptType.NORMAL


def _is_answer(typed: TypedLine) -> bool:
    command = typed.command
    is_text = command.name == 'text' and typed.question_id != ''
    return is_text and understand(command.text).act is UserInterruptType.APPROVAL
