# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Compute the robot's state from the readings, and detect silent sources."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
import math
from typing import Any

from curiosity_rosa_demo.agent.kernel.checkpoint import reading_problem
from curiosity_rosa_demo.domain.brain_state import (
    BatteryLevel,
    BrainState,
    Json,
    Pose,
    Reading,
    RobotState,
    RunningSkill,
    Telemetry,
    Twist,
    unstowed_part,
)
from curiosity_rosa_demo.infra.config.limits import Thresholds
from curiosity_rosa_demo.infra.obstacles import ObstacleView
import numpy as np

# --- Reduce what a laser scan shows to the numbers that the kernel needs. Pure -----------------


HALF_SECTOR_RAD = math.radians(30.0)
SECTOR_BEARINGS = {
    'ahead_m': 0.0,
    'behind_m': math.pi,
    'left_m': math.pi / 2,
    'right_m': -math.pi / 2,
}


# The free way of each motion in a reading; infra/obstacles.py names the motions.
PATH_KEYS = {'forward_m': 'move_forward', 'turn_left_m': 'turn_left', 'turn_right_m': 'turn_right'}
NO_VIEW_READING: Json = {
    'view': False,
    **dict.fromkeys((*SECTOR_BEARINGS, *PATH_KEYS)),
}


def reduce_scan(view: ObstacleView | None) -> Json:
    """The kernel's reading of a scan; None: the scan has no transform to the base frame.

    ``view``: whether the rays cross the corridor ahead. ``*_m`` are metres or None: to the nearest
    obstacle within 30 degrees of each bearing of the base frame, and the free way of each motion.
    """
    if view is None:
        return NO_VIEW_READING
    sectors = {name: _nearest(view.points, at) for name, at in SECTOR_BEARINGS.items()}
    free_m = {key: view.free_m.get(motion, math.inf) for key, motion in PATH_KEYS.items()}
    paths = {key: metres if math.isfinite(metres) else None for key, metres in free_m.items()}
    return {'view': view.sees_ahead, **sectors, **paths}


def _nearest(points: np.ndarray, bearing: float) -> float | None:
    metres = np.hypot(points[:, 0], points[:, 1])
    along = points[:, 0] * math.cos(bearing) + points[:, 1] * math.sin(bearing)
    inside = metres[along >= metres * math.cos(HALF_SECTOR_RAD)]
    return float(inside.min()) if inside.size else None


# --- The limits of the kernel's rules, from the thresholds file --------------------------------


@dataclass(frozen=True)
class KernelRules:
    """``max_age_s``: a source whose last reading is older counts as silent; a source without an
    entry never does. ``exposed_s``: the longest time that the rover may move with the mast not
    closed, equal to the time that the adapter needs to stop it. Speeds up to ``still_*`` count as
    standing still.
    """

    max_age_s: Mapping[str, float]
    obstacle_stop_m: float
    battery_low: float
    battery_charged: float
    still_mps: float
    still_radps: float
    exposed_s: float
    bright_x_m: float

    @classmethod
    def of(cls, thresholds: Thresholds) -> KernelRules:
        telemetry, motion = thresholds.telemetry, thresholds.motion
        return cls(
            max_age_s={
                'odometry': telemetry.odometry_max_age_s,
                'adapter': telemetry.adapter_max_age_s,
                'scan': telemetry.scan_max_age_s,
                'battery': telemetry.battery_max_age_s,
            },
            obstacle_stop_m=telemetry.obstacle_stop_m,
            battery_low=thresholds.battery.low,
            battery_charged=thresholds.battery.charged,
            still_mps=motion.still_speed_mps,
            still_radps=motion.still_turn_radps,
            exposed_s=motion.stop_timeout_s + motion.settle_s,
            bright_x_m=thresholds.light_model.x_good,
        )


FULL_BATTERY = 0.99
SOURCE_LABELS = {'estop': 'e-stop'}
MAX_AGE_S = 1e9
MOVING_MAST_STATES = ('opening', 'closing')


def telemetry_sync(state: BrainState, rules: KernelRules) -> BrainState:
    """Ignore invalid readings: the robot keeps the values of its last valid ones."""
    events: list[str] = []
    before, now_s = state.robot, state.telemetry.now_s
    readings, refused = _valid_readings(state.telemetry, before, events)
    ages = {source: _age(reading, now_s) for source, reading in readings.items()}
    silent = [
        source for source, age in ages.items() if age > rules.max_age_s.get(source, math.inf)
    ]
    _add_silence_events(before.silent, silent, rules, events)

    values = {source: reading.value for source, reading in readings.items()}
    pose, twist = _odometry(values.get('odometry'), before)
    adapter = values.get('adapter')
    mast = str(adapter['mast']) if adapter else before.mast
    appendages = _postures(adapter) if adapter else before.appendages
    moving = _moving(values, silent, before, rules)
    # An adapter that starts before its rover reports "moving" until it knows better. It holds the
    # rover still, so this is no observed motion.
    unconfirmed = 'odometry' not in values and mast == 'unknown'
    exposed = (
        moving
        and unstowed_part(mast, appendages) != ''
        and not unconfirmed
        and adapter is not None
        and 'adapter' not in silent
    )
    pressed = _pressed(values, before)
    if pressed != before.estop:
        events.append(f'e-stop {"pressed" if pressed else "released"}')
    update: dict[str, Any] = {
        'heard': readings,
        'refused': refused,
        'pose': pose,
        'twist': twist,
        **_battery(values.get('battery'), before.battery_state, rules),
        'resources': _resources(state.skills.running, moving=moving, mast=mast),
        'mast': mast,
        'appendages': appendages,
        'moving': moving,
        'scan_min_m': (
            _clearance(values.get('scan'), twist, rules) if 'scan' not in silent else None
        ),
        'exposed_since_s': _exposed_since(before.exposed_since_s, now_s) if exposed else None,
        'estop': pressed,
        'ages_s': ages,
        'silent': silent,
        'violation': before.violation or str((adapter or {}).get('violation', '')),
        'events': events,
    }
    return state.model_copy(update={'robot': before.model_copy(update=update)})


def _postures(adapter: Mapping[str, Any]) -> dict[str, str]:
    """By appendage; empty from an adapter that knows none."""
    found = adapter.get('appendages', {})
    return {name: str(posture) for name, posture in found.items()}


def _valid_readings(
    telemetry: Telemetry, before: RobotState, events: list[str]
) -> tuple[dict[str, Reading], list[str]]:
    """The last valid reading of each source, and the sources whose newest reading is invalid."""
    valid, refused = dict(before.heard), list(before.refused)
    for source, reading in telemetry.readings.items():
        last = valid.get(source)
        if last is not None and last.received_s == reading.received_s:
            continue
        problem = reading_problem(source, reading.value)
        if not problem:
            valid[source] = reading
            if source in refused:
                refused.remove(source)
        elif source not in refused:  # report a broken sensor once, not per reading
            refused.append(source)
            events.append(f'{_label(source)} ignored: {problem}')
    return valid, refused


def _add_silence_events(
    before: list[str], silent: list[str], rules: KernelRules, events: list[str]
) -> None:
    for source in silent:
        if source not in before:
            events.append(f'{_label(source)} fell silent after {rules.max_age_s[source]:g} s')
    events.extend(f'{_label(source)} is back' for source in before if source not in silent)


def _label(source: str) -> str:
    return SOURCE_LABELS.get(source, source)


def _age(reading: Reading, now_s: float) -> float:
    return min(max(0.0, now_s - reading.received_s), MAX_AGE_S)


def _exposed_since(before: float | None, now_s: float) -> float:
    return now_s if before is None else before


def _odometry(value: dict[str, Any] | None, before: RobotState) -> tuple[Pose, Twist]:
    if value is None:
        return before.pose, before.twist
    pose = Pose(**{key: value[key] for key in Pose.model_fields})
    return pose, Twist(linear_x=value['linear_x'], angular_z=value['angular_z'])


def _moving(
    values: dict[str, dict[str, Any]], silent: list[str], before: RobotState, rules: KernelRules
) -> bool:
    """The motion that odometry measures; without odometry, the motion that the adapter reports.

    The adapter also reports "moving" while a start call is unanswered, because the rover may begin
    to move. With odometry, such a rover counts as standing still.
    """
    if 'odometry' in values and 'odometry' not in silent:
        speed, turn = values['odometry']['linear_x'], values['odometry']['angular_z']
        return abs(speed) > rules.still_mps or abs(turn) > rules.still_radps
    if 'adapter' in values and 'adapter' not in silent:
        return bool(values['adapter']['moving'])
    return before.moving


def _pressed(values: dict[str, dict[str, Any]], before: RobotState) -> bool:
    """Whether the agent or the adapter last saw the e-stop pressed."""
    if 'estop' not in values and 'e_stop' not in values.get('adapter', {}):
        return before.estop
    own = values.get('estop', {}).get('pressed', False)
    return bool(own or values.get('adapter', {}).get('e_stop', False))


def _clearance(scan: dict[str, Any] | None, twist: Twist, rules: KernelRules) -> float | None:
    """Free metres in the direction of motion: straight ahead, along an arc, or to what lies
    behind. None without an obstacle there and without a view.
    """
    # A reading in a state that an earlier version stored has no view.
    if scan is None or not scan.get('view'):
        return None
    if twist.linear_x < 0.0:
        metres = scan['behind_m']
    elif abs(twist.angular_z) <= rules.still_radps:
        metres = scan['forward_m']
    else:
        metres = scan['turn_left_m' if twist.angular_z > 0.0 else 'turn_right_m']
    return None if metres is None else float(metres)


def _battery(
    value: dict[str, Any] | None, before: BatteryLevel, rules: KernelRules
) -> dict[str, Any]:
    if value is None:
        return {}
    fraction = float(value['fraction'])
    bound = rules.battery_charged if before is BatteryLevel.LOW else None
    if fraction <= rules.battery_low or (bound is not None and fraction < bound):
        level = BatteryLevel.LOW
    else:
        level = BatteryLevel.FULL if fraction >= FULL_BATTERY else BatteryLevel.OK
    return {'battery_pct': 100.0 * fraction, 'battery_state': level}


def _resources(running: list[RunningSkill], *, moving: bool, mast: str) -> dict[str, bool]:
    """A resource is busy if a skill occupies it, or if it is seen in motion."""
    taken = {resource for skill in running for resource in skill.resources_occupied}
    return {
        'base_busy': moving or 'base' in taken,
        'mast_busy': mast in MOVING_MAST_STATES or 'mast' in taken,
        'camera_busy': 'camera' in taken,
    }
