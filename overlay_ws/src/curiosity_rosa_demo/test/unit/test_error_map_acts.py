# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The error map acts: for each code who emits it, and what the real loop then does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent_world import AgentWorld
from chat_server import call, Say
from curiosity_rosa_demo.agent.react.nodes import react_decide
from curiosity_rosa_demo.agent.skills.navigation import navigate
from curiosity_rosa_demo.agent.skills.skill import SkillCall
from curiosity_rosa_demo.domain.brain_state import BrainState, Mode, RunningSkill, TasksState
from curiosity_rosa_demo.domain.models import STOPPED_FOR_MAST, ToolResult
from curiosity_rosa_demo.domain.refusal import RefusalCode
from curiosity_rosa_demo.infra.ros_io import ServiceFailed
import pytest
from skill_calls import skill_named
from turn_world import KEY, SHIPPED, World

DONE = Say('Done.')
BESIDE = call('navigate_to_pose', x=0.0, y=2.0)
FAR = call('navigate_to_pose', x=4.0, y=0.0)
SEED = {
    'NAV_GOAL_REJECTED': 'REPLAN',
    'NAV_TIMEOUT': 'RETRY',
    'NAV_BLOCKED': 'REPLAN',
    'NAV_TOO_LONG': 'REPLAN',
    'SKILL_NOT_FOUND': 'ASK_HUMAN',
    'RESOURCE_CONFLICT': 'RETRY',
    'PARAM_INVALID': 'ASK_HUMAN',
    'SAFETY_VIOLATION': 'ABORT',
    'BATTERY_CRITICAL': 'ABORT',
}

SAFETY_VIOLATION = RefusalCode.SAFETY_VIOLATION.value


@pytest.fixture(autouse=True)
def no_retry_delay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv('OPENAI_API_KEY', KEY)
    monkeypatch.setattr(react_decide, 'RETRY_WAIT_S', 0.0)


def _loses_its_pose(world: World) -> None:
    """Once the guardrails have passed the call."""
    world.hear = lambda event: setattr(
        world.rover, 'tells_pose', world.rover.tells_pose and event.kind != 'ACT'
    )


def _e_stop(world: World) -> None:
    world.rover.faults['move_forward'] = lambda: ServiceFailed('E-stop pressed')


def _goes_low(world: World) -> None:
    """The battery gets low once the rover has driven its first leg."""
    charging = BrainState(tasks=TasksState(mode=Mode.CHARGE))
    world.rover_world.brain_state = lambda: charging if world.rover.starts else BrainState()


def _nothing(world: World) -> None:
    pass


@dataclass(frozen=True)
class Case:
    """``calls``: what is carried out or refused, in order; ``answer``: how the turn ends."""

    script: tuple[Any, ...]
    calls: tuple[str, ...]
    answer: str
    arrange: Callable[[World], None] = _nothing


CASES = {
    # The model is asked again, and told that another way is needed.
    'NAV_GOAL_REJECTED': Case((FAR, DONE), ('navigate_to_pose',), 'Done.', _loses_its_pose),
    'NAV_BLOCKED': Case((FAR, DONE), ('navigate_to_pose',), 'Done.', _e_stop),
    'NAV_TOO_LONG': Case((BESIDE, DONE), ('navigate_to_pose',), 'Done.'),
    # The loop tries once more by itself, then the model is asked.
    'NAV_TIMEOUT': Case((FAR, DONE), ('navigate_to_pose',) * 2, 'Done.'),
    # A person is asked; nobody is there, so the turn ends.
    'SKILL_NOT_FOUND': Case((call('fly'),), (), 'The model proposed 3 calls in a row'),
    'PARAM_INVALID': Case(
        (call('wait_until', condition={'mast_is_it': 1, 'x_above': 'far'}),),
        ('wait_until',),
        'wait_until(',
    ),
    # The turn ends.
    'BATTERY_CRITICAL': Case((FAR,), ('navigate_to_pose',), 'navigate_to_pose(', _goes_low),
}


def test_the_map_is_the_one_that_was_asked_for() -> None:
    shipped = {code: each.value for code, each in SHIPPED.skills.error_map.items()}
    assert {code: shipped[code] for code in SEED} == SEED
    assert {*CASES, 'RESOURCE_CONFLICT', 'SAFETY_VIOLATION'} == set(SEED)


@pytest.mark.parametrize('code', CASES)
def test_what_the_loop_does_about_a_code(code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    case = CASES[code]
    if code == 'NAV_TIMEOUT':
        monkeypatch.setattr(navigate, 'MAX_LEGS', 1)
    with World(*case.script, fallback='none') as world:
        case.arrange(world)
        last = world.turn()
        failed = [event for event in world.events if event.kind == 'ERROR' and event.tool_name]
        assert failed
        told = [
            (event.data or {}).get('code') == code or str(event.error_reason).startswith(code)
            for event in failed
        ]
        assert all(told), world.errors()
        acts = [event.tool_name for event in world.events if event.kind == 'ACT']
        assert acts == list(case.calls)
        assert last.answer.startswith(case.answer), last.answer
        assert last.ok is (case.answer == 'Done.')
        measured = str(world.requests[-1].body['messages'])
        assert ('error_map' in measured and SEED[code] in measured) is (case.answer == 'Done.')


@pytest.mark.parametrize('yes', [True, False])
def test_a_person_decides_whether_it_goes_on(yes: bool, tmp_path: Path) -> None:
    wrong = call('wait_until', condition={'x_above': 'far'})
    with AgentWorld(tmp_path, wrong, DONE) as world:
        world.submit('react', text='Wait.')
        world.until(lambda: world.runtime.shown_questions, 'the question')
        (question,) = world.runtime.shown_questions
        assert question.text.endswith('Go on?')
        assert 'PARAM_INVALID' in question.text
        answer = {'action': 'APPROVE' if yes else 'REJECT', 'id': question.id, 'why': ''}
        message: Any = {'intent': 'APPROVAL', 'payload': answer}
        world.runtime.post_message(message, lambda reply: None, world.runtime.stop_count)
        world.until(
            lambda: world.session.react_state.stop_reason in ('FINISH', 'ABORT'), 'its end'
        )
        assert (world.session.react_state.stop_reason == 'FINISH') is yes


def test_a_conflict_is_tried_again_by_the_loop() -> None:
    """The resource is free by then."""
    with World(call('mast_open'), DONE) as world:
        world.monitor.enter(RunningSkill(
            goal_id='r', skill_name='deaf', start_time=0.0, timeout_s=1.0,
            resources_occupied=['mast'],
        ))  # fmt: skip
        world.hear = lambda event: world.monitor.release('r') if event.kind == 'ERROR' else None
        assert world.turn().ok
        assert [error.partition(':')[0] for error in world.errors()] == ['RESOURCE_CONFLICT']
        assert world.calls == ['mast_open']
        assert len(world.requests) == 2  # the model was not asked about the conflict


def post(world: AgentWorld, intent: str) -> None:
    message: Any = {'intent': intent, 'payload': {}}
    world.runtime.post_message(message, lambda reply: None, world.runtime.stop_count)


def test_a_violated_safety_rule_ends_the_turn_and_latches_safe(tmp_path: Path) -> None:
    def breaks(call: SkillCall) -> ToolResult:
        return ToolResult.failure(f'{SAFETY_VIOLATION}: {STOPPED_FOR_MAST} open', SAFETY_VIOLATION)

    skill = skill_named('drive', breaks, resources_required=['base'])
    with AgentWorld(tmp_path, call('drive'), DONE, skills=(skill,)) as world:
        task = world.submit('react', text='Drive.')
        world.until(lambda: world.state.tasks.mode is Mode.SAFE, 'SAFE')
        assert world.state.robot.safety_latch == f'SAFETY_VIOLATION: {STOPPED_FOR_MAST} open'
        world.until(lambda: 'move_stop' in world.rover.calls, 'the stop')
        assert len(world.server.requests) == 1  # the model is not asked again
        post(world, 'CLEAR')
        world.until(lambda: not world.state.robot.safety_latch, 'a person to clear it')
        world.until(lambda: task.held, 'the hold after the clear')
        post(world, 'RESUME')
        world.until(lambda: task.terminal, 'its end')
