# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The kernel's loop: a tick for every message and every urgent change, and at least every tick_s.

KernelLoop runs in one asyncio loop and never blocks it: a tick only passes its actions to the
``act`` callback, which must return at once.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
import time
from typing import Any, TYPE_CHECKING, TypedDict
import warnings

from curiosity_rosa_demo.agent.kernel.actions import Action, plan, StopRover
from curiosity_rosa_demo.agent.kernel.hci_ingress import hci_ingress, InboxMessage
from curiosity_rosa_demo.agent.kernel.kernel_route import event_arbitrate, kernel_route, task_queue
from curiosity_rosa_demo.agent.kernel.telemetry_sync import KernelRules, telemetry_sync
from curiosity_rosa_demo.agent.kernel.world_update import world_update
from curiosity_rosa_demo.domain.brain_state import (
    BrainState,
    Json,
    Question,
    QueuedTask,
    Reading,
    RunningSkill,
    SkillDef,
    SkillsState,
)

if TYPE_CHECKING:
    from langgraph.graph.state import CompiledStateGraph


# -----------------------------------------------------------------------------------------------
# Decide whether a tick can skip the graph, because a run could not change the state. Pure
#
# The nodes are pure functions of the state and the inputs of a tick. If a run left the state
# unchanged and the new inputs differ in time stamps only, the next run leaves it unchanged too.
# Elapsed time matters in two cases: a source falls silent, or the rover moves with its mast up.


MAX_SKIPPED_S = 1.0  # longest time without a graph run


@dataclass(frozen=True)
class TickInputs:
    """The inputs of a tick, except the message."""

    now_s: float
    readings: Mapping[str, Reading]
    queue: list[QueuedTask]
    question: Question | None = None  # the one that a plain yes or no answers
    running: list[RunningSkill] = field(default_factory=list)
    violation: str = ''  # of a safety rule, reported since the last tick; empty without one


def is_settled(before: BrainState, after: BrainState) -> bool:
    """Whether a run left the state unchanged, apart from the ages of readings."""
    return (
        after.robot.exposed_since_s is None
        and not after.robot.events
        and _without_ages(before) == _without_ages(after)
    )


def is_unchanged(
    last: TickInputs, now: TickInputs, state: BrainState, max_age_s: Mapping[str, float]
) -> bool:
    """Whether ``now`` differs from the inputs of the ``last`` run in time stamps only."""
    if now.now_s - last.now_s >= MAX_SKIPPED_S or now.queue != last.queue:
        return False
    if now.question != last.question or now.running != last.running:
        return False
    if now.violation:
        return False
    if now.readings.keys() != last.readings.keys():
        return False
    silent = state.robot.silent
    for source, reading in now.readings.items():
        if reading.value != last.readings[source].value:
            return False
        # The age of a source is that of its last valid reading, also while it sends invalid ones.
        usable = state.robot.heard.get(source) if source in state.robot.refused else reading
        if usable is None:
            continue
        is_silent = now.now_s - usable.received_s > max_age_s.get(source, float('inf'))
        if is_silent is not (source in silent):
            return False
    return True


def _without_ages(state: BrainState) -> BrainState:
    robot = state.robot.model_copy(update={'ages_s': {}, 'heard': {}})
    telemetry = state.telemetry.model_copy(update={'now_s': 0.0, 'readings': {}})
    return state.model_copy(update={'robot': robot, 'telemetry': telemetry})


# --- The six nodes of the kernel as a LangGraph StateGraph -------------------------------------


Node = Callable[[BrainState], BrainState]


class Channels(TypedDict):
    """A single channel, so that LangGraph neither validates nor merges parts of the state."""

    brain: BrainState


def nodes(rules: KernelRules) -> dict[str, Node]:
    """The nodes by name, in execution order."""
    return {
        'hci_ingress': hci_ingress,
        'telemetry_sync': lambda state: telemetry_sync(state, rules),
        'world_update': lambda state: world_update(state, rules),
        'event_arbitrate': lambda state: event_arbitrate(state, rules),
        'task_queue': task_queue,
        'kernel_route': kernel_route,
    }


def build_graph(rules: KernelRules) -> CompiledStateGraph:
    """Compile the graph without a checkpointer. The first call imports LangGraph (about 0.5 s)."""
    import langchain  # noqa: F401  its import enables all of its warnings

    # LangGraph's own import raises this warning, for a default that the kernel does not use.
    warnings.filterwarnings(
        'ignore', message='The default value of `allowed_objects`', module='langgraph'
    )
    from langgraph.graph import END, START, StateGraph

    graph = StateGraph(Channels)
    previous = START
    for name, node in nodes(rules).items():
        graph.add_node(name, _on_channel(node))
        graph.add_edge(previous, name)
        previous = name
    graph.add_edge(previous, END)
    return graph.compile()


def tick(graph: CompiledStateGraph, state: BrainState) -> BrainState:
    """Run the graph once and return the new state."""
    from langsmith import tracing_context

    # LANGSMITH_* variables are overridden: the kernel must not upload ten traces a second.
    with tracing_context(enabled=False):
        # Cheaper than invoke(), which also collects the updates of each node.
        *_, result = graph.stream({'brain': state}, stream_mode='values', output_keys='brain')
    assert isinstance(result, BrainState)
    return result


def _on_channel(node: Node) -> Any:  # LangGraph's node type is not public
    return lambda channels: {'brain': node(channels['brain'])}


Tick = Callable[[BrainState], BrainState]
Act = Callable[[list[Action], InboxMessage | None, BrainState], None]


class KernelLoop:
    """``act`` receives the ordered actions of a tick, the message that the tick took, and the new
    state. ``question`` returns the question that a plain yes or no answers, and ``running`` the
    running skills. ``registry`` lists every registered skill.

    ``admit`` is asked about a message when its turn comes; False: it is dropped.

    A tick that cannot change the state does not run the graph (skip_tick.py). The loop's counters
    are in ``state.trace.metrics``.
    """

    def __init__(
        self,
        *,
        readings: Callable[[], Mapping[str, Reading]],
        tasks: Callable[[], list[QueuedTask]],
        question: Callable[[], Question | None],
        act: Act,
        tick_s: float,
        max_age_s: Mapping[str, float],
        admit: Callable[[InboxMessage], bool] = lambda message: True,
        running: Callable[[], list[RunningSkill]] = list,
        registry: Iterable[SkillDef] = (),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._readings, self._tasks, self._question = readings, tasks, question
        self._act, self._admit, self._running = act, admit, running
        self._tick_s, self._max_age_s, self._clock = tick_s, max_age_s, clock
        self._messages: deque[InboxMessage] = deque()
        self._wakeup = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None  # that of run()
        definitions = {definition.name: definition for definition in registry}
        self.state = BrainState(skills=SkillsState(registry=definitions))
        self._violations: deque[str] = deque()  # not yet seen by a tick
        # Inputs of the last graph run; None if that run changed the state.
        self._last_inputs: TickInputs | None = None
        self.ticks = 0
        self._counts = dict.fromkeys(('graph_runs', 'messages', 'rover_stops', 'mode_changes'), 0)

    def post(self, message: InboxMessage) -> None:
        """Queue a message. Thread-safe."""
        self._messages.append(message)
        self._wake()

    def tick_now(self) -> None:
        """Run a tick at once, because an input changed. Thread-safe."""
        self._wake()

    def violate(self, reason: str) -> None:
        """Report a broken safety rule. A tick runs at once and latches SAFE. Thread-safe."""
        self._violations.append(reason)
        self._wake()

    def _wake(self) -> None:
        if self._loop is not None:  # otherwise the first tick is still to come
            with suppress(RuntimeError):  # the loop is closed
                self._loop.call_soon_threadsafe(self._wakeup.set)

    def set_safety_latch(self, reason: str) -> None:
        """Restore the safety latch of an earlier run, before the first tick."""
        robot = self.state.robot.model_copy(update={'safety_latch': reason})
        self.state = self.state.model_copy(update={'robot': robot})

    async def run(self, tick: Tick) -> None:
        """Run ticks until cancelled."""
        loop = self._loop = asyncio.get_running_loop()
        while True:
            self._step(tick)
            if self._messages:
                await asyncio.sleep(0)
                continue
            self._wakeup.clear()
            # Half the CPU cost of asyncio.wait_for().
            timer = loop.call_later(self._tick_s, self._wakeup.set)
            await self._wakeup.wait()
            timer.cancel()

    def _step(self, tick: Tick) -> None:
        # One message per tick, so that each action belongs to a known message.
        message = self._messages.popleft() if self._messages else None
        if message is not None and not self._admit(message):
            message = None
        has_body = message is not None and message.body is not None
        violation = ''
        while self._violations:  # another thread may add one at any time
            violation = self._violations.popleft()
        inputs = TickInputs(
            self._clock(),
            dict(self._readings()),
            self._tasks(),
            self._question(),
            self._running(),
            violation,
        )
        if (
            not has_body
            and self._last_inputs is not None
            and self._can_skip(self._last_inputs, inputs)
        ):
            self._act([], message, self.state)
        else:
            self._run_graph(tick, message, inputs)
        self.ticks += 1

    def _can_skip(self, last: TickInputs, inputs: TickInputs) -> bool:
        return is_unchanged(last, inputs, self.state, self._max_age_s)

    def _run_graph(self, tick: Tick, message: InboxMessage | None, inputs: TickInputs) -> None:
        before = self.state
        telemetry = {'now_s': inputs.now_s, 'readings': inputs.readings}
        body = None if message is None else message.body
        tasks = {'inbox': [] if body is None else [body], 'queue': inputs.queue}
        react = {'question': inputs.question}
        skills = {'running': inputs.running}
        after = tick(
            before.model_copy(
                update={
                    'telemetry': before.telemetry.model_copy(update=telemetry),
                    'tasks': before.tasks.model_copy(update=tasks),
                    'react': before.react.model_copy(update=react),
                    'skills': before.skills.model_copy(update=skills),
                    'robot': before.robot.model_copy(update={'violation': inputs.violation}),
                }
            )
        )
        # A message's intent stays in the state until the next run, which must not be skipped.
        self._last_inputs = inputs if body is None and is_settled(before, after) else None
        actions = plan(before, after)
        self.state = self._with_metrics(before, after, actions, message)
        self._act(actions, message, self.state)

    def _with_metrics(
        self,
        before: BrainState,
        after: BrainState,
        actions: list[Action],
        message: InboxMessage | None,
    ) -> BrainState:
        """Return ``after`` with the updated counters in ``trace.metrics``."""
        counts = self._counts
        counts['graph_runs'] += 1
        counts['messages'] += message is not None and message.body is not None
        counts['rover_stops'] += sum(isinstance(each, StopRover) for each in actions)
        counts['mode_changes'] += before.tasks.mode is not after.tasks.mode
        metrics: Json = {'ticks': self.ticks + 1, **counts}
        trace = after.trace.model_copy(update={'metrics': metrics})
        return after.model_copy(update={'trace': trace})
