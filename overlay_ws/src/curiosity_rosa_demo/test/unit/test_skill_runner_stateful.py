# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The real runner on a real file in random histories, with crashes and restarts.

Every decision to start is compared with a scan over all tasks, and after every step what the
runner shows with what the file holds and with what the rules of the design allow.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from itertools import pairwise
from pathlib import Path
import shutil
import tempfile
from typing import Any

from curiosity_rosa_demo.agent.tasks import LifecycleState as S
from curiosity_rosa_demo.agent.tasks import Task
from curiosity_rosa_demo.agent.tasks.commits import TaskRecord
from curiosity_rosa_demo.agent.tasks.store import TaskStore
from curiosity_rosa_demo.agent.tasks.task import TaskError
from curiosity_rosa_demo.domain.task_state import TRANSITIONS
from examples import examples
from explored_tasks import OpenRunner
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, rule, RuleBasedStateMachine
import pytest
from skill_world import LONG_S, SKILLS, Stage, staged

NAMES = sorted(SKILLS)
REQUESTS = (
    *('submit', 'submit', 'submit', 'interrupt', 'blocked', 'blocked', 'key', 'hold', 'release'),
    *('release', 'cancel', 'cancel_all', 'pause', 'resume', 'resume', 'reprioritise', 'approve'),
)
Request = Callable[[], Coroutine[Any, Any, Any]]
priorities = st.integers(-1, 2)
TURNS = 20  # of the loop, for what a commit leads to


class Checked(Stage):
    """Notes a skill that begins though it must not."""

    def __init__(self, machine: SkillRunnerMachine) -> None:
        super().__init__()
        self.machine = machine
        self.faults: list[str] = []

    async def play(self, task: Task) -> None:
        stored = self.machine.store.get(task.id)
        if stored is None or stored.state not in (S.ACTIVE, S.RECOVERING):
            self.faults.append(f'{task.name} began before that was committed')
        if task.id in self.machine.terminal:
            self.faults.append(f'{task.name} began though it had ended')
        for other in self.playing:
            if not self.machine.needs(other).isdisjoint(self.machine.needs(task.id)):
                self.faults.append(f'{task.name} shares a resource')
        await super().play(task)


class SkillRunnerMachine(RuleBasedStateMachine):
    @initialize()
    def begin(self) -> None:
        memory = Path('/dev/shm')  # its fsync costs nothing; power loss is not what is tested
        folder = tempfile.mkdtemp(prefix='tasks-', dir=memory if memory.is_dir() else None)
        self.folder = Path(folder)
        self.tasks: dict[str, str] = {}  # acknowledged: id, name
        self.keys: dict[str, str] = {}  # idempotency key, id
        self.terminal: dict[str, S] = {}
        self.submitted = 0
        self.allowed: set[str] | None = None
        self.boot()

    def boot(self) -> None:
        self.allowed = None
        self.loop = asyncio.new_event_loop()
        self.stage = Checked(self)
        self.store = TaskStore(self.folder / 'tasks.db')
        options = {'store': self.store, 'cancel_grace_s': LONG_S, 'retry_backoff_s': 0.0}
        self.runner = staged('', self.stage, OpenRunner, **options)
        queue = self.runner.ready
        take = queue.pop_next

        def checked_take() -> str | None:
            expected = self.next_by_the_rules()
            taken = take()
            assert taken == expected, f'{taken} began, not {expected}'
            return taken

        queue.pop_next = checked_take  # type: ignore[method-assign]
        self.run(self.runner.start())
        self.loop_task = self.loop.create_task(self.runner.run_loop())
        self.run(self.settled())

    # --- the rules of the design, as a scan --------------------------------------------------

    def rank(self, record: TaskRecord) -> tuple[bool, int]:
        records = self.runner.records.values()
        own = (not record.plan.urgent, -record.plan.priority)
        lent = [self.rank(r) for r in records if record.plan.id in r.open_blockers]
        return min([own, *lent])

    def next_by_the_rules(self) -> str | None:
        def place(record: TaskRecord) -> tuple[Any, ...]:
            return self.rank(record), record.plan.state is not S.RECOVERING, record.plan.seq

        records = list(self.runner.records.values())
        taken = frozenset().union(*(r.resources for r in records if r.busy))
        ready = [
            *(
                r
                for r in records
                if r.plan.state in (S.PENDING, S.PAUSED, S.RECOVERING)
                and not (r.busy or r.plan.held)
                and (self.allowed is None or r.plan.name in self.allowed)
            )
        ]
        for record in sorted(ready, key=place):
            needs = frozenset(SKILLS[record.plan.name])
            if needs.isdisjoint(taken):
                return record.plan.id
            taken |= needs
        return None

    # --- help --------------------------------------------------------------------------------

    def needs(self, task_id: str) -> frozenset[str]:
        task = self.runner.get_task(task_id)
        assert task is not None
        return frozenset(SKILLS[task.name])

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        return self.loop.run_until_complete(asyncio.wait_for(work, LONG_S))

    async def settled(self) -> None:
        for _ in range(TURNS):
            await asyncio.sleep(0)
            await self.runner.commits.done()

    def request(self, data: st.DataObject) -> Request:
        """Any request to the runner, with what is known to hold once it is answered."""
        runner = self.runner
        kind = data.draw(st.sampled_from(REQUESTS), label='request')
        # The threads' timing decides what is known here, and must not decide what is drawn.
        numbers = data.draw(st.lists(st.integers(0, 99), min_size=1, max_size=3))
        name, priority = data.draw(st.sampled_from(NAMES)), data.draw(priorities)
        allowed = data.draw(st.sets(st.sampled_from(NAMES), max_size=3))
        known = sorted(self.tasks)
        if kind in ('submit', 'interrupt', 'blocked', 'key'):
            self.submitted += 1
            task = Task(name, priority, id=f't{self.submitted:04}')
            if kind == 'interrupt':
                return lambda: self.acknowledged(runner.interrupt(task))
            task.max_retries = numbers[0] % 2
            if kind == 'blocked' and known:
                task.blocked_by = tuple(known[-1 - number % len(known)] for number in numbers)
                task.needs_approval = numbers[0] % 3 == 0
            if kind == 'key':
                task.idempotency_key = f'key {numbers[0] % 2}'
            return lambda: self.acknowledged(runner.submit(task))
        if kind == 'hold':
            return lambda: self.hold(allowed)
        if kind == 'cancel_all' and numbers[0] == 0:
            return self.cancel_all
        if kind in ('cancel_all', 'release') or not known:
            return self.release
        task_id = known[-1 - numbers[0] % len(known)]
        if kind == 'cancel':
            return lambda: self.cancel(task_id)
        if kind == 'pause':
            return lambda: self.refusable(runner.pause(task_id))
        if kind == 'resume':
            return lambda: self.refusable(runner.resume(task_id))
        if kind == 'approve':
            approved = numbers[0] % 4 > 0
            return lambda: self.refusable(runner.approve(task_id, approved))
        return lambda: self.refusable(runner.reprioritise(task_id, priority))

    def act(self, data: st.DataObject) -> Request:
        """What a skill that runs does next."""
        number = data.draw(st.integers(0, 9))
        what = data.draw(st.sampled_from(['return', 'return', 'raise', 'checkpoint', 'spoil']))
        if not self.stage.playing:
            return self.settled
        playing = sorted(self.stage.playing)
        return lambda: self.acting(playing[number % len(playing)], what)

    async def acting(self, task_id: str, what: str) -> None:
        task, act = self.runner.get_task(task_id), self.stage.playing.get(task_id)
        if task is None or act is None or act.done():
            return
        if what == 'checkpoint':
            task.metadata['n'] = task.metadata.get('n', 0) + 1
            await self.refusable(self.runner.checkpoint(task))
            return
        if what == 'spoil':
            task.metadata['n'] = {1, 2}
        self.stage.finish(task, ValueError('no') if what == 'raise' else None)

    async def acknowledged(self, submission: Coroutine[Any, Any, Task]) -> None:
        task = await submission
        self.tasks[task.id] = task.name
        if key := task.idempotency_key:
            assert self.keys.setdefault(key, task.id) == task.id, f'two tasks of {key}'

    async def hold(self, allowed: set[str]) -> None:
        self.allowed = allowed
        await self.runner.hold('held', lambda task: task.name in allowed)

    async def release(self) -> None:
        self.allowed = None
        await self.runner.release()

    async def cancel(self, task_id: str) -> None:
        cancelled = await self.runner.cancel(task_id)
        task = self.runner.get_task(task_id)
        assert task is not None
        assert task.terminal
        assert not cancelled or task.state is S.CANCELLED

    async def cancel_all(self) -> None:
        for task_id in await self.runner.cancel_all('all'):
            task = self.runner.get_task(task_id)
            assert task is not None
            assert task.state is S.CANCELLED

    async def refusable(self, request: Coroutine[Any, Any, None]) -> None:
        try:
            await request
        except TaskError as error:
            said = str(error)
            assert any(word in said for word in ('ended', 'priority', 'approval'))

    # --- steps -------------------------------------------------------------------------------

    @rule(data=st.data())
    def one(self, data: st.DataObject) -> None:
        self.run(self.request(data)())

    @rule(data=st.data(), count=st.integers(2, 4))
    def several_at_once(self, data: st.DataObject, count: int) -> None:
        requests = [*(self.request(data) for _ in range(count)), self.act(data)]

        async def together() -> None:
            await asyncio.gather(*[request() for request in requests])

        self.run(together())

    @rule(data=st.data())
    def skill_acts(self, data: st.DataObject) -> None:
        self.run(self.act(data)())

    @rule(data=st.data(), count=st.integers(0, 3), ticks=st.integers(0, 12))
    def crash(self, data: st.DataObject, count: int, ticks: int) -> None:
        """The process dies in the middle of some requests: some are answered, some are not."""

        async def some_ticks() -> None:
            for _ in range(ticks):
                await asyncio.sleep(0)

        for _ in range(count):
            self.loop.create_task(self.request(data)())
        self.run(some_ticks())
        before = dict(self.tasks)
        assert self.stage.faults == []
        old, store = self.loop, self.store
        self.loop = asyncio.new_event_loop()
        self.run(store.close())  # what it has got is written, and nobody hears of it
        self.loop.close()
        left = asyncio.all_tasks(old)
        for task in left:
            task.cancel()
        old.run_until_complete(asyncio.gather(*left, return_exceptions=True))
        old.close()
        self.tasks = before
        self.boot()

    @rule()
    def restart(self) -> None:
        self.run(self.runner.stop())
        self.run(self.loop_task)
        assert self.stage.faults == []
        self.loop.close()
        self.boot()

    # --- what always holds -------------------------------------------------------------------

    @invariant()
    def everything_is_as_it_should_be(self) -> None:
        self.run(self.settled())
        runner = self.runner
        assert self.stage.faults == []
        assert runner.failed is None
        assert self.next_by_the_rules() is None, 'something could start and does not'
        for task_id in self.tasks.keys() - self.terminal.keys():
            shown, stored = runner.get_task(task_id), self.store.get(task_id)
            assert shown is not None, 'an acknowledged task is lost'
            assert stored is not None
            for field in ('state', 'held', 'priority', 'reason'):
                assert getattr(shown, field) == getattr(stored, field), field
            if shown.terminal:
                self.terminal[task_id] = shown.state
                self.check_history(task_id)
            else:
                assert runner.records[task_id].plan.state is shown.state
                self.check_blockers(shown)
        active = [t.id for t in runner.list_tasks() if t.state is S.ACTIVE]
        assert set(active) <= set(self.stage.playing)
        used = [r for task_id in active for r in self.needs(task_id)]
        assert len(used) == len(set(used)), 'two active tasks share a resource'

    def check_history(self, task_id: str) -> None:
        rows = self.runner.history(task_id)
        path = [row.after for row in rows]
        assert path[0] in (S.PENDING, S.WAITING)
        assert [row.before for row in rows] == [None, *path[:-1]]
        assert all(b in TRANSITIONS[a] for a, b in pairwise(path))
        if task_id in self.terminal:
            assert path[-1] is self.terminal[task_id]

    def check_blockers(self, task: Task) -> None:
        blockers = [self.runner.get_task(task_id) for task_id in task.blocked_by]
        assert not any(b is None or b.state in (S.FAILED, S.CANCELLED) for b in blockers)
        completed = all(b is not None and b.state is S.COMPLETED for b in blockers)
        if task.state is S.WAITING:
            assert task.needs_approval or not completed
        else:
            assert completed
            assert not task.needs_approval

    def teardown(self) -> None:
        if not hasattr(self, 'loop'):
            return
        try:
            self.run(self.runner.cancel_all('the end'))
            self.run(self.settled())
            assert all(task.terminal for task in self.runner.list_tasks())
            for task_id in self.tasks:
                self.check_history(task_id)
        finally:
            self.run(self.runner.stop())
            self.run(self.loop_task)
            self.loop.close()
            shutil.rmtree(self.folder)


SkillRunnerMachine.TestCase.settings = settings(
    max_examples=examples(30),
    stateful_step_count=50,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
TestSkillRunner = pytest.mark.timeout(1800)(SkillRunnerMachine.TestCase)
