# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.


"""Runs missions, each in a fork of one prepared process, so that all begin in the same state.

A forked child inherits the addresses of its parent, and the order of a set of objects depends on
them. So the process that forks does nothing else: whatever ran before, each child begins alike.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
import ctypes
import gc
import os
from pathlib import Path
import pickle
import shutil
import signal
import socket
import sys
import tempfile
from typing import Any, TYPE_CHECKING, TypeAlias
import warnings

from missions import primitives
from missions.happenings import draw_happenings, Happening
import yaml

if TYPE_CHECKING:
    from missions.mission import Mission, Result

FENCE_M = 30.0
APPROVAL_S = 60.0
ADDR_NO_RANDOMIZE = 0x0040000
WARM_UP_S = 0.5  # minutes of the mission that imports what is imported late
Change: TypeAlias = 'Callable[[Mission], None]'


def fix_the_interpreter(arguments: Sequence[str]) -> None:
    """Start this program again with fixed hashes and addresses: sets of objects then have one
    order. Returns in the second start.
    """
    if os.environ.get('PYTHONHASHSEED') == '0':
        return
    libc = ctypes.CDLL(None, use_errno=True)
    libc.personality(ADDR_NO_RANDOMIZE)
    os.environ['PYTHONHASHSEED'] = '0'
    os.execv(sys.executable, [sys.executable, *arguments])


def mission_config(folder: Path, fence_m: float = FENCE_M, robot: str = '') -> Path:
    """The shipped contracts in ``folder``, with a near fence, questions, and without HTTP.
    ``robot``: the profile, in place of the shipped one.
    """
    from curiosity_rosa_demo.infra.config.base import read_yaml
    from curiosity_rosa_demo.infra.config_loader import shipped_config_dir

    shutil.copytree(shipped_config_dir(), folder, dirs_exist_ok=True)

    def change(name: str, update: Callable[[Any], None]) -> None:
        path = folder / f'{name}.yaml'
        value = read_yaml(path)
        update(value)
        path.write_text(yaml.safe_dump(value, allow_unicode=True), encoding='utf-8')

    def agent(value: Any) -> None:
        value['http']['enabled'] = False
        value['llm'].update(provider='openai', model='simulated', streaming=False, max_retries=0)

    def guardrails(value: Any) -> None:
        value['geofence'].update(x_min=-fence_m, x_max=fence_m, y_min=-fence_m, y_max=fence_m)
        value['approval'].update(timeout_s=APPROVAL_S, skills=['navigate_to_pose'])

    change('agent', agent)
    change('guardrails', guardrails)
    if robot:
        change('nodes', lambda value: value.update(robot=robot))
    return folder


class Simulator:
    """Prepare one process, before it imports ROS; run any number of missions. ``change``, a
    function of a module, may alter a mission before it starts, for example by a planted fault.
    """

    def __init__(self, *, fence_m: float = FENCE_M, robot: str = '') -> None:
        if 'rclpy' in sys.modules:
            raise RuntimeError(
                'rclpy is imported, and with it clocks that are real: begin earlier'
            )
        warnings.simplefilter('ignore')
        primitives.install()
        from missions import nodes

        nodes.install()
        self._folder = Path(tempfile.mkdtemp(prefix='simulation-', dir=_memory_folder()))
        self.config_dir = mission_config(self._folder / 'config', fence_m, robot)
        from curiosity_rosa_demo.infra import config_loader

        any_loader: Any = config_loader
        config = any_loader.load_config(self.config_dir)
        any_loader.load_config = lambda *_, **__: config  # the same for all processes
        __import__('missions.mission')  # and most of the product, once for all children

        imports = Forks(self._folder, lambda _: self._imported_by_a_mission())
        for name in imports.ask(None):
            if name not in sys.modules:
                __import__(name)
        imports.close()
        primitives.install_dates()
        gc.collect()
        gc.freeze()
        self._missions = Forks(self._folder, lambda asked: _portable(self.run_here(*asked)))

    def close(self) -> None:
        self._missions.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    @property
    def cpu_s(self) -> float:
        """The CPU seconds of all missions so far."""
        return self._missions.cpu_s

    def _imported_by_a_mission(self) -> list[str]:
        before = set(sys.modules)
        self.run_here(1, WARM_UP_S, [Happening(4.5, 'goal', text=':demo')])
        late = set(sys.modules) - before
        return [name for name in sorted(late) if _can_be_imported(name)]

    def run_here(
        self,
        seed: int,
        minutes: float,
        happenings: Sequence[Happening] | None = None,
        change: Change | None = None,
    ) -> Result:
        """Run one mission in this process, which is of no use afterwards."""
        from curiosity_rosa_demo.agent import rosa_agent_factory
        from curiosity_rosa_demo.agent.llm import chat_model
        from missions.mission import Mission
        from missions.model import SimulatedDecider

        if happenings is None:
            happenings = draw_happenings(seed, minutes)
        folder = self._folder / 'mission'
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        gc.disable()
        mission = Mission(seed, self.config_dir, folder)
        any_factory: Any = rosa_agent_factory
        any_factory.ModelDecider = SimulatedDecider
        any_chat_model: Any = chat_model
        any_chat_model.make_chat_model = lambda *_: mission.model
        if change is not None:
            change(mission)
        try:
            return mission.run(happenings, minutes)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def run(
        self,
        seed: int,
        minutes: float,
        happenings: Sequence[Happening] | None = None,
        change: Change | None = None,
    ) -> Result:
        """Run one mission in a process of its own. Raises RuntimeError if that died."""
        result: Result = self._missions.ask((seed, minutes, happenings, change))
        return result


def _can_be_imported(name: str) -> bool:
    """Not so the modules that extensions and other modules make."""
    spec = getattr(sys.modules[name], '__spec__', None)
    return spec is not None and spec.name == name and bool(spec.loader and spec.origin)


def _portable(result: Result) -> Result:
    result.record._now = float  # a closure cannot leave the process
    return result


def _memory_folder() -> str | None:
    return '/dev/shm' if os.access('/dev/shm', os.W_OK) else None


GO, DONE, DIED = b'g', b'd', b'x'
REQUEST, ANSWER = 'request', 'answer'


class Forks:
    """``folder``: for the files between the processes. ``work`` gets what ``ask`` was given.
    ``cpu_s``: the CPU seconds of all work so far.
    """

    def __init__(self, folder: Path, work: Callable[[Any], Any]) -> None:
        self._folder, self.cpu_s = folder, 0.0
        self._ours, theirs = socket.socketpair()
        self._keeper = os.fork()
        if self._keeper == 0:
            self._ours.close()
            _keep(theirs, str(folder / REQUEST), str(folder / ANSWER), work)
        theirs.close()

    def ask(self, request: Any) -> Any:
        """What ``work`` answered in a new child. Raises RuntimeError if the child died."""
        (self._folder / REQUEST).write_bytes(pickle.dumps(request))
        self._ours.sendall(GO)
        if self._ours.recv(1) != DONE:
            raise RuntimeError('a mission ended without a result')
        answer, cpu_s = pickle.loads((self._folder / ANSWER).read_bytes())
        self.cpu_s += cpu_s
        return answer

    def close(self) -> None:
        self._ours.close()
        os.waitpid(self._keeper, 0)


def _keep(told: socket.socket, request: str, answer: str, work: Callable[[Any], Any]) -> None:
    """Fork at each order until the other side closes. Does not return."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a Ctrl-C is for the process that asks
    while told.recv(1):
        child = os.fork()
        if child == 0:
            _answer(request, answer, work)
        _, status = os.waitpid(child, 0)
        with suppress(OSError):  # nobody asks any more
            told.sendall(DIED if status else DONE)
    os._exit(0)


def _answer(request: str, answer: str, work: Callable[[Any], Any]) -> None:
    """Does not return."""
    status = 1
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        with open(request, 'rb') as file:
            asked = pickle.load(file)
        answered = work(asked)
        used = os.times()
        content = pickle.dumps((answered, used.user + used.system))
        with open(answer, 'wb') as file:
            file.write(content)
        status = 0
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        os._exit(status)
