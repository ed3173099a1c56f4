# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Skills without a robot: a SkillWorld that answers what the test says, skills that end how it
says, a SkillRunner with a file that survives it, and a disk that takes no more.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, closing, contextmanager
from functools import wraps
from pathlib import Path
import resource
import signal
import sqlite3
import threading
from typing import Any, TypeVar

from curiosity_rosa_demo.agent.llm.vision import SeenPictures
from curiosity_rosa_demo.agent.skills.plugins import skill_of
from curiosity_rosa_demo.agent.skills.registry import SkillRegistry
from curiosity_rosa_demo.agent.skills.skill import Skill, SkillCall
from curiosity_rosa_demo.agent.tasks import Event, LifecycleState, SkillRunner, Task
from curiosity_rosa_demo.domain.brain_state import Json
from curiosity_rosa_demo.domain.cancellation import Cancellation
from curiosity_rosa_demo.domain.models import RoverPose, ToolResult
from curiosity_rosa_demo.domain.refusal import Refusal
from curiosity_rosa_demo.infra.config.behaviour import SkillSettings
from curiosity_rosa_demo.infra.config.topics import Config
from curiosity_rosa_demo.infra.config_loader import load_config

R = TypeVar('R', bound=SkillRunner)
LONG_S = 20.0  # bound of every wait: reached only by what hangs

SKILLS: dict[str, tuple[str, ...]] = {
    'job': ('base', 'mast', 'camera'),
    'drive': ('base',),
    'look': ('mast',),
    'shoot': ('camera',),
    'tour': ('base', 'mast'),
    'think': (),
}


def in_loop(test: Callable[..., Awaitable[None]]) -> Callable[..., None]:
    """Runs an async test to its end, for at most a generous time."""

    @wraps(test)
    def run(*args: Any, **kwargs: Any) -> None:
        asyncio.run(asyncio.wait_for(test(*args, **kwargs), 60.0))

    return run


class Stage:
    """Skills that wait for the test: finish() lets one return or raise."""

    def __init__(self) -> None:
        self.log: list[str] = []  # 'begin x', 'cleanup x', 'end x'
        self.playing: dict[str, asyncio.Future[None]] = {}
        self._logged = asyncio.Event()

    def note(self, what: str) -> None:
        self.log.append(what)
        self._logged.set()

    async def play(self, task: Task) -> None:
        title = task.metadata.get('title', task.name)
        self.playing[task.id] = act = asyncio.get_running_loop().create_future()
        self.note(f'begin {title}')
        try:
            await act
            self.note(f'end {title}')
        except asyncio.CancelledError:
            self.note(f'cleanup {title}')
            raise
        finally:
            if self.playing.get(task.id) is act:
                del self.playing[task.id]

    def finish(self, task: Task, error: Exception | None = None) -> None:
        act = self.playing[task.id]
        if error is None:
            act.set_result(None)
        else:
            act.set_exception(error)

    async def until(self, *logged: str) -> None:
        """Until all of it was noted."""

        async def wait() -> None:
            while not set(logged) <= set(self.log):
                self._logged.clear()
                await self._logged.wait()

        await asyncio.wait_for(wait(), LONG_S)


def titled(name: str, title: str, priority: int = 3, **fields: Any) -> Task:
    return Task(name, priority, metadata={'title': title}, **fields)


def staged(
    path: Path | str, stage: Stage, make: Callable[..., R] = SkillRunner, **options: Any
) -> R:
    runner = make(db_path=str(path), **options)
    for name, resources in SKILLS.items():
        runner.skill(name, resources=resources)(stage.play)
    return runner


@asynccontextmanager
async def looping(runner: SkillRunner) -> AsyncIterator[SkillRunner]:
    await runner.start()
    loop_task = asyncio.create_task(runner.run_loop())
    try:
        yield runner
    finally:
        await asyncio.wait_for(runner.stop(), LONG_S)
        await asyncio.wait_for(loop_task, LONG_S)


async def ended(runner: SkillRunner, task: Task) -> Task:
    return await runner.wait(task.id, LONG_S)


async def reaches(runner: SkillRunner, task: Task, *states: LifecycleState) -> None:
    """Until the task shows one of ``states``."""
    changed = asyncio.Event()
    leave = runner.event_bus.listen('a test', lambda event: changed.set(), Event)

    async def wait() -> None:
        while task.state not in states:
            changed.clear()
            await changed.wait()

    try:
        await asyncio.wait_for(wait(), LONG_S)
    finally:
        leave()


def crash(path: Path) -> None:
    """kill -9, as far as the file can tell: the runner that has it writes nothing more there."""
    copy = path.with_suffix('.copy')
    with closing(sqlite3.connect(path)) as old, closing(sqlite3.connect(copy)) as new:
        old.backup(new)
    copy.replace(path)  # the runner goes on in files that have lost their names
    for end in ('-wal', '-shm', '.lock'):
        Path(f'{path}{end}').unlink(missing_ok=True)


def states(runner: SkillRunner, task: Task) -> list[LifecycleState]:
    return [row.after for row in runner.history(task.id)]


@contextmanager
def no_file_beyond(size: int) -> Iterator[None]:
    """Every write beyond ``size`` fails in the kernel, as on a full or broken disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, ignored)


SHIPPED = load_config()


class StillWorld:
    """Nothing moves; what was asked of it is kept."""

    def __init__(self, config: Config = SHIPPED, facts: Json | None = None) -> None:
        self.config = config
        self.known: Json = facts or {}
        self.said: list[str] = []
        self.tools: list[tuple[str, dict[str, Any]]] = []
        self.pictures = SeenPictures()
        self.refuses: Refusal | None = None  # why no motion may begin

    def tool(self, name: str, cancellation: Cancellation, **arguments: Any) -> ToolResult:
        cancellation.check()
        self.tools.append((name, arguments))
        return ToolResult.success(tool=name)

    def pose(self) -> RoverPose | None:
        return None

    def facts(self) -> Json:
        return self.known

    def say(self, text: str) -> None:
        self.said.append(text)

    def may_drive(self, name: str, duration_s: float) -> str:
        return self.refuses.reason if self.refuses else ''


def call_of(world: Any, cancellation: Cancellation | None = None, heard: Any = None) -> SkillCall:
    """``heard`` collects the reports of progress."""
    report = heard.append if heard is not None else lambda report: None
    return SkillCall(world, cancellation or Cancellation(), report)


def settings_of(**changes: Any) -> SkillSettings:
    usual: dict[str, Any] = {
        'interface_type': 'internal',
        'resources_required': [],
        'preemptible': True,
        'cancel_supported': True,
        'timeout_s': LONG_S,
        'risk': 'low',
        'error_map': {},
    }
    return SkillSettings.model_validate({**usual, **changes})


def skill_named(name: str, run: Callable[..., ToolResult], **settings: Any) -> Skill:
    """A skill without arguments."""

    def work(call: SkillCall) -> ToolResult:
        """For a test."""
        return run(call)

    work.__name__ = name
    return skill_of(work, settings_of(**settings))


def registry_of(*skills: Skill) -> SkillRegistry:
    registry = SkillRegistry()
    for skill in skills:
        registry.register(skill)
    return registry


class Actor:
    """A skill that begins, then ends how it is told: see ``ENDS``. Obedient, it ends when it is
    stopped; else only when it is told.
    """

    ENDS = ('ok', 'refusal', 'error', 'exit', 'nothing')

    def __init__(self, *, obedient: bool = True) -> None:
        self.obedient = obedient
        self.begun, self.ended = threading.Event(), threading.Event()
        self.saw_stop = False  # when it ended
        self.button = Cancellation()  # its own, once it has begun
        self._told = threading.Event()
        self._end = 'ok'

    def finish(self, end: str = 'ok') -> None:
        self._end = end
        self._told.set()

    def __call__(self, call: SkillCall) -> ToolResult:
        self.button = call.cancellation
        self.begun.set()
        try:
            if self.obedient:
                with call.cancellation.call_when_pressed(self._told.set):
                    assert self._told.wait(LONG_S)
                call.cancellation.check()
            else:
                assert self._told.wait(LONG_S)
            return self._act()
        finally:
            self.saw_stop = call.cancellation.requested
            self.ended.set()

    def _act(self) -> Any:
        if self._end == 'error':
            raise ValueError('it broke')
        if self._end == 'exit':
            raise SystemExit(3)
        if self._end == 'nothing':
            return None
        if self._end == 'refusal':
            return ToolResult.failure('No image received: 5 s', half=1)
        return ToolResult.success(done=1)
