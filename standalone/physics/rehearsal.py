# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.


"""The rehearsal in real physics: the whole product drives the rover of run_demo.sh --body mujoco.

Each run starts everything anew. A judge watches the true pose, the mast, the arm and the wheels,
and the product's own trace; its table says what the rover found and did, and what must not be.

Must never happen: wheels that are driven with the mast up or the arm out, a stop that is not
confirmed, a false alarm, a light that is not found, a rover that drives on after a process died.

Run: scripts/physics.sh [--demos PATH] [--record DIR] [RUN]...
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass, field
import json
import math
from pathlib import Path
import sys
import time
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / 'bench'))

from _bench import Result
from curiosity_rosa_demo.domain.geometry import roll_pitch, yaw_of
from curiosity_rosa_demo.domain.skills import MOTIONS
from curiosity_rosa_demo.infra.ros_io import history_qos
from curiosity_stand_in import body, parts
from demo_bench import Bench, Run
from geometry_msgs.msg import Twist
from harness import Sandbox, wait_until
from nav_msgs.msg import Odometry
from sensor_msgs.msg import JointState
from std_msgs.msg import String

ROBOT = 'curiosity'  # the profile with the arm that the demo's move_arm moves
DRIVEN_RAD_S = 0.3  # of a wheel; move_forward turns it at 2.0, and a sagging body by less
STANDS_RAD_S, STANDS_S = 0.05, 1.0
MAST, MAST_CLOSED, MAST_WITHIN_RAD = parts.MAST.joints[:2], parts.CLOSED[:2], 0.1
ARM, ARM_CLOSED = parts.ARM.joints, parts.ARM.moves['close_arm'][-1].joints
ARM_WITHIN_RAD = 0.15
WHEELS = tuple(body.WHEELS)
ROW_S, RATE_S = 0.1, 0.1  # of the record, and over which a wheel's velocity is measured
READY_S, DRIVE_S, STAND_S, RUN_S = 60.0, 30.0, 30.0, 300.0  # limits, wall time
HEAD = 't,x,y,z,roll,pitch,yaw,forward,mast_p,mast_02,arm_01,wheel,linear_x,angular_z'
UNCONFIRMED = 'not confirmed'


class Judge:
    """What an outsider sees of one run, from the physics itself."""

    def __init__(self, box: Sandbox) -> None:
        self.rows: list[str] = []
        self.path_m = 0.0
        self.unsafe: list[str] = []  # driven wheels at a wrong posture
        self.wheel_rad_s = 0.0  # of the fastest wheel
        self.closed = self.stowed = False
        self.pose: tuple[float, float] | None = None
        self._truth: Odometry | None = None
        self._twist = Twist()
        self._measured: tuple[float, dict[str, float]] | None = None
        self._row_at = -math.inf
        self._trace = box.collect(String, '/trace/events', history_qos(1000))
        self._subscriptions = [
            box.node.create_subscription(Odometry, '/ground_truth/odometry', self._see, 50),
            box.node.create_subscription(JointState, '/joint_states', self._feel, 200),
            box.node.create_subscription(Twist, '/cmd_vel', self._hear, 50),
        ]
        self._box = box

    def end(self) -> None:
        for each in self._subscriptions:
            ended = self._box.node.executor.create_task(self._box.node.destroy_subscription, each)
            wait_until(ended.done, 'the end of a subscription')

    def _see(self, truth: Odometry) -> None:
        place = truth.pose.pose.position
        if self.pose is not None:
            step = math.hypot(place.x - self.pose[0], place.y - self.pose[1])
            self.path_m += step if step < 1.0 else 0.0  # a body that was started again
        self.pose = place.x, place.y
        self._truth = truth

    def _hear(self, twist: Twist) -> None:
        self._twist = twist

    def _feel(self, message: JointState) -> None:
        now = message.header.stamp.sec + message.header.stamp.nanosec * 1e-9
        angles = dict(zip(message.name, message.position, strict=True))
        if self._measured is None or now < self._measured[0]:
            self._measured = now, angles
        elif now - self._measured[0] >= RATE_S - 1e-6:
            before, then = self._measured
            turned = max(abs(angles[name] - then[name]) for name in WHEELS)
            self.wheel_rad_s = turned / (now - before)
            self._measured = now, angles
            self._judge(now, angles)
        if abs(now - self._row_at) >= ROW_S - 1e-6:
            self._row_at = now
            self._record(now, angles)

    def _judge(self, now: float, angles: dict[str, float]) -> None:
        self.closed = _within(angles, MAST, MAST_CLOSED, MAST_WITHIN_RAD)
        self.stowed = _within(angles, ARM, ARM_CLOSED, ARM_WITHIN_RAD)
        if self.wheel_rad_s > DRIVEN_RAD_S and not (self.closed and self.stowed):
            what = 'the arm out' if self.closed else 'the mast up'
            self.unsafe.append(f'{self.wheel_rad_s:.1f} rad/s with {what} at {now:.1f} s')

    def _record(self, now: float, angles: dict[str, float]) -> None:
        if self._truth is None:
            return
        pose, q = self._truth.pose.pose, self._truth.pose.pose.orientation
        values = (
            pose.position.x, pose.position.y, pose.position.z,
            *roll_pitch(q.x, q.y, q.z, q.w), yaw_of(q),
            self._truth.twist.twist.linear.x, angles[MAST[0]], angles[MAST[1]], angles[ARM[0]],
            angles[WHEELS[0]], self._twist.linear.x, self._twist.angular.z,
        )  # fmt: skip
        self.rows.append(','.join([f'{now:.2f}', *(f'{value:.3f}' for value in values)]))

    def events(self) -> list[dict[str, Any]]:
        return [json.loads(each.data) for each in list(self._trace)]

    def alarms(self) -> list[str]:
        return [each['message'] for each in self.events() if each['kind'] == 'ERROR']

    def unconfirmed(self) -> list[str]:
        texts = [f'{each["message"]} {each["error_reason"] or ""}' for each in self.events()]
        return [text for text in texts if UNCONFIRMED in text]


@dataclass
class Outcome:
    """A row of the table; ``faults`` is what must not be."""

    name: str
    found: str = '-'
    drove_m: float = 0.0
    motions: int = 0
    stands: str = '-'
    unconfirmed: int = 0
    alarms: int = 0
    unsafe: int = 0
    faults: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Scene:
    """Options of the body, and the console's commands, which end by themselves."""

    options: tuple[str, ...]
    commands: tuple[str, ...] = (':demo',)
    finds: bool = True


AWAY_RAD = 2.5
LONGEST_S = 20  # that the console allows
STOW_ARM = 'stow the arm'
TURNS = (STOW_ARM, ':mast_close', ':forward 4', ':left 8', ':right 8', ':mast_open')
SCENES: dict[str, Scene] = {
    'flat': Scene(()),
    'relief': Scene(('--physics', 'world=relief')),
    'facing away': Scene(('--physics', f'initial_yaw={AWAY_RAD}')),
    'forward left right': Scene((), TURNS, finds=False),
    'forward left right, friction 0.7': Scene(('--physics', 'friction=0.7'), TURNS, finds=False),
    'rock in the way': Scene(
        ('--physics', 'rock_ahead=4.0'),
        (STOW_ARM, ':mast_close', ':forward 14'),
        finds=False,
    ),
    'factor 0.5': Scene(('--speed', '0.5')),
    'factor 3': Scene(('--speed', '3')),
}
OURS = ('adapter_node', 'agent_node', 'simulator_node')
DEMOS = ('nodes/run_demo', 'nodes/move_wheel', 'nodes/move_mast', 'nodes/move_arm')
BODY = 'physics_node'


class Rehearsal:
    """``demos``: the clone whose nodes drive; empty: those of our own. ``folder``: takes a record
    of each run.
    """

    def __init__(self, demos: str, folder: Path) -> None:
        self._body = ('--body', 'mujoco', '--robot', ROBOT, *(('--demos', demos) if demos else ()))
        self._folder = folder
        victims = (*OURS, *(DEMOS if demos else ()), BODY)
        self.runs: dict[str, Callable[[Bench, Judge, Outcome], None]] = {
            **{name: self._scene(scene) for name, scene in SCENES.items()},
            'e-stop': self._e_stop,
            **{f'kill {Path(victim).name}': self._kill(victim) for victim in victims},
        }

    def run(self, name: str) -> Outcome:
        outcome = Outcome(name)
        with Sandbox() as box:
            bench, judge = Bench(box), Judge(box)
            try:
                self.runs[name](bench, judge, outcome)
            except AssertionError as error:
                outcome.faults.append(str(error).splitlines()[0])
            finally:
                for run in bench.runs:
                    if run.popen.poll() is None:
                        run.send(':quit')  # after an e-stop its drive waits for a person
                        run.end(RUN_S)
                judge.end()
            log = self._folder / f'{name.replace(" ", "_").replace(",", "")}'
            log.with_suffix('.csv').write_text('\n'.join([HEAD, *judge.rows, '']))
            log.with_suffix('.log').write_text(bench.runs[-1].output() if bench.runs else '')
        outcome.drove_m = judge.path_m
        outcome.unsafe = len(judge.unsafe)
        outcome.faults += [f'drove at {each}' for each in judge.unsafe[:1]]
        return outcome

    def _scene(self, scene: Scene) -> Callable[[Bench, Judge, Outcome], None]:
        def play(bench: Bench, judge: Judge, outcome: Outcome) -> None:
            flags = [part for each in scene.commands for part in ('-c', each)]
            run = bench.run(*self._body, *scene.options, *flags)
            run.until(lambda: run.popen.poll() is not None, 'the end of the run', RUN_S)
            result = json.loads(run.output().splitlines()[-1])
            outcome.motions = sum(
                each['kind'] == 'ACT' and each['tool_name'] in MOTIONS for each in judge.events()
            )
            outcome.unconfirmed, outcome.alarms = len(judge.unconfirmed()), len(judge.alarms())
            outcome.faults += [*judge.unconfirmed(), *judge.alarms()]
            if scene.finds:
                outcome.found = 'yes' if result['ok'] and result['score'] else 'no'
            if not result['ok']:
                outcome.faults.append(result['answer'])

        return play

    def _drive(self, bench: Bench, judge: Judge) -> Run:
        """Start everything and drive; returns with the rover on its way."""
        run = bench.run(*self._body)
        for command, done, what in (
            (STOW_ARM, lambda: judge.stowed, 'the arm to be stowed'),
            (':mast_close', lambda: judge.closed, 'the mast to be stowed'),
        ):
            run.send(command)
            run.until(done, what, READY_S)
        run.send(f':forward {LONGEST_S}')
        run.until(lambda: judge.wheel_rad_s > 1.5, 'the wheels to turn', READY_S + DRIVE_S)
        start = judge.path_m
        run.until(lambda: judge.path_m > start + 0.5, 'half a metre of way', DRIVE_S)
        return run

    def _stands(self, run: Run, judge: Judge, outcome: Outcome) -> None:
        began, way, still_since = time.monotonic(), judge.path_m, 0.0

        def still() -> bool:
            nonlocal still_since
            turning = judge.wheel_rad_s > STANDS_RAD_S
            still_since = 0.0 if turning else still_since or time.monotonic()
            return bool(still_since) and time.monotonic() - still_since > STANDS_S

        run.until(still, 'the wheels to stand', STAND_S)
        outcome.stands = f'{still_since - began:.1f} s, {judge.path_m - way:.1f} m'

    def _e_stop(self, bench: Bench, judge: Judge, outcome: Outcome) -> None:
        run = self._drive(bench, judge)
        outcome.motions = 1
        assert bench.box.set_parameters('curiosity_physics', e_stop=True) == []
        self._stands(run, judge, outcome)
        outcome.unconfirmed = len(judge.unconfirmed())
        outcome.faults += judge.unconfirmed()

    def _kill(self, victim: str) -> Callable[[Bench, Judge, Outcome], None]:
        def play(bench: Bench, judge: Judge, outcome: Outcome) -> None:
            run = self._drive(bench, judge)
            outcome.motions = 1
            pid = bench.kill(victim)
            if victim == BODY:
                bench.back(victim, pid)
                run.until(lambda: judge.pose is not None, 'the new body', READY_S)
            self._stands(run, judge, outcome)

        return play


def _within(
    angles: dict[str, float], names: tuple[str, ...], wanted: tuple[float, ...], by: float
) -> bool:
    pairs = zip(names, wanted, strict=True)
    return all(abs(angles[name] - value) <= by for name, value in pairs)


def main() -> int:
    parser = argparse.ArgumentParser(prog='physics.sh', description=__doc__.split('\n')[1])
    parser.add_argument('--demos', default='', help='clone of space-ros/demos, whose nodes drive')
    parser.add_argument('--record', default='run/physics', help='folder of records and logs')
    parser.add_argument('runs', nargs='*', metavar='RUN', help='these only; see the table')
    given = parser.parse_args()
    folder = Path(given.record)
    folder.mkdir(parents=True, exist_ok=True)
    rehearsal = Rehearsal(given.demos, folder)
    if unknown := set(given.runs) - set(rehearsal.runs):
        parser.error(f'{unknown.pop()!r} is not one of: {", ".join(rehearsal.runs)}')
    outcomes = []
    for name in given.runs or rehearsal.runs:
        outcomes.append(rehearsal.run(name))
        print(outcomes[-1], file=sys.stderr, flush=True)
    faults = [f'{each.name}: {fault}' for each in outcomes for fault in each.faults]
    Result(
        'The rehearsal in physics',
        'The whole product drives the rover in MuJoCo.',
        ('run', 'found', 'drove m', 'motions', 'stands after', 'unconfirmed', 'alarms', 'unsafe'),
        [
            (each.name, each.found, round(each.drove_m, 1), each.motions, each.stands,
             each.unconfirmed, each.alarms, each.unsafe)
            for each in outcomes
        ],
        faults=faults,
    ).show()  # fmt: skip
    return 1 if faults else 0


if __name__ == '__main__':
    sys.exit(main())
