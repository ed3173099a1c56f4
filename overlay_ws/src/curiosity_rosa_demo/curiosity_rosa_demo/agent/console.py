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

from curiosity_rosa_demo.agent.interfaces.terminal.command_tasks import task_of
from curiosity_rosa_demo.agent.interfaces.terminal.commands import BadCommand, Command, parse
from curiosity_rosa_demo.agent.interfaces.terminal.queries import at_once, UNASKED
from curiosity_rosa_demo.agent.kernel.hci_ingress import classify
from curiosity_rosa_demo.agent.memory import line as trace_line
from curiosity_rosa_demo.agent.policy.autonomy.autonomy import Autonomy
from curiosity_rosa_demo.agent.react.turn.approval_queue import NoQuestion
from curiosity_rosa_demo.agent.runtime.action_dispatcher import Reply, Then
from curiosity_rosa_demo.agent.runtime.approvals import find, id_and_why
from curiosity_rosa_demo.agent.runtime.execution.session import Session
from curiosity_rosa_demo.agent.runtime.runtime import Mission
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
from curiosity_rosa_demo.recording.recorder import Recording

INTENTS = {'pause': 'PAUSE', 'resume': 'RESUME', 'clear': 'CLEAR'}
ANSWERS = {
    'approve': ApprovalAction.APPROVE,
    'edit': ApprovalAction.EDIT,
    'reject': ApprovalAction.REJECT,
}
ANY_TIME = frozenset(
    {
        *('help', 'trace', 'tasks', 'task', 'history', 'mode', 'cancel', 'priority'),
        *('pending', 'plan', 'budget', 'record', *ANSWERS, *UNASKED),
    }
)
SHOWN_COLUMNS = 200  # of a line that somebody else has typed
LONGEST_LINE = 10_000  # characters: what the rules for what is meant read in 25 ms


@dataclass(frozen=True)
class _Typed:
    """A line, and what there was when it was typed."""

    command: Command
    line: str
    stops: int  # asked for by then; a later one drops it
    question: str  # ID of the one that a plain yes or no is meant for; '': none was shown
    told: Then | None = None  # who hears what came of it; None: the one at the console


class Console:
    """``say`` prints one text; it is called from several threads and must not raise."""

    def __init__(
        self,
        session: Session,
        mission: Mission,
        autonomy: Autonomy,
        config: Config,
        say: Callable[[str], None],
        recording: Recording | None = None,
    ) -> None:
        self._session, self._mission, self._config, self._say = session, mission, config, say
        self._autonomy, self._recording = autonomy, recording
        self._changed = threading.Condition()
        self._early: deque[_Typed] = deque()  # before the tasks may run
        self._ready = False
        self._open = 0  # what was asked for and has not ended
        self.last: Outcome | None = None

    # --- lines in ---------------------------------------------------------------------------

    def enter(self, line: str) -> bool:
        """Take a line; what it asks for runs now, or behind what runs. False: the user wants to
        leave.
        """
        typed = self._typed(line)
        if typed is not None and typed.command.name == 'quit':
            return False
        if typed is not None:
            self._do(typed, 'the operator')
        return True

    def take(self, line: str, by: str, told: Then) -> None:
        """A line of somebody else, who may not leave for the operator, nor name files of this
        machine. ``told`` hears once, from any thread, what came of it: a task as soon as there is
        one. May block as long as ``stop`` does.
        """
        shown = printable(line[:LONGEST_LINE])
        self._say(f'({by}) {clip_columns(shown, SHOWN_COLUMNS)}')
        typed = self._typed(line, told)
        if typed is not None and (why := _only_here(typed.command)):
            self._finish(Outcome(False, why), told)
        elif typed is not None:
            self._do(replace(typed, line=shown), by)

    def _typed(self, line: str, told: Then | None = None) -> _Typed | None:
        """None when it asks for nothing; then why has been said."""
        if len(line) > LONGEST_LINE:
            why = f'{len(line)} characters; a line may have {LONGEST_LINE}'
            self._finish(Outcome(False, why), told)
            return None
        try:
            command = parse(line, longest_drive_s=self._config.agent.turn.max_motion_s)
        except BadCommand as problem:
            self._finish(Outcome(False, str(problem)), told)
            return None
        if command is None:
            if told is not None:
                told(Reply(['Nothing was said; :help lists the commands.'], ok=False))
            return None
        asked = self.question
        asked_id = asked.id if asked else ''
        return _Typed(command, line.strip(), self._mission.stops, asked_id, told)

    def _do(self, typed: _Typed, by: str) -> None:
        command = typed.command
        if command.name == 'stop' or (command.name == 'text' and _is_stop(command.text)):
            self._finish(self.stop(by), typed.told)
            return
        with self._changed:
            early = not self._ready and command.name not in ANY_TIME
            if early:
                self._early.append(typed if typed.told is None else replace(typed, told=_nobody))
        if not early:
            self._run(typed)
            return
        words = f'(queued until the other nodes are up; :stop drops it) {typed.line}'
        self._say(words)
        if typed.told is not None:
            typed.told(Reply([words]))

    def ready(self) -> None:
        """From now on tasks may run; what was typed before goes first."""
        while True:
            with self._changed:
                if not self._early:
                    self._ready = True
                    self._changed.notify_all()
                    return
                typed = self._early.popleft()
                self._open += 1  # so that nobody believes in between that all is done
            try:
                self._run(replace(typed, line=''))
            finally:
                self._closed()

    def wait(self, timeout_s: float | None = None) -> bool:
        """Wait until all that was asked for has ended; False after ``timeout_s``."""
        with self._changed:
            return self._changed.wait_for(lambda: not self.busy, timeout_s)

    def stop(self, by: str) -> Outcome:
        """Stop the rover, what runs and what waits."""
        with self._changed:
            dropped = len(self._early)
            self._early.clear()
        outcome = self._mission.stop(by)
        if dropped:
            self._say(f'({dropped} queued dropped)')
        return outcome

    @property
    def question(self) -> Question | None:
        """The one that a plain yes or no answers."""
        return next(iter(self._mission.questions), None)

    def nobody_answers(self) -> None:
        """No further line will come: who asks is told no."""
        self._session.desk.leave()

    @property
    def begun(self) -> bool:
        """Whether tasks may run."""
        return self._ready

    @property
    def busy(self) -> bool:
        return not self._ready or self._open > 0

    def show(self, event: TraceEvent) -> None:
        """Print a trace event; the end of a turn is printed as its answer instead."""
        is_answer = event.kind is TraceKind.RESULT and event.tool_name is None
        # These two the console has shown in words of its own.
        is_known = event.message.startswith('User: ') or (
            event.message.startswith('Asking: ') and self._session.desk.attended
        )
        if not is_answer and not is_known:
            self._say(f'  {trace_line(event)}')

    def notice(self, text: str) -> None:
        """Print something that is not a command's outcome."""
        self._say(text)

    def ended(self, task: Task, told: Then | None = None) -> None:
        """A task that was asked for has ended. In the mission's loop."""
        if self._mission.dropped(task.id):
            return
        kept: dict[str, Any] | None = task.metadata.get('outcome')
        if kept is not None and task.state.name in ('COMPLETED', 'FAILED'):
            self._finish(Outcome(**kept), told)
        else:
            self._finish(Outcome(False, task.reason), told)

    # --- running ----------------------------------------------------------------------------

    def _run(self, typed: _Typed) -> None:
        """With an empty ``line`` nothing is said of what it has to wait for."""
        command, tell = typed.command, self._mission.tell
        try:
            if command.name == 'text':
                message: Json = {'text': command.text, 'question': typed.question}
                self._ask(partial(tell, message), typed)
            elif command.name in INTENTS:
                payload: Json = (
                    {'task_id': self._mission.find(command.text).id} if command.text else {}
                )
                intent: Json = {'intent': INTENTS[command.name], 'payload': payload}
                self._ask(partial(tell, intent), replace(typed, line=''))
            elif command.name in ANSWERS:
                answer: Json = {'intent': 'APPROVAL', 'payload': self._approval(command)}
                self._ask(partial(tell, answer), replace(typed, line=''))
            elif (task := task_of(command, self._mission, self._config)) is not None:
                self._ask(partial(self._mission.submit, task), typed)
            else:
                outcome = at_once(
                    command,
                    self._session,
                    self._mission,
                    self._autonomy,
                    self._config,
                    self._recording,
                )
                self._finish(outcome, typed.told)
        except (TaskError, NoQuestion) as error:
            self._finish(Outcome(False, str(error)), typed.told)

    def _approval(self, command: Command) -> Json:
        """Raises NoQuestion."""
        shown, start, why = self._mission.questions, command.text, ''
        if command.name == 'reject':
            start, why = id_and_why(command.text, shown)
        asked = find(shown, start)
        answer: Json = {'action': ANSWERS[command.name].value, 'id': asked.id, 'why': why}
        return {**answer, 'arguments': command.data} if command.name == 'edit' else answer

    def _ask(self, ask: Callable[[Then, int], None], typed: _Typed) -> None:
        """Hand something on whose outcome is told when it has one."""
        if typed.line and self._mission.busy and not _is_answer(typed):
            self._say(f'(queued behind the active tasks; :stop drops it) {typed.line}')
        mine = typed.told is None
        self._opened(mine)

        def then(reply: Reply) -> None:
            if reply.task is None and not reply.dropped:
                words = '\n'.join(reply.words) or 'done'
                self._finish(Outcome(reply.ok, words), typed.told)
            elif typed.told is not None:
                typed.told(reply)
            if reply.task is None:
                self._closed(mine)
            else:
                self._mission.follow(reply.task, ended)

        def ended(task: Task) -> None:
            self.ended(task, None if mine else _nobody)
            self._closed(mine)

        ask(then, typed.stops)

    def _opened(self, mine: bool = True) -> None:
        """What others asked for is not waited for."""
        with self._changed:
            self._open += mine

    def _closed(self, mine: bool = True) -> None:
        with self._changed:
            self._open -= mine
            self._changed.notify_all()

    def _finish(self, outcome: Outcome, told: Then | None = None) -> None:
        if told is None:
            self.last = outcome
        else:
            told(Reply([outcome.answer], outcome.ok))
        self._say(outcome.answer if outcome.ok else f'! {outcome.answer}')


def _nobody(reply: Reply) -> None: ...


def _only_here(command: Command) -> str:
    """Why only the operator at the console may say this."""
    if command.name == 'quit':
        return ':quit is for the operator at the console.'
    if command.name == 'run' or (command.name == 'tree' and command.text):
        return f':{command.name} names a file of this machine; only at the console.'
    return ''


def _is_stop(text: str) -> bool:
    return classify(text).type is UserInterruptType.STOP


def _is_answer(typed: _Typed) -> bool:
    command = typed.command
    is_text = command.name == 'text' and typed.question != ''
    return is_text and classify(command.text).type is UserInterruptType.APPROVAL
