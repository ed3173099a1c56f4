# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.
"""Turns that are cut: checkpoints, disks that fail, and what goes on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import count
import json
from pathlib import Path
import sqlite3
import tempfile
from typing import Any

from chat_server import Call, Hang, Reply, Say
from curiosity_rosa_demo.agent.llm import call as call_module
from curiosity_rosa_demo.agent.react.ask import ApprovalAnswer, ApprovalQueue
from curiosity_rosa_demo.agent.react.loop import TURN_LOST_TEXT, TurnCheckpointer
from curiosity_rosa_demo.agent.react.turn import Turn
from curiosity_rosa_demo.domain.brain_state import ApprovalAction, Json
from curiosity_rosa_demo.domain.cancellation import Cancellation, TurnCancelled
from curiosity_rosa_demo.domain.models import INTERRUPTED_TEXT, ToolResult, TraceEvent, TraceKind
from curiosity_rosa_demo.domain.plan import Plan, StepStatus
from curiosity_rosa_demo.domain.serde import from_json
from examples import examples
from hypothesis import example, given, settings
from hypothesis import strategies as st
import pytest
from tool_rover import SimulatedRover
from turn_world import asking, SHIPPED, World

DEMO = SHIPPED.prompts.templates['demo_ground_texture'].text_in('en')
THREAD = 'task-1'
ASKS = asking('mast_open')
DONE = StepStatus.SUCCESS
ROUTINE: dict[str, Any] = {'provider': 'routine', 'base_url': ''}
# The number of a turn's commit; the two before are LangGraph's, of what the turn begins with.
INTENT, RESULT = 3, 4
FULL = 2  # of PRAGMA synchronous


class Crash(BaseException):
    """The process ended."""


class CrashingSaver(TurnCheckpointer):
    """Ends the process at commit ``crash_at``, before or after it is on the disk."""

    def __init__(self, story: Story, crash_at: int | None, *, before: bool) -> None:
        super().__init__(story.file)
        self.commits, self._story, self._crash_at, self._before = 0, story, crash_at, before
        self._story.synced()

    def put(self, *args: Any) -> Any:
        self.commits += 1
        if self.commits == self._crash_at and self._before:
            raise Crash
        kept = super().put(*args)
        if self.conn.execute('PRAGMA synchronous').fetchone() == (FULL,):
            self._story.synced()
        if self.commits == self._crash_at:
            raise Crash
        self._story.committed()
        return kept


class LitRover(SimulatedRover):
    """The farther along X, the brighter. ``witness`` hears of each service that does something."""

    witness: Callable[[str], None] = staticmethod(lambda name: None)

    def capture(self) -> Any:
        pose = self.pose()
        self.light = 0.0 if pose is None else min(1.0, max(0.0, pose.x / 5.0))
        return super().capture()

    @contextmanager
    def called(self, name: str) -> Iterator[None]:
        if name not in ('get_status', 'move_stop'):
            self.witness(name)
        with super().called(name):
            yield


class Story:
    """A file, a rover and a task, which outlive their processes."""

    goal, llm = DEMO, ROUTINE

    def __init__(self, folder: str | Path, *script: Reply) -> None:
        self.file, self.config, self.script = Path(folder) / 'turns.db', SHIPPED, script
        self.rover = LitRover()
        self.rover.witness = self._intended
        self.unintended: list[str] = []
        self.commits = 0
        self.committed: Callable[[], None] = lambda: None
        self.approval_queue = ApprovalQueue(timeout_s=30.0)
        self.approval_queue.is_attended = False
        self.events: list[TraceEvent] = []
        self.requests: list[Any] = []
        self.button = Cancellation()

    def process(
        self, crash_at: int | None = None, *, before: bool = False, plan: Json | None = None
    ) -> Turn:
        """The turn, or the rest of it, in a new process. Raises Crash and TurnCancelled."""
        self.rover.halt()  # the adapter's doing, when the agent is gone
        saver = CrashingSaver(self, crash_at, before=before)
        own: Any = {'rover': self.rover, 'approval_queue': self.approval_queue, **self.llm}
        with World(*self.script, saver=saver, config=self.config, **own) as world:
            self.events, self.requests, self.button = world.events, world.requests, world.button
            try:
                return world.turn(self.goal, plan=plan, task=THREAD)
            finally:
                self.commits = saver.commits

    def synced(self, *files: Path) -> None:
        """What these hold now outlives a loss of power; without arguments the whole database."""
        self.on_disk = {each: each.read_bytes() for each in files or self.files() if each.exists()}

    def lose_power(self) -> None:
        for each in self.files():
            each.unlink(missing_ok=True)
        for each, content in self.on_disk.items():
            each.write_bytes(content)

    def files(self) -> tuple[Path, Path]:
        return self.file, self.file.with_name(f'{self.file.name}-wal')

    def cut(self, crash_at: int, *, before: bool = False, plan: Json | None = None) -> None:
        with pytest.raises(Crash):
            self.process(crash_at, before=before, plan=plan)

    def kept(self) -> Turn:
        """The turn as another process reads it from the file."""
        saver = TurnCheckpointer(self.file)
        try:
            found = saver.get_tuple({'configurable': {'thread_id': THREAD, 'checkpoint_ns': ''}})
        finally:
            saver.close()
        saved = None if found is None else found.checkpoint['channel_values'].get('turn')
        return Turn() if saved is None else Turn.model_validate_json(saved)

    def results(self) -> list[tuple[str, ToolResult | None]]:
        """The calls so far, each with its result."""
        return [(each.call_id, each.result) for each in self.kept().exchanges]

    def tools(self) -> list[str]:
        return [each.tool for each in self.kept().exchanges]

    def done(self) -> list[str]:
        """The services that do something."""
        return [call for call in self.rover.calls if call not in ('get_status', 'move_stop')]

    def _intended(self, name: str) -> None:
        op = self.kept().op
        if op is None or op.skill != name:
            self.unintended.append(name)


@pytest.fixture
def story(tmp_path: Path) -> Story:
    return Story(tmp_path)


MOST_COMMITS = 40  # more than a whole turn has


# Of each: the commit, whether the crash comes before it, and whether the power fails.
cut = st.tuples(st.integers(1, MOST_COMMITS), st.booleans(), st.booleans())
cuts = st.lists(cut, min_size=1, max_size=3)


@settings(max_examples=examples(12))
@given(cuts)
def test_a_turn_that_crashed_ends_like_one_that_did_not(
    cuts: list[tuple[int, bool, bool]],
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        story = Story(folder)
        result, finished = None, list[tuple[str, ToolResult | None]]()
        for crash_at, before, power_fails in [*cuts, (None, False, False)]:
            known, op = len(story.results()), story.kept().op
            calls_before = len(story.done())
            with suppress(Crash):
                result = story.process(crash_at, before=before)
            if result is None and power_fails:
                story.lose_power()
            now = story.results()
            # What has a result keeps it, and the one in flight is told as a failure.
            assert now[: len(finished)] == finished
            assert len(now) >= known
            told = None if op is None else dict(now)[op.call_id]
            assert told is None or told.error_reason == INTERRUPTED_TEXT
            if len(now) == known:
                assert len(story.done()) == calls_before
            finished = [each for each in now if each[1] is not None]
            if result is not None:
                break
        assert result is not None
        assert (result.ok, result.is_good) == (True, True)
        assert story.unintended == []
        # Each call was carried out once for each time that it was noted, and no more.
        noted, done = story.tools(), story.done()
        for tool in done:
            assert done.count(tool) <= noted.count(tool)
        assert story.rover.motion == ''


@settings(max_examples=examples(8))
@given(st.integers(1, MOST_COMMITS), st.sampled_from(['commit', 'service', 'wait']))
def test_a_turn_that_was_stopped_and_resumed_ends_like_one_that_was_not(
    number: int, where: str
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        story = Story(folder)
        seen = count()
        first: Turn | None = None

        def press() -> None:
            if next(seen) + 1 >= number:
                story.button.cancel('paused')

        fault = {'service': 'move_forward', 'wait': 'get_status'}.get(where)
        if fault:
            story.rover.faults[fault] = press
        else:
            story.committed = press
        with suppress(TurnCancelled):
            first = story.process()
        story.committed = lambda: None
        story.rover.faults.clear()
        assert story.rover.motion == ''
        finished = [each for each in story.results() if each[1] is not None]
        result = first or story.process()
        assert story.results()[: len(finished)] == finished
        assert (result.ok, result.is_good) == (True, True)
        assert story.unintended == []


def end_of(turn: Turn) -> tuple[object, ...]:
    return turn.ok, turn.answer, turn.score, turn.is_good, turn.spent.steps


def test_a_turn_that_had_ended_gives_its_result_again(story: Story, tmp_path: Path) -> None:
    first = story.process()
    assert first.ok
    assert first.is_good
    assert 12 <= story.commits < MOST_COMMITS, 'the turn that is cut above is worth it'
    assert 'move_forward' in story.done()
    (tmp_path / 'cut').mkdir()
    cut = Story(tmp_path / 'cut')
    cut.cut(story.commits, before=True)  # nothing was in flight
    assert end_of(cut.process()) == end_of(first)
    calls = len(story.rover.calls)
    assert end_of(story.process()) == end_of(first)
    assert (len(story.rover.calls), story.commits) == (calls, 0)
    assert [event.kind for event in story.events] == [TraceKind.RESULT]


class Scripted(Story):
    """Each process has a script of its own. Its goal may be answered in words alone."""

    goal, llm = 'Go on.', dict[str, Any]()

    def says(self, *script: Reply) -> Scripted:
        self.script = script
        return self

    def told(self) -> list[ToolResult]:
        return [from_json(ToolResult, text) for text in self.requests[-1].texts('tool')]


@pytest.fixture
def scripted(tmp_path: Path) -> Scripted:
    return Scripted(tmp_path)


RAISE = Say('', (Call('mast_open'),))


@pytest.fixture
def questioned(scripted: Scripted) -> Scripted:
    scripted.config, scripted.approval_queue.is_attended = ASKS, True
    return scripted


def test_the_time_for_an_answer_goes_on_across_a_cut(questioned: Scripted) -> None:
    questioned.says(RAISE, Say('Done.')).cut(INTENT)
    questioned.approval_queue.timeout_s = 1e-6
    assert questioned.says(Say('Done.')).process().ok
    assert questioned.done() == []
    assert 'no answer within' in questioned.told()[0].error_reason


@pytest.mark.parametrize(
    ('crash_at', 'before'),
    [(INTENT, False), (INTENT + 1, True), (INTENT + 1, False), (INTENT + 2, True)],
)
def test_a_yes_before_a_cut_does_not_outlive_a_no_after_it(
    questioned: Scripted, crash_at: int, before: bool
) -> None:
    """Unless the yes was kept: then nobody is asked again, and what it allowed was begun."""
    questioned.says(RAISE, Say('Done.'))
    answers: list[ApprovalAnswer] = []
    questioned.approval_queue.ask = lambda *_: answers.append(yes) or yes  # type: ignore
    yes, no = (ApprovalAnswer(ApprovalAction.APPROVE), ApprovalAnswer(ApprovalAction.REJECT))
    with suppress(Crash):
        questioned.process(crash_at, before=before)
    asked = questioned.kept().question is not None
    done = questioned.done()
    questioned.approval_queue.ask = lambda *_: answers.append(no) or no  # type: ignore
    questioned.says(Say('Done.')).process()
    assert (answers[-1] is no) is asked
    assert questioned.done() == done
    first = questioned.kept().exchanges[0].result
    assert first is not None
    if asked:
        assert done == []
        assert first.error_reason == 'Rejected by the operator'


def test_a_navigation_that_a_crash_cut_is_charged_to_the_metres(scripted: Scripted) -> None:
    go = Say('', (Call('navigate_to_pose', {'x': 4.0, 'y': 0.0}),))
    scripted.says(go, Say('Done.')).cut(RESULT, before=True)
    driven_m = scripted.rover.state.pose.x
    assert driven_m > 3.0
    assert scripted.process().spent.metres == pytest.approx(driven_m, rel=0.05)


STEPS = ['mast_open', 'mast_rotate', 'mast_close']
PLAN: Json = {
    'plan_id': 'plan_1',
    'goal': 'Look around',
    'steps': [{'step_id': number, 'action': each} for number, each in enumerate(STEPS, 1)],
}


@settings(max_examples=examples(16))
@given(st.integers(1, RESULT + 4), st.booleans())
@example(1, False)
@example(INTENT, False)
@example(RESULT, True)
@example(RESULT + 2, True)  # before the result of what nobody can repeat
def test_a_plan_that_was_cut_goes_on_and_repeats_only_what_leads_to_a_state(
    crash_at: int, before: bool
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        story = Story(folder)
        story.cut(crash_at, before=before, plan=PLAN)
        in_flight = story.kept().op
        result = story.process(plan=PLAN)
        plan = story.kept().plan
        assert plan is not None
        done = story.done()
        cut = in_flight.skill if in_flight else ''
        # Not before its intent was on the disk, and perhaps once more.
        assert list(dict.fromkeys(done)) == STEPS[: len(set(done))]
        assert all(done.count(each) <= (2 if each == cut else 1) for each in done)
        assert done.count('mast_rotate') <= 1
        # Nobody knows what a rotation did, and it has no fallback.
        assert result.ok is (cut != 'mast_rotate'), result.answer
        assert plan.status.value == ('completed' if result.ok else 'failed')
        assert len(set(done)) == 3 or not result.ok
        assert story.unintended == []


class Ordered(Story):
    goal = 'Raise the mast, take a picture, go to the light, drive 1 m and say "here"'

    def made(self) -> list[Any]:
        """The plans as the trace tells them: the steps' actions."""
        plans = [event.data for event in self.events if event.message.startswith('Plan: ')]
        return [[step['action'] for step in (data or {})['steps']] for data in plans]


ORDER = ['mast_open', 'capture_and_score', 'find_the_light', 'mast_close', 'drive_distance']
ORDER += ['speak']


def test_an_order_in_several_steps_is_one_plan_and_runs_goes_on_and_stops_as_one(
    tmp_path: Path,
) -> None:
    folders = [tmp_path / name for name in ('whole', 'cut', 'stopped')]
    for folder in folders:
        folder.mkdir()
    whole, cut, stopped = map(Ordered, folders)
    last = whole.process()
    assert last.ok, last.answer
    assert whole.made() == [ORDER]
    assert [each.status for each in (last.plan or Plan.create_new('x')).steps] == [DONE] * 6
    searched = [each.tool for each in last.exchanges if each.plan_step == 3]
    assert {'move_forward', 'capture_and_score'} <= {*searched}
    assert 'drove 1.' in last.answer
    cut.cut(whole.commits // 2)  # in the search
    again = cut.process()
    assert cut.made() == []
    assert (again.ok, again.is_good) == (True, True)
    assert again.plan == cut.kept().plan
    assert again.plan is not None
    stopped.rover.faults['move_forward'] = lambda: stopped.button.cancel('stop')
    with pytest.raises(TurnCancelled):
        stopped.process()
    assert stopped.rover.motion == ''
    left = stopped.kept().plan
    assert left is not None
    assert [each.action for each in left.steps if each.status is not DONE] == ORDER[2:]
    assert 'speak' not in stopped.tools()


STATUS = '現在のローバーの状態を教えて'


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / 'turns.db'


def turn(file: Path, thread: str, rover: SimulatedRover | None = None) -> Turn:
    """A turn of the routine, which asks for the status and tells it."""
    with World(saver=TurnCheckpointer(file), rover=rover, **ROUTINE) as world:
        return world.turn(STATUS, task=thread)


def rows(file: Path, table: str = 'checkpoints') -> list[tuple[Any, ...]]:
    with sqlite3.connect(file) as connection:
        return connection.execute(f'SELECT thread_id, checkpoint_id FROM {table}').fetchall()


def test_only_the_newest_checkpoint_of_each_turn_that_may_go_on_is_kept(file: Path) -> None:
    for thread in 'abc':
        assert turn(file, thread).ok
    assert sorted(thread for thread, _ in rows(file)) == ['a', 'b', 'c']
    assert rows(file, 'writes') == []
    saver = TurnCheckpointer(file)
    saver.delete_others({'b', 'never begun'})
    saver.close()
    assert [thread for thread, _ in rows(file)] == ['b']


def test_the_last_checkpoint_is_the_newest_also_after_the_clock_was_set_back(file: Path) -> None:
    turn(file, 'a')
    (before,) = rows(file)
    saver = TurnCheckpointer(file)
    config: Any = {'configurable': {'thread_id': 'a', 'checkpoint_ns': ''}}
    found = saver.get_tuple(config)
    assert found is not None
    early = {**found.checkpoint, 'id': '0' * 8 + found.checkpoint['id'][8:]}
    assert early['id'] < before[1]
    saver.put(config, early, found.metadata, {})  # type: ignore[arg-type]
    saver.close()
    assert rows(file) == [('a', early['id'])]


def test_a_result_is_synced_while_the_model_thinks(
    scripted: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A model that hangs: a call of it is cut by a stop, after which the power fails."""
    monkeypatch.setattr(call_module, 'MEANWHILE_S', 0.0)
    settle, settled = TurnCheckpointer.settle, list[bool]()

    def settle_once(saver: TurnCheckpointer) -> None:
        settle(saver)
        if scripted.results() and not settled:
            settled.append(True)
            scripted.synced(scripted.file)  # without its write-ahead log
            scripted.button.cancel('stopped')

    monkeypatch.setattr(TurnCheckpointer, 'settle', settle_once)
    with suppress(TurnCancelled):
        scripted.says(RAISE, Hang(), Hang()).process()
    scripted.lose_power()
    ((_, result),) = scripted.results()
    assert result is not None
    assert result.ok


class Full(TurnCheckpointer):
    """The disk is full from this commit on."""

    def __init__(self, file: Path, room: int) -> None:
        super().__init__(file)
        self.room = room

    def put(self, *args: Any) -> Any:
        if not self.room:
            raise sqlite3.OperationalError('database or disk is full')
        self.room -= 1
        return super().put(*args)


def test_a_full_disk_ends_the_turn_with_a_clear_error(tmp_path: Path) -> None:
    for room in range(4):
        saver = Full(tmp_path / f'{room}.db', room)
        with World(Say('', (Call('mast_open'),)), Say('Done.'), saver=saver) as world:
            last = world.turn()
            assert not last.ok
            assert last.answer.startswith('The turn cannot be saved: database or disk is full; m')
            assert f'{room}.db' in last.answer
            assert world.errors() == [last.answer]
            # The third commit is the intent: without it nothing is done.
            assert world.calls == ([] if room < 3 else ['mast_open'])
            saver.room = 100
            assert world.turn().ok, 'the next turn works'


def overwrite(file: Path, change: Any) -> None:
    with sqlite3.connect(file) as connection:
        ((kind, blob),) = connection.execute('SELECT type, checkpoint FROM checkpoints').fetchall()
        connection.execute('UPDATE checkpoints SET checkpoint = ?', (change(kind, blob),))


BROKEN: dict[str, Callable[[str, bytes], bytes]] = {
    'garbage': lambda kind, blob: b'\xc1garbage',
    'half': lambda kind, blob: blob[: len(blob) // 2],
    'empty': lambda kind, blob: b'',
    'a field unknown': lambda kind, blob: blob.replace(b'failures_in_a_row', b'wor_a_ni_seruliaf'),
    'another version': lambda kind, blob: blob.replace(b'"version":1', b'"version":9'),
    'a part unknown': lambda kind, blob: blob.replace(b'exchanges', b'segnahcxe'),
}


def test_a_turn_that_cannot_be_read_ends_with_a_clear_error(tmp_path: Path) -> None:
    for name, change in BROKEN.items():
        file = tmp_path / name
        turn(file, 'a')
        overwrite(file, change)
        rover = SimulatedRover()
        last = turn(file, 'a', rover)
        assert not last.ok
        assert last.answer.startswith(TURN_LOST_TEXT)
        assert rover.calls == []
        assert turn(file, 'b').ok, 'another turn works'


def test_a_turn_that_was_kept_before_a_field_was_new_goes_on(file: Path) -> None:
    first = turn(file, 'a')

    def older(kind: str, blob: bytes) -> bytes:
        saver = TurnCheckpointer(':memory:')
        checkpoint = saver.serde.loads_typed((kind, blob))
        data = json.loads(checkpoint['channel_values']['turn'])
        del data['same_in_a_row']
        checkpoint['channel_values']['turn'] = json.dumps(data)
        return bytes(saver.serde.dumps_typed(checkpoint)[1])

    overwrite(file, older)
    assert turn(file, 'a') == first
