# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.
"""The YAML configuration and profiles of robots: what they take, in which words they refuse."""

from __future__ import annotations

import copy
from datetime import datetime, timedelta
from pathlib import Path
import re
import tempfile
from typing import Any

from action_profile import GAP_RAD, profiles
from action_profile import TYPE as FOLLOW
from curiosity_rosa_demo.adapter.report import mismatch
from curiosity_rosa_demo.agent.policy.port import check_world
from curiosity_rosa_demo.agent.react.prompt import robot_prompts
from curiosity_rosa_demo.agent.skills.registry import make_registry
from curiosity_rosa_demo.agent.skills.skill import UnknownSkill
from curiosity_rosa_demo.domain.skills import MAST_SKILLS
from curiosity_rosa_demo.infra.config.agent import DEMO, LANGUAGES
from curiosity_rosa_demo.infra.config.base import Name, time_zone
from curiosity_rosa_demo.infra.config.behaviour import minutes_of_day
from curiosity_rosa_demo.infra.config.topics import Config, Topics
from curiosity_rosa_demo.infra.config_loader import (
    CONFIG_FILES,
    ConfigError,
    load_config,
    shipped_config_dir,
    shipped_robots,
    WORLD_FILES,
)
from examples import examples
from hypothesis import example, given, settings
from hypothesis import strategies as st
from policy_world import shipped_world
from pydantic import TypeAdapter, ValidationError
import pytest
from rclpy.validate_full_topic_name import validate_full_topic_name
import yaml

SHIPPED = {
    name: (shipped_config_dir() / f'{name}.yaml').read_text(encoding='utf-8')
    for name in CONFIG_FILES
}
CONFIG = load_config()
WORLDS = {name: shipped_world(name) for name in WORLD_FILES}
GARDEN = """
says: a garden
measured: false
begins: {place: bed, energy: 1.0}
places: {bed: {}}
activities: {bloom: {says: blooms, minutes: 60}}
routine: [{activity: bloom, window: "06:00-08:00"}]
"""


def folder_with(folder: Path, **texts: str) -> Path:
    """A user's folder with everything as shipped but ``texts``, and without world views."""
    for name, text in {**SHIPPED, **texts}.items():
        (folder / f'{name}.yaml').write_text(text, encoding='utf-8')
    return folder


def outcome(folder: Path) -> str:
    """What the loader says of these files, without the folder."""
    try:
        config = load_config(folder)
    except ConfigError as error:
        return str(error).replace(f'{folder}/', '')
    return 'valid' if isinstance(config, Config) else repr(config)


def test_a_missing_key_or_file_takes_the_shipped_value(tmp_path: Path) -> None:
    assert load_config('') == load_config(shipped_config_dir()) == CONFIG
    assert CONFIG.thresholds.light_model.x_good == 5.0
    (tmp_path / 'topics.yaml').touch()
    assert load_config(tmp_path) == CONFIG
    text = 'viz: {trace_lines: 3}\nmotion:\nlight_model: {x_good: 7}'
    (tmp_path / 'thresholds.yaml').write_text(text, encoding='utf-8')
    config = load_config(tmp_path)
    changes = {'viz': {'trace_lines': 3}, 'light_model': {'x_good': 7.0}}
    assert config == CONFIG.changed(thresholds=changes)
    assert repr(config.thresholds.light_model.x_good) == '7.0'
    (tmp_path / 'guard_rails.yaml').touch()
    told = 'guard_rails.yaml: nobody reads this file; rename it to guardrails.yaml'
    assert outcome(tmp_path) == told


def test_an_own_text_goes_before_the_shipped_translations(tmp_path: Path) -> None:
    rows: dict[str, tuple[str | None, ...]] = {
        'text: go': ('go', 'go', 'go', 'go'),
        '{text: go, translations: {ja: 行け}}': ('go', '行け', 'go', 'go'),
        'translations: {zh: 去}': (None, None, '去', None),
        'translations: {es: vete}': (None, None, None, 'vete'),
        'label: mine': (None, None, None, None),
    }
    shipped = CONFIG.prompts.templates[DEMO]
    for own, texts in rows.items():
        text = f'templates:\n  demo_ground_texture:\n    {own}\n'
        demo = load_config(folder_with(tmp_path, prompts=text)).prompts.templates[DEMO]
        for language, wanted in zip(('en', 'ja', 'zh', 'es'), texts, strict=True):
            assert demo.text_in(language) == (wanted or shipped.text_in(language))
    assert set(shipped.translations) == set(LANGUAGES)
    told = outcome(folder_with(tmp_path, prompts='default_language: xx\n'))
    assert f'must be one of {", ".join(LANGUAGES)}' in told


# --- what is refused ----------------------------------------------------------------------------

NODE = 'name: a, package: b, executable: c, when: ""'
BOOM = 'x_min: 1.0, x_max: 1.0, y_min: 0.0, y_max: 1.0, height_m: 1.0'
# The file, its text, and the message.
REFUSALS = [
    ('thresholds', 'tf: {max_age: 2.0}', 'tf.max_age = 2.0: unknown key; allowed here: max_age_s'),
    ('nodes', f'nodes: [{{{NODE}, args: 1}}]', '0.args = 1: unknown key; allowed here: name'),
    ('prompts', 'templates: {A-b: {}}', "templates = 'A-b': String should match pattern"),
    ('prompts', 'templates: {mine: {label: a}}', 'templates.mine.text: Field required'),
    ('thresholds', 'quality: {score_threshold: "0.8"}', "quality.score_threshold = '0.8': Input"),
    ('thresholds', 'quality: 0.8', 'quality = 0.8: must be keys with values: score_threshold'),
    ('thresholds', 'capture: {jpeg_quality: 101}', 'jpeg_quality = 101: Input should be less'),
    ('thresholds', 'tf: {max_age_s: .nan}', 'tf.max_age_s = nan: '),
    ('topics', 'tf: {world_frame: /}', "tf.world_frame = '/': not a frame name: no spaces"),
    ('topics', 'adapter: {move_stop: {type: a/b}}', "type = 'a/b': Input should be 'std_srvs"),
    ('topics', 'curiosity: {move_stop: {name: /turn_left}}', "'/turn_left': must not be what tur"),
    ('topics', 'rover: {wheel_commands: /cmd_vel}', "= '/cmd_vel': must not be cmd_vel"),
    ('topics', 'adapter: {move_stop: {name: /adapter/get_status}}', 'must not be what get_status'),
    ('thresholds', 'motion: {still_speed_mps: 0.5}', 'still_speed_mps = 0.5: must be less than'),
    (
        'thresholds',
        'motion: {still_speed_mps: 0.3, still_turn_radps: 0.03}',
        'still_speed_mps = 0.3: must be less than',
    ),
    ('thresholds', 'light_model: {x_min: 5.0}', 'light_model.x_good = 5.0: must be greater than'),
    ('thresholds', 'telemetry: {obstacle_stop_m: 3.0}', 'clear_m = 2.3: must be greater than te'),
    ('thresholds', f'obstacles: {{parts: {{boom: {{{BOOM}}}}}}}', 'x_max = 1.0: must be greater'),
    ('agent', 'llm: {provider: openai}', "llm.model = '': must be set when provider is 'openai'"),
    ('guardrails', 'patience: {exhausted: RETRY}', "'RETRY': Input should be 'ASK_HUMAN' or"),
    ('agent', 'turn: {max_motion_s: 30.0}', 'max_motion_s = 30.0: must be below motion.max_durat'),
    ('skills', 'skills: {move_forward: {cancel_supported: false}}', '= False: must be true for a'),
    ('skills', 'skills: {wait_until: {cancel_supported: false}}', '= False: must be true for a s'),
    ('agent', '7: 8', '7'),
    ('agent', 'llm: [', 'not YAML: '),
    ('agent', '[' * 5000, 'not YAML: '),
    ('agent', '!!python/object/apply:os.system [id]', 'not YAML: '),
    ('agent', 'llm: {model: &a [*a]}', 'llm.model = '),
    ('agent', f'llm: {{timeout_s: 0x{"f" * 5000}}}', 'llm.timeout_s = a int too large to show: '),
    ('agent', 'policy: {timezone: Mars/Gale}', "policy.timezone = 'Mars/Gale': not a time zone"),
    ('agent', 'policy: {world_view: ../agent}', "policy.world_view = '../agent'"),
    ('agent', 'llm: {model: a}\nllm: {}', 'llm: this key stands twice, in lines 1 and 2'),
    ('world_view', 'says: a\nplaces: {}\nsays: b', 'this key stands twice, in lines 1 and 3'),
]


def activity(text: str) -> str:
    return f'activities: {{nap: {{says: x, minutes: 1, {text}}}}}'


THERE_ARE = 'no such one; there are base, bright_zone, field'
KNOWN = 'no such one; there are sleep, wake, go_to_work, survey, look_around, go_home'
# Each: what is added to the rover's world, and the message.
WORLD_REFUSALS = [
    ('activities: {"a nap": {}}', "activities = 'a nap': not a name: small letters, digits and _"),
    (activity('window: 22:00'), 'activities.nap.window = 1320: must be text: write it in quotes'),
    (activity('window: "22:00"'), "window = '22:00': not a window; write \"07:20-"),
    (activity('window: "07:00-07:00"'), "window = '07:00-07:00': a window that is empty"),
    (activity('windw: ""'), "activities.nap.windw = '': unknown key; allowed here: says, at, to"),
    (activity('at: [mars]'), f"activities.nap.at = 'mars': {THERE_ARE}"),
    (
        f'places: {{base: {{leads_to: [field]}}}}\n{activity("to: bright_zone")}',
        "activities.go_to_work.to = 'bright_zone': no way leads there from base: name it in its "
        'leads_to',
    ),
    (activity('at: [base], to: base'), "nap.to = 'base': it begins there: leave it out"),
    (activity('ends: [dream]'), f"activities.nap.ends = 'dream': {KNOWN}"),
    (activity('needs: [a.b]'), "nap.needs = 'a.b': no such one; there are wheels"),
    ('activities: {nap: {says: x}}', 'nap.minutes = 0.0: must be above 0 for an activity'),
    (activity('asks: look around, does: [{skill: charge}]'), 'or words for the model (asks), not'),
    ('routine: [{activity: rest}, {activity: dance}]', f"routine.1.activity = 'dance': {KNOWN}"),
    ('begins: {place: mars}', f"begins.place = 'mars': {THERE_ARE}"),
    ('places: {hill: {}}', 'each has a zone of its own, and one has none'),
]


def test_a_refusal_names_file_key_value_and_what_is_allowed(tmp_path: Path) -> None:
    wrong: list[tuple[str, str]] = []
    rows = [*REFUSALS, *(('world_view', *row) for row in WORLD_REFUSALS)]
    for number, (name, text, message) in enumerate(rows):
        folder = tmp_path / str(number)
        folder.mkdir()
        said = outcome(folder_with(folder, **{name: text}))
        sound = said.startswith(f'{name}.yaml: ') and len(said) < 400 and '\n' not in said
        if not sound or message not in said:
            wrong.append((message, said))
    assert wrong == []


def test_a_file_or_folder_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    agent, robot = folder_with(tmp_path) / 'agent.yaml', tmp_path / 'robots/curiosity_2025.yaml'
    agent.write_bytes(b'llm: \xff\xfe')
    assert re.fullmatch(r'agent\.yaml: cannot be read: .*utf-8.*', outcome(tmp_path))
    agent.unlink()
    agent.mkdir()
    assert re.fullmatch(r'agent\.yaml: cannot be read: .*directory.*', outcome(tmp_path))
    agent.rmdir()
    agent.symlink_to('elsewhere')
    assert re.fullmatch(r'agent\.yaml: cannot be read: .*No such file.*', outcome(tmp_path))
    agent.unlink()
    robot.parent.mkdir()
    robot.write_text('topics:\n\ntopics:\n', encoding='utf-8')
    told = 'robots/curiosity_2025.yaml: topics: this key stands twice'
    assert outcome(tmp_path).startswith(told)
    robot.rename(robot.with_suffix('.txt'))
    assert 'robots: holds no YAML files; the shipped ones are in' in outcome(robot.parent)
    for folder in (tmp_path / 'nothing', tmp_path / 'skills.yaml'):
        wanted = f'config_dir: {folder}: no such folder; the shipped one is {shipped_config_dir()}'
        assert outcome(folder) == wanted


WRONGED = {**SHIPPED, 'world_view': (shipped_config_dir() / 'world_view.yaml').read_text('utf-8')}


def key_paths(values: Any, path: tuple = ()) -> list[tuple]:
    """The path of each key and item below ``values``."""
    items = values.items() if isinstance(values, dict) else enumerate(values)
    paths = []
    for key, value in items:
        paths.append((*path, key))
        if isinstance(value, (dict, list)):
            paths += key_paths(value, (*path, key))
    return paths


KEYS = [(name, path) for name, text in WRONGED.items() for path in key_paths(yaml.safe_load(text))]
scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
scalars |= st.dates() | st.binary(max_size=5)
anything = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(scalars, inner, max_size=3),
    max_leaves=5,
)


@settings(max_examples=examples(40))
@given(st.sampled_from(KEYS), st.sampled_from(['replace', 'rename', 'remove']), anything)
def test_one_wrong_key_is_a_config_error_or_a_config(
    key: tuple[str, tuple], how: str, value: Any
) -> None:
    name, path = key
    values = yaml.safe_load(WRONGED[name])
    parent = values
    for part in path[:-1]:
        parent = parent[part]
    old = parent[path[-1]] if how == 'replace' else parent.pop(path[-1])
    if how == 'replace':
        parent[path[-1]] = value
    elif how == 'rename' and isinstance(parent, dict):
        parent[f'{path[-1]}_'] = copy.deepcopy(old)
    with tempfile.TemporaryDirectory() as tmp:
        text = yaml.safe_dump(values, allow_unicode=True)
        said = outcome(folder_with(Path(tmp), **{name: text}))
    assert re.match(r'valid$|[\w/]+\.yaml: ', said)
    assert '\n' not in said


# --- names --------------------------------------------------------------------------------------


@given(
    st.from_regex(r'\A(/?[A-Za-z0-9_]{1,4}){1,4}/?\Z')
    | st.text(max_size=10)
    | st.integers(1, 300).map(lambda length: 'a' * length)
)
def test_a_name_that_is_taken_is_one_that_ros_takes(name: str) -> None:
    try:
        TypeAdapter(Name).validate_python(name)
    except ValidationError:
        return
    validate_full_topic_name('/' + name.lstrip('/'))  # raises where ROS would


namespaces = st.from_regex(r'\A/?[a-z_][a-z0-9_]{0,5}(/[a-z_][a-z0-9_]{0,5})?/?\Z')
# The sections of topics.yaml whose names move with the rover; the other names are ours.
OF_THE_ROVER = re.compile(r'images\.input_|tf\.|rover\.|curiosity\.')


def names_by_key(topics: Topics) -> dict[str, str]:
    """Each text of topics.yaml that is a name, by its path."""
    data = topics.model_dump()
    found = {}
    for path in key_paths(data):
        value: Any = data
        for part in path:
            value = value[part]
        if isinstance(value, str) and value.startswith('/'):
            found['.'.join(path)] = value
    return found


@given(namespaces, namespaces)
@example('', '')
@example('/', '/')
def test_each_namespace_moves_its_own_names_and_no_others(own: str, rover: str) -> None:
    config = load_config(namespace=own, rover_namespace=rover)
    before, after = names_by_key(CONFIG.topics), names_by_key(config.topics)
    assert after.keys() == before.keys()
    for key, name in before.items():
        below = (rover if OF_THE_ROVER.match(key) else own).strip('/')
        assert after[key] == (f'/{below}{name}' if below else name), key
    navigation = f'/{rover.strip("/")}/navigate_to_pose'.replace('//', '/')
    assert config.agent.navigation.action == navigation
    if not own.strip('/') and not rover.strip('/'):
        assert config == CONFIG


def test_the_rviz_preset_agrees_with_the_contracts() -> None:
    topics = CONFIG.topics
    preset = yaml.safe_load((shipped_config_dir() / 'rviz.yaml').read_text(encoding='utf-8'))
    manager = preset['Visualization Manager']
    assert manager['Global Options']['Fixed Frame'] == topics.tf.world_frame.lstrip('/')
    shown = {each['Class'].split('/')[1]: each.get('Topic', {}) for each in manager['Displays']}
    assert shown['MarkerArray']['Value'] == topics.viz.marker_array
    assert shown['MarkerArray']['Durability Policy'] == 'Transient Local'
    assert shown['Image']['Value'] == topics.images.output_capture_compressed


# --- world views --------------------------------------------------------------------------------


def test_a_shipped_world_is_chosen_by_name_and_changed_key_by_key(tmp_path: Path) -> None:
    for name in WORLDS:
        folder = folder_with(tmp_path, agent=f'policy: {{world_view: {name}}}')
        assert load_config(folder).world == WORLDS[name]
    files = {path.stem for path in shipped_config_dir().glob('*.yaml')}
    assert files - set(CONFIG_FILES) - {'rviz'} == set(WORLD_FILES)
    shipped = WORLDS['world_view']
    text = (
        'activities: {sleep: {minutes: 30, needs: []}, nap: {says: sleeps, minutes: 20}}\n'
        'routine: [{activity: rest}]'
    )
    world = load_config(folder_with(tmp_path, agent='', world_view=text)).world
    assert world.activities['nap'].minutes == 20.0
    assert world.activities['sleep'].minutes == 30.0
    assert world.activities['sleep'].needs == []
    assert world.activities['sleep'].window == shipped.activities['sleep'].window
    assert world.activities.keys() - {'nap'} == shipped.activities.keys()
    assert [entry.activity for entry in world.routine] == ['rest']


def test_a_world_of_another_name_is_taken_whole(tmp_path: Path) -> None:
    agent = 'policy: {world_view: garden}'
    missing = outcome(folder_with(tmp_path, agent=agent))
    assert missing.startswith("agent.yaml: policy.world_view = 'garden': there is no ")
    world = load_config(folder_with(tmp_path, agent=agent, garden=GARDEN)).world
    assert list(world.activities) == ['bloom']
    text = GARDEN.replace('measured: false', 'measured: true').replace('{}', '{zone: base}')
    assert 'and one has none' in outcome(folder_with(tmp_path, agent=agent, garden=text))


@given(st.integers(0, 23), st.integers(0, 59))
def test_a_time_of_day_and_a_zone_are_read_and_what_is_none_refused(
    hour: int, minute: int
) -> None:
    assert minutes_of_day(f'{hour:02}:{minute:02}') == hour * 60 + minute
    zones = {'UTC': 0.0, 'UTC+08:00': 8.0, 'UTC-03:30': -3.5, 'Asia/Kathmandu': 5.75}
    for name, hours in zones.items():
        noon = datetime(2026, 1, 1, 12, tzinfo=time_zone(name))
        assert noon.utcoffset() == timedelta(hours=hours)
    for text in ('', '7:00', '24:00', '12:60', '12:00 ', '12.00', '１２:00', '-1:00'):
        with pytest.raises(ValueError, match='write HH:MM'):
            minutes_of_day(text)
    wrong = ('', 'UTC+8', 'UTC+15:00', 'UTC+08:60', 'UTC+08:00\n', 'Europe/Bonn', 'zone.tab')
    for name in (*wrong, '../etc/passwd', '/etc/hosts', '\0', '\ud800', 'a' * 5000):
        with pytest.raises(ValueError, match='write UTC, an offset such as'):
            time_zone(name)


ARM = yaml.safe_load((shipped_config_dir() / 'robots' / 'curiosity.yaml').read_text())


def folder_of(folder: Path, profile: object) -> Path:
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
    folder = folder_of(tmp_path_factory.mktemp('profile'), profile)
    config = load_config(folder)
    registry = make_registry(config)
    offered = {skill.definition.name for skill in registry.for_model()}
    for name, part in profile['appendages'].items():
        assert name in registry.get('move_forward').definition.resources_required
        for command, settings_ in part['commands'].items():
            assert command in offered
            assert registry.get(command).definition.resources_required == [name]
            assert config.tool_costs.of(command) == settings_['cost']
            assert config.appendage_service(command) == f'/adapter/{command}'
    moved = load_config(folder, namespace='r1', rover_namespace='rover')
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
    folder = folder_of(tmp_path, SECTIONS)
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
    config = load_config(folder_of(tmp_path, {'mast': False}))
    registry = make_registry(config)
    assert not MAST_SKILLS & {skill.name for skill in registry}
    with pytest.raises(UnknownSkill, match=r"'mast_open': this robot has no mast$"):
        registry.get('mast_open')
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
    (arm(commands={'Arm Open': STOW}), "appendages.arm.commands = 'Arm Open'"),
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
        folder = folder_of(tmp_path / str(number), profile)
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
