# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The report of a recording and the index of many: all that happened, and nothing is markup."""

from __future__ import annotations

import base64
from html.parser import HTMLParser
import itertools
import json
from pathlib import Path
import re
import subprocess
import sys
import tempfile
from typing import Any

from curiosity_rosa_demo.domain.geometry import Place
from curiosity_rosa_demo.domain.models import TraceEvent, TraceKind
from curiosity_rosa_demo.domain.plan import ExecutionResult, Plan, PlanStep
from curiosity_rosa_demo.domain.rehearsal import Comparison, Rehearsal
from curiosity_rosa_demo.recording.drawings import COLUMN, LEFT, RIGHT, timeline_svg
from curiosity_rosa_demo.recording.report import (
    Costs,
    costs_by_model,
    folded,
    index_page,
    page,
    write_report,
)
from curiosity_rosa_demo.recording.report import run as report
from curiosity_rosa_demo.recording.run import read_run, RecordedRun
from curiosity_rosa_demo.trace.events import (
    GroundAnalyzed,
    ModelCalled,
    PlanMade,
    PlanStepEnded,
    QuestionAnswered,
    QuestionAsked,
    RehearsalCompared,
    RehearsalMade,
    TurnAnswered,
    TurnStarted,
)
from curiosity_rosa_demo.trace.trace_codec import decode, encode, new_event
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from mcap_world import (
    a_drive,
    a_picture,
    a_string,
    an_event,
    an_odometry,
    BEGAN_NS,
    captured,
    RawMessage,
    traced,
    write_run,
)
from missions.rover_twin import ANALYSIS
import pytest
from strategies import events
from test_drawing import checked, classed, titles

HOSTILE = '<script>alert(1)</script><img src=x onerror=alert(2)>"\'&\x00\x1b[31m\u202eevil'


class Page(HTMLParser):
    """Tags, attributes and text of a page as a browser would see them; raises on what does not
    nest.
    """

    VOID = frozenset({'meta', 'br', 'img'})

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: Any) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    @property
    def text(self) -> str:
        return ' '.join(self.words)

    def of(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for each, attributes in self.tags if each == tag]


FIGURES = [  # of ANALYSIS: name, value, how sure it is
    ('Class', 'coarse grained', '83 %'),
    ('Grain', 'about 3.1 cm (12 px)', '83 %'),
    ('Rocks', '5 within 20 m', '60 %'),
    ('Coverage', '1.3 % of the ground', '60 %'),
    ('Largest rock', 'about 0.8 m wide, 6.2 m away, 12 deg right', '30 %'),
    ('Sharpness', '0.77 of 1', 'measured'),
    ('Exposure', '120 of 255, 0.0 % clipped', 'measured'),
]


def loads_nothing(report_page: Page) -> bool:
    names = {tag for tag, _ in report_page.tags}
    assert names.isdisjoint({'script', 'iframe', 'link', 'object', 'embed', 'form', 'base'})
    for tag, attributes in report_page.tags:
        assert not any(name.startswith('on') for name in attributes), tag
        for name in ('src', 'href', 'xlink:href', 'action'):
            assert re.match(r'data:image/(jpeg|png);base64,|#', attributes.get(name) or '#'), tag
    (policy,) = [m for m in report_page.of('meta') if m.get('http-equiv')]
    assert (policy['content'] or '').startswith("default-src 'none'; img-src data:;")
    return True


JPEGS = [b'\xff\xd8first\xff\xd9', b'\xff\xd8second\xff\xd9']


def call(at_s: float, service: str, ok: bool, answer: str) -> RawMessage:
    made = {'service': service, 'request': {}, 'ok': ok, 'answer': answer, 'duration_s': 0.123}
    return 'calls', at_s, json.dumps(made).encode()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    said: list[RawMessage] = [
        *a_drive(JPEGS[0]),
        traced('goal', 0.5, TraceKind.OBSERVE, 'User: find the light'),
        call(1.0, '/adapter/move_forward', True, 'started'),
        call(2.0, '/adapter/mast_open', False, 'Need to close mast'),
        captured('failed', 3.0, ok=False, error_reason='Mast is closed'),
        ('capture', 5.0, a_picture(b'\xff\xd8 of another who looked')),
        captured('dark', 9.0, ok=True, score=0.4, data={'is_good': False}),
        ('capture', 9.2, a_picture(JPEGS[1])),
    ]
    return write_run(tmp_path / 'run.mcap', sorted(said, key=lambda each: each[1]))


def test_a_report_holds_every_picture_decision_and_figure(file: Path) -> None:
    report_page = Page(page(read_run(file)))
    pictures = [image['src'] or '' for image in report_page.of('img')]
    assert [base64.b64decode(each.partition(',')[2]) for each in pictures] == JPEGS
    told = ('find the light', 'wheel slips', 'Need to close mast', 'failed: Mast is closed')
    figures = ('score 0.90, good', '10.0 m', '90 → 80 %', '/adapter/move_forward', '/msg/Odometry')
    assert [words for words in (*told, *figures) if words not in report_page.text] == []
    drawn = {each['aria-label'] for each in report_page.of('svg')}
    assert drawn == {
        'Map: rover at x 10.00 m, y 0.00 m, heading 0 degrees; captures: 3, the best scored 0.90',
        'Score over position: 2 captures, good from 0.80',
        'Battery: from 90% to 80%',
        'Time line: 5 events',
    }
    assert 'cut off' not in report_page.text
    ids = {attributes['id'] for _, attributes in report_page.tags if 'id' in attributes}
    links = {(link['href'] or '')[1:] for link in report_page.of('a')}
    assert links == ids == {'capture-1', 'capture-2', 'capture-3'}


def test_a_recording_that_lacks_something_says_so_and_takes_what_there_is(tmp_path: Path) -> None:
    times = [-90_000.0, -5.0, 1.0, 10_000.0, 1e300]  # of another clock: where it was heard
    said = [
        ('trace', float(n), traced(str(n), at_s, TraceKind.ACT, str(at_s))[2])
        for n, at_s in enumerate(times)
    ]
    for n, x in enumerate([None, 0.0, 1.0, 'far', 2.0]):  # no odometry
        status = json.dumps({'rover_x': x, 'rover_y': 0.0, 'yaw_rad': 0.0})
        said.append(('adapter', float(n), a_string(status)))
    cut = write_run(tmp_path / 'cut.mcap', [*said, ('adapter', 9.0, a_string('what'))], end=False)
    run = read_run(cut)
    assert [at_s for at_s, _ in run.events] == pytest.approx([-5.0, 0.0, 1.0, 3.0, 4.0])
    assert [place.x for _, place in run.trail] == [0.0, 1.0, 2.0]
    assert run.unreadable == 1  # what is no JSON
    assert 'cut off' in Page(page(run)).text
    cut.write_bytes(cut.read_bytes()[:-60])
    assert 'torn' in Page(page(read_run(cut))).text


def test_an_analysis_is_shown_with_its_figures_and_its_own_picture(tmp_path: Path) -> None:
    """A picture belongs to the analysis of the same frame, whenever it came."""

    def analyzed(stamp_s: float) -> dict[str, Any]:
        return GroundAnalyzed(ANALYSIS, stamp_s).trace_fields('analyze_ground: done')

    said: list[RawMessage] = [
        ('analysis', 0.0, a_picture(b'\xff\xd8of an earlier frame', stamp_s=7.5)),
        ('analysis', 1.0, a_picture(JPEGS[0], stamp_s=12.25)),
        *recorded([told(1.1, analyzed(12.25)), told(2.0, analyzed(99.0))]),
    ]
    run = read_run(write_run(tmp_path / 'run.mcap', said))
    assert [(each.analysis, each.image) for each in run.grounds] == [
        (ANALYSIS, JPEGS[0]),
        (ANALYSIS, b''),
    ]
    report_page = Page(page(run))
    assert len(report_page.of('img')) == 1
    for words in (*(word for figure in FIGURES for word in figure), ANALYSIS.geometry_note):
        assert words in report_page.text, words


kinds = st.sampled_from([TraceKind.ACT, TraceKind.RESULT])
LINES = st.lists(st.tuples(kinds, st.sampled_from('ab'), st.booleans()), min_size=1, max_size=30)


@given(LINES)
def test_equal_neighbours_are_one_line_and_none_is_lost(
    lines: list[tuple[TraceKind, str, bool]],
) -> None:
    made = {each: new_event(each[0], 'm', tool_name=each[1], ok=each[2]) for each in lines}
    events = [made[each] for each in lines]
    rows = folded([(float(number), event) for number, event in enumerate(events)])
    assert [row.event for row in rows for _ in range(row.count)] == events
    assert all(one.event != other.event for one, other in itertools.pairwise(rows))
    assert all(row.last_s == row.at_s + row.count - 1 for row in rows)


@settings(max_examples=examples(20))
@given(LINES)
def test_a_time_line_has_a_bound_of_marks_that_tell_of_every_event(
    cycle: list[tuple[TraceKind, str, bool]],
) -> None:
    made = [new_event(kind, 'm', tool_name=tool, ok=ok) for kind, tool, ok in cycle]
    lines = [(0.01 * n, made[n % len(made)]) for n in range(3000)]
    root = checked(timeline_svg(lines), 10**6)
    marks = classed(root, 'cr-bar')
    assert len(marks) <= 2 * 2 * 2 * (1 + (RIGHT - LEFT) / COLUMN)  # kinds, styles, dots and bars
    counts = [re.match(r'(\d+) events, ', each) for each in titles(root)]
    assert sum(int(count[1]) if count else 1 for count in counts) == 3000


def test_hostile_text_stays_text_wherever_it_stands(tmp_path: Path) -> None:
    many = {'tool_name': HOSTILE, 'error_reason': f'{HOSTILE}2', 'data': {HOSTILE: [HOSTILE]}}
    said = [
        traced('1', 0.0, TraceKind.ERROR, HOSTILE, ok=False, **many),
        captured('2', 1.0, ok=False, error_reason=HOSTILE),
        captured('3', 1.1, ok=True, score=0.5),
        ('capture', 1.2, a_picture(b'<svg onload=alert(1)>')),
        call(2.0, HOSTILE, False, HOSTILE),
        ('odometry', 2.0, an_odometry(1.0)),
    ]
    info = {'domain': HOSTILE, 'thresholds': HOSTILE}
    run = read_run(write_run(tmp_path / 'a<b>"&.mcap', said, info=info))
    run.end_problem, run.end = HOSTILE, {'dropped': HOSTILE}
    text = page(run)
    report_page = Page(text)
    assert loads_nothing(report_page)
    assert text.count('&lt;script&gt;') >= 10
    assert 'a<b>"&.mcap' in report_page.text
    assert report_page.text.count('no picture') == 2
    run.drop_data()
    rows = {'javascript:alert(1)': run}
    index = index_page(HOSTILE, rows, {HOSTILE: HOSTILE})
    assert [each['href'] for each in Page(index).of('a')] == ['javascript%3Aalert%281%29']
    for each in (text, index):
        tags = Page(each).tags
        assert not any(name.startswith('on') for _, attributes in tags for name in attributes)
        assert {tag for tag, _ in tags}.isdisjoint({'script', 'img', 'link'})
        assert not re.search('[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u202a-\u202e\u2066-\u2069]', each)


def test_a_forged_figure_ends_no_report(tmp_path: Path) -> None:
    fields = CALL.trace_fields('gpt')
    fields['data']['model_call']['input'] = 10**4299 * 9  # two make more digits than Python prints
    said = [
        ('calls', 0.0, b'{"service": "s", "duration_s": 1e308}'),
        *recorded([told(1.0, fields), told(2.0, fields)]),
    ]
    run = read_run(write_run(tmp_path / 'run.mcap', said))
    assert loads_nothing(Page(page(run)))
    assert (run.unreadable, run.model_calls, len(run.events)) == (1, [], 2)


ROLES = ['trace', 'odometry', 'battery', 'capture', 'adapter', 'calls', 'scan']
noises = st.tuples(st.sampled_from(ROLES), st.floats(0.0, 1e4), st.binary(max_size=60))


@settings(max_examples=examples(30))
@given(
    st.lists(events, max_size=6),
    st.lists(noises, max_size=5),
    st.lists(st.tuples(st.floats(), st.floats()), max_size=5),
)
def test_any_recording_has_a_report(
    told: list[TraceEvent], noise: list[RawMessage], places: list[tuple[float, float]]
) -> None:
    said = [('trace', float(number), an_event(each)) for number, each in enumerate(told)]
    moves = [('odometry', float(n), an_odometry(x, y)) for n, (x, y) in enumerate(places)]
    with tempfile.TemporaryDirectory() as folder:
        text = page(read_run(write_run(Path(folder, 'run.mcap'), [*said, *moves, *noise])))
    assert loads_nothing(Page(text))
    for drawing in re.findall('<svg.*?</svg>', text, re.DOTALL):
        checked(drawing, 10**6)
    numbers = re.findall(r'(?:x|y|cx|cy|width|height|points)="([^"]*)"', text)
    assert not any('nan' in number or 'inf' in number for number in numbers)


def test_the_command_writes_beside_the_recording_and_never_over_it(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before, beside = file.read_bytes(), tmp_path / 'run.html'
    assert report([str(file)]) == 0
    assert capsys.readouterr().out == f'{beside}\n'
    assert report([str(file), str(tmp_path / 'other.html')]) == 0
    assert (tmp_path / 'other.html').read_bytes() == beside.read_bytes()
    assert report([str(file), str(file)]) == 2
    assert 'overwrite' in capsys.readouterr().err
    assert file.read_bytes() == before
    (tmp_path / 'text').write_text('no recording')
    for name in ('text', 'none.mcap'):
        assert report([str(tmp_path / name)]) == 2
        assert re.fullmatch(f'.*{name}.*\n', capsys.readouterr().err)
    with pytest.raises(OSError, match='nowhere'):
        write_report(file, tmp_path / 'nowhere' / 'out.html')


def test_a_report_needs_neither_ros_nor_the_agent(file: Path) -> None:
    script = (
        'import sys\n'
        'agent = "curiosity_rosa_demo.agent"\n'
        'sys.modules.update(dict.fromkeys(["rclpy", "std_msgs", "ament_index_python", agent]))\n'
        'from curiosity_rosa_demo.recording.report import run\n'
        'sys.exit(run(sys.argv[1:]))\n'
    )
    done = subprocess.run(
        [sys.executable, '-c', script, str(file)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, '')


# --- turns, plans, questions, rehearsals and costs ------------------------------------------

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
    made = new_event(**fields).model_copy(update={'ts': BEGAN_NS * 1e-9 + at_s})
    return at_s, decode(encode(made))


def recorded(events: list[tuple[float, TraceEvent]]) -> list[RawMessage]:
    return [('trace', at_s, an_event(event)) for at_s, event in events]


def told_by(events: list[tuple[float, TraceEvent]]) -> RecordedRun:
    run = RecordedRun('told')
    for at_s, event in events:
        run.tell(at_s, event)
    return run


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
    turns = told_by(events).turns
    new = [at_s for at_s, event in events if (s := TurnStarted.of(event)) and s.calls == 0]
    begun = [turn.at_s for turn in turns]
    assert set(new) <= set(begun)
    assert begun == sorted(set(begun))
    answers = [at_s for at_s, event in events if TurnAnswered.of(event)]
    ended = [turn.ended_s for turn in turns if turn.ended_s is not None]
    assert len(set(ended)) == len(ended)
    assert set(ended) <= set(answers)
    assert sum(len(turn.calls) for turn in turns) <= len(fields)


def test_turns_plans_questions_and_rehearsals_have_what_came_of_them() -> None:
    late = told(22.0, QuestionAnswered('q1', 'reject').trace_fields())
    open_one = told(23.0, QuestionAsked('q2').trace_fields('Asking: more?'))
    of_a_task = QuestionAnswered('t1', 'reject', 'too dark', 'Ben (page)', asked='capture()')
    other = FORECAST.model_copy(update={'text': 'other', 'real': REAL})
    alone = told(25.0, RehearsalCompared(other).trace_fields('as rehearsed'))
    story = [*a_story(), late, open_one, told(24.0, of_a_task.trace_fields()), alone]
    all_told = told_by(story)
    assert [(t.goal, t.result, t.answer, t.at_s, t.ended_s) for t in all_told.turns] == [
        ('User: look at the rock', 'failed', 'I am stuck', 0.0, 9.5),
        ('User: and now?', 'no answer', 'Stopped by anna (page)', 20.0, None),
    ]
    assert [(q.text, q.answer, q.waited_s) for q in all_told.questions.values()] == [
        ('Asking: drive on?', QuestionAnswered('q1', 'approve', 'go', 'anna (page)'), 3.5),
        ('Asking: more?', None, None),
        ('capture()', of_a_task, None),
    ]
    [plan] = all_told.plans.values()
    assert (plan.at_s, plan.plan.goal) == (1.0, 'look at the rock')
    results = {step: result.message for step, result in plan.results.items()}
    assert results == {1: 'done', 2: 'stuck'}
    found = [(r.rehearsal.text, r.outcome, r.ended_s) for r in all_told.rehearsals]
    assert found == [('3 m ahead', '2 m off', 9.1), ('other', 'as rehearsed', 25.0)]
    resumes = TurnStarted(3).trace_fields('Going on after 3 calls: go')
    parts = [TurnStarted(0).trace_fields('go'), resumes, TurnAnswered(True, 0.9).trace_fields('x')]
    other_model = CALL.model_copy(update={'model': '', 'cost': None, 'estimated': True})
    euro = CALL.model_copy(update={'currency': 'EUR', 'cost': 1.0})
    calls = [told(0.0, each.trace_fields('call')) for each in (CALL, other_model, euro)]
    costs = costs_by_model(told_by(calls).model_calls)
    both, unknown = costs['gpt'], costs['openai']
    assert (both.calls, both.tokens, both.money_text) == (2, 2400, '0.25 USD, 1 EUR')
    assert (unknown.calls, unknown.money_text) == (1, '1 call unknown')
    every = Costs(told_by(calls).model_calls)
    assert (every.calls, every.tokens, every.estimated) == (3, 3600, True)
    assert every.money_text == '0.25 USD, 1 EUR, 1 call unknown'
    for fields in (parts, parts[1:]):  # the recording may have begun in between
        [turn] = told_by([told(float(n), each) for n, each in enumerate(fields)]).turns
        assert turn.result == 'done'


def test_a_folder_has_an_index_and_a_file_that_cannot_be_read_is_named_and_stops_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert report([str(tmp_path)]) == 2
    assert 'holds no .mcap file' in capsys.readouterr().err
    write_run(tmp_path / 'told.mcap', recorded(a_story()))
    (tmp_path / 'more').mkdir()
    moves: list[RawMessage] = [('odometry', 40.0 + n, an_odometry(float(n))) for n in range(3)]
    write_run(tmp_path / 'more' / 'a:b #1.mcap', moves, end=False)
    assert report([str(tmp_path)]) == 0
    assert capsys.readouterr().out == f'{tmp_path / "index.html"}\n'
    index = Page((tmp_path / 'index.html').read_text())
    links = ['more/a%3Ab%20%231.html', 'told.html']  # the newest run first
    assert [link['href'] for link in index.of('a')] == links
    shown = ' '.join(index.text.split())
    one = Page(page(read_run(tmp_path / 'told.mcap')))
    assert loads_nothing(one)
    words = ('it glitters', 'move_forward(duration_s=6.0)', 'failed: stuck', '2 m off')
    for each in (*words, 'approve by anna (page): go'):
        assert each in ' '.join(one.text.split()), each
    told_of = ('User: look at the rock', 'I am stuck', '2.0 m', '0.25 USD', '1,200', 'cut off')
    assert [each for each in told_of if each not in shown] == []
    (tmp_path / 'bad.mcap').write_text('nothing')
    write_run(tmp_path / 'index.mcap', recorded(a_story()))
    out = tmp_path / 'out'
    assert report([str(tmp_path), str(out)]) == 1
    errors = capsys.readouterr().err
    index = Page((out / 'index.html').read_text())
    for each in ('bad.mcap is no MCAP file', 'its report would be the index'):
        assert each in index.text
        assert each in errors
    names = sorted(each.relative_to(out).as_posix() for each in out.rglob('*.html'))
    assert names == ['index.html', 'more/a:b #1.html', 'told.html']
