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
import re
from typing import Any

from action_profile import GAP_RAD, profiles
from action_profile import TYPE as FOLLOW
from curiosity_rosa_demo.adapter.profile_figures import mismatch
from curiosity_rosa_demo.agent.policy.autonomy.activity_tasks import check_world
from curiosity_rosa_demo.agent.rosa_agent_factory import robot_prompts
from curiosity_rosa_demo.agent.skills.registry import make_registry
from curiosity_rosa_demo.domain.skills import MAST_SKILLS
from curiosity_rosa_demo.infra.config_loader import (
    ConfigError,
    load_config,
    shipped_config_dir,
    shipped_robots,
)
from examples import examples
from hypothesis import given, settings
import pytest
import yaml

ARM = yaml.safe_load((shipped_config_dir() / 'robots' / 'curiosity.yaml').read_text())


def folder_with(folder: Path, profile: object) -> Path:
    """A config_dir that has only this profile to say."""
    (folder / 'robots').mkdir(parents=True, exist_ok=True)
    for file in shipped_config_dir().glob('*.yaml'):
        (folder / file.name).write_text('')
    (folder / 'nodes.yaml').write_text('robot: mine')
    (folder / 'robots' / 'mine.yaml').write_text(yaml.safe_dump(profile))
    return folder


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
    ('chosen', 'running', 'told'),
    [
        ('canadarm2', 'curiosity', 'canadarm2 does not fit this robot, curiosity does'),
        ('curiosity', 'canadarm2', 'curiosity does not fit this robot, canadarm2 does'),
        ('curiosity', 'curiosity', ''),
        ('curiosity_2025', 'curiosity', ''),  # it has no parts: none is missing
        ('curiosity', 'curiosity_2025', ''),
    ],
)
def test_a_robot_that_another_profile_fits_is_told_of(
    chosen: str, running: str, told: str
) -> None:
    robots = shipped_robots()
    offered = {command.ros_name for _, command in robots[running].commands.values()}
    asked = {command.ros_name for _, command in robots[chosen].commands.values()}
    text = mismatch(chosen, asked - offered, robots, lambda each: each.ros_name in offered)
    assert (told in text) if told else text == ''


@pytest.mark.parametrize('robot', sorted(shipped_robots()))
def test_a_model_is_told_of_no_skill_that_the_robot_lacks(robot: str) -> None:
    config = load_config(robot=robot)
    told = str(robot_prompts(config.prompts))
    known, own = ({skill.name for skill in make_registry(of)} for of in (load_config(), config))
    assert [name for name in known - own if name in told] == []
    assert ('mast' in told) == config.robot.has_mast


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
    move = config.skills.skills['move_forward']
    assert (move.risk, move.timeout_s) == ('high', 90.0)
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
    way_out = r'mast_close.: There .*\. Name a world_view .* in robots/mine\.yaml, such as'
    with pytest.raises(ConfigError, match=way_out):
        check_world(config, registry)


# --- refusals --------------------------------------------------------------------------------


PART: dict[str, Any] = ARM['appendages']['arm']
STOW: dict[str, Any] = PART['commands']['arm_close']
NEAR = [angle + GAP_RAD / 2 for angle in STOW['target_rad']]


def arm(**changes: Any) -> dict[str, Any]:
    return {'appendages': {'arm': {**PART, **changes}}}


def opening(stow: dict[str, Any] = STOW, **changes: Any) -> dict[str, Any]:
    """The shipped arm, whose opening command has these keys, too."""
    return arm(commands={'o': {**PART['commands']['arm_open'], **changes}, 's': stow})


def mast(**changes: Any) -> dict[str, Any]:
    return {'thresholds': {'mast': {**MAST, **changes}}}


STOP_CALL = {'move_stop': {'type': 'std_srvs/srv/Stop'}}
SHARED = {**ARM, 'thresholds': {'mast': {'joints': ['arm_01_joint', 'pan']}}}
REFUSED: list[tuple[object, str]] = [
    ({'topics': {'rover': {'odometry': 'two words'}}}, 'topics.rover.odometry'),
    ({'topics': {'rover': {'odometer': '/odom'}}}, 'topics.rover.odometer'),
    ({'topics': {'curiosity': STOP_CALL}}, 'topics.curiosity.move_stop.type'),
    ({'thresholds': {'motion': {'max_duration_s': -1.0}}}, 'thresholds.motion.max_duration_s'),
    (mast(open_rad=[2.1, 0.0]), 'thresholds.mast.open_rad'),
    (mast(rotated_rad=[0.0, 0.0]), 'thresholds.mast.rotated_rad'),
    (mast(joints=['lift', 'lift']), 'thresholds.mast.joints'),
    (SHARED, r'appendages.arm.joints.*must not be joints of the mast'),
    ({'skills': {'skills': {'move_forward': {'risk': 'none'}}}}, 'skills.skills.move_forward'),
    ({'wheels': 4}, 'wheels = 4: unknown key'),
    (arm(commands={'o': PART['commands']['arm_open']}), '.*must have a command whose target_rad'),
    (arm(commands={'Arm Open': STOW}), "appendages = 'Arm Open'"),
    (opening(topic='/t'), r'.*commands.o.*must be left out'),
    (opening(action='/a'), r'.*commands.o.*must be left out'),
    (opening(target_rad=NEAR), r'.*commands.o.target_rad'),
    (opening(words={'en': ['x"']}), r'.*commands.o.words'),
    (arm(joints=['a']), '.*of 1 joints'),
    (opening(type=FOLLOW), r'.*commands.o.*is missing'),
    (opening(only_after=['o']), r'.*o.only_after.*can never run'),
    (opening({**STOW, 'only_after': ['o']}), '.*s.only_after.*must be empty'),
    ({'appendages': {'mast': PART}}, '.*must not be base, mast, camera'),
    ({'appendages': dict.fromkeys(('arm', 'leg'), PART)}, '.*joints of two appendages: must diff'),
    ({'mobile_base': False, 'appendages': {}}, '.*there are no appendages'),
    ({**ARM, 'mobile_base': False, 'camera': True}, '.*mobile_base is false'),
    ({**ARM, 'world_view': 'no such/file'}, 'world_view'),
    ([], '.*must be keys with values'),
    (arm(commands={'speak': STOW}), r'.*speak.*choose another'),
]


def test_a_wrong_profile_is_refused_with_its_file_and_key(tmp_path: Path) -> None:
    wrong = []
    for number, (profile, told) in enumerate(REFUSED):
        folder = folder_with(tmp_path / str(number), profile)
        text = 'nothing'
        try:
            load_config(folder)
        except ConfigError as refused:
            text = str(refused)
        if not re.search(rf'robots/mine.yaml: {told}', text):
            wrong.append((told, text))
    assert wrong == []
    with pytest.raises(
        ConfigError, match=r'robot = .moon.*of canadarm2, curiosity, curiosity_2025'
    ):
        load_config(robot='moon')
