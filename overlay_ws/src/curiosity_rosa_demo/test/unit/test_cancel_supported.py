# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A skill with ``cancel_supported`` false ends by itself, or by a stop, and by nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

from curiosity_rosa_demo.agent.skills.registry import make_registry, SkillRegistry
from curiosity_rosa_demo.agent.tasks import LifecycleState as S
from curiosity_rosa_demo.agent.tasks import SkillRunner, Task
from curiosity_rosa_demo.agent.tasks.task import CannotBeCancelled
import pytest
from runtime_world import CONFIG, RuntimeBench, settle
from skill_world import ended, in_loop, looping, Stage, titled

REFUSAL = 'firm cannot be cancelled; it ends by itself, or :stop ends it'
NO_PAUSE = 'cannot be paused; it ends by itself, or :stop ends it'


def runner_of(stage: Stage) -> SkillRunner:
    """With a skill that can be cancelled, and one that cannot."""
    runner = SkillRunner(':memory:', retry_backoff_s=0.01)
    runner.skill('soft', resources=('mast',))(stage.play)
    runner.skill('firm', resources=('mast',), cancel_supported=False)(stage.play)
    return runner


async def ask(runner: SkillRunner, how: str, task: Task) -> None:
    """What somebody asks for while ``task`` runs."""
    requests = {
        'pause': lambda: runner.pause(task.id),
        'interrupt': lambda: runner.interrupt(titled('soft', 'urgent', 9)),
        'cancel': lambda: runner.cancel(task.id),
        'hold': lambda: runner.hold('e-stop'),
        'stop': lambda: runner.cancel_all('stop'),
        'deadline': lambda: ended(runner, task),
    }
    firm = (how, task.name) == ('cancel', 'firm')
    with pytest.raises(CannotBeCancelled, match=REFUSAL) if firm else nullcontext():
        await requests[how]()


ENDS = {
    'pause': (S.PAUSED, S.ACTIVE),
    'interrupt': (S.PAUSED, S.ACTIVE),
    'cancel': (S.CANCELLED, S.ACTIVE),
    'hold': (S.PAUSED, S.PAUSED),
    'stop': (S.CANCELLED, S.CANCELLED),
    'deadline': (S.FAILED, S.FAILED),
}


@pytest.mark.parametrize('paused', [False, True])
@pytest.mark.parametrize('how', ENDS)
@in_loop
async def test_what_stops_a_skill(how: str, paused: bool) -> None:
    """``paused``: a pause waits for the end of what cannot be cancelled."""
    for name, after in list(zip(('soft', 'firm'), ENDS[how], strict=True))[paused:]:
        stage = Stage()
        async with looping(runner_of(stage)) as runner:
            deadline_s = 0.05 if how == 'deadline' else None
            task = await runner.submit(titled(name, 'job', deadline_s=deadline_s))
            await stage.until('begin job')
            if paused:
                assert await runner.pause(task.id) is False
            await ask(runner, how, task)
            assert task.state is after, name
            assert ('cleanup job' in stage.log) is (after is not S.ACTIVE)
            if after is S.ACTIVE:
                assert 'begin urgent' not in stage.log
                stage.finish(task)
                assert (await ended(runner, task)).state is S.COMPLETED
            elif how != 'pause':
                assert task.held is (paused and after is S.PAUSED)
            if how == 'interrupt':
                await stage.until('begin urgent')


def preemptible_registry() -> SkillRegistry:
    """``mast_rotate`` could be preempted, were it not for its ``cancel_supported``."""
    skills = dict(CONFIG.skills.skills)
    skills['mast_rotate'] = skills['mast_rotate'].model_copy(update={'preemptible': True})
    changed = CONFIG.skills.model_copy(update={'skills': skills})
    return make_registry(CONFIG.model_copy(update={'skills': changed}))


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[RuntimeBench]:
    with RuntimeBench(tmp_path, registry=preemptible_registry()) as bench:
        bench.runs(':mast_rotate')
        bench.becomes('mast_rotate', 'ACTIVE')
        yield bench


def test_a_pause_stops_the_rover_and_waits_for_the_skill(bench: RuntimeBench) -> None:
    bench.console.handle_line('look around')
    bench.becomes('look around', 'PENDING')
    bench.console.handle_line(':pause')
    bench.until(lambda: any(NO_PAUSE in line for line in bench.said), 'an answer')
    bench.stopped(1)
    bench.runtime.call(settle())
    assert bench.tasks()['mast_rotate'] == 'ACTIVE'
    assert not bench.session.used[0].requested
    bench.session.release.set()
    bench.becomes('mast_rotate', 'COMPLETED')
    bench.runtime.call(settle())
    assert bench.session.ran == ['mast_rotate']
    bench.console.handle_line(':resume')
    bench.becomes('look around', 'COMPLETED')


@pytest.mark.parametrize('paused', [False, True])
def test_a_stop_reaches_the_rover_and_the_skill_at_once(bench: RuntimeBench, paused: bool) -> None:
    if paused:
        bench.console.handle_line(':pause')
        bench.until(lambda: any(NO_PAUSE in line for line in bench.said), 'an answer')
    stops = bench.session.stops
    bench.console.handle_line(':stop')
    assert bench.session.stops == stops + 1  # before the line returns
    assert bench.session.used[0].requested
    bench.becomes('mast_rotate', 'CANCELLED')
