# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.


"""How each fault of a mission is set, and mended."""

from __future__ import annotations

from collections.abc import Callable
import math
from typing import TYPE_CHECKING, TypeAlias

from curiosity_stand_in.scenery import Disc
from geometry_msgs.msg import Twist
from missions.disk import DiskFaults, NO_FAULTS
from missions.happenings import Happening
from std_srvs.srv import Trigger

if TYPE_CHECKING:
    from missions.mission import Mission

ROCK_M = 0.5  # its radius
Setter: TypeAlias = 'Callable[[Mission, Happening, bool], None]'


def _condition(name: str) -> Setter:
    return lambda m, f, on: setattr(m.graph.conditions, name, f.value if on else 0.0)


def _silence(name: str) -> Setter:
    return lambda m, _, on: setattr(m.rover.silences, name, on)


def _mood(name: str) -> Setter:
    def mood(mission: Mission, fault: Happening, on: bool) -> None:
        mission.model.mood = name if on else 'right'
        mission.model.slow_s = fault.value

    return mood


def _death(*names: str) -> Setter:
    def die(mission: Mission, _: Happening, on: bool) -> None:
        for name in names:
            if not on:
                mission.restart(name)
            elif mission.processes[name].alive:
                mission.kill(name)

    return die


def _frost(name: str) -> Setter:
    def freeze(mission: Mission, _: Happening, on: bool) -> None:
        process = mission.processes[name]
        if not process.alive:
            return
        if not on:
            mission.graph.thaw(process)
            return
        mission.graph.freeze(process)
        if name == 'agent':
            mission.judge.forget_stops()

    return freeze


def _hanging(name: str) -> Setter:
    def hang(mission: Mission, _: Happening, on: bool) -> None:
        node = getattr(mission.rover, name)
        if on:
            node.hung = True
        else:
            node.resume()

    return hang


def _disk(faults_of: Callable[[float], DiskFaults]) -> Setter:
    return lambda m, f, on: setattr(m.disk, 'faults', faults_of(f.value) if on else NO_FAULTS)


def _kill_drive(mission: Mission, _: Happening, on: bool) -> None:
    if on:
        mission.graph.kill(mission.rover.processes['run_demo'])
    else:
        mission.rover.restart_drive()


def _put_rock(mission: Mission, fault: Happening, on: bool) -> None:
    pose = mission.rover.body.state().pose
    x, y = math.cos(pose.yaw) * fault.value, math.sin(pose.yaw) * fault.value
    mission.rover.obstacles = [Disc(pose.x + x, pose.y + y, ROCK_M)] if on else []


def _drive_from_outside(mission: Mission, fault: Happening, on: bool) -> None:
    mission.judge.on_foreign_call()
    message = Twist()
    message.linear.x = fault.value

    def repeat() -> None:
        if mission.judge.active['foreign twist']:
            mission.teleop_twist.publish(message)
            mission.scheduler.call_later(0.1, repeat)

    if on:
        repeat()
    else:
        mission.teleop_twist.publish(Twist())


def _call_from_outside(mission: Mission, fault: Happening, on: bool) -> None:
    if on:
        mission.judge.on_foreign_call()
        service = getattr(mission.config.topics.adapter, fault.text).name
        mission.teleop.create_client(Trigger, service).call_async(Trigger.Request())


SETTERS: dict[str, Setter] = {
    'late messages': _condition('delay_s'),
    'lost messages': _condition('loss'),
    'doubled messages': _condition('doubling'),
    'reordered messages': _condition('reordering'),
    'agent dies': _death('agent'),
    'agent freezes': _frost('agent'),
    'adapter dies': _death('adapter'),
    'adapter freezes': _frost('adapter'),
    'drive node hangs': _hanging('drive'),
    'drive node dies': _kill_drive,
    'mast node hangs': _hanging('mast'),
    'power fails': _death('agent', 'adapter'),
    'camera silent': _silence('camera'),
    'odometry silent': _silence('odometry'),
    'joints silent': _silence('joints'),
    'transforms silent': _silence('tf'),
    'wheels slip': lambda m, f, on: m.rover.body.set_slip(f.value if on else 0.0),
    'rover tilts': lambda m, f, on: setattr(m.rover, 'tilt_rad', f.value if on else 0.0),
    'rock ahead': _put_rock,
    'e-stop pressed': lambda m, f, on: m.rover.press_e_stop(on),
    'battery drained': lambda m, f, on: setattr(m.rover, 'charge', f.value if on else 1.0),
    'foreign twist': _drive_from_outside,
    'foreign call': _call_from_outside,
    'disk full': _disk(lambda _: DiskFaults(full=1.0)),
    'disk errors': _disk(lambda rate: DiskFaults(errors=rate)),
    'disk slow': _disk(lambda longest_s: DiskFaults(slow=0.3, slow_max_s=longest_s)),
    'model slow': _mood('slow'),
    'model wrong': _mood('wrong'),
    'model hostile': _mood('hostile'),
    'model gone': _mood('gone'),
}
