# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The runner of tasks before a disk that commits when it is told to, skills that obey or ignore a
cancellation, and an agent that dies at any time.

The runner lives in an asyncio loop, which cannot be copied: a state is the inputs that lead to it,
and each step replays them in a loop with a clock of its own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Hashable, Iterable, Sequence
from copy import copy
from dataclasses import dataclass
import selectors
from typing import Any

from curiosity_rosa_demo.agent.tasks import SkillFailed, SkillRunner, Task
from curiosity_rosa_demo.agent.tasks.commits import StopWeight, TaskRecord
from curiosity_rosa_demo.agent.tasks.rows import Change
from curiosity_rosa_demo.agent.tasks.store import HistoryRow, TaskStore
from curiosity_rosa_demo.agent.tasks.task import now, StoreError, TaskError
from curiosity_rosa_demo.domain.task_state import LifecycleState, TRANSITIONS

STEP_S = 10.0  # longer than the grace, the backoff and the retry of a commit
RUNNING = (LifecycleState.ACTIVE, LifecycleState.RECOVERING)
Unit = tuple[Sequence[Change], 'asyncio.Future[None]']


class ToldStore(TaskStore):
    """A store whose writes wait until commit() or fail(). ``rows`` is the disk: it outlives it."""

    def __init__(self, rows: dict[str, Task], history: dict[str, list[HistoryRow]]) -> None:
        super().__init__(':memory:')
        self.rows, self.moves = rows, history
        self.pending: list[Unit] = []

    def write(self, changes: Sequence[Change]) -> asyncio.Future[None]:
        done = asyncio.get_running_loop().create_future()
        self.pending.append((changes, done))
        return done

    def commit(self) -> None:
        changes, done = self.pending.pop(0)
        for change in changes:
            task, row = change.task, self.rows.get(change.task.id)
            if change.before is None:
                assert row is None, 'a task is inserted twice'
            else:
                assert row is not None, 'a task changes that the disk does not know'
                assert row.state is change.before, f'the disk has {row.state.name}'
            if row is not None and row.state is not task.state:
                assert task.state in TRANSITIONS[row.state], f'{row.state.name} to {task.state}'
                self.moves.setdefault(task.id, []).append(
                    HistoryRow(now(), row.state, task.state, task.reason)
                )
            self.rows[task.id] = task
        done.set_result(None)

    def fail(self) -> None:
        _, done = self.pending.pop(0)
        done.set_exception(StoreError('the disk is full'))

    def get(self, task_id: str) -> Task | None:
        return self.rows.get(task_id)

    def by_key(self, idempotency_key: str) -> Task | None:
        return None

    def history(self, task_id: str) -> list[HistoryRow]:
        return self.moves.get(task_id, [])


class OpenRunner(SkillRunner):
    """Shows by what it decides."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.records, self.ready = self._table.records, self._table.ready
        self.commits = self._commits


class Runner(OpenRunner):
    def begin(self, rows: Iterable[Task]) -> None:
        """As start() and run_loop() do, without a file to open in a thread."""
        rows = [copy(row) for row in rows]
        self._phase, self._seq = 'started', len(rows)
        live = [row for row in rows if not row.terminal]
        self._runs.recover(live, self._store, fail=False)
        self._open = True
        self._commits.act_soon()

    def die(self) -> None:
        self._open = False
        for record in self.records.values():
            record.cancel_timers()


class Agent:
    """One life of the agent; the disk outlives it."""

    def __init__(self, rows: dict[str, Task], moves: dict[str, list[HistoryRow]]) -> None:
        self.ends: dict[str, asyncio.Future[None]] = {}  # of the skills that run
        self.running: set[str] = set()
        self.broken = ''  # a rule; an exception in a skill would only fail its task
        self.store = ToldStore(rows, moves)
        self.runner = Runner(resources=['base'], store=self.store)
        self.runner.skill('obey', recovers=True)(self._obey)
        self.runner.skill('insist', cancel_supported=False)(self._insist)
        self.runner.begin(rows.values())

    def _begin(self, task: Task) -> asyncio.Future[None]:
        row = self.store.rows.get(task.id)
        begun = row is not None and row.state in RUNNING
        if not begun:
            self.broken = 'a skill runs before the disk says so, or after its end'
        elif any(self._may_act(each) for each in self.running):
            self.broken = 'two skills share the base'
        self.running.add(task.id)
        self.ends[task.id] = asyncio.get_running_loop().create_future()
        return self.ends[task.id]

    def _may_act(self, task_id: str) -> bool:
        """An abandoned skill runs on, but its cancellation lets it do nothing any more."""
        record = self.runner.records.get(task_id)
        return record is not None and record.busy

    async def _obey(self, task: Task) -> None:
        try:
            end = self._begin(task)
            if task.state is LifecycleState.RECOVERING:
                await self.runner.observed(task)
            await end
        finally:
            self.running.discard(task.id)
            self.ends.pop(task.id, None)

    async def _insist(self, task: Task) -> None:
        """Does not end when it is cancelled; an abandoned skill no longer acts."""
        end = self._begin(task)
        try:
            await end
        except asyncio.CancelledError:
            self.ends[task.id] = asyncio.get_running_loop().create_future()
            await self.ends[task.id]
        finally:
            self.running.discard(task.id)
            self.ends.pop(task.id, None)


@dataclass(frozen=True)
class TaskWorld:
    """What a replay has shown of a state."""

    path: tuple[str, ...] = ()
    key: Hashable = None
    inputs: tuple[str, ...] = ()
    states: tuple[str, ...] = ()  # as on the disk
    at_rest: bool = False
    broken: str = ''


Tasks = dict[str, Callable[[], Task]]
A = {'A': lambda: Task('obey', id='A', max_retries=1)}
B_NEXT: Tasks = {**A, 'B': lambda: Task('insist', id='B', priority=5)}
SCOPES: dict[str, tuple[Tasks, frozenset[str]]] = {
    'one task': (A, frozenset(['submit', 'pause', 'cancel', 'disk fails', 'dies', 'raises'])),
    'a task that needs approval, with a deadline': (
        {'A': lambda: Task('obey', id='A', needs_approval=True, deadline_s=1.5 * STEP_S)},
        frozenset(['submit', 'approve', 'cancel', 'dies', 'pause']),
    ),
    'two tasks, one base': (B_NEXT, frozenset(['submit', 'interrupt', 'hold', 'cancel all'])),
    'a task that waits for another': (
        {**A, 'B': lambda: Task('insist', id='B', blocked_by=('A',))},
        frozenset(['submit', 'cancel', 'raises', 'dies']),
    ),
}


class TaskSystem:
    def __init__(self, tasks: Tasks, kinds: Iterable[str]) -> None:
        self._tasks, self._kinds = tasks, frozenset(kinds)

    def initial(self) -> TaskWorld:
        return self._replay(())

    def inputs(self, world: TaskWorld) -> Iterable[str]:
        return world.inputs

    def step(self, world: TaskWorld, name: str) -> TaskWorld:
        after = self._replay((*world.path, name))
        assert not after.broken, after.broken
        return after

    def key(self, world: TaskWorld) -> Hashable:
        return world.key

    def check(self, world: TaskWorld) -> None:
        assert not world.broken, world.broken

    def is_goal(self, world: TaskWorld) -> bool:
        """Every task has ended, on the disk."""
        return world.at_rest

    def _replay(self, path: tuple[str, ...]) -> TaskWorld:
        return Replay(self._tasks, self._kinds).run(path)


class _Selector(selectors.DefaultSelector):
    """Where a loop would sleep, its time passes."""

    now_s = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0.0 if timeout is not None else None)
        if not ready:
            self.now_s += timeout or 0.0
        return ready


class VirtualLoop(asyncio.SelectorEventLoop):
    """Owns its clock: a wait of a minute takes no time. Only for work that waits for timers alone:
    a reply of another thread would come too late.
    """

    def __init__(self) -> None:
        self._clock = _Selector()
        super().__init__(self._clock)

    def time(self) -> float:
        return self._clock.now_s


class Replay:
    """The inputs of one state, in a loop of their own."""

    def __init__(self, tasks: Tasks, kinds: frozenset[str]) -> None:
        self._tasks, self._kinds = tasks, kinds
        self._loop = VirtualLoop()
        self._loop.set_exception_handler(self._unexpected)
        self._asked: list[asyncio.Task[Any]] = []
        self._submits: dict[str, asyncio.Task[Any]] = {}
        self._held = False
        self._broken = ''
        self._rows: dict[str, Task] = {}
        self._moves: dict[str, list[HistoryRow]] = {}

    def run(self, path: tuple[str, ...]) -> TaskWorld:
        try:
            return self._loop.run_until_complete(self._run(path))
        finally:
            for task in asyncio.all_tasks(self._loop):
                task.cancel()
            self._loop.run_until_complete(_spin())
            self._loop.close()

    def _unexpected(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get('exception')
        if not isinstance(error, TaskError | SkillFailed | None):
            self._broken = self._broken or f'{type(error).__name__}: {error}'

    async def _run(self, path: tuple[str, ...]) -> TaskWorld:
        self._agent = Agent(self._rows, self._moves)
        await _spin()
        for name in path:
            await self._do(name)
            await _spin()
        for asked in self._asked:
            if asked.done() and not asked.cancelled():
                error = asked.exception()
                if error is not None and not isinstance(error, TaskError):
                    self._broken = self._broken or f'{type(error).__name__}: {error}'
        self._broken = self._broken or self._agent.broken
        self._check()
        key = self._key()
        states = tuple(self._state(name) for name in self._tasks)
        ended = all(name in self._rows and self._rows[name].terminal for name in self._tasks)
        at_rest = ended and not self._agent.store.pending and not self._agent.runner.records
        return TaskWorld(path, key, tuple(self._inputs()), states, at_rest, self._broken)

    def _state(self, name: str) -> str:
        row = self._rows.get(name)
        return 'none' if row is None else row.state.name

    # --- inputs ---------------------------------------------------------------------------------

    def _inputs(self) -> Iterable[str]:
        agent, kinds = self._agent, self._kinds
        behind = {each.record for each in agent.runner.commits.decided}
        if agent.store.pending:
            yield 'the disk commits'
            if 'disk fails' in kinds and agent.runner.failed is None:
                yield 'the disk fails'
        for name in self._tasks:
            known = name in agent.runner.records or name in self._rows
            for verb in ('submit', 'interrupt'):
                if verb in kinds and not known and name not in self._submits:
                    yield f'{verb} {name}'
            record = agent.runner.records.get(name)
            if name in agent.ends:
                yield f'the skill of {name} returns'
                if 'raises' in kinds:
                    yield f'the skill of {name} raises'
            if record is None or record in behind:  # at most one change waits behind the disk
                continue
            if 'pause' in kinds:
                yield f'resume {name}' if record.plan.held else f'pause {name}'
            if 'cancel' in kinds and not _is_cancelled(record):
                yield f'cancel {name}'
            if 'approve' in kinds and record.plan.needs_approval:
                yield f'approve {name}'
                yield f'refuse {name}'
        if 'hold' in kinds and not behind:
            yield 'release all' if self._held else 'hold all'
        if 'cancel all' in kinds and not behind:
            yield 'cancel all'
        if 'dies' in kinds:
            yield 'the agent dies and starts again'
        yield 'time passes'

    async def _do(self, name: str) -> None:
        agent, runner = self._agent, self._agent.runner
        verb, _, rest = name.partition(' ')
        if name == 'the disk commits':
            agent.store.commit()
        elif name == 'the disk fails':
            agent.store.fail()
        elif name == 'time passes':
            await asyncio.sleep(STEP_S)
        elif name.startswith('the skill of'):
            end = agent.ends[name.split()[3]]
            if not end.done():
                if name.endswith('raises'):
                    end.set_exception(SkillFailed('no'))
                else:
                    end.set_result(None)
        elif name == 'the agent dies and starts again':
            self._die()
        elif verb in ('submit', 'interrupt'):
            submitted = self._tasks[rest]()
            ask = runner.submit if verb == 'submit' else runner.interrupt
            self._submits[rest] = self._ask(ask(submitted))
        else:
            self._ask(self._command(runner, verb, rest))

    def _command(self, runner: Runner, verb: str, rest: str) -> Coroutine[Any, Any, Any]:
        if rest == 'all':
            self._held = verb == 'hold' if verb != 'cancel' else self._held
            return {
                'hold': lambda: runner.hold('held'),
                'release': runner.release,
                'cancel': runner.cancel_all,
            }[verb]()
        if verb in ('approve', 'refuse'):
            return runner.approve(rest, verb == 'approve')
        return {'pause': runner.pause, 'resume': runner.resume, 'cancel': runner.cancel}[verb](
            rest
        )

    def _ask(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        asked = self._loop.create_task(work)
        self._asked.append(asked)
        return asked

    def _die(self) -> None:
        """Nothing that was not committed outlives it; nobody learns anything any more."""
        self._agent.runner.die()
        self._broken = self._broken or self._agent.broken
        dead = [task for task in asyncio.all_tasks(self._loop) if task in self._asked]
        self._asked = [task for task in self._asked if task not in dead]
        self._agent.ends.clear()
        acknowledged = {name: task for name, task in self._submits.items() if _succeeded(task)}
        for name in acknowledged:
            if name not in self._rows:
                self._broken = self._broken or f'{name} was acknowledged and is lost'
        self._submits = {name: self._submits[name] for name in self._rows if name in acknowledged}
        self._held = False
        self._agent = Agent(self._rows, self._moves)

    # --- the rules ------------------------------------------------------------------------------

    def _check(self) -> None:
        for name, asked in self._submits.items():
            if _succeeded(asked) and name not in self._rows:
                self._broken = self._broken or f'{name} was acknowledged and is lost'
        for record in self._agent.runner.records.values():
            if not self._can_go_on(record):
                self._broken = self._broken or f'{record.plan.state.name}: nothing wakes the task'

    def _can_go_on(self, record: TaskRecord) -> bool:
        plan = record.plan
        if record.unsaved or plan.terminal or record.busy or plan.held:
            return True
        if plan.state is LifecycleState.WAITING:
            blockers = record.open_blockers & self._agent.runner.records.keys()
            return bool(record.wake or blockers or plan.needs_approval)
        return plan.id in self._agent.runner.ready

    def _key(self) -> Hashable:
        agent, runner = self._agent, self._agent.runner
        parts: list[Hashable] = [self._held, runner.failed is None, len(agent.running)]
        for name in self._tasks:
            row, record = self._rows.get(name), runner.records.get(name)
            submit = self._submits.get(name)
            asked = None if submit is None else (submit.done() and _succeeded(submit))
            parts.append((asked, None if row is None else _row(row), name in agent.ends))
            parts.append(None if record is None else self._record(record))
        decided = [each.change for each in runner.commits.decided]
        for changes in (*(unit[0] for unit in agent.store.pending), decided):
            parts.append(tuple((each.before, each.task.id, _row(each.task)) for each in changes))
        return tuple(parts)

    def _record(self, record: TaskRecord) -> Hashable:
        end = self._agent.ends.get(record.plan.id)
        return (
            (record.task.state, _row(record.plan), record.stored),
            (record.busy, record.unobserved, record.unsaved),
            (record.run is None, record.grace is None, record.wake is None),
            None if record.cause is None else (record.cause.weight, record.cause.preempted),
            tuple(sorted(record.open_blockers)),
            record.plan.id in self._agent.runner.ready,
            None if record.deadline is None else record.left_s(self._loop.time()) > STEP_S,
            end is not None and end.done(),
        )


def _row(task: Task) -> Hashable:
    return (task.state, task.held, task.attempts, task.needs_approval, task.urgent)


def _is_cancelled(record: TaskRecord) -> bool:
    return record.cause is not None and record.cause.weight is StopWeight.CANCEL


def _succeeded(asked: asyncio.Task[Any]) -> bool:
    return asked.done() and not asked.cancelled() and asked.exception() is None


async def _spin() -> None:
    """Let everything happen that waits for nothing."""
    for _ in range(12):
        await asyncio.sleep(0)
