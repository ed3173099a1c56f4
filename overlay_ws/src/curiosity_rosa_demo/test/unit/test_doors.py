# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Doors times rules: every order meets every rule, wherever it comes from. And a few turns of each
family of attacks; ten thousand are bench/hostile.py.

The lists are those of the product: a new origin or a new rule fails here until it is tried.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
import re
import threading
from typing import Any

from _attacks import FAMILIES, TURNS_OF_EPISODE
from chat_server import call
from curiosity_rosa_demo.agent.kernel.hear import Ordered
from curiosity_rosa_demo.agent.react.ask import ApprovalAnswer
from curiosity_rosa_demo.agent.react.gate import APPROVAL_RULE
from curiosity_rosa_demo.agent.react.guardrails import RULES, TURN_RULES
from curiosity_rosa_demo.agent.tasks.origin import asked_by, door_of, with_origin
from curiosity_rosa_demo.domain.brain_state import (
    ApprovalAction,
    BatteryLevel,
    BrainState,
    Mode,
    Question,
    RobotState,
    TasksState,
)
from curiosity_rosa_demo.domain.models import (
    AGENT_IS_SILENT,
    E_STOP_PRESSED,
    OBSTACLE_AHEAD,
    OTHER_ADAPTER,
    TWO_AGENTS,
    VIEW_LOST,
)
from curiosity_rosa_demo.domain.origin import Origin
from curiosity_rosa_demo.domain.refusal import RefusalCode
from curiosity_rosa_demo.infra.clocks import NO_CLOCK
from curiosity_rosa_demo.infra.config.topics import Config
from curiosity_rosa_demo.infra.ros_io import ServiceFailed
from curiosity_rosa_demo.tools import tool_impl
from doors_world import DOORS, DoorsWorld, nothing, said_over_mcp, WAIT_S
from hostile import Record, run_job
import pytest
from runtime_world import AgentWorld
from turn_world import KEY, SHIPPED, with_rules

FORWARD: tuple[str, dict[str, Any]] = ('move_forward', {'duration_s': 12.0})
OPEN: tuple[str, dict[str, Any]] = ('mast_open', {})
PEOPLE = (Origin.CONSOLE, Origin.PAGE, Origin.HTTP, Origin.ACTION, Origin.MCP)
FENCE = {'x_max': 3.0}


def brain(mode: Mode, **robot: Any) -> Callable[[DoorsWorld], None]:
    state = BrainState(tasks=TasksState(mode=mode), robot=RobotState(**robot))

    def arrange(world: DoorsWorld) -> None:
        world.session.brain_state = lambda: state

    return arrange


def mast_up(world: DoorsWorld) -> None:
    world.rover.mast_is_open = True


def driving(world: DoorsWorld) -> None:
    world.rover.motion = 'move_forward'


@dataclass(frozen=True)
class Case:
    order: tuple[str, dict[str, Any]]
    reason: str
    arrange: Callable[[DoorsWorld], None] = nothing
    config: Config = SHIPPED


CASES = {
    'safety': Case(
        FORWARD, 'SAFE_MODE: the safety latch', brain(Mode.SAFE, safety_latch='e-stop')
    ),
    'charging': Case(OPEN, 'BATTERY_CRITICAL: the mode is CHARGE', brain(Mode.CHARGE)),
    'mast_closed': Case(FORWARD, 'Need to close mast', mast_up),
    'still_for_mast': Case(OPEN, 'Move in progress: the rover moves', driving),
    'metres_left': Case(FORWARD, 'BUDGET: ', config=with_rules(budget={'max_metres': 1.0})),
    'seconds_left': Case(FORWARD, 'BUDGET: ', config=with_rules(budget={'max_seconds': 9.0})),
    'geofence': Case(FORWARD, 'GEOFENCE: may lead to x ', config=with_rules(geofence=FENCE)),
    'energy_home': Case(
        FORWARD, 'ENERGY: the battery is at 26.0%, this motion and the way home need 31.2%',
        brain(Mode.IDLE, battery_pct=26.0, battery_state=BatteryLevel.OK),
    ),
    APPROVAL_RULE: Case(
        FORWARD, 'NOT_APPROVED: ',
        config=with_rules(
            approval={'skills': ['move_forward']},
            origins={origin.value: 'refuse' for origin in Origin if origin is not Origin.CHARGE},
        ),
    ),
}  # fmt: skip


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv('OPENAI_API_KEY', KEY)


def test_every_door_and_every_rule_is_tried() -> None:
    """TURN_RULES count what happens in a turn; test_guardrails.py tries them."""
    assert set(DOORS) == set(Origin)
    assert set(CASES) == {rule.__name__ for rule in RULES if rule not in TURN_RULES} | {
        APPROVAL_RULE
    }


@pytest.mark.parametrize('rule', CASES)
def test_a_rule_refuses_at_every_door_in_the_same_words(
    rule: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = CASES[rule]
    texts: dict[Origin, str] = {}
    with DoorsWorld(tmp_path, case.config, *case.order, monkeypatch) as world:
        for origin in DOORS:
            case.arrange(world)
            seen = len(world.events)
            task = world.order(origin)
            world.ended(task)
            refused = [
                each for each in world.events[seen:] if (each.data or {}).get('rule') == rule
            ]
            assert refused, (origin, [each.message for each in world.events[seen:]])
            value = refused[0].data or {}
            assert value.get('code') in RefusalCode.__members__
            assert str(value.get('asked')).startswith(case.order[0])
            assert all(value.get(field) for field in ('allowed', 'way_out'))
            texts[origin] = str(refused[0].error_reason)
            if origin in PEOPLE:
                assert task is not None
                assert task.reason == texts[origin]
                assert task.metadata['outcome']['refusal']['rule'] == rule
        assert world.rover.starts == []
        assert 'mast_open' not in world.rover.calls
    if rule == APPROVAL_RULE:
        texts.pop(Origin.CHARGE)  # its way out of NOT_APPROVED is another: nobody may allow it
    assert len({re.sub(r'origins\.\w+', '', each) for each in texts.values()}) == 1, texts
    assert all(each.startswith(case.reason) for each in texts.values())


ADAPTER_REFUSES = (
    *(NO_CLOCK, E_STOP_PRESSED, OTHER_ADAPTER, TWO_AGENTS),
    *(AGENT_IS_SILENT, OBSTACLE_AHEAD, VIEW_LOST),
)


@pytest.mark.parametrize('reason', ADAPTER_REFUSES)
def test_what_the_adapter_refuses_is_told_at_every_door_in_its_words(
    reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The charge task is left out: the gate lets none of its motions reach the adapter."""
    monkeypatch.setattr(tool_impl, 'LINK_TIMEOUT_S', 0.05)  # of a wait for the silent agent
    words = f'{reason}: it would not be safe'
    with DoorsWorld(tmp_path, SHIPPED, *FORWARD, monkeypatch) as world:
        world.rover.faults['move_forward'] = lambda: ServiceFailed(words)
        for origin in (each for each in DOORS if each is not Origin.CHARGE):
            seen = len(world.events)
            task = world.order(origin)
            world.ended(task)
            told = [each.error_reason for each in world.events[seen:] if each.error_reason]
            assert words in told, (origin, told)
            if origin in PEOPLE:
                assert task is not None
                assert task.reason == words
        assert world.rover.starts == []


ASKING = {
    'geofence': with_rules(geofence={**FENCE, 'leaving': 'ask'}),
    'approval': with_rules(
        approval={'skills': ['move_forward']}, origins={each.value: 'ask' for each in PEOPLE}
    ),
}


def answer(world: DoorsWorld, action: ApprovalAction, starts: int = 0) -> Question:
    """Answer the one question; until then the rover began no further motion."""
    world.until(lambda: world.runtime.approvals.shown_questions, 'the question')
    (question,) = world.runtime.approvals.shown_questions
    assert len(world.rover.starts) == starts
    world.session.approval_queue.answer(ApprovalAnswer(action), question.id)
    return question


@pytest.mark.parametrize('rule', ASKING)
def test_every_door_asks_the_operator_the_same_question(
    rule: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Charging asks nobody: all that it orders besides stop and stow is refused."""
    asked = set()
    with DoorsWorld(tmp_path, ASKING[rule], *FORWARD, monkeypatch) as world:
        for origin in DOORS:
            task = world.order(origin)
            if origin is not Origin.CHARGE:
                question = answer(world, ApprovalAction.REJECT)
                asked.add((question.text, *question.reasons))
                assert task is not None
                assert question.task_id == task.id
                world.ended(task)
                world.until(
                    lambda: not world.runtime.approvals.shown_questions, 'the question to go'
                )
            assert world.rover.starts == []
    assert len(asked) == 1, asked


@pytest.mark.parametrize('origin', PEOPLE)
def test_a_yes_is_for_one_dispatch(
    origin: Origin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with DoorsWorld(tmp_path, ASKING['geofence'], *FORWARD, monkeypatch) as world:
        for drives in (1, 2):
            task = world.order(origin)
            answer(world, ApprovalAction.APPROVE, drives - 1)
            world.until(lambda n=drives: len(world.rover.starts) == n, 'the drive')
            world.runtime.halt.stop('the test').result()
            world.ended(task)


def test_what_changes_before_the_answer_is_checked_again_and_nobody_there_is_a_no(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with DoorsWorld(tmp_path, ASKING['approval'], *FORWARD, monkeypatch) as world:
        task = world.order(Origin.HTTP)
        world.until(lambda: world.runtime.approvals.shown_questions, 'the question')
        mast_up(world)
        answer(world, ApprovalAction.APPROVE)
        world.ended(task)
        world.rover.mast_is_open = False
        world.session.approval_queue.reject_all()
        alone = world.order(Origin.ACTION)
        world.ended(alone)
        assert task is not None
        assert alone is not None
        assert task.reason == 'Need to close mast'
        assert 'begun' not in task.metadata
        assert alone.reason.startswith('NOT_APPROVED: rejected by the operator: nobody is there')
        assert world.rover.starts == []


def test_a_goal_that_replaces_another_is_bound_by_the_origin_of_the_first(tmp_path: Path) -> None:
    config = with_rules(approval={'skills': ['move_forward']}, origins={'trigger': 'refuse'})
    switch = call('decide', type='SWITCH_TASK', reason='drive forward')
    script = (switch, call('move_forward', duration_s=2.0), call('decide', type='ABORT'))
    with AgentWorld(tmp_path, *script, config=config) as world:
        task = world.runtime.make_task('react', {'text': 'What is that noise'})
        world.reply_to(Ordered(with_origin(task, Origin.TRIGGER, 'Anna')))
        queue = world.session.approval_queue
        world.until(lambda: queue.questions or world.refused_by(), 'a refusal')
        assert (world.refused_by()[0], queue.questions) == (APPROVAL_RULE, [])
        _, second = world.list_tasks()
        assert (door_of(second), asked_by(second)) == ('trigger', 'Anna')


def test_a_question_over_mcp_is_answered_at_once_and_a_yes_there_answers_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with DoorsWorld(tmp_path, ASKING['approval'], *FORWARD, monkeypatch) as world:
        for text in ('where are you?', '何をしていますか'):
            told = said_over_mcp(world, text)
            world.console.handle_line(text)
            world.until(
                lambda told=told: sum(told['answer'] in each for each in world.said) == 2,
                'the same answer',
            )
            assert 'task_id' not in told
        assert world.list_tasks() == []
        task = world.order(Origin.HTTP)
        world.until(lambda: world.runtime.approvals.shown_questions, 'the question')
        known = {each.id for each in world.list_tasks()}
        client = threading.Thread(target=said_over_mcp, args=(world, 'yes'), daemon=True)
        client.start()
        assert world.newest(known).name == 'react'
        assert world.runtime.approvals.shown_questions
        assert world.rover.starts == []
        world.runtime.halt.stop('the test').result()
        world.ended(task)
        client.join(WAIT_S)


TURNS = 6


@pytest.mark.parametrize('family', FAMILIES)
def test_an_attack_reaches_the_gate_and_ends_in_no_unsafe_act(family: str) -> None:
    size, found = TURNS_OF_EPISODE.get(family, 1), Record()
    for seed in range(max(1, TURNS // size)):
        found.add(run_job((family, seed, size)))
    assert (found.faults, found.unsafe) == ([], 0)
    assert found.proposed >= TURNS
    assert found.refused + found.asked > 0


def test_a_rover_without_gate_and_adapter_acts_unsafely_under_the_same_attacks() -> None:
    found = Record()
    for seed in range(TURNS):
        found.add(run_job(('role play', seed, 1)))
    assert found.peer_unsafe.total() > TURNS / 2
