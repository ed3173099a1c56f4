# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What a replay says of what was recorded: it is of now, and it cannot be taken for the rover."""

from __future__ import annotations

from contextlib import suppress
import json
from typing import Any

from builtin_interfaces.msg import Time
from curiosity_rosa_demo.domain.models import TraceEvent
from curiosity_rosa_demo.infra.ros.serialized import UnreadableMessage
from curiosity_rosa_demo.recording.mcap.channels import STRING, TF
from curiosity_rosa_demo.recording.replay.main import (
    MAX_STATUS_CHARS,
    parse_arguments,
    playing_text,
)
from curiosity_rosa_demo.recording.replay.messages import replay_message, REPLAY_PREFIX
from curiosity_rosa_demo.trace.events import NodeStarted
from curiosity_rosa_demo.trace.trace_codec import decode, encode, MAX_EVENT_BYTES, new_event
from geometry_msgs.msg import TransformStamped
from hypothesis import given
from hypothesis import strategies as st
from mcap_world import a_string, an_event
import pytest
from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import LaserScan
from std_msgs.msg import Header, String
from strategies import events
from tf2_msgs.msg import TFMessage
from visualization_msgs.msg import Marker, MarkerArray

NOW_NS = 1_900_000_000_123_456_789
NOW = Time(sec=1_900_000_000, nanosec=123_456_789)


def replayed(role: str, type_name: str, message: Any, *, turn: int = 1) -> Any:
    data = replay_message(role, type_name, serialize_message(message), now_ns=NOW_NS, turn=turn)
    assert data is not None
    return deserialize_message(data, type(message))


def trace_text(event: TraceEvent, turn: int = 1) -> str:
    data = replay_message('trace', STRING, an_event(event), now_ns=NOW_NS, turn=turn)
    assert data is not None
    return str(deserialize_message(data, String).data)


@given(events.filter(lambda event: (event.data or {}).get('started') is not True))
def test_an_event_says_that_it_is_replayed_and_when_it_was(event: TraceEvent) -> None:
    text = trace_text(event)
    assert len(text.encode()) <= MAX_EVENT_BYTES
    again, was = decode(text), decode(encode(event))  # what was recorded
    assert again.message.startswith(REPLAY_PREFIX)
    assert again.ts == pytest.approx(NOW_NS * 1e-9)
    assert (again.kind, again.tool_name, again.ok, again.score) == (
        was.kind,
        was.tool_name,
        was.ok,
        was.score,
    )
    assert again.data is not None
    assert again.data['replay'] is True
    # In a loop each is a new one.
    ids = {decode(trace_text(event, turn)).event_id for turn in range(3)}
    assert len(ids - {event.event_id}) == 3
    if 'dropped' not in again.data:
        assert again.message == REPLAY_PREFIX + was.message
        assert again.data['recorded_ts'] == was.ts
        assert again.data['recorded_id'] == was.event_id


def test_the_start_of_a_node_is_no_event_of_a_replay() -> None:
    event = an_event(new_event(**NodeStarted('adapter').trace_fields('adapter started')))
    assert replay_message('trace', STRING, event, now_ns=NOW_NS, turn=1) is None


@pytest.mark.parametrize('text', ['{"moving": true, "mast": "open"}', 'nothing', '[1]', '{"a":'])
def test_a_status_says_that_it_is_replayed(text: str) -> None:
    status = json.loads(replayed('adapter', STRING, String(data=text)).data)
    assert status['replay'] is True
    if text.endswith('}'):
        assert (status['moving'], status['mast']) == (True, 'open')


def test_whatever_has_a_stamp_is_of_now() -> None:
    old = Header(frame_id='/odom', stamp=Time(sec=3))
    scan = replayed('scan', 'sensor_msgs/msg/LaserScan', LaserScan(header=old, ranges=[1.0, 2.0]))
    assert (scan.header.stamp, scan.header.frame_id, list(scan.ranges)) == (NOW, '/odom', [1, 2])
    links = [TransformStamped(header=old, child_frame_id=child) for child in 'ab']
    tf = replayed('tf', TF, TFMessage(transforms=links))
    assert [(t.header.stamp, t.child_frame_id) for t in tf.transforms] == [(NOW, 'a'), (NOW, 'b')]
    markers = MarkerArray(markers=[Marker(header=old), Marker()])
    drawn = replayed('markers', 'visualization_msgs/msg/MarkerArray', markers)
    assert [marker.header.stamp for marker in drawn.markers] == [NOW, Time()]


@given(st.binary(max_size=40), st.sampled_from(['trace', 'adapter', 'tf', 'scan']))
def test_bytes_that_are_no_message_are_refused(data: bytes, role: str) -> None:
    types = {'tf': TF, 'scan': 'sensor_msgs/msg/LaserScan'}
    with suppress(UnreadableMessage):  # most bytes are no message, some are one
        said = replay_message(role, types.get(role, STRING), data, now_ns=NOW_NS, turn=1)
        assert said is None or b'replay' in said or role in types


def test_a_type_that_is_not_installed_is_refused() -> None:
    with pytest.raises(UnreadableMessage, match='no_such'):
        replay_message('trace', 'no_such_msgs/msg/Thing', a_string(''), now_ns=NOW_NS, turn=1)


def test_a_command_line_is_taken_or_refused(capsys: pytest.CaptureFixture[str]) -> None:
    options = parse_arguments(['run.mcap', '--speed', '2.5', '--loop'])
    assert (options.file.name, options.speed, options.loop) == ('run.mcap', 2.5, True)
    for line in ('', 'f --speed 0', 'f --speed nan', 'f --speed 101', 'f g', 'f --sp 1'):
        with pytest.raises(SystemExit):
            parse_arguments(line.split())
        assert 'replay.sh' in capsys.readouterr().err


def test_only_a_replay_that_plays_has_a_text() -> None:
    playing = {'state': 'playing', 'file': 'a\nb', 'at_s': 12.3, 'length_s': 60.0, 'speed': 2.0}
    told = 'a b, 12 s of 60 s, 2 times as fast as recorded'
    assert playing_text(json.dumps(playing)) == told
    long, wrong = {'why': 'x' * MAX_STATUS_CHARS}, {'speed': float('nan')}
    for change in ({'state': 'ended'}, {'state': 'stopped'}, {'at_s': None}, long, wrong):
        assert playing_text(json.dumps({**playing, **change})) == ''


@given(st.text() | st.recursive(st.none() | st.text(), st.lists).map(json.dumps))
def test_foreign_text_never_raises(text: str) -> None:
    assert playing_text(text) == ''
