# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Blocking work of skills, which a halt reaches at once, and the watchdog of the kernel."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
import threading

from curiosity_rosa_demo.agent.runtime.execution import blocking as blocking_module
from curiosity_rosa_demo.agent.runtime.execution.blocking import BlockingCalls, SkillsHalted
from curiosity_rosa_demo.agent.runtime.watchdog import Watchdog
from curiosity_rosa_demo.domain.cancellation import Cancellation
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st
import pytest

LONG_S = 20.0


def in_loop(test: Callable[[BlockingCalls], Awaitable[None]]) -> Callable[[], None]:
    def run() -> None:
        asyncio.run(asyncio.wait_for(test(BlockingCalls()), LONG_S))

    run.__name__ = test.__name__
    return run


async def until_busy(blocking: BlockingCalls) -> None:
    while not blocking.busy:
        await asyncio.sleep(0.001)


@in_loop
async def test_what_work_returns_or_raises_comes_back(blocking: BlockingCalls) -> None:
    assert await blocking.run(lambda _: threading.current_thread().name) == 'skill'

    def fail(_: Cancellation) -> None:
        raise KeyError('x')

    with pytest.raises(KeyError, match='x'):
        await blocking.run(fail)
    assert not blocking.busy


@in_loop
async def test_a_cancelled_skill_ends_when_its_work_has_cleaned_up(
    blocking: BlockingCalls,
) -> None:
    seen: list[str] = []
    cleans, clean = threading.Event(), threading.Event()

    def work(cancellation: Cancellation) -> None:
        try:
            cancellation.sleep(LONG_S)
        finally:
            cleans.set()
            assert clean.wait(LONG_S), 'nobody let it clean up'
            seen.append(cancellation.reason)

    job = asyncio.create_task(blocking.run(work))
    await until_busy(blocking)
    job.cancel('an urgent task')
    while not cleans.is_set():
        await asyncio.sleep(0.001)
    assert not job.done()
    clean.set()
    with pytest.raises(asyncio.CancelledError):
        await job
    assert seen == ['an urgent task']
    assert not blocking.busy


@in_loop
async def test_a_halt_stops_what_runs_before_it_returns_and_what_would_begin(
    blocking: BlockingCalls,
) -> None:
    buttons: list[Cancellation] = []

    def work(cancellation: Cancellation) -> None:
        buttons.append(cancellation)
        cancellation.sleep(LONG_S)

    jobs = [asyncio.create_task(blocking.run(work)) for _ in range(3)]
    while len(buttons) < 3:
        await asyncio.sleep(0.001)
    blocking.halt('Stopped by me')
    assert [each.reason for each in buttons] == ['Stopped by me'] * 3
    late = asyncio.create_task(blocking.run(work))
    while len(buttons) < 4:
        await asyncio.sleep(0.001)
    assert buttons[3].requested
    for job in (*jobs, late):
        assert not job.done()  # whoever stopped it ends it with a reason of its own
        job.cancel()
        with pytest.raises(asyncio.CancelledError):
            await job
    blocking.release()
    assert await blocking.run(lambda cancellation: cancellation.requested) is False


def test_what_nobody_ends_after_a_stop_ends_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocking_module, 'STOP_TIMEOUT_S', 0.05)

    async def test() -> None:
        blocking = BlockingCalls()
        blocking.halt('Stopped by me')
        with pytest.raises(SkillsHalted, match='Stopped by me'):
            await asyncio.wait_for(blocking.run(lambda it: it.sleep(LONG_S)), LONG_S)

    asyncio.run(test())


@given(st.lists(st.sampled_from(['halt', 'release', 'run']), max_size=20))
@settings(max_examples=examples(50), deadline=None)
def test_nothing_begins_until_every_halt_is_released(steps: list[str]) -> None:
    async def test() -> None:
        blocking, halts = BlockingCalls(), 0
        for step in steps:
            if step == 'halt':
                blocking.halt('no')
                halts += 1
            elif step == 'release' and halts:
                blocking.release()
                halts -= 1
            else:
                stopped = await blocking.run(lambda cancellation: cancellation.requested)
                assert stopped is (halts > 0)

    asyncio.run(test())


LIMIT_S = 2.0


@given(st.lists(st.tuples(st.sampled_from(['beat', 'look']), st.floats(0.0, 4.0)), max_size=40))
def test_it_barks_at_the_first_look_after_each_silence(script: list[tuple[str, float]]) -> None:
    barks, now_s = list[str](), 100.0
    dog = Watchdog(LIMIT_S, barks.append, lambda: now_s)
    last, owed, expected = None, True, 0
    for what, seconds in script:
        now_s += seconds
        if what == 'beat':
            dog.beat()
            last, owed = now_s, True
        else:
            dog.check()
            if last is not None and owed and now_s - last > LIMIT_S:
                expected, owed = expected + 1, False
        assert len(barks) == expected
