# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Publishes trace events and the rover's pose as RViz markers. No received message can end it."""

from __future__ import annotations

from contextlib import suppress
import sys

from curiosity_rosa_demo.domain.geometry import Place
from curiosity_rosa_demo.domain.refusal import RefusalCode
from curiosity_rosa_demo.drawing.trail import Trail
from curiosity_rosa_demo.infra.diagnostics import Diagnostics, Finding, Level
from curiosity_rosa_demo.infra.process import node_config, Process, run_app, SpinThread
from curiosity_rosa_demo.infra.ros_io import (
    GuardedPublisher,
    history_qos,
    LossCounter,
    make_transform_source,
    STEADY_CLOCK,
    TracePublisher,
)
from curiosity_rosa_demo.infra.tf import TransformUnavailable
from curiosity_rosa_demo.trace.events import CaptureTaken, NodeStarted
from curiosity_rosa_demo.trace.trace_buffer import EventBus
from curiosity_rosa_demo.trace.trace_codec import decode
from curiosity_rosa_demo.viz.marker_builder import capture_in, MarkerBuilder
import rclpy
from std_msgs.msg import String
from visualization_msgs.msg import MarkerArray

POSE_PERIOD_S = 0.5
MIN_EVENT_PERIOD_NS = 100_000_000  # shortest time between two drawings of new events

# The newest array holds the whole scene: a late RViz sees it at once.
MARKER_QOS = history_qos(1)


class Visualizer:
    """One node on one thread. All private methods run in its callbacks."""

    def __init__(self, process: Process) -> None:
        self._node = rclpy.create_node('visualizer')
        config = node_config(self._node)
        self._frames = config.topics.tf
        self._builder = MarkerBuilder(config.thresholds, self._frames.world_frame)
        self._events = EventBus(max_events=config.thresholds.trace.buffer_size)
        self._trail = Trail(config.thresholds.viz.trail_points)
        self._capture: CaptureTaken | None = None
        self._pose: Place | None = None
        self._seen: tuple[float, ...] = ()  # the pose, rounded to what is visible
        self._needs_redraw = True  # the published markers are outdated
        self._drawn_at_ns = 0
        self._received = 0  # events
        self._drawings = 0

        self._transforms = make_transform_source(self._node, config)
        losses = LossCounter()
        self._publisher = GuardedPublisher(
            self._node, MarkerArray, config.topics.viz.marker_array, MARKER_QOS, losses
        )
        self._node.create_subscription(
            String,
            config.topics.trace.events,
            self._on_trace,
            history_qos(config.thresholds.trace.buffer_size),
        )
        TracePublisher(self._node, config, losses).announce('visualizer started')
        self._node.create_timer(POSE_PERIOD_S, self._update_pose, clock=STEADY_CLOCK)
        Diagnostics(self._node, config, 'markers', self._diagnose, losses)
        self._spin = SpinThread('visualizer', self._node, on_crash=process.crash)

    def close(self) -> None:
        self._spin.close()
        self._node.destroy_node()

    def _on_trace(self, message: String) -> None:
        event = decode(message.data)
        if NodeStarted.of(event) or not self._events.publish(event):
            return
        self._received += 1
        self._capture = capture_in(event) or self._capture
        self._needs_redraw = True
        if STEADY_CLOCK.now().nanoseconds - self._drawn_at_ns >= MIN_EVENT_PERIOD_NS:
            self._draw()

    def _diagnose(self) -> Finding:
        frames = {'world': self._frames.world_frame, 'base': self._frames.base_frame}
        lost = '' if self._pose else RefusalCode.TF_UNAVAILABLE.text(**frames)
        return Finding(
            {lost: Level.WARN},
            'drawing',
            {
                'events_heard': self._received,
                'events_drawn': len(self._events.trace_events()),
                'drawings': self._drawings,
                'x': self._pose and self._pose.x,
                'y': self._pose and self._pose.y,
            },
        )

    def _update_pose(self) -> None:
        seen: tuple[float, ...] = ()
        self._pose = None  # the rover's markers are deleted
        with suppress(TransformUnavailable):
            found = self._transforms.lookup(self._frames.world_frame, self._frames.base_frame)
            self._pose = pose = found.place
            self._trail.add(pose.x, pose.y)
            seen = tuple(round(each, 2) for each in (pose.x, pose.y, pose.yaw_rad))
        if self._needs_redraw or seen != self._seen:
            self._seen = seen
            self._draw()

    def _draw(self) -> None:
        # Sort by time: the histories of several publishers arrive one after another.
        events = sorted(self._events.trace_events(), key=lambda event: event.ts)
        array = self._builder.build(self._pose, self._trail.points(), events, self._capture)
        self._needs_redraw = not self._publisher.publish(array)  # the next timer tries again
        if not self._needs_redraw:
            self._drawings += 1
            self._drawn_at_ns = STEADY_CLOCK.now().nanoseconds


def main() -> None:
    sys.exit(run_app('visualizer', Visualizer))
