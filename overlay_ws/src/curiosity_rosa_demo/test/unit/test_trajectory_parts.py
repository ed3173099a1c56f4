# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Parts that trajectories move: a stop, the e-stop, a lost agent and the end of SAFE hold them."""

from __future__ import annotations

from curiosity_rosa_demo.domain.models import E_STOP_PRESSED
from curiosity_rosa_demo.infra.config.appendage import AppendageProfile
from curiosity_rosa_demo.infra.config_loader import load_config
from examples import examples
from guard_world import CONFIG, World
from hypothesis import given, settings
from hypothesis import strategies as st
import pytest

PROFILE = load_config(robot='canadarm2').robot
FOLLOW = {
    'type': 'control_msgs/action/FollowJointTrajectory',
    'action': '/arm_controller/follow_joint_trajectory',
    'topic': None,
}
CHANNELS = pytest.mark.parametrize('channel', ['topic', 'action'])
COMMANDS = sorted(PROFILE.commands)
ENDS_S = 4.0 + CONFIG.mast.confirm_margin_s + 1.0
STOPS_S = 2.0  # in which a part that must stop does
ACTS = (*COMMANDS, *COMMANDS, 'stop', 'press', 'release', 'joints', 'vanish', 'agent', 'latch')
ACTS_BY_CHANNEL = {'topic': ACTS, 'action': (*ACTS, 'abort')}


def arm(channel: str) -> dict[str, AppendageProfile]:
    """Canadarm2's, whose commands are sent this way."""
    values = PROFILE.appendages['arm'].model_dump()
    if channel == 'action':
        values['commands'] = {
            name: {**each, **FOLLOW} for name, each in values['commands'].items()
        }
    return {'arm': AppendageProfile.model_validate(values)}


def world_of_the_arm(channel: str = 'topic') -> World:
    world = World(arm(channel), mobile_base=False)
    world.step(STOPS_S)
    return world


def does(world: World, command: str) -> None:
    assert world.ask_appendage('arm', command) == ''
    world.step(ENDS_S)
    assert world.guard.appendages['arm'].reached(command)


def act(world: World, what: str) -> None:
    if what in COMMANDS:
        world.ask_appendage('arm', what)
    elif what == 'stop':
        world.ask_stop()
    elif what in ('press', 'release'):
        world.press(what == 'press')
    elif what == 'joints':
        world.joints_on = not world.joints_on
    elif what == 'vanish':
        world.parts.absent = not world.parts.absent
    elif what == 'agent':
        world.agent_lives = not world.agent_lives
    elif what == 'abort':
        world.abort_goal('arm')
    elif what == 'latch':
        world.latch = '' if world.latch else 'a test'


def must_rest(world: World) -> bool:
    """Whether a rule ends each motion but that to the stowed pose."""
    guard = world.guard
    return guard.e_stop or bool(guard.agent_latch) or world.silence_since() is not None


@CHANNELS
@given(data=st.data())
@settings(max_examples=examples(300))
def test_no_history_moves_an_arm_that_must_rest(channel: str, data: st.DataObject) -> None:
    acts = st.sampled_from(ACTS_BY_CHANNEL[channel])
    pauses = st.sampled_from([0.05, 0.5, 2.5])
    history = data.draw(st.lists(st.tuples(acts, pauses), max_size=50))
    world = world_of_the_arm(channel)
    rests_s = 0.0
    for what, seconds in history:
        act(world, what)
        if world.guard.stopping:
            pytest.fail('a robot without a base has no stop to call')
        for _ in range(round(seconds / 0.05)):
            world.step()
            is_seen = world.joints_on or 'arm' in world.goals  # a goal is cancelled unseen
            can_stop = is_seen and not world.parts.absent
            stowing = world.guard.appendages['arm'].stowing and not world.guard.e_stop
            rests_s = rests_s + 0.05 if must_rest(world) and can_stop and not stowing else 0.0
            assert rests_s < STOPS_S or not world.part_motions, (what, world.now)


@given(history=st.lists(st.sampled_from((*COMMANDS, 'stop')), max_size=20))
@settings(max_examples=examples(200))
def test_the_grapple_pose_is_left_for_and_reached_from_the_extended_arm_only(
    history: list[str],
) -> None:
    world = world_of_the_arm()
    last = ''
    for what in history:
        refused = world.ask_appendage('arm', what) if what in COMMANDS else ''
        if what == 'arm_grapple' and last != 'arm_extend':
            assert refused == 'arm must first be where arm_extend leads'
        else:
            assert refused == ''
        if what == 'stop':
            world.ask_stop()
        elif not refused:
            last = what
        world.step(ENDS_S)


@CHANNELS
@pytest.mark.parametrize('seconds', [0.1, 1.0, 3.9])
def test_a_stop_holds_the_arm_where_it_is(channel: str, seconds: float) -> None:
    world = world_of_the_arm(channel)
    assert world.ask_appendage('arm', 'arm_extend') == ''
    world.step(seconds)
    number = world.ask_stop()
    world.step(STOPS_S)
    assert world.part_motions == {}
    assert world.guard.stop_problem(number) == ''
    assert world.guard.appendages['arm'].posture.value == 'unknown'
    does(world, 'arm_stow')


@CHANNELS
def test_a_stop_that_the_joints_do_not_confirm_says_so(channel: str) -> None:
    world = world_of_the_arm(channel)
    world.ask_appendage('arm', 'arm_extend')
    world.joints_on = False
    world.step(CONFIG.mast.joint_max_age_s + 0.5)
    number = world.ask_stop()
    world.step(1.0)
    assert bool(world.part_motions) == (channel == 'topic')  # a goal is cancelled all the same
    assert world.guard.stop_problem(number) == 'sent and not confirmed: arm: no joint states'
    told = 'arm: no joint states, so a stop could not hold it'
    assert world.ask_appendage('arm', 'arm_stow') == told


def test_an_arm_that_somebody_else_moves_is_held() -> None:
    world = world_of_the_arm()
    does(world, 'arm_stow')
    world.follow('arm', [1.0] * 7, 30.0)
    world.step(STOPS_S)
    assert world.part_motions == {}
    assert world.guard.appendages['arm'].posture.value == 'unknown'


def test_a_goal_that_the_controller_aborts_leaves_an_arm_that_is_held_and_unknown() -> None:
    world = world_of_the_arm('action')
    assert world.ask_appendage('arm', 'arm_extend') == ''
    world.step(1.0)
    world.abort_goal('arm')
    assert world.guard.last_error == 'aborted'
    world.step(STOPS_S)
    assert world.guard.appendages['arm'].posture.value == 'unknown'
    assert not world.guard.holding
    does(world, 'arm_stow')


def test_an_arm_that_an_earlier_adapter_left_moving_is_held() -> None:
    world = World(PROFILE.appendages, mobile_base=False)
    world.follow('arm', [1.0] * 7, 30.0)
    world.step(STOPS_S)
    assert world.part_motions == {}


def test_a_pressed_e_stop_holds_the_arm_and_refuses_even_to_stow_it() -> None:
    world = world_of_the_arm()
    world.ask_appendage('arm', 'arm_stow')
    world.step(0.5)
    world.press(True)
    world.step(STOPS_S)
    assert world.part_motions == {}
    assert world.ask_appendage('arm', 'arm_stow') == E_STOP_PRESSED
