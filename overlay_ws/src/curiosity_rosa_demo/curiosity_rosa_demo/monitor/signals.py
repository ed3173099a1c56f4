# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The signals of the formulas, from what the topics have shown. Pure; times are seconds of any
clock that does not go back.

Each signal is true or false at any time; what no message has shown yet is false. The order of
SIGNALS is that of the bits on the signals topic: append only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
import math
from typing import Any

from curiosity_rosa_demo.domain.adapter_status import decode_heartbeat
from curiosity_rosa_demo.domain.brain_state import STOWED_MAST
from curiosity_rosa_demo.domain.serde import read_object
from curiosity_rosa_demo.domain.skills import MOTIONS
from curiosity_rosa_demo.infra.config.topics import Config
from curiosity_rosa_demo.infra.wheel_speed import WheelSpeed
from curiosity_rosa_demo.trace.events import NodeStarted
from curiosity_rosa_demo.trace.trace_codec import decode

SIGNALS = {
    'moving': 'odometry shows a motion, other than a body that settles on standing wheels',
    'straight': 'odometry shows a motion forward without a turn',
    'odometry_stale': 'odometry was heard and is silent for longer than motion.odometry_max_age_s',
    'outside': 'the rover is outside the geofence',
    'tilted': 'roll or pitch is above the limit of tilt',
    'mast_up': 'the joints, or without them the adapter, show a mast that is not stowed',
    'claims_closed': 'the adapter says that the mast is closed',
    'claims_moving': 'the adapter says that the rover moves',
    'violation': 'the adapter reports a motion that it cannot end',
    'adapter_alive': 'the status of the adapter is fresh',
    'obstacle': 'less free way ahead than telemetry.obstacle_stop_m',
    'move_asked': 'a motion was asked of the adapter just now',
    'stop_asked': 'the agent asked the adapter for a stop just now',
    'asks_known': 'the heartbeat tells how many calls the agent has sent',
    'started': 'an adapter or an agent has just started',
    'safe': 'the agent is in SAFE',
    'agent_alive': 'the heartbeat is fresh',
    'agent_silent': 'the heartbeat was heard and is silent for longer than allowed',
    'tick_stands': 'the heartbeat comes, and its tick does not advance',
    'two_agents': 'more than one node publishes the heartbeat',
    'two_adapters': 'more than one adapter announces itself',
    'e_stop': 'the e-stop is pressed',
    'commanded': 'a Twist that is not zero was published just now',
    'slipping': 'odometry is slower than the command allows',
    'foreign_driver': 'a node beside adapter and rover publishes Twists',
    'scan_silent': 'the scan was heard and is silent for longer than telemetry.scan_max_age_s',
    'battery_low': 'the battery is at or below battery.low',
    'agent_started': 'an agent has just started',
    'clock_stands': 'simulated time was heard and does not advance',
    'appendage_out': 'the joints, or without them the adapter, show an appendage not stowed',
}
RATE_HZ = 10  # of the signals topic
MAST = 'mast'
STOP = 'move_stop'
COMMAND_S = 0.5  # a Twist is repeated ten times a second
NOT_FOR_S = -math.inf
# The signals that are what a message has said: of the odometry and of the adapter's status only
# while they come.
OF_ODOMETRY = ('moving', 'straight', 'tilted', 'slipping')
OF_STATUS = ('claims_moving', 'violation', 'obstacle')
AS_SHOWN = ('outside', 'two_agents', 'e_stop', 'foreign_driver', 'battery_low')


class SignalState:
    """Feed it with the messages of the topics in ``by_topic``, which are objects with the fields
    of their ROS types, and with the methods; ``at`` gives the signals. All numbers are in SI
    units. ``pace``: the real-time factor that the adapter has measured, at most 1.
    """

    def __init__(self, config: Config) -> None:
        topics, robot = config.topics, config.robot
        self.thresholds, self._fence = config.thresholds, config.guardrails.geofence
        self.by_topic: dict[str, Callable[[float, Any], None]] = {  # time of receipt, message
            topics.rover.odometry: self.odometry,
            topics.rover.joint_states: self._joints,
            topics.rover.cmd_vel: self._twist,
            topics.rover.scan: lambda now, _: self._heard.update(scan=now),
            topics.rover.battery_state: self._battery,
            topics.rover.adapter_presence: self._presence,
            topics.status.adapter: lambda now, text: self.status(now, read_object(text.data)),
            topics.status.kernel: self.heartbeat,
            topics.trace.events: self._trace,
        }
        self.pace = 1.0
        self._rover = topics.rover.cmd_vel
        mast, wheels = self.thresholds.mast, self.thresholds.motion.wheel_joints
        self._wheel_speed = WheelSpeed(wheels if robot.mobile_base else ())
        # Of the mast and of each appendage: its joints, and their angles when it is stowed.
        self._parts = {
            name: (part.joints, part.stowed_rad) for name, part in robot.appendages.items()
        }
        self._appendages = tuple(self._parts)
        if robot.has_mast:
            self._parts[MAST] = mast.joints, mast.closed_rad
        self._heard: dict[str, float] = {}  # by source: time of its last message
        self._values: dict[str, Any] = {}
        self._pulses: set[str] = set()
        self._adapters: dict[str, float] = {}  # by instance

    # --- what the topics show ---------------------------------------------------------------

    def odometry(self, now: float, message: Any) -> None:
        """Of nav_msgs/Odometry. One whose speeds are no numbers is none."""
        pose, twist = message.pose.pose, message.twist.twist
        speed = math.copysign(math.hypot(twist.linear.x, twist.linear.y), twist.linear.x)
        turn_rate, place, q = twist.angular.z, pose.position, pose.orientation
        if not (math.isfinite(speed) and math.isfinite(turn_rate)):
            return
        upright = 1.0 - 2.0 * (q.x * q.x + q.y * q.y)  # z of the body on z of the world
        tilt_rad = math.acos(max(-1.0, min(1.0, upright)))
        motion, drive, fence = self.thresholds.motion, self.thresholds.drive, self._fence
        turns = abs(turn_rate) > motion.still_turn_radps
        drives = abs(speed) > motion.still_speed_mps
        way_m = abs(speed) * (now - self._heard.get('odometry', now))
        self._heard['odometry'] = now
        if drives or turns:
            self._values.setdefault('moves_since', now)
            self._values['way_m'] = self._values.get('way_m', 0.0) + way_m
        else:
            self._values.pop('moves_since', None)
            self._values['way_m'] = 0.0
        least_mps = drive.forward_mps * (1.0 - drive.slip_limit) if drive.slip_limit else 0.0
        inside = fence.x_min <= place.x <= fence.x_max and fence.y_min <= place.y <= fence.y_max
        self._values.update(
            moving=(drives or turns) and not self._settles(now, speed, turn_rate),
            straight=drives and speed > 0.0 and not turns,
            slipping=abs(speed) < least_mps,
            tilted=0.0 < drive.tilt_limit_rad < tilt_rad,
            outside=fence.enabled and not inside,
        )

    def _joints(self, now: float, message: Any) -> None:
        positions = dict(zip(message.name, message.position, strict=False))
        if (fastest_radps := self._wheel_speed.measure(message)) is not None:
            self.wheels(now, fastest_radps)
        for name, (joints, _) in self._parts.items():
            if positions.keys() >= set(joints):
                self.part(now, name, [positions[joint] for joint in joints])

    def part(self, now: float, name: str, angles: Sequence[float]) -> None:
        """Radians of the joints of MAST or of an appendage, in the order of the configuration."""
        self._heard[name] = now
        self._values[f'{name} stowed'] = all(
            abs(angle - wanted) <= self.thresholds.mast.tolerance_rad
            for angle, wanted in zip(angles, self._parts[name][1], strict=True)
        )

    def wheels(self, now: float, fastest_radps: float) -> None:
        """The speed of the fastest wheel, rad/s without sign; NaN: not known."""
        if fastest_radps <= self.thresholds.motion.wheels_still_radps:
            self._heard['standing wheels'] = now
            if 'wheels_stand_since' not in self._values:
                self._values.update(wheels_stand_since=now, way_m=0.0)
        else:
            self._heard.pop('standing wheels', None)
            self._values.pop('wheels_stand_since', None)

    def _settles(self, now: float, speed: float, turn_rate: float) -> bool:
        """Whether a body moves a little on wheels that stand, for no longer than it may, and
        nobody else drives.
        """
        motion, value = self.thresholds.motion, self._values.get
        little = (
            abs(speed) <= motion.settling_speed_mps
            and abs(turn_rate) <= motion.settling_turn_radps
        )
        stand = self._fresh('standing wheels', now, self.thresholds.mast.joint_max_age_s)
        since = max(value('moves_since', now), value('wheels_stand_since', now))
        soon = now - since < motion.settling_max_s and value('way_m', 0.0) < motion.settling_way_m
        return little and stand and soon and not value('foreign_driver')

    def status(self, now: float, status: Mapping[str, Any]) -> None:
        """The JSON object of the adapter's status."""
        self._heard['adapter'] = now
        factor = status.get('real_time_factor')
        self.pace = min(1.0, factor) if isinstance(factor, float) and factor > 0.0 else 1.0
        ahead_m = status.get('obstacle_ahead_m')
        stop_m = self.thresholds.telemetry.obstacle_stop_m
        parts = status.get('appendages') or {}
        stowed = {name for name, posture in parts.items() if posture == 'stowed'}
        self._values.update(
            claims_stowed=stowed | ({MAST} if status.get('mast') in STOWED_MAST else set()),
            claims_moving=status.get('moving') is True,
            violation=status.get('violation'),
            others=status.get('other_adapters'),
            adapter_safe=status.get('agent_safe_reason'),
            obstacle=isinstance(ahead_m, float | int) and ahead_m < stop_m,
        )
        if 'button' not in self._heard:  # a recording has no e-stop topic
            self._values['e_stop'] = status.get('e_stop') is True

    def heartbeat(self, now: float, message: Any) -> None:
        """Of std_msgs/String, as domain/adapter_status.py writes it."""
        if (heartbeat := decode_heartbeat(message.data)) is None:
            return
        tick, safe_reason, calls = heartbeat
        before, last_tick = self._values.get('calls'), self._values.get('tick', -1)
        self._heard['heartbeat'] = now
        if tick != last_tick:
            self._heard['tick'] = now
        self._values.update(tick=tick, heartbeat_safe=bool(safe_reason))
        if calls is None:
            return
        self._values['calls'] = calls
        if before is not None and tick > last_tick:
            for service, count in calls.items():
                if count > before.get(service, 0):
                    self.asked(service.rpartition('/')[2], by_agent=True)

    def _trace(self, _: float, message: Any) -> None:
        event = decode(message.data)
        if started := NodeStarted.of(event):
            self.node_started(started.node)
            return
        service = (event.data or {}).get('service')
        name = service.rpartition('/')[2] if isinstance(service, str) else event.tool_name
        if name in MOTIONS:
            self.asked(name, by_agent=False)

    def asked(self, service: str, *, by_agent: bool) -> None:
        """A service of the adapter was called: ``move_forward`` and so on. The trace tells of the
        calls of others up to 2.5 s late: too late to say that no motion was asked for since a
        stop.
        """
        if service in MOTIONS:
            self._pulses.add('move_asked')
        elif service == STOP and by_agent:
            self._pulses.add('stop_asked')

    def node_started(self, node: str) -> None:
        """``node``: adapter or agent; others move nothing."""
        if node in ('adapter', 'agent'):
            self._pulses |= {'started'} if node == 'adapter' else {'started', 'agent_started'}

    def e_stop(self, now: float, pressed: bool) -> None:
        self._heard['button'] = now
        self._values['e_stop'] = pressed

    def _twist(self, now: float, message: Any) -> None:
        if message.linear.x == 0.0 and message.angular.z == 0.0:
            self._heard.pop('command', None)
        else:
            self._heard['command'] = now

    def _battery(self, _: float, message: Any) -> None:
        if math.isfinite(message.percentage):
            self._values['battery_low'] = message.percentage <= self.thresholds.battery.low

    def _presence(self, now: float, message: Any) -> None:
        """An adapter has announced itself, which may be that of another rover."""
        value = read_object(message.data)
        if value.get('rover') == self._rover:
            self._adapters[str(value.get('identity'))] = now

    def publishers(self, now: float, *, heartbeats: int, foreign_drivers: int) -> None:
        """How many nodes publish the heartbeat; how many, beside adapter and rover, Twists. That
        of an agent that has left is a fault only while the rover moves, since another agent may
        not come, and people may drive.
        """
        self._values['two_agents'] = heartbeats > 1
        self._values['foreign_driver'] = foreign_drivers > 0
        fresh = self._fresh('odometry', now, self.thresholds.motion.odometry_max_age_s)
        if heartbeats == 0 and not (fresh and self._values.get('moving')):
            self._heard.pop('heartbeat', None)
            self._heard.pop('tick', None)

    def clock(self, now: float, simulated_s: float) -> None:
        """A reading of simulated time."""
        if simulated_s > 0.0 and simulated_s != self._values.get('simulated_s'):
            self._values['simulated_s'] = simulated_s
            self._heard['clock'] = now

    # --- what follows -----------------------------------------------------------------------

    def at(self, now: float) -> dict[str, bool]:
        """The signals at ``now``. A pulse is in one result only."""
        motion, telemetry = self.thresholds.motion, self.thresholds.telemetry
        value = self._values.get
        driving = self._fresh('odometry', now, motion.odometry_max_age_s)
        adapter = self._fresh('adapter', now, telemetry.adapter_max_age_s)
        agent = self._fresh('heartbeat', now, motion.heartbeat_max_age_s)
        living = [at for at in self._adapters.values() if now - at <= telemetry.adapter_max_age_s]
        out = {
            name: self._is_out(name, now, adapter_alive=adapter)
            for name in (MAST, *self._appendages)
        }
        found = {
            **{name: driving and value(name) for name in OF_ODOMETRY},
            **{name: adapter and value(name) for name in OF_STATUS},
            **{name: value(name) for name in AS_SHOWN},
            'odometry_stale': self._silent('odometry', now, motion.odometry_max_age_s),
            'mast_up': out.pop(MAST),
            'claims_closed': adapter and MAST in value('claims_stowed', ()),
            'adapter_alive': adapter,
            'asks_known': agent and value('calls') is not None,
            'safe': value('heartbeat_safe', value('adapter_safe')),
            'agent_alive': agent,
            'agent_silent': self._silent('heartbeat', now, motion.heartbeat_max_age_s),
            'tick_stands': agent and not self._fresh('tick', now, motion.heartbeat_max_age_s),
            'two_adapters': len(living) > 1 or (adapter and value('others')),
            'commanded': self._fresh('command', now, COMMAND_S),
            'scan_silent': self._silent('scan', now, telemetry.scan_max_age_s),
            'clock_stands': self._silent('clock', now, motion.clock_max_age_s),
            'appendage_out': any(out.values()),
        }
        pulses, self._pulses = self._pulses, set()
        return {name: bool(found.get(name)) or name in pulses for name in SIGNALS}

    def _is_out(self, name: str, now: float, *, adapter_alive: bool) -> bool:
        """By the joints, or without them by the adapter, the part is not stowed."""
        if self._fresh(name, now, self.thresholds.mast.joint_max_age_s):
            return not self._values[f'{name} stowed']
        return adapter_alive and name not in self._values.get('claims_stowed', ())

    def _fresh(self, source: str, now: float, max_age_s: float) -> bool:
        return now - self._heard.get(source, NOT_FOR_S) <= max_age_s

    def _silent(self, source: str, now: float, max_age_s: float) -> bool:
        return source in self._heard and not self._fresh(source, now, max_age_s)


def bits(signals: Mapping[str, bool]) -> int:
    """The signals as one number; bit n is the n-th of SIGNALS."""
    return sum(1 << n for n, name in enumerate(SIGNALS) if signals.get(name))
