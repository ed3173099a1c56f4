# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The rover of guard_world.py in random histories, watched by the independent monitor, and mutants
of the guard for the monitor to find.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
import random
from typing import Any

from curiosity_rosa_demo.adapter.part import MAST, MAST_COMMANDS
from curiosity_rosa_demo.adapter.rules import Motion, Rules
from curiosity_rosa_demo.adapter.steps import Due
from curiosity_rosa_demo.domain.adapter_status import encode_heartbeat
from curiosity_rosa_demo.domain.models import STOP_NOT_CONFIRMED
from curiosity_rosa_demo.infra.config.robot import RobotProfile
from curiosity_rosa_demo.infra.config_loader import load_config
from curiosity_rosa_demo.monitor.monitor import limits_of, load_requirements, Monitor, Verdict
from curiosity_rosa_demo.monitor.signals import SignalState
from guard_world import CONFIG, FAULTS, STEP_S, WHEEL_RADIUS_M, World
from nav_msgs.msg import Odometry
from std_msgs.msg import String

FOREIGN_CALL_S = 2.5  # after which the trace tells of a call that was not the agent's
LIMITS = limits_of(CONFIG)
Guard = Callable[[World], Rules]
Event = Callable[['Watched'], Any]


def sound(world: World) -> Rules:
    return world.new_guard()


@dataclass
class Watched:
    """One rover, its guard and the monitor, which sees what topics would show and no more."""

    make_guard: Guard = sound
    world: World = field(default_factory=World)
    steps: int = 0
    found: list[Verdict] = field(default_factory=list)
    disagreements: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.world.guard = self.make_guard(self.world)
        ruled = [each for each in load_requirements() if each.formula]
        self.monitor = Monitor(ruled, LIMITS)
        robot = RobotProfile(appendages=self.world.appendages)
        self.signals = SignalState(
            load_config().model_copy(update={'thresholds': CONFIG, 'robot': robot})
        )
        self._odometry = Odometry()
        self.signals.node_started('adapter')
        self._calls = {'/adapter/move_forward': 0, '/adapter/move_stop': 0}
        self._foreign: list[tuple[float, str]] = []
        self._others = False
        self._excused_until = 0.0

    # --- what happens -----------------------------------------------------------------------

    def ask(self, request: str) -> None:
        if request == 'stop':
            self._count('/adapter/move_stop')
            self.world.ask_stop()
        elif request == 'move':
            self._count('/adapter/move_forward')
            self.world.ask_move()
        else:
            self.world.ask_mast(request)

    def _count(self, service: str) -> None:
        if self.world.agent_lives:
            self._calls[service] += 1
        else:
            name = service.rpartition('/')[2]
            self._foreign.append((self.world.now + FOREIGN_CALL_S, name))

    def happen(self, fault: str) -> None:
        world = self.world
        if fault == 'agent clears SAFE' and world.pressed_at is not None:
            return  # a kernel does not clear SAFE while its cause lasts
        if fault in ('a second agent appears', 'the agent is alone'):
            self._others = fault == 'a second agent appears'
        FAULTS[fault](world)
        if fault == 'agent leaves' and not world.guard.moving:
            self.signals.publishers(world.now, heartbeats=0, foreign_drivers=0)

    def restart_adapter(self) -> None:
        self.signals.node_started('adapter')
        self.world.restart_adapter(self.make_guard(self.world))

    def somebody_drives(self) -> None:
        """Another node calls the rover's own /move_forward."""
        if self.world.mast_closed and not self.world.drive.absent:
            self.world.driving = not self.world.drive.hanging

    def run(self, seconds: float) -> None:
        for _ in range(max(1, round(seconds / STEP_S))):
            if self.world.pressed_at is not None and self.world.agent_lives:
                self.world.latch = self.world.latch or 'e-stop pressed'
            self.world.step()
            self.steps += 1
            self._show()

    # --- what topics show -------------------------------------------------------------------

    def _show(self) -> None:
        world, guard, signals, now = self.world, self.world.guard, self.signals, self.world.now
        if world.odometry_on:
            self._odometry.twist.twist.linear.x = max(world.wheels, world.sag)
            signals.odometry(now, self._odometry)
        if world.wheels_shown:
            signals.wheels(now, world.wheels / WHEEL_RADIUS_M)
        if world.joints_on:
            signals.part(now, MAST, world.mast)
            for name, angles in world.angles.items():
                signals.part(now, name, angles)
        if world.agent_lives:
            beat = encode_heartbeat(self.steps, world.latch, self._calls)
            signals.heartbeat(now, String(data=beat))
        signals.e_stop(now, world.pressed_at is not None)
        signals.publishers(now, heartbeats=2 if self._others else 1, foreign_drivers=0)
        signals.status(
            now,
            {'mast': world.mast_part.state, 'moving': guard.moving, 'violation': guard.violation,
             'agent_safe_reason': guard.agent.latch,
             'appendages': {name: guard.parts[name].state for name in world.appendages}},
        )  # fmt: skip
        for due in [each for each in self._foreign if each[0] <= now]:
            self._foreign.remove(due)
            signals.asked(due[1], by_agent=False)
        verdicts = self.monitor.step(now, signals.at(now))
        self.found += [each for each in verdicts if not each.ok]
        self._compare(now, [each for each in verdicts if not each.ok])

    def _compare(self, now: float, violations: list[Verdict]) -> None:
        """The guard knows a motion that it cannot end, and says so; the monitor must find no
        other violation, and this one. A stop that nothing confirms the guard tells its caller.
        """
        if self.world.guard.violation:
            self._excused_until = now + LIMITS['runaway_s']
        for verdict in violations:
            told = verdict.requirement == 'FR-04' and self._is_stop_unconfirmed()
            if now > self._excused_until and not told and not self._is_being_ended():
                self.disagreements.append(f'{verdict.requirement} at {verdict.at_s:.2f} s')
        held = self.world.guard.violation and any(
            each.id == 'FR-14' for each in self.monitor.violated
        )
        self._silent_s = 0.0 if held or not self.world.guard.violation else self._silent_s + STEP_S
        if self._silent_s > 1.0:
            self.disagreements.append(f'FR-14 not found at {now:.2f} s')

    _silent_s = 0.0

    def _is_stop_unconfirmed(self) -> bool:
        """Whether the guard goes on stopping the rover, and nothing confirms the standstill."""
        guard = self.world.guard
        return guard.stopping and STOP_NOT_CONFIRMED in guard.end_stop(guard.stops_ended + 1)

    def _is_being_ended(self) -> bool:
        """Whether a driver repeats its Twist against the guard's zero Twists."""
        return self.world.driving and self.world.drive.absent and self.world.guard.stopping


REQUESTS = ['move', 'move', 'stop', *MAST_COMMANDS]


def begin_to_drive(watched: Watched, agent: str = 'agent speaks', *, moves: bool = True) -> None:
    """What a careful operator does, once everything works again."""
    for fault in ('drive recovers', 'drive returns', 'masts recover', 'odometry back'):
        watched.happen(fault)
    watched.happen('joints back')
    watched.happen('no Twist is lost')
    watched.run(1.5)
    watched.ask('stop')
    watched.run(1.5)
    for event in ('e-stop released', 'the agent is alone', agent):
        watched.happen(event)
    watched.run(0.2)
    watched.happen('agent clears SAFE')
    watched.run(0.2)
    watched.ask('mast_close')
    watched.run(2.5)
    if moves:
        watched.ask('move')


def drive(watched: Watched, rng: random.Random, steps: int) -> None:
    """A random history of at least this many steps: faults, requests, and careful operators."""
    while watched.steps < steps:
        way = rng.random()
        if way < 0.45:
            begin_to_drive(
                watched,
                rng.choice(['agent speaks', 'agent speaks', 'agent leaves']),
                moves=rng.random() < 0.8,
            )
            watched.run(rng.choice([0.05, 0.4, 3.0]))
        elif way < 0.5:
            watched.restart_adapter()
            watched.run(0.5)
        else:
            watched.happen(rng.choice(sorted(FAULTS)))
            for request in rng.sample(REQUESTS, rng.randrange(3)):
                watched.ask(request)
            watched.run(rng.choice([0.05, 0.1, 0.3, 1.0, 2.5, 7.0, 40.0]))


# --- mutants --------------------------------------------------------------------------------


def mutant(**changes: Any) -> Guard:
    """A guard with other methods."""

    def make(world: World) -> Rules:
        return world.new_guard(type('Mutant', (Rules,), changes))

    return make


def configured(**values: Any) -> Guard:
    """A guard that has other numbers than the monitor."""
    return lambda world: world.new_guard(**values)


def _any_mast(guard: Rules, *args: Any, **kwargs: Any) -> None:
    Rules.__init__(guard, *args, **kwargs)
    vars(guard.parts[MAST])['drive_refusal'] = lambda: ''


def _without_stops(guard: Rules) -> Due:
    """It loses stops once the rover may drive."""
    due = Rules.due(guard)
    return Due() if guard.parts[MAST].is_stowed else due


def _starts_still(guard: Rules, *args: Any, **kwargs: Any) -> None:
    """It believes that its first stop was done."""
    Rules.__init__(guard, *args, **kwargs)
    guard.due()
    guard.stop_answered(1)
    guard.due()


def _without_unasked(guard: Rules, *odometry: Any) -> None:
    if guard.stopping or guard.motion is Motion.MOVING:
        Rules.odometry(guard, *odometry)


def _stops_late(guard: Rules) -> Due:
    """A stop waits until a queue of ten seconds has been worked off."""
    due = Rules.due(guard)
    waits = vars(guard).setdefault('waits', [0])
    if not guard.stopping or not guard.parts[MAST].is_stowed:
        waits[0] = 0
        return due
    waits[0] += 1
    return due if waits[0] > 200 else Due()


def _deaf_to(*names: str) -> Guard:
    return mutant(**{name: lambda guard, *_: None for name in names})


def happens(fault: str) -> Event:
    return lambda watched: watched.happen(fault)


def asks(*requests: str) -> Event:
    def ask(watched: Watched) -> None:
        for request in requests:
            watched.ask(request)
            watched.run(2.5)

    return ask


def mast_rises_by_itself(watched: Watched) -> None:
    watched.world.mast = watched.world.mast_target = (0.0, -0.5)


def moves_unasked(watched: Watched) -> None:
    watched.ask('stop')
    watched.run(45.0)
    watched.somebody_drives()


def driver_dies(watched: Watched) -> None:
    watched.happen('drive vanishes')
    watched.world.wheels = 0.5  # they keep the last Twist
    watched.ask('stop')


# name: (guard, what shows the fault while the rover drives, requirements of which one is found)
MUTANTS: dict[str, tuple[Guard, Event, set[str]]] = {
    'stops are not sent': (mutant(due=_without_stops), asks('stop'), {'S3'}),
    'the leash is ignored': (
        configured(max_duration_s=3600.0), lambda watched: watched.run(40.0), {'S2'}),
    'a motion begins with the mast up': (
        mutant(__init__=_any_mast), asks('stop', 'mast_open', 'move'), {'S1'}),
    'the e-stop is ignored': (
        _deaf_to('set_e_stop', 'heartbeat'), happens('e-stop pressed'), {'FR-09'}),
    'the silence of the agent is ignored': (
        configured(heartbeat_max_age_s=3600.0), happens('agent freezes'), {'FR-08'}),
    'a second agent is ignored': (
        _deaf_to('agents'), happens('a second agent appears'), {'FR-12'}),
    'SAFE is ignored': (
        mutant(heartbeat=lambda guard, tick, latch: Rules.heartbeat(
            guard, tick, '')), happens('agent enters SAFE'), {'S4'}),
    'joint states are ignored': (
        _deaf_to('joints'), mast_rises_by_itself, {'S1', 'FR-18'}),
    'an unasked motion goes on': (
        mutant(odometry=_without_unasked), moves_unasked, {'FR-11', 'S3'}),
    'a rover that was left driving is not stopped': (
        mutant(__init__=_starts_still, odometry=_without_unasked),
        Watched.restart_adapter, {'S5'}),
    'a stop is queued': (mutant(due=_stops_late), asks('stop'), {'S3'}),
    'zero Twists are not sent': (
        mutant(due=lambda guard: Due(Rules.due(guard).stop_call)),
        driver_dies, {'S3'}),
}  # fmt: skip


def hunt(name: str) -> tuple[Verdict | None, float]:
    """The first of the wanted violations of a driving rover with this mutant, None if there is
    none; and the seconds from the event to the verdict.
    """
    guard, event, wanted = MUTANTS[name]
    watched = Watched(guard)
    begin_to_drive(watched)
    watched.run(1.0)
    began_s, before = watched.world.now, len(watched.found)
    event(watched)
    watched.run(7.0)
    for verdict in watched.found[before:]:
        if verdict.requirement in wanted:
            return verdict, verdict.at_s - began_s
    return None, 0.0
