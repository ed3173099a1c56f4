# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Decisions told as a diary."""

from __future__ import annotations

from datetime import datetime, timezone
import re
from typing import Any

from curiosity_rosa_demo.agent.policy.decision_record import (
    Decision,
    decision_log,
    MAX_TEXT_COLUMNS,
    Rejection,
)
from curiosity_rosa_demo.agent.policy.world_state import Source
from hypothesis import given
from hypothesis import strategies as st
from policy_world import COMPANION, world_of
from pydantic import ValidationError
import pytest

WORLD = world_of(COMPANION)
MORNING = datetime(2026, 11, 24, 7, 20, tzinfo=WORLD.zone).timestamp()


def decision(minutes: float = 0.0, **values: Any) -> Decision:
    usual = {
        'number': 1,
        'cause': 'minute',
        'place': 'home',
        'energy': 0.923,
        'path': ['Root: yes'],
    }
    return Decision(**usual | {'at': MORNING + 60.0 * minutes} | values)


def refused(type_: str, reason: str, by: Source = Source.MODEL) -> Rejection:
    return Rejection(type=type_, by=by, reason=reason)


def test_it_reads_like_a_diary() -> None:
    night = [decision(number - 400, activity='sleep', energy=0.7) for number in range(312)]
    study = refused('study', 'study begins at school only')
    day = [
        decision(
            done='began go_to_school, by the routine',
            activity='go_to_school',
            answer_text='I want to prepare',
            rejected=[study],
            path=[
                'Root: yes',
                'EmergencyBranch: no',
                'LLMDrivenBranch: no (no: it said so)',
                'RoutineFallback: yes',
                'go_to_school: yes',
            ],
        ),
        decision(1, activity='go_to_school', missed=2),
        decision(5, cause='external.message', place='', answer_text='Hello.'),
        decision(6, rejected=[refused('read', 'no phone', Source.EMERGENCY)], missed=1),
        decision(7),
        decision(8),
        decision(9, activity='rest', holding='SAFE: e-stop pressed'),
        decision(10, holding='CHARGE: battery is low'),
    ]
    assert decision_log([*night, *day], WORLD).splitlines() == [
        'Tue 24 Nov 00:40  312 ticks: sleep goes on',
        '    minute: Root',
        'Tue 24 Nov 07:20  at home, energy 92 %: began go_to_school, by the routine',
        '    the model said "study" (I want to prepare): refused, study begins at school only',
        '    minute: Root > RoutineFallback > go_to_school',
        'Tue 24 Nov 07:21  at home, energy 92 %: go_to_school goes on',
        '    2 ticks were slept through before',
        '    minute: Root',
        'Tue 24 Nov 07:25  at an unknown place, energy 92 %: nothing to do',
        '    the model said: Hello.',
        '    external.message: Root',
        'Tue 24 Nov 07:26  at home, energy 92 %: nothing to do',
        '    the emergency wanted read: refused, no phone',
        '    1 tick was slept through before',
        '    minute: Root',
        'Tue 24 Nov 07:27  2 ticks: nothing to do',
        '    minute: Root',
        'Tue 24 Nov 07:29  1 tick: SAFE: e-stop pressed; rest is put aside',
        '    minute: Root',
        'Tue 24 Nov 07:30  1 tick: CHARGE: battery is low; nothing may begin',
        '    minute: Root',
    ]


def test_the_words_of_the_model_are_told_once() -> None:
    rejected = [refused('study', 'no'), refused('lunch', 'not now')]
    told = decision_log([decision(answer_text='hungry', rejected=rejected)], WORLD).splitlines()
    assert told[1:3] == [
        '    the model said "study" (hungry): refused, no',
        '    the model said "lunch": refused, not now',
    ]
    assert len(told) == 4


def test_times_are_local_also_where_an_hour_comes_twice() -> None:
    world = world_of(COMPANION, 'Europe/Berlin')
    before = datetime(2026, 10, 25, 0, 30, tzinfo=timezone.utc).timestamp()
    told = decision_log(
        [decision(at=before, done='a'), decision(at=before + 3600.0, done='b')], world
    )
    assert re.findall('^Sun.*(?=  )', told, re.MULTILINE) == ['Sun 25 Oct 02:30'] * 2


def test_the_last_entries_are_told_where_quiet_ticks_count_as_one() -> None:
    days = [decision(0), decision(1), decision(2, done='woke'), decision(3), decision(4)]
    for n, first in ((None, 0), (0, 3), (1, 2), (2, 1), (3, 0), (99, 0)):
        told = decision_log(days, WORLD, n)
        beginnings = re.findall('^Tue 24 Nov 07:(..)', told, re.MULTILINE)
        assert beginnings == ['20', '22', '23'][first:]


def test_long_words_are_cut() -> None:
    told = decision_log(
        [decision(answer_text='x' * 5000, rejected=[refused('y', 'z' * 5000)])], WORLD
    )
    assert max(map(len, told.splitlines())) < 2 * MAX_TEXT_COLUMNS + 60


TEXT = st.text(max_size=15) | st.sampled_from(['a\nTue 24 Nov 07:20  stop', '\x1b[2J', '\u2028x'])
DECISIONS = st.builds(
    decision,
    st.integers(0, 9999),
    cause=TEXT,
    missed=st.integers(0, 3),
    path=st.lists(TEXT, max_size=3),
    answer_text=TEXT,
    rejected=st.lists(st.builds(refused, TEXT, TEXT, st.sampled_from(Source)), max_size=2),
    done=TEXT,
    activity=st.sampled_from(['', 'rest']),
)


@given(st.lists(DECISIONS, max_size=8), st.lists(st.integers(1, 4), min_size=8, max_size=8))
def test_each_tick_is_told_and_no_text_passes_for_a_line_of_its_own(
    decisions: list[Decision], repeats: list[int]
) -> None:
    several = [each for each, times in zip(decisions, repeats, strict=False) for _ in range(times)]
    told = decision_log(several, WORLD)
    assert all(char.isprintable() or char == '\n' for char in told)
    lines = told.split('\n') if told else []
    heads = [line for line in lines if not line.startswith('    ')]
    assert all(re.match(r'[A-Z][a-z]{2} \d\d [A-Z][a-z]{2} \d\d:\d\d  ', line) for line in heads)
    folded = [int(found[1]) for line in heads if (found := re.match(r'.{18}(\d+) ticks?: ', line))]
    assert sum(folded) + len(heads) - len(folded) == len(several)
    more = sum(len(each.rejected) for each in several)
    assert len(lines) >= 2 * len(heads) + more


def test_a_decision_is_checked() -> None:
    for wrong in (
        {'energy': float('nan')},
        {'path': ['\ud800']},
        {'answer_text': '\ud800'},
        {'mood': 1},
    ):
        with pytest.raises(ValidationError):
            decision(**wrong)
