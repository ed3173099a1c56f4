"""The console: lines in, words out. What a line asks for becomes a task; a stop overtakes all."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from curiosity_rosa_demo.agent.at_once import UNASKED, at_once
from curiosity_rosa_demo.agent.autonomy import Autonomy
from curiosity_rosa_demo.agent.commands import BadCommand, Command, parse
from curiosity_rosa_demo.agent.kernel.hci_ingress import classify
from curiosity_rosa_demo.agent.memory import line as trace_line
from curiosity_rosa_demo.agent.mission import Mission
from curiosity_rosa_demo.agent.orders import Reply, Then
from curiosity_rosa_demo.agent.plan_file import plan_task
from curiosity_rosa_demo.agent.questions import find, id_and_why
from curiosity_rosa_demo.agent.react.desk import NoQuestion
from curiosity_rosa_demo.agent.session import Outcome, Session
from curiosity_rosa_demo.agent.tasks import Task
from curiosity_rosa_demo.agent.tasks.errors import TaskError
from curiosity_rosa_demo.domain.brain import ApprovalAction, Json, Question, UserInterruptType
from curiosity_rosa_demo.domain.models import TraceEvent, TraceKind
from curiosity_rosa_demo.infra.config_models import Config

TOOLS = {
    'cap': 'capture_and_score',
    'mast_open': 'mast_open',
    'mast_close': 'mast_close',
    'mast_rotate': 'mast_rotate',
}
DRIVES = {'forward': 'move_forward', 'left': 'turn_left', 'right': 'turn_right'}
INTENTS = {'pause': 'PAUSE', 'resume': 'RESUME', 'clear': 'CLEAR'}
ANSWERS = {
    'approve': ApprovalAction.APPROVE,
    'edit': ApprovalAction.EDIT,
    'reject': ApprovalAction.REJECT,
}
ANY_TIME = frozenset(
    {
        *('help', 'trace', 'tasks', 'task', 'history', 'mode', 'cancel', 'priority'),
        *('pending', 'plan', 'budget', *ANSWERS, *UNASKED),
    }
)
LONGEST_LINE = 10_000  # characters: what the rules for what is meant read in 25 ms


@dataclass(frozen=True)
class _Typed:
    """A line, and what there was when it was typed."""

    command: Command
    line: str
    stops: int  # asked for by then; a later one drops it
    question: str  # ID of the one that a plain yes or no is meant for; '': none was shown


class Console:
    """``say`` prints one text; it is called from several threads and must not raise."""

    def __init__(
        self,
        session: Session,
        mission: Mission,
        autonomy: Autonomy,
        config: Config,
        say: Callable[[str], None],
    ) -> None:
        self._session, self._mission, self._config, self._say = session, mission, config, say
        self._autonomy = autonomy
        self._changed = threading.Condition()
        self._early: deque[_Typed] = deque()  # before the tasks may run
        self._ready = False
        self._open = 0  # what was asked for and has not ended
        self.last: Outcome | None = None

    # --- lines in ---------------------------------------------------------------------------

    def enter(self, line: str) -> bool:
        """Take a line; what it asks for runs now, or behind what runs. False: the user wants to
        leave."""
        try:
            command = parse(line, longest_drive_s=self._config.agent.turn.max_motion_s)
        except BadCommand as problem:
            self._finish(Outcome(False, str(problem)))
            return True
        if command is None:
            return True
        asked = self.question
        typed = _Typed(command, line.strip(), self._mission.stops, asked.id if asked else '')
        if len(line) > LONGEST_LINE:
            self._finish(Outcome(False, f'{len(line)} characters; a line may have {LONGEST_LINE}'))
            return True
        if command.name == 'quit':
            return False
        if command.name == 'stop' or (command.name == 'text' and _is_stop(command.text)):
            self._finish(self.stop('the operator'))
            return True
        with self._changed:
            early = not self._ready and command.name not in ANY_TIME
            if early:
                self._early.append(typed)
        if early:
            self._say(f'(queued until the other nodes are up; :stop drops it) {typed.line}')
        else:
            self._run(typed)
        return True

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

    def ended(self, task: Task) -> None:
        """A task that was asked for has ended. In the mission's loop."""
        if self._mission.dropped(task.id):
            return
        kept: dict[str, Any] | None = task.metadata.get('outcome')
        if kept is not None and task.state.name in ('COMPLETED', 'FAILED'):
            self._finish(Outcome(**kept))
        else:
            self._finish(Outcome(False, task.reason))

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
            elif (task := self._task(command)) is not None:
                self._ask(partial(self._mission.submit, task), typed)
            else:
                self._finish(
                    at_once(command, self._session, self._mission, self._autonomy, self._config)
                )
        except (TaskError, NoQuestion) as error:
            self._finish(Outcome(False, str(error)))

    def _approval(self, command: Command) -> Json:
        """Raises NoQuestion."""
        shown, start, why = self._mission.questions, command.text, ''
        if command.name == 'reject':
            start, why = id_and_why(command.text, shown)
        asked = find(shown, start)
        answer: Json = {'action': ANSWERS[command.name].value, 'id': asked.id, 'why': why}
        return {**answer, 'arguments': command.data} if command.name == 'edit' else answer

    def _task(self, command: Command) -> Task | None:
        name = command.name
        if name == 'demo':
            template = self._config.prompts.templates.demo_ground_texture
            return Task('react', metadata={'text': template.text, 'expects': template.expects})
        if name in DRIVES:
            return self._mission.task(DRIVES[name], {'duration_s': command.number})
        if name in TOOLS:
            return self._mission.task(TOOLS[name], {})
        if name == 'submit':
            return self._mission.task(command.text, command.data)
        if name == 'run':
            return plan_task(command.text)
        return None

    def _ask(self, ask: Callable[[Then, int], None], typed: _Typed) -> None:
        """Hand something on whose outcome is told when it has one."""
        if typed.line and self._mission.busy and not _is_answer(typed):
            self._say(f'(queued behind what runs; :stop drops it) {typed.line}')
        self._opened()

        def then(reply: Reply) -> None:
            if reply.dropped:
                self._closed()
            elif reply.task is not None:
                self._mission.follow(reply.task, self._ended)
            else:
                self._finish(Outcome(reply.ok, '\n'.join(reply.words) or 'done'))
                self._closed()

        ask(then, typed.stops)

    def _ended(self, task: Task) -> None:
        self.ended(task)
        self._closed()

    def _opened(self) -> None:
        with self._changed:
            self._open += 1

    def _closed(self) -> None:
        with self._changed:
            self._open -= 1
            self._changed.notify_all()

    def _finish(self, outcome: Outcome) -> None:
        self.last = outcome
        self._say(outcome.answer if outcome.ok else f'! {outcome.answer}')


def _is_stop(text: str) -> bool:
    return classify(text).type is UserInterruptType.STOP


def _is_answer(typed: _Typed) -> bool:
    command = typed.command
    is_text = command.name == 'text' and typed.question != ''
    return is_text and classify(command.text).type is UserInterruptType.APPROVAL
