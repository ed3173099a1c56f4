# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Recordings of this and older releases, replayed into the rules: the same decisions."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cache
import json
from pathlib import Path
from shutil import copytree
from typing import Any

from curiosity_rosa_demo.adapter.adapter_rules import AdapterRules
from curiosity_rosa_demo.agent.check import operation_in, replay, run
from curiosity_rosa_demo.infra.config_loader import load_config, shipped_config_dir
from curiosity_rosa_demo.recording.check import replay_adapter, Report, Verdict
from curiosity_rosa_demo.recording.mcap.channels import Channel
from curiosity_rosa_demo.recording.mcap.file import RunFile
from curiosity_rosa_demo.recording.mcap.reader import Entry, RunReader
from curiosity_rosa_demo.recording.recorded_inputs import read_recording, Recording
from examples import examples
from harness import ROOT
from hypothesis import given, settings
from hypothesis import strategies as st
import pytest

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
