# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The health of the other nodes, from their reports on the diagnostics topic."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
import math
import threading
import time
from typing import Protocol

from curiosity_rosa_demo.agent.memory import event_line
from curiosity_rosa_demo.domain.adapter_status import NodeStatus
from curiosity_rosa_demo.domain.brain_state import (
    BatteryLevel,
    BrainState,
    Mode,
    Question,
    Reading,
)
from curiosity_rosa_demo.domain.models import TraceEvent, TraceKind
from curiosity_rosa_demo.domain.text import clip, printable
from curiosity_rosa_demo.infra.config.agent import LlmConfig
from curiosity_rosa_demo.infra.config.topics import Config
from curiosity_rosa_demo.infra.diagnostics import Finding, Level, MAX_MESSAGES, PERIOD_S
from curiosity_rosa_demo.infra.ros_io import history_qos
from curiosity_rosa_demo.trace.events import NodeStarted
from curiosity_rosa_demo.trace.trace_codec import decode
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from rclpy.node import Node
from rclpy.qos import QoSProfile
from std_msgs.msg import String

# -----------------------------------------------------------------------------------------------
# Events of the other nodes for the console: from /trace/events and from the process manager.


class NodeEvents:
    """Prints events and restarts of other nodes. A second start event of a node is a restart.

    ``on_trace_event`` gets every event of the topic, also this agent's own, in the thread that
    spins ``node``.
    """

    def __init__(
        self,
        node: Node,
        config: Config,
        say: Callable[[str], None],
        on_trace_event: Callable[[TraceEvent], object] = lambda event: None,
    ) -> None:
        self._say, self._on_trace_event = say, on_trace_event
        self._starts: dict[str, str] = {}  # node name -> id of its start event
        self._started_at = time.time()
        qos = history_qos(config.thresholds.trace.buffer_size)
        node.create_subscription(String, config.topics.trace.events, self._on_event, qos)

    def _on_event(self, message: String) -> None:
        event = decode(message.data)
        self._on_trace_event(event)
        source = (event.data or {}).get('node')
        if not isinstance(source, str):
            return  # an event of this agent, or of another agent
        if event.kind is TraceKind.ERROR:
            if event.ts >= self._started_at:  # the topic repeats its history to a late subscriber
                self._say(f'  {_shown(source)}: {event_line(event)}')
        elif NodeStarted.of(event):
            known = self._starts.setdefault(source, event.event_id)
            if known != event.event_id:
                self._starts[source] = event.event_id
                why = _shown(event.message)
                self._say(f'! The {_shown(source)} node was restarted: {why}')
        elif event.ts >= self._started_at:
            self._say(f'  {_shown(source)}: {event_line(event)}')


def _shown(text: str) -> str:
    """A text from the topic, on which any node may publish."""
    return clip(printable(text))


def read_process_events(descriptor: int, on_event: Callable[[str], None]) -> None:
    """Call ``on_event``, in a new thread, with each line that the process manager writes."""

    def read() -> None:
        with open(descriptor, encoding='utf-8', errors='replace') as lines:
            for text in lines:
                on_event(text.strip())

    threading.Thread(target=read, name='process-events', daemon=True).start()


# --- The health of the agent for the diagnostics topic. Pure -----------------------------------


LIVE_STATES = ('ACTIVE', 'PENDING', 'WAITING', 'PAUSED', 'RECOVERING')


class DiagnosedAgent(Protocol):
    """The part of Robot (agent/robot.py) that the diagnosis reads."""

    def state(self) -> BrainState: ...

    def not_ready_reason(self) -> str: ...

    def questions(self) -> Sequence[Question]: ...

    def autonomy_status(self) -> str: ...


def own_findings(robot: DiagnosedAgent, llm: LlmConfig, clock_problem: str = '') -> Finding:
    """The finding for the current state of the kernel. Thread-safe; does not block.

    ``clock_problem``: why no motion can be timed; '' without one.
    """
    state = robot.state()
    kernel, rover = state.tasks, state.robot
    ready = robot.not_ready_reason()
    problems = {ready: Level.WARN}
    if clock_problem:
        problems[clock_problem] = Level.ERROR
    if rover.safety_latch:
        problems[f'Latched until :clear: {rover.safety_latch}'] = Level.ERROR
    if kernel.mode is Mode.SAFE:
        problems[f'SAFE: {kernel.mode_reason}'] = Level.ERROR
    if rover.silent:
        problems[f'Silent: {", ".join(rover.silent)}'] = Level.ERROR
    counts = Counter(task.status for task in kernel.queue)
    battery = None if rover.battery_state is BatteryLevel.UNKNOWN else rover.battery_pct
    return Finding(
        problems,
        kernel.mode.value,
        {
            'mode': kernel.mode.value,
            'mode_reason': kernel.mode_reason,
            'ready': not ready,
            **{f'tasks_{name.lower()}': counts[name] for name in LIVE_STATES},
            'questions_open': len(robot.questions()),
            'battery_pct': battery,
            'model': '/'.join(filter(None, (llm.provider, llm.model))),
            'auto': robot.autonomy_status(),
            'step': state.react.iter,
        },
    )


NODES = ('adapter', 'simulator', 'visualizer')
MAX_AGE_S = 3.5 * PERIOD_S
MAX_TEXT = 500  # characters of a report


class NodeHealth:
    """``readings`` returns the kernel's readings. The adapter publishes a change on its status
    topic sooner than in its diagnostics.
    """

    def __init__(
        self, node: Node, config: Config, readings: Callable[[], Mapping[str, Reading]]
    ) -> None:
        self._readings = readings
        self._adapter_max_age_s = config.thresholds.telemetry.adapter_max_age_s
        space = node.get_namespace().strip('/')
        self._names = {f'{space}/{name}'.lstrip('/'): name for name in NODES}
        # The last report of a node: its time of arrival (steady seconds), error flag and text.
        self._reports: dict[str, tuple[float, bool, str]] = {}
        node.create_subscription(
            DiagnosticArray,
            config.topics.status.diagnostics,
            self._on_diagnostics,
            QoSProfile(depth=MAX_MESSAGES),
        )

    def node_statuses(self) -> list[NodeStatus]:
        """The status of each of NODES. Thread-safe. A silent node is not ok after MAX_AGE_S."""
        now, reading = time.monotonic(), self._readings().get('adapter')
        found = []
        for name in NODES:
            at_s, failed, text = self._reports.get(name, (-math.inf, False, ''))
            longest_s = MAX_AGE_S
            if name == 'adapter' and reading is not None:
                at_s, longest_s = reading.received_s, self._adapter_max_age_s
            age = now - at_s
            ok = age <= longest_s and not failed
            found.append(NodeStatus(name, ok, age if age < math.inf else None, text))
        return found

    def _on_diagnostics(self, message: DiagnosticArray) -> None:
        """Runs in the thread that spins the node."""
        for status in message.status:
            name = self._names.get(status.name.partition(':')[0])
            if name is not None:
                failed = status.level not in (DiagnosticStatus.OK, DiagnosticStatus.WARN)
                text = (
                    '' if status.level == DiagnosticStatus.OK else clip(status.message, MAX_TEXT)
                )
                self._reports[name] = time.monotonic(), failed, text
