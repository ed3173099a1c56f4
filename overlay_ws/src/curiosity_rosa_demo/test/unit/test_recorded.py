# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What was recorded: replayed into the rules it is decided again, on the topics it says so."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
import json
from pathlib import Path
import re
from shutil import copytree
from typing import Any

from builtin_interfaces.msg import Time
from curiosity_rosa_demo.adapter.rules import Rules
from curiosity_rosa_demo.agent.check import decide_again, NO_DECISIONS, replay, run
from curiosity_rosa_demo.agent.kernel.decide import (
    event_arbitrate,
    KernelDecision,
    KernelDecisions,
)
from curiosity_rosa_demo.agent.react.gate import call_refusal, GateDecision, PASSES
from curiosity_rosa_demo.agent.react.situation import Limits
from curiosity_rosa_demo.agent.tasks.origin import Approval, Order
from curiosity_rosa_demo.domain.brain_state import BrainState, RobotState, Spent, UserInterruptType
from curiosity_rosa_demo.domain.models import TraceEvent
from curiosity_rosa_demo.domain.operation import Operation
from curiosity_rosa_demo.domain.origin import Origin
from curiosity_rosa_demo.domain.plan import RiskLevel
from curiosity_rosa_demo.infra.config.topics import Config
from curiosity_rosa_demo.infra.config_loader import load_config, shipped_config_dir
from curiosity_rosa_demo.infra.ros_io import UnreadableMessage
from curiosity_rosa_demo.recording import rule_run
from curiosity_rosa_demo.recording.channels import Channel, STRING, TF
from curiosity_rosa_demo.recording.check import (
    NO_LOG,
    NOT_SEEN,
    read_recording,
    Recording,
    replay_adapter,
)
from curiosity_rosa_demo.recording.file import Entry, RunFile, RunReader
from curiosity_rosa_demo.recording.replay import (
    MAX_STATUS_CHARS,
    parse_arguments,
    playing_text,
    replay_message,
    REPLAY_PREFIX,
)
from curiosity_rosa_demo.trace.events import NodeStarted
from curiosity_rosa_demo.trace.trace_codec import decode, encode, MAX_EVENT_BYTES, new_event
from examples import examples
from geometry_msgs.msg import TransformStamped
from harness import ROOT
from hypothesis import given, settings
from hypothesis import strategies as st
from mcap_world import a_string, an_event
from pydantic import BaseModel
import pytest
from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import LaserScan
from std_msgs.msg import Header, String
from strategies import events, states
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


def copied(
    target: Path, every: Iterable[Entry], info: dict[str, str], end: dict[str, str] | None
) -> Path:
    target.unlink(missing_ok=True)
    copy = RunFile(target, info)
    for each in every:
        schema = each.schema.data.decode() if each.schema is not None else ''
        channel = Channel(each.role, each.topic, each.type, each.encoding, schema)
        copy.write(channel, each.data, each.at_ns)
    copy.finish(end or {})
    return target


# The least number of decisions that a replay must compare, by recording.
LEAST = {
    '0.1.0/demo': 24,
    '0.1.0/loaded': 70,
    '0.1.0/refusals': 58,
    '0.1.0/stuck': 18,
}
# What the rules decide otherwise by now, on purpose, by recording.
CHANGED = {
    # The reason of a stop outlives a stop call that failed before a later one worked.
    '0.1.0/loaded': [('status: last_error_reason', "''", "'Stopped: mast is unknown'")],
    # A motion that begins has no reason yet.
    '0.1.0/refusals': [
        ('status: last_error_reason', "'The agent is gone: the rover was stopped'", "''")
    ],
}


@pytest.mark.parametrize('name', FILES)
def test_the_rules_decide_as_they_did(name: str) -> None:
    report = replay(recording(name))
    otherwise = [(each.decision, each.recorded, each.replayed) for each in report.differences]
    assert otherwise == CHANGED.get(name, []), report.table()
    assert report.decided >= LEAST[name], report.table()


# --- a changed rule is noticed ---------------------------------------------------------------


class IgnoresTheButton(Rules):
    def set_e_stop(self, pressed: bool) -> None:
        super().set_e_stop(False)


class NeverRefuses(Rules):
    def check_motion(self, motion: str, _: str = '') -> None:
        pass


class ForgetsTheAgent(Rules):
    def heartbeat(self, tick: int, latch: str) -> None:
        super().heartbeat(tick, '')


class BelievesEveryMast(Rules):
    def joints(self, name: str, angles: Sequence[float]) -> None:
        super().joints(name, [1.57, -1.57])


# What decides otherwise: an adapter, or the limits of a section; and the decision that shows it.
MUTANTS: list[tuple[str, type[Rules] | str, dict[str, Any], str]] = [
    ('refusals', IgnoresTheButton, {}, 'check_motion'),
    ('refusals', NeverRefuses, {}, 'check_motion'),
    ('refusals', ForgetsTheAgent, {}, 'status: agent_safe_reason'),
    ('refusals', BelievesEveryMast, {}, 'end_part'),
    ('demo', 'thresholds.motion', {'max_duration_s': 4.0}, 'due: alarms'),
    ('demo', 'thresholds.mast', {'tolerance_rad': 1e-6}, 'end_part'),
    ('loaded', 'thresholds.motion', {'odometry_max_age_s': 4.0}, 'due: warnings'),
    ('stuck', 'thresholds.drive', {'stuck_s': 8.0}, 'due: alarms'),
]


@pytest.mark.parametrize(('name', 'mutant', 'values', 'rule'), MUTANTS)
def test_what_decides_otherwise_is_reported(
    name: str,
    mutant: type[Rules] | str,
    values: dict[str, Any],
    rule: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kept = recording(f'0.1.0/{name}')
    if isinstance(mutant, str):
        file, section = mutant.split('.')
        part = getattr(kept.config, file)
        changed = getattr(part, section).model_copy(update=values)
        part = part.model_copy(update={section: changed})
        kept.config = kept.config.model_copy(update={file: part})
        report = replay(kept)
    else:
        monkeypatch.setattr(rule_run, 'Rules', mutant)
        report = replay_adapter(kept)
    first = next(each for each in report.differences if each.decision == rule)
    assert first.recorded != first.replayed
    assert first.at_s > 0.0


# --- what a recording lacks ------------------------------------------------------------------


def logs(every: list[Entry]) -> list[Entry]:
    return [each for each in every if each.role == 'adapter_inputs']


def without(every: list[Entry], *lost: Entry) -> list[Entry]:
    return [each for each in every if not any(each is one for one in lost)]


def with_bad_steps(every: list[Entry]) -> list[Entry]:
    """Each of these once in a while in the log: no step of the rules, or not its arguments."""
    bad = [['no_such_step'], ['__init__'], ['odometry', ['wrong']], ['scan', [True, {}]]]

    def changed(batch: Entry) -> Entry:
        content = json.loads(deserialize_message(batch.data, String).data)
        for number, each in enumerate(content['entries']):
            if number % 7 == 3:
                content['entries'][number] = [*each[:2], *bad[number % 4]]
        return replace(batch, data=a_string(json.dumps(content)))

    return [changed(each) if each.role == 'adapter_inputs' else each for each in every]


# What happens to a recording, then of what it has no verdict, and why.
LACKS: list[tuple[str, Callable[[list[Entry]], list[Entry]], str, str]] = [
    ('demo', lambda every: [*every, *logs(every)], '', ''),  # the topic's history, again
    ('demo', lambda every: without(every, logs(every)[0]), 'status: moving', NOT_SEEN),
    ('refusals', lambda every: without(every, logs(every)[3]), 'status: mast', NOT_SEEN),
    ('stuck', lambda every: without(every, *logs(every)), 'status: moving', NOT_SEEN),
    ('stuck', with_bad_steps, 'inputs', 'the rules have no such call'),
]


@pytest.mark.parametrize(('name', 'change', 'rule', 'why'), LACKS)
def test_what_a_recording_lacks_is_not_decidable(
    name: str, change: Any, rule: str, why: str, tmp_path: Path
) -> None:
    every, info, end = entries(f'0.1.0/{name}')
    file = copied(tmp_path / 'gap.mcap', change(every), info, end)
    report = replay(read_recording(file, CONFIG))
    unknown = [each for each in report.comparisons if each.same is None]
    if why != 'the rules have no such call':
        assert not report.differences, '\n'.join(each.text() for each in report.differences)
    if rule:
        assert any(each.decision == rule and why in each.inputs for each in unknown), unknown
    else:
        assert len(unknown) == 1  # before the log began
    assert (NO_LOG in report.notes) is (name == 'stuck' and why == NOT_SEEN)


def test_a_note_tells_what_is_wrong_with_a_file(tmp_path: Path) -> None:
    every, info, _ = entries('0.1.0/stuck')
    status = next(each for each in every if each.role == 'adapter')
    bad = [replace(status, data=a_string(text)) for text in ('nothing', '[]', '{}')]
    rows: list[tuple[list[Entry], dict[str, str], str, str]] = [
        ([], info, '0', 'the file holds no messages'),
        ([status, *bad], info, '0', '3 messages are unreadable'),
        ([status], info, '7', 'the recorder dropped 7 messages'),
        ([status], {**info, 'thresholds': '{"drive": 3}'}, '0', 'its thresholds are not those of'),
        ([status], {'domain': '7'}, '0', 'it does not hold its limits'),
    ]
    for kept, said, dropped, note in rows:
        file = copied(tmp_path / 'run.mcap', kept, said, {'dropped': dropped})
        notes = read_recording(file, CONFIG).notes
        assert [each for each in notes if note in each], (note, notes)
    file.write_bytes(file.read_bytes()[:-90])
    assert 'the file is torn' in ' '.join(read_recording(file, CONFIG).notes)


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


# --- the command -------------------------------------------------------------------------------


def test_the_command_prints_the_table_with_each_difference(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([str(FILES['0.1.0/demo'])]) == 0
    assert 'DIFFERENT' not in capsys.readouterr().out
    folder = tmp_path / 'config'
    copytree(shipped_config_dir(), folder)
    (folder / 'thresholds.yaml').write_text('drive: {stuck_s: 9.0}\n')
    assert run([str(FILES['0.1.0/stuck']), '--config-dir', str(folder)]) == 1
    assert re.search(r'DIFFERENT(.|\n)*recorded Stuck.*odometry\(', capsys.readouterr().out)
    (tmp_path / 'text.mcap').write_text('no recording')
    assert run([str(tmp_path / 'text.mcap')]) == 2
    assert 'is no MCAP file' in capsys.readouterr().err
    assert run([str(tmp_path / 'none.mcap')]) == 2


# --- gate and kernel ----------------------------------------------------------------------------


BASE = Operation('move_forward', {'duration_s': 4.0})
AREA = Operation('drive_to', {'x': 3.0})
facts = st.fixed_dictionaries(
    {
        'x': st.sampled_from([None, 0.0, 9.0, 900.0]),
        'y': st.just(0.0),
        'yaw_rad': st.just(0.0),
        'mast': st.sampled_from(['closed', 'open', 'unknown']),
        'moving': st.booleans(),
        'battery_pct': st.sampled_from([None, 4.0, 80.0]),
        'battery_state': st.just('OK'),
        'mode': st.sampled_from(['EXEC', 'SAFE']),
        'safety_latch': st.sampled_from(['', 'e-stop pressed']),
        'home_x': st.just(0.0),
        'home_y': st.just(0.0),
    }
)
approvals = st.builds(Approval, st.sampled_from([BASE, AREA]), st.booleans())
orders = st.builds(
    Order,
    st.sampled_from(Origin),
    st.sampled_from([None, BASE, AREA]),
    st.none() | approvals,
)


def decided(*decisions: BaseModel, config: Config = CONFIG) -> Recording:
    """A recording of these decisions, as the file holds them."""
    texts = [(1.0, each.model_dump_json().encode()) for each in decisions]
    return Recording(config, decisions=texts)


@given(facts, orders, st.sampled_from(RiskLevel), st.booleans())
def test_what_the_gate_decided_is_decided_again(
    known: dict[str, Any], order: Order, risk: RiskLevel, is_used: bool
) -> None:
    if is_used and order.approval is not None:
        order.approval.used = True
    spent = Spent(metres=3.0)
    asked = GateDecision.asked(BASE, known, spent, risk, order)
    limits = Limits.of(CONFIG)
    refused = call_refusal(BASE.skill, BASE.arguments, known, spent, limits, order, risk)
    [same] = decide_again(decided(asked.told(refused)))
    assert same.same, same.text()
    assert same.recorded == (
        PASSES if refused is None else f'{refused.rule}: {refused.code.value}'
    )


@given(states())
def test_what_the_kernel_decided_is_decided_again(state: BrainState) -> None:
    told: list[KernelDecision] = []
    watch = KernelDecisions(told.append)
    watch.on_tick(state)
    after = event_arbitrate(state, CONFIG.thresholds)
    watch.on_tick(after)
    is_change = after.robot.safety_latch != state.robot.safety_latch
    assert len(told) == 1 + (is_change or state.hci.user_interrupt is UserInterruptType.CLEAR)
    assert all(each.same for each in decide_again(decided(*told[1:])))


def test_a_changed_limit_decides_otherwise_and_what_is_no_decision_is_told() -> None:
    known: dict[str, Any] = {'x': 0.0, 'y': 0.0, 'yaw_rad': 0.0, 'moving': False}
    known |= {'mast': 'closed', 'mode': 'EXEC', 'battery_pct': 80.0, 'battery_state': 'OK'}
    known |= {'home_x': 0.0, 'home_y': 0.0}
    order = Order(Origin.CONSOLE)
    gate = GateDecision.asked(BASE, known, Spent(), RiskLevel.LOW, order)
    exposed = RobotState(mast='open', moving=True, exposed_since_s=10.0)
    kernel = KernelDecision(
        now_s=10.5, robot=exposed, interrupt=UserInterruptType.NONE, verdict=''
    )
    assert [each.same for each in decide_again(decided(gate, kernel))] == [True] * 2
    fence = CONFIG.guardrails.geofence.model_copy(update={'x_max': 1.0})
    motion = CONFIG.thresholds.motion.model_copy(update={'stop_timeout_s': 0.1, 'settle_s': 0.1})
    strict = CONFIG.model_copy(
        update={
            'guardrails': CONFIG.guardrails.model_copy(update={'geofence': fence}),
            'thresholds': CONFIG.thresholds.model_copy(update={'motion': motion}),
        }
    )
    other = [each.text() for each in decide_again(decided(gate, kernel, config=strict))]
    assert 'gate: move_forward: recorded passes; the rules decide geofence: GEOFENCE' in other[0]
    assert 'recorded nothing; the rules decide moving with the mast open' in other[1]
    bad = Recording(CONFIG, decisions=[(1.0, data) for data in (b'', b'{}', b'{"kind": "gate"}')])
    assert {each.same for each in decide_again(bad)} == {None}
    assert NO_DECISIONS in replay(recording('0.1.0/demo')).notes


# --- replayed on the topics ----------------------------------------------------------------------


NOW_NS = 1_900_000_000_123_456_789
NOW = Time(sec=1_900_000_000, nanosec=123_456_789)


def replayed_message(role: str, type_name: str, message: Any) -> Any:
    data = replay_message(role, type_name, serialize_message(message), NOW_NS)
    assert data is not None
    return deserialize_message(data, type(message))


def trace_text(event: TraceEvent, now_ns: int = NOW_NS) -> str:
    data = replay_message('trace', STRING, an_event(event), now_ns)
    assert data is not None
    return str(deserialize_message(data, String).data)


@given(events.filter(lambda event: (event.data or {}).get('started') is not True))
def test_an_event_says_that_it_is_replayed_and_when_it_was(event: TraceEvent) -> None:
    text = trace_text(event)
    assert len(text.encode()) <= MAX_EVENT_BYTES
    again, was = decode(text), decode(encode(event))  # what was recorded
    assert again.message.startswith(REPLAY_PREFIX)
    assert again.ts == pytest.approx(NOW_NS * 1e-9)
    for name in ('kind', 'tool_name', 'ok', 'score'):
        assert getattr(again, name) == getattr(was, name)
    assert again.data is not None
    assert again.data['replay'] is True
    started = an_event(
        new_event(**NodeStarted('adapter', started=True).trace_fields('adapter started'))
    )
    assert replay_message('trace', STRING, started, NOW_NS) is None
    # In a loop each is a new one.
    ids = {decode(trace_text(event, NOW_NS + n)).event_id for n in range(3)}
    assert len(ids - {event.event_id}) == 3
    if 'dropped' not in again.data:
        assert again.message == REPLAY_PREFIX + was.message
        assert again.data['recorded_ts'] == was.ts
        assert again.data['recorded_id'] == was.event_id


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
        said = replay_message(role, types.get(role, STRING), data, NOW_NS)
        assert said is None or b'replay' in said or role in types


def test_a_command_line_is_taken_or_refused_and_only_a_replay_that_plays_has_a_text() -> None:
    options = parse_arguments(['run.mcap', '--speed', '2.5', '--loop'])
    assert (options.file.name, options.speed, options.loop) == ('run.mcap', 2.5, True)
    for line in ('', 'f --speed 0', 'f --speed nan', 'f --speed 101', 'f g', 'f --sp 1'):
        with pytest.raises(SystemExit):
            parse_arguments(line.split())
    playing = {'state': 'playing', 'file': 'a\nb', 'at_s': 12.3, 'length_s': 60.0, 'speed': 2.0}
    told = 'a b, 12 s of 60 s, 2 times as fast as recorded'
    assert playing_text(json.dumps(playing)) == told
    long, wrong = {'why': 'x' * MAX_STATUS_CHARS}, {'speed': float('nan')}
    assert [text for text in ('', '[]', 'null', '{', '"x"', '[[]]') if playing_text(text)] == []
    for change in ({'state': 'ended'}, {'state': 'stopped'}, {'at_s': None}, long, wrong):
        assert playing_text(json.dumps({**playing, **change})) == ''
