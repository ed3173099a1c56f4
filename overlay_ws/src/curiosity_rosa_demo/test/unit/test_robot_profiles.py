# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Robots by profile: the rules of an appendage hold for any valid one, and the others are refused
with the key, the value and the way out.
"""

from __future__ import annotations

from pathlib import Path
import string
from typing import Any

from curiosity_rosa_demo.adapter.mast import MastAction
from curiosity_rosa_demo.adapter.profile_figures import mismatch
from curiosity_rosa_demo.agent.policy.autonomy.activity_tasks import check_world
from curiosity_rosa_demo.agent.rosa_agent_factory import robot_prompts
from curiosity_rosa_demo.agent.skills.registry import make_registry
from curiosity_rosa_demo.domain.models import E_STOP_PRESSED, MOVE_IN_PROGRESS
from curiosity_rosa_demo.domain.skills import MAST_SKILLS
from curiosity_rosa_demo.infra.config.robot import AppendageProfile, RobotProfile
from curiosity_rosa_demo.infra.config.thresholds import MastConfig
from curiosity_rosa_demo.infra.config_loader import (
    ConfigError,
    load_config,
    shipped_config_dir,
    shipped_robots,
)
from examples import examples
from guard_world import CONFIG, World
from hypothesis import assume, given, settings
from hypothesis import strategies as st
import pytest
import yaml

ARM = yaml.safe_load((shipped_config_dir() / 'robots' / 'curiosity.yaml').read_text())
GAP_RAD = 2 * CONFIG.mast.tolerance_rad
STEPS = 50
names = st.text(string.ascii_lowercase, min_size=4, max_size=8).map(lambda text: f'x_{text}')
angles = st.floats(-6.3, 6.3).map(lambda angle: round(angle, 3))
FOLLOW = 'control_msgs/action/FollowJointTrajectory'
KINDS = [
    *(
        {'type': f'std_srvs/srv/{name}', 'service': '/x'}
        for name in ('Empty', 'Trigger', 'SetBool')
    ),
    {'type': 'trajectory_msgs/msg/JointTrajectory', 'topic': '/x'},
]


@st.composite
def profiles(draw: st.DrawFn) -> dict[str, Any]:
    """A valid robots/NAME.yaml: a mast with poses of its own, or none; one to three appendages."""
    parts: dict[str, Any] = {}
    own = iter(draw(st.lists(names, min_size=29, max_size=29, unique=True)))
    for _ in range(draw(st.integers(1, 3))):
        joints = [next(own) for _ in range(draw(st.integers(1, 3)))]
        stowed = [draw(angles) for _ in joints]
        commands = {next(own): stowed}
        action = {'type': FOLLOW, 'action': f'/{next(own)}'}  # of this part alone
        for _ in range(draw(st.integers(0, 2))):
            target = [draw(angles) for _ in joints]
            far = max(abs(a - b) for a, b in zip(target, stowed, strict=True))
            target[0] += 0.0 if far > GAP_RAD else 1.0
            commands[next(own)] = target
        parts[next(own)] = {
            'joints': joints,
            'stowed_rad': stowed,
            'commands': {
                name: {
                    **draw(st.sampled_from([*KINDS, action])),
                    'target_rad': target,
                    'duration_s': draw(st.sampled_from([0.2, 1.0, 4.0])),
                    'only_after': []
                    if target is stowed
                    else draw(st.lists(st.just(next(iter(commands))), max_size=1)),
                    'description': 'Move it.',
                    'cost': 1.0,
                    'risk': 'low',
                }
                for name, target in commands.items()
            },
        }
    if not draw(st.booleans()):
        return {'mast': False, 'appendages': parts}
    closed, opened = draw(angles), draw(angles)
    opened += 0.0 if abs(opened - closed) > GAP_RAD else 1.0
    mast = {
        'joints': [next(own), next(own)],
        'closed_rad': [closed, draw(angles)],
        'open_rad': [opened, draw(angles)],
        'rotated_rad': [opened, draw(angles)],
        'close_duration_s': draw(st.sampled_from([0.2, 1.0, 4.0])),
    }
    return {'appendages': parts, 'thresholds': {'mast': mast}}


def world_of(profile: dict[str, Any]) -> World:
    robot = RobotProfile.model_validate(profile)
    values = {**CONFIG.mast.model_dump(), **robot.thresholds.get('mast', {})}
    mast = MastConfig.model_validate(values) if robot.has_mast else None
    return World(robot.appendages, mast=mast)


def folder_with(folder: Path, profile: object) -> Path:
    """A config_dir that has only this profile to say."""
    (folder / 'robots').mkdir(parents=True, exist_ok=True)
    for file in shipped_config_dir().glob('*.yaml'):
        (folder / file.name).write_text('')
    (folder / 'nodes.yaml').write_text('robot: mine')
    (folder / 'robots' / 'mine.yaml').write_text(yaml.safe_dump(profile))
    return folder


# --- the rules hold for any valid profile ----------------------------------------------------


def act(world: World, data: st.DataObject) -> None:
    """Something that a person, the middleware or the robot may do next."""
    part = data.draw(st.sampled_from(sorted(world.appendages)))
    command = data.draw(st.sampled_from(sorted(world.appendages[part].commands)))
    what = data.draw(
        st.sampled_from(
            (
                *('move', 'move', 'part', 'part', 'stow', 'open', 'close', 'stop'),
                *('abort', 'hang', 'vanish', 'joints', 'odometry', 'e_stop', 'recover', 'wait'),
            )
        )
    )
    if what == 'move':
        world.ask_move()
    elif what == 'part':
        world.ask_appendage(part, command)
    elif what == 'stow':
        world.ask_appendage(part, world.appendages[part].stow_command)
    elif what in ('open', 'close') and world.has_mast:
        world.ask_mast(MastAction(f'mast_{what}'))
    elif what == 'stop':
        world.ask_stop()
    elif what == 'abort':
        world.abort_goal(part)
    elif what == 'hang':
        node = data.draw(st.sampled_from([world.drive, world.masts, world.parts]))
        node.hanging = not node.hanging
    elif what == 'vanish':
        world.parts.absent = not world.parts.absent
    elif what == 'joints':
        world.joints_on = not world.joints_on
    elif what == 'odometry':
        world.odometry_on = not world.odometry_on
    elif what == 'e_stop':
        world.press(world.pressed_at is None)
    elif what == 'recover':
        recover(world)
    world.step(data.draw(st.sampled_from([0.05, 0.5, 2.5])))


def recover(world: World) -> None:
    for node in (world.drive, world.masts, world.parts):
        node.hanging = node.absent = False
    world.joints_on = world.odometry_on = True
    world.press(False)


def drive_off(world: World) -> None:
    """As a careful operator does; every request must be granted."""
    recover(world)
    world.step(20.0)
    world.ask_stop()
    world.step(5.0)
    if world.has_mast:
        assert world.ask_mast(MastAction.CLOSE) == ''
        world.step(8.0)
    for name, part in world.appendages.items():
        assert world.ask_appendage(name, part.stow_command) == ''
        world.step(8.0)
    assert world.ask_move() == ''
    world.step(0.5)
    assert world.moving


@given(profile=profiles(), data=st.data())
@settings(max_examples=examples(500))
def test_no_robot_drives_with_a_part_that_is_not_stowed(
    profile: dict[str, Any], data: st.DataObject
) -> None:
    world = world_of(profile)
    for _ in range(STEPS):
        act(world, data)
        assert not world.moved_unstowed
        assert not world.moved_with_the_mast_up
    drive_off(world)
    assert not world.moved_unstowed


@given(profile=profiles(), data=st.data())
@settings(max_examples=examples(100))
def test_a_part_that_somebody_else_unstows_stops_the_drive(
    profile: dict[str, Any], data: st.DataObject
) -> None:
    world = world_of(profile)
    part = data.draw(st.sampled_from(sorted(world.appendages)))
    others = [
        command
        for command in world.appendages[part].commands
        if not world.appendages[part].stows(command)
    ]
    assume(others)
    drive_off(world)
    assert world.ask_appendage(part, others[0]) == MOVE_IN_PROGRESS
    world.move_appendage(part, others[0])
    world.step(2.0)
    assert not world.moving
    assert any(f'Stopped: {part} is unknown' in alarm for alarm in world.guard.take_alarms())
    assert world.ask_move() == f'Need to stow {part}: {world.appendages[part].stow_command}'


def test_a_pressed_e_stop_holds_every_part_and_safe_all_but_stowing() -> None:
    arm = load_config(robot='curiosity').robot.appendages
    world = World(arm)
    world.step(1.0)
    world.press(True)
    assert world.ask_appendage('arm', 'arm_close') == E_STOP_PRESSED
    world.press(False)
    world.agent_lives, world.latch = True, 'a test'
    world.step(3.0)
    assert 'SAFE' in world.ask_appendage('arm', 'arm_open')
    assert world.ask_appendage('arm', 'arm_close') == ''


def test_a_part_whose_joints_fall_silent_is_unknown() -> None:
    world = World(load_config(robot='curiosity').robot.appendages)
    drive_off(world)
    world.joints_on = False
    world.step(CONFIG.mast.joint_max_age_s + 2.0)
    assert not world.moving
    assert not world.guard.move_allowed


# --- what a profile becomes ------------------------------------------------------------------


@given(profile=profiles())
@settings(max_examples=examples(20))
def test_each_command_is_a_skill_a_cost_and_a_service(
    profile: dict[str, Any], tmp_path_factory: pytest.TempPathFactory
) -> None:
    config = load_config(folder_with(tmp_path_factory.mktemp('profile'), profile))
    registry = make_registry(config)
    offered = {skill.definition.name for skill in registry.for_model()}
    for name, part in profile['appendages'].items():
        assert name in registry.get('move_forward').definition.resources_required
        for command, settings_ in part['commands'].items():
            assert command in offered
            assert registry.get(command).definition.resources_required == [name]
            assert config.tool_costs.of(command) == settings_['cost']
            assert config.appendage_service(command) == f'/adapter/{command}'
    moved = config.in_namespace('r1', rover='rover')
    for command, (_, spec) in moved.robot.commands.items():
        assert spec.ros_name == f'/rover{config.robot.commands[command][1].ros_name}'
        assert moved.appendage_service(command) == f'/r1/adapter/{command}'


@pytest.mark.parametrize(
    'name', sorted(p.stem for p in (shipped_config_dir() / 'robots').iterdir())
)
def test_the_shipped_profiles_are_valid(name: str) -> None:
    make_registry(load_config(robot=name))


@pytest.mark.parametrize(
    ('chosen', 'running', 'told'),
    [
        ('canadarm2', 'curiosity', 'canadarm2 does not fit this robot, curiosity does'),
        ('curiosity', 'canadarm2', 'curiosity does not fit this robot, canadarm2 does'),
        ('curiosity', 'curiosity', None),
        ('curiosity_2025', 'curiosity', None),  # it has no parts: none is missing
        ('curiosity', 'curiosity_2025', None),
    ],
)
def test_a_robot_that_another_profile_fits_is_told_of(
    chosen: str, running: str, told: str | None
) -> None:
    profiles = shipped_robots()
    offered = {command.ros_name for _, command in profiles[running].commands.values()}
    missing = {
        command.ros_name
        for _, command in profiles[chosen].commands.values()
        if command.ros_name not in offered
    }
    text = mismatch(chosen, missing, profiles, lambda command: command.ros_name in offered)
    assert (told in text) if told else text == ''


@pytest.mark.parametrize('robot', sorted(shipped_robots()))
def test_a_model_is_told_of_no_skill_that_the_robot_lacks(robot: str) -> None:
    config = load_config(robot=robot)
    told = str(robot_prompts(config.prompts))
    known, own = ({skill.name for skill in make_registry(of)} for of in (load_config(), config))
    assert [name for name in known - own if name in told] == []
    assert ('mast' in told) == config.robot.has_mast


def test_a_world_view_that_the_robot_cannot_live_in_is_refused_with_the_way_out(
    tmp_path: Path,
) -> None:
    config = load_config(folder_with(tmp_path, {'mast': False}))
    way_out = (
        r'mast_close.: There .*\. Name a world_view .* in robots/mine\.yaml, such as stationary'
    )
    with pytest.raises(ConfigError, match=way_out):
        check_world(config, make_registry(config))


def test_a_profile_has_the_times_of_its_mast() -> None:
    mast = load_config(robot='curiosity').thresholds.mast
    assert (mast.open_duration_s, mast.close_duration_s, mast.rotate_duration_s) == (4.0, 4.0, 6.0)
    assert load_config(robot='curiosity_2025').thresholds.mast == CONFIG.mast


MAST = {'open_rad': [0.5, 0.0], 'closed_rad': [2.0, 0.0], 'rotated_rad': [0.5, 3.0]}
SECTIONS = {
    'topics': {'rover': {'odometry': '/odom'}, 'tf': {'base_frame': 'base_link'}},
    'thresholds': {
        'motion': {'max_duration_s': 25.0},
        'mast': {'joints': ['lift', 'pan'], **MAST},
    },
    'guardrails': {'geofence': {'x_max': 3.0}},
    'skills': {'skills': {'move_forward': {'risk': 'high'}}},
    'tool_costs': {'tools': {'move_forward': 9.0}},
    'agent': {'turn': {'max_motion_s': 7.0}},
}


def test_sections_of_a_profile_take_the_place_of_those_in_the_files(tmp_path: Path) -> None:
    folder = folder_with(tmp_path, SECTIONS)
    (folder / 'topics.yaml').write_text('rover: {odometry: /mine, scan: /laser}')
    config = load_config(folder)
    assert (config.topics.rover.odometry, config.topics.rover.scan) == ('/odom', '/laser')
    assert config.topics.tf.base_frame == 'base_link'
    assert config.thresholds.motion.max_duration_s == 25.0
    assert config.thresholds.mast.joints == ['lift', 'pan']
    assert config.guardrails.geofence.x_max == 3.0
    assert config.skills.skills['move_forward'].risk == 'high'
    assert config.skills.skills['move_forward'].timeout_s == 90.0
    assert config.tool_costs.of('move_forward') == 9.0
    assert make_registry(config).get('turn_left')


def test_a_robot_without_a_mast_has_neither_its_skills_nor_its_services(tmp_path: Path) -> None:
    config = load_config(folder_with(tmp_path, {'mast': False}))
    registry = make_registry(config)
    assert not MAST_SKILLS & {skill.name for skill in registry}
    assert 'mast' not in registry.get('capture_and_score').definition.resources_required
    assert registry.get('move_forward').definition.resources_required == ['base']
    assert config.robot.resources == ('base', 'camera')
    assert not config.thresholds.capture.require_open_mast


@pytest.mark.parametrize(
    ('sections', 'told'),
    [
        ({'topics': {'rover': {'odometry': 'two words'}}}, 'topics.rover.odometry'),
        ({'topics': {'rover': {'odometer': '/odom'}}}, 'topics.rover.odometer'),
        (
            {'topics': {'curiosity': {'move_stop': {'type': 'std_srvs/srv/Stop'}}}},
            'topics.curiosity.move_stop.type',
        ),
        ({'thresholds': {'motion': {'max_duration_s': -1.0}}}, 'thresholds.motion.max_duration_s'),
        ({'thresholds': {'mast': {**MAST, 'open_rad': [2.1, 0.0]}}}, 'thresholds.mast.open_rad'),
        (
            {'thresholds': {'mast': {**MAST, 'rotated_rad': [0.0, 0.0]}}},
            'thresholds.mast.rotated_rad',
        ),
        ({'thresholds': {'mast': {'joints': ['lift', 'lift']}}}, 'thresholds.mast.joints'),
        (
            {**ARM, 'thresholds': {'mast': {'joints': ['arm_01_joint', 'pan']}}},
            r'appendages.arm.joints.*must not be joints of the mast',
        ),
        ({'skills': {'skills': {'move_forward': {'risk': 'none'}}}}, 'skills.skills.move_forward'),
        ({'wheels': 4}, 'wheels = 4: unknown key'),
    ],
)
def test_an_invalid_section_is_refused_with_the_profile_and_its_key(
    sections: dict[str, Any], told: str, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError, match=rf'robots/mine.yaml: {told}'):
        load_config(folder_with(tmp_path, sections))


# --- invalid ones ----------------------------------------------------------------------------

letters = st.text(string.ascii_uppercase, min_size=1, max_size=12)
too_many_angles = st.lists(angles, min_size=4, max_size=9)  # a drawn part has one to three joints
below_zero = st.floats(-1e9, -1e-6)
not_numbers = st.sampled_from([float('nan'), float('inf'), None])
BAD_NAMES = st.sampled_from(['', 'two words', '/1', 7, None])
BAD_VALUES: dict[str, st.SearchStrategy[object]] = {
    'joints': st.sampled_from([[], ['a', 'a'], [*string.ascii_letters], 'arm', None]),
    'stowed_rad': too_many_angles | st.sampled_from([[], ['x'], [float('nan')], 3]),
    'commands': st.sampled_from([{}, [], 'open', None]),
    'type': letters | st.sampled_from(['std_srvs/srv/None', 'std_msgs/msg/String', None]),
    'target_rad': too_many_angles | st.sampled_from([[], ['up'], [1e9], [float('inf')], 'up']),
    'duration_s': below_zero | letters | not_numbers | st.sampled_from([0.0, 1e9]),
    'only_after': st.lists(letters, min_size=1) | letters | st.sampled_from([[3], 3]),
    'description': st.sampled_from(['', 'x' * 301, None]),
    'cost': below_zero | letters | not_numbers,
    'risk': letters | st.integers() | st.none(),
    'words': letters | st.dictionaries(letters, st.just(['go']), min_size=1, max_size=3),
}
OF_PART = ('joints', 'stowed_rad', 'commands')
OPTIONAL = ('only_after', 'words')


@given(valid=profiles(), data=st.data())
@settings(max_examples=examples(200))
def test_an_invalid_profile_is_refused_with_its_key(
    valid: dict[str, Any], data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """A key of a valid profile is missing or unknown, or its value is wrong."""
    part = data.draw(st.sampled_from(sorted(valid['appendages'])), label='part')
    appendage = valid['appendages'][part]
    command = data.draw(st.sampled_from(sorted(appendage['commands'])), label='command')
    key = data.draw(st.sampled_from([*BAD_VALUES, 'name', 'unknown']), label='key')
    place = appendage if key in OF_PART else appendage['commands'][command]
    if key == 'unknown':
        key = data.draw(letters)
        value: object = 1.0
    elif key == 'name':
        (key,) = place.keys() & {'service', 'topic', 'action'}
        value = data.draw(BAD_NAMES)
    else:
        value = data.draw(BAD_VALUES[key])
    if data.draw(st.booleans(), label='missing') and key in place.keys() - OPTIONAL:
        del place[key]
    else:
        place[key] = value
    with pytest.raises(ConfigError) as refused:
        load_config(folder_with(tmp_path_factory.mktemp('bad'), valid))
    text = str(refused.value)
    where = part if key in OF_PART else f'{part}.commands.{command}'
    assert f'robots/mine.yaml: appendages.{where}.{key}' in text
    assert '\n' not in text


def with_arm(commands: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """The shipped arm with these commands; the keys of each are added to those of arm_open."""
    arm = ARM['appendages']['arm']
    merged = {name: {**arm['commands']['arm_open'], **values} for name, values in commands.items()}
    return {'appendages': {'arm': {**arm, 'commands': merged}}}


STOW: dict[str, Any] = ARM['appendages']['arm']['commands']['arm_close']
NEAR = [angle + GAP_RAD / 2 for angle in STOW['target_rad']]


@pytest.mark.parametrize(
    ('profile', 'told'),
    [
        (with_arm({'arm_open': {}}), 'arm.commands.*must have a command whose target_rad is stow'),
        (with_arm({'Arm Open': {}, 'stow': STOW}), "appendages = 'Arm Open'"),
        (with_arm({'o': {'topic': '/t'}, 's': STOW}), r'commands.o.*must be left out'),
        (with_arm({'o': {'action': '/a'}, 's': STOW}), r'commands.o.*must be left out'),
        (with_arm({'o': {'target_rad': NEAR}, 's': STOW}), r'commands.o.target_rad'),
        (with_arm({'o': {'words': {'en': ['x"']}}, 's': STOW}), r'commands.o.words'),
        ({'appendages': {'arm': {**ARM['appendages']['arm'], 'joints': ['a']}}}, 'of 1 joints'),
        (with_arm({'o': {'type': FOLLOW}, 's': STOW}), r'commands.o.*is missing'),
        (with_arm({'o': {'only_after': ['o']}, 's': STOW}), r'o.only_after.*can never run'),
        (with_arm({'o': {}, 's': {**STOW, 'only_after': ['o']}}), 's.only_after.*must be empty'),
        ({'appendages': {'mast': ARM['appendages']['arm']}}, 'must not be base, mast, camera'),
        (
            {'appendages': dict.fromkeys(('arm', 'leg'), ARM['appendages']['arm'])},
            'joints of two appendages: must differ',
        ),
        ({'mobile_base': False, 'appendages': {}}, 'there are no appendages'),
        ({**ARM, 'mobile_base': False, 'camera': True}, 'mobile_base is false'),
        ({**ARM, 'world_view': 'no such/file'}, 'world_view'),
        ([], 'must be keys with values'),
    ],
)
def test_a_profile_that_contradicts_itself_is_refused(
    profile: object, told: str, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError, match=told):
        load_config(folder_with(tmp_path, profile))


def test_a_command_with_the_name_of_a_skill_is_refused(tmp_path: Path) -> None:
    arm: dict[str, Any] = ARM['appendages']['arm']
    commands = {'speak' if name == 'arm_open' else name: c for name, c in arm['commands'].items()}
    profile = {'appendages': {'arm': {**arm, 'commands': commands}}}
    with pytest.raises(ConfigError, match=r'speak.*choose another'):
        load_config(folder_with(tmp_path, profile))


def test_an_unknown_profile_is_refused_with_the_known_ones() -> None:
    with pytest.raises(
        ConfigError, match=r'robot = .moon.*one of canadarm2, curiosity, curiosity_2025'
    ):
        load_config(robot='moon')


def test_an_appendage_is_stowed_by_its_first_command_that_leads_there() -> None:
    arm = AppendageProfile.model_validate(ARM['appendages']['arm'])
    assert arm.stow_command == 'arm_close'
