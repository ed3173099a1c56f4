"""The console: lines in, words out. Commands run one after another; a stop overtakes them all."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable

from curiosity_rosa_demo.agent.commands import BadCommand, Command, help_text, parse
from curiosity_rosa_demo.agent.memory import line as trace_line
from curiosity_rosa_demo.agent.reporting import summary
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


class Console:
    """``say`` prints one text; it is called from several threads."""

    def __init__(self, session: Session, config: Config, say: Callable[[str], None]) -> None:
        self._session, self._config, self._say = session, config, say
        self._queue: queue.Queue[Command | None] = queue.Queue()
        self._idle = threading.Condition()
        self._pending = 0
        self.last: Outcome | None = None
        self._worker = threading.Thread(target=self._work, name='console-worker', daemon=True)
        self._worker.start()

    # --- lines in ---------------------------------------------------------------------------

    def enter(self, line: str) -> bool:
        """Take a line; it runs now, or behind what runs already. False: the user wants to leave."""
        try:
            longest = self._config.agent.turn.max_motion_s
            command = parse(line, longest_drive_s=longest)
        except BadCommand as problem:
            self._finish(Outcome(False, str(problem)))
            return True
        if command is None:
            return True
        if command.name == 'quit':
            return False
        if command.at_once:
            self._finish(self._run(command))
            return True
        with self._idle:
            self._pending += 1
            if self._pending > 1:
                self._say(f'(queued behind what runs; :stop drops it) {line.strip()}')
        self._queue.put(command)
        return True

    def wait(self, timeout_s: float | None = None) -> bool:
        """Wait until nothing is queued or running; False after ``timeout_s``."""
        with self._idle:
            return self._idle.wait_for(lambda: self._pending == 0, timeout_s)

    def stop(self, by: str) -> Outcome:
        """Stop the rover, what runs and what waits."""
        self._drop_queued()
        return self._session.stop(by)

    @property
    def busy(self) -> bool:
        return self._pending > 0

    def show(self, event: TraceEvent) -> None:
        """Print a trace event as it happens; the end of a turn is printed as its answer instead."""
        is_answer = event.kind is TraceKind.RESULT and event.tool_name is None
        is_question = event.message.startswith('User: ')
        if not is_answer and not is_question:
            self._say(f'  {trace_line(event)}')

    def notice(self, text: str) -> None:
        """Print something that is not a command's outcome."""
        self._say(text)

    # --- running ----------------------------------------------------------------------------

    def _work(self) -> None:
        while (command := self._queue.get()) is not None:
            try:
                self._finish(self._run(command))
            except Exception as error:  # a bug of ours must not take the console away
                self._session.stop('an internal error')
                self._finish(Outcome(False, f'Internal error: {error!r}. The rover was stopped.'))
            finally:
                with self._idle:
                    self._pending -= 1
                    self._idle.notify_all()

    def _run(self, command: Command) -> Outcome:
        name, session = command.name, self._session
        if name == 'text':
            return session.say(command.text)
        if name == 'demo':
            return session.template(self._config.prompts.templates.demo_ground_texture)
        if name in TOOLS:
            return session.tool(TOOLS[name])
        if name in DRIVES:
            return session.tool(DRIVES[name], duration_s=command.number)
        if name == 'stop':
            return self.stop('the operator')
        if name == 'status':
            result = session.status()
            return Outcome(result.ok, summary(result))
        if name == 'trace':
            events = session.events.last(int(command.number))
            return Outcome(True, '\n'.join(trace_line(event) for event in events) or 'no events')
        text = help_text()
        if self._config.agent.llm.provider == 'routine':
            text = f'{text}\n{RULES_NOTE}'
        return Outcome(True, text)

    def _finish(self, outcome: Outcome) -> None:
        self.last = outcome
        self._say(outcome.answer if outcome.ok else f'! {outcome.answer}')

    def _drop_queued(self) -> None:
        dropped = 0
        while True:
            try:
                self._queue.get_nowait()
            except queue.Empty:
                break
            dropped += 1
        if dropped:
            with self._idle:
                self._pending -= dropped
                self._idle.notify_all()
            self._say(f'({dropped} queued dropped)')
