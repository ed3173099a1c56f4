# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.
"""The loop of the kernel and its graph."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import reduce
import os
import subprocess
import sys
from typing import Any

from curiosity_rosa_demo.agent.kernel.actions import (
    Action,
    HoldTasks,
    plan,
    ReleaseTasks,
    StopRover,
)
from curiosity_rosa_demo.agent.kernel.hci_ingress import hci_ingress, InboxMessage
from curiosity_rosa_demo.agent.kernel.kernel_route import event_arbitrate, kernel_route, task_queue
from curiosity_rosa_demo.agent.kernel.loop import (
    build_graph,
    KernelLoop,
    MAX_SKIPPED_S,
    nodes,
    tick,
    TickInputs,
)
from curiosity_rosa_demo.agent.kernel.telemetry_sync import KernelRules, telemetry_sync
from curiosity_rosa_demo.agent.kernel.world_update import world_update
from curiosity_rosa_demo.domain.brain_state import (
    BrainState,
    Mode,
    Question,
    QueuedTask,
    Reading,
    Telemetry,
    UserInterruptType,
)
from curiosity_rosa_demo.domain.serde import from_json, to_json
from examples import examples
from hypothesis import example, given, settings
from hypothesis import strategies as st
from kernel_strategies import good_values, reading, readings, RULES, states, tasks, UNWARY
from strategies import json_objects
from virtual_time import run

QUESTIONS = [Question(id='q1', text='drive?'), Question(id='q2', text='drive?')]


def by_hand(rules: KernelRules) -> Callable[[BrainState], BrainState]:
    """The real nodes, without LangGraph around them."""
    return lambda state: reduce(lambda each, node: node(each), nodes(rules).values(), state)


class EveryTime(KernelLoop):
    """One that never skips a run."""

    def _can_skip(self, last: TickInputs, inputs: TickInputs) -> bool:
        return False


@dataclass
class World:
    """What a kernel sees, and what it did about it."""

    rules: KernelRules = RULES
    now_s: float = 100.0
    readings: dict[str, Reading] = field(default_factory=dict)
    queue: list[QueuedTask] = field(default_factory=list)
    question: Question | None = None
    told: list[tuple[Any, ...]] = field(default_factory=list)
    runs: int = 0
    tick_s: float = 0.1
    kernel_loop: type[KernelLoop] = KernelLoop

    def __post_init__(self) -> None:
        self._nodes = by_hand(self.rules)
        self.loop = self.kernel_loop(
            readings=lambda: self.readings,
            tasks=lambda: list(self.queue),
            question=lambda: self.question,
            act=self._act,
            tick_s=self.tick_s,
            max_age_s=self.rules.max_age_s,
            clock=lambda: self.now_s,
        )

    def _act(self, actions: list[Action], message: InboxMessage | None, after: BrainState) -> None:
        tasks, robot = after.tasks, after.robot
        self.told.append((
            actions, message and message.body,
            tasks.mode, tasks.mode_reason, tasks.active_task_id,
            robot.safety_latch, robot.silent, robot.events, robot.moving, robot.mast,
            robot.battery_state, robot.estop, robot.scan_min_m,
            after.world, after.hci, after.react,
        ))  # fmt: skip

    def tick(self, state: BrainState) -> BrainState:
        self.runs += 1
        return self._nodes(state)


async def step(world: World) -> None:
    """One tick of a world that is ``running``."""
    before = world.loop.ticks
    world.loop.tick_now()
    await turns_until(lambda: world.loop.ticks > before, 'a tick')


async def turns_until(condition: Callable[[], bool], what: str) -> None:
    """Let the loop turn, while no time passes."""
    for _ in range(1000):
        if condition():
            return
        await asyncio.sleep(0)
    raise AssertionError(f'not within 1000 turns of the loop: {what}')


messages = st.sampled_from(
    [
        *({'intent': name, 'payload': {}} for name in ('STOP', 'PAUSE', 'RESUME', 'CLEAR')),
        *({'text': text} for text in ('find the light', 'go to the shade immediately', '')),
        *({'text': text} for text in ('yes', 'no')),
        *({'text': text, 'question': 'q1'} for text in ('yes', 'no')),
        {'intent': 'APPROVAL', 'payload': {'action': 'APPROVE', 'id': 'q1'}},
        {'nonsense': 1},
    ]
)


@st.composite
def scripts(draw: st.DrawFn) -> list[tuple[str, Any]]:
    pool = {
        source: [{}, *(draw(value) for _ in range(2))] for source, value in good_values.items()
    }
    known = draw(st.lists(tasks, max_size=3, unique_by=lambda task: task.task_id))
    hears = st.sampled_from(sorted(pool)).flatmap(
        lambda source: st.tuples(
            st.just(source), st.sampled_from(pool[source]), st.sampled_from([0.0, 0.0, 2.0])
        )
    )
    step = st.one_of(
        st.tuples(st.just('pass'), st.sampled_from([0.0, 0.1, 0.1, 0.3, 1.1, 4.0])),
        st.tuples(st.just('hear'), hears),
        st.tuples(st.just('hear'), hears),
        st.tuples(st.just('say'), messages),
        st.tuples(
            st.just('queue'),
            st.sets(st.integers(0, len(known))).map(
                lambda chosen: [task for i, task in enumerate(known) if i in chosen]
            ),
        ),
        st.tuples(st.just('ask'), st.sampled_from([None, *QUESTIONS])),
        st.tuples(st.just('again'), st.just(None)),  # all sensors repeat themselves
    )
    return draw(st.lists(step, min_size=5, max_size=30))


STOP = ('say', {'intent': 'STOP', 'payload': {}})


@given(scripts(), st.sampled_from([RULES, UNWARY]))
@example([('pass', 0.1), STOP, STOP, ('pass', 0.1)], RULES)  # the second changes nothing
@settings(max_examples=examples(100), deadline=None)
def test_a_quiet_tick_changes_nothing(script: list[tuple[str, Any]], rules: KernelRules) -> None:
    worlds = World(rules), World(rules, kernel_loop=EveryTime)

    def prepare(world: World, number: int, what: str, value: Any) -> None:
        now_s = world.now_s - 1e-6 * number  # no two readings come at the same time
        if what == 'pass':
            world.now_s += value
        elif what == 'hear':
            source, heard, age_s = value
            world.readings = {**world.readings, source: reading(heard, now_s - age_s)}
        elif what == 'again':
            world.readings = {
                source: reading(last.value, now_s) for source, last in world.readings.items()
            }
        elif what == 'queue':
            world.queue = value
        elif what == 'ask':
            world.question = value
        else:
            world.loop.post(InboxMessage(value))

    async def follow(world: World) -> None:
        for number, (what, value) in enumerate(script):
            prepare(world, number, what, value)
            await step(world)

    for world in worlds:
        running(world, follow)
    skipping, thorough = worlds
    assert skipping.told == thorough.told
    assert skipping.loop.ticks == thorough.loop.ticks == thorough.runs == len(script)


def test_ticks_are_quiet_while_nothing_happens_and_run_every_second_at_least() -> None:
    async def wait(world: World) -> None:
        for _ in range(100):
            world.now_s += 0.1
            world.readings = {'battery': reading({'fraction': 0.9}, world.now_s)}
            await step(world)
        assert world.loop.ticks == 100
        assert 10.0 / MAX_SKIPPED_S <= world.runs < 15
        world.readings = {'battery': reading({'fraction': 0.1}, world.now_s)}
        await step(world)
        assert isinstance(world.told[-1][0][0], StopRover)

    running(World(), wait)


def running(world: World, test: Callable[[World], Any]) -> None:
    """``test`` beside the loop, in virtual time."""

    async def both() -> None:
        job = asyncio.create_task(world.loop.run(world.tick))
        try:
            await test(world)
        finally:
            job.cancel()
            await asyncio.wait([job])
        assert job.cancelled(), job.exception()

    run(both())


@given(st.lists(st.booleans(), max_size=20))
@settings(max_examples=examples(50), deadline=None)
def test_what_is_posted_keeps_its_order_one_a_tick(kinds: list[bool]) -> None:
    posted = [InboxMessage({'text': 'hello'} if has_body else None) for has_body in kinds]
    done: list[InboxMessage] = []

    class Counting(World):
        def _act(self, _: list[Action], message: InboxMessage | None, after: BrainState) -> None:
            if message is not None:
                done.append(message)

    async def post(world: World) -> None:
        for message in posted:
            world.loop.post(message)
        await turns_until(lambda: len(done) == len(kinds), 'all that was posted')
        assert world.loop.ticks >= len(kinds)

    running(Counting(), post)
    assert done == posted


def test_a_latch_of_an_earlier_run_holds_from_the_first_tick() -> None:
    world = World()
    world.loop.set_safety_latch('e-stop pressed')
    running(world, step)
    assert world.loop.state.tasks.mode is Mode.SAFE
    assert isinstance(world.told[0][0][0], StopRover)


GRAPH = build_graph(RULES)
sent_messages = json_objects | st.sampled_from(
    [{'intent': intent.value, 'payload': {'text': 'go'}} for intent in UserInterruptType]
)


def in_order(state: BrainState) -> BrainState:
    state = world_update(telemetry_sync(hci_ingress(state), RULES), RULES)
    return kernel_route(task_queue(event_arbitrate(state, RULES)))


@given(states(), st.data())
@settings(max_examples=examples(50), deadline=None)
def test_the_graph_is_its_nodes_one_after_another(state: BrainState, data: st.DataObject) -> None:
    telemetry = Telemetry.model_construct(now_s=100.0, readings=data.draw(readings(100.0)))
    inbox = data.draw(st.lists(sent_messages, max_size=3))
    queue = state.tasks.model_copy(update={'inbox': inbox})
    state = state.model_copy(update={'telemetry': telemetry, 'tasks': queue})
    assert tick(GRAPH, state) == in_order(state)


@given(st.data())
@settings(max_examples=examples(100), deadline=None)
def test_whatever_comes_in_the_kernel_goes_on_and_a_latch_stays_until_cleared(
    data: st.DataObject,
) -> None:
    state, latched, held = BrainState(), False, False
    for number in range(data.draw(st.integers(1, 12))):
        now_s = float(number)
        telemetry = Telemetry.model_construct(now_s=now_s, readings=data.draw(readings(now_s)))
        work = state.tasks.model_copy(
            update={
                'inbox': data.draw(st.lists(sent_messages, max_size=2)),
                'queue': data.draw(st.lists(tasks, max_size=3)),
            }
        )
        before = state
        state = in_order(state.model_copy(update={'telemetry': telemetry, 'tasks': work}))
        kept = state.model_copy(update={'telemetry': Telemetry(now_s=now_s)})
        assert from_json(BrainState, to_json(kept)) == kept
        actions = plan(before, state)
        if state.robot.estop:
            assert state.tasks.mode is Mode.SAFE
            if not before.robot.estop:
                assert isinstance(actions[0], StopRover)
        if latched and state.hci.user_interrupt is not UserInterruptType.CLEAR:
            assert state.robot.safety_latch
            assert state.tasks.mode is Mode.SAFE
        latched = bool(state.robot.safety_latch)
        for action in actions:
            held = isinstance(action, HoldTasks) or (held and not isinstance(action, ReleaseTasks))
        assert held is (state.tasks.mode in (Mode.SAFE, Mode.CHARGE))


TRACED = """
from curiosity_rosa_demo.agent.kernel.loop import build_graph, tick
from curiosity_rosa_demo.agent.kernel.telemetry_sync import KernelRules
from curiosity_rosa_demo.domain.brain_state import BrainState
from curiosity_rosa_demo.infra.config_loader import load_config
from langchain_core.callbacks import BaseCallbackHandler, manager

class Tracer(BaseCallbackHandler):
    def __init__(self, **_):
        print('traced')

graph = build_graph(KernelRules.of(load_config().thresholds))
manager.LangChainTracer = Tracer
tick(graph, BrainState())
print('and otherwise')
graph.invoke({'brain': BrainState()})
"""


def test_no_tick_is_traced_whatever_the_environment_says() -> None:
    environment = {**os.environ, 'LANGSMITH_TRACING': 'true', 'LANGSMITH_API_KEY': 'none'}
    command = [sys.executable, '-W', 'ignore', '-c', TRACED]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=60, check=True, env=environment
    )
    assert done.stdout.startswith('and otherwise\ntraced')
