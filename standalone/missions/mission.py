# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""One mission: the product's own processes in one thread, the rover's twin, people and faults."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
import hashlib
import json
import os
from pathlib import Path
import queue
import random
import sys
from typing import Any
from uuid import UUID

from curiosity_rosa_demo.adapter.adapter_node import AdapterApp
from curiosity_rosa_demo.agent.agent_node import AgentApp
from curiosity_rosa_demo.agent.interfaces.terminal.options import parse_arguments
from curiosity_rosa_demo.agent.tasks.task import StoreError
from curiosity_rosa_demo.domain.task_state import LifecycleState
from curiosity_rosa_demo.infra.config.topics import Config
from curiosity_rosa_demo.infra.config_loader import load_config
from curiosity_rosa_demo.infra.process import Process
from curiosity_stand_in.kinematics import Pose
from curiosity_stand_in.scenery import Light
from geometry_msgs.msg import Twist
from langchain_core.utils import uuid as langchain_ids
from missions import nodes, primitives
from missions.disk import Disk, installed
from missions.faults import SETTERS
from missions.graph import Graph
from missions.happenings import Happening, KINDS, START_S
from missions.judge import Judge, Violation
from missions.model import SimulatedModel
from missions.rover import Rover
from missions.scheduler import Scheduler, SimulatedProcess, Spinning

MAX_LINE = 400  # characters of the record
TASKS_EVERY_S = 1.0
PREEMPTION = 0.02
HEAL_S = 8.0  # after the last fault: what is left of it ends
TRIES = 3
LAST_DRIVE_S = 2.0
END_S = 40.0  # in which every task ends after a stop
RESTART_S = 2.0  # after which the supervisor starts a process again
AFTER_CRASH = 'signal 9'
SHOWN_STATUS = (
    'mast', 'moving', 'e_stop', 'agent_safe_reason', 'violation', 'other_adapters',
    'last_error_reason',
)  # fmt: skip


class Record:
    """What happened in a mission: each line has a time, a source and a text. Its bytes are the
    trace. ``now`` returns the mission's time in seconds.
    """

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self.lines: list[str] = []

    def add(self, source: str, text: str) -> None:
        flat = text.replace('\n', ' | ')[:MAX_LINE]
        self.lines.append(f'{self._now():9.3f}  {source:<9} {flat}')

    @property
    def text(self) -> str:
        return '\n'.join(self.lines) + '\n'

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()


@dataclass
class Result:
    seed: int
    minutes: float
    violations: list[Violation]
    defects: list[str]
    record: Record
    counts: dict[str, int]
    happenings: list[Happening] = field(default_factory=list)
    simulated_s: float = 0.0

    @property
    def failed(self) -> bool:
        return bool(self.violations or self.defects)


class Console:
    """Takes what the agent prints."""

    encoding = 'utf-8'

    def __init__(self, record: Record) -> None:
        self._record = record

    def write(self, text: str) -> int:
        if text.strip():
            self._record.add('console', text.rstrip('\n'))
        return len(text)

    def flush(self) -> None: ...

    def isatty(self) -> bool:
        return False


class Mission:
    """``folder`` is empty and the mission's own. ``config_dir``: the YAML contracts."""

    def __init__(self, seed: int, config_dir: Path, folder: Path) -> None:
        self.seed, self._folder = seed, folder
        self.scheduler = Scheduler(self._chance('scheduler'), preemption=PREEMPTION)
        primitives.use(self.scheduler)
        self.record = Record(lambda: self.scheduler.now_s)
        self.graph = Graph(self.scheduler, self._chance('network'))
        nodes.use(self.graph)
        nodes.SimulatedNode.parameters = {'config_dir': str(config_dir)}
        self.config: Config = load_config(str(config_dir))
        light, place = self._chance('light'), self._chance('place')
        fence = self.config.guardrails.geofence
        self.rover: Rover = Rover(
            self.graph,
            self.config,
            self._chance('rover'),
            light=Light(bright_m=light.uniform(3.0, 9.0), heading_rad=light.uniform(-0.5, 0.5)),
            pose=Pose(
                place.uniform(fence.x_min + 2, fence.x_max - 2) / 2,
                place.uniform(fence.y_min + 2, fence.y_max - 2) / 2,
                place.uniform(-3.14, 3.14),
            ),
        )
        self.judge = Judge(self.config, self.rover.body.state)
        self.rover.on_step = self.judge.on_step
        self.graph.watch = self._watch
        self.model = SimulatedModel(chance=self._chance('model'))
        self.app: AgentApp | None = None
        self.processes: dict[str, SimulatedProcess] = {}
        self._lines: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._shown_status = ''
        self.teleop = nodes.WorldNode('teleop', process=SimulatedProcess('teleop'))
        self.teleop_twist = self.teleop.create_publisher(
            Twist, self.config.topics.rover.cmd_vel, 10
        )
        self.disk = Disk(
            self._chance('disk'),
            owner=primitives.current_process,
            charge=self.scheduler.charge,
            on_write=self.judge.on_write,
        )
        seed_ids(self._chance('ids'))

    def _chance(self, name: str) -> random.Random:
        return random.Random(f'{self.seed}/{name}')

    # --- the run ------------------------------------------------------------------------------

    def run(self, happenings: Sequence[Happening], minutes: float) -> Result:
        with installed(self.disk):
            return self._run(happenings, minutes)

    def _run(self, happenings: Sequence[Happening], minutes: float) -> Result:
        output, sys.stdout = sys.stdout, Console(self.record)
        os.environ['XDG_STATE_HOME'] = str(self._folder)
        end_s = START_S + 60.0 * minutes
        try:
            self._start_adapter()
            self._start_agent('')
            self.scheduler.call_later(TASKS_EVERY_S, self._read_tasks)
            for each in happenings:
                self.scheduler.call_later(each.at_s, self._begin(each))
            self._run_until(end_s)
            last = max((each.at_s + each.for_s for each in happenings), default=0.0)
            self._run_until(max(end_s, last) + HEAL_S)
            self._run_to_the_end()
        except Spinning as spinning:
            self.scheduler.defects.append(f'spins: {spinning}')
        finally:
            sys.stdout = output
        return Result(
            self.seed,
            minutes,
            self.judge.violations,
            self.scheduler.defects,
            self.record,
            self.judge.counts,
            list(happenings),
            self.scheduler.now_s,
        )

    def _run_until(self, end_s: float) -> None:
        self.scheduler.run_until(end_s, lambda: bool(self.judge.violations))

    def _run_to_the_end(self) -> None:
        """All faults have ended. After a clear and a stop each task ends, and the rover obeys."""
        if self.judge.violations:
            return
        self._type(':clear')
        self.judge.on_clear()
        self._run_until(self.scheduler.now_s + 2.0)
        self._order_stop()
        end = self.scheduler.now_s + END_S
        self.scheduler.run_until(end, lambda: not self._unfinished())
        if left := self._unfinished():
            self.judge.fail('ends', f'tasks do not end after a stop: {", ".join(left)}')
        if not (self._drives_again() or self._has_reason_to_stay()):
            self.judge.fail('obeys', 'the rover does not drive once all faults have ended')
        self._order_stop()
        truth = self.rover.body.state
        self.scheduler.run_until(self.scheduler.now_s + 5.0, lambda: not truth().moves)
        if truth().moves:
            self.judge.fail('S3', 'the rover moves 5 s after a stop without any fault')

    def _drives_again(self) -> bool:
        """Whether the rover drives for a person who clears, stows and tries up to three times."""
        before = len(self.rover.drive.starts)
        for _ in range(TRIES):
            self._type(':clear')
            self.judge.on_clear()
            self._run_until(self.scheduler.now_s + 2.0)
            for line in (':mast_close', f':forward {LAST_DRIVE_S:g}'):
                self.judge.on_order()
                self._type(line)
            end = self.scheduler.now_s + END_S
            self.scheduler.run_until(end, lambda: len(self.rover.drive.starts) > before)
            if len(self.rover.drive.starts) > before:
                return True
        return False

    def _has_reason_to_stay(self) -> bool:
        """Whether a rule of the product refuses the last drive."""
        battery, motion = self.config.thresholds.battery, self.config.thresholds.motion
        fence = self.config.guardrails.geofence
        longest_s = LAST_DRIVE_S + motion.service_timeout_s + motion.stop_timeout_s
        near = fence.margin_m + fence.max_speed_mps * (longest_s + motion.settle_s)
        return self.rover.charge <= battery.low + 0.2 or not self.judge.is_inside(-near)

    def _unfinished(self) -> list[str]:
        tasks = self._tasks()
        if tasks is None:
            return ['the agent does not run']
        return [f'{each[:8]} {state}' for each, state in tasks.items() if not _is_terminal(state)]

    # --- processes ----------------------------------------------------------------------------

    def _start_adapter(self) -> None:
        process = self.processes['adapter'] = SimulatedProcess('adapter')

        def main() -> None:
            life = Process()
            AdapterApp(life)
            self.scheduler.call_later(0.5, lambda: self._adapter_is_up(process))
            life.wait()
            self.scheduler.defects.append(f'the adapter crashed: {life.error!r}')

        self.judge.active['adapter starts'] = 1
        self.scheduler.spawn(process, 'main', main)

    def _adapter_is_up(self, process: SimulatedProcess) -> None:
        if process.alive:
            self.judge.active['adapter starts'] = 0

    def _start_agent(self, after_crash: str) -> None:
        process = self.processes['agent'] = SimulatedProcess('agent')
        lines = self._lines = queue.SimpleQueue()
        if not after_crash:
            self.judge.on_fresh_start()

        def main() -> None:
            arguments = ['--after-crash', after_crash] if after_crash else []
            try:
                app = AgentApp(parse_arguments(arguments))
                app.start()
            except (StoreError, OSError) as error:  # the process would exit with status 2
                self._agent_could_not_start(process, error)
                return
            self.app = app
            self.judge.active['agent starts'] = 0
            while app.doors.console.handle_line(lines.get()):
                pass

        self.judge.active['agent starts'] = 1
        self.scheduler.spawn(process, 'main', main)

    def _agent_could_not_start(self, process: SimulatedProcess, error: Exception) -> None:
        self.record.add('agent', f'cannot start: {error}')

        def end() -> None:
            if process.alive:
                self.kill('agent')
                self.scheduler.call_later(RESTART_S, lambda: self.restart('agent'))

        self.scheduler.call_later(0.0, end)

    def kill(self, name: str) -> None:
        process = self.processes[name]
        self.record.add('fault', f'{name} is killed')
        if name == 'agent':
            self.app = None
            self.judge.forget_stops()
        primitives.release_files(process)
        self.disk.kill(process)
        self.graph.kill(process)

    def restart(self, name: str) -> None:
        if self.processes[name].alive:
            return
        self.record.add('fault', f'{name} is restarted')
        if name == 'adapter':
            self._start_adapter()
        else:
            self._start_agent(AFTER_CRASH)

    # --- people -------------------------------------------------------------------------------

    def _type(self, line: str) -> None:
        self.record.add('person', line)
        self._lines.put(line)

    def _order_stop(self) -> None:
        self.record.add('person', 'STOP')
        app, process = self.app, self.processes['agent']
        if app is None or process.frozen:
            return
        self.judge.on_stop()

        def stop() -> None:
            app.doors.console.stop('the operator')

        self.scheduler.spawn(process, 'stop button', stop)

    # --- happenings -----------------------------------------------------------------------------

    def _begin(self, each: Happening) -> Callable[[], None]:
        return lambda: self._act(each) if KINDS[each.kind].person else self._break(each)

    def _act(self, act: Happening) -> None:
        if act.kind == 'stop':
            self._order_stop()
            return
        line = ':clear' if act.kind == 'clear' else act.text
        if line == ':clear':
            self.judge.on_clear()
        elif act.kind != 'answer':
            self.judge.on_order()
        self._type(line)

    def _break(self, fault: Happening) -> None:
        self.record.add('fault', f'{fault.kind} {fault.for_s:g} s {fault.value:g} {fault.text}')
        self.judge.active[fault.kind] += 1
        SETTERS[fault.kind](self, fault, True)
        self.scheduler.call_later(fault.for_s, lambda: self._mend(fault))

    def _mend(self, fault: Happening) -> None:
        self.judge.active[fault.kind] -= 1
        if not self.judge.active[fault.kind]:  # none of a kind that overlap
            self.record.add('fault', f'{fault.kind} ends')
            SETTERS[fault.kind](self, fault, False)

    # --- watching -----------------------------------------------------------------------------

    def _watch(self, kind: str, name: str, sender: str, content: Any) -> None:
        if kind != 'publish':
            text = name if kind == 'call' else f'{name}: {_answer_text(content)}'
            if not name.endswith('get_status'):
                self.record.add(kind, f'{sender} {text}')
        elif name == self.config.topics.status.adapter:
            self._record_status(json.loads(content.data))
        self.judge.on_message(kind, name, sender, content)

    def _record_status(self, status: dict[str, Any]) -> None:
        shown = ', '.join(f'{key} {status[key]}' for key in SHOWN_STATUS if status.get(key))
        if shown != self._shown_status:
            self._shown_status = shown
            self.record.add('adapter', shown)

    def _tasks(self) -> dict[str, str] | None:
        if self.app is None or not self.processes['agent'].alive:
            return None
        runner = self.app.mind.runtime.runner
        return {task.id: task.state.value for task in runner.list_tasks()}

    def _read_tasks(self) -> None:
        self.scheduler.call_later(TASKS_EVERY_S, self._read_tasks)
        if not self.judge.active['agent starts'] and (states := self._tasks()) is not None:
            self.judge.on_tasks(states, _is_terminal)


def _is_terminal(state: str) -> bool:
    return LifecycleState(state).terminal


def _answer_text(response: Any) -> str:
    if hasattr(response, 'success'):
        return f'{response.success} {response.message}'
    return 'answered'


def seed_ids(chance: random.Random) -> None:
    """Let IDs and draws of the libraries follow from the seed."""
    os.urandom = chance.randbytes
    random.seed(chance.random())
    any_ids: Any = langchain_ids  # those of its runs come from the real clock and system, in Rust
    drawn = random.Random(0)
    any_ids._uuid_utils_uuid7 = lambda **_: UUID(int=drawn.getrandbits(128))
