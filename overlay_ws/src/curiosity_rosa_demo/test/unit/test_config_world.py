# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""World views in YAML: what is refused and in which words, and what a user adds to the shipped."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
import re
from typing import Any

from curiosity_rosa_demo.infra.config.base import time_zone
from curiosity_rosa_demo.infra.config.world import minutes_of_day, WorldView
from curiosity_rosa_demo.infra.config_loader import (
    CONFIG_FILES,
    ConfigError,
    load_config,
    load_world,
    shipped_config_dir,
    WORLD_FILES,
)
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st
import pytest
import yaml

SHIPPED = {name: load_world(name, shipped_config_dir()) for name in WORLD_FILES}
NAP = '{says: sleeps a little, minutes: 20}'
GARDEN = """
says: a garden
measured: false
begins: {place: bed, energy: 1.0}
places: {bed: {}}
activities: {bloom: {says: blooms, minutes: 60}}
routine: [{activity: bloom, window: "06:00-08:00"}]
"""


def config_folder(folder: Path, **texts: str) -> Path:
    """A user's folder with everything as shipped but ``texts``, and without world views."""
    for name in CONFIG_FILES:
        text = (shipped_config_dir() / f'{name}.yaml').read_text(encoding='utf-8')
        (folder / f'{name}.yaml').write_text(text, encoding='utf-8')
    for name, text in texts.items():
        (folder / f'{name}.yaml').write_text(text, encoding='utf-8')
    return folder


@pytest.mark.parametrize(('agent', 'name'), [('', 'world_view'), ('companion',) * 2])
def test_a_shipped_world_is_chosen_by_name(tmp_path: Path, agent: str, name: str) -> None:
    text = f'policy: {{world_view: {agent}}}' if agent else ''
    assert load_config(config_folder(tmp_path, agent=text)).world == SHIPPED[name]


def test_every_shipped_world_can_be_chosen() -> None:
    files = {path.stem for path in shipped_config_dir().glob('*.yaml')}
    assert set(WORLD_FILES) <= files
    for name in files - set(CONFIG_FILES) - {'rviz'}:
        assert name in WORLD_FILES


def test_one_activity_is_added_to_the_shipped_ones(tmp_path: Path) -> None:
    config = load_config(config_folder(tmp_path, world_view=f'activities: {{nap: {NAP}}}'))
    added = dict(config.world.activities)
    assert added.pop('nap').minutes == 20.0
    assert config.world.model_copy(update={'activities': added}) == SHIPPED['world_view']


def test_one_key_of_an_activity_is_changed_and_lists_are_replaced(tmp_path: Path) -> None:
    text = 'activities: {sleep: {minutes: 30, needs: []}}\nroutine: [{activity: rest}]'
    world = load_config(config_folder(tmp_path, world_view=text)).world
    assert world.activities['sleep'].minutes == 30.0
    assert world.activities['sleep'].needs == []
    assert world.activities['sleep'].window == SHIPPED['world_view'].activities['sleep'].window
    assert [entry.activity for entry in world.routine] == ['rest']


def test_a_world_of_another_name_is_taken_whole(tmp_path: Path) -> None:
    folder = config_folder(tmp_path, agent='policy: {world_view: garden}', garden=GARDEN)
    world = load_config(folder).world
    assert list(world.activities) == ['bloom']
    assert world.devices == {}


def test_a_world_that_nobody_wrote_is_named_with_the_way_out(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as error:
        load_config(config_folder(tmp_path, agent='policy: {world_view: mars}'))
    assert str(error.value) == (
        f"{tmp_path}/agent.yaml: policy.world_view = 'mars': there is no {tmp_path}/mars.yaml; "
        'write it, or take world_view or companion or stationary'
    )


@pytest.mark.parametrize('name', ['../agent', 'World', '', 'a/b'])
def test_a_world_is_a_name_and_no_path(tmp_path: Path, name: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(f'policy.world_view = {name!r}')):
        load_config(config_folder(tmp_path, agent=f'policy: {{world_view: {name!r}}}'))


def activity(text: str) -> str:
    return f'activities: {{nap: {{says: x, minutes: 1, {text}}}}}'


KEYS_OF_AN_ACTIVITY = (
    'says, at, to, days, window, minutes, interruptible, needs, energy_per_h, energy_min, '
    'again_after_h, ends, does, asks, expects'
)
THOSE_OF_THE_ROVER = 'sleep, wake, go_to_work, survey, look_around, go_home, charge, rest, '
# Each: what is added to the rover's world, and the whole message without the file.
REFUSALS = [
    (
        f'activities: {{"a nap": {NAP}}}',
        "activities = 'a nap': not a name: small letters, digits and _, a letter first, at "
        'most 60',
    ),
    (f'activities: {{on: {NAP}}}', 'activities = True: must be text: write it in quotes'),
    (activity('window: 22:00'), 'activities.nap.window = 1320: must be text: write it in quotes'),
    (
        activity('window: "22:00"'),
        'activities.nap.window = \'22:00\': not a window; write "07:20-07:40", or "" for any time',
    ),
    (
        activity('window: "22:00-24:00"'),
        "activities.nap.window = '22:00-24:00': '24:00' is not a time of day; write HH:MM, "
        'such as 07:20',
    ),
    (
        activity('window: "07:00-07:00"'),
        'activities.nap.window = \'07:00-07:00\': a window that is empty; write "" for any time',
    ),
    (
        activity('windw: ""'),
        f"activities.nap.windw = '': unknown key; allowed here: {KEYS_OF_AN_ACTIVITY}",
    ),
    (
        activity('at: [mars]'),
        "activities.nap.at = 'mars': no such one; there are base, bright_zone, field",
    ),
    (
        f'places: {{base: {{leads_to: [field]}}}}\n{activity("to: bright_zone")}',
        "activities.go_to_work.to = 'bright_zone': no way leads there from base: name it "
        'in its leads_to',
    ),
    (
        activity('at: [base], to: base'),
        "activities.nap.to = 'base': it begins there: leave it out",
    ),
    (
        activity('ends: [dream]'),
        f"activities.nap.ends = 'dream': no such one; there are {THOSE_OF_THE_ROVER}"
        'read_message, nap',
    ),
    (
        activity('needs: [wheels.fly]'),
        "activities.nap.needs = 'wheels.fly': no such ability; there are wheels.drive, "
        'mast.move, camera.look, battery.charge',
    ),
    (
        'activities: {nap: {says: x}}',
        'activities.nap.minutes = 0.0: must be above 0 for an activity without does and '
        'without asks',
    ),
    (
        activity('asks: look around, does: [{skill: charge}]'),
        "activities.nap.asks = 'look around': steps (does) or words for the model (asks), "
        'not both',
    ),
    (
        'routine: [{activity: rest}, {activity: dance}]',
        f"routine.1.activity = 'dance': no such one; there are {THOSE_OF_THE_ROVER}read_message",
    ),
    (
        'emergencies: [{event: external.message, activity: dance}]',
        "emergencies.0.activity = 'dance': no such one; there are "
        f'{THOSE_OF_THE_ROVER}read_message',
    ),
    (
        'begins: {place: mars}',
        "begins.place = 'mars': no such one; there are base, bright_zone, field",
    ),
    (
        'places: {hill: {}}',
        "places = {'base': 'base', 'bright_zone': 'bright', 'field': '', 'hill': ''}: of a "
        'measured world each has a zone of its own, and one has none',
    ),
]


@pytest.mark.parametrize(('text', 'wanted'), REFUSALS)
def test_what_is_wrong_is_named_with_file_key_value_and_what_is_allowed(
    tmp_path: Path, text: str, wanted: str
) -> None:
    with pytest.raises(ConfigError) as error:
        load_config(config_folder(tmp_path, world_view=text))
    assert str(error.value) == f'{tmp_path}/world_view.yaml: {wanted}'


def test_a_measured_world_needs_a_place_for_everywhere_else(tmp_path: Path) -> None:
    text = GARDEN.replace('measured: false', 'measured: true').replace('{}', '{zone: base}')
    (tmp_path / 'garden.yaml').write_text(text, encoding='utf-8')
    with pytest.raises(ConfigError, match='and one has none'):
        load_world('garden', tmp_path)


junk = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=4,
)


@given(st.data())
@settings(deadline=None, max_examples=examples(100))
def test_whatever_stands_in_it_a_world_is_valid_or_the_error_names_file_and_key(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp('world')
    values: dict[str, Any] = yaml.safe_load(GARDEN)
    parent, key = values, data.draw(st.sampled_from(sorted(values)))
    while isinstance(parent[key], dict) and parent[key] and data.draw(st.booleans()):
        parent = parent[key]
        key = data.draw(st.sampled_from(sorted(parent)))
    parent[key] = data.draw(junk)
    (folder / 'garden.yaml').write_text(yaml.safe_dump(values), encoding='utf-8')
    try:
        world, refusal = load_world('garden', folder), ''
    except ConfigError as error:
        world, refusal = None, str(error)
    keys = '|'.join(WorldView.model_fields)
    assert world or re.match(rf'{folder}/garden.yaml: ({keys})\b[^\n]+: [^\n]+$', refusal), refusal
    assert world is None or WorldView.model_validate(world.model_dump()) == world


@given(st.integers(0, 23), st.integers(0, 59))
def test_a_time_of_day_is_read_back(hour: int, minute: int) -> None:
    assert minutes_of_day(f'{hour:02}:{minute:02}') == hour * 60 + minute


@pytest.mark.parametrize(
    'text', ['', '7:00', '24:00', '12:60', '12:00 ', '12.00', '１２:00', '-1:00']
)
def test_what_is_no_time_of_day_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match='write HH:MM'):
        minutes_of_day(text)


@pytest.mark.parametrize(
    ('name', 'hours'),
    [('UTC', 0.0), ('UTC+08:00', 8.0), ('UTC-03:30', -3.5), ('Asia/Kathmandu', 5.75)],
)
def test_a_time_zone_is_an_offset_or_a_name(name: str, hours: float) -> None:
    noon = datetime(2026, 1, 1, 12, tzinfo=time_zone(name))
    assert noon.utcoffset() == timedelta(hours=hours)


@pytest.mark.parametrize(
    'name',
    ['', 'UTC+8', 'UTC+15:00', 'UTC+08:60', 'Europe', 'Europe/Bonn', '../etc/passwd', '/etc/hosts',
     'zone.tab', '\0', '\ud800', 'a' * 5000, 'UTC+08:00\n'],
)  # fmt: skip
def test_what_is_no_time_zone_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match='write UTC, an offset such as'):
        time_zone(name)


def test_a_wrong_time_zone_is_named_with_its_key(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as error:
        load_config(config_folder(tmp_path, agent='policy: {timezone: Mars/Gale}'))
    assert str(error.value) == (
        f"{tmp_path}/agent.yaml: policy.timezone = 'Mars/Gale': not a time zone; write UTC, an "
        'offset such as UTC+08:00, or a name such as Europe/Berlin'
    )
