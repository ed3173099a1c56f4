"""The console: lines in, words out. What a line asks for becomes a task; a stop overtakes all."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from datetime import datetime, timezone
from functools import partial
from typing import Any

from curiosity_rosa_demo.agent.commands import BadCommand, Command, help_text, parse
from curiosity_rosa_demo.agent.kernel.hci_ingress import classify
from curiosity_rosa_demo.agent.memory import line as trace_line
from curiosity_rosa_demo.agent.mission import Mission
from curiosity_rosa_demo.agent.orders import Reply, Then
from curiosity_rosa_demo.agent.reporting import status_text, summary
from curiosity_rosa_demo.agent.session import Outcome, Session
from curiosity_rosa_demo.agent.task_texts import history_table, task_text, tasks_table
from curiosity_rosa_demo.agent.tasks import Task
from curiosity_rosa_demo.agent.tasks.errors import TaskError
from curiosity_rosa_demo.domain.brain import Json, UserInterruptType
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
ANY_TIME = frozenset({'help', 'trace', 'tasks', 'task', 'history', 'mode', 'cancel', 'priority'})
SHOWN_TASKS = 30
LONGEST_LINE = 10_000  # characters: what the rules for what is meant read in 25 ms
RULES_NOTE = (
    'The agent runs on routine: a set of rules, not a language model. '
    'To use a model, set llm.provider and llm.model in agent.yaml.'
)


class Console:
    """``say`` prints one text; it is called from several threads and must not raise."""

    def __init__(
        self, session: Session, mission: Mission, config: Config, say: Callable[[str], None]
    ) -> None:
        self._session, self._mission, self._config, self._say = session, mission, config, say
        self._changed = threading.Condition()
        # Typed before the tasks may run, and how many stops had been asked for by then.
        self._early: deque[tuple[Command, int]] = deque()
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
        stops = self._mission.stops
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
                self._early.append((command, stops))
        if early:
            self._say(f'(queued until the other nodes are up; :stop drops it) {line.strip()}')
        else:
            self._run(command, line.strip(), stops)
        return True

    def ready(self) -> None:
        """From now on tasks may run; what was typed before goes first."""
        while True:
            with self._changed:
                if not self._early:
                    self._ready = True
                    self._changed.notify_all()
                    return
                command, stops = self._early.popleft()
                self._open += 1  # so that nobody believes in between that all is done
            try:
                self._run(command, '', stops)
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
    def busy(self) -> bool:
        return not self._ready or self._open > 0

    def show(self, event: TraceEvent) -> None:
        """Print a trace event; the end of a turn is printed as its answer instead."""
        is_answer = event.kind is TraceKind.RESULT and event.tool_name is None
        is_question = event.message.startswith('User: ')
        if not is_answer and not is_question:
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

    def _run(self, command: Command, line: str, stops: int) -> None:
        """``stops``: those asked for before the line was typed; a later one drops it."""
        try:
            if command.name == 'text':
                self._ask(partial(self._mission.tell, {'text': command.text}), line, stops)
            elif command.name in INTENTS:
                payload: Json = {'task_id': self._find(command.text).id} if command.text else {}
                intent: Json = {'intent': INTENTS[command.name], 'payload': payload}
                self._ask(partial(self._mission.tell, intent), '', stops)
            elif (task := self._task(command)) is not None:
                self._ask(partial(self._mission.submit, task), line, stops)
            else:
                self._finish(self._answer(command))
        except TaskError as error:
            self._finish(Outcome(False, str(error)))

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
        return None

    def _ask(self, ask: Callable[[Then, int], None], line: str, stops: int) -> None:
        """Hand something on whose outcome is told when it has one."""
        if line and self._mission.busy:
            self._say(f'(queued behind what runs; :stop drops it) {line}')
        self._opened()

        def then(reply: Reply) -> None:
            if reply.dropped:
                self._closed()
            elif reply.task is not None:
                self._mission.follow(reply.task, self._ended)
            else:
                self._finish(Outcome(reply.ok, '\n'.join(reply.words) or 'done'))
                self._closed()

        ask(then, stops)

    def _ended(self, task: Task) -> None:
        self.ended(task)
        self._closed()

    def _answer(self, command: Command) -> Outcome:
        """The commands that wait for nothing."""
        name, runner = command.name, self._mission.runner
        if name == 'status':
            result = self._session.status()
            return Outcome(result.ok, status_text(result.data) if result.ok else summary(result))
        if name == 'trace':
            events = self._session.events.last(int(command.number))
            return Outcome(True, '\n'.join(trace_line(event) for event in events) or 'no events')
        if name == 'mode':
            return Outcome(True, self._mission.mode_text())
        if name == 'tasks':
            tasks = self._mission.known_tasks()
            return Outcome(True, tasks_table(tasks[-SHOWN_TASKS:], datetime.now(timezone.utc)))
        if name == 'task':
            return Outcome(True, task_text(self._find(command.text)))
        if name == 'history':
            return Outcome(True, history_table(self._mission.history(self._find(command.text).id)))
        if name == 'cancel':
            task = self._find(command.text)
            ended = self._mission.call(runner.cancel(task.id, 'Cancelled by the operator'))
            words = f'cancelled {task.id[:8]}' if ended else f'{task.id[:8]} had ended already'
            return Outcome(ended, words)
        if name == 'priority':
            task, priority = self._find(command.text), int(command.number)
            self._mission.call(runner.reprioritise(task.id, priority))
            return Outcome(True, f'{task.id[:8]} has priority {priority}')
        text = help_text()
        if self._config.agent.llm.provider == 'routine':
            text = f'{text}\n{RULES_NOTE}'
        return Outcome(True, text)

    def _find(self, start: str) -> Task:
        """The task whose ID begins so. Raises TaskError."""
        return self._mission.find(start)

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
