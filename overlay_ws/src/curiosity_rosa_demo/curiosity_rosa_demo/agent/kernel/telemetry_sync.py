# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""From what the sources said to what is known of the robot, and which source is silent."""

from __future__ import annotations

import math
from typing import Any

from curiosity_rosa_demo.agent.kernel.limits import KernelRules
from curiosity_rosa_demo.agent.kernel.validation import reading_problem
from curiosity_rosa_demo.domain.brain_state import (
    BatteryLevel,
    BrainState,
    Pose,
    Reading,
    RobotState,
    RunningSkill,
    Telemetry,
    Twist,
)

FULL_BATTERY = 0.99
SOURCE_LABELS = {'estop': 'e-stop'}
MAX_AGE_S = 1e9
MOVING_MAST_STATES = ('opening', 'closing')


def telemetry_sync(state: BrainState, rules: KernelRules) -> BrainState:
    """A reading that cannot be used counts as nothing heard; the robot keeps its last values."""
    events: list[str] = []
    before, now_s = state.robot, state.telemetry.now_s
    heard, refused = _received(state.telemetry, before, events)
    ages = {source: _age(reading, now_s) for source, reading in heard.items()}
    silent = [
        source for source, age in ages.items() if age > rules.max_age_s.get(source, math.inf)
    ]
    _add_silence_events(before.silent, silent, rules, events)

    known = {source: reading.value for source, reading in heard.items()}
    pose, twist = _odometry(known.get('odometry'), before)
    adapter = known.get('adapter')
    mast = str(adapter['mast']) if adapter else before.mast
    moving = _moving(known, silent, before, rules)
    # An adapter that starts before its rover calls it moving, since nobody knows better: it holds
    # it still, and that is no motion that was seen.
    doubt = 'odometry' not in known and mast == 'unknown'
    exposed = (
        moving
        and mast != 'closed'
        and not doubt
        and adapter is not None
        and 'adapter' not in silent
    )
    pressed = bool(known['estop']['pressed']) if 'estop' in known else before.estop
    if pressed != before.estop:
        events.append(f'e-stop {"pressed" if pressed else "released"}')
    update: dict[str, Any] = {
        'heard': heard,
        'refused': refused,
        'pose': pose,
        'twist': twist,
        **_battery(known.get('battery'), before.battery_state, rules),
        'resources': _resources(state.skills.running, moving=moving, mast=mast),
        'mast': mast,
        'moving': moving,
        'scan_min_m': _clearance(known.get('scan'), twist) if 'scan' not in silent else None,
        'exposed_since_s': _exposed_since(before.exposed_since_s, now_s) if exposed else None,
        'estop': pressed,
        'ages_s': ages,
        'silent': silent,
        'events': events,
    }
    return state.model_copy(update={'robot': before.model_copy(update=update)})


def _received(
    telemetry: Telemetry, before: RobotState, events: list[str]
) -> tuple[dict[str, Reading], list[str]]:
    """What can be used of all that was heard, and the sources whose newest reading cannot."""
    heard, refused = dict(before.heard), list(before.refused)
    for source, reading in telemetry.readings.items():
        last = heard.get(source)
        if last is not None and last.received_s == reading.received_s:
            continue
        why = reading_problem(source, reading.value)
        if not why:
            heard[source] = reading
            if source in refused:
                refused.remove(source)
        elif source not in refused:  # said once, not with every reading of a broken sensor
            refused.append(source)
            events.append(f'{_label(source)} ignored: {why}')
    return heard, refused


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
    known: dict[str, dict[str, Any]], silent: list[str], before: RobotState, rules: KernelRules
) -> bool:
    """As odometry measures it; without odometry, as the adapter says.

    The adapter counts as moving also what may begin to move, so it alone would make a rover that
    stands still look like one that runs, for as long as a start call is not answered.
    """
    if 'odometry' in known and 'odometry' not in silent:
        speed, turn = known['odometry']['linear_x'], known['odometry']['angular_z']
        return abs(speed) > rules.still_mps or abs(turn) > rules.still_radps
    if 'adapter' in known and 'adapter' not in silent:
        return bool(known['adapter']['moving'])
    return before.moving


def _clearance(scan: dict[str, Any] | None, twist: Twist) -> float | None:
    """Metres to the nearest return in the direction of motion."""
    if scan is None:
        return None
    metres = scan['ahead_m' if twist.linear_x >= 0.0 else 'behind_m']
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
    """What is in use: by a skill, or seen in motion."""
    taken = {resource for skill in running for resource in skill.resources_occupied}
    return {
        'base_busy': moving or 'base' in taken,
        'mast_busy': mast in MOVING_MAST_STATES or 'mast' in taken,
        'camera_busy': 'camera' in taken,
    }
