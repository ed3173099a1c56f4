# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What the page showed, by time: the history of its parts, its file, and the time it shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
import json
import math
from pathlib import Path
import tempfile

from curiosity_rosa_demo.agent.interfaces.page.history import (
    FORMAT,
    History,
    MAX_KEPT_PLACES,
    Place,
)
from curiosity_rosa_demo.agent.interfaces.page.history_file import HistoryFile
from curiosity_rosa_demo.agent.interfaces.page.status_rows import PanelData, restart_data
from curiosity_rosa_demo.agent.interfaces.page.time_cursor import SPEEDS, TimeCursor
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import json_values, text

NOW = 1e9  # later than all that is recorded here
MOST = 100  # places that a view asks for

names = st.sampled_from(['status', 'tasks', 'captures', 'plan'])
facts = st.dictionaries(st.sampled_from(['mode', 'why', 'level']), json_values, max_size=3)
capture_facts = st.fixed_dictionaries(
    {'rows': st.lists(st.fixed_dictionaries({'id': text}), max_size=2)}
)
all_parts = st.fixed_dictionaries(
    {'status': facts, 'tasks': facts, 'plan': facts, 'captures': capture_facts}
)


@dataclass
class Shown:
    """What a page showed at a time."""

    at: float
    parts: Mapping[str, PanelData]
    trail: Sequence[Place]
    starts: bool = False  # the agent


@dataclass
class Recorded:
    history: History
    lines: list[str] = field(default_factory=list)  # for its file

    def record(self, shown: Shown) -> None:
        if shown.starts:
            self.lines.append(self.history.record_start(shown.at))
        self.lines.append(self.history.record(shown.at, shown.parts))
        self.lines.append(self.history.record_trail(shown.at, shown.trail))


@st.composite
def runs(draw: st.DrawFn, least: int = 1) -> list[Shown]:
    """What was shown one after the other, in whole seconds."""
    times = sorted(draw(st.sets(st.integers(1, 1000), min_size=least, max_size=40)))
    run, trail, x = list[Shown](), list[Place](), 0.0
    for at in times:
        if draw(st.integers(0, 9)) == 0:
            trail = []  # the world was reset
        for _ in range(draw(st.integers(0, 3))):
            x += 0.5  # the rover comes to no place twice
            trail = [*trail, (x, -x)][-4:]
        run.append(Shown(float(at), draw(all_parts), trail, starts=draw(st.booleans())))
    return run


def recorded(run: Sequence[Shown], history: History | None = None) -> Recorded:
    made = Recorded(history or History())
    for each in run:
        made.record(each)
    return made


def as_read(parts: Mapping[str, PanelData]) -> dict[str, PanelData]:
    read: dict[str, PanelData] = json.loads(json.dumps(parts))
    return read


# --- the history -----------------------------------------------------------------------------


@settings(max_examples=examples(100))
@given(runs())
def test_the_view_of_a_time_is_what_was_shown_then(run: list[Shown]) -> None:
    history = recorded(run).history
    assert history.view(run[0].at - 0.5, MOST).parts == {}
    for each in run:
        for at in (each.at, each.at + 0.5):
            assert history.view(at, MOST).parts == as_read(each.parts)
    assert history.view(NOW, MOST).parts == as_read(run[-1].parts)
    assert (history.start, history.end) == (run[0].at, run[-1].at)


@settings(max_examples=examples(60))
@given(runs(least=2), st.data())
def test_what_comes_later_changes_no_view(run: list[Shown], data: st.DataObject) -> None:
    cut = data.draw(st.integers(1, len(run) - 1))
    early, whole = recorded(run[:cut]).history, recorded(run).history
    for each in run[:cut]:
        assert whole.view(each.at, MOST) == early.view(each.at, MOST)


@settings(max_examples=examples(60))
@given(runs())
def test_the_trail_ends_as_the_trail_that_was_shown(run: list[Shown]) -> None:
    """It may be longer: a live trail is cut at its start."""
    history = recorded(run).history
    for each in run:
        driven = history.view(each.at, MOST).trail
        assert [*driven][len(driven) - len(each.trail) :] == [*each.trail] or not each.trail


@settings(max_examples=examples(60))
@given(runs())
def test_an_agent_that_starts_has_the_views_of_the_one_before(run: list[Shown]) -> None:
    before = recorded(run)
    following = History()
    following.restore(filter(None, before.lines), NOW)
    assert following.unreadable == 0
    assert following.starts == before.history.starts
    assert following.marks.newest(MOST) == before.history.marks.newest(MOST)
    for each in run:
        assert following.view(each.at, MOST) == before.history.view(each.at, MOST)


@settings(max_examples=examples(60))
@given(runs(), st.lists(st.tuples(st.integers(0, 200), st.binary(max_size=30)), max_size=4))
def test_a_damaged_line_is_counted_and_costs_no_view_from_the_next_start_on(
    run: list[Shown], damages: list[tuple[int, bytes]]
) -> None:
    """A line that is damaged may be one that others build on, until the agent starts again."""
    before = recorded(run)
    lines = [*filter(None, before.lines)]
    for place, damage in damages:
        lines.insert(place % (len(lines) + 1), '{"at": 5, ' + damage.decode(errors='replace'))
    last = Shown(2000.0, {'status': {'mode': 'IDLE'}, 'captures': {'rows': []}}, [], starts=True)
    after = Recorded(History())
    after.record(last)
    following = History()
    following.restore([*lines, *filter(None, after.lines)], NOW)
    assert following.unreadable == len(damages)
    for each in run:  # a line was put in, none was lost
        assert following.view(each.at, MOST) == before.history.view(each.at, MOST)
    assert following.view(2000.0, MOST).parts == as_read(last.parts)


@settings(max_examples=examples(60))
@given(runs(), st.integers(0, 5000))
def test_a_file_that_was_cut_anywhere_has_what_stands_before_the_cut(
    run: list[Shown], cut: int
) -> None:
    before = recorded(run)
    lines = [*filter(None, before.lines)]
    stored = '\n'.join(lines)
    part = stored[: cut % (len(stored) + 1)]
    whole = part.count('\n') + (part in ('', stored) or stored[len(part)] == '\n')
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, 'view.jsonl')
        path.write_text(part)
        following = History()
        HistoryFile(path).restore(following, NOW)
    expected = History()
    expected.restore(lines[:whole] if part else [], NOW)
    assert following.unreadable <= 1
    assert following.view(NOW, MOST) == expected.view(NOW, MOST)


@settings(max_examples=examples(100))
@given(st.lists(json_values.map(json.dumps) | st.text(), max_size=5), runs())
def test_whatever_stands_in_the_file_the_agent_records_on(
    odd: list[str], run: list[Shown]
) -> None:
    history = History()
    history.restore(odd, NOW)
    made = recorded(run, history)
    assert made.history.view(run[-1].at, MOST).parts == as_read(run[-1].parts)


def test_a_line_from_the_future_or_of_another_format_is_left_out() -> None:
    parts = {'status': {'mode': 'IDLE'}}
    for entry in (
        {'at': NOW + 1.0, 'format': FORMAT, 'all': parts},
        {'at': math.inf, 'format': FORMAT, 'all': parts},
        {'at': math.nan, 'format': FORMAT, 'all': parts},
        {'at': 5.0, 'format': FORMAT + 1, 'all': parts},
        {'at': 5.0, 'all': parts},
        {'at': 5.0, 'changed': {'status': {'set': {'mode': 'SAFE'}}}},
        {'at': 5.0, 'places': [[math.inf, 0.0]]},
    ):
        history = History()
        history.restore([json.dumps(entry)], NOW)
        assert (history.unreadable, history.start) == (1, None), entry


def test_the_memory_is_bounded_and_the_newest_is_kept() -> None:
    history = History(max_bytes=20_000, max_lines=50)
    stored = 0
    for second in range(5000):
        at = float(second)
        stored += len(history.record(at, {'status': {'mode': str(second), 'why': 'x' * 20}}))
        history.add_line(at, restart_data(at))
    assert stored > 100_000
    start = history.start
    assert start is not None
    assert 4000.0 < start < 4990.0
    assert history.view(4990.0, MOST).parts['status']['mode'] == '4990'
    assert history.view(0.0, MOST).parts == {}
    assert history.lines.total == 5000
    assert len(history.lines.newest(10_000)) <= 57
    for second in range(MAX_KEPT_PLACES // 10):
        history.record_trail(5000.0, [(second + tenth / 20, 0.0) for tenth in range(20)])
    assert len(history.view(NOW, 10**6).trail) <= 1.2 * MAX_KEPT_PLACES


def test_the_file_is_bounded_and_holds_the_newest(tmp_path: Path) -> None:
    path = tmp_path / 'view.jsonl'
    file, history = HistoryFile(path), History()
    for second in range(300):
        at = float(second)
        file.append([history.record(at, {'status': {'why': f'{second} {"x" * 99_000}'}})])
    file.close()
    assert sum(each.stat().st_size for each in tmp_path.iterdir()) < 17_000_000
    following = History()
    HistoryFile(path).restore(following, NOW)
    assert following.view(NOW, MOST).parts['status']['why'].startswith('299 ')


def test_a_block_that_begins_anew_needs_nothing_of_what_was_lost() -> None:
    lost, kept = History(), list[str]()
    lost.record(1.0, {'status': {'mode': 'IDLE', 'why': 'a'}})
    lost.begin_block()
    kept.append(lost.record(2.0, {'status': {'mode': 'EXEC', 'why': 'a'}}))
    kept.append(lost.record(3.0, {'status': {'mode': 'SAFE', 'why': 'a'}}))
    following = History()
    following.restore(kept, NOW)
    assert following.view(3.0, MOST) == lost.view(3.0, MOST)
    assert following.view(2.0, MOST) == lost.view(2.0, MOST)


def test_a_clock_that_is_set_back_loses_nothing() -> None:
    history = History()
    history.record(100.0, {'status': {'mode': 'IDLE'}})
    history.record(50.0, {'status': {'mode': 'EXEC'}})
    assert history.view(100.0, MOST).parts['status']['mode'] == 'EXEC'
    history.record(101.0, {'status': {'mode': 'SAFE'}})
    assert history.view(100.5, MOST).parts['status']['mode'] == 'EXEC'


# --- the time that a page shows --------------------------------------------------------------


@given(json_values | st.floats(), st.floats(0.0, 1e9), st.floats(0.0, 1e6))
def test_a_page_shows_no_time_before_the_start_or_after_the_end(
    asked: object, start: float, length: float
) -> None:
    cursor = TimeCursor()
    cursor.show(asked, start, start + length)
    assert cursor.at is None or start <= cursor.at <= start + length
    cursor.show(asked, None, start)
    cursor.set_speed(asked)
    assert cursor.speed in SPEEDS


@given(st.sampled_from(SPEEDS), st.lists(st.floats(0.0, 10.0), max_size=9), st.booleans())
def test_playing_moves_on_at_its_speed_and_ends_at_the_end(
    speed: float, waits: list[float], becomes_live: bool
) -> None:
    cursor, clock, end = TimeCursor(), 7.0, 160.0
    cursor.show(100.0, 0.0, end)
    cursor.advance(clock, end, becomes_live=becomes_live)
    assert cursor.at == 100.0  # it does not play
    cursor.set_speed(speed)
    cursor.play(clock)
    for wait in waits:
        clock += wait
        cursor.advance(clock, end, becomes_live=becomes_live)
    reached = 100.0 + speed * sum(waits)
    if reached < end - 1e-6:
        assert cursor.at is not None
        assert math.isclose(cursor.at, reached)
        assert cursor.playing
    elif reached > end + 1e-6:
        assert (cursor.at, cursor.playing) == (None if becomes_live else end, False)
