# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The console: lines in, words out. What a line asks for becomes a task; a stop overtakes all.

Over 300 lines, in one file: who waits for what is counted under one lock.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
import threading
from typing import Any

from curiosity_rosa_demo.agent.interfaces.terminal.command_tasks import task_for_command
from curiosity_rosa_demo.agent.interfaces.terminal.commands import BadCommand, Command, parse
from curiosity_rosa_demo.agent.interfaces.terminal.queries import answer_query, AUTONOMY_COMMANDS
from curiosity_rosa_demo.agent.kernel.hci_ingress import classify
from curiosity_rosa_demo.agent.memory import event_line as trace_line
from curiosity_rosa_demo.agent.policy.autonomy.autonomy import Autonomy
from curiosity_rosa_demo.agent.react.turn.approval_queue import QuestionNotFound
from curiosity_rosa_demo.agent.runtime.action_dispatcher import MessageReply, ReplyCallback
from curiosity_rosa_demo.agent.runtime.approvals import find_question, split_id_and_reason
from curiosity_rosa_demo.agent.runtime.execution.session import AgentSession
from curiosity_rosa_demo.agent.runtime.runtime import Runtime
from curiosity_rosa_demo.agent.tasks import Task
from curiosity_rosa_demo.agent.tasks.errors import TaskError
from curiosity_rosa_demo.domain.brain_state import (
    ApprovalAction,
    Json,
    Question,
    UserInterruptType,
)
from curiosity_rosa_demo.domain.models import TraceEvent, TraceKind
from curiosity_rosa_demo.domain.outcome import Outcome
from curiosity_rosa_demo.domain.text import printable
from curiosity_rosa_demo.drawing.columns import clip_columns
from curiosity_rosa_demo.infra.config.contracts import Config
from curiosity_rosa_demo.recording.recorder import RecordingControl

COMMAND_INTENTS = {'pause': 'PAUSE', 'resume': 'RESUME', 'clear': 'CLEAR'}
APPROVAL_COMMANDS = {
    'approve': ApprovalAction.APPROVE,
    'edit': ApprovalAction.EDIT,
    'reject': ApprovalAction.REJECT,
}
COMMANDS_BEFORE_READY = frozenset(
    {
        *('help', 'trace', 'tasks', 'task', 'history', 'mode', 'cancel', 'priority'),
        *('pending', 'plan', 'budget', 'record', *APPROVAL_COMMANDS, *AUTONOMY_COMMANDS),
    }
)
ECHO_COLUMNS = 200  # of a line that somebody else has typed
MAX_LINE_CHARS = 10_000  # characters: what the rules for what is meant read in 25 ms


@dataclass(frozen=True)
class _TypedLine:
    """A line, and what there was when it was typed."""

    command: Command
    line: str
    stop_count: int  # asked for by then; a later one drops it
    question_id: str  # ID of the one that a plain yes or no is meant for; '': none was shown
    # who hears what came of it; None: the one at the console
    on_reply: ReplyCallback | None = None


class Console:
    """``say`` prints one text; it is called from several threads and must not raise."""

    def __init__(
        self,
        session: AgentSession,
        runtime: Runtime,
        autonomy: Autonomy,
        config: Config,
        say: Callable[[str], None],
        recording: RecordingControl | None = None,
    ) -> None:
        self._session, self._runtime, self._config, self._say = session, runtime, config, say
        self._autonomy, self._recording = autonomy, recording
        self._condition = threading.Condition()
        self._queued_lines: deque[_TypedLine] = deque()  # before the tasks may run
        self._ready = False
        self._pending_count = 0  # what was asked for and has not ended
        self.last_outcome: Outcome | None = None

    # --- lines in ---------------------------------------------------------------------------

    def handle_line(self, line: str) -> bool:
        """Take a line; what it asks for runs now, or behind what runs. False: the user wants to
        leave.
        """
        typed = self._parse_line(line)
        if typed is not None and typed.command.name == 'quit':
            return False
        if typed is not None:
            self._dispatch(typed, 'the operator')
        return True

    def handle_remote_line(self, line: str, by: str, on_reply: ReplyCallback) -> None:
        """A line of somebody else, who may not leave for the operator, nor name files of this
        machine. ``on_reply`` hears once, from any thread, what came of it: a task as soon as
        there is one. May block as long as ``stop`` does.
        """
        shown = printable(line[:MAX_LINE_CHARS])
        self._say(f'({by}) {clip_columns(shown, ECHO_COLUMNS)}')
        typed = self._parse_line(line, on_reply)
        if typed is not None and (why := _local_only_reason(typed.command)):
            self._report_outcome(Outcome(False, why), on_reply)
        elif typed is not None:
            self._dispatch(replace(typed, line=shown), by)

    def _parse_line(self, line: str, on_reply: ReplyCallback | None = None) -> _TypedLine | None:
        """None when it asks for nothing; then why has been said."""
        if len(line) > MAX_LINE_CHARS:
            why = f'{len(line)} characters; a line may have {MAX_LINE_CHARS}'
            self._report_outcome(Outcome(False, why), on_reply)
            return None
        try:
            command = parse(line, longest_drive_s=self._config.agent.turn.max_motion_s)
        except BadCommand as problem:
            self._report_outcome(Outcome(False, str(problem)), on_reply)
            return None
        if command is None:
            if on_reply is not None:
                on_reply(MessageReply(['The line is empty; :help lists the commands.'], ok=False))
            return None
        asked = self.pending_question
        asked_id = asked.id if asked else ''
        return _TypedLine(command, line.strip(), self._runtime.stop_count, asked_id, on_reply)

    def _dispatch(self, typed: _TypedLine, by: str) -> None:
        command = typed.command
        if command.name == 'stop' or (command.name == 'text' and _is_stop(command.text)):
            self._report_outcome(self.stop(by), typed.on_reply)
            return
        with self._condition:
            early = not self._ready and command.name not in COMMANDS_BEFORE_READY
            if early:
                self._queued_lines.append(
                    typed if typed.on_reply is None else replace(typed, on_reply=_ignore_reply)
                )
        if not early:
            self._run_command(typed)
            return
        words = f'(queued until the other nodes are up; :stop drops it) {typed.line}'
        self._say(words)
        if typed.on_reply is not None:
            typed.on_reply(MessageReply([words]))

    def run_queued_lines(self) -> None:
        """From now on tasks may run; what was typed before goes first."""
        while True:
            with self._condition:
                if not self._queued_lines:
                    self._ready = True
                    self._condition.notify_all()
                    return
                typed = self._queued_lines.popleft()
                self._pending_count += 1  # so that nobody believes in between that all is done
            try:
                self._run_command(replace(typed, line=''))
            finally:
                self._count_ended()

    def wait_until_idle(self, timeout_s: float | None = None) -> bool:
        """Wait until all that was asked for has ended; False after ``timeout_s``."""
        with self._condition:
            return self._condition.wait_for(lambda: not self.busy, timeout_s)

    def stop(self, by: str) -> Outcome:
        """Stop the rover, what runs and what waits."""
        with self._condition:
            dropped = len(self._queued_lines)
            self._queued_lines.clear()
        outcome = self._runtime.stop(by)
        if dropped:
            self._say(f'({dropped} queued dropped)')
        return outcome

    @property
    def pending_question(self) -> Question | None:
        """The one that a plain yes or no answers."""
        return next(iter(self._runtime.shown_questions), None)

    def reject_questions(self) -> None:
        """No further line will come: who asks is told no."""
        self._session.approval_queue.reject_all()

    @property
    def is_ready(self) -> bool:
        """Whether tasks may run."""
        return self._ready

    @property
    def busy(self) -> bool:
        return not self._ready or self._pending_count > 0

    def print_event(self, event: TraceEvent) -> None:
        """Print a trace event; the end of a turn is printed as its answer instead."""
        is_answer = event.kind is TraceKind.RESULT and event.tool_name is None
        # These two the console has shown in words of its own.
        is_known = event.message.startswith('User: ') or (
            event.message.startswith('Asking: ') and self._session.approval_queue.is_attended
        )
        if not is_answer and not is_known:
            self._say(f'  {trace_line(event)}')

    def print_notice(self, text: str) -> None:
        """Print something that is not a command's outcome."""
        self._say(text)

    def report_task_end(self, task: Task, on_reply: ReplyCallback | None = None) -> None:
        """A task that was asked for has ended. In the runtime's loop."""
        if self._runtime.was_dropped(task.id):
            return
        kept: dict[str, Any] | None = task.metadata.get('outcome')
        if kept is not None and task.state.name in ('COMPLETED', 'FAILED'):
            self._report_outcome(Outcome(**kept), on_reply)
        else:
            self._report_outcome(Outcome(False, task.reason), on_reply)

    # --- running ----------------------------------------------------------------------------

    def _run_command(self, typed: _TypedLine) -> None:
        """With an empty ``line`` nothing is said of what it has to wait for."""
        command, tell = typed.command, self._runtime.post_message
        try:
            if command.name == 'text':
                message: Json = {'text': command.text, 'question': typed.question_id}
                self._send(partial(tell, message), typed)
            elif command.name in COMMAND_INTENTS:
                payload: Json = (
                    {'task_id': self._runtime.find_task(command.text).id} if command.text else {}
                )
                intent: Json = {'intent': COMMAND_INTENTS[command.name], 'payload': payload}
                self._send(partial(tell, intent), replace(typed, line=''))
            elif command.name in APPROVAL_COMMANDS:
                answer: Json = {'intent': 'APPROVAL', 'payload': self._approval_payload(command)}
                self._send(partial(tell, answer), replace(typed, line=''))
            elif (task := task_for_command(command, self._runtime, self._config)) is not None:
                self._send(partial(self._runtime.submit_task, task), typed)
            else:
                outcome = answer_query(
                    command,
                    self._session,
                    self._runtime,
                    self._autonomy,
                    self._config,
                    self._recording,
                )
                self._report_outcome(outcome, typed.on_reply)
        except (TaskError, QuestionNotFound) as error:
            self._report_outcome(Outcome(False, str(error)), typed.on_reply)

    def _approval_payload(self, command: Command) -> Json:
        """Raises QuestionNotFound."""
        shown, start, why = self._runtime.shown_questions, command.text, ''
        if command.name == 'reject':
            start, why = split_id_and_reason(command.text, shown)
        asked = find_question(shown, start)
        answer: Json = {
            'action': APPROVAL_COMMANDS[command.name].value,
            'id': asked.id,
            'why': why,
        }
        return {**answer, 'arguments': command.data} if command.name == 'edit' else answer

    def _send(self, ask: Callable[[ReplyCallback, int], None], typed: _TypedLine) -> None:
        """Hand something on whose outcome is told when it has one."""
        if typed.line and self._runtime.busy and not _is_answer(typed):
            self._say(f'(queued behind the active tasks; :stop drops it) {typed.line}')
        mine = typed.on_reply is None
        self._count_started(mine)

        def then(reply: MessageReply) -> None:
            if reply.task is None and not reply.dropped:
                words = '\n'.join(reply.lines) or 'done'
                self._report_outcome(Outcome(reply.ok, words), typed.on_reply)
            elif typed.on_reply is not None:
                typed.on_reply(reply)
            if reply.task is None:
                self._count_ended(mine)
            else:
                self._runtime.call_on_end(reply.task, ended)

        def ended(task: Task) -> None:
            self.report_task_end(task, None if mine else _ignore_reply)
            self._count_ended(mine)

        ask(then, typed.stop_count)

    def _count_started(self, mine: bool = True) -> None:
        """What others asked for is not waited for."""
        with self._condition:
            self._pending_count += mine

    def _count_ended(self, mine: bool = True) -> None:
        with self._condition:
            self._pending_count -= mine
            self._condition.notify_all()

    def _report_outcome(self, outcome: Outcome, on_reply: ReplyCallback | None = None) -> None:
        if on_reply is None:
            self.last_outcome = outcome
        else:
            on_reply(MessageReply([outcome.answer], outcome.ok))
        self._say(outcome.answer if outcome.ok else f'! {outcome.answer}')


def _ignore_reply(reply: MessageReply) -> None: ...


def _local_only_reason(command: Command) -> str:
    """Why only the operator at the console may say this."""
    if command.name == 'quit':
        return ':quit is for the operator at the console.'
    if command.name == 'run' or (command.name == 'tree' and command.text):
        return f':{command.name} names a file of this machine; only at the console.'
    return ''


def _is_stop(text: str) -> bool:
    return classify(text).type is UserInterruptType.STOP


def _is_answer(typed: _TypedLine) -> bool:
    command = typed.command
    is_text = command.name == 'text' and typed.question_id != ''
    return is_text and classify(command.text).type is UserInterruptType.APPROVAL
