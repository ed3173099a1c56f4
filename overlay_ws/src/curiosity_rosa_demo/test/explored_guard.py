# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The rules before an honest rover that hangs, dies and falls silent, for state_search.

Time passes in ticks that are longer than every constant of stop.py, and the limits are multiples
of a tick: a time counts by its whole ticks, up to the last one that makes a difference. Sensors
report at a tick or not at all. Within a tick the requests, calls and answers come in any order.

Over 300 lines: the rover, what may happen to it and the rules on it read the same state.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from contextlib import suppress
import copy
from enum import Enum
from itertools import product
import math
from typing import Any

from curiosity_rosa_demo.adapter.agent_link import AgentLink, NO_TICK
from curiosity_rosa_demo.adapter.part import MAST, Mast, MAST_COMMANDS, Reading
from curiosity_rosa_demo.adapter.rules import Motion, Rules
from curiosity_rosa_demo.adapter.steps import AlarmFold, MotionRefused
from curiosity_rosa_demo.adapter.stop import Odometry, Stop
from curiosity_rosa_demo.adapter.watches import Settling
from curiosity_rosa_demo.infra.config_loader import load_config
from curiosity_rosa_demo.recording.rule_run import ReplayClock

TICK_S = 10.0
LEASH, STOP_TIMEOUT = 2, 2  # ticks; a time-out of 1.5 ticks passes at the second
_SHIPPED = load_config().thresholds
_MOTION = _SHIPPED.motion.model_copy(
    update={
        'odometry_stop_s': 0.0,
        'max_duration_s': LEASH * TICK_S,
        'stop_timeout_s': 1.5 * TICK_S,
        'settle_s': TICK_S,
        'odometry_max_age_s': TICK_S / 2,
        'heartbeat_max_age_s': TICK_S / 2,
    }
)
_MAST = _SHIPPED.mast.model_copy(
    update={
        'open_duration_s': TICK_S,
        'close_duration_s': TICK_S,
        'rotate_duration_s': TICK_S,
        'confirm_margin_s': TICK_S / 2,
        'joint_max_age_s': TICK_S / 2,
    }
)
_DRIVE = _SHIPPED.drive.model_copy(update={'stuck_s': 0.0, 'slip_limit': 0.0})
_TELEMETRY = _SHIPPED.telemetry.model_copy(update={'obstacle_stop_m': 0.0})
# Without the watches of a drive, each of which has a property of its own.
THRESHOLDS = _SHIPPED.model_copy(
    update={'motion': _MOTION, 'mast': _MAST, 'drive': _DRIVE, 'telemetry': _TELEMETRY}
)
CLOSED, OPEN, ROTATED, BETWEEN = (1.57, -1.57), (0.0, -0.5), (0.0, -6.28), (0.7, -1.0)
TARGETS = {'mast_close': CLOSED, 'mast_open': OPEN, 'mast_rotate': ROTATED}
TOO_LONG = LEASH + STOP_TIMEOUT + 1
MAX_STARTS = 2  # start calls that wait at the rover at one time

# Each time of the guard, up to that many ticks old; IGNORED has no influence on what may move.
# All others count as they are; a float that is not listed ends the search.
TIMES = {
    '_moving_since': LEASH, '_beat_at': 1, '_answered_at': 2, '_call_deadline': 0, '_recall_at': 0,
    '_still_since': 1, '_flood_since': 1, '_probe_since': 1, '_twist_at': 0, '_since': 1,
    'at': 1, '_moved_since': 1,
}  # fmt: skip
IGNORED = frozenset(
    (
        # texts and reports, and numbers that are only compared with each other: see key()
        *('last_error', 'violation', '_alarms', '_stop_failure', '_error_before', 'failure'),
        *('names', '_contest'),
        *('_runs_away', '_runs_since', '_moved_at'),
        *('_stop_number', '_asked_number', '_serial', 'stops_ended', '_stops_confirmed', '_tick'),
        '_starts',
        # shorter than a tick, all of them
        *('_flood_for', '_recall_after'),
        # these rovers show no wheels, and without them nothing settles
        '_settling',
        # these rovers have no simulated time: it is _moving_since again
        '_advanced_before',
        # never change
        *('_config', '_limits', 'time', '_time', 'inputs', 'other_drivers'),
        *('_stop_timed_out', '_timed_out', '_max_age_s', 'name', 'has_base'),
        *('commands', 'stows', 'title', '_profile'),
        # the watches of a drive are off
        *('drive', 'obstacles'),
    )
)
STATEFUL = (
    Rules, AgentLink, Mast, Stop, Settling,
)  # fmt: skip

OURS = 'curiosity_rosa_demo.adapter'


def clone(value: Any) -> Any:
    """A copy of what can change; clocks and configuration are shared."""
    twin = object.__new__(type(value))
    for name, each in vars(value).items():
        if isinstance(each, STATEFUL):
            each = clone(each)
        elif name == '_starts':
            each = dict(each)
        elif name == 'parts':
            each = {part: clone(value) for part, value in each.items()}
        twin.__dict__[name] = each
    return twin


def key_of(value: Any, now: float) -> Hashable:
    """The abstraction of a part of the guard."""
    found: list[Hashable] = []
    for name, each in vars(value).items():
        if name in IGNORED:
            continue
        if isinstance(each, STATEFUL):
            each = key_of(each, now)
        elif name == 'parts':
            each = tuple(key_of(part, now) for part in each.values())
        elif isinstance(each, Odometry):  # old odometry counts as none
            each = each.still if each.at == now else None
        elif isinstance(each, Reading):
            each = each.angles if each.at == now else 'old'
        elif name in TIMES and each not in (None, math.inf):
            age = min(now - each, 10 * TICK_S)
            each = min(TIMES[name], math.floor(age / TICK_S + 1e-6))
            if name == '_moving_since' and (value.stopping or value.motion is Motion.STILL):
                each = 0  # no leash runs
        elif isinstance(each, float) and each < math.inf:
            raise TypeError(f'{type(value).__name__}.{name} is a float that TIMES does not list')
        elif type(each).__module__.startswith(OURS) and not isinstance(each, Enum):
            raise TypeError(f'{type(each).__name__} is not in STATEFUL: its copies would be one')
        found.append(each)
    return tuple(found)


class GuardedRover:
    """One state: the guard, the rover as it really is, and what was really said to the guard."""

    def __init__(self, guard: Rules) -> None:
        self.guard = guard
        self.now = 0.0
        self.drive_calls: tuple[tuple[str, int], ...] = ()  # ('start', token), ('stop', number)
        self.drive_absent = self.driving = self.wheels = False
        self.foreign = False  # somebody else set the wheels going
        self.wheels_ticks = self.forbidden_ticks = 0
        self.mast = self.mast_target = OPEN
        self.mast_calls: tuple[tuple[str, bool], ...] = ()  # False: nobody awaits it
        self.lose_twists = self.pressed = self.other_adapter = False
        self.agents: int | None = None
        self.beat = 0
        self.heard: bool | None = None  # a beat counted in this tick; None: no agent was heard

    def forbidden(self) -> bool:
        """Whether somebody or something forbids every motion, by what was said to the guard."""
        silent = self.heard is False or (self.heard is not None and self.agents == 0)
        contested = (self.agents or 0) > 1
        return self.pressed or self.other_adapter or silent or contested


class GuardSystem:
    """``inputs_of``: the kinds of input that are possible, of ALL_INPUTS."""

    def __init__(self, allowed: Iterable[str], guard_type: type[Rules] = Rules):
        self._guard_type, self._clock = guard_type, ReplayClock()
        allowed = set(allowed)
        assert allowed <= set(ALL_INPUTS), allowed - set(ALL_INPUTS)
        self._ticks = _ticks(allowed)
        self._events = [name for name in EVENTS if name in allowed]

    def initial(self) -> GuardedRover:
        """The adapter starts; an earlier process may have left anything behind."""
        self._clock.steady_s = 0.0
        world = GuardedRover(self._new_guard())
        self._carry(world)
        return world

    def _new_guard(self) -> Rules:
        clock = self._clock
        return self._guard_type(THRESHOLDS, stop_name='/move_stop', steady=clock, ros_clock=clock)

    def _at(self, world: GuardedRover) -> None:
        """The clocks of all guards are one: each state sets it before it goes on."""
        self._clock.steady_s = world.now
        world.guard.time.read()

    def inputs(self, world: GuardedRover) -> Iterable[str]:
        for name in self._events:
            if EVENTS[name](world):
                yield name
        yield from self._ticks

    def step(self, world: GuardedRover, name: str) -> GuardedRover:
        world = copy.copy(world)
        guard = world.guard = clone(world.guard)
        guard._alarms = AlarmFold()
        latch_before = guard.agent.latch
        self._at(world)
        if name.startswith('time passes'):
            self._tick(world, name)
        else:
            self._event(world, name)
        if latch_before and not guard.agent.latch:
            lifted = 'heartbeat' in name and 'SAFE' not in name and (world.agents or 0) < 2
            assert lifted, 'SAFE was left without the agent'
        return world

    # --- time ---------------------------------------------------------------------------------

    def _tick(self, world: GuardedRover, name: str) -> None:
        guard = world.guard
        world.now += TICK_S
        self._at(world)
        if not world.drive_calls and world.driving:
            world.wheels = True  # a node that is alive repeats its Twist
        counts = world.wheels and not world.lose_twists and not world.foreign
        world.wheels_ticks = min(world.wheels_ticks + 1, TOO_LONG) if counts else 0
        for kind, token in world.drive_calls:
            if kind == 'start' and token in _in_flight(guard):
                guard.motion_failed(token, 'Service timeout: /move_forward')
        for token in sorted(_in_flight(guard)):  # its node died
            guard.motion_failed(token, 'Service timeout: /move_forward')
        for action, awaited in world.mast_calls:
            if awaited:
                guard.part_failed(MAST, f'Service timeout: /{action}')
        world.mast_calls = tuple((action, False) for action, _ in world.mast_calls)
        world.mast = world.mast_target
        if world.heard:
            world.heard = False
        if 'heartbeat' in name:
            self._heartbeat(world, 'of SAFE' in name)
        if 'odometry' in name:
            guard.odometry(None, 0.5 if world.wheels else 0.0, 0.0, None)
        if 'joints' in name:
            guard.joints(MAST, world.mast)
        self._carry(world)
        held = counts and world.wheels and (world.forbidden() or bool(guard.agent.latch))
        world.forbidden_ticks = min(world.forbidden_ticks + 1, TOO_LONG) if held else 0

    def _heartbeat(self, world: GuardedRover, safe: bool) -> None:
        world.beat += 1
        world.guard.heartbeat(world.beat, 'a reason' if safe else '')
        if (world.agents or 0) < 2:
            world.heard = True

    def _carry(self, world: GuardedRover) -> int | None:
        """What the adapter does after each call: send what is due."""
        due = world.guard.due()
        if due.stop_call is not None:
            if world.drive_absent:
                world.guard.stop_failed(due.stop_call, 'Service unavailable: /move_stop')
            else:
                calls = world.drive_calls
                # A stop right behind another does what that one does; its answer alone counts.
                if calls and calls[-1][0] == 'stop':
                    calls = calls[:-1]
                world.drive_calls = (*calls, ('stop', due.stop_call))
        if due.zero_twist and world.lose_twists:
            world.guard.twist_lost()
        elif due.zero_twist:
            self._halt(world)
        return due.stop_call

    def _halt(self, world: GuardedRover) -> None:
        world.wheels = world.foreign = False
        world.wheels_ticks = world.forbidden_ticks = 0

    # --- events -------------------------------------------------------------------------------

    def _event(self, world: GuardedRover, name: str) -> None:
        guard = world.guard
        if name == 'move':
            self._move(world)
        elif name == 'stop':
            number = guard.request_stop()
            assert self._carry(world) == number, 'a stop was not sent at once'
            return
        elif name in MAST_COMMANDS:
            self._move_mast(world, name)
        elif name == 'the rover serves a call':
            self._serve_drive(world)
        elif name == 'the mast serves a call':
            (action, awaited), *rest = world.mast_calls
            world.mast_calls, world.mast_target = tuple(rest), TARGETS[action]
            if world.mast != world.mast_target:
                world.mast = BETWEEN
            if awaited:
                guard.part_started(MAST)
        elif name == 'the rover node dies':
            world.drive_absent, world.drive_calls, world.driving = True, (), False
        elif name == 'the rover node returns':
            world.drive_absent = False
        elif name == 'zero Twists are lost':
            world.lose_twists = True
            world.wheels_ticks = world.forbidden_ticks = 0
        elif name == 'zero Twists arrive':
            world.lose_twists = False
        elif name == 'somebody else drives':
            world.wheels = world.foreign = True
        elif name == 'e-stop pressed' or name == 'e-stop released':
            world.pressed = name == 'e-stop pressed'
            guard.set_e_stop(world.pressed)
        elif name in ADAPTERS:
            world.other_adapter = ADAPTERS[name]
            guard.adapters(('/other',) if world.other_adapter else ())
        elif name in AGENTS:
            world.agents = AGENTS[name]
            guard.agents(world.agents, ['/agent', '/other'][: world.agents])
        elif name == 'the agent has left':
            world.heard = world.heard if guard.moving else None
            guard.agent_gone()
        elif name == 'an old heartbeat comes again':
            was = guard.agent._tick
            guard.heartbeat(world.beat, 'a reason')
            if was == NO_TICK and (world.agents or 0) < 2:
                world.heard = True
        elif name == 'the adapter restarts':
            world.guard = guard = self._new_guard()
            guard.set_e_stop(world.pressed)
            guard.adapters(('/other',) if world.other_adapter else ())
            world.agents, world.heard = None, None
            world.wheels_ticks = world.forbidden_ticks = 0  # each process has its own time-outs
            world.drive_calls = tuple((kind, -1) for kind, _ in world.drive_calls)
            world.mast_calls = tuple((action, False) for action, _ in world.mast_calls)
        self._carry(world)

    def _move(self, world: GuardedRover) -> None:
        try:
            world.guard.check_motion('move_forward')
            if world.drive_absent:
                return
            token = world.guard.start_motion('move_forward')
        except MotionRefused:
            return
        assert world.mast == CLOSED, 'a motion was accepted with the mast not stowed'
        assert not world.forbidden(), 'a motion was accepted that something forbids'
        assert not world.guard.agent.latch, 'a motion was accepted in SAFE'
        world.drive_calls = (*world.drive_calls, ('start', token))

    def _move_mast(self, world: GuardedRover, action: str) -> None:
        try:
            called = world.guard.start_part(MAST, action)
        except MotionRefused:
            return
        assert not world.pressed, 'the mast was moved with the e-stop pressed'
        if action != 'mast_close':
            moving = world.guard.motion is Motion.MOVING
            assert not moving, 'the mast was raised in a motion'
            assert not world.guard.agent.latch, 'the mast was raised in SAFE'
            assert not world.other_adapter, 'the mast was raised beside another adapter'
        if called:
            world.mast_calls = (*world.mast_calls, (action, True))

    def _serve_drive(self, world: GuardedRover) -> None:
        (kind, number), *rest = world.drive_calls
        world.drive_calls = tuple(rest)
        if kind == 'start':
            world.driving = world.wheels = True
            world.wheels_ticks = 0 if not world.wheels_ticks else world.wheels_ticks
            if number >= 0:
                with suppress(MotionRefused):  # a stop has overtaken it
                    world.guard.motion_started(number)
        else:
            world.driving = False
            self._halt(world)
            if number >= 0:
                world.guard.stop_answered(number)

    # --- the rules ------------------------------------------------------------------------------

    def check(self, world: GuardedRover) -> None:
        guard = world.guard
        raised = world.wheels and not world.foreign and world.mast != CLOSED
        assert not raised, 'the rover moves with its mast not stowed'
        if guard.motion is Motion.MOVING:
            known = guard.parts[MAST].is_stowed or guard.stopping
            assert known, 'a motion with the mast not known to be stowed is not stopped'
            self._at(world)
            assert guard.next_wakeup() < math.inf, 'nobody watches the motion'
        assert world.wheels_ticks <= LEASH + STOP_TIMEOUT, 'a motion outlives its leash'
        assert world.forbidden_ticks <= STOP_TIMEOUT, 'a motion outlives what forbids it'

    def is_goal(self, world: GuardedRover) -> bool:
        """The rover stands still, knows it, and may drive."""
        self._at(world)
        still = world.guard.motion is Motion.STILL and not world.wheels
        return still and world.guard.move_allowed

    def key(self, world: GuardedRover) -> Hashable:
        guard, now = world.guard, world.now
        flight = _in_flight(guard)
        unanswered = guard._starts.keys() - flight
        newest, asked = guard._stop_number, guard._asked_number
        calls = [
            (
                kind,
                number in flight,
                number in unanswered,
                number < 0,
                number == newest,
                number >= asked,
            )
            for kind, number in world.drive_calls
        ]
        queued = {number for kind, number in world.drive_calls if kind == 'start'}
        return (
            key_of(guard, now),
            (guard.agent._tick == NO_TICK, world.beat > 0),
            tuple(calls),
            bool(flight - queued),
            bool(unanswered - queued),
            (world.drive_absent, world.driving, world.wheels, world.foreign),
            (world.wheels_ticks, world.forbidden_ticks),
            (world.mast, world.mast_target, world.mast_calls),
            (world.lose_twists, world.pressed, world.other_adapter, world.agents, world.heard),
        )


ADAPTERS = {'another adapter appears': True, 'the other adapter leaves': False}
AGENTS = {'no agent lives': 0, 'one agent lives': 1, 'a second agent appears': 2}


def _in_flight(guard: Rules) -> set[int]:
    return {token for token, late in guard._starts.items() if not late}


def _starts(world: GuardedRover) -> int:
    return sum(kind == 'start' for kind, _ in world.drive_calls)


# The events, and when they are possible.
EVENTS = {
    'move': lambda world: _starts(world) < MAX_STARTS,
    'stop': lambda world: True,
    'mast_open': lambda world: not world.mast_calls,
    'mast_close': lambda world: not world.mast_calls,
    'mast_rotate': lambda world: not world.mast_calls,
    'the rover serves a call': lambda world: bool(world.drive_calls),
    'the mast serves a call': lambda world: bool(world.mast_calls),
    'the rover node dies': lambda world: not world.drive_absent,
    'the rover node returns': lambda world: world.drive_absent,
    'zero Twists are lost': lambda world: not world.lose_twists,
    'zero Twists arrive': lambda world: world.lose_twists,
    'somebody else drives': lambda world: not world.wheels,
    'e-stop pressed': lambda world: not world.pressed,
    'e-stop released': lambda world: world.pressed,
    'another adapter appears': lambda world: not world.other_adapter,
    'the other adapter leaves': lambda world: world.other_adapter,
    'no agent lives': lambda world: world.agents != 0,
    'one agent lives': lambda world: world.agents != 1,
    'a second agent appears': lambda world: world.agents != 2,
    'the agent has left': lambda world: world.heard is not None,
    'an old heartbeat comes again': lambda world: world.beat > 0,
    'the adapter restarts': lambda world: True,
}
REPORTS = ('odometry', 'joints')
HEARTBEATS = ('heartbeat', 'heartbeat of SAFE')
ALL_INPUTS = (*EVENTS, *REPORTS, *HEARTBEATS)


def _ticks(allowed: set[str]) -> list[str]:
    """Every combination of what may arrive in a tick."""
    parts = [('', name) for name in REPORTS if name in allowed]
    beats = ['', *(name for name in HEARTBEATS if name in allowed)]
    ticks = []
    for chosen in product(*parts, beats):
        arrived = ', '.join(filter(None, chosen))
        ticks.append(f'time passes: {arrived}' if arrived else 'time passes in silence')
    return ticks


REQUESTS = ('move', 'stop', 'mast_open', 'mast_close')
SERVICES = ('the rover serves a call', 'the mast serves a call')
# Each scope is explored completely; their inputs overlap.
SCOPES = {
    'motion and mast': (*REQUESTS, 'mast_rotate', *SERVICES, *REPORTS),
    'a rover that dies': (
        'move', 'stop', 'mast_close', *SERVICES, *REPORTS, 'the rover node dies',
        'the rover node returns', 'the adapter restarts',
    ),
    'Twists lost, a foreign driver': (
        'move', 'stop', 'mast_close', *SERVICES, 'odometry', 'zero Twists are lost',
        'zero Twists arrive', 'somebody else drives',
    ),
    'agent': (
        'move', 'stop', 'mast_close', *SERVICES, 'odometry', *HEARTBEATS, *AGENTS,
        'the agent has left', 'an old heartbeat comes again',
    ),
    'e-stop, other adapters': (
        *REQUESTS, *SERVICES, 'odometry', 'e-stop pressed', 'e-stop released', *ADAPTERS,
    ),
}  # fmt: skip
