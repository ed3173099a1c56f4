"""What the agent can be asked for, whoever asks: tools, turns, a stop. One at a time."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from curiosity_rosa_demo.agent.brain import Brain, BrainUnavailable, TurnRecord
from curiosity_rosa_demo.agent.cancellation import Cancellation, TurnCancelled
from curiosity_rosa_demo.agent.memory import recall
from curiosity_rosa_demo.agent.reporting import summary, trace_result
from curiosity_rosa_demo.domain.models import ToolResult, TraceEvent, TraceKind
from curiosity_rosa_demo.infra.config_models import Config
from curiosity_rosa_demo.infra.ros_io import ServiceFailed
from curiosity_rosa_demo.tools.rover_client import RoverClient
from curiosity_rosa_demo.tools.rover_tools import RoverTools
from curiosity_rosa_demo.trace.trace_buffer import TraceBuffer
from curiosity_rosa_demo.trace.trace_codec import new_event

NO_GOOD_PICTURE = 'The turn ended without a picture whose score passes the threshold.'


@dataclass(frozen=True)
class Outcome:
    """How a command ended, for a person and for a script."""

    ok: bool
    answer: str
    score: float | None = None


@dataclass(frozen=True)
class Activity:
    """What goes on now, and since when (steady seconds)."""

    what: str
    since: float


class Session:
    def __init__(
        self,
        client: RoverClient,
        config: Config,
        ros_clock: Any,
        emit: Callable[[TraceEvent], None],
    ) -> None:
        self._client, self._config, self._emit = client, config, emit
        self._ros_clock = ros_clock
        self.events = TraceBuffer(1000)
        self._tools = RoverTools(client, config, ros_clock)
        self._brain = Brain(self._tools, config, self.trace, self._recall)
        self._tracing = threading.Lock()
        self.activity: Activity | None = None
        self.last_score: float | None = None

    # --- trace ------------------------------------------------------------------------------

    def trace(self, kind: TraceKind, message: str, **fields: Any) -> None:
        event = new_event(kind, message, **fields)
        if kind is TraceKind.ACT:
            self.activity = Activity(message, time.monotonic())
        elif self.activity is not None:
            self.activity = Activity('thinking', time.monotonic())
        if event.score is not None:
            self.last_score = event.score
        with self._tracing:  # a stop is traced from another thread than what it stops
            self.events.append(event)
        self._emit(event)

    def _recall(self) -> str:
        memory = self._config.prompts.memory
        return recall(self.events.last(), memory.max_events) if memory.enabled else ''

    # --- what can be asked for: blocking, one at a time ----------------------------------------

    def turn(
        self, text: str, expects: str, cancellation: Cancellation, record: TurnRecord
    ) -> Outcome:
        """A turn with the model, or the rest of the one in ``record``; ``expects`` as in
        prompts.yaml decides whether it succeeded. Raises TurnCancelled."""
        return self._doing(cancellation, lambda: self._turn(text, expects, cancellation, record))

    def tool(self, name: str, cancellation: Cancellation, **arguments: Any) -> Outcome:
        """One tool, asked for by name. Raises TurnCancelled."""

        def run() -> Outcome:
            # Of its own: beside a turn, another one's stop must not take the place of the turn's.
            tools = RoverTools(self._client, self._config, self._ros_clock)
            tools.cancellation = cancellation
            shown = ', '.join(f'{key}={value:g}' for key, value in arguments.items())
            self.trace(TraceKind.ACT, f'{name}({shown})', tool_name=name)
            result = tools.run(name, **arguments)
            trace_result(self.trace, name, result)
            return self._outcome(result)

        return self._doing(cancellation, run)

    def warm_up(self) -> None:
        """Get ready for a turn, in the background."""
        self._brain.start()

    def status(self) -> ToolResult:
        """The rover's status, also while something runs."""
        try:
            return ToolResult.success(**self._client.status())
        except ServiceFailed as failure:
            return ToolResult.failure(str(failure))

    def stop(self) -> Outcome:
        """Tell the rover to stop, and wait for its answer; for no turn, no tool and no model."""
        result = self._tools.stop_rover()
        trace_result(self.trace, 'move_stop', result)
        return self._outcome(result)

    # --- inside -----------------------------------------------------------------------------

    def _doing(self, cancellation: Cancellation, run: Callable[[], Outcome]) -> Outcome:
        cancellation.check()
        self.activity = Activity('thinking', time.monotonic())
        try:
            return run()
        except TurnCancelled as cancelled:
            self.trace(TraceKind.ERROR, str(cancelled), ok=False, error_reason=str(cancelled))
            raise
        finally:
            self.activity = None

    def _turn(
        self, text: str, expects: str, cancellation: Cancellation, record: TurnRecord
    ) -> Outcome:
        if record.calls:
            self.trace(TraceKind.OBSERVE, f'Going on after {len(record.calls)} calls: {text}')
        else:
            self.trace(TraceKind.OBSERVE, f'User: {text}')
        try:
            result = self._brain.turn(text, cancellation, record)
        except BrainUnavailable as error:
            self.trace(TraceKind.ERROR, str(error), ok=False, error_reason=str(error))
            return Outcome(False, str(error))
        finally:
            self._leave_still()
        ok, answer = result.ok, result.answer
        if ok and expects == 'good_capture' and not result.is_good:
            ok, answer = False, f'{answer}\n{NO_GOOD_PICTURE}'
        return Outcome(ok, answer, result.score)

    def _leave_still(self) -> None:
        """However a turn ended, nothing is left driving."""
        try:
            moving = self._client.status().get('moving', True)
        except ServiceFailed:
            moving = True
        if moving:
            self._tools.stop_rover()

    def _outcome(self, result: ToolResult) -> Outcome:
        score = result.data.get('score')
        return Outcome(result.ok, summary(result), score if isinstance(score, float) else None)
