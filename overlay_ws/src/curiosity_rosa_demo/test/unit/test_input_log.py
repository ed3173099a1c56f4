# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The log of the adapter's inputs, and that its replay has the same results."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from curiosity_rosa_demo.adapter.adapter_rules import AdapterRules, Due, REFUSED
from curiosity_rosa_demo.adapter.input_log import (
    decode_batch,
    encode_batch,
    InputLog,
    LogBatch,
    LogEntry,
    MAX_ENTRIES,
)
from curiosity_rosa_demo.adapter.mast import MastAction
from curiosity_rosa_demo.adapter.motion_guard import MotionRefused
from curiosity_rosa_demo.infra.config_loader import load_config
from curiosity_rosa_demo.infra.obstacles import ObstacleView
from curiosity_rosa_demo.recording.rule_run import ReplayClock, RuleRun
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np
import pytest

CONFIG = load_config()
MOTIONS = ('move_forward', 'turn_left', 'turn_right')
numbers = st.floats(allow_nan=False, width=32)
speeds = st.sampled_from([0.0, 0.0, 0.3, -0.3, 5.0])
Step = Callable[[AdapterRules], object]


def a_view(free_m: float) -> ObstacleView:
    return ObstacleView(True, dict.fromkeys(MOTIONS, free_m), np.empty((0, 2)))


def calls(name: str, *arguments: st.SearchStrategy[Any]) -> st.SearchStrategy[Step]:
    return st.tuples(*arguments).map(lambda given: lambda rules: getattr(rules, name)(*given))


steps: st.SearchStrategy[Step] = st.one_of(
    calls('check_motion', st.sampled_from(MOTIONS), st.sampled_from(['', '', 'No time'])),
    calls('begin_motion', st.sampled_from(MOTIONS)),
    calls('motion_answered', st.integers(0, 4)),
    calls('motion_failed', st.integers(1, 4), st.just('Service timeout: /x')),
    calls('confirm_motion'),
    calls('check_mast', st.sampled_from(MastAction)),
    calls('begin_mast', st.sampled_from(MastAction)),
    calls('mast_answered'),
    calls('mast_failed', st.just('no')),
    calls('end_mast', st.sampled_from(MastAction)),
    calls('request_stop'),
    calls('stop_answered', st.integers(0, 6)),
    calls('stop_failed', st.integers(0, 6), st.just('no')),
    calls('end_stop', st.integers(0, 6)),
    calls('twist_lost'),
    calls('refuse', st.text(max_size=5)),
    calls('odometry', st.none() | st.tuples(numbers, numbers, numbers), speeds, speeds, st.none()),
    calls('odometry', st.just((0.0, 0.0, 0.0)), st.just(0.0), st.just(0.0), st.floats(0.0, 1.5)),
    calls('joints', st.sampled_from([1.57, 0.0, 0.7]), st.sampled_from([-1.57, -0.5])),
    calls('scan', st.none() | st.sampled_from([0.5, 3.0, float('inf')]).map(a_view)),
    calls('scan_gone'),
    calls('e_stop', st.booleans()),
    calls('heartbeat', st.integers(0, 100), st.sampled_from(['', '', 'e-stop pressed'])),
    calls('agents', st.integers(0, 2), st.just(['/one', '/two'])),
    calls('agent_gone'),
    calls('other_drivers', st.sampled_from(['', '/joystick'])),
    calls('adapters', st.sampled_from([[], ['/other']])),
    st.just(lambda rules: rules.due()),
)


def results_of(rules: AdapterRules, step: Step) -> None:
    with suppress(MotionRefused):
        step(rules)
    rules.due()


@settings(max_examples=examples(60))
@given(
    st.lists(st.tuples(steps, st.sampled_from([0.0, 0.05, 0.3, 2.0, 9.0])), max_size=40),
    st.sampled_from([None, 1.0, 0.5]),
)
def test_a_replayed_log_has_the_recorded_results(
    sequence: list[tuple[Step, float]], factor: float | None
) -> None:
    clock, log = ReplayClock(100.0, None if factor is None else 0), InputLog()
    rules = AdapterRules(
        CONFIG.thresholds,
        stop_name='/move_stop',
        steady=clock,
        ros_clock=clock,
        log=log,
    )
    for step, seconds in sequence:
        clock.steady_s += seconds
        if factor is not None:
            clock.ros_ns = (clock.ros_ns or 0) + round(seconds * factor * 1e9)
        results_of(rules, step)
    batch = log.take(0.0)
    assert batch is not None
    again = decode_batch(encode_batch(batch))
    assert again is not None
    start, *entries = again.entries
    run = RuleRun(CONFIG, start)
    for entry in entries:
        result = run.feed(entry)
        assert result == entry.result, entry
    assert run.rules.guard.last_error == rules.guard.last_error
    assert run.rules.guard.mast is rules.guard.mast
    assert run.rules.guard.motion is rules.guard.motion


@given(st.lists(st.lists(numbers, max_size=3), max_size=5), st.integers(0, 10**9), numbers)
def test_a_batch_is_read_as_it_was_written(
    values: list[list[float]], first: int, offset_s: float
) -> None:
    entries = [LogEntry(1.5 * n, n or None, 'joints', each) for n, each in enumerate(values)]
    batch = LogBatch(first, offset_s, entries)
    assert decode_batch(encode_batch(batch)) == batch


@pytest.mark.parametrize(
    'text',
    [
        *('', 'null', '[]', '{}', '{"first": 0, "offset_s": 0.0}', '[' * 100_000),
        '{"first": -1, "offset_s": 0.0, "entries": []}',
        '{"first": 0, "offset_s": 0.0, "entries": [[1.0, null]]}',
        '{"first": 0, "offset_s": 0.0, "entries": [[1.0, null, "due", {}]]}',
        '{"first": 0, "offset_s": 0.0, "entries": [], "replay": true}',
    ],
)
def test_another_text_is_no_batch(text: str) -> None:
    assert decode_batch(text) is None


def test_a_full_log_drops_the_oldest_and_its_numbers_show_it() -> None:
    log = InputLog()
    for number in range(MAX_ENTRIES + 7):
        log.add(LogEntry(float(number), None, 'due'))
    batch = log.take(0.0)
    assert batch is not None
    assert (batch.first, batch.entries[0].at, len(batch.entries)) == (7, 7.0, MAX_ENTRIES)
    assert log.take(0.0) is None
    log.add(LogEntry(0.0, None, 'due'))
    following = log.take(0.0)
    assert following is not None
    assert following.first == MAX_ENTRIES + 7


def test_all_rules_of_a_step_see_one_time() -> None:
    times = iter(range(100))
    clock, log = ReplayClock(), InputLog()
    rules = AdapterRules(
        CONFIG.thresholds,
        stop_name='/move_stop',
        steady=lambda: float(next(times)),
        ros_clock=clock,
        log=log,
    )
    rules.joints(1.57, -1.57)
    assert rules.due() == Due(stop_call=1)
    batch = log.take(0.0)
    assert batch is not None
    assert [each.at for each in batch.entries] == [0.0, 1.0, 2.0]


def test_a_refusal_is_logged_with_its_reason() -> None:
    log = InputLog()
    clock = ReplayClock(1.0)
    rules = AdapterRules(
        CONFIG.thresholds, stop_name='/move_stop', steady=clock, ros_clock=clock, log=log
    )
    with pytest.raises(MotionRefused, match='Need to close mast'):
        rules.check_motion('move_forward')
    batch = log.take(0.0)
    assert batch is not None
    assert batch.entries[-1].result == {REFUSED: 'Need to close mast'}
