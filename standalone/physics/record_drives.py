# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.


"""Records the manners of the rover in real physics: motions, stops and the mast, on flat ground.

The records are fixtures: quick tests hold the stand-in's body against them. It is stepped in this
process, so that a record is the same each time, and does what the demo's nodes do.

Run: python standalone/physics/record_drives.py [--demos PATH] [FOLDER]
"""

from __future__ import annotations

import argparse
from pathlib import Path
import sys

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / 'bench'))

from _bench import ROOT
from curiosity_physics import demos, urdf, worlds
from curiosity_physics.drivers import WheelDriver
from curiosity_physics.model import build
from curiosity_physics.simulation import Simulation, State
from curiosity_stand_in.drivers import RunDemo
from curiosity_stand_in.parts import MAST, Part, Waypoints
from curiosity_stand_in.robot import own

FOLDER = ROOT / 'standalone/src/curiosity_physics/test/recordings'
PERIOD_S, BEAT, ROW = 0.01, 10, 5  # beat of the drivers and rows of the record, in periods
REPEATS_AT, TICKS_AT = 3, 8  # in the beat: run_demo and move_wheel have timers of their own
# Seconds from the start of the record, and the service that is called then.
DRIVES: dict[str, tuple[tuple[float, str], ...]] = {
    'forward': ((1.0, 'move_forward'), (11.0, 'move_stop')),
    'left': ((1.0, 'turn_left'), (11.0, 'move_stop')),
    'right': ((1.0, 'turn_right'), (11.0, 'move_stop')),
    'mast': ((1.0, 'mast_close'), (4.0, 'mast_open'), (7.0, 'mast_rotate')),
}
AFTER_S = {'mast': 8.0}  # of the last call; of a drive, 4 s
HEAD = 't,x,y,z,roll,pitch,yaw,forward,turn,mast_p,mast_02,wheel'


def record(simulation: Simulation, calls: tuple[tuple[float, str], ...], end_s: float) -> str:
    """The record as CSV: metres, radians and seconds."""
    driver = WheelDriver(simulation.controllers)

    def move(part: Part, waypoints: Waypoints) -> None:
        state = simulation.state()
        points = [(each.seconds, each.joints) for each in waypoints]
        mast = simulation.controllers.parts[part]
        mast.follow(part.joints, points, now=state.seconds, actual=state.angles)

    run_demo = RunDemo(driver.drive)
    effects = {**run_demo.effects, **MAST.effects(move)}
    due = {round(at / PERIOD_S): service for at, service in calls}
    rows = [HEAD]
    for period in range(round(end_s / PERIOD_S)):
        if period in due:
            effects[due[period]]()
        state = simulation.state()
        if period % ROW == 0:
            rows.append(_row(period * PERIOD_S, state))
        if period % BEAT == REPEATS_AT:
            run_demo.repeat()
        if period % BEAT == TICKS_AT:
            driver.tick(state.seconds, state.angles)
        simulation.advance()
    return '\n'.join([*rows, ''])


def _row(seconds: float, state: State) -> str:
    values = (
        *state.place, *state.roll_pitch, state.yaw, state.forward, state.spin[2],
        state.angles['mast_p_joint'], state.angles['mast_02_joint'],
        state.angles['front_wheel_L_joint'],
    )  # fmt: skip
    return ','.join([f'{seconds:.2f}', *(f'{value:.4f}' for value in values)])


def main() -> None:
    parser = argparse.ArgumentParser(prog='physics_drives.py')
    parser.add_argument('--demos', default='', help='clone of space-ros/demos, whose rover it is')
    parser.add_argument('folder', nargs='?', default=str(FOLDER))
    given = parser.parse_args()
    try:
        robot = urdf.read(demos.find(given.demos)) if given.demos else own()
    except ValueError as error:
        sys.exit(f'physics_drives: --demos {error}')
    built = build(robot, worlds.make('flat', 0), friction=1.0)
    folder = Path(given.folder)
    folder.mkdir(parents=True, exist_ok=True)
    for name, calls in DRIVES.items():
        end_s = calls[-1][0] + AFTER_S.get(name, 4.0)
        (folder / f'{name}.csv').write_text(record(Simulation(built), calls, end_s))


if __name__ == '__main__':
    main()
