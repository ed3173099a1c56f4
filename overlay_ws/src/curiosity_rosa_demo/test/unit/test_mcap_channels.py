# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What is recorded: its definitions, how much of it, and the Foxglove layout that shows it."""

from __future__ import annotations

from itertools import pairwise
import json
import math
from pathlib import Path
from typing import Any

from curiosity_rosa_demo.infra.config_loader import shipped_config_dir
from curiosity_rosa_demo.recording.mcap.channels import (
    ChannelRates,
    definition,
    message_class,
    NoDefinition,
    PICTURE,
    RAW_PICTURE,
    recorded_source,
    sources,
)
from curiosity_rosa_demo.recording.mcap.reader import Decoder, RunReader
from curiosity_rosa_demo.recording.throttle import Throttle
from hypothesis import given
from hypothesis import strategies as st
from mcap_world import channels, CONFIG, write_run
import pytest
from rclpy.serialization import serialize_message

LAYOUT = shipped_config_dir() / 'foxglove_layout.json'


def fields(message: Any) -> Any:
    """Slots of a ROS message, or of one that the file's own definition made, as plain values."""
    if hasattr(message, 'get_fields_and_field_types'):
        names: Any = message.get_fields_and_field_types()
    elif hasattr(message, '__slots__'):
        names = message.__slots__
    elif isinstance(message, (str, bool, int, float)):
        return message
    else:
        return [fields(each) for each in message]
    return {name: fields(getattr(message, name)) for name in names if name[0] != '_'}


@pytest.mark.parametrize('role', sorted(set(channels()) - {'calls'}))
def test_each_message_is_read_by_the_definition_in_the_file(tmp_path: Path, role: str) -> None:
    message = message_class(channels()[role].type)()
    if hasattr(message, 'header'):
        message.header.frame_id, message.header.stamp.sec = 'odom', 12
    data = bytes(serialize_message(message))
    (entry,) = RunReader(write_run(tmp_path / 'run.mcap', [(role, 0.0, data)]))
    read, sent = fields(Decoder().decode(entry)), fields(message)
    assert str(read) == str(sent)  # NaN is equal to itself in print


def test_a_message_that_is_not_installed_is_named() -> None:
    with pytest.raises(NoDefinition, match='no_such_msgs/msg/Thing'):
        definition('no_such_msgs/msg/Thing')
    with pytest.raises(NoDefinition, match='std_msgs/msg/Thing'):
        definition('std_msgs/msg/Thing')


def test_a_raw_camera_is_kept_as_jpeg() -> None:
    images = CONFIG.topics.images.model_copy(update={'input': 'raw'})
    topics = CONFIG.topics.model_copy(update={'images': images})
    (camera,) = (each for each in sources(topics, ChannelRates()) if each.role == 'camera')
    assert (camera.topic, camera.type) == ('/image_raw', RAW_PICTURE)
    assert (recorded_source(camera).topic, recorded_source(camera).type) == (
        '/image_raw/compressed',
        PICTURE,
    )


def test_a_recording_hears_its_own_rover_alone_and_no_command() -> None:
    topics = CONFIG.topics.in_namespace('ours', rover='mars')
    recorded = {each.topic for each in sources(topics, ChannelRates())}
    assert [name for name in recorded if not name.startswith(('/ours/', '/mars/'))] == []
    assert {'/mars/tf', '/mars/tf_static', '/ours/trace/events'} <= recorded
    assert {topics.trace.events, topics.status.adapter, topics.rover.odometry} <= recorded
    assert topics.rover.cmd_vel not in recorded


@given(st.lists(st.floats(0.0, 10.0), max_size=60).map(sorted), st.floats(0.2, 20.0))
def test_of_many_messages_few_are_kept_and_the_last_one_always(
    times: list[float], hz: float
) -> None:
    thinning = Throttle[float](hz)
    passed: list[tuple[float, float]] = []  # when it passed, and which
    for now in times:
        for each in (thinning.take_due(now), thinning.accept(now, now)):
            if each is not None:
                passed.append((now, each))
    end = (times[-1] if times else 0.0) + 2.0 / hz
    last = thinning.take_due(end)
    if last is not None:
        passed.append((end, last))
    assert [which for _, which in passed][-1:] == times[-1:]
    gaps = [b - a for (a, _), (b, _) in pairwise(passed)]
    assert all(gap >= 1.0 / hz - 1e-9 for gap in gaps)
    assert thinning.take_due(math.inf) is None


def test_the_foxglove_layout_shows_only_what_is_recorded() -> None:
    layout = json.loads(LAYOUT.read_text(encoding='utf-8'))
    assert {'configById', 'layout', 'globalVariables', 'userNodes', 'playbackConfig'} <= set(
        layout
    )
    panels = layout['configById']
    kinds = {panel.partition('!')[0] for panel in panels}
    assert {'3D', 'Image', 'RawMessages', 'Plot'} <= kinds
    placed = set(_leaves(layout['layout']))
    for panel in panels.values():
        for tab in panel.get('tabs', []):
            placed |= set(_leaves(tab['layout']))
    assert placed == set(panels)

    recorded = {channel.topic for channel in channels().values()}
    shown = set(_topics(panels))
    assert {'/trace/events', '/battery_state', '/visualization_marker_array'} <= shown
    assert shown <= recorded


def _leaves(layout: Any) -> list[str]:
    if isinstance(layout, str):
        return [layout]
    return [*_leaves(layout['first']), *_leaves(layout['second'])]


def _topics(panels: Any) -> list[str]:
    found: list[str] = []
    for name, panel in panels.items():
        kind = name.partition('!')[0]
        if kind == '3D':
            found += panel['topics']
        elif kind == 'Image':
            found.append(panel['imageMode']['imageTopic'])
        elif kind == 'RawMessages':
            found.append(panel['topicPath'].partition('.')[0])
        elif kind == 'Plot':
            found += [path['value'].partition('.')[0] for path in panel['paths']]
    return found
