# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""kill -9 at random moments of :demo: each demo resumes and succeeds, and no call is repeated.

The real demo in its own domain: scripts/run_demo.sh with the rover's time at 8 times the clock,
the rover 12 m before the origin. Each kill of the agent's process comes after 0 to 2.5 s of work.
The agent restarts, resumes, and is killed again, until the demo has ended; then the next demo
starts. About one kill in ten is followed by another during the restart.

Afterwards the benchmark checks the trace file and the turn's last checkpoint. Each ACT belongs to
the call with the next recorded result; a call that ran at a kill has the result "Interrupted". The
odometry shows how often the rover started to move.

Must never happen: a demo that does not succeed with a score of 0.8; a call that runs twice; an ACT
without a recorded call; two calls with one ID; more motions of the rover than ACTs; an agent that
does not restart; a script that does not end with status 0.

Two demos run side by side in separate processes, because a starting agent is busy with imports.
run_demo.sh gives up after the sixth crash in a minute, so a demo is killed five times at most.

Run: python bench/resume.py [kills, default 100] [seed] [side by side, default 2]
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from itertools import pairwise
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from typing import Any

from _bench import report, ROOT, Sandbox, table, wait_until

sys.path.insert(0, str(ROOT / 'standalone/test'))

from curiosity_rosa_demo.agent.react.checkpoint_codec import CheckpointCodec
from curiosity_rosa_demo.agent.react.turn.messages import result_of
from curiosity_rosa_demo.domain.models import INTERRUPTED_TEXT, TraceEvent, TraceKind
from curiosity_rosa_demo.domain.skills import MOTIONS
from curiosity_rosa_demo.trace.events import TurnAnswered, TurnStarted
from curiosity_rosa_demo.trace.jsonl_log import read_trace
from demo_bench import Bench, ODOMETRY, Run
from nav_msgs.msg import Odometry

OPTIONS = ('--speed', '8', '--stand-in', 'initial_x=-12.0')
AGENT = 'agent_node'
WORK_S = 2.5  # the longest time from a restart to the next kill
STARTING = 0.1  # fraction of the kills that another kill during the restart follows
BACK_S, END_S = 60.0, 120.0
GOOD = 0.8
MOST_KILLS = 5  # of one demo
ENOUGH_FAULTS = 5
DRIVES_MPS = 0.19  # slower: it rocks after a stop, at up to 0.17; its arcs are faster
PHASES = {**dict.fromkeys(MOTIONS, 'motion'), 'capture_and_score': 'capture'}


class Demo:
    """One run of the demo and its kills."""

    def __init__(self, bench: Bench, number: int, chance: random.Random) -> None:
        self._bench, self._chance = bench, chance
        self._trace = bench.box.folder / f'trace-{number}.jsonl'
        self._state = bench.box.folder / f'state-{number}'
        bench.env['XDG_STATE_HOME'] = str(self._state)
        self.phases: Counter[str] = Counter()
        recorder = {'recorder': {'path': str(self._trace)}}
        self._run: Run = bench.run(*OPTIONS, '--config-dir', bench.box.config_dir(agent=recorder))

    def events(self) -> list[TraceEvent]:
        return read_trace(self._trace) if self._trace.is_file() else []

    def ended(self) -> bool:
        """Whether the turn has ended: it was answered."""
        return any(TurnAnswered.of(event) for event in self.events())

    def go(self, most: int) -> None:
        """Run the demo to its end, with at most ``most`` kills. Raises AssertionError."""
        self._run.expect('Type :help')
        self._run.send(':demo')
        self._run.until(lambda: any('User:' in e.message for e in self.events()), 'the demo')
        most = min(most, MOST_KILLS)
        while self.phases.total() < most and not self._rest(self._chance.uniform(0.0, WORK_S)):
            self._kill()
        self._run.until(self.ended, 'the demo to end', END_S)

    def leave(self) -> int:
        return self._run.end()

    def _rest(self, seconds: float) -> bool:
        """Wait up to ``seconds``. Returns whether the demo has ended."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            if self.ended():
                return True
            threading.Event().wait(min(0.1, max(0.0, until - time.monotonic())))
        return self.ended()

    def _kill(self) -> None:
        old = self._bench.kill(AGENT)
        events = self.events()
        self.phases[phase(events)] += 1
        self._back(old)
        if self.phases.total() < MOST_KILLS and self._chance.random() < STARTING:
            self._rest(self._chance.uniform(0.0, 1.0))
            again = self._bench.find(AGENT)
            if again is not None and len(self.events()) == len(events):
                os.kill(again.pid, signal.SIGKILL)
                self.phases['starting'] += 1
                self._back(again.pid)
        seen = len(events)
        self._run.until(
            lambda: any(_goes_on(each) for each in self.events()[seen:]) or self.ended(),
            'the demo to go on',
            BACK_S,
        )

    def _back(self, old: int) -> None:
        def back() -> bool:
            process = self._bench.find(AGENT)
            return process is not None and process.pid != old

        wait_until(back, 'the agent to come back', BACK_S)

    # --- the checkpoint ---------------------------------------------------------------------

    def calls(self) -> list[Any]:
        """The calls of the turn's last checkpoint."""
        (file,) = self._state.glob('curiosity_rosa/*.react')
        with closing(sqlite3.connect(f'file:{file}?mode=ro', uri=True)) as connection:
            found = connection.execute(
                'SELECT type, checkpoint FROM checkpoints ORDER BY checkpoint_id DESC LIMIT 1'
            ).fetchone()
        brain = CheckpointCodec().loads_typed(found)['channel_values']['brain']
        return list(brain.messages)


def _goes_on(event: TraceEvent) -> bool:
    return TurnStarted.of(event) is not None


def phase(events: list[TraceEvent]) -> str:
    """The activity of the agent after the last event."""
    for event in reversed(events):
        if event.tool_name is not None and event.kind is TraceKind.ACT:
            name = event.tool_name
            return PHASES.get(name, 'mast' if name.startswith('mast_') else 'other tool')
        if event.kind in (TraceKind.RESULT, TraceKind.ERROR):
            break
    return 'thinking'


def check(demo: Demo, starts: int, faults: list[str]) -> Counter[str]:
    """Compare acts, recorded calls and the rover's motions."""
    events, calls = demo.events(), demo.calls()
    counts: Counter[str] = Counter()
    ids = [each['call_id'] for each in calls]
    if len(set(ids)) < len(ids):
        faults.append(f'call IDs more than once: {ids}')
    done = sorted((each for each in calls if 'op' in each), key=lambda each: each['at'])
    counts['interrupted'] = sum(_interrupted(each) for each in done)
    acts = [event for event in events if event.kind is TraceKind.ACT and event.tool_name]
    acted: Counter[str] = Counter()
    for act in acts:
        call = next((each for each in done if each['at'] >= act.ts), None)
        if call is None or call['op'] != act.message:
            faults.append(f'{act.message} was carried out, and no such call is recorded')
            continue
        acted[call['call_id']] += 1
        if acted[call['call_id']] > 1:
            counts['repeated'] += 1
            faults.append(f'{act.message}, {call["call_id"]}, was carried out again')
    counts['acts'] = len(acts)
    counts['motions'] = sum(act.tool_name in MOTIONS for act in acts)
    counts['motions of the rover'] = starts
    if starts > counts['motions']:
        faults.append(f'the rover began to move {starts} times, for {counts["motions"]} ACTs')
    scores = [event.score for event in events if event.score is not None]
    if not scores or scores[-1] < GOOD:
        faults.append(f'the last score is {scores[-1:]}')
    return counts


def _interrupted(call: Any) -> bool:
    result = result_of(call)
    return result is not None and result.error_reason == INTERRUPTED_TEXT


def starts_of(speeds: list[float]) -> int:
    """How often the rover started to move."""
    moving = [False, *(speed > DRIVES_MPS for speed in speeds)]
    return sum(now and not before for before, now in pairwise(moving))


def work(kills: int, seed: int) -> dict[str, Any]:
    """Run demos until the number of kills is reached. Returns the findings."""
    chance, faults = random.Random(seed), list[str]()
    phases: Counter[str] = Counter()
    counts: Counter[str] = Counter()
    with Sandbox() as box:
        odometry = box.collect(Odometry, ODOMETRY)
        while phases.total() < kills and len(faults) < ENOUGH_FAULTS:
            before = len(odometry)
            bench = Bench(box)
            demo = Demo(bench, counts['demos'], chance)
            counts['demos'] += 1
            try:
                demo.go(kills - phases.total())
                speeds = [abs(each.twist.twist.linear.x) for each in odometry[before:]]
                counts += check(demo, starts_of(speeds), faults)
                counts['succeeded'] += 1
                if (status := demo.leave()) != 0:
                    faults.append(f'run_demo.sh ended with status {status}')
            except AssertionError as error:
                faults.append(
                    f'demo {counts["demos"]}: {str(error)[:200]} ... {str(error)[-600:]}'
                )
                counts['failed'] += 1
            finally:
                bench.close()
            phases += demo.phases
    return {'phases': dict(phases), 'counts': dict(counts), 'faults': faults}


def side_by_side(kills: int, seed: int, workers: int) -> Iterator[dict[str, Any]]:
    """Yield the findings of each worker process."""
    parts = [kills // workers + (number < kills % workers) for number in range(workers)]
    command = [sys.executable, '-W', 'ignore', __file__, '--work']
    running = [
        subprocess.Popen(
            [*command, str(part), str(seed + number)], stdout=subprocess.PIPE, text=True
        )
        for number, part in enumerate(parts)
    ]
    for process in running:
        output, _ = process.communicate()
        lines = output.splitlines()
        if process.returncode != 0 or not lines:
            yield {'phases': {}, 'counts': {}, 'faults': [f'a worker ended: {output[-300:]!r}']}
        else:
            yield json.loads(lines[-1])


def main() -> int:
    given = [int(each) for each in sys.argv[1:]]
    kills, seed, workers = (*given, *(100, random.randrange(10**6), 2)[len(given) :])
    phases: Counter[str] = Counter()
    counts: Counter[str] = Counter()
    faults: list[str] = []
    began = time.monotonic()
    for found in side_by_side(kills, seed, workers):
        phases += Counter(found['phases'])
        counts += Counter(found['counts'])
        faults += found['faults']
    seconds = time.monotonic() - began
    table(('killed while', 'kills'), sorted(phases.items()))
    keys = ('demos', 'succeeded', 'failed', 'interrupted', 'repeated', 'acts', 'motions')
    shown = {key: counts[key] for key in (*keys, 'motions of the rover')}
    table(('of all demos', 'count'), [('kills', phases.total()), *shown.items()])
    print(f'{seconds:.0f} s, seed {seed}')
    status: int = report(
        'resume',
        faults,
        seed=seed,
        kills=phases.total(),
        phases=dict(phases),
        seconds=round(seconds),
        **{key.replace(' ', '_'): value for key, value in shown.items()},
    )
    return status


if __name__ == '__main__':
    if sys.argv[1:2] == ['--work']:
        print(json.dumps(work(int(sys.argv[2]), int(sys.argv[3]))))
        sys.exit(0)
    sys.exit(main())
