"""The console: lines in, words out. Commands run one after another; a stop overtakes them all."""

from __future__ import annotations

import contextlib
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from curiosity_rosa_demo.agent.cancellation import Cancellation, TurnCancelled
from curiosity_rosa_demo.agent.commands import BadCommand, Command, help_text, parse
from curiosity_rosa_demo.agent.memory import line as trace_line
from curiosity_rosa_demo.agent.reporting import status_text, summary
from curiosity_rosa_demo.agent.session import Outcome, Session
from curiosity_rosa_demo.domain.models import TraceEvent, TraceKind
from curiosity_rosa_demo.infra.config_models import Config

TOOLS = {
    'cap': 'capture_and_score',
    'mast_open': 'mast_open',
    'mast_close': 'mast_close',
    'mast_rotate': 'mast_rotate',
}
DRIVES = {'forward': 'move_forward', 'left': 'turn_left', 'right': 'turn_right'}
RULES_NOTE = (
    'The agent runs on routine: a set of rules, not a language model. '
    'To use a model, set llm.provider and llm.model in agent.yaml.'
)


@dataclass(frozen=True)
class _Job:
    run: Callable[[Cancellation], Outcome | None]
    moves: bool = True  # it may have set the rover going
    cancellation: Cancellation = field(default_factory=Cancellation)


class Console:
    """``say`` prints one text; it is called from several threads and must not raise."""

    def __init__(self, session: Session, config: Config, say: Callable[[str], None]) -> None:
        self._session, self._config, self._say = session, config, say
        self._changed = threading.Condition()
        self._waiting: deque[_Job] = deque()
        self._current: _Job | None = None
        self.last: Outcome | None = None
        threading.Thread(target=self._work, name='console-worker', daemon=True).start()

    # --- lines in ---------------------------------------------------------------------------

    def enter(self, line: str) -> bool:
        """Take a line; it runs now, or behind what runs. False: the user wants to leave."""
        try:
            command = parse(line, longest_drive_s=self._config.agent.turn.max_motion_s)
        except BadCommand as problem:
            self._finish(Outcome(False, str(problem)))
            return True
        if command is None:
            return True
        if command.name == 'quit':
            return False
        with self._changed:
            job = self._job_now()
        too_early = command.name == 'status' and job is not None and not job.moves
        if command.at_once and not too_early:
            self._finish(self._answer(command))
            return True
        if job is not None:
            ahead = 'behind what runs' if job.moves else 'until the other nodes are up'
            self._say(f'(queued {ahead}; :stop drops it) {line.strip()}')
        self._enqueue(_Job(lambda cancellation: self._run(command, cancellation)))
        return True

    def prepare(self, work: Callable[[Cancellation], None]) -> None:
        """Do this before the lines that come later. It moves nothing and prints for itself."""
        self._enqueue(_Job(work, moves=False))

    def wait(self, timeout_s: float | None = None) -> bool:
        """Wait until nothing is queued or running; False after ``timeout_s``."""
        with self._changed:
            return self._changed.wait_for(lambda: not self.busy, timeout_s)

    def stop(self, by: str) -> Outcome:
        """Stop the rover, what runs and what waits."""
        with self._changed:
            dropped = len(self._waiting)
            self._waiting.clear()
            if self._current is not None:
                self._current.cancellation.cancel(f'Stopped by {by}')
        outcome = self._session.stop(by)
        if dropped:
            self._say(f'({dropped} queued dropped)')
        return outcome

    def close(self) -> None:
        """Stop the rover if something runs, and end it."""
        with self._changed:
            job = self._job_now()
            self._waiting.clear()
        if job is not None and job.moves:
            self.stop('the end of the console')
        elif job is not None:
            job.cancellation.cancel('The console ended')
        self.wait(5.0)

    @property
    def busy(self) -> bool:
        return self._current is not None or bool(self._waiting)

    def show(self, event: TraceEvent) -> None:
        """Print a trace event; the end of a turn is printed as its answer instead."""
        is_answer = event.kind is TraceKind.RESULT and event.tool_name is None
        is_question = event.message.startswith('User: ')
        if not is_answer and not is_question:
            self._say(f'  {trace_line(event)}')

    def notice(self, text: str) -> None:
        """Print something that is not a command's outcome."""
        self._say(text)

    # --- running ----------------------------------------------------------------------------

    def _job_now(self) -> _Job | None:
        return self._current or (self._waiting[0] if self._waiting else None)

    def _enqueue(self, job: _Job) -> None:
        with self._changed:
            self._waiting.append(job)
            self._changed.notify_all()

    def _work(self) -> None:
        while True:
            with self._changed:
                self._current = None
                self._changed.notify_all()
                self._changed.wait_for(lambda: self._waiting)
                # Taken and made stoppable in one step: no stop can come between.
                job = self._current = self._waiting.popleft()
            try:
                outcome = job.run(job.cancellation)
            except TurnCancelled as cancelled:
                outcome = Outcome(False, str(cancelled))
            except Exception as error:  # a bug of ours must not take the console away
                with contextlib.suppress(Exception):
                    self._session.stop('an internal error')
                outcome = Outcome(False, f'Internal error: {error!r}. The rover was told to stop.')
            if outcome is not None:
                self._finish(outcome)

    def _run(self, command: Command, cancellation: Cancellation) -> Outcome:
        name, session = command.name, self._session
        if command.at_once:
            return self._answer(command)
        if name == 'text':
            return session.say(command.text, cancellation)
        if name == 'demo':
            return session.template(
                self._config.prompts.templates.demo_ground_texture, cancellation
            )
        if name in DRIVES:
            return session.tool(DRIVES[name], cancellation, duration_s=command.number)
        return session.tool(TOOLS[name], cancellation)

    def _answer(self, command: Command) -> Outcome:
        """The commands that wait for nothing."""
        if command.name == 'stop':
            return self.stop('the operator')
        if command.name == 'status':
            result = self._session.status()
            return Outcome(result.ok, status_text(result.data) if result.ok else summary(result))
        if command.name == 'trace':
            events = self._session.events.last(int(command.number))
            return Outcome(True, '\n'.join(trace_line(event) for event in events) or 'no events')
        text = help_text()
        if self._config.agent.llm.provider == 'routine':
            text = f'{text}\n{RULES_NOTE}'
        return Outcome(True, text)

    def _finish(self, outcome: Outcome) -> None:
        self.last = outcome
        self._say(outcome.answer if outcome.ok else f'! {outcome.answer}')
