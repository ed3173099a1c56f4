# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Two steps of a tick: the robot's state from the readings, and the world as a person sees it.

A reading that is not usable changes nothing: the robot keeps the values of the last usable one.
"""

from __future__ import annotations

from collections.abc import Mapping
import math
from typing import Annotated, get_args, Literal, TypeVar

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
    WorldState,
)
from curiosity_rosa_demo.infra.config.limits import Thresholds
from curiosity_rosa_demo.infra.obstacles import ObstacleView
import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

# --- What each source reports -------------------------------------------------------------------

FAR_M = 1e6  # metres, and metres or radians per second: larger values are invalid
MAX_UNIT_COMPONENT = 1.01  # a component of a unit quaternion, with a margin for rounding

Far = Annotated[float, Field(ge=-FAR_M, le=FAR_M)]
UnitComponent = Annotated[float, Field(ge=-MAX_UNIT_COMPONENT, le=MAX_UNIT_COMPONENT)]
FreeMetres = Annotated[float, Field(ge=0.0, le=FAR_M)] | None
MastState = Literal['closed', 'opening', 'open', 'closing', 'unknown', 'none']
MAST_STATES: tuple[str, ...] = get_args(MastState)


class _Values(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True, allow_inf_nan=False)


class Odometry(_Values):
    x: Far
    y: Far
    z: Far
    orientation_z: UnitComponent
    orientation_w: UnitComponent
    linear_x: Far
    angular_z: Far


class Battery(_Values):
    fraction: Annotated[float, Field(ge=0.0, le=1.0)]


class Adapter(_Values):
    """``appendages``: their postures by name. ``violation`` of a safety rule; '' without one."""

    mast: MastState
    moving: bool
    appendages: dict[str, str] = {}
    e_stop: bool | None = None
    violation: str = ''


class Scan(_Values):
    """``view``: whether the rays cross the corridor ahead. Metres or None: to the nearest obstacle
    within 30 degrees of each bearing of the base frame, and the free way of each motion.
    """

    view: bool
    ahead_m: FreeMetres
    behind_m: FreeMetres
    left_m: FreeMetres
    right_m: FreeMetres
    forward_m: FreeMetres
    turn_left_m: FreeMetres
    turn_right_m: FreeMetres


class Estop(_Values):
    pressed: bool


SOURCES: dict[str, type[_Values]] = {
    kind.__name__.lower(): kind for kind in (Odometry, Battery, Adapter, Scan, Estop)
}
V = TypeVar('V', bound=_Values)


def reading_problem(source: str, value: object) -> str:
    """The reason why the reading is invalid; empty if it is valid."""
    if source not in SOURCES:
        return f'there is no such source; the sources are {", ".join(SOURCES)}'
    try:
        SOURCES[source].model_validate(value)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        given = first['input']
        shown = f' is {given!r:.20}' if given is None or isinstance(given, (float, str)) else ''
        name, why = '.'.join(map(str, first['loc'])) or 'it', first['msg']
        return f'{name}{shown}: {why[0].lower()}{why[1:]}'
    return ''


def _heard(kind: type[V], readings: Mapping[str, Reading]) -> V | None:
    reading = readings.get(kind.__name__.lower())
    return None if reading is None else kind.model_validate(reading.value)


# --- The scan, reduced to a reading -------------------------------------------------------------

HALF_SECTOR_RAD = math.radians(30.0)
SECTOR_BEARINGS = {
    'ahead_m': 0.0,
    'behind_m': math.pi,
    'left_m': math.pi / 2,
    'right_m': -math.pi / 2,
}
# The free way of each motion in a reading; infra/obstacles.py names the motions.
PATHS = {'forward_m': 'move_forward', 'turn_left_m': 'turn_left', 'turn_right_m': 'turn_right'}


def reduce_scan(view: ObstacleView | None) -> Json:
    """The values of a Scan; None: the scan has no transform to the base frame."""
    if view is None:
        return {'view': False, **dict.fromkeys((*SECTOR_BEARINGS, *PATHS))}
    sectors = {name: _nearest(view.points, at) for name, at in SECTOR_BEARINGS.items()}
    free_m = {key: view.free_m.get(motion, math.inf) for key, motion in PATHS.items()}
    paths = {key: metres if math.isfinite(metres) else None for key, metres in free_m.items()}
    return {'view': view.sees_ahead, **sectors, **paths}


def _nearest(points: np.ndarray, bearing: float) -> float | None:
    metres = np.hypot(points[:, 0], points[:, 1])
    along = points[:, 0] * math.cos(bearing) + points[:, 1] * math.sin(bearing)
    inside = metres[along >= metres * math.cos(HALF_SECTOR_RAD)]
    return float(inside.min()) if inside.size else None


# --- The robot ----------------------------------------------------------------------------------

FULL_BATTERY = 0.99
SOURCE_LABELS = {'estop': 'e-stop'}
E_STOP_CAUSE = 'e-stop pressed'  # of SAFE
MAX_AGE_S = 1e9
MOVING_MAST_STATES = ('opening', 'closing')


def telemetry_sync(state: BrainState, rules: Thresholds) -> BrainState:
    before, now_s = state.robot, state.telemetry.now_s
    readings, refused, events = _usable_readings(state.telemetry, before)
    ages = {
        source: min(max(0.0, now_s - reading.received_s), MAX_AGE_S)
        for source, reading in readings.items()
    }
    max_age_s = _max_age_s(rules)
    silent = [source for source, age in ages.items() if age > max_age_s.get(source, math.inf)]
    events += [
        f'{_label(source)} fell silent after {max_age_s[source]:g} s'
        for source in silent
        if source not in before.silent
    ]
    events += [f'{_label(source)} is back' for source in before.silent if source not in silent]

    heard = {source: reading for source, reading in readings.items() if source not in silent}
    odometry, scan = _heard(Odometry, readings), _heard(Scan, heard)
    battery, adapter = _heard(Battery, readings), _heard(Adapter, readings)
    mast = adapter.mast if adapter else before.mast
    appendages = adapter.appendages if adapter else before.appendages
    moving = _moving(_heard(Odometry, heard), _heard(Adapter, heard), before, rules)
    # An adapter that starts before its rover reports "moving" until it knows better. It holds the
    # rover still, so this is no observed motion.
    unconfirmed = odometry is None and mast == 'unknown'
    exposed = (
        moving and unstowed_part(mast, appendages) != '' and not unconfirmed and 'adapter' in heard
    )
    exposed_since_s = now_s if before.exposed_since_s is None else before.exposed_since_s
    pressed = _pressed(_heard(Estop, readings), adapter, before)
    if pressed != before.estop:
        events.append(f'e-stop {"pressed" if pressed else "released"}')
    update: dict[str, object] = {
        'heard': readings,
        'refused': refused,
        'resources': _resources(state.skills.running, moving=moving, mast=mast),
        'mast': mast,
        'appendages': appendages,
        'moving': moving,
        'scan_min_m': _clearance(scan, odometry or before.twist, rules),
        'exposed_since_s': exposed_since_s if exposed else None,
        'estop': pressed,
        'ages_s': ages,
        'silent': silent,
        'violation': before.violation or (adapter.violation if adapter else ''),
        'events': events,
    }
    if odometry is not None:
        values = odometry.model_dump()
        update['pose'] = Pose(**{key: values[key] for key in Pose.model_fields})
        update['twist'] = Twist(linear_x=odometry.linear_x, angular_z=odometry.angular_z)
    if battery is not None:
        update['battery_pct'] = 100.0 * battery.fraction
        update['battery_state'] = _battery_level(battery.fraction, before.battery_state, rules)
    return state.model_copy(update={'robot': before.model_copy(update=update)})


def _max_age_s(rules: Thresholds) -> dict[str, float]:
    """By source; one without an entry never falls silent."""
    return {
        'odometry': rules.telemetry.odometry_max_age_s,
        'adapter': rules.telemetry.adapter_max_age_s,
        'scan': rules.telemetry.scan_max_age_s,
        'battery': rules.telemetry.battery_max_age_s,
    }


def _usable_readings(
    telemetry: Telemetry, before: RobotState
) -> tuple[dict[str, Reading], list[str], list[str]]:
    """The last valid reading of each source, the sources whose newest reading is invalid, and the
    events of those that became so: a broken sensor is reported once, not per reading.
    """
    valid, refused, events = dict(before.heard), list(before.refused), list[str]()
    for source, reading in telemetry.readings.items():
        last = valid.get(source)
        if reading == last:
            continue
        problem = reading_problem(source, reading.value)
        if not problem:
            valid[source] = reading
            refused = [each for each in refused if each != source]
        elif source not in refused:
            refused.append(source)
            events.append(f'{_label(source)} ignored: {problem}')
    return valid, refused, events


def _label(source: str) -> str:
    return SOURCE_LABELS.get(source, source)


def _moving(
    odometry: Odometry | None, adapter: Adapter | None, before: RobotState, rules: Thresholds
) -> bool:
    """The motion that odometry measures; without odometry, the motion that the adapter reports.

    The adapter also reports "moving" while a start call is unanswered, because the rover may begin
    to move. With odometry, such a rover counts as standing still.
    """
    if odometry is not None:
        return (
            abs(odometry.linear_x) > rules.motion.still_speed_mps
            or abs(odometry.angular_z) > rules.motion.still_turn_radps
        )
    return before.moving if adapter is None else adapter.moving


def _pressed(estop: Estop | None, adapter: Adapter | None, before: RobotState) -> bool:
    """Whether the agent or the adapter last saw the e-stop pressed."""
    by_adapter = None if adapter is None else adapter.e_stop
    if estop is None and by_adapter is None:
        return before.estop
    return bool(by_adapter or (estop is not None and estop.pressed))


def _clearance(scan: Scan | None, motion: Odometry | Twist, rules: Thresholds) -> float | None:
    """Free metres in the direction of motion: straight ahead, along an arc, or to what lies
    behind. None without an obstacle there and without a view.
    """
    if scan is None or not scan.view:
        return None
    if motion.linear_x < 0.0:
        return scan.behind_m
    if abs(motion.angular_z) <= rules.motion.still_turn_radps:
        return scan.forward_m
    return scan.turn_left_m if motion.angular_z > 0.0 else scan.turn_right_m


def _battery_level(fraction: float, before: BatteryLevel, rules: Thresholds) -> BatteryLevel:
    """LOW stays until the battery is charged."""
    was_low = before is BatteryLevel.LOW
    if fraction <= rules.battery.low or (was_low and fraction < rules.battery.charged):
        return BatteryLevel.LOW
    return BatteryLevel.FULL if fraction >= FULL_BATTERY else BatteryLevel.OK


def _resources(running: list[RunningSkill], *, moving: bool, mast: str) -> dict[str, bool]:
    """A resource is busy if a skill occupies it, or if it is seen in motion."""
    taken = {resource for skill in running for resource in skill.resources_occupied}
    return {
        'base_busy': moving or 'base' in taken,
        'mast_busy': mast in MOVING_MAST_STATES or 'mast' in taken,
        'camera_busy': 'camera' in taken,
    }


# --- The world ----------------------------------------------------------------------------------
# Zone ``bright``: X of the base is at least ``light_model.x_good``, where the score is 1.0. The
# zone marker in the visualisation does not count. Zone ``base``: within 1 m of the origin of the
# world frame. While odometry is silent the rover is in no zone.

BASE_RADIUS_M = 1.0


def world_update(state: BrainState, rules: Thresholds) -> BrainState:
    robot, bright_x_m = state.robot, rules.light_model.x_good
    zones = []
    if is_live(robot, 'odometry'):
        is_at_base = math.hypot(robot.pose.x, robot.pose.y) <= BASE_RADIUS_M
        zones += ['bright'] * (robot.pose.x >= bright_x_m) + ['base'] * is_at_base
    world = WorldState(
        summary=_world_summary(robot, zones), zones=zones, obstacles=_obstacles(robot)
    )
    distance = max(0.0, bright_x_m - robot.pose.x)
    robot = robot.model_copy(update={'distance_to_target': distance})
    return state.model_copy(update={'world': world, 'robot': robot})


def view_problem(robot: RobotState) -> str:
    """Says that the scan arrives but shows nothing of the rover's way; empty: it does, or there is
    no scan.
    """
    if not is_live(robot, 'scan') or robot.heard['scan'].value.get('view'):
        return ''
    stowed = is_live(robot, 'adapter') and robot.mast == 'closed'
    return 'no view ahead while stowed' if stowed else 'no view ahead'


def is_live(robot: RobotState, source: str) -> bool:
    return source in robot.ages_s and source not in robot.silent


def _obstacles(robot: RobotState) -> list[Json]:
    """The nearest return of each direction, sorted by distance. Empty without a live scan."""
    if not is_live(robot, 'scan'):
        return []
    scan = robot.heard['scan'].value
    nearest_first = sorted(
        (metres, bearing)
        for name, bearing in SECTOR_BEARINGS.items()
        if (metres := scan[name]) is not None
    )
    return [{'distance_m': metres, 'bearing_rad': bearing} for metres, bearing in nearest_first]


def _world_summary(robot: RobotState, zones: list[str]) -> str:
    parts = [_place_text(robot)]
    if is_live(robot, 'odometry') or is_live(robot, 'adapter'):
        parts.append('moving' if robot.moving else 'standing still')
    else:
        parts.append('motion unknown')
    if robot.mast != 'none':
        parts.append(f'mast {robot.mast}' if is_live(robot, 'adapter') else 'mast unknown')
    parts += [f'{name} {posture}' for name, posture in robot.appendages.items()]
    is_known = robot.battery_state is not BatteryLevel.UNKNOWN
    parts.append(f'battery {robot.battery_pct:.0f} %' if is_known else 'battery unknown')
    if robot.scan_min_m is not None:
        parts.append(f'nearest return in its way {robot.scan_min_m:.1f} m')
    if no_view := view_problem(robot):
        parts.append(no_view)
    parts += [f'in zone {zone}' for zone in zones]
    if robot.estop:
        parts.append('e-stop pressed')
    if robot.silent:
        parts.append(f'silent: {", ".join(robot.silent)}')
    return '; '.join(parts)


def _place_text(robot: RobotState) -> str:
    if 'odometry' not in robot.ages_s:
        return 'place unknown'
    pose = robot.pose
    word = 'last seen at' if 'odometry' in robot.silent else 'at'
    # Adding 0.0 turns a rounded -0.0 into 0.0.
    x, y = round(pose.x, 1) + 0.0, round(pose.y, 1) + 0.0
    return f'{word} x {x:.1f} m, y {y:.1f} m, heading {round(math.degrees(pose.yaw_rad))} deg'
