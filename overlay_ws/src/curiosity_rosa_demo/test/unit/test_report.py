# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The report of a recording: all that happened, and nothing that it says is markup."""

from __future__ import annotations

import base64
import itertools
import json
from pathlib import Path
import re
import subprocess
import sys
import tempfile
from typing import Any
from xml.etree import ElementTree

from curiosity_rosa_demo.domain.models import TraceEvent, TraceKind
from curiosity_rosa_demo.recording.report.html import page
from curiosity_rosa_demo.recording.report.main import run as report
from curiosity_rosa_demo.recording.report.main import write_report
from curiosity_rosa_demo.recording.report.run import folded, PAGE_ROWS, pages, read_run
from curiosity_rosa_demo.recording.report.summary import (
    act_ends,
    COLUMN,
    LEFT,
    RIGHT,
    timeline_svg,
)
from curiosity_rosa_demo.trace.trace_codec import new_event
from drawing_checks import checked, classed, titles
from drawing_checks import words as labels
from examples import examples
from ground_world import ANALYSIS, analysis_event, FIGURES
from hypothesis import given, settings
from hypothesis import strategies as st
from mcap_world import (
    a_battery,
    a_picture,
    a_string,
    an_event,
    an_odometry,
    BEGAN_NS,
    RawMessage,
    write_run,
)
import pytest
from report_page import HOSTILE, loads_nothing, Page
from strategies import events

JPEGS = [b'\xff\xd8first\xff\xd9', b'\xff\xd8second\xff\xd9']


def event(number: int, at_s: float, kind: TraceKind, message: str, **fields: Any) -> RawMessage:
    made = TraceEvent(
        event_id=str(number), ts=BEGAN_NS * 1e-9 + at_s, kind=kind, message=message, **fields
    )
    return 'trace', at_s, an_event(made)


def capture(number: int, at_s: float, **fields: Any) -> RawMessage:
    return event(
        number, at_s, TraceKind.RESULT, 'captured', tool_name='capture_and_score', **fields
    )


def call(at_s: float, service: str, ok: bool, answer: str) -> RawMessage:
    made = {'service': service, 'request': {}, 'ok': ok, 'answer': answer, 'duration_s': 0.123}
    return 'calls', at_s, json.dumps(made).encode()


def a_run() -> list[RawMessage]:
    """Drives to x = 6 m in 30 s; a dark picture at 2, one that fails, a good one at 6."""
    said: list[RawMessage] = [
        event(1, 0.0, TraceKind.OBSERVE, 'User: find the light'),
        event(2, 1.0, TraceKind.DECIDE, 'drive to the light'),
        event(3, 2.0, TraceKind.ACT, 'move_forward(10)', tool_name='move_forward'),
        event(4, 12.0, TraceKind.RESULT, 'drove 2 m', tool_name='move_forward', ok=True),
        call(2.0, '/adapter/move_forward', True, 'started'),
        call(12.5, '/adapter/mast_open', False, 'Need to close mast'),
        capture(5, 13.0, ok=True, score=0.4, data={'is_good': False}),
        ('capture', 13.2, a_picture(JPEGS[0])),
        capture(6, 14.0, ok=False, error_reason='Mast is closed'),
        capture(7, 29.0, ok=True, score=0.97, data={'is_good': True}),
        ('capture', 29.1, a_picture(JPEGS[1])),
        ('capture', 29.3, a_picture(b'\xff\xd8 of another who looked')),
        event(8, 30.0, TraceKind.RESULT, 'the light is found', ok=True),
    ]
    for tenth in range(301):
        at_s = tenth / 10
        said.append(
            ('odometry', at_s, an_odometry(2.0 * min(1.0, at_s / 12) + max(0, at_s - 13) * 4 / 17))
        )
        if tenth % 10 == 0:
            said.append(('battery', at_s, a_battery(0.9 - at_s / 100)))
    return sorted(said, key=lambda each: each[1])


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return write_run(tmp_path / 'run.mcap', a_run())


def test_a_run_is_gathered_from_its_recording(file: Path) -> None:
    run = read_run(file)
    assert run.length_s == pytest.approx(30.0)
    assert run.distance_m == pytest.approx(6.0, abs=0.1)
    assert [capture.score for capture in run.captures] == [0.4, None, 0.97]
    assert [capture.image for capture in run.captures] == [JPEGS[0], b'', JPEGS[1]]
    assert [capture.is_good for capture in run.captures] == [False, False, True]
    assert run.captures[1].reason == 'Mast is closed'
    assert run.captures[2].place is not None
    assert run.captures[2].place.x == pytest.approx(2.0 + 16 * 4 / 17, abs=0.06)
    assert [call.ok for call in run.calls] == [True, False]
    assert run.battery[0] == pytest.approx((0.0, 0.9))
    assert run.battery[-1] == pytest.approx((30.0, 0.6), abs=1e-6)
    assert run.unreadable == 0
    assert [at_s for at_s, _ in run.events] == sorted(at_s for at_s, _ in run.events)


def test_a_report_holds_every_picture_decision_and_figure(file: Path) -> None:
    report_page = Page(page(read_run(file)))
    pictures = [image['src'] or '' for image in report_page.of('img')]
    assert [base64.b64decode(each.partition(',')[2]) for each in pictures] == JPEGS
    for words in (
        'User: find the light',
        'drive to the light',
        'the light is found',
        'Need to close mast',
        'failed: Mast is closed',
        'score 0.97, good',
        '6.0 m',
        '90 → 60 %',
        '/adapter/move_forward',
        'nav_msgs/msg/Odometry',
    ):
        assert words in report_page.text, words
    drawn = {each['aria-label'] for each in report_page.of('svg')}
    assert drawn == {
        'Map: rover at x 6.00 m, y 0.00 m, heading 0 degrees; captures: 3, the best scored 0.97',
        'Score over position: 2 captures',
        'Battery: from 90% to 60%',
        'Time line: 8 events',
    }
    ids = {attributes['id'] for _, attributes in report_page.tags if 'id' in attributes}
    links = {(link['href'] or '')[1:] for link in report_page.of('a')}
    assert links == ids == {'capture-1', 'capture-2', 'capture-3'}


def test_an_analysis_is_shown_with_its_figures_and_its_own_picture(tmp_path: Path) -> None:
    """A picture belongs to the analysis of the same frame, whenever it came."""
    began = BEGAN_NS * 1e-9
    said: list[RawMessage] = [
        ('analysis', 0.0, a_picture(b'\xff\xd8of an earlier frame', stamp_s=7.5)),
        ('analysis', 1.0, a_picture(JPEGS[0], stamp_s=12.25)),
        ('trace', 1.1, an_event(analysis_event('g1', began + 1.1, 12.25))),
        ('trace', 2.0, an_event(analysis_event('g2', began + 2.0, 99.0))),
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


def drawings_of(text: str) -> list[ElementTree.Element]:
    """Each of a report, checked."""
    return [checked(each, 10**6) for each in re.findall('<svg.*?</svg>', text, re.DOTALL)]


def test_what_failed_is_a_square_on_the_time_line_and_an_act_as_long_as_it_took() -> None:
    def made(kind: TraceKind, ok: bool | None = None) -> TraceEvent:
        return TraceEvent(event_id='x', ts=0.0, kind=kind, message='m', tool_name='t', ok=ok)

    kinds = [made(TraceKind.ACT), made(TraceKind.RESULT), made(TraceKind.RESULT, False)]
    times = [0.0, 30.0, 60.0]
    root = checked(timeline_svg(list(zip(times, kinds, strict=True))))
    bar, dot, square = (
        next(group.iter('rect')).attrib
        for name in ('acting', 'completed', 'failed')
        for group in classed(root, f'cr-{name}')
    )
    assert float(bar['x']) + float(bar['width']) == pytest.approx(
        float(dot['x']) + float(dot['width']) / 2, abs=0.02
    )
    assert (dot['rx'], square['rx']) == ('5', '0')
    assert titles(root) == ['0:00.0 t m', '0:30.0 t m', '1:00.0 t m']
    assert {'0:00', '0:30', '1:00', 'ACT'} <= set(labels(root))


LINES = st.lists(
    st.sampled_from(
        [
            new_event(TraceKind.ERROR, 'the joints contradict each other'),
            new_event(TraceKind.ERROR, 'the joints contradict each other', tool_name='mast_open'),
            new_event(TraceKind.RESULT, 'done', ok=True),
            new_event(TraceKind.RESULT, 'done', ok=False),
            new_event(TraceKind.RESULT, 'captured', score=0.5),
        ]
    ),
    max_size=40,
)


@given(LINES)
def test_equal_neighbours_are_one_line_and_none_is_lost(lines: list[TraceEvent]) -> None:
    rows = folded([(float(number), event) for number, event in enumerate(lines)])
    assert [row.event for row in rows for _ in range(row.count)] == lines
    for one, other in itertools.pairwise(rows):
        assert one.event != other.event or one.event.score is not None
    assert all(row.last_s == row.at_s + row.count - 1 for row in rows)
    assert all(row.count == 1 for row in rows if row.event.score is not None)


@given(st.lists(st.integers(), max_size=3 * PAGE_ROWS))
def test_long_tables_have_pages(rows: list[int]) -> None:
    found = pages(rows)
    assert [row for page_rows in found for row in page_rows] == rows
    assert all(len(page_rows) == PAGE_ROWS for page_rows in found[:-1])


def test_a_long_run_is_folded_and_paged(tmp_path: Path) -> None:
    what, many = 'the joints contradict each other', 9 * PAGE_ROWS
    same = [new_event(TraceKind.ERROR, what) for _ in range(many)]
    noted = [new_event(TraceKind.OBSERVE, f'note {number}') for number in range(PAGE_ROWS + 3)]
    messages = [('trace', 0.1 * n, an_event(each)) for n, each in enumerate(same + noted)]
    text = page(read_run(write_run(tmp_path / 'long.mcap', messages)))
    assert f'× {many}' in text
    assert text.count(what) < 1000  # in the time line's titles
    assert 'note 202' in text
    assert re.findall('<summary>(.*?)</summary>', text) == ['lines 201 to 204, 3:19.9 to 3:20.2']
    assert len(Page(text).of('details')) == 1
    assert 'open' not in Page(text).of('details')[0]


@settings(max_examples=examples(20))
@given(
    st.lists(
        st.tuples(
            st.sampled_from([TraceKind.ACT, TraceKind.RESULT]),
            st.sampled_from('abc'),
            st.booleans(),
        ),
        min_size=1,
        max_size=8,
    )
)
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


def test_a_failure_among_many_is_seen() -> None:
    done, failed = (new_event(TraceKind.RESULT, 'm', ok=ok) for ok in (True, False))
    lines = [(0.001 * n, failed if n == 4 else done) for n in range(9)] + [(600.0, done)]
    root = checked(timeline_svg(lines))
    assert titles(root) == [
        '8 events, 0:00.0 to 0:00.0; the first: m',
        '10:00.0 m',
        '0:00.0 m',
    ]
    assert [mark.attrib['class'] for mark in classed(root, 'cr-bar')][-1] == 'cr-bar cr-failed'


def test_acts_that_begin_together_are_one_bar_as_long_as_the_longest() -> None:
    def made(kind: TraceKind, tool: str) -> TraceEvent:
        return new_event(kind, 'm', tool_name=tool)

    act, result = TraceKind.ACT, TraceKind.RESULT
    lines = [(0.0, made(act, 'a')), (0.1, made(act, 'b'))]
    lines += [(30.0, made(result, 'a')), (60.0, made(result, 'b')), (600.0, made(result, 'a'))]
    root = checked(timeline_svg(lines))
    [bar] = classed(root, 'cr-acting')
    [box] = bar.iter('rect')
    assert float(box.attrib['width']) == pytest.approx((RIGHT - LEFT) / 10, abs=0.02)
    assert titles(root)[0] == '2 events, 0:00.0 to 0:00.1; the first: a m'


def test_hostile_text_stays_text_wherever_it_stands(tmp_path: Path) -> None:
    nasty = event(
        1,
        0.0,
        TraceKind.ERROR,
        HOSTILE,
        tool_name=HOSTILE,
        ok=False,
        error_reason=HOSTILE + '2',
        data={HOSTILE: [HOSTILE]},
    )
    failed = capture(2, 1.0, ok=False, error_reason=HOSTILE)
    no_picture = [
        capture(3, 1.1, ok=True, score=0.5),
        ('capture', 1.2, a_picture(b'<svg onload=alert(1)>')),
    ]
    said = [
        nasty,
        failed,
        *no_picture,
        call(2.0, HOSTILE, False, HOSTILE),
        ('odometry', 2.0, an_odometry(1.0)),
    ]
    path = write_run(
        tmp_path / 'a<b>"&.mcap', said, info={'domain': HOSTILE, 'bright_zone': HOSTILE}
    )
    run = read_run(path)
    run.end_problem, run.end = HOSTILE, {'dropped': HOSTILE}
    text = page(run)
    report_page = Page(text)
    assert loads_nothing(report_page)
    assert report_page.of('img') == []
    assert text.count('&lt;script&gt;') >= 10
    assert not re.search('[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u202a-\u202e\u2066-\u2069]', text)
    assert 'a<b>"&.mcap' in report_page.text
    assert report_page.text.count('no picture') == 2


@settings(max_examples=examples(30))
@given(
    st.lists(events, max_size=6),
    st.lists(
        st.tuples(
            st.sampled_from(
                ['trace', 'odometry', 'battery', 'capture', 'adapter', 'calls', 'scan']
            ),
            st.floats(0.0, 1e4),
            st.binary(max_size=60),
        ),
        max_size=5,
    ),
    st.lists(st.tuples(st.floats(), st.floats()), max_size=5),
)
def test_any_recording_has_a_report(
    told: list[TraceEvent],
    noise: list[RawMessage],
    places: list[tuple[float, float]],
) -> None:
    said = [('trace', float(number), an_event(each)) for number, each in enumerate(told)]
    moves = [('odometry', float(n), an_odometry(x, y)) for n, (x, y) in enumerate(places)]
    with tempfile.TemporaryDirectory() as folder:
        text = page(read_run(write_run(Path(folder, 'run.mcap'), [*said, *moves, *noise])))
    assert loads_nothing(Page(text))
    drawings_of(text)
    numbers = re.findall(r'(?:x|y|cx|cy|width|height|points)="([^"]*)"', text)
    assert not any('nan' in number or 'inf' in number for number in numbers)


def test_a_recording_that_was_cut_off_says_so(tmp_path: Path) -> None:
    whole = Page(page(read_run(write_run(tmp_path / 'whole.mcap', a_run()))))
    assert 'cut off' not in whole.text
    cut = write_run(tmp_path / 'cut.mcap', a_run(), end=False)
    assert 'cut off' in Page(page(read_run(cut))).text
    torn = tmp_path / 'torn.mcap'
    torn.write_bytes(cut.read_bytes()[:-60])
    assert 'torn' in Page(page(read_run(torn))).text


def test_without_odometry_the_adapter_tells_where_the_rover_was(tmp_path: Path) -> None:
    places = [None, 0.0, 1.0, 'far', 2.0]
    said = [
        ('adapter', float(n), a_string(json.dumps({'rover_x': x, 'rover_y': 0.0})))
        for n, x in enumerate(places)
    ]
    run = read_run(write_run(tmp_path / 'run.mcap', [*said, ('adapter', 9.0, a_string('what'))]))
    assert [place.x for place in run.trail] == [0.0, 1.0, 2.0]
    assert run.unreadable == 2  # 'far', and what is no JSON


def test_a_world_that_was_reset_is_no_distance(tmp_path: Path) -> None:
    said = [('odometry', float(n), an_odometry(x)) for n, x in enumerate([0.0, 1.0, 900.0, 901.0])]
    assert read_run(write_run(tmp_path / 'run.mcap', said)).distance_m == pytest.approx(2.0)


def test_an_act_ends_with_the_next_result_of_its_tool() -> None:
    def made(kind: TraceKind, tool: str | None) -> TraceEvent:
        return TraceEvent(event_id='x', ts=0.0, kind=kind, message='', tool_name=tool)

    kinds = [
        made(TraceKind.ACT, 'a'),
        made(TraceKind.ACT, 'b'),
        made(TraceKind.RESULT, 'a'),
        made(TraceKind.RESULT, None),
        made(TraceKind.ERROR, 'b'),
        made(TraceKind.RESULT, 'b'),
        made(TraceKind.ACT, 'c'),
    ]
    assert act_ends([(float(n), each) for n, each in enumerate(kinds)]) == {0: 2.0, 1: 4.0}


def test_the_command_writes_beside_the_recording_or_where_it_is_told(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert report([str(file)]) == 0
    beside = tmp_path / 'run.html'
    assert capsys.readouterr().out == f'{beside}\n'
    assert report([str(file), str(tmp_path / 'other.html')]) == 0
    assert (tmp_path / 'other.html').read_bytes() == beside.read_bytes()
    assert sorted(p.name for p in tmp_path.iterdir()) == ['other.html', 'run.html', 'run.mcap']


def test_a_recording_is_never_overwritten_by_its_report(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = file.read_bytes()
    assert report([str(file), str(file)]) == 2
    assert 'overwrite' in capsys.readouterr().err
    assert file.read_bytes() == before
    (tmp_path / 'text').write_text('no recording')
    for name in ('text', 'none.mcap'):
        assert report([str(tmp_path / name)]) == 2
        error = capsys.readouterr().err
        assert name in error
        assert 'Traceback' not in error
    with pytest.raises(OSError, match='nowhere'):
        write_report(file, tmp_path / 'nowhere' / 'out.html')


def test_an_event_of_another_clock_is_put_where_it_was_heard(tmp_path: Path) -> None:
    times = [-90_000.0, -5.0, 1.0, 10_000.0, 1e300]
    said = [
        ('trace', float(n), event(n, at_s, TraceKind.ACT, str(at_s))[2])
        for n, at_s in enumerate(times)
    ]
    run = read_run(write_run(tmp_path / 'run.mcap', said))
    heard = {e.message: at_s for at_s, e in run.events}
    assert heard == pytest.approx(
        {'-90000.0': 0.0, '-5.0': -5.0, '1.0': 1.0, '10000.0': 3.0, '1e+300': 4.0}
    )


def test_a_report_needs_neither_ros_nor_the_agent(file: Path) -> None:
    script = (
        'import sys\n'
        'agent = "curiosity_rosa_demo.agent"\n'
        'sys.modules.update(dict.fromkeys(["rclpy", "std_msgs", "ament_index_python", agent]))\n'
        'from curiosity_rosa_demo.recording.report.main import run\n'
        'sys.exit(run(sys.argv[1:]))\n'
    )
    done = subprocess.run(
        [sys.executable, '-c', script, str(file)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, '')
