# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The YAML configuration: what it takes, and in which words it refuses the rest."""

from __future__ import annotations

import copy
from datetime import datetime, timedelta
from pathlib import Path
import re
import tempfile
from typing import Any

from curiosity_rosa_demo.infra.config.agent import DEMO
from curiosity_rosa_demo.infra.config.base import Name, time_zone
from curiosity_rosa_demo.infra.config.topics import Config, Topics
from curiosity_rosa_demo.infra.config.world import minutes_of_day
from curiosity_rosa_demo.infra.config_loader import (
    CONFIG_FILES,
    ConfigError,
    load_config,
    load_world,
    shipped_config_dir,
    WORLD_FILES,
)
from examples import examples
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError
import pytest
from rclpy.validate_full_topic_name import validate_full_topic_name
import yaml

SHIPPED = {
    name: (shipped_config_dir() / f'{name}.yaml').read_text(encoding='utf-8')
    for name in CONFIG_FILES
}
CONFIG = load_config()
WORLDS = {name: load_world(name, shipped_config_dir()) for name in WORLD_FILES}
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
    viz = CONFIG.thresholds.viz.model_copy(update={'trace_lines': 3})
    light = CONFIG.thresholds.light_model.model_copy(update={'x_good': 7.0})
    changed = CONFIG.thresholds.model_copy(update={'viz': viz, 'light_model': light})
    assert config == CONFIG.model_copy(update={'thresholds': changed})
    assert repr(config.thresholds.light_model.x_good) == '7.0'
    (tmp_path / 'guard_rails.yaml').touch()
    told = 'guard_rails.yaml: nobody reads this file; rename it to guardrails.yaml'
    assert outcome(tmp_path) == told


def test_an_own_text_goes_before_the_shipped_translations(tmp_path: Path) -> None:
    rows: dict[str, tuple[str | None, ...]] = {
        'text: go': ('go', 'go', 'go'),
        '{text: go, translations: {ja: 行け}}': ('go', '行け', 'go'),
        'translations: {zh: 去}': (None, None, '去'),
        'label: mine': (None, None, None),
    }
    shipped = CONFIG.prompts.templates[DEMO]
    for own, texts in rows.items():
        text = f'templates:\n  demo_ground_texture:\n    {own}\n'
        demo = load_config(folder_with(tmp_path, prompts=text)).prompts.templates[DEMO]
        for language, wanted in zip(('en', 'ja', 'zh'), texts, strict=True):
            assert demo.text_in(language) == (wanted or shipped.text_in(language))


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
    ('thresholds', 'light_model: {x_min: 5.0}', 'light_model.x_good = 5.0: must be greater than'),
    ('thresholds', 'telemetry: {obstacle_stop_m: 3.0}', 'clear_m = 2.3: must be greater than te'),
    ('thresholds', f'obstacles: {{parts: {{boom: {{{BOOM}}}}}}}', 'x_max = 1.0: must be greater'),
    ('agent', 'llm: {provider: openai}', "llm.model = '': must be set when provider is 'openai'"),
    ('agent', 'turn: {max_motion_s: 30.0}', 'max_motion_s = 30.0: must be below motion.max_durat'),
    (
        'skills',
        'skills: {move_forward: {cancel_supported: false}}',
        '= False: must be true for a',
    ),
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
    (activity('needs: [a.b]'), "nap.needs = 'a.b': no such ability; there are wheels"),
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
    assert outcome(tmp_path).endswith('agent.yaml: no such file')
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
    before, config = names_by_key(CONFIG.topics), CONFIG.in_namespace(own, rover=rover)
    after = names_by_key(config.topics)
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
