# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What was recorded: replayed into the rules it is decided again, on the topics it says so."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from functools import cache
import json
from pathlib import Path
from shutil import copytree
from typing import Any

from builtin_interfaces.msg import Time
from curiosity_rosa_demo.adapter.adapter_rules import AdapterRules
from curiosity_rosa_demo.agent.check import operation_in, replay, run
from curiosity_rosa_demo.domain.models import TraceEvent
from curiosity_rosa_demo.infra.config_loader import load_config, shipped_config_dir
from curiosity_rosa_demo.infra.ros.serialized import UnreadableMessage
from curiosity_rosa_demo.recording.check import replay_adapter, Report, Verdict
from curiosity_rosa_demo.recording.mcap.channels import Channel, STRING, TF
from curiosity_rosa_demo.recording.mcap.file import RunFile
from curiosity_rosa_demo.recording.mcap.reader import Entry, RunReader
from curiosity_rosa_demo.recording.recorded_inputs import read_recording, Recording
from curiosity_rosa_demo.recording.replay.main import (
    MAX_STATUS_CHARS,
    parse_arguments,
    playing_text,
)
from curiosity_rosa_demo.recording.replay.messages import replay_message, REPLAY_PREFIX
from curiosity_rosa_demo.trace.events import NodeStarted
from curiosity_rosa_demo.trace.trace_codec import decode, encode, MAX_EVENT_BYTES, new_event
from examples import examples
from geometry_msgs.msg import TransformStamped
from harness import ROOT
from hypothesis import given, settings
from hypothesis import strategies as st
from mcap_world import a_string, an_event
import pytest
from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import LaserScan
from std_msgs.msg import Header, String
from strategies import events
from tf2_msgs.msg import TFMessage
from visualization_msgs.msg import Marker, MarkerArray

FOLDER = ROOT / 'overlay_ws/src/curiosity_rosa_demo/test/recordings'
FILES = {f'{each.parent.name}/{each.stem}': each for each in sorted(FOLDER.glob('*/*.mcap'))}
CONFIG = load_config()


def recording(name: str) -> Recording:
    return read_recording(FILES[name], CONFIG)


@cache
def entries(name: str) -> tuple[list[Entry], dict[str, str], dict[str, str] | None]:
    reader = RunReader(FILES[name])
    return list(reader), reader.info, reader.end


def rewritten(name: str, target: Path, change: Callable[[list[Entry]], Iterable[Entry]]) -> Path:
    """A copy with the entries that ``change`` makes of them."""
    every, info, end = entries(name)
    target.unlink(missing_ok=True)
    copy = RunFile(target, info)
    for each in change(every):
        schema = each.schema.data.decode() if each.schema is not None else ''
        channel = Channel(each.role, each.topic, each.type, each.encoding, schema)
        copy.write(channel, each.data, each.at_ns)
    copy.finish(end or {})
    return target


def checked(file: Path) -> Report:
    return replay(read_recording(file, CONFIG))


def different_rules(report: Report) -> set[str]:
    return {each.rule for each in report.differences}


def undecided(report: Report) -> int:
    return report.count(Verdict.UNDECIDABLE)


Change = Callable[[list[Any]], list[Any]]
# The least number of decisions that a replay must compare, by recording.
LEAST = {
    '0.1.0-before-drive-rules/refusals': 5,  # gate and kernel: it has no log of inputs
    '0.1.0/demo': 30,
    '0.1.0/loaded': 70,
    '0.1.0/refusals': 60,
    '0.1.0/stuck': 20,
}


@pytest.mark.parametrize('name', FILES)
def test_the_rules_decide_as_they_did(name: str) -> None:
    report = replay(recording(name))
    assert not report.differences, '\n'.join(each.text() for each in report.differences)
    assert report.decided >= LEAST[name], report.table()


# --- a changed rule is noticed ---------------------------------------------------------------


class IgnoresTheButton(AdapterRules):
    def e_stop(self, pressed: bool) -> None:
        super().e_stop(False)


class NeverRefuses(AdapterRules):
    def check_motion(self, name: str, clock_problem: str = '') -> None:
        self.guard.poll()


class ForgetsTheAgent(AdapterRules):
    def heartbeat(self, tick: int, latch: str) -> None:
        super().heartbeat(tick, '')


class BelievesEveryMast(AdapterRules):
    def joints(self, p: float, turn: float) -> None:
        super().joints(1.57, -1.57)


RULE_MUTANTS: list[tuple[type[AdapterRules], str, str]] = [
    (IgnoresTheButton, '0.1.0/refusals', 'motion_guard'),
    (NeverRefuses, '0.1.0/refusals', 'motion_guard'),
    (ForgetsTheAgent, '0.1.0/refusals', 'status: agent_safe_reason'),
    (BelievesEveryMast, '0.1.0/refusals', 'mast'),
]


@pytest.mark.parametrize(('mutant', 'name', 'rule'), RULE_MUTANTS)
def test_a_rule_that_decides_otherwise_is_reported(
    mutant: type[AdapterRules], name: str, rule: str
) -> None:
    report = replay_adapter(recording(name), mutant)
    assert rule in different_rules(report), report.table()
    first = report.differences[0]
    assert first.recorded != first.replayed
    assert first.at_s > 0.0


LIMIT_MUTANTS: list[tuple[str, str, dict[str, Any], str]] = [
    ('0.1.0/demo', 'motion', {'max_duration_s': 4.0}, 'motion_guard'),
    ('0.1.0/demo', 'mast', {'tolerance_rad': 1e-6}, 'mast'),
    ('0.1.0/loaded', 'motion', {'odometry_max_age_s': 4.0}, 'odometry_silence'),
    ('0.1.0/stuck', 'drive', {'stuck_s': 8.0}, 'drive_watch'),
]


@pytest.mark.parametrize(('name', 'section', 'values', 'rule'), LIMIT_MUTANTS)
def test_another_limit_is_reported(
    name: str, section: str, values: dict[str, Any], rule: str
) -> None:
    kept = recording(name)
    thresholds = kept.config.thresholds
    changed = getattr(thresholds, section).model_copy(update=values)
    thresholds = thresholds.model_copy(update={section: changed})
    kept.config = kept.config.model_copy(update={'thresholds': thresholds})
    report = replay(kept)
    assert rule in different_rules(report), report.table()


def test_another_fence_is_reported() -> None:
    kept = recording('0.1.0/demo')
    fence = kept.config.guardrails.geofence.model_copy(update={'x_max': 1.0})
    rules = kept.config.guardrails.model_copy(update={'geofence': fence})
    kept.config = kept.config.model_copy(update={'guardrails': rules})
    assert 'gate: passes' in different_rules(replay(kept))


# --- what a recording lacks ------------------------------------------------------------------


@pytest.mark.parametrize(('name', 'lost'), [('0.1.0/demo', 0), ('0.1.0/refusals', 3)])
def test_what_a_gap_in_the_log_hides_is_not_decidable(
    name: str, lost: int, tmp_path: Path
) -> None:
    def without_one(every: list[Entry]) -> list[Entry]:
        batches = [each for each in every if each.role == 'adapter_inputs']
        return [each for each in every if each is not batches[lost]]

    report = checked(rewritten(name, tmp_path / 'gap.mcap', without_one))
    assert not report.differences, '\n'.join(each.text() for each in report.differences)
    assert any('after a gap' in note for note in report.notes)


# --- damaged files -----------------------------------------------------------------------------


@settings(max_examples=examples(25))
@given(data=st.data(), name=st.sampled_from(sorted(LEAST)))
def test_a_damaged_file_ends_in_a_report_or_a_clear_error(
    data: st.DataObject, name: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    whole = bytearray(FILES[name].read_bytes())
    for _ in range(data.draw(st.integers(0, 3))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, len(whole)))
    file = tmp_path_factory.mktemp('damaged') / 'run.mcap'
    file.write_bytes(whole[:cut])
    assert run([str(file)]) in (0, 1, 2)


@pytest.mark.parametrize(
    'change',
    [
        lambda entry: [*entry[:2], 'no_such_step', *entry[3:]],
        lambda entry: [*entry[:3], ['wrong']],
        lambda entry: [*entry[:2], '__init__'],
        lambda entry: [entry[0], entry[1], 'scan', [True, {}]],
        lambda entry: [float('nan'), *entry[1:]],
    ],
)
def test_an_entry_that_is_no_step_is_not_decidable(change: Change, tmp_path: Path) -> None:
    def changed(every: list[Entry]) -> list[Entry]:
        return [_with_change(each, change) for each in every]

    report = checked(rewritten('0.1.0/stuck', tmp_path / 'odd.mcap', changed))
    assert undecided(report)


def _with_change(entry: Entry, change: Change) -> Entry:
    """CDR of a String: 4 bytes of header, 4 of length, the text, a zero."""
    if entry.role != 'adapter_inputs':
        return entry
    text = entry.data[8:].rstrip(b'\0').decode()
    content = json.loads(text)
    content['entries'] = [
        change(each) if number % 7 == 3 else each for number, each in enumerate(content['entries'])
    ]
    data = json.dumps(content).encode() + b'\0'
    return replace(entry, data=entry.data[:4] + len(data).to_bytes(4, 'little') + data)


# --- the command -------------------------------------------------------------------------------


def test_the_command_prints_the_table_with_each_difference(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([str(FILES['0.1.0/refusals'])]) == 0
    assert 'DIFFERENT' not in capsys.readouterr().out
    folder = tmp_path / 'config'
    copytree(shipped_config_dir(), folder)
    (folder / 'thresholds.yaml').write_text('drive: {stuck_s: 9.0}\n')
    assert run([str(FILES['0.1.0/stuck']), '--config-dir', str(folder)]) == 1
    shown = capsys.readouterr().out
    assert [
        each for each in ('DIFFERENT', 'recorded Stuck', 'odometry(') if each not in shown
    ] == []
    file = rewritten('0.1.0/demo', tmp_path / 'empty.mcap', lambda every: [])
    assert run([str(file)]) == 1
    assert 'the file holds no messages' in capsys.readouterr().out
    (tmp_path / 'text.mcap').write_text('no recording')
    assert run([str(tmp_path / 'text.mcap')]) == 2
    assert 'is no MCAP file' in capsys.readouterr().err
    assert run([str(tmp_path / 'none.mcap')]) == 2


def test_the_call_in_a_refusal_is_read() -> None:
    calls = {
        'move_forward(duration_s=4.0)': 'move_forward',
        'mast_open()': 'mast_open',
        'navigate_to_pose(x=1.0, y=-2.0)': 'navigate_to_pose',
        '': None,
        'move_forward(4.0)': None,
        'move_forward(duration_s=__import__("os"))': None,
        'move_forward(': None,
    }
    found = {text: operation_in(text) for text in calls}
    assert {text: op.skill if op is not None else None for text, op in found.items()} == calls


# --- replayed on the topics ----------------------------------------------------------------------


NOW_NS = 1_900_000_000_123_456_789
NOW = Time(sec=1_900_000_000, nanosec=123_456_789)


def replayed_message(role: str, type_name: str, message: Any, *, turn: int = 1) -> Any:
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
    status = json.loads(replayed_message('adapter', STRING, String(data=text)).data)
    assert status['replay'] is True
    if text.endswith('}'):
        assert (status['moving'], status['mast']) == (True, 'open')


def test_whatever_has_a_stamp_is_of_now() -> None:
    old = Header(frame_id='/odom', stamp=Time(sec=3))
    scan = replayed_message(
        'scan', 'sensor_msgs/msg/LaserScan', LaserScan(header=old, ranges=[1.0, 2.0])
    )
    assert (scan.header.stamp, scan.header.frame_id, list(scan.ranges)) == (NOW, '/odom', [1, 2])
    links = [TransformStamped(header=old, child_frame_id=child) for child in 'ab']
    tf = replayed_message('tf', TF, TFMessage(transforms=links))
    assert [(t.header.stamp, t.child_frame_id) for t in tf.transforms] == [(NOW, 'a'), (NOW, 'b')]
    markers = MarkerArray(markers=[Marker(header=old), Marker()])
    drawn = replayed_message('markers', 'visualization_msgs/msg/MarkerArray', markers)
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
