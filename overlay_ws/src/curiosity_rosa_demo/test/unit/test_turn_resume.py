"""A turn that was cut anywhere goes on in a new executor as if it had not been cut."""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chat_server import Call, Say
from curiosity_rosa_demo.agent.cancellation import TurnCancelled
from curiosity_rosa_demo.agent.journal import INTERRUPTED, Journal
from curiosity_rosa_demo.agent.rosa_agent_factory import CuriosityRosa, make_chat_model
from curiosity_rosa_demo.agent.turn import ONE_AT_A_TIME, TurnResult
from curiosity_rosa_demo.domain.models import ToolResult, TraceEvent, TraceKind
from curiosity_rosa_demo.domain.serde import from_json, to_json
from curiosity_rosa_demo.infra.config_models import Config
from curiosity_rosa_demo.tools.rover_tools import RoverTools
from curiosity_rosa_demo.tools.tool_impl import make_tools
from curiosity_rosa_demo.trace.trace_codec import new_event
from mission_world import CONFIG
from tool_rover import Hurry, TwinRover
from turn_world import KEY, World

DEMO = CONFIG.prompts.templates.demo_ground_texture.text
INTERRUPTED_RESULT = to_json(ToolResult.failure(INTERRUPTED))


class Crash(BaseException):
    """The process ended."""


class Disk:
    """A journal's entries as a process finds them that starts after a crash."""

    def __init__(self) -> None:
        self.kept: list[dict[str, Any]] = []
        self.saves = 0

    def journal(self, crash_at: int | None = None, *, before: bool = False) -> Journal:
        """It crashes with its save number ``crash_at``, before or after that is on the disk."""
        entries = copy.deepcopy(self.kept)

        def save() -> None:
            self.saves += 1
            if self.saves == crash_at and before:
                raise Crash
            self.kept = json.loads(json.dumps(entries, allow_nan=False))
            if self.saves == crash_at:
                raise Crash

        return Journal(entries, save)

    def calls(self) -> list[str]:
        return [entry['tool'] for entry in self.kept]

    def results(self) -> list[str | None]:
        return [entry['result'] for entry in self.kept]


class Process:
    """A ROSA on the routine model, before the rover, which outlives it."""

    def __init__(self, rover: TwinRover, config: Config = CONFIG) -> None:
        self.events: list[TraceEvent] = []
        self.tools = RoverTools(rover, config, rover.clock)  # type: ignore[arg-type]
        self.rosa = CuriosityRosa(
            make_chat_model(config.agent.llm),
            make_tools(self.tools, config),
            config,
            trace=self._trace,
            memory=lambda: '',
        )
        self.button = Hurry(rover.clock)
        self.tools.cancellation = self.rosa.executor.cancellation = self.button

    def _trace(self, kind: TraceKind, message: str, **fields: Any) -> None:
        self.events.append(new_event(kind, message, **fields))

    def turn(self, text: str, journal: Journal) -> TurnResult:
        self.rosa.executor.journal = journal
        self.rosa.invoke(text)
        assert self.rosa.executor.last is not None
        return self.rosa.executor.last


class LitRover(TwinRover):
    """The farther along X, the brighter."""

    def capture(self) -> Any:
        pose = self.pose()
        self.light = 0.0 if pose is None else min(1.0, max(0.0, pose.x / 5.0))
        return super().capture()


def carried_out(rover: TwinRover) -> list[str]:
    """The services that do something."""
    return [call for call in rover.calls if call not in ('get_status', 'move_stop')]


def uncut() -> tuple[TurnResult, list[str], int]:
    rover, disk = LitRover(), Disk()
    result = Process(rover).turn(DEMO, disk.journal())
    return result, carried_out(rover), disk.saves


WHOLE, WHOLE_CALLS, WHOLE_SAVES = uncut()


def test_the_turn_that_is_cut_below_is_worth_it() -> None:
    assert WHOLE.ok
    assert WHOLE.is_good
    assert WHOLE_SAVES >= 12
    assert 'move_forward' in WHOLE_CALLS


cuts = st.lists(st.tuples(st.integers(1, WHOLE_SAVES), st.booleans()), min_size=1, max_size=3)


@given(cuts)
@settings(max_examples=30, deadline=None)
def test_a_turn_that_crashed_ends_like_one_that_did_not(cuts: list[tuple[int, bool]]) -> None:
    rover, disk = LitRover(), Disk()
    finished: list[tuple[str, str]] = []
    result = None
    for crash_at, before in [*cuts, (None, False)]:
        known = len(disk.kept)
        in_flight = bool(disk.kept) and disk.kept[-1]['result'] is None
        rover.halt()  # the adapter's doing, when the agent is gone
        process, calls_before = Process(rover), len(rover.calls)
        try:
            number = None if crash_at is None else disk.saves + crash_at
            result = process.turn(DEMO, disk.journal(number, before=before))
        except Crash:
            pass
        # What has a result keeps it, and the one in flight is told as a failure.
        assert [(e['tool'], e['result']) for e in disk.kept][: len(finished)] == finished
        if known and len(disk.kept) > known:
            assert disk.kept[known]['tool'] == 'get_status'  # look where that has led
            assert rover.calls[calls_before:][:1] in ([], ['get_status'])
            if in_flight:
                assert disk.kept[known - 1]['result'] == INTERRUPTED_RESULT
        finished = [(e['tool'], e['result']) for e in disk.kept if e['result'] is not None]
        if result is not None:
            break
    assert result is not None
    assert (result.ok, result.is_good) == (WHOLE.ok, WHOLE.is_good)
    assert result.score == pytest.approx(WHOLE.score, abs=0.5)
    # Each call was carried out once for each time that it was noted, and no more.
    noted = [entry['tool'] for entry in disk.kept if entry['tool'] != 'get_status']
    done = carried_out(rover)
    for tool in {*noted, *done}:
        assert done.count(tool) <= noted.count(tool)
    assert rover.motion == ''


@given(st.integers(1, WHOLE_SAVES), st.sampled_from(['begin', 'end', 'call']))
@settings(max_examples=30, deadline=None)
def test_a_turn_that_was_stopped_and_resumed_ends_like_one_that_was_not(
    number: int, where: str
) -> None:
    rover, disk = LitRover(), Disk()
    process = Process(rover)
    entries: list[dict[str, Any]] = []
    saves = 0

    def save() -> None:
        nonlocal saves
        saves += 1
        if saves >= number and (where == 'call' or (saves % 2 == 1) is (where == 'begin')):
            if where == 'call':
                rover.faults['get_status'] = lambda: process.button.cancel('paused')
            else:
                process.button.cancel('paused')
        disk.kept = copy.deepcopy(entries)

    try:
        first = process.turn(DEMO, Journal(entries, save))
    except TurnCancelled:
        first = None
    rover.faults.clear()
    assert rover.motion == ''
    if first is None:
        done = len([entry for entry in disk.kept if entry['result'] is not None])
        kept = disk.results()[:done]
        again = Process(rover).turn(DEMO, disk.journal())
        assert disk.results()[:done] == kept
        first = again
    assert (first.ok, first.is_good) == (WHOLE.ok, WHOLE.is_good)


# --- what the model is told -----------------------------------------------------------------


@pytest.fixture
def worlds(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[World]]:
    monkeypatch.setenv('OPENAI_API_KEY', KEY)
    made: list[World] = []
    yield made
    for world in made:
        world.server.close()


def start(worlds: list[World], disk: Disk, *script: Any, crash_at: int | None = None) -> World:
    worlds.append(World(*script))
    worlds[-1].rosa.executor.journal = disk.journal(crash_at)
    return worlds[-1]


def told(world: World) -> list[ToolResult]:
    return [from_json(ToolResult, text) for text in world.requests[-1].texts('tool')]


def test_the_call_in_flight_is_told_as_interrupted_and_the_rover_is_looked_at(
    worlds: list[World],
) -> None:
    disk = Disk()
    calls = Say('First.', (Call('mast_open'),)), Say('', (Call('mast_rotate'),))
    with pytest.raises(Crash):
        start(worlds, disk, *calls, crash_at=3).turn()
    assert disk.calls() == ['mast_open', 'mast_rotate']
    second = start(worlds, disk, Say('Done.'))
    assert second.turn().answer == 'Done.'
    assert second.rover.calls == ['get_status']
    opened, rotated, looked = told(second)
    assert opened.ok
    assert rotated == ToolResult.failure(INTERRUPTED)
    assert looked.ok
    assert 'moving' in looked.data
    (request,) = second.requests
    asked = [c for m in request.messages('assistant') for c in m.get('tool_calls') or ()]
    answered = [m['tool_call_id'] for m in request.messages('tool')]
    assert [c['function']['name'] for c in asked] == ['mast_open', 'mast_rotate', 'get_status']
    assert [c['id'] for c in asked] == answered
    assert len(set(answered)) == 3
    assert request.messages('assistant')[0]['content'] == 'First.'


def test_of_several_calls_in_one_answer_one_is_carried_out_once(worlds: list[World]) -> None:
    disk = Disk()
    several = Say('', (Call('mast_open'), Call('mast_rotate'), Call('mast_close')))
    for crash_at in (2, 3, 4):
        disk.__init__()  # type: ignore[misc]
        with pytest.raises(Crash):
            start(worlds, disk, several, Say('Done.'), crash_at=crash_at).turn()
        again = start(worlds, disk, Say('Done.'))
        assert again.turn().ok
        assert again.rover.calls == ['get_status']
        results = told(again)
        assert results[0].ok
        assert results[-1].ok
        for result in results[1:-1]:
            assert result.error_reason in (ONE_AT_A_TIME, INTERRUPTED)


def test_a_call_with_numbers_that_json_has_not_is_kept_and_told_again(
    worlds: list[World],
) -> None:
    disk = Disk()
    odd = Say('', (Call('move_forward', '{"duration_s": NaN}'),))
    with pytest.raises(Crash):
        start(worlds, disk, odd, Say('Done.'), crash_at=2).turn()
    json.dumps(disk.kept, allow_nan=False)
    (action, _result) = next(disk.journal().steps())
    assert math.isnan(action.tool_input['duration_s'])  # type: ignore[index, arg-type]
    again = start(worlds, disk, Say('Done.'))
    assert again.turn().ok
    assert again.rover.calls == ['get_status']
    assert told(again)[0].error_reason.startswith('Wrong arguments for move_forward')


def test_the_score_of_a_capture_before_the_cut_counts(worlds: list[World]) -> None:
    disk = Disk()
    script = Say('', (Call('mast_open'),)), Say('', (Call('capture_and_score'),)), Say('Done.')
    with pytest.raises(Crash):
        start(worlds, disk, *script, crash_at=4).turn()
    result = start(worlds, disk, Say('Done.')).turn()
    assert (result.score, result.is_good, result.steps) == (0.9, True, 3)


def test_a_resumption_that_is_cut_is_resumed_too(worlds: list[World]) -> None:
    disk = Disk()
    with pytest.raises(Crash):
        start(worlds, disk, Say('', (Call('mast_open'),)), crash_at=1).turn()
    for crash_at in (2, 3):
        with pytest.raises(Crash):
            start(worlds, disk, Say('Done.'), crash_at=crash_at).turn()
    last = start(worlds, disk, Say('Done.'))
    assert last.turn().ok
    assert disk.calls() == ['mast_open', *['get_status'] * (len(disk.kept) - 1)]
    assert None not in disk.results()
    ids = [m['tool_call_id'] for m in last.requests[-1].messages('tool')]
    assert len(set(ids)) == len(ids) == len(disk.kept)


def test_the_journal_of_one_turn_is_not_that_of_the_next(worlds: list[World]) -> None:
    disk = Disk()
    world = start(worlds, disk, Say('', (Call('mast_open'),)), Say('Done.'))
    world.turn()
    saves = disk.saves
    world.server.says(Say('', (Call('mast_close'),)), Say('Done.'))
    world.turn()
    assert disk.saves == saves
    assert disk.calls() == ['mast_open']
