# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Whole explorations: the real model drives a small simulated rover until a capture is good."""

from __future__ import annotations

from collections.abc import Mapping
import math
from typing import Any

from curiosity_rosa_demo.agent.rule_model.beliefs import beliefs_from, Mast
from curiosity_rosa_demo.agent.rule_model.context import MAX_ATTEMPTS
from curiosity_rosa_demo.agent.rule_model.rules import MAX_CALLS, MAX_INTERRUPTIONS
from curiosity_rosa_demo.agent.rule_model.texts import found_text
from curiosity_rosa_demo.agent.rule_model.turn_view import ToolStep, TurnView
from curiosity_rosa_demo.domain.models import NEED_TO_CLOSE_MAST
from examples import examples
from hypothesis import assume, given, settings
from hypothesis import strategies as st
import pytest
from rule_model_rover import COSTS, FIGURES, MOTIONS, Rover, run_turn

FAULTS = [
    'Service unavailable: /adapter/mast_close',
    'Service timeout: /adapter/move_forward',
    'No image received',
    'Image is stale: 4.2 s old',
    'Image cannot be decoded: truncated',
    'TF unavailable: odom -> base_footprint',
    'One tool call at a time',
    'something new',
]


@st.composite
def rovers(draw: st.DrawFn, /, **fixed: Any) -> Rover:
    up = draw(st.booleans())
    glitches: Mapping[int, str] = draw(
        st.dictionaries(st.integers(0, 20), st.sampled_from(FAULTS), max_size=2)
    )
    values: dict[str, Any] = {
        'x': draw(st.floats(-8.0, 8.0)),
        'y': draw(st.floats(-8.0, 8.0)),
        'yaw': draw(st.floats(-math.pi, math.pi)),
        'is_up': up,
        'known': draw(st.sampled_from([up, None])),
        'moving': draw(st.booleans()),
        'speed': draw(st.floats(0.2, 1.5)),
        'late': draw(st.booleans()),
        'glitches': glitches,
    }
    return Rover(**(values | fixed))


def check_manners(rover: Rover) -> None:
    """What holds for every turn, however it ends."""
    steps = [ToolStep(tool, args, result) for tool, args, result in rover.calls]
    assert len(steps) <= MAX_CALLS + MAX_ATTEMPTS
    refused = [step.result.error_reason == NEED_TO_CLOSE_MAST for step in steps]
    for i, step in enumerate(steps):
        if step.tool in MOTIONS:
            facts = beliefs_from(TurnView(FIGURES, '', tuple(steps[:i])))
            assert facts.mast is Mast.CLOSED, 'a motion although the mast may be open'
            assert not facts.must_stop, 'a motion before the stop'
            assert not (i and refused[i - 1] and refused[i])
        if i and steps[i - 1].tool in MOTIONS and steps[i - 1].fault:
            assert step.tool == 'move_stop'


def names(rover: Rover) -> list[str]:
    return [tool for tool, _, _ in rover.calls]


def test_the_demo_looks_stows_drives_raises_the_mast_and_looks_again() -> None:
    rover = Rover()
    answer = run_turn(rover)
    assert names(rover) == [
        'capture_and_score', 'get_status', 'mast_close', 'move_forward', 'mast_open',
        'capture_and_score',
    ]  # fmt: skip
    assert 'スコア 1.00' in answer


@settings(max_examples=examples(20))
@given(rover=rovers(has_mast=False, moving=False, glitches={}))
def test_a_rover_without_a_mast_looks_and_drives(rover: Rover) -> None:
    answer = run_turn(rover)
    assert rover.score >= rover.threshold, answer
    assert set(names(rover)) <= {'capture_and_score', 'get_status', *MOTIONS}


@settings(max_examples=examples(10))
@given(rovers())
def test_from_any_state_and_through_two_faults_it_reaches_a_good_capture(rover: Rover) -> None:
    answer = run_turn(rover)
    check_manners(rover)
    tool, _, result = rover.calls[-1]
    assert tool == 'capture_and_score'
    assert result.data['is_good'] is True
    assert f'{result.data["score"]:.2f}' in answer


@settings(max_examples=examples(10))
@given(rovers(x_good=9.0, speed=0.5))
def test_a_hint_that_is_too_near_is_corrected_by_measuring(rover: Rover) -> None:
    run_turn(rover)
    check_manners(rover)
    assert rover.calls[-1][2].data.get('is_good') is True


@settings(max_examples=examples(10))
@given(st.floats(1.0, 4.5), st.floats(-math.pi, math.pi), st.floats(0.3, 0.7))
def test_without_a_hint_the_slope_of_the_score_leads_to_the_light(
    x: float, yaw: float, speed: float
) -> None:
    assume(abs(math.cos(yaw)) > 0.3)  # driving across the slope, a hop measures next to nothing
    rover = Rover(x=x, yaw=yaw, speed=speed)
    run_turn(rover, prompt='')
    check_manners(rover)
    assert rover.calls[-1][2].data.get('is_good') is True


@settings(max_examples=examples(10))
@given(rovers(), st.sampled_from(['', 'X >= 5.0']), st.booleans())
def test_every_turn_ends_with_manners(rover: Rover, prompt: str, tells_pose: bool) -> None:
    rover.tells_pose = tells_pose
    run_turn(rover, prompt=prompt)
    check_manners(rover)


@pytest.mark.parametrize(
    'text', ['Analyze the ground texture', '地面のテクスチャを調査して', '分析地面纹理']
)
def test_thoughts_and_answer_have_the_language_of_the_question(text: str) -> None:
    rover = Rover(x=-3.0)
    run_turn(rover, text)  # checks the language of each message
    assert 'move_forward' in names(rover)


@settings(max_examples=examples(10))
@given(
    st.sampled_from(sorted(set(COSTS) - {'get_status', 'mast_rotate'})),
    st.sampled_from(FAULTS),
    st.sampled_from([-3.0, 2.0]),
)
def test_a_permanent_fault_ends_in_a_plain_answer(tool: str, reason: str, x: float) -> None:
    rover = Rover(x=x, yaw=-3.0, broken={tool: reason}, moving=tool == 'move_stop')
    answer = run_turn(rover, 'Analyze the ground texture')
    check_manners(rover)
    failed = [result for name, _, result in rover.calls if name == tool and not result.ok]
    assert failed or tool in MOTIONS  # of several ways it takes the cheapest
    assert not failed or reason in answer or rover.score >= 0.8
    good = rover.calls[-1][2].data.get('is_good') is True
    assert good or 'does not work' in answer or 'COULD NOT BE STOPPED' in answer


@pytest.mark.parametrize(
    ('tool', 'reason', 'part'),
    [
        ('capture_and_score', 'No image received', 'the camera'),
        ('capture_and_score', 'TF unavailable: odom -> base', "the rover's position (TF)"),
        ('mast_close', 'Service timeout: mast_close', 'the mast'),
        ('move_forward', 'Service unavailable: move_forward', 'the drive'),
    ],
)
def test_the_answer_names_what_is_broken(tool: str, reason: str, part: str) -> None:
    tools = MOTIONS if tool in MOTIONS else (tool,)  # it drives in arcs when it cannot go ahead
    rover = Rover(broken=dict.fromkeys(tools, reason))
    answer = run_turn(rover, 'Analyze the ground texture')
    assert answer.startswith(f'I gave up: {part} does not work. ')
    assert f' failed, last with: {reason}' in answer
    tries = [result for name, _, result in rover.calls if name in tools and not result.ok]
    assert len(tries) == 3


@pytest.mark.parametrize('text', ['Analyze the ground texture', 'turn left for 3 s'])
def test_the_agents_end_in_a_drive_is_not_a_broken_drive_unless_it_recurs(text: str) -> None:
    for restarts in (0, 1, MAX_INTERRUPTIONS, MAX_INTERRUPTIONS + 1):
        rover = Rover(x=-3.0, is_up=False, known=False, restarts=restarts)
        answer = run_turn(rover, text)
        once = text.startswith('turn')  # an interrupted motion is not repeated
        assert ('does not work' in answer) is (restarts > (0 if once else MAX_INTERRUPTIONS))
        assert once or (rover.score >= 0.8) is (restarts <= MAX_INTERRUPTIONS)


def test_the_answer_counts_in_the_singular_and_names_an_unknown_place() -> None:
    words = found_text('en', None, score='0.90', captures=1, moves=1, metres='2.0', calls=1)
    assert 'a good picture, at an unknown place.' in words
    assert 'I looked 1 time and drove 2.0 m in 1 motion (1 tool call).' in words


def test_a_failed_capture_is_tried_again_after_asking_for_the_status() -> None:
    rover = Rover(x=6.0, glitches={0: 'No image received', 2: 'Image is stale: 2.0 s old'})
    run_turn(rover)
    assert names(rover) == ['capture_and_score', 'get_status'] * 2 + ['capture_and_score']


def test_without_a_status_it_learns_the_pose_from_its_motions() -> None:
    rover = Rover(x=-3.0, yaw=2.0, broken={'get_status': 'Service timeout: get_status'})
    assert 'good picture' in run_turn(rover, 'Analyze the ground texture')


def test_a_rover_that_does_not_move_is_reported() -> None:
    assert 'does not move' in run_turn(Rover(stuck=True), 'Analyze the ground texture')


def test_darkness_without_end_is_reported() -> None:
    rover = Rover(x_min=1000.0, x_good=1001.0)
    answer = run_turn(rover, 'Analyze the ground texture')
    assert 'no good picture' in answer or 'there is none' in answer
    assert ' m driven' in answer
    check_manners(rover)


def test_a_stop_by_the_operator_ends_the_turn() -> None:
    rover = Rover(glitches={3: 'Stopped by the operator'})
    assert 'I do nothing more' in run_turn(rover, 'Analyze the ground texture')
    assert names(rover)[-1] == 'move_forward'
