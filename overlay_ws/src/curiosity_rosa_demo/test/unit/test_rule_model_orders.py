# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Orders of several steps: the plan that is proposed, what follows it, and how it ends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from curiosity_rosa_demo.agent.rule_model.context import Decision, FinalAnswer, ToolCall
from curiosity_rosa_demo.agent.rule_model.rules import decide
from curiosity_rosa_demo.agent.rule_model.turn_view import ToolStep, TurnView
from curiosity_rosa_demo.domain.models import need_to_stow, ToolResult
import pytest
from rule_model_rover import FIGURES

_TOOLS = """
capture_and_score mast_open mast_close mast_rotate move_forward turn_left turn_right move_stop
get_status speak wait wait_until query_world navigate_to_pose drive_distance turn_angle drill
decide
"""
TOOLS = frozenset(_TOOLS.split())
HERE = {'rover_x': 1.0, 'rover_y': 2.0, 'yaw_rad': 0.0, 'mast_is_open': True, 'moving': False}


def done(tool: str, args: dict[str, Any] | None = None, **data: Any) -> ToolStep:
    return ToolStep(tool, args or {}, ToolResult.success(**data))


def decision(text: str, steps: Sequence[ToolStep] = (), *words: tuple[str, str]) -> Decision:
    return decide(TurnView(FIGURES, text, tuple(steps), TOOLS, longest_s=20.0), words)


def call(text: str, steps: Sequence[ToolStep] = (), *words: tuple[str, str]) -> ToolCall:
    made = decision(text, steps, *words)
    assert isinstance(made, ToolCall), made
    return made


def answer(text: str, steps: Sequence[ToolStep] = ()) -> FinalAnswer:
    made = decision(text, steps)
    assert isinstance(made, FinalAnswer), made
    return made


def ops(plan: ToolCall) -> list[str]:
    """The operations of a proposed plan: the name, and the arguments' values."""
    assert plan.tool == 'decide'
    assert plan.args['plan_patch']['action'] == 'propose'
    steps = plan.args['plan_patch']['plan']['steps']
    return [' '.join([s['action'], *map(str, s['parameters'].values())]) for s in steps]


def carried_out(plan: ToolCall, **data: Any) -> list[ToolStep]:
    """The steps of a turn in which ``plan`` was carried out."""
    steps = plan.args['plan_patch']['plan']['steps']
    results = [done(s['action'], s['parameters'], **data) for s in steps]
    return [done('decide', dict(plan.args)), *results]


@pytest.mark.parametrize(
    ('text', 'wanted'),
    [
        ('drive 2 m', ['mast_close', 'drive_distance 2.0']),
        ('右に90度曲がって', ['mast_close', 'turn_angle -90.0']),
        ('turn around', ['mast_close', 'turn_angle 180.0']),
        ('navigate to x 3 y 0', ['mast_close', 'navigate_to_pose 3.0 0.0']),
        ('drive forward for 50 seconds', ['mast_close', *['move_forward 16.67'] * 3]),
        ('等10秒，然后拍照', ['wait 10.0', 'mast_open', 'capture_and_score']),
        ('写真を3枚撮って', ['mast_open', *['capture_and_score'] * 3]),
        (
            'take two pictures around you',
            ['mast_open', 'capture_and_score', 'mast_rotate', 'capture_and_score'],
        ),
        ('open and close the mast', ['mast_open', 'mast_close']),
        (
            'drive 1 m and say "I am there"',
            ['mast_close', 'drive_distance 1.0', 'speak I am there'],
        ),
    ],
)
def test_an_order_becomes_a_plan_of_skills(text: str, wanted: list[str]) -> None:
    assert ops(call(text)) == wanted


def test_the_way_back_leads_to_where_the_turn_began() -> None:
    text = 'drive 2 m and come back'
    assert call(text).tool == 'get_status'
    assert ops(call(text, [done('get_status', **HERE)]))[-1] == 'navigate_to_pose 1.0 2.0'


def test_home_is_where_the_pose_was_known_first() -> None:
    asked = call('return to base')
    assert (asked.tool, asked.args) == ('query_world', {'query': 'home'})
    home = done('query_world', home_x=-1.0, home_y=0.5)
    assert ops(call('return to base', [home])) == ['mast_close', 'navigate_to_pose -1.0 0.5']


def test_the_answer_says_what_was_really_driven() -> None:
    plan = call('drive 2 m')
    end = answer('drive 2 m', carried_out(plan, distance_m=2.06))
    assert end.ok
    assert '2.1 m' in end.text


def test_a_plan_that_fails_is_no_success() -> None:
    plan = call('drive 2 m, then take a picture')
    failed = ToolStep('drive_distance', {}, ToolResult.failure('NAV_BLOCKED: a rock'))
    steps = [*carried_out(plan)[:2], failed]
    end = answer('drive 2 m, then take a picture', steps)
    assert not end.ok
    assert 'a rock' in end.text


@pytest.mark.parametrize(
    ('text', 'measure', 'data', 'then'),
    [
        ('if the mast is open, close it', 'get_status', HERE, 'decide'),
        ('if the mast is closed, drive 2 m', 'get_status', HERE, ''),
        ('如果电量大于50%就前进2米', 'query_world', {'battery_pct': 60.0}, 'decide'),
        ('如果电量大于50%就前进2米', 'query_world', {'battery_pct': 50.0}, ''),
    ],
)
def test_a_condition_is_measured_first(
    text: str, measure: str, data: dict[str, Any], then: str
) -> None:
    assert call(text).tool == measure
    following = decision(text, [done(measure, **data)])
    assert (following.tool if isinstance(following, ToolCall) else '') == then


def test_what_is_not_known_is_no_condition() -> None:
    end = answer('if the battery is above 50 % drive 2 m', [done('query_world', battery_pct=None)])
    assert not end.ok


def test_after_the_light_comes_the_rest() -> None:
    text = 'go to the light and say "found it"'
    found = [done('capture_and_score', score=0.9, is_good=True)]
    assert call(text).tool == 'capture_and_score'
    assert ops(call(text, found)) == ['speak found it']


@pytest.mark.parametrize(
    ('text', 'limit'),
    [
        ('drive forward for 1000 seconds', '120 s'),
        ('drive 2 km', '100 m'),
        ('turn left 100 times', 'number'),
        ('make me a coffee', 'coffee'),
        ('turn left and fly', 'left'),
    ],
)
def test_what_is_refused_names_the_reason(text: str, limit: str) -> None:
    end = answer(text)
    assert not end.ok
    assert limit in end.text


def test_the_words_of_a_plug_in_order_its_skill() -> None:
    words = (('drill a hole', 'drill'), ('穴を掘', 'drill'), ('打个洞', 'drill'))
    assert ops(call('drive 1 m and drill a hole', (), *words))[-1] == 'drill'
    assert ops(call('打个洞', (), *words)) == ['drill']
    assert not answer('drill a hole').ok


# --- an arm, by the robot's profile ---------------------------------------------------------

ARM = frozenset({*TOOLS, 'arm_close', 'arm_open'})
WORDS = (('open the arm', 'arm_open'), ('stow the arm', 'arm_close'))
NOT_STOWED = ToolResult.failure(need_to_stow('arm', 'arm_close'))


@pytest.mark.parametrize(
    ('text', 'wanted'),
    [
        ('drive 2 m', ['arm_close', 'mast_close', 'drive_distance 2.0']),
        ('take two pictures', ['mast_open', *['capture_and_score'] * 2]),
        (
            'open the arm, then drive 2 m',
            ['arm_open', 'arm_close', 'mast_close', 'drive_distance 2.0'],
        ),
        (
            'drive 1 m, open the arm and drive 1 m',
            [
                *('arm_close', 'mast_close', 'drive_distance 1.0'),
                *('arm_open', 'arm_close', 'drive_distance 1.0'),
            ],
        ),
    ],
)
def test_a_plan_stows_the_arm_before_it_drives(text: str, wanted: list[str]) -> None:
    plan = decide(TurnView(FIGURES, text, (), ARM, longest_s=20.0, stows=('arm_close',)), WORDS)
    assert isinstance(plan, ToolCall)
    assert ops(plan) == wanted


@pytest.mark.parametrize(('refusals', 'stows'), [(1, True), (4, False)])
def test_a_motion_that_an_arm_forbids_is_preceded_by_stowing_it(
    refusals: int, stows: bool
) -> None:
    steps = [done('get_status', mast_is_open=False), ToolStep('move_forward', {}, NOT_STOWED)]
    steps += [ToolStep('arm_close', {}, ToolResult.failure('jammed'))] * (refusals - 1)
    made = decide(TurnView(FIGURES, 'drive forward', tuple(steps), ARM), WORDS)
    assert (isinstance(made, ToolCall) and made.tool == 'arm_close') is stows
