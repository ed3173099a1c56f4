# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The index of many runs, and what a report tells of plans, questions, rehearsals and costs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
import re
from typing import Any

from curiosity_rosa_demo.domain.geometry import Place
from curiosity_rosa_demo.domain.models import TraceEvent, TraceKind
from curiosity_rosa_demo.domain.plan.plan import ExecutionResult, Plan, PlanStep
from curiosity_rosa_demo.domain.rehearsal import Comparison, Rehearsal
from curiosity_rosa_demo.recording.report.html import page
from curiosity_rosa_demo.recording.report.main import index_page, IndexedRun, UnreadableRun
from curiosity_rosa_demo.recording.report.main import run as report
from curiosity_rosa_demo.recording.report.run import read_run
from curiosity_rosa_demo.recording.report.summary import summary_of
from curiosity_rosa_demo.recording.report.turns import (
    costs_by_model,
    costs_of,
    recorded_plans,
    recorded_questions,
    recorded_rehearsals,
    recorded_turns,
)
from curiosity_rosa_demo.trace.events import (
    ModelCalled,
    QuestionAnswered,
    QuestionAsked,
    TurnAnswered,
    TurnStarted,
)
from curiosity_rosa_demo.trace.plan_events import (
    PlanMade,
    PlanStepEnded,
    RehearsalCompared,
    RehearsalMade,
)
from curiosity_rosa_demo.trace.trace_codec import decode, encode, new_event
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from mcap_world import an_event, an_odometry, BEGAN_NS, RawMessage, write_run
import pytest
from report_page import HOSTILE, loads_nothing, Page

ORIGIN, AHEAD = Place(x=0.0, y=0.0, yaw_rad=0.0), Place(x=3.0, y=0.0, yaw_rad=0.0)
CALL = ModelCalled('openai', 'gpt', 1000, 200, 300, 50, False, 0.25, 'USD', 't1')
PLAN = Plan(
    'p1',
    'look at the rock',
    reasoning='it glitters',
    steps=[PlanStep(1, 'mast_close'), PlanStep(2, 'move_forward', {'duration_s': 6.0})],
)
FORECAST = Rehearsal(
    start=ORIGIN, end=AHEAD, path=[(0.0, 0.0), (3.0, 0.0)], metres=3.0, text='3 m ahead'
)
REAL = Comparison(
    predicted_m=3.0,
    metres=1.0,
    end=ORIGIN,
    distance_gap_m=2.0,
    place_gap_m=2.0,
    heading_gap_rad=0.0,
    limit_m=0.5,
    exceeded=['distance'],
)


def told(at_s: float, fields: dict[str, Any]) -> tuple[float, TraceEvent]:
    """An event that went through the codec, as each of a recording has."""
    made = replace_time(new_event(**fields), BEGAN_NS * 1e-9 + at_s)
    return at_s, decode(encode(made))


def replace_time(event: TraceEvent, ts: float) -> TraceEvent:
    return event.model_copy(update={'ts': ts})


def recorded(events: list[tuple[float, TraceEvent]]) -> list[RawMessage]:
    return [('trace', at_s, an_event(event)) for at_s, event in events]


def a_story() -> list[tuple[float, TraceEvent]]:
    """A plan with a rehearsal and a question; its drive is not as rehearsed."""
    skipped = ExecutionResult.failure_result('p1', 2, 'stuck')
    return [
        told(0.0, TurnStarted(0).trace_fields('User: look at the rock')),
        told(0.5, CALL.trace_fields('gpt: 1000 in')),
        told(1.0, PlanMade(PLAN).trace_fields('Plan: look at the rock')),
        told(1.1, RehearsalMade(FORECAST).trace_fields()),
        told(2.0, QuestionAsked('q1', '3 m ahead').trace_fields('Asking: drive on?')),
        told(5.5, QuestionAnswered('q1', 'approve', 'go', 'anna (page)').trace_fields()),
        told(6.0, PlanStepEnded(ExecutionResult.success_result('p1', 1, 'done')).trace_fields()),
        told(9.0, PlanStepEnded(skipped).trace_fields()),
        told(
            9.1,
            RehearsalCompared(FORECAST.model_copy(update={'real': REAL})).trace_fields('2 m off'),
        ),
        told(9.5, TurnAnswered(False, None).trace_fields('I am stuck')),
        told(20.0, TurnStarted(0).trace_fields('User: and now?')),
        told(21.0, {'kind': TraceKind.ERROR, 'message': 'Stopped by anna (page)', 'ok': False}),
    ]


def test_turns_have_their_answer_or_the_last_error() -> None:
    first, second = recorded_turns(a_story())
    assert (first.goal, first.result, first.answer) == (
        'User: look at the rock',
        'failed',
        'I am stuck',
    )
    assert (first.at_s, first.ended_s, first.costs) == (0.0, 9.5, costs_of([CALL]))
    assert (second.result, second.answer, second.ended_s) == (
        'no answer',
        'Stopped by anna (page)',
        None,
    )


def test_a_turn_that_resumes_is_one_turn() -> None:
    events = [
        told(0.0, TurnStarted(0).trace_fields('User: go')),
        told(1.0, TurnStarted(3).trace_fields('Going on after 3 calls: go')),
        told(2.0, TurnAnswered(True, 0.9).trace_fields('there')),
    ]
    [turn] = recorded_turns(events)
    assert (turn.goal, turn.result, turn.at_s, turn.ended_s) == ('User: go', 'done', 0.0, 2.0)
    [resumed] = recorded_turns(events[1:])  # the recording began in between
    assert resumed.result == 'done'


@settings(max_examples=examples(100))
@given(
    st.lists(
        st.sampled_from(
            [
                TurnStarted(0).trace_fields('go'),
                TurnStarted(2).trace_fields('going on'),
                TurnAnswered(True, None).trace_fields('done'),
                TurnAnswered(False, None).trace_fields('failed'),
                {'kind': TraceKind.ERROR, 'message': 'torn', 'ok': False},
                CALL.trace_fields('call'),
            ]
        ),
        max_size=15,
    )
)
def test_no_turn_is_lost_or_answered_twice(fields: list[dict[str, Any]]) -> None:
    events = [told(float(number), each) for number, each in enumerate(fields)]
    turns = recorded_turns(events)
    new = [at_s for at_s, event in events if (s := TurnStarted.of(event)) and s.calls == 0]
    begun = [turn.at_s for turn in turns]
    assert set(new) <= set(begun)
    assert begun == sorted(set(begun))
    answers = [at_s for at_s, event in events if TurnAnswered.of(event)]
    ended = [turn.ended_s for turn in turns if turn.ended_s is not None]
    assert len(set(ended)) == len(ended)
    assert set(ended) <= set(answers)
    assert sum(turn.costs.calls for turn in turns) <= len(fields)


def test_a_question_has_its_first_answer_who_gave_it_and_how_long_it_waited() -> None:
    late = told(8.0, QuestionAnswered('q1', 'reject').trace_fields())
    open_one = told(9.0, QuestionAsked('q2').trace_fields('Asking: more?'))
    first, second = recorded_questions([*a_story(), late, open_one])
    assert first.answer == QuestionAnswered('q1', 'approve', 'go', 'anna (page)')
    assert (first.text, first.rehearsal, first.waited_s) == ('Asking: drive on?', '3 m ahead', 3.5)
    assert (second.answer, second.waited_s) == (None, None)


def test_the_answer_for_a_task_stands_alone() -> None:
    answer = QuestionAnswered('t1', 'reject', 'too dark', 'Ben (page)', asked='capture()')
    [found] = recorded_questions([told(3.0, answer.trace_fields())])
    assert (found.at_s, found.text) == (3.0, 'capture()')
    assert (found.answer, found.waited_s) == (answer, None)


def test_a_plan_has_the_result_of_each_step() -> None:
    [found] = recorded_plans(a_story())
    assert (found.at_s, found.plan.goal) == (1.0, 'look at the rock')
    assert [(text, result and result.message) for _, text, result in found.steps] == [
        ('mast_close()', 'done'),
        ('move_forward(duration_s=6.0)', 'stuck'),
    ]


def test_a_rehearsal_has_what_came_of_it() -> None:
    [found] = recorded_rehearsals(a_story())
    assert (found.text, found.outcome, found.ended_s) == ('3 m ahead', '2 m off', 9.1)
    assert found.differs
    assert found.rehearsal.path == [(0.0, 0.0), (3.0, 0.0)]


def test_a_comparison_without_its_rehearsal_stands_alone() -> None:
    other = FORECAST.model_copy(update={'text': 'other', 'real': REAL})
    alone = told(3.0, RehearsalCompared(other).trace_fields('as rehearsed'))
    first, second = recorded_rehearsals([*a_story()[:4], alone])
    assert (first.outcome, second.text, second.outcome) == ('', 'other', 'as rehearsed')


def test_costs_are_added_by_model_and_currency() -> None:
    other = replace(CALL, model='', cost=None, estimated=True)
    euro = replace(CALL, currency='EUR', cost=1.0)
    (name, both), (unnamed, unknown) = costs_by_model([CALL, other, euro])
    assert (name, both.calls, both.tokens, both.money_text) == ('gpt', 2, 2400, '0.25 USD, 1 EUR')
    assert (unnamed, unknown.money_text, unknown.estimated) == ('openai', '1 call unknown', True)


def test_events_that_are_not_ours_are_none_of_these() -> None:
    for kind in TraceKind:
        for tool in (None, 'plan', 'rehearsal'):
            for data in (None, {'plan_id': 3}, {'rehearsal': 3}, {'answered': {'by': 1}}):
                event = new_event(kind, 'm', tool_name=tool, data=data)
                for of in (PlanMade.of, PlanStepEnded.of, RehearsalMade.of, RehearsalCompared.of):
                    assert of(event) is None
                assert QuestionAnswered.of(event) is None


def test_a_report_tells_of_plans_questions_rehearsals_and_costs(tmp_path: Path) -> None:
    drive: list[RawMessage] = [('odometry', 7.0 + n, an_odometry(n / 2)) for n in range(3)]
    said = sorted([*recorded(a_story()), *drive], key=lambda each: each[1])
    text = page(read_run(write_run(tmp_path / 'run.mcap', said)))
    report_page = Page(text)
    assert loads_nothing(report_page)
    for words in (
        'Goals and answers',
        'failed: I am stuck',
        'no answer: Stopped by anna (page)',
        'look at the rock',
        'it glitters',
        'move_forward(duration_s=6.0)',
        'failed: stuck',
        'approve by anna (page): go',
        '2 m off',
        '1 model call, 1,200 tokens, 0.25 USD',
        'of them cached',
    ):
        assert words in ' '.join(report_page.text.split()), words
    assert 'rehearsed path' in text


def a_folder(folder: Path) -> Path:
    write_run(folder / 'told.mcap', recorded(a_story()))
    (folder / 'more').mkdir()
    moves: list[RawMessage] = [('odometry', 40.0 + n, an_odometry(float(n))) for n in range(3)]
    write_run(folder / 'more' / 'a:b #1.mcap', moves, end=False)
    return folder


def test_a_folder_has_an_index_with_a_row_for_each_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert report([str(a_folder(tmp_path))]) == 0
    assert capsys.readouterr().out == f'{tmp_path / "index.html"}\n'
    index = Page((tmp_path / 'index.html').read_text())
    links = [link['href'] for link in index.of('a')]
    assert links == ['more/a%3Ab%20%231.html', 'told.html']  # the newest run first
    assert (tmp_path / 'more' / 'a:b #1.html').exists()
    words = ' '.join(index.text.split())
    for each in ('User: look at the rock', 'I am stuck', '2.0 m', '0.25 USD', '1,200'):
        assert each in words, each
    assert 'cut off' in words
    assert index.of('img') == []
    assert {tag for tag, _ in index.tags}.isdisjoint({'script', 'link', 'iframe'})


def test_a_file_that_cannot_be_read_is_named_and_stops_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    a_folder(tmp_path)
    (tmp_path / 'bad.mcap').write_text('nothing')
    write_run(tmp_path / 'index.mcap', recorded(a_story()))
    out = tmp_path / 'out'
    assert report([str(tmp_path), str(out)]) == 1
    told_of = capsys.readouterr()
    assert told_of.out == f'{out / "index.html"}\n'
    index = Page((out / 'index.html').read_text())
    for each in ('bad.mcap is no MCAP file', 'its report would be the index'):
        assert each in index.text
        assert each in told_of.err
    assert len(index.of('a')) == 2
    names = sorted(each.relative_to(out).as_posix() for each in out.rglob('*.html'))
    assert names == ['index.html', 'more/a:b #1.html', 'told.html']


def test_a_folder_without_recordings_has_no_index(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert report([str(tmp_path)]) == 2
    assert 'holds no .mcap file' in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_hostile_text_stays_text_in_an_index(tmp_path: Path) -> None:
    events = [
        told(0.0, TurnStarted(0).trace_fields(HOSTILE)),
        told(1.0, TurnAnswered(True, None).trace_fields(HOSTILE)),
    ]
    summary = summary_of(read_run(write_run(tmp_path / 'a<b>"&.mcap', recorded(events))))
    hostile = UnreadableRun(HOSTILE, HOSTILE)
    text = index_page(HOSTILE, [IndexedRun('javascript:alert(1)', summary)], [hostile])
    index = Page(text)
    assert [link['href'] for link in index.of('a')] == ['javascript%3Aalert%281%29']
    assert not any(name.startswith('on') for _, attributes in index.tags for name in attributes)
    assert {tag for tag, _ in index.tags}.isdisjoint({'script', 'img', 'link'})
    assert not re.search('[\x00-\x08\x1b\u202e]', text)
    assert 'a<b>"&.mcap' in index.text
