# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What the session does for whoever asks, in front of a simulated rover."""

from __future__ import annotations

from pathlib import Path

from curiosity_rosa_demo.agent.react.turn.approval_queue import ApprovalQueue
from curiosity_rosa_demo.agent.react.turn.request import TurnRequest, TurnResult
from curiosity_rosa_demo.agent.runtime.execution.rosa_loader import ModelUnavailable, RosaLoader
from curiosity_rosa_demo.agent.runtime.execution.session import AgentSession
from curiosity_rosa_demo.agent.skills.monitor import running_task
from curiosity_rosa_demo.domain.brain_state import ReactState
from curiosity_rosa_demo.domain.cancellation import Cancellation, TurnCancelled
from curiosity_rosa_demo.domain.models import TraceEvent, TraceKind
from curiosity_rosa_demo.domain.plan.plan import Plan, PlanStep
from curiosity_rosa_demo.trace.events import task_of, TurnStarted
import pytest
from react_world import REGISTRY
from tool_rover import Hurry, SimulatedRover
from turn_world import SHIPPED

STATUS = '現在のローバーの状態を教えて'


class Bench:
    """A session before a rover; ``said`` are the events' messages."""

    def __init__(self, checkpoints: Path | str = ':memory:') -> None:
        self.rover, self.events = SimulatedRover(), list[TraceEvent]()
        self.approval_queue = ApprovalQueue(timeout_s=1.0)
        self.session = AgentSession(
            self.rover,  # type: ignore[arg-type]
            SHIPPED,
            self.rover.clock,
            self.events.append,
            registry=REGISTRY,
            approval_queue=self.approval_queue,
            checkpoints=checkpoints,
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


def test_a_turn_leaves_the_rover_still(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    def turn(_: RosaLoader, request: TurnRequest) -> TurnResult:
        request.on_start(0)
        bench.rover.motion = 'move_forward'
        return TurnResult(ok=True, answer='done', score=0.5, is_good=False)

    monkeypatch.setattr(RosaLoader, 'run_turn', turn)
    outcome = bench.session.run_turn('drive', 'good_capture', Cancellation())
    assert not outcome.ok  # a picture was expected
    assert outcome.score == 0.5
    assert not bench.rover.motion
    assert bench.said == ['User: drive']


@pytest.mark.parametrize(
    ('door', 'message'),
    [('', 'User: look'), ('console', 'User: look'), ('action', 'User (action): look')],
)
def test_a_turn_says_through_which_door_its_text_came(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, door: str, message: str
) -> None:
    def turn(_: RosaLoader, request: TurnRequest) -> TurnResult:
        request.on_start(0)
        return TurnResult(ok=True, answer='done')

    monkeypatch.setattr(RosaLoader, 'run_turn', turn)
    assert bench.session.run_turn('look', 'answer', Cancellation(), door=door).ok
    assert bench.said == [message]
    (begun,) = bench.session.trace_buffer.last()
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


def test_a_turn_is_a_turn_of_rosa_and_can_be_looked_at(bench: Bench) -> None:
    outcome = bench.session.run_turn(STATUS, 'answer', Cancellation())
    assert outcome.ok, outcome.answer
    react: ReactState = bench.session.react_state
    assert (react.goal, react.spent.steps, react.stop_reason) == (STATUS, 1, 'FINISH')
    assert bench.session.current_activity is None


def test_the_same_task_goes_on_and_another_begins(tmp_path: Path) -> None:
    for task, first in (
        ('a', f'User: {STATUS}'),
        ('a', 'Going on after 1 call: '),
        ('b', 'User'),
    ):
        bench = Bench(tmp_path / 'turns.db')
        assert bench.session.run_turn(STATUS, 'answer', Cancellation(), task_id=task).ok
        assert bench.said[0].startswith(first)


def test_a_switch_of_the_goal_is_handed_on(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    result = TurnResult(ok=True, answer='Charge', goal='Charge')
    monkeypatch.setattr(RosaLoader, 'run_turn', lambda *_: result)
    assert bench.session.run_turn('drive', 'answer', Cancellation()).goal == 'Charge'
