# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The kernel as one graph: it is its nodes, one after another, whatever comes in."""

from __future__ import annotations

import os
import subprocess
import sys

from curiosity_rosa_demo.agent.kernel.actions import HoldTasks, plan, ReleaseTasks, StopRover
from curiosity_rosa_demo.agent.kernel.event_arbitrate import event_arbitrate
from curiosity_rosa_demo.agent.kernel.graph import build_graph, tick
from curiosity_rosa_demo.agent.kernel.hci_ingress import hci_ingress
from curiosity_rosa_demo.agent.kernel.kernel_route import kernel_route
from curiosity_rosa_demo.agent.kernel.task_queue import task_queue
from curiosity_rosa_demo.agent.kernel.telemetry_sync import telemetry_sync
from curiosity_rosa_demo.agent.kernel.world_update import world_update
from curiosity_rosa_demo.domain.brain_state import BrainState, Mode, Telemetry, UserInterruptType
from curiosity_rosa_demo.domain.serde import from_json, to_json
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from kernel_strategies import readings, RULES, states, tasks
from strategies import json_objects

GRAPH = build_graph(RULES)
messages = json_objects | st.sampled_from(
    [{'intent': intent.value, 'payload': {'text': 'go'}} for intent in UserInterruptType]
)


def by_hand(state: BrainState) -> BrainState:
    state = world_update(telemetry_sync(hci_ingress(state), RULES), RULES)
    return kernel_route(task_queue(event_arbitrate(state, RULES)))


@given(states(), st.data())
@settings(max_examples=examples(50), deadline=None)
def test_the_graph_is_its_nodes_one_after_another(state: BrainState, data: st.DataObject) -> None:
    telemetry = Telemetry.model_construct(now_s=100.0, readings=data.draw(readings(100.0)))
    inbox = data.draw(st.lists(messages, max_size=3))
    queue = state.tasks.model_copy(update={'inbox': inbox})
    state = state.model_copy(update={'telemetry': telemetry, 'tasks': queue})
    assert tick(GRAPH, state) == by_hand(state)


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
                'inbox': data.draw(st.lists(messages, max_size=2)),
                'queue': data.draw(st.lists(tasks, max_size=3)),
            }
        )
        before = state
        state = by_hand(state.model_copy(update={'telemetry': telemetry, 'tasks': work}))
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


BUILD = (
    'from curiosity_rosa_demo.agent.kernel.graph import build_graph, tick\n'
    'from curiosity_rosa_demo.agent.kernel.limits import KernelRules\n'
    'from curiosity_rosa_demo.domain.brain_state import BrainState\n'
    'from curiosity_rosa_demo.infra.config_loader import load_config\n'
    'graph = build_graph(KernelRules.of(load_config().thresholds))\n'
)
# In place of the tracer that would call a server.
TRACE = (
    'from langchain_core.callbacks import BaseCallbackHandler, manager\n'
    'class Tracer(BaseCallbackHandler):\n'
    '    def __init__(self, **_): print("traced")\n'
    'manager.LangChainTracer = Tracer\n'
)


def output_of(program: str, **variables: str) -> str:
    """All that ``program`` prints."""
    done = subprocess.run(
        [sys.executable, '-c', program],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=60,
        check=True,
        env={**os.environ, **variables},
    )
    return done.stdout


def test_no_tick_is_traced_whatever_the_environment_says() -> None:
    tracing = {'LANGSMITH_TRACING': 'true', 'LANGSMITH_API_KEY': 'none'}
    assert output_of(BUILD + TRACE + 'tick(graph, BrainState())', **tracing) == ''
    # Otherwise the line above would prove nothing.
    plain = BUILD + TRACE + 'graph.invoke({"brain": BrainState()})'
    assert output_of(plain, **tracing).startswith('traced')
