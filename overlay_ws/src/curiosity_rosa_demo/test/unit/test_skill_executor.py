# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The executor: one way for a run to end, whatever races with what; property 6 of seed 000."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
import threading
from typing import Any

from curiosity_rosa_demo.agent.skills.errors import (
    BadArguments,
    ResourceBusy,
    UnknownRun,
    UnknownSkill,
)
from curiosity_rosa_demo.agent.skills.executor import MAX_ENDED_RUNS, SkillExecutor
from curiosity_rosa_demo.agent.skills.run import MAX_PROGRESS_REPORTS
from curiosity_rosa_demo.agent.skills.skill import Skill, SkillCall
from curiosity_rosa_demo.domain.brain_state import Json, SkillStatus
from curiosity_rosa_demo.domain.cancellation import Cancellation, TurnCancelled
from curiosity_rosa_demo.domain.models import ToolBroke, ToolResult
from curiosity_rosa_demo.domain.refusal import RefusalCode
from curiosity_rosa_demo.infra.config.robot import OWN_RESOURCES
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st
import pytest
from skill_world import Actor, in_loop, LONG_S, registry_of, skill_named, StillWorld

BROKE = RefusalCode.INTERNAL_ERROR.value


def executor_of(*skills: Skill, grace_s: float = LONG_S) -> SkillExecutor:
    return SkillExecutor(registry_of(*skills), StillWorld(), grace_s=grace_s)


async def until(event: threading.Event, what: str) -> None:
    assert await asyncio.to_thread(event.wait, LONG_S), what


WORKED, FAILED = SkillStatus.SUCCESS, SkillStatus.FAILED
MAP = {'No image': 'ABORT', 'No image received': 'RETRY'}


class Unspeakable(BaseException):
    def __repr__(self) -> str:
        raise RuntimeError('no words')


class Garbled(Exception):
    def __repr__(self) -> str:
        return 'half a character: \ud83d'


REFUSED = ToolResult.failure('No image received: 5 s', half=1)
BOOM = ToolBroke(ToolResult.failure('Internal error in mast_open: boom', driven_m=1.0))
ENDS: list[tuple[Any, SkillStatus, str, str, Json]] = [
    (ToolResult.success(done=1), WORKED, '', '', {'done': 1}),
    (REFUSED, FAILED, 'FAILED', 'No image received: 5 s', {'half': 1}),
    (BOOM, FAILED, BROKE, 'Internal error in mast_open: boom', {'driven_m': 1.0}),
    (ValueError('it broke'), FAILED, BROKE, "Internal error in job: ValueError('it b", {}),
    (SystemExit(3), FAILED, BROKE, 'Internal error in job: SystemExit(3)', {}),
    (None, FAILED, BROKE, 'Internal error in job: it answered no', {}),
    (Unspeakable(), FAILED, BROKE, 'Internal error in job: ', {}),
    (Garbled(), FAILED, BROKE, 'Internal error in job: ', {}),
    (KeyError('x' * 10_000), FAILED, BROKE, 'Internal error in job: ', {}),
]


@pytest.mark.parametrize(
    ('resources', 'latches'),
    [([], False), (['camera'], False), (['base'], True), (['mast', 'camera'], True)],
)
@in_loop
async def test_a_run_ends_as_the_skill_says_and_one_that_breaks_with_a_moving_part_latches_safe(
    resources: list[str], latches: bool
) -> None:
    for end, status, code, said, metrics in ENDS:

        def job(call: SkillCall, end: Any = end) -> ToolResult:
            if isinstance(end, BaseException):
                raise end
            return end

        executor = executor_of(
            skill_named('job', job, resources_required=resources, error_map=MAP)
        )
        violations: list[str] = []
        executor.monitor.on_violation = violations.append
        run = await executor.dispatch('job', {}, Cancellation())
        result = await executor.get_result(run)
        assert (result.status, result.error_code, result.metrics) == (status, code, metrics)
        assert result.error_msg.startswith(said)
        assert len(result.error_msg) < 300
        result.model_dump_json()
        broke = latches and code == BROKE
        assert violations == [f'SAFETY_VIOLATION: {result.error_msg}'] * broke
        assert executor.running() == []
        assert await executor.get_result(run) is result
        assert await executor.cancel(run) is False


event = st.sampled_from(['cancel', 'turn', 'time-out', 'finish'])


@given(first=event, then=event, end=st.sampled_from(Actor.ENDS), obedient=st.booleans())
@settings(max_examples=examples(60), deadline=None)
@in_loop
async def test_the_first_thing_that_happens_decides(
    first: str, then: str, end: str, obedient: bool
) -> None:
    """One after the other: the state that each event leaves is exact."""
    actor, turn = Actor(obedient=obedient), Cancellation()
    timeout_s = 0.005 if first == 'time-out' else LONG_S
    executor = executor_of(skill_named('job', actor, timeout_s=timeout_s), grace_s=LONG_S)
    run = await executor.dispatch('job', {}, turn)
    await until(actor.begun, 'the skill to begin')
    stopped = threading.Event()
    asked = asyncio.ensure_future(executor.get_result(run))
    for what in (first, then, 'finish'):
        if not obedient and not actor.ended.is_set():
            await asyncio.sleep(0)
            assert not asked.done()  # a turn is told when its run has ended, not before
        if what == 'cancel':
            await executor.cancel(run)
        elif what == 'turn':
            turn.cancel('Stopped by a test')
        elif what == 'finish':
            actor.finish(end)
            await until(actor.ended, 'the skill to end')
        elif what == first:
            with actor.button.call_when_pressed(stopped.set):
                await until(stopped, 'the time-out')
    if first == 'turn':
        with pytest.raises(TurnCancelled, match='Stopped by a test'):
            await asked
        return
    result = await asked
    assert await executor.cancel(run) is False
    if first == 'finish':
        assert result.status is (WORKED if end == 'ok' else FAILED)
        return
    status, code, said = {
        'cancel': (SkillStatus.CANCELLED, 'CANCELLED', 'job was cancelled'),
        'time-out': (SkillStatus.TIMED_OUT, 'SKILL_TIMEOUT', 'job timed out after 0.005 s'),
    }[first]
    assert (result.status, result.error_code) == (status, code)
    assert actor.saw_stop
    if end == 'ok' and not obedient:
        assert result.error_msg == f'{said}; it had done its work by then'
        assert result.metrics == {'done': 1}
    else:
        assert result.error_msg.startswith(said)


@given(
    events=st.lists(event, min_size=1, max_size=4),
    end=st.sampled_from(Actor.ENDS),
    obedient=st.booleans(),
    grace_s=st.sampled_from([0.003, LONG_S]),
    data=st.data(),
)
@settings(max_examples=examples(80), deadline=None)
@in_loop
async def test_every_race_ends_in_one_result_that_is_true(
    events: list[str], end: str, obedient: bool, grace_s: float, data: st.DataObject
) -> None:
    """All at once, from threads of their own."""
    actor, turn = Actor(obedient=obedient), Cancellation()
    timeout_s = 0.003 if 'time-out' in events else LONG_S
    executor = executor_of(
        skill_named('job', actor, timeout_s=timeout_s, resources_required=['base']),
        grace_s=grace_s,
    )
    run = await executor.dispatch('job', {}, turn)
    acts: dict[str, Callable[[], Any]] = {
        'turn': lambda: turn.cancel('Stopped by a test'),
        'finish': lambda: actor.finish(end),
    }
    begin = threading.Barrier(1 + sum(what in acts for what in events))
    threads = [
        threading.Thread(target=lambda act=acts[what]: (begin.wait(), act()))
        for what in events
        if what in acts
    ]
    for thread in threads:
        thread.start()
    begin.wait()
    for what in events:
        if what == 'cancel':
            await executor.cancel(run)
    for thread in threads:
        thread.join()
    if not obedient and grace_s == LONG_S:
        actor.finish(end)
    try:
        result = await executor.get_result(run)
    except TurnCancelled:
        assert 'turn' in events
        result = None
    assert executor.running() == []
    actor.finish(end)
    await until(actor.ended, 'the skill to end')
    if result is None:
        return
    if result.status in (WORKED, FAILED):
        assert not actor.saw_stop
        assert (result.status is WORKED) is (end == 'ok')
    elif result.status is SkillStatus.CANCELLED:
        assert 'cancel' in events
    elif result.status is SkillStatus.TIMED_OUT:
        assert 'time-out' in events
    else:
        assert (result.status, result.error_code) == (SkillStatus.UNKNOWN, 'UNKNOWN')
        assert f'did not end within {grace_s} s of its stop' in result.error_msg
        assert grace_s < LONG_S
        assert {'cancel', 'time-out'} & set(events)
    assert await executor.get_result(run) is result
    again = await executor.result_of('job', {}, Cancellation())  # what it held is free
    assert again.status is (WORKED if end == 'ok' else FAILED) or timeout_s < LONG_S


some = st.sets(st.sampled_from(OWN_RESOURCES)).map(sorted)


@given(held=some, wanted=some)
@settings(max_examples=examples(64), deadline=None)
@in_loop
async def test_a_resource_serves_one_skill_at_a_time(held: list[str], wanted: list[str]) -> None:
    """Property 6."""
    actor = Actor()
    executor = executor_of(
        skill_named('holder', actor, resources_required=held),
        skill_named('wanter', lambda call: ToolResult.success(), resources_required=wanted),
    )
    holder = await executor.dispatch('holder', {}, Cancellation())
    if set(held) & set(wanted):
        with pytest.raises(ResourceBusy, match=r'^RESOURCE_CONFLICT: wanter needs .* holder'):
            await executor.dispatch('wanter', {}, Cancellation())
    else:
        await executor.get_result(await executor.dispatch('wanter', {}, Cancellation()))
    actor.finish()
    await executor.get_result(holder)
    await executor.get_result(await executor.dispatch('wanter', {}, Cancellation()))


@in_loop
async def test_what_is_unknown_wrong_or_stopped_begins_nothing_and_some_end_only_with_their_turn():
    actor, turn = Actor(), Cancellation()
    executor = executor_of(skill_named('job', actor, cancel_supported=False))
    with pytest.raises(UnknownSkill, match="no skill 'fly'; there are job"):
        await executor.dispatch('fly', {}, Cancellation())
    with pytest.raises(BadArguments, match=r'^job: far: .*it takes: none'):
        await executor.dispatch('job', {'far': 1}, Cancellation())
    with pytest.raises(UnknownRun):
        await executor.get_result('x')
    run = await executor.dispatch('job', {}, turn)
    assert await executor.cancel(run) is False
    assert len(executor.running()) == 1
    turn.cancel('Stopped by a test')
    with pytest.raises(TurnCancelled, match='Stopped by a test'):
        await executor.get_result(run)
    actor.begun.clear()
    with pytest.raises(TurnCancelled):
        await executor.dispatch('job', {}, turn)
    assert not actor.begun.is_set()


@in_loop
async def test_runs_that_ended_are_forgotten_in_the_end() -> None:
    actor = Actor()
    executor = executor_of(
        skill_named('job', lambda call: ToolResult.success()), skill_named('long', actor)
    )
    long = await executor.dispatch('long', {}, Cancellation())
    runs = []
    for _ in range(MAX_ENDED_RUNS + 1):
        runs.append(await executor.dispatch('job', {}, Cancellation()))
        await executor.get_result(runs[-1])
    with pytest.raises(UnknownRun):
        await executor.get_result(runs[0])
    assert (await executor.get_result(runs[2])).status is WORKED
    actor.finish()
    assert (await executor.get_result(long)).status is WORKED


@pytest.mark.parametrize('count', [0, 1, MAX_PROGRESS_REPORTS, 20_000])
@in_loop
async def test_each_report_arrives_once_and_in_order_or_of_a_flood_the_last_and_no_json_fails(
    count: int,
) -> None:
    report = {'n': 0.0}

    def counts(call: SkillCall) -> ToolResult:
        for number in range(count):
            report['n'] = number
            call.progress(report)
        report['n'] = float('nan')  # nobody sees a later change
        call.progress(report)
        return ToolResult.success()

    executor = executor_of(skill_named('job', counts))
    run = await executor.dispatch('job', {}, Cancellation())
    seen = [report['n'] async for report in executor.progress(run)]
    if count > MAX_PROGRESS_REPORTS:
        assert seen == sorted(set(seen), key=int)
        assert seen[-1] == count - 1
        return
    assert seen == list(range(count))
    failed = await executor.get_result(run)
    assert failed.error_msg.startswith('Internal error in job: ValueError')
    assert await executor.get_feedback(run) == ({'n': count - 1} if count else {})
    assert [report['n'] async for report in executor.progress(run)] == seen
