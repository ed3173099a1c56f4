# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

from __future__ import annotations

import copy
from pathlib import Path
import re
import shutil
import tempfile
from typing import Any

from curiosity_rosa_demo.infra.config.agent import DEMO
from curiosity_rosa_demo.infra.config.base import Name
from curiosity_rosa_demo.infra.config.topics import Config, Topics
from curiosity_rosa_demo.infra.config_loader import (
    CONFIG_FILES,
    ConfigError,
    load_config,
    shipped_config_dir,
)
from curiosity_rosa_demo.infra.yaml_file import parse_yaml
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


def folder_with(folder: Path, **texts: str) -> Path:
    for name, text in {**SHIPPED, **texts}.items():
        (folder / f'{name}.yaml').write_text(text, encoding='utf-8')
    return folder


def refusal(folder: Path, **texts: str) -> str:
    """The error that these files cause, without the folder."""
    with pytest.raises(ConfigError) as error:
        load_config(folder_with(folder, **texts))
    return str(error.value).replace(f'{folder}/', '')


def test_the_shipped_files_are_valid_and_the_default() -> None:
    assert load_config() == load_config('') == load_config(shipped_config_dir())
    assert load_config().thresholds.light_model.x_good == 5.0


def test_a_missing_key_takes_the_shipped_value(tmp_path: Path) -> None:
    shipped = load_config()
    config = load_config(folder_with(tmp_path, **dict.fromkeys(CONFIG_FILES, '')))
    assert config == shipped
    config = load_config(folder_with(tmp_path, thresholds='viz: {trace_lines: 3}\nmotion:\n'))
    assert config.thresholds.viz.trace_lines == 3
    assert config.thresholds.viz.trail_points == shipped.thresholds.viz.trail_points
    assert config.thresholds.motion == shipped.thresholds.motion


@pytest.mark.parametrize(
    ('own', 'texts'),
    [
        ('text: go', ('go', 'go', 'go')),
        ('{text: go, translations: {ja: 行け}}', ('go', '行け', 'go')),
        ('translations: {zh: 去}', ('Analyze the ground texture', None, '去')),
        ('label: mine', ('Analyze the ground texture', None, None)),
    ],
)
def test_an_own_text_goes_before_the_shipped_translations(
    own: str, texts: tuple[str | None, ...], tmp_path: Path
) -> None:
    text = f'templates:\n  demo_ground_texture:\n    {own}\n'
    demo = load_config(folder_with(tmp_path, prompts=text)).prompts.templates[DEMO]
    shipped = load_config().prompts.templates[DEMO]
    for language, wanted in zip(('en', 'ja', 'zh'), texts, strict=True):
        assert demo.text_in(language) == (wanted or shipped.text_in(language))
    assert demo.expects == 'good_capture'


def test_a_whole_number_will_do_for_a_fraction(tmp_path: Path) -> None:
    x_good = load_config(folder_with(tmp_path, thresholds='light_model: {x_good: 7}'))
    assert repr(x_good.thresholds.light_model.x_good) == '7.0'


# The file, its text, and the message.
REFUSALS = [
    ('thresholds', 'tf: {max_age: 2.0}', 'tf.max_age = 2.0: unknown key; allowed here: max_age_s'),
    (
        'nodes',
        'nodes: [{name: a, package: b, executable: c, when: "", args: 1}]',
        'nodes.0.args = 1: unknown key; allowed here: name, package, executable, when',
    ),
    (
        'prompts',
        'templates: {mine: {label: a, text: b, txt: c}}',
        "templates.mine.txt = 'c': unknown key; allowed here: label, text, expects",
    ),
    (
        'prompts',
        'templates: {My-own: {label: a, text: b}}',
        "templates = 'My-own': String should match pattern",
    ),
    ('prompts', 'templates: {mine: {label: a}}', 'templates.mine.text: Field required'),
    (
        'thresholds',
        'quality: {score_threshold: "0.8"}',
        "quality.score_threshold = '0.8': Input should be a valid number",
    ),
    (
        'thresholds',
        'quality: {score_threshold: true}',
        'quality.score_threshold = True: Input should be a valid number',
    ),
    (
        'thresholds',
        'trace: {buffer_size: 2.5}',
        'trace.buffer_size = 2.5: Input should be a valid integer',
    ),
    ('thresholds', 'quality: 0.8', 'quality = 0.8: must be keys with values: score_threshold'),
    (
        'thresholds',
        'capture: {jpeg_quality: 101}',
        'capture.jpeg_quality = 101: Input should be less than or equal to 100',
    ),
    ('thresholds', 'tf: {max_age_s: .nan}', 'tf.max_age_s = nan: '),
    (
        'topics',
        'trace: {events: /trace/1st}',
        "trace.events = '/trace/1st': not a ROS name: letters, digits and _, not a digit "
        'first, parts joined by /, at most 200 characters, e.g. /capture/image',
    ),
    (
        'topics',
        'tf: {world_frame: /}',
        "tf.world_frame = '/': not a frame name: no spaces, not empty, e.g. base_footprint",
    ),
    (
        'topics',
        'adapter: {move_stop: {type: std_srvs/srv/Empty}}',
        "adapter.move_stop.type = 'std_srvs/srv/Empty': Input should be 'std_srvs/srv/Trigger'",
    ),
    (
        'thresholds',
        'light_model: {x_min: 5.0}',
        'light_model.x_good = 5.0: must be greater than x_min (5.0)',
    ),
    (
        'thresholds',
        'telemetry: {obstacle_stop_m: 3.0}',
        'obstacles.clear_m = 2.3: must be greater than telemetry.obstacle_stop_m (3.0)',
    ),
    (
        'thresholds',
        'obstacles: {parts: {boom: {x_min: 1.0, x_max: 1.0, y_min: 0.0, y_max: 1.0, '
        'height_m: 1.0}}}',
        'obstacles.parts.boom.x_max = 1.0: must be greater than x_min (1.0)',
    ),
    ('agent', 'llm: {provider: openai}', "llm.model = '': must be set when provider is 'openai'"),
    (
        'agent',
        'turn: {max_motion_s: 30.0}',
        'turn.max_motion_s = 30.0: must be below motion.max_duration_s (30.0) of thresholds.yaml',
    ),
    (
        'skills',
        'skills: {move_forward: {cancel_supported: false}}',
        'skills.move_forward.cancel_supported = False: must be true for a skill that '
        'requires base, since a pause has to stop a motion; set it to true, or ',
    ),
    (
        'skills',
        'skills: {wait_until: {cancel_supported: false}}',
        'skills.wait_until.cancel_supported = False: must be true for a skill that drives '
        'or lasts until it is cancelled; set it to true',
    ),
    ('agent', '7: 8', '7'),
    ('agent', 'llm: [', 'not YAML: '),
    ('agent', 'llm: {model: 2026-13-01}', 'not YAML: month'),
    ('agent', '[' * 5000, 'not YAML: '),
    ('agent', '!!python/object/apply:os.system [id]', 'not YAML: '),
    ('agent', '[1, 2]', '= [1, 2]: must be keys with values'),
    ('agent', 'llm: {model: &a [*a]}', 'llm.model = '),
    ('agent', f'llm: {{timeout_s: 0x{"f" * 5000}}}', 'llm.timeout_s = a int too large to show: '),
]


@pytest.mark.parametrize(('name', 'text', 'message'), REFUSALS, ids=lambda it: it[:40])
def test_a_refusal_names_file_key_value_and_what_is_allowed(
    tmp_path: Path, name: str, text: str, message: str
) -> None:
    said = refusal(tmp_path, **{name: text})
    assert said.startswith(f'{name}.yaml: {message}')
    assert len(said) < 400
    assert '\n' not in said


def test_a_missing_file_takes_the_shipped_values(tmp_path: Path) -> None:
    (tmp_path / 'thresholds.yaml').write_text('quality: {score_threshold: 0.5}', encoding='utf-8')
    for name in ('topics', 'tool_costs', 'prompts', 'rviz'):  # with it, the files of the design
        shutil.copy(shipped_config_dir() / f'{name}.yaml', tmp_path)
    config, shipped = load_config(tmp_path), load_config()
    assert config.thresholds.quality.score_threshold == 0.5
    thresholds = config.thresholds.model_copy(update={'quality': shipped.thresholds.quality})
    assert config.model_copy(update={'thresholds': thresholds}) == shipped


@pytest.mark.parametrize('name', ['guardrail.yaml', 'guardrails.yml', 'guard_rails.yaml'])
def test_a_misnamed_file_does_not_select_the_shipped_values(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text('geofence: {x_max: 3.0}', encoding='utf-8')
    wanted = f'{tmp_path}/{name}: nobody reads this file; rename it to guardrails.yaml'
    with pytest.raises(ConfigError, match=f'^{re.escape(wanted)}$'):
        load_config(tmp_path)
    (tmp_path / 'guardrails.yaml').touch()
    assert load_config(tmp_path) == load_config()


def test_a_link_to_nothing_does_not_select_the_shipped_values(tmp_path: Path) -> None:
    (tmp_path / 'agent.yaml').symlink_to('elsewhere')
    with pytest.raises(ConfigError, match=r'agent\.yaml: no such file$'):
        load_config(tmp_path)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    folder_with(tmp_path)
    (tmp_path / 'agent.yaml').write_bytes(b'llm: \xff\xfe')
    with pytest.raises(ConfigError, match=r'agent\.yaml: cannot be read: .*utf-8'):
        load_config(tmp_path)
    (tmp_path / 'agent.yaml').unlink()
    (tmp_path / 'agent.yaml').mkdir()
    with pytest.raises(ConfigError, match=r'agent\.yaml: cannot be read: .*directory'):
        load_config(tmp_path)


def test_a_wrong_folder_says_which_one_ships(tmp_path: Path) -> None:
    (tmp_path / 'file').touch()
    for folder in (tmp_path / 'nothing', tmp_path / 'file'):
        wanted = f'config_dir: {folder}: no such folder; the shipped one is {shipped_config_dir()}'
        with pytest.raises(ConfigError, match=f'^{re.escape(wanted)}$'):
            load_config(folder)
    (tmp_path / 'empty').mkdir()
    with pytest.raises(ConfigError, match=r'empty: holds no YAML files; the shipped ones are in'):
        load_config(tmp_path / 'empty')


def key_paths(values: Any, path: tuple = ()) -> list[tuple]:
    """The path of each key and item below ``values``."""
    items = values.items() if isinstance(values, dict) else enumerate(values)
    paths = []
    for key, value in items:
        paths.append((*path, key))
        if isinstance(value, (dict, list)):
            paths += key_paths(value, (*path, key))
    return paths


# The path below config_dir, its text, and the key and lines of the message.
REPEATED = [
    ('skills.yaml', 'skills:\n  react: {}\n  look: {}\n  react: {}\n', 'skills.react', (2, 4)),
    ('skills.yaml', 'error_map: {A: RETRY, "A": ABORT}', 'error_map.A', (1, 1)),
    ('nodes.yaml', 'robot: curiosity\nnodes: []\nrobot: scout\n', 'robot', (1, 3)),
    ('triggers.yaml', 'triggers:\n- name: a\n  name: b\n', 'triggers.0.name', (2, 3)),
    ('robots/curiosity_2025.yaml', 'topics:\n\ntopics:\n', 'topics', (1, 3)),
    ('world_view.yaml', 'says: a\nplaces: {}\nsays: b\n', 'says', (1, 3)),
]


@pytest.mark.parametrize(('name', 'text', 'key', 'lines'), REPEATED)
def test_a_repeated_key_is_refused_with_file_key_and_lines(
    name: str, text: str, key: str, lines: tuple[int, int], tmp_path: Path
) -> None:
    file = folder_with(tmp_path) / name
    file.parent.mkdir(exist_ok=True)
    file.write_text(text, encoding='utf-8')
    with pytest.raises(ConfigError) as error:
        load_config(tmp_path)
    wanted = f'{file}: {key}: this key stands twice, in lines {lines[0]} and {lines[1]}'
    assert str(error.value) == wanted


def test_an_alias_and_a_merge_repeat_no_key() -> None:
    text = 'a: &a {x: 1, y: 2}\nb: {<<: *a, x: 3}\nc: [*a, *a]\n'
    assert parse_yaml(text)['b'] == {'x': 3, 'y': 2}


KEYS = [(name, path) for name in CONFIG_FILES for path in key_paths(yaml.safe_load(SHIPPED[name]))]
scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=20)
    | st.dates()
    | st.binary(max_size=5)
)
anything = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(scalars, inner, max_size=3),
    max_leaves=5,
)


def outcome(folder: Path) -> str:
    """What the loader says of these files."""
    try:
        config = load_config(folder)
    except ConfigError as error:
        return str(error)
    return 'valid' if isinstance(config, Config) else repr(config)


@settings(max_examples=examples(40))
@given(st.sampled_from(KEYS), st.sampled_from(['replace', 'rename', 'remove']), anything)
def test_one_wrong_key_is_a_config_error_or_a_config(
    key: tuple[str, tuple], how: str, value: Any
) -> None:
    name, path = key
    values = yaml.safe_load(SHIPPED[name])
    parent = values
    for part in path[:-1]:
        parent = parent[part]
    old = parent[path[-1]] if how == 'replace' else parent.pop(path[-1])
    if how == 'replace':
        parent[path[-1]] = value
    elif how == 'rename' and isinstance(parent, dict):
        parent[f'{path[-1]}_'] = copy.deepcopy(old)
    with tempfile.TemporaryDirectory() as tmp:
        folder = folder_with(Path(tmp), **{name: yaml.safe_dump(values, allow_unicode=True)})
        said = outcome(folder)
    assert said.startswith((f'{folder}/', 'valid'))
    assert '\n' not in said


@given(st.sampled_from(sorted(CONFIG_FILES)), st.text(max_size=80))
def test_any_text_is_a_config_error_or_a_config(name: str, text: str) -> None:
    with tempfile.TemporaryDirectory() as tmp:
        folder = folder_with(Path(tmp), **{name: text.encode('utf-8', 'replace').decode()})
        assert outcome(folder).startswith((f'{folder}/{name}.yaml: ', 'valid'))


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


def names_by_key(topics: Topics) -> dict[str, str]:
    """Each text of topics.yaml that may be a name, by its path."""
    data = topics.model_dump()
    found = {}
    for path in key_paths(data):
        value: Any = data
        for part in path:
            value = value[part]
        if isinstance(value, str):
            found['.'.join(path)] = value
    return found


@given(namespaces, namespaces)
@example('', '')
@example('/', '/')
def test_each_namespace_moves_its_own_names_and_no_others(own: str, rover: str) -> None:
    before = CONFIG.topics
    of_ours = {
        'images.output_capture_compressed',
        'images.output_analysis_compressed',
        'trace.events',
        'viz.marker_array',
        'status.adapter',
        'status.adapter_inputs',
        'status.kernel',
        'status.diagnostics',
        'status.replay',
        'agent.run_task',
        'agent.speech',
        'agent.messages',
        'monitor.verdicts',
        'monitor.signals',
        'services.capture_and_score.name',
        'services.analyze_ground.name',
        *(f'adapter.{name}.name' for name in type(before.adapter).model_fields),
    }
    of_the_rover = {
        'images.input_compressed',
        'images.input_raw',
        'images.input_camera_info',
        'tf.topic',
        'tf.static_topic',
        *(f'rover.{name}' for name in type(before.rover).model_fields),
        *(f'curiosity.{name}.name' for name in type(before.curiosity).model_fields),
    }
    config = CONFIG.in_namespace(own, rover=rover)
    after = names_by_key(config.topics)
    for key, name in names_by_key(before).items():
        below = own if key in of_ours else rover if key in of_the_rover else ''
        below = below.strip('/')
        assert after[key] == (f'/{below}{name}' if below else name), key
    navigation = f'/{rover.strip("/")}/navigate_to_pose'.replace('//', '/')
    assert config.agent.navigation.action == navigation
    slashed = {key for key, name in after.items() if name.startswith('/')}
    assert slashed == of_ours | of_the_rover
    if not own.strip('/') and not rover.strip('/'):
        assert config == CONFIG


def test_the_rviz_preset_agrees_with_the_contracts() -> None:
    topics = load_config().topics
    preset = yaml.safe_load((shipped_config_dir() / 'rviz.yaml').read_text(encoding='utf-8'))
    manager = preset['Visualization Manager']
    assert manager['Global Options']['Fixed Frame'] == topics.tf.world_frame.lstrip('/')
    displays = {each['Class'].split('/')[1]: each for each in manager['Displays']}
    assert {'Grid', 'TF', 'MarkerArray', 'Image', 'LaserScan', 'RobotModel'} == set(displays)
    assert [name for name, each in displays.items() if not each['Enabled']] == ['RobotModel']

    markers = displays['MarkerArray']['Topic']
    assert markers['Value'] == topics.viz.marker_array
    assert markers['Durability Policy'] == 'Transient Local'
    assert markers['Reliability Policy'] == 'Reliable'
    # RViz takes the transport from the topic's last part.
    assert displays['Image']['Topic']['Value'] == topics.images.output_capture_compressed
    assert topics.images.output_capture_compressed.endswith('/compressed')
    assert displays['LaserScan']['Topic']['Value'] == '/scan'
