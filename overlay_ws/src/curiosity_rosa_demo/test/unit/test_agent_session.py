# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What the session does for whoever asks, and the state that it shows, as a value."""

from __future__ import annotations

from collections.abc import Callable
import math
from typing import Any

from curiosity_rosa_demo.agent.react.turn.approval_queue import ApprovalQueue
from curiosity_rosa_demo.agent.react.turn.request import TurnRequest, TurnResult
from curiosity_rosa_demo.agent.runtime.execution.rosa_loader import ModelUnavailable, RosaLoader
from curiosity_rosa_demo.agent.runtime.execution.session import AgentSession
from curiosity_rosa_demo.agent.skills.monitor import running_task
from curiosity_rosa_demo.domain.brain_state import (
    BrainState,
    HCIState,
    QueuedTask,
    Reading,
    RobotState,
    SkillDef,
    SkillsState,
    Telemetry,
    WorldState,
)
from curiosity_rosa_demo.domain.cancellation import Cancellation, TurnCancelled
from curiosity_rosa_demo.domain.models import TraceEvent, TraceKind
from curiosity_rosa_demo.domain.plan.plan import Plan, PlanStep
from curiosity_rosa_demo.domain.serde import from_json, SerdeError
from curiosity_rosa_demo.trace.events import task_of, TurnStarted
from pydantic import ValidationError
import pytest
from react_world import REGISTRY
from tool_rover import Hurry, SimulatedRover
from turn_world import SHIPPED


class Bench:
    """A session before a rover; ``said`` are the events' messages."""

    def __init__(self) -> None:
        self.rover, self.events = SimulatedRover(), list[TraceEvent]()
        self.approval_queue = ApprovalQueue(timeout_s=1.0)
        self.session = AgentSession(
            self.rover,  # type: ignore[arg-type]
            SHIPPED,
            self.rover.clock,
            self.events.append,
            registry=REGISTRY,
            approval_queue=self.approval_queue,
            checkpoints=':memory:',
        )

    @property
    def said(self) -> list[str]:
        return [event.message for event in self.events]


@pytest.fixture
def bench() -> Bench:
    return Bench()


def test_a_status_beside_a_skill_does_not_take_the_skills_stop_away(bench: Bench) -> None:
    button = Hurry(bench.rover.clock)
    bench.rover.clock.ros_time_is_active = False  # no wait of the skill makes this clock pass

    def meanwhile() -> None:
        del bench.rover.faults['move_forward']
        with bench.rover.answers_another():
            assert bench.session.rover_status().ok
        button.cancel('Stopped by a test')

    bench.rover.faults['move_forward'] = meanwhile
    with pytest.raises(TurnCancelled, match='Stopped by a test'):
        bench.session.run_skill('move_forward', button, duration_s=1.0)
    # The guardrails ask for the first status.
    assert bench.rover.calls == ['get_status', 'move_forward', 'get_status', 'move_stop']
    assert bench.said[-1] == 'Stopped by a test'


@pytest.mark.parametrize(('door', 'said'), [('console', 'User'), ('action', 'User (action)')])
def test_a_turn_leaves_the_rover_still_and_says_through_which_door_its_text_came(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, door: str, said: str
) -> None:
    def turn(_: RosaLoader, request: TurnRequest) -> TurnResult:
        request.on_start(0)
        bench.rover.motion = 'move_forward'
        return TurnResult(ok=True, answer='done', score=0.5, is_good=False, goal='Charge')

    monkeypatch.setattr(RosaLoader, 'run_turn', turn)
    outcome = bench.session.run_turn('look', 'good_capture', Cancellation(), door=door)
    assert (outcome.ok, outcome.score) == (False, 0.5)  # a picture was expected
    assert not bench.rover.motion
    outcome = bench.session.run_turn('look', 'answer', Cancellation(), door=door)
    assert (outcome.ok, outcome.goal) == (True, 'Charge')
    assert bench.said[0] == f'{said}: look'
    begun = bench.session.trace_buffer.last()[0]
    assert TurnStarted.of(begun) == TurnStarted(0, door)


def test_every_event_of_a_task_names_it_and_keeps_what_it_says_of_tasks(bench: Bench) -> None:
    """A skill may give the ID of another task as its result."""
    with running_task('t1'):
        assert bench.session.run_skill('mast_close', Cancellation()).ok
        bench.session.trace(TraceKind.RESULT, 'queued', data={'task_id': 't2'})
    bench.session.trace(TraceKind.OBSERVE, 'of no task')
    assert [task_of(event) for event in bench.events] == ['t1'] * (len(bench.events) - 1) + ['']
    assert (bench.events[-2].data or {})['task_id'] == 't2'
    assert bench.events[-1].data is None


def test_without_a_brain_a_turn_says_why_and_the_rover_stands(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def turn(*_: object) -> TurnResult:
        bench.rover.motion = 'move_forward'
        raise ModelUnavailable('No key')

    monkeypatch.setattr(RosaLoader, 'run_turn', turn)
    outcome = bench.session.run_turn('drive', 'answer', Cancellation())
    assert (outcome.ok, outcome.answer, bench.said) == (False, 'No key', ['No key'])
    assert not bench.rover.motion


def test_the_plan_of_a_stopped_turn_does_not_look_as_if_it_ran(bench: Bench) -> None:
    button, seen = Hurry(bench.rover.clock), list[str]()
    bench.rover.clock.ros_time_is_active = False  # no wait of the skill makes this clock pass

    def stop() -> None:
        plan = bench.session.react_state.plan
        assert plan is not None
        seen.extend([plan['status'], *(step['status'] for step in plan['steps'])])
        button.cancel('Stopped by a test')

    bench.rover.faults['move_forward'] = stop
    drive = PlanStep(1, 'move_forward', {'duration_s': 1.0})
    plan = Plan('p', 'see', steps=[PlanStep(0, 'mast_close'), drive, PlanStep(2, 'mast_open')])
    with pytest.raises(TurnCancelled):
        bench.session.run_turn('see', 'answer', button, plan=plan.to_dict())
    assert seen == ['executing', 'success', 'running', 'pending']
    ended = bench.session.react_state.plan
    assert ended is not None
    assert ended['status'] == 'cancelled'
    assert [step['status'] for step in ended['steps']] == ['success', 'skipped', 'skipped']


def skill(**fields: Any) -> SkillDef:
    return SkillDef(**{'name': 's', 'interface_type': 'internal', **fields})


FLOATS: list[Callable[[Any], Any]] = [
    lambda bad: Telemetry(now_s=bad),
    lambda bad: Reading(received_s=bad),
    lambda bad: Reading(received_s=0.0, value={'a': [{'b': bad}]}),
    lambda bad: RobotState(battery_pct=bad),
    lambda bad: RobotState(ages_s={'battery': bad}),
    lambda bad: WorldState(obstacles=[{'distance_m': bad}]),
    lambda bad: HCIState(interrupt_payload={'a': bad}),
    lambda bad: QueuedTask(task_id='t', goal='', deadline=bad),
    lambda bad: skill(timeout_s=bad),
]
TEXTS: list[Callable[[Any], Any]] = [
    lambda bad: WorldState(summary=bad),
    lambda bad: WorldState(zones=[bad]),
    lambda bad: WorldState(obstacles=[{bad: 1}]),
    lambda bad: RobotState(ages_s={bad: 1.0}),
    lambda bad: SkillsState(registry={bad: skill()}),
    lambda bad: skill(error_map={'e': bad}),
]
COUNTS: list[Callable[[Any], Any]] = [lambda bad: QueuedTask(task_id='t', goal='', priority=bad)]


@pytest.mark.parametrize(
    ('makers', 'bad'),
    [
        *((FLOATS, bad) for bad in (math.nan, math.inf, -math.inf)),
        (TEXTS, '\ud800'),  # no Unicode
        *((COUNTS, bad) for bad in (2**63, -(2**63) - 1, 10**4000)),
    ],
)
def test_what_no_reader_of_the_state_can_take_is_refused(
    makers: list[Callable[[Any], Any]], bad: Any
) -> None:
    for make in makers:
        with pytest.raises(ValidationError):
            make(bad)


def test_a_state_is_frozen_and_json_of_something_else_is_refused() -> None:
    with pytest.raises(ValidationError, match='frozen'):
        BrainState().tasks.preempt_flag = True  # type: ignore[misc]
    wrong = ('{"mode": 1}', '{"robot": {"battery_pct": NaN}}', '{"tasks": {"mode": "RUN"}}')
    for line in ('', '[]', *wrong):
        with pytest.raises(SerdeError, match='BrainState'):
            from_json(BrainState, line)
