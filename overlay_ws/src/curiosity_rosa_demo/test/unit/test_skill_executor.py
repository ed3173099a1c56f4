# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The small skills (tools, speak, wait_until, query_world, query_knowledge), and the executor:
one way for a run to end, whatever races with what; property 6 of seed 000; their blocking work.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
import os
from pathlib import Path
import threading
from typing import Any

from curiosity_rosa_demo.agent.runtime import halt as halt_module
from curiosity_rosa_demo.agent.runtime.halt import Halt, SkillsHalted
from curiosity_rosa_demo.agent.skills.basic import (
    matching_facts,
    MAX_WAIT_S,
    POLL_PERIOD_S,
    wait_result,
)
from curiosity_rosa_demo.agent.skills.executor import (
    NO_MOTION_TEXT,
    SkillExecutor,
    SkillRun,
    STOPPED,
)
from curiosity_rosa_demo.agent.skills.knowledge import (
    KnowledgeIndex,
    make_search_knowledge,
    MAX_BYTES,
    MAX_EXCERPT_CHARS,
    passages,
    QUOTED_NOTE,
    search_terms,
)
from curiosity_rosa_demo.agent.skills.registry import checked_arguments, make_registry
from curiosity_rosa_demo.agent.skills.skill import (
    BadArguments,
    ResourceBusy,
    Skill,
    SkillCall,
    UnknownSkill,
)
from curiosity_rosa_demo.domain.brain_state import Json
from curiosity_rosa_demo.domain.cancellation import Cancellation, TurnCancelled
from curiosity_rosa_demo.domain.models import ToolBroke, ToolResult
from curiosity_rosa_demo.domain.refusal import RefusalCode
from curiosity_rosa_demo.domain.skills import Outcome
from curiosity_rosa_demo.infra.config.robot import OWN_RESOURCES
from examples import examples
from hypothesis import example, given, settings
from hypothesis import strategies as st
import pytest
from skill_world import (
    Actor,
    call_of,
    in_loop,
    LONG_S,
    registry_of,
    SHIPPED,
    skill_named,
    StillWorld,
)
from strategies import json_values, text
from turn_world import NINE

REGISTRY = make_registry(SHIPPED)
FACTS: Json = {
    'x': 1.5,
    'y': -0.5,
    'yaw_rad': 0.1,
    'mast': 'closed',
    'moving': False,
    'battery_pct': 80.0,
    'battery_state': 'OK',
    'zones': ['bright'],
    'mode': 'EXEC',
    'score': None,
}


def ran(name: str, world: StillWorld | None = None, **arguments: Any) -> ToolResult:
    """One run of a skill of the agent, with checked arguments. Raises BadArguments."""
    skill = REGISTRY.get(name)
    return skill.run(call_of(world or StillWorld()), **checked_arguments(skill, arguments))


@pytest.mark.parametrize('name', [*NINE, 'stop_base'])
def test_a_rover_skill_is_one_call_of_its_tool(name: str) -> None:
    world = StillWorld()
    arguments = {'duration_s': 2.5} if name.startswith(('move_f', 'turn')) else {}
    tool = 'move_stop' if name == 'stop_base' else name
    assert ran(name, world, **arguments).data == {'tool': tool}
    assert world.tools == [(tool, arguments)]


class Waiting(Cancellation):
    """Waits take no time, but ``seconds`` pass. After ``stop_after_s`` somebody presses."""

    def __init__(self, stop_after_s: float = 1e9) -> None:
        super().__init__()
        self.seconds, self._stop_after_s = 0.0, stop_after_s

    def sleep(self, seconds: float) -> None:
        self.seconds += seconds
        if self.seconds > self._stop_after_s:
            self.cancel('Stopped by a test')
        self.check()


class Charging(StillWorld):
    """A per cent each second."""

    def __init__(self, button: Waiting) -> None:
        super().__init__()
        self.button = button

    def facts(self) -> Json:
        return {'battery_pct': self.button.seconds}


@given(level=st.floats(0.0, 50.0), timeout_s=st.floats(0.1, 50.0))
def test_it_waits_until_the_condition_holds_or_the_time_is_over(
    level: float, timeout_s: float
) -> None:
    button = Waiting()
    call = call_of(Charging(button), button)
    condition: Json = {'battery_pct_at_least': level}
    result = wait_result(call, condition, timeout_s, now=lambda: button.seconds)
    assert button.seconds <= timeout_s + 1e-6
    if result.ok:
        assert level - 1e-6 <= button.seconds <= level + POLL_PERIOD_S + 1e-6
        return
    assert button.seconds == pytest.approx(timeout_s)
    assert level > timeout_s - POLL_PERIOD_S
    assert result.error_reason.startswith(f'Not within {timeout_s:g} s: ')
    assert 'battery_pct' in result.error_reason


WITHOUT_END: list[tuple[str, dict[str, Any]]] = [
    *(
        ('wait_until', {'condition': {}, 'timeout_s': seconds})
        for seconds in (0.0, MAX_WAIT_S + 1, True, float('inf'))
    ),
    *(('speak', {'text': said}) for said in ('', 'x' * 501, 5, None)),
]


def test_what_has_no_end_is_refused_and_what_holds_is_not_waited_for() -> None:
    world, button = StillWorld(facts=FACTS), Waiting(stop_after_s=3.0)
    for name, arguments in WITHOUT_END:
        with pytest.raises(BadArguments, match=f'{name}: .*{[*arguments][-1]}'):
            ran(name, world, **arguments)
    assert world.said == []
    assert ran('speak', world, text='光を').ok
    assert world.said == ['光を']
    assert ran('wait_until', world, condition={'mast': 'closed'}).ok
    result = ran('wait_until', condition={'battery_pct_above': 'much'})
    assert result.error_reason.startswith('PARAM_INVALID: ')
    with pytest.raises(TurnCancelled):
        wait_result(call_of(Charging(button), button), {'battery_pct_above': 90}, 60.0)
    assert button.seconds <= 3.0 + POLL_PERIOD_S


def test_a_query_chooses_facts() -> None:
    for query, names in (
        ('', set(FACTS)),
        ('mast', {'mast'}),
        ('How full is the battery?', {'battery_pct', 'battery_state'}),
        ('battery_pct', {'battery_pct'}),
        ('Where are you', {'x', 'y', 'yaw_rad', 'zones'}),
        ('X and mode', {'x', 'mode'}),
        ('電池', set(FACTS)),
    ):
        result = ran('query_world', StillWorld(facts=FACTS), query=query)
        assert result.data == {name: FACTS[name] for name in names}


@given(facts=st.dictionaries(text, json_values, max_size=5), query=text)
def test_an_answer_is_part_of_the_facts_and_not_empty(facts: Json, query: str) -> None:
    answer = matching_facts(facts, query)
    assert bool(answer) is bool(facts)
    assert all(facts[name] == value for name, value in answer.items())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / 'docs'
    (folder / 'mast').mkdir(parents=True)
    (folder / 'battery.md').write_text(
        '# Battery\n\nThe battery is low at twenty per cent.\n\nIt charges in the sun.\n'
    )
    (folder / 'mast' / 'use.txt').write_text('Close the mast before you drive.\n')
    (folder / 'ja.md').write_text('電池が少ないときは充電してください。\n', encoding='utf-8')
    (folder / 'secret.yaml').write_text('battery: no document\n')
    return folder


def test_the_best_excerpt_comes_first(folder: Path) -> None:
    for query, file in (
        ('battery low', 'battery.md'),
        ('BATTERY', 'battery.md'),
        ('drive with the mast?', 'mast/use.txt'),
        ('電池が少ない', 'ja.md'),
        ('充電', 'ja.md'),
        ('いつ充電してくださいですか', 'ja.md'),
    ):
        result = make_search_knowledge(str(folder))(call_of(StillWorld()), query)
        assert result.data['note'] == QUOTED_NOTE
        excerpts: Any = result.data['excerpts']
        assert excerpts[0]['file'] == file


def test_what_changed_is_read_anew_and_what_is_too_large_or_elsewhere_is_no_document(
    folder: Path, tmp_path: Path
) -> None:
    (folder / 'huge.txt').write_text('wombat ' * (MAX_BYTES // 7 + 1))
    outside = tmp_path / 'outside.txt'
    outside.write_text('A wombat outside.')
    (folder / 'link.txt').symlink_to(outside)
    (folder / 'gone.txt').symlink_to(tmp_path / 'nothing')
    knowledge, new = KnowledgeIndex(folder), folder / 'new.txt'
    assert knowledge.search('wombat', 3) == []
    for time_ns, written, found in (
        (1, 'A wombat digs.', 'A wombat digs.'),
        (1, 'A wombat eats.', 'A wombat digs.'),  # as old and as long: not read
        (2, 'A wombat eats.', 'A wombat eats.'),
    ):
        new.write_text(written)
        os.utime(new, ns=(time_ns, time_ns))
        assert knowledge.search('wombat', 3) == [{'file': 'new.txt', 'excerpt': found}]
    new.unlink()
    assert knowledge.search('wombat', 3) == []
    for path, told in (('', 'knowledge.folder of agent.yaml is'), ('/no/such', 'no such folder')):
        assert told in make_search_knowledge(path)(call_of(StillWorld()), 'x').error_reason


@pytest.fixture(scope='module')
def utterances(tmp_path_factory: pytest.TempPathFactory) -> KnowledgeIndex:
    """One document of many words."""
    folder = tmp_path_factory.mktemp('docs')
    corpus = Path(__file__).parent / 'corpus' / 'utterances.tsv'
    (folder / 'utterances.txt').write_text(corpus.read_text(encoding='utf-8'), encoding='utf-8')
    return KnowledgeIndex(folder)


@given(query=st.text(min_size=1, max_size=500), limit=st.integers(1, 10))
@example('"', 3)
@example("a' OR 1=1 --", 3)
@example('NEAR(battery low)', 3)
@example('-battery', 3)
@example('x*', 3)
@example('^', 3)
@settings(max_examples=examples(100), deadline=None)
def test_any_text_is_a_safe_query(utterances: KnowledgeIndex, query: str, limit: int) -> None:
    found = utterances.search(query, limit)
    assert len(found) <= limit
    for each in found:
        assert len(str(each['excerpt'])) <= MAX_EXCERPT_CHARS
    assert all(term.isalnum() or '_' in term for term in search_terms(query))


@given(st.text(max_size=3000))
def test_passages_are_short_lines_that_lose_no_word(document: str) -> None:
    found = list(passages(document))
    assert all(
        0 < len(passage) <= MAX_EXCERPT_CHARS and passage.isprintable() for passage in found
    )
    kept = ''.join(''.join(found).split())
    shown = ''.join(char for char in document if char.isprintable() and not char.isspace())
    assert kept == shown


BROKE = RefusalCode.INTERNAL_ERROR.value


def executor_of(*skills: Skill, grace_s: float = LONG_S) -> SkillExecutor:
    return SkillExecutor(registry_of(*skills), StillWorld(), grace_s=grace_s)


def until(event: threading.Event, what: str) -> None:
    assert event.wait(LONG_S), what


def awaited(run: SkillRun) -> Future[ToolResult]:
    """What somebody who waits for the run in a thread hears."""
    future: Future[ToolResult] = Future()

    def wait() -> None:
        try:
            future.set_result(run.wait())
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=wait, daemon=True).start()
    return future


class Unspeakable(BaseException):
    def __repr__(self) -> str:
        raise RuntimeError('no words')


class Garbled(Exception):
    def __repr__(self) -> str:
        return 'half a character: \ud83d'


REFUSED = ToolResult.failure('No image received: 5 s', half=1)
BOOM = ToolBroke(ToolResult.failure('Internal error in mast_open: boom', driven_m=1.0))
ENDS: list[tuple[Any, str, str, Json]] = [
    (ToolResult.success(done=1), '', '', {'done': 1}),
    (REFUSED, '', 'No image received: 5 s', {'half': 1}),
    (BOOM, BROKE, 'Internal error in mast_open: boom', {'driven_m': 1.0}),
    (ValueError('it broke'), BROKE, "Internal error in job: ValueError('it b", {}),
    (SystemExit(3), BROKE, 'Internal error in job: SystemExit(3)', {}),
    (None, BROKE, 'Internal error in job: it answered no', {}),
    (Unspeakable(), BROKE, 'Internal error in job: ', {}),
    (Garbled(), BROKE, 'Internal error in job: ', {}),
    (KeyError('x' * 10_000), BROKE, 'Internal error in job: ', {}),
]


@pytest.mark.parametrize(
    ('resources', 'latches'),
    [([], False), (['camera'], False), (['base'], True), (['mast', 'camera'], True)],
)
def test_a_run_ends_as_the_skill_says_and_one_that_breaks_with_a_moving_part_latches_safe(
    resources: list[str], latches: bool
) -> None:
    for end, code, said, data in ENDS:

        def job(call: SkillCall, end: Any = end) -> ToolResult:
            if isinstance(end, BaseException):
                raise end
            return end

        executor = executor_of(skill_named('job', job, resources_required=resources))
        violations: list[str] = []
        executor.monitor.on_violation = violations.append
        run = executor.start('job', {}, Cancellation())
        result = run.wait()
        assert (result.ok, result.error_code, result.data) == (said == '', code, data)
        assert result.error_reason.startswith(said)
        assert len(result.error_reason) < 300
        result.model_dump_json()
        broke = latches and code == BROKE
        assert violations == [f'SAFETY_VIOLATION: {result.error_reason}'] * broke
        assert executor.monitor.running() == []
        assert run.wait() is result
        assert run.cancel() is False


event = st.sampled_from(['cancel', 'turn', 'time-out', 'finish'])


@given(first=event, then=event, end=st.sampled_from(Actor.ENDS), obedient=st.booleans())
@settings(max_examples=examples(60), deadline=None)
def test_the_first_thing_that_happens_decides(
    first: str, then: str, end: str, obedient: bool
) -> None:
    """One after the other: the state that each event leaves is exact."""
    actor, turn = Actor(obedient=obedient), Cancellation()
    timeout_s = 0.005 if first == 'time-out' else LONG_S
    executor = executor_of(skill_named('job', actor, timeout_s=timeout_s), grace_s=LONG_S)
    run = executor.start('job', {}, turn)
    until(actor.begun, 'the skill to begin')
    stopped = threading.Event()
    with actor.button.call_when_pressed(stopped.set):
        asked = awaited(run)
        for what in (first, then, 'finish'):
            if not obedient and not actor.ended.is_set():
                assert not asked.done()  # a turn is told when its run has ended, not before
            if what == 'cancel':
                run.cancel()
            elif what == 'turn':
                turn.cancel('Stopped by a test')
                assert actor.ended.is_set() or stopped.wait(LONG_S)
            elif what == 'finish':
                actor.finish(end)
                until(actor.ended, 'the skill to end')
            elif what == first:
                until(stopped, 'the time-out')
    if first == 'turn':
        with pytest.raises(TurnCancelled, match='Stopped by a test'):
            asked.result(LONG_S)
        return
    result = asked.result(LONG_S)
    assert run.cancel() is False
    if first == 'finish':
        assert (result.ok, result.error_code in STOPPED) == (end == 'ok', False)
        return
    code, said = {
        'cancel': ('CANCELLED', 'job was cancelled'),
        'time-out': ('SKILL_TIMEOUT', 'job timed out after 0.005 s'),
    }[first]
    assert result.error_code == code
    assert actor.saw_stop
    if end == 'ok' and not obedient:
        assert result.error_reason == f'{said}; it had done its work by then'
        assert result.data == {'done': 1}
    else:
        assert result.error_reason.startswith(said)


@given(
    events=st.lists(event, min_size=1, max_size=4),
    end=st.sampled_from(Actor.ENDS),
    obedient=st.booleans(),
    grace_s=st.sampled_from([0.003, LONG_S]),
)
@settings(max_examples=examples(80), deadline=None)
def test_every_race_ends_in_one_result_that_is_true(
    events: list[str], end: str, obedient: bool, grace_s: float
) -> None:
    """All at once, from threads of their own."""
    actor, turn = Actor(obedient=obedient), Cancellation()
    timeout_s = 0.003 if 'time-out' in events else LONG_S
    executor = executor_of(
        skill_named('job', actor, timeout_s=timeout_s, resources_required=['base']),
        grace_s=grace_s,
    )
    run = executor.start('job', {}, turn)
    acts: dict[str, Callable[[], Any]] = {
        'turn': lambda: turn.cancel('Stopped by a test'),
        'finish': lambda: actor.finish(end),
        'cancel': run.cancel,
    }
    chosen = [acts[what] for what in events if what in acts]
    begin = threading.Barrier(1 + len(chosen))
    threads = [threading.Thread(target=lambda act=act: (begin.wait(), act())) for act in chosen]
    for thread in threads:
        thread.start()
    begin.wait()
    if not obedient and grace_s == LONG_S:
        actor.finish(end)
    result = None
    try:
        result = run.wait()
    except TurnCancelled:
        assert 'turn' in events
    for thread in threads:
        thread.join()
    actor.finish(end)
    until(actor.ended, 'the skill to end')
    if result is None:
        return
    if result.error_code not in STOPPED:
        assert not actor.saw_stop
        assert result.ok is (end == 'ok')
    elif result.error_code == 'CANCELLED':
        assert 'cancel' in events
    elif result.error_code == 'SKILL_TIMEOUT':
        assert 'time-out' in events
    else:
        assert result.error_code == 'UNKNOWN'
        assert f'did not end within {grace_s} s of its stop' in result.error_reason
        assert grace_s < LONG_S
        assert {'cancel', 'time-out'} & set(events)
    again = executor.result_of('job', {}, Cancellation())  # what it held is free
    assert again.ok is (end == 'ok') or timeout_s < LONG_S


some = st.sets(st.sampled_from(OWN_RESOURCES)).map(sorted)


@given(held=some, wanted=some)
@settings(max_examples=examples(64), deadline=None)
def test_a_resource_serves_one_skill_at_a_time(held: list[str], wanted: list[str]) -> None:
    """Property 6."""
    actor = Actor()
    executor = executor_of(
        skill_named('holder', actor, resources_required=held),
        skill_named('wanter', lambda call: ToolResult.success(), resources_required=wanted),
    )
    holder = executor.start('holder', {}, Cancellation())
    if set(held) & set(wanted):
        with pytest.raises(ResourceBusy, match=r'^RESOURCE_CONFLICT: wanter needs .* holder'):
            executor.start('wanter', {}, Cancellation())
    else:
        executor.start('wanter', {}, Cancellation()).wait()
    actor.finish()
    holder.wait()
    assert executor.start('wanter', {}, Cancellation()).wait().ok


def test_what_is_unknown_wrong_or_stopped_begins_nothing_and_some_end_only_with_their_turn():
    actor, turn = Actor(), Cancellation()
    executor = executor_of(skill_named('job', actor, cancel_supported=False))
    with pytest.raises(UnknownSkill, match="no skill 'fly'; there are job"):
        executor.start('fly', {}, Cancellation())
    with pytest.raises(BadArguments, match=r'^job: far: .*it takes: none'):
        executor.start('job', {'far': 1}, Cancellation())
    refused = executor.result_of('job', {'far': 1}, Cancellation())
    assert refused.error_code == 'PARAM_INVALID'
    run = executor.start('job', {}, turn)
    assert run.cancel() is False
    assert executor.monitor.running() == [run.goal]
    turn.cancel('Stopped by a test')
    with pytest.raises(TurnCancelled, match='Stopped by a test'):
        run.wait()
    actor.begun.clear()
    with pytest.raises(TurnCancelled):
        executor.start('job', {}, turn)
    assert not actor.begun.is_set()


def test_a_skill_that_does_not_hold_the_base_drives_nowhere() -> None:
    def drive(call: SkillCall) -> ToolResult:
        assert call.world.tool('mast_open', call.cancellation).ok
        return call.world.tool('move_forward', call.cancellation, duration_s=1.0)

    for needs, told in ((['base', 'mast'], ''), (['mast'], NO_MOTION_TEXT), ([], NO_MOTION_TEXT)):
        executor = executor_of(skill_named('drive', drive, resources_required=needs))
        assert executor.result_of('drive', {}, Cancellation()).error_reason == told


def test_a_report_is_kept_as_it_was_and_one_that_is_no_json_fails_the_skill() -> None:
    report: Json = {'n': 1.0}

    def counts(call: SkillCall) -> ToolResult:
        call.progress(report)
        report['n'] = float('nan')  # nobody sees a later change
        call.progress(report)
        return ToolResult.success()

    run = executor_of(skill_named('job', counts)).start('job', {}, Cancellation())
    assert run.wait().error_reason.startswith('Internal error in job: ValueError')
    assert run.feedback == {'n': 1.0}


def halting() -> Halt:
    return Halt(lambda: Outcome(True, 'stopped'))


@in_loop
async def test_blocking_work_returns_or_raises_and_a_cancelled_skill_ends_when_it_has_cleaned_up():
    halt, seen = halting(), list[str]()
    assert await halt.run(lambda _: threading.current_thread().name) == 'skill'

    def fail(_: Cancellation) -> None:
        raise KeyError('x')

    with pytest.raises(KeyError, match='x'):
        await halt.run(fail)
    assert not halt.busy
    begun, cleans, clean = threading.Event(), threading.Event(), threading.Event()

    def work(cancellation: Cancellation) -> None:
        begun.set()
        try:
            cancellation.sleep(LONG_S)
        finally:
            cleans.set()
            assert clean.wait(LONG_S), 'nobody let it clean up'
            seen.append(cancellation.reason)

    job = asyncio.create_task(halt.run(work))
    await asyncio.to_thread(until, begun, 'the work to begin')
    assert halt.busy
    job.cancel('an urgent task')
    await asyncio.to_thread(until, cleans, 'the work to clean up')
    assert not job.done()
    clean.set()
    with pytest.raises(asyncio.CancelledError):
        await job
    assert seen == ['an urgent task']
    assert not halt.busy


@in_loop
async def test_a_halted_skill_that_nobody_ends_ends_by_itself(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    halt, begun = halting(), threading.Event()

    def work(cancellation: Cancellation) -> None:
        begun.set()
        cancellation.sleep(LONG_S)

    monkeypatch.setattr(halt_module, 'STOP_TIMEOUT_S', 0.05)
    job = asyncio.create_task(halt.run(work))
    await asyncio.to_thread(until, begun, 'the work to begin')
    number = halt.halt('Stopped by me')
    for stopped in (job, halt.run(work)):
        with pytest.raises(SkillsHalted, match='Stopped by me'):
            await stopped
    halt.settle(number)
    assert await halt.run(lambda cancellation: cancellation.requested) is False


@given(st.lists(st.sampled_from(['halt', 'pause', 'settle', 'run', 'stubborn']), max_size=20))
@settings(max_examples=examples(50), deadline=None)
@in_loop
async def test_nothing_begins_until_each_halt_is_settled(steps: list[str]) -> None:
    """In any order. A pause halts only what may be cancelled."""
    halt, open_halts = halting(), list[tuple[int, bool]]()
    for step in steps:
        if step in ('halt', 'pause'):
            number = halt.halt('no', cancellable_only=step == 'pause')
            open_halts.append((number, step == 'pause'))
        elif step == 'settle' and open_halts:
            number, _ = open_halts.pop(len(open_halts) // 2)
            halt.settle(number)
            halt.settle(number)  # has no effect
        elif step != 'settle':
            requested = lambda cancellation: cancellation.requested  # noqa: E731
            stopped = await halt.run(requested, cancellable=step == 'run')
            assert stopped is any(step == 'run' or not pause for _, pause in open_halts)
