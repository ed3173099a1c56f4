# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.


"""Python's own threads, locks, queues, clocks, dates and file locks, replaced by simulated ones.

``install`` replaces the primitives below ``threading``, ``queue``, ``time`` and ``asyncio``; the
classes above them (Thread, Condition, Event, Future, event loops) are Python's. Call it before the
modules are imported that shall use them. It cannot be undone: give it a process of its own.
"""

from __future__ import annotations

import _thread
import _threading_local
import asyncio
from collections import deque
from collections.abc import Callable
import concurrent.futures
import datetime as datetime_module
import fcntl
import itertools
import queue
import selectors
import sys
import threading
import time
from typing import Any

from missions.scheduler import (
    Scheduler,
    SimulatedProcess,
    SimulatedThread,
    TICK_S,
)

PACKAGES = ('curiosity_rosa_demo', 'langgraph')  # whose datetime is virtual, too
EPOCH_S = 1_790_000_000.0  # Unix time of the scheduler's 0: 2026-09-21, 14:13:20 UTC


class _Current:
    """The scheduler of this process: one mission at a time."""

    scheduler: Scheduler | None = None


def _scheduler() -> Scheduler:
    if _Current.scheduler is None:
        raise RuntimeError('No mission is running: simulated threads cannot wait')
    return _Current.scheduler


def now_s() -> float:
    """The virtual time in seconds; 0 while no mission is running."""
    return 0.0 if _Current.scheduler is None else _Current.scheduler.now_s


def use(scheduler: Scheduler) -> None:
    """Run all simulated threads by ``scheduler``."""
    _Current.scheduler = scheduler


def current_process() -> SimulatedProcess | None:
    """The simulated process whose thread runs now."""
    scheduler = _Current.scheduler
    if scheduler is None or scheduler.current is None:
        return None
    return scheduler.current.process


class Lock:
    """As threading.Lock. A waiting thread that gets it is drawn by the order of waiting."""

    __slots__ = ('_locked', '_waiters')

    def __init__(self) -> None:
        self._locked = False
        self._waiters: deque[SimulatedThread] = deque()

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        if not self._locked:
            self._locked = True
            return True
        if not blocking:
            return False
        scheduler = _scheduler()
        me = scheduler.current
        if me is None:
            raise RuntimeError('The scheduler waits for a lock')
        until = None
        if timeout is not None and timeout >= 0:
            until = scheduler.now_s + max(TICK_S, timeout)
        while self._locked:
            self._waiters.append(me)
            left = None if until is None else until - scheduler.now_s
            woken = (left is None or left > 0) and scheduler.park(left)
            if not woken:
                if me in self._waiters:
                    self._waiters.remove(me)
                if self._locked:
                    return False
        self._locked = True
        return True

    def release(self) -> None:
        if not self._locked:
            raise RuntimeError('release unlocked lock')
        self._locked = False
        if self._waiters:
            _scheduler().wake(self._waiters.popleft())
        if _Current.scheduler is not None:
            _Current.scheduler.may_preempt()

    def locked(self) -> bool:
        return self._locked

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(self, *_: object) -> None:
        self.release()

    def _at_fork_reinit(self) -> None:
        self._locked = False
        self._waiters.clear()


def _get_ident() -> int:
    scheduler = _Current.scheduler
    if scheduler is None or scheduler.current is None:
        return _MAIN_IDENT
    return scheduler.current.ident


def _start_new_thread(
    function: Callable[..., object], args: tuple[Any, ...], kwargs: dict[str, Any] | None = None
) -> int:
    scheduler = _scheduler()
    if scheduler.current is None:
        raise RuntimeError('A thread without a process')
    process = scheduler.current.process
    owner = getattr(function, '__self__', None)
    name = getattr(owner, '_name', getattr(function, '__name__', 'thread'))

    def run() -> None:
        try:
            function(*args, **(kwargs or {}))
        finally:
            lock = _sentinels.pop(_get_ident(), None)
            if lock is not None and lock.locked():
                lock.release()

    return scheduler.spawn(process, name, run).ident


_sentinels: dict[int, Lock] = {}


def _set_sentinel() -> Lock:
    """The lock that threading releases at the end of the calling thread."""
    lock = _sentinels[_get_ident()] = Lock()
    return lock


def _sleep(seconds: float) -> None:
    if seconds < 0:
        raise ValueError('sleep length must be non-negative')
    scheduler = _scheduler()
    until = scheduler.now_s + max(TICK_S, seconds)
    while (left := until - scheduler.now_s) > 0:
        scheduler.park(left)


class SimulatedSelector(selectors.BaseSelector):
    """The selector of an event loop that knows no file: it waits for time and for ``wake``."""

    def __init__(self) -> None:
        self._woken = False
        self._waiting: SimulatedThread | None = None

    def wake(self) -> None:
        self._woken = True
        if self._waiting is not None:
            _scheduler().wake(self._waiting)

    def select(self, timeout: float | None = None) -> list[Any]:
        if not self._woken and (timeout is None or timeout > 0):
            scheduler = _scheduler()
            self._waiting = scheduler.current
            try:
                scheduler.park(timeout)
            finally:
                self._waiting = None
        self._woken = False
        return []

    def register(self, *_: Any) -> Any:
        raise NotImplementedError('A simulated event loop has no files')

    def unregister(self, *_: Any) -> Any:
        raise NotImplementedError('A simulated event loop has no files')

    def get_map(self) -> Any:
        return {}


class SimulatedEventLoop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._simulated = SimulatedSelector()
        super().__init__(self._simulated)

    def time(self) -> float:
        return now_s()

    def _make_self_pipe(self) -> None: ...

    def _close_self_pipe(self) -> None: ...

    def _write_to_self(self) -> None:
        self._simulated.wake()


class SimulatedLoopPolicy(asyncio.DefaultEventLoopPolicy):
    _loop_factory = SimulatedEventLoop


_MAIN_IDENT = _thread.get_ident()


def _replacements() -> dict[Any, Any]:
    """Python's own objects and what replaces them."""
    found: dict[Any, Any] = {
        _thread.allocate_lock: Lock,
        _thread.get_ident: _get_ident,
        _thread.start_new_thread: _start_new_thread,
        _thread._set_sentinel: _set_sentinel,  # type: ignore[attr-defined]
        _thread._local: _threading_local.local,
        queue.SimpleQueue: queue._PySimpleQueue,  # type: ignore[attr-defined]
        time.time: lambda: EPOCH_S + now_s(),
        time.time_ns: lambda: round((EPOCH_S + now_s()) * 1e9),
        time.sleep: _sleep,
    }
    for name in ('monotonic', 'perf_counter', 'process_time', 'thread_time'):
        found[getattr(time, name)] = now_s
        found[getattr(time, f'{name}_ns')] = lambda: round(now_s() * 1e9)
    return found


def install() -> None:
    """Replace Python's primitives in this process, for good, also in modules that have them."""
    replacements = _replacements()
    for module in list(sys.modules.values()):
        if module.__name__ == __name__:
            continue
        for name, value in list(vars(module).items()):
            if callable(value) and _is_hashable(value) and value in replacements:
                setattr(module, name, replacements[value])
    kinds: list[Any] = [threading.Thread, concurrent.futures.Future]
    for kind in kinds:
        kind.__hash__ = _numbered_hash
    any_threading: Any = threading
    any_threading._CRLock = None  # RLock() is then made of Python, above _allocate_lock
    asyncio.set_event_loop_policy(SimulatedLoopPolicy())
    any_fcntl: Any = fcntl
    any_fcntl.flock = _recording_flock


_numbers = itertools.count(1)


def _numbered_hash(thing: Any) -> int:
    """A hash by the order of first use: a set of such things has the same order in each run."""
    number: int | None = thing.__dict__.get('_number')
    if number is None:
        number = thing.__dict__['_number'] = next(_numbers)
    return number


def _is_hashable(value: object) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


_locks: list[tuple[SimulatedProcess, int]] = []
_flock = fcntl.flock


def _recording_flock(file: Any, operation: int) -> None:
    _flock(file, operation)
    process = current_process()
    if process is not None and operation & (fcntl.LOCK_EX | fcntl.LOCK_SH):
        descriptor = file if isinstance(file, int) else file.fileno()
        _locks.append((process, descriptor))


def release_files(process: SimulatedProcess) -> None:
    """Release the file locks of ``process``, which was killed, as an operating system does."""
    for owner, descriptor in list(_locks):
        if owner is process:
            _locks.remove((owner, descriptor))
            try:
                _flock(descriptor, fcntl.LOCK_UN)
            except OSError:  # it had closed the file
                continue


_real_datetime = datetime_module.datetime


class VirtualDatetime(_real_datetime):
    @classmethod
    def now(cls, tz: datetime_module.tzinfo | None = None) -> Any:
        return _real_datetime.fromtimestamp(EPOCH_S + now_s(), tz)


def install_dates() -> None:
    """Let datetime.now() be the virtual time in all modules of PACKAGES that are loaded."""
    for name, module in list(sys.modules.items()):
        if name.partition('.')[0] in PACKAGES and name != __name__:
            for attribute, value in list(vars(module).items()):
                if value is _real_datetime:
                    setattr(module, attribute, VirtualDatetime)
