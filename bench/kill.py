# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.


"""kill -9 at random moments: of the task engine, of the agent in mid-demo, in mid-drive, of a
start.

- tasks: a process runs the SkillRunner under load (_killed_runner.py) and is killed after 20 to
  400 ms, or within start(). Then the file is read, and the next one starts. The last runs until
  every task has ended. A kill is no power failure: what was written survives, synced or not.
- demo: the agent is killed during :demo, at most five times (run_demo.sh gives up after the sixth
  crash in a minute). Acts of the trace, calls of the last checkpoint and the odometry are
  compared.
- drive: the agent dies by SIGKILL or freezes by SIGSTOP in a drive at top speed, with and without
  processes that want all cores. A false alarm is a drive that ended although the agent was alive.
- start: everything starts, one random process is killed at a random moment, and all ends.

Must never happen: an acknowledged task, a reported end or a checkpoint that is lost; a task that
runs after its end, is stuck or has an impossible history; a demo that fails; a call that runs
twice; a rover that drives on for 3 s; what a start leaves behind.

Run: python bench/kill.py [tasks] [demo] [drive] [start] [--size N] [--seed N] [--smoke]
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from itertools import pairwise
import math
import os
from pathlib import Path
import random
import re
import selectors
import signal
import sqlite3
from statistics import median
import subprocess
import sys
import tempfile
import threading
import time

from _bench import main, Part, quantile, Result, ROOT
from _task_witness import ENDS, Witness
from curiosity_rosa_demo.agent.react.turn import Turn
from curiosity_rosa_demo.domain.models import TraceEvent, TraceKind
from curiosity_rosa_demo.domain.skills import MOTIONS
from curiosity_rosa_demo.trace.events import TurnAnswered, TurnStarted
from curiosity_rosa_demo.trace.jsonl_log import read_newest
from curiosity_stand_in.body import WHEELS
from demo_bench import Api, Bench, is_ready, ODOMETRY, PAGE, Run
from harness import Sandbox, wait_until
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from nav_msgs.msg import Odometry
import psutil
from sensor_msgs.msg import JointState

WORK_S = (0.02, 0.4)  # of the task engine before a kill
DURING_START = 0.2  # of its kills
FAILED_S, DRAIN_S = 30.0, 90.0  # a start that takes longer has failed; the last run
DEMO = ('--speed', '8', '--stand-in', 'initial_x=-12.0')
DEMO_WORK_S, MOST_KILLS, AGAIN = 2.5, 5, 0.1  # AGAIN: of the kills, another one in the restart
BACK_S, END_S = 60.0, 120.0
GOOD = 0.8
DRIVES_MPS = 0.19  # slower: it rocks after a stop, at up to 0.17; its arcs are faster
AIM_S, AIM_M, NEVER_S = 0.5, 0.25, 3.0
STILL_MPS, TOP_MPS = 0.02, 0.45
KILL_PERIOD_S = 15.0  # of the agent in a drive
BUSY = 8  # processes
START_S, LATEST_KILL_S = 10.0, 10.0  # the longest start; about half of the kills hit it
LOOP_END_S = 30.0
PAGE_OF = re.compile(rf'^(\[\w+\] )?{PAGE.pattern}', re.MULTILINE)
NODES = ('adapter_node', 'simulator_node', 'visualizer_node', 'agent_node')
WAYS: dict[str, tuple[str, ...]] = {  # of starting
    'standalone': (),
    'beside a rover': ('--no-stand-in', '--sim-time', 'false'),
    'two rovers': ('--rovers', '2'),
}


# --- the task engine ---------------------------------------------------------------------------


def run_child(
    path: Path, seed: int, mode: str, kill_after: tuple[str, float]
) -> tuple[list[list[str]], int | None, float | None]:
    """Run the task engine, and kill it some seconds after it wrote a given word. Returns its
    lines, its status (None: killed) and how long start() took (None: it never ended).
    """
    word, seconds = kill_after
    seen_at: dict[str, float] = {}
    data = b''
    child = subprocess.Popen(
        [sys.executable, str(ROOT / 'bench/_killed_runner.py'), str(path), str(seed), mode],
        stdout=subprocess.PIPE,
    )
    assert child.stdout is not None
    deadline = time.perf_counter() + FAILED_S
    with child, selectors.DefaultSelector() as ready:
        ready.register(child.stdout, selectors.EVENT_READ)
        while (left := deadline - time.perf_counter()) > 0:
            if not ready.select(left) or not (piece := os.read(child.stdout.fileno(), 65536)):
                break  # it is time, or it has ended
            data += piece
            for mark in ('starting', 'ready'):
                if mark not in seen_at and f'{mark}\n'.encode() in data[:64]:
                    seen_at[mark] = time.perf_counter()
                    if mark == word:
                        deadline = seen_at[mark] + seconds
        if time.perf_counter() < deadline:
            child.wait(timeout=5.0)
        status = child.poll()
        if status is None:
            child.kill()
        data += child.stdout.read()
    lines = data[: data.rfind(b'\n') + 1].decode().splitlines()
    took = seen_at['ready'] - seen_at['starting'] if len(seen_at) == 2 else None
    return [line.split(' ', 2) for line in lines], status, took


def tasks(options: argparse.Namespace) -> Result:
    chance, witness = random.Random(options.seed), Witness()
    starts: list[float] = []
    within = 0
    with tempfile.TemporaryDirectory(prefix='curiosity-bench-') as folder:
        path = Path(folder, 'tasks.db')
        for number in range(options.size):
            when = ('ready', chance.uniform(*WORK_S))
            if chance.random() < DURING_START and starts:
                when = ('starting', chance.uniform(0.0, 1.1 * median(starts[-10:])))
            lines, status, took = run_child(path, chance.randrange(2**31), 'load', when)
            if status is not None or not lines:
                witness.faults.append(f'round {number}: a start failed with status {status}')
                break
            within += took is None
            starts += [] if took is None else [took]
            witness.add_run(lines)
            witness.check_file(path)
        lines, status, _ = run_child(path, options.seed, 'drain', ('ready', DRAIN_S))
        if status != 0:
            witness.faults.append(f'the last run ended with status {status}')
        witness.add_run(lines)
        witness.check_file(path)
    states = Counter(task.state for task in witness.stored.values())
    stuck = {state: count for state, count in states.items() if state not in ENDS}
    witness.faults += [f'stuck: {count} tasks {state}' for state, count in stuck.items()]
    counts = witness.counts
    return Result(
        'Tasks and kill -9',
        'Tasks, chains, interrupts, cancels, pauses, retries and deadlines over three resources.',
        ('kills', 'within start()', 'tasks acknowledged', 'checkpoints', 'ends reported',
         'run again after a kill', 'lost, repeated or stuck'),
        [(options.size, within, len(witness.acknowledged), counts['kept'],
          counts['done'] + counts['cancelled'], counts['again'], len(witness.faults))],
        'none lost, repeated or stuck',
        not witness.faults,
        witness.faults,
    )  # fmt: skip


# --- the demo ----------------------------------------------------------------------------------


class KilledDemo:
    """One run of the demo and its kills."""

    def __init__(self, bench: Bench, number: int, chance: random.Random) -> None:
        self._bench, self._chance, self.kills = bench, chance, 0
        self._trace = bench.box.folder / f'trace-{number}.jsonl'
        self._state = bench.box.folder / f'state-{number}'
        bench.env['XDG_STATE_HOME'] = str(self._state)
        folder = bench.box.config_dir(agent={'recorder': {'path': str(self._trace)}})
        self._run: Run = bench.run(*DEMO, '--config-dir', folder)

    def events(self) -> list[TraceEvent]:
        return read_newest(self._trace)

    def ended(self) -> bool:
        """Whether the turn has ended: it was answered."""
        return any(TurnAnswered.of(event) for event in self.events())

    def go(self, most: int) -> None:
        """Run the demo to its end, with at most ``most`` kills. Raises AssertionError."""
        self._run.expect('Type :help')
        self._run.send(':demo')
        self._run.until(lambda: any('User:' in e.message for e in self.events()), 'the demo')
        while self.kills < min(most, MOST_KILLS) and not self._rest(
            self._chance.uniform(0.0, DEMO_WORK_S)
        ):
            self._kill()
        self._run.until(self.ended, 'the demo to end', END_S)

    def leave(self) -> int:
        return self._run.end()

    def _rest(self, seconds: float) -> bool:
        """Wait up to ``seconds``. Returns whether the demo has ended."""
        until = time.monotonic() + seconds
        while time.monotonic() < until and not self.ended():
            threading.Event().wait(min(0.1, max(0.0, until - time.monotonic())))
        return self.ended()

    def _kill(self) -> None:
        seen = len(self.events())
        self._bench.back('agent_node', self._bench.kill('agent_node'))
        self.kills += 1
        if self.kills < MOST_KILLS and self._chance.random() < AGAIN:
            self._rest(self._chance.uniform(0.0, 1.0))
            if len(self.events()) == seen:
                self._bench.back('agent_node', self._bench.kill('agent_node'))
                self.kills += 1
        self._run.until(
            lambda: any(TurnStarted.of(each) for each in self.events()[seen:]) or self.ended(),
            'the demo to go on',
            BACK_S,
        )

    def check(self, starts: int, faults: list[str]) -> Counter[str]:
        """Compare acts, the calls of the last checkpoint, and the starts of the rover."""
        (file,) = self._state.glob('curiosity_rosa/*.react')
        with closing(sqlite3.connect(f'file:{file}?mode=ro', uri=True)) as connection:
            newest = 'SELECT type, checkpoint FROM checkpoints ORDER BY checkpoint_id DESC LIMIT 1'
            found = connection.execute(newest).fetchone()
        saved = JsonPlusSerializer().loads_typed(found)['channel_values']['turn']
        calls = Turn.model_validate_json(saved).exchanges
        if len({each.call_id for each in calls}) < len(calls):
            faults.append('two calls have one ID')
        done = sorted((each for each in calls if each.op), key=lambda each: each.at)
        events = self.events()
        acts = [event for event in events if event.kind is TraceKind.ACT and event.tool_name]
        acted: Counter[str] = Counter()
        for act in acts:
            call = next((each for each in done if each.at >= act.ts), None)
            if call is None or call.op != act.message:
                faults.append(f'{act.message} was carried out, and no such call is recorded')
            else:
                acted[call.call_id] += 1
        repeated = sum(count > 1 for count in acted.values())
        faults += [f'{repeated} calls were carried out again'] if repeated else []
        motions = sum(act.tool_name in MOTIONS for act in acts)
        if starts > motions:
            faults.append(f'the rover began to move {starts} times, for {motions} ACTs')
        scores = [event.score for event in events if event.score is not None]
        if not scores or scores[-1] < GOOD:
            faults.append(f'the last score is {scores[-1:]}')
        return Counter(demos=1, acts=len(acts), repeated=repeated, motions=motions, starts=starts)


def demo(options: argparse.Namespace) -> Result:
    chance, faults, kills = random.Random(options.seed), list[str](), 0
    counts: Counter[str] = Counter()
    with Sandbox() as box:
        odometry = box.collect(Odometry, ODOMETRY)
        while kills < options.size and not faults:
            before, bench = len(odometry), Bench(box)
            one = KilledDemo(bench, counts['demos'], chance)
            try:
                one.go(options.size - kills)
                speeds = [abs(each.twist.twist.linear.x) for each in odometry[before:]]
                moving = [False, *(speed > DRIVES_MPS for speed in speeds)]
                starts = sum(now and not was for was, now in pairwise(moving))
                counts += one.check(starts, faults)
                if (status := one.leave()) != 0:
                    faults.append(f'run_demo.sh ended with status {status}')
            except AssertionError as error:
                faults.append(f'demo {counts["demos"]}: {str(error)[:200]} {str(error)[-600:]}')
            finally:
                bench.close()
            kills += one.kills
    return Result(
        'The demo and kill -9 of its agent',
        'The agent resumes until the demo has ended; no call is made again.',
        ('kills', 'demos', 'acts', 'motions', 'starts in the odometry', 'acts repeated'),
        [(kills, *(counts[key] for key in ('demos', 'acts', 'motions', 'starts', 'repeated')))],
        'every demo succeeds, no act is repeated',
        not faults,
        faults,
    )


# --- a drive -----------------------------------------------------------------------------------


class Wheels:
    """``x`` in metres and ``speed`` in m/s, by odometry. ``stood_at``: the time of the first joint
    states of the present standstill; infinite while a wheel turns.
    """

    def __init__(self, box: Sandbox) -> None:
        self.x, self.speed, self.stood_at = 0.0, 0.0, math.inf
        box.node.create_subscription(Odometry, ODOMETRY, self._hear_odometry, 100)
        box.node.create_subscription(JointState, '/joint_states', self._hear_joints, 100)

    def _hear_odometry(self, message: Odometry) -> None:
        self.x, self.speed = message.pose.pose.position.x, abs(message.twist.twist.linear.x)

    def _hear_joints(self, message: JointState) -> None:
        joints = zip(message.name, message.velocity, strict=True)
        turns = any(rate != 0.0 for name, rate in joints if name in WHEELS)
        self.stood_at = math.inf if turns else min(self.stood_at, time.monotonic())


class DrivingAgent:
    """The agent of a run, also after it was started again."""

    def __init__(self, bench: Bench) -> None:
        self._bench, self._starts, self._killed_at = bench, 0, -KILL_PERIOD_S
        self._wheels = Wheels(bench.box)
        self._run = bench.run('--stand-in', 'initial_x=-95.0', '--stand-in', 'initial_mast=closed')
        self._await()

    def _await(self) -> None:
        self._starts += 1
        self._run.expect('The page: ', times=self._starts)
        self._api = Api(self._run).ready()

    def drive(self) -> bool:
        """Drive at top speed for a second. Returns whether it still drives."""
        for _ in range(10):
            for line in ('stop', ':clear', ':mast_close', ':forward 20'):
                self._api.say(line)
            try:
                wait_until(lambda: self._wheels.speed > TOP_MPS, 'the rover to drive', 10.0)
            except AssertionError:
                continue
            threading.Event().wait(1.0)
            return self._wheels.speed >= TOP_MPS
        raise SystemExit(f'the rover does not drive:\n{self._run.output()[-3000:]}')

    def die(self, signum: int) -> tuple[float, float]:
        """Seconds until the wheels stand, and metres until the body does."""
        process = wait_until(lambda: self._bench.find('agent_node'), 'the agent')
        if signum == signal.SIGKILL:  # run_demo.sh gives up after the sixth crash in a minute
            left_s = self._killed_at + KILL_PERIOD_S - time.monotonic()
            threading.Event().wait(max(0.0, left_s))
            self._killed_at = time.monotonic()
        wheels, died_at, died_x = self._wheels, time.monotonic(), self._wheels.x
        process.send_signal(signum)
        end = died_at + 4 * NEVER_S

        def stands() -> bool:
            return wheels.stood_at < math.inf and wheels.speed < STILL_MPS

        wait_until(lambda: stands() or time.monotonic() > end, 'the rover', 60.0)
        stood_at, stood_x = min(wheels.stood_at, end), wheels.x
        if signum == signal.SIGSTOP:
            process.send_signal(signal.SIGCONT)
        else:
            self._await()
        return stood_at - died_at, abs(stood_x - died_x)


@contextmanager
def busy(count: int) -> Iterator[None]:
    """Processes that want all CPU time they can get."""
    spinners = [subprocess.Popen([sys.executable, '-c', 'while True: pass']) for _ in range(count)]
    try:
        yield
    finally:
        for spinner in spinners:
            spinner.kill()
            spinner.wait()


def drive(options: argparse.Namespace) -> Result:
    rows, faults, met = [], [], True
    for load in (0, BUSY):
        with busy(load), Sandbox() as box, closing(Bench(box)) as bench:
            agent = DrivingAgent(bench)
            for signum in (signal.SIGKILL, signal.SIGSTOP):
                alarms, seconds, metres = 0, [], []
                for _ in range(options.size):
                    alarms += not agent.drive()
                    took = agent.die(signum)
                    seconds.append(took[0])
                    metres.append(took[1])
                met = met and max(seconds) <= AIM_S and max(metres) <= AIM_M and not alarms
                name = f'{signum.name}, {load} busy processes'
                found = (quantile(seconds, 0.5), max(seconds), max(metres))
                rows.append((name, options.size, *(round(e, 3) for e in found), alarms))
                if max(seconds) > NEVER_S:
                    faults.append(f'{name}: the rover drove on for {max(seconds):.1f} s')
    return Result(
        "The agent's death in a drive",
        'From the death to wheels that stand, by their joints, at top speed; metres by odometry.',
        ('death', 'deaths', 'median s', 'worst s', 'worst m', 'false alarms'),
        rows,
        f'each within {AIM_S:g} s and {AIM_M:g} m, no false alarm',
        met,
        faults,
    )


# --- a start -----------------------------------------------------------------------------------


def loop(box: Sandbox, options: tuple[str, ...], chance: random.Random) -> tuple[float, list[str]]:
    """Bring all up, kill one process at a random moment, and end. Returns the seconds of the
    start, infinite if the kill came first, and what is left.
    """
    bench, rovers = Bench(box), 2 if '--rovers' in options else 1
    temporary = Path(tempfile.mkdtemp(dir=box.folder))
    bench.env['TMPDIR'] = str(temporary)
    logs, start_s = ROOT / 'run' / f'domain-{box.domain}', math.inf
    before, beside = _shared_memory(), []
    if '--no-stand-in' in options:
        beside = [box.start('curiosity_stand_in', 'stand_in_node')]
    outside = {process.pid for process in bench.processes()}
    began = time.monotonic()
    run = bench.run(*options)

    def up() -> bool:
        pages = dict(PAGE_OF.findall(run.output()))  # the last one of each agent
        up = len(pages) == rovers and all(map(bench.find, NODES))
        return up and all(map(is_ready, pages.values()))

    left: list[str] = []
    try:
        kill_at = began + chance.uniform(0.0, LATEST_KILL_S)
        while (now := time.monotonic()) < kill_at:
            if start_s == math.inf and up():
                start_s = now - began
            threading.Event().wait(0.1)
        found = [each for each in bench.processes() if each.pid not in outside]
        assert found, f'the demo ended before it was killed: {run.output()}'
        victim, is_node = chance.choice(sorted(found, key=lambda each: each.pid)), False
        with suppress(psutil.NoSuchProcess):
            is_node = any(name in ' '.join(victim.cmdline()[:3]) for name in NODES)
            victim.kill()
        if victim.pid != run.popen.pid:
            if is_node and chance.random() < 0.5:  # else all end while it is down
                run.until(up, 'everything to be up again after the kill')
            signum = chance.choice((None, signal.SIGTERM, signal.SIGHUP))
            if signum is not None:
                run.popen.send_signal(signum)
        run.end(LOOP_END_S)
        for process in beside:
            process.end()
        bench.nothing_left()
    except (AssertionError, subprocess.TimeoutExpired) as error:
        left.append(str(error)[-3000:])
    finally:
        bench.close()
    files = [file for folder in (logs, temporary) for file in folder.rglob('*') if file.is_file()]
    left += [str(file) for file in files if '.log' not in file.suffixes]
    return start_s, left + sorted(_shared_memory() - before)


def _shared_memory() -> set[str]:
    """The files of Fast DDS."""
    return {each.name for each in Path('/dev/shm').glob('*fast[rd]*')}


def start(options: argparse.Namespace) -> Result:
    chance, faults, met = random.Random(options.seed), list[str](), True
    starts: dict[str, list[float]] = {name: [] for name in WAYS}
    lost = Counter[str]()
    with Sandbox() as box:
        for number in range(options.size):
            name = list(WAYS)[number % len(WAYS)]
            seconds, left = loop(box, WAYS[name], chance)
            starts[name].append(seconds)
            lost[name] += len(left)
            faults += [f'{name}: {each}' for each in left]
    rows = []
    for name, every in starts.items():
        came = [each for each in every if each < math.inf]
        worst, middle = (round(quantile(came, part), 1) if came else None for part in (1.0, 0.5))
        rows.append((name, len(every), lost[name], len(came), middle, worst))
        met = met and (worst or 0.0) <= START_S
    return Result(
        'Starts and ends with a kill -9 between',
        'A random process is killed at a random moment; the end is that of the input, a signal or '
        'the kill. Left: processes, shared memory, files, or an end that does not come.',
        ('way to start', 'loops', 'left', 'starts before the kill', 'median s', 'worst s'),
        rows,
        f'none left, each start within {START_S:g} s',
        met and not faults,
        faults,
    )


if __name__ == '__main__':
    sys.exit(
        main(
            Part('tasks', tasks, 'kills', 200, 2),
            Part('demo', demo, 'kills', 100, 1),
            Part('drive', drive, 'deaths of each kind', 25, 1),
            Part('start', start, 'loops', 200, 3),
        )
    )
