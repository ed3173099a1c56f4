# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""ROS node around Rules: the eight /adapter/* services in front of the rover's services.

Each of five threads spins one node, so that no lane waits for another. ``adapter`` runs the rover
clients and subscriptions and serves get_status, ``adapter_stop`` serves move_stop,
``adapter_motion`` the three motions, ``adapter_mast`` the three mast services and those of the
robot's appendages; each serves one call at a time. ``adapter_scan`` reads the scan. A sixth thread
asks the rules what is due at their next wake-up, and a seventh looks names up in the ROS graph:
nothing else waits for it. ``adapter`` also publishes the log of the rules' inputs.

Over 300 lines: the lock order of these threads is easier to check in one file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
import json
import math
from queue import Empty, SimpleQueue
import sys
import threading
import time
from typing import Any

from curiosity_rosa_demo.adapter.calls import CallTrace
from curiosity_rosa_demo.adapter.channels import Channel
from curiosity_rosa_demo.adapter.commands import Command, PartCommands, StandstillCommand
from curiosity_rosa_demo.adapter.graph import (
    GraphThread,
    offers,
    other_publishers,
    rival_publishers,
)
from curiosity_rosa_demo.adapter.inputs import PresenceLink, ScanInput, TelemetryInputs
from curiosity_rosa_demo.adapter.report import diagnose, mismatch, status_of, StatusSchedule
from curiosity_rosa_demo.adapter.rules import Motion, Rules, STOPPED_WHILE_STARTING
from curiosity_rosa_demo.adapter.steps import encode_batch, HISTORY, MotionRefused, PERIOD_S
from curiosity_rosa_demo.domain.adapter_status import Status
from curiosity_rosa_demo.domain.geometry import DIRECTIONS
from curiosity_rosa_demo.domain.models import TraceKind
from curiosity_rosa_demo.domain.refusal import RefusalCode
from curiosity_rosa_demo.infra.clocks import ClockWatch
from curiosity_rosa_demo.infra.config.topics import Config
from curiosity_rosa_demo.infra.config_loader import shipped_robots
from curiosity_rosa_demo.infra.diagnostics import Diagnostics, Finding
from curiosity_rosa_demo.infra.process import node_config, Process, run_app, SpinThread
from curiosity_rosa_demo.infra.ros_io import (
    GuardedPublisher,
    history_qos,
    LossCounter,
    STEADY_CLOCK,
    TracePublisher,
)
from curiosity_rosa_demo.trace.trace_codec import new_event
from rclpy.node import Node
from rclpy.task import Future
from std_msgs.msg import String
from std_srvs.srv import Trigger

SHUTDOWN_TIMEOUT_S = 2.0
PART_WAIT_MARGIN_S = 1.0
STOP_LANE = 'adapter_stop'
Step = Callable[[], None]
Refuse = Callable[[str], None]  # its argument: the reason


class AdapterApp:
    def __init__(self, process: Process) -> None:
        self.node = Node('adapter')
        self._config: Config = node_config(self.node)
        self._limits = self._config.thresholds.motion
        topics, robot = self._config.topics, self._config.robot
        self._base_motions = tuple(DIRECTIONS) if robot.mobile_base else ()
        self._base: dict[str, Command] = {}
        for name in (*self._base_motions, 'move_stop') if robot.mobile_base else ():
            service = getattr(topics.curiosity, name)
            self._base[name] = Command.of(self.node, service, service.name)
        self._lock = threading.RLock()
        self._stepped = threading.Condition(self._lock)  # a step was taken: callers look again
        self._guard_due = threading.Condition(self._lock)  # the guard thread has work, or sooner
        clock = self.node.get_clock()
        self._rules = Rules(
            self._config.thresholds,
            stop_name=topics.curiosity.move_stop.name,
            steady=time.monotonic,
            ros_clock=clock,
            robot=robot,
        )
        # Sampled by each start of a motion and, once a second, by the diagnostics.
        self._clock_watch = ClockWatch(clock, max_age_s=self._limits.clock_max_age_s)
        losses = LossCounter()
        self._parts = PartCommands(self.node, self._config, losses)
        rover = self.node.get_parameter('rover_namespace').value
        self._profiles = shipped_robots(rover)
        self._trace = TracePublisher(self.node, self._config, losses)
        self._trace.announce('adapter started: rover stopped first, mast unknown')
        self._graph = GraphThread(process.crash)
        self._calls = CallTrace(self.node, self._graph, topics.status.kernel, self._trace.publish)
        self._shutting_down = False  # True: no motion is started any more
        self._closing = False
        self._stops_asked = 0
        self._wakeup_at = 0.0
        self._stop_future: Future | None = None
        wheels = self._limits.wheel_joints if robot.mobile_base else ()
        self._standstill = StandstillCommand(
            self.node, topics.rover, wheels=len(wheels), losses=losses
        )
        self._status_schedule = StatusSchedule()
        self._status_topic, self._input_topic = (
            GuardedPublisher(self.node, String, topic, history_qos(depth), losses)
            for topic, depth in (
                (topics.status.adapter, 1),
                (topics.status.adapter_inputs, HISTORY),
            )
        )
        self.node.create_timer(PERIOD_S, self._publish_inputs, clock=STEADY_CLOCK)
        self._telemetry = TelemetryInputs(
            self.node,
            self._config,
            self._taking,
            self._graph,
            on_calls=self._calls.record_sent,
            joints=self._parts.joints,
            wheels=wheels,
        )
        PresenceLink(self.node, topics.rover, self._taking, losses)
        self._rivals: dict[str, list[str]] = {}  # as graph.rival_publishers
        self._mismatch = ''  # as report.mismatch
        self._graph.add(self._look_for_drivers)
        self._graph.add(self._look_for_robot)
        self._scan = ScanInput(self._config, self._rules, self._taking, self._graph)
        Diagnostics(self.node, self._config, 'rover', self._diagnose, losses)
        self._nodes = [self.node, *self._create_services(), self._scan.node]
        self._threads = {
            node.get_name(): SpinThread(node.get_name(), node, on_crash=process.crash)
            for node in self._nodes
        }
        self._guard_thread = threading.Thread(target=self._run_guard, args=(process,), daemon=True)
        self._guard_thread.start()
        self._graph.start()

    def _create_services(self) -> list[Node]:
        names = self._config.topics.adapter
        own = [Node(name) for name in (STOP_LANE, 'adapter_motion', 'adapter_mast')]
        stop, motion, mast = own
        self.node.create_service(Trigger, names.get_status.name, self._serve_status)
        self._serve(stop, names.move_stop.name, self._stop_rover)
        for name in self._base_motions:
            self._serve(motion, getattr(names, name).name, partial(self._begin_motion, name))
        for name in self._parts.part_of:
            known = getattr(names, name, None)
            service = known.name if known else self._config.appendage_service(name)
            self._serve(mast, service, partial(self._move_part, name))
        return own

    # --- looks into the graph: on its own thread --------------------------------------------

    def _look_for_drivers(self) -> None:
        """Before a stop has failed: its alarm names who else drives."""
        if not self._rules.stopping:
            return
        topics = self._config.topics
        stop = topics.curiosity.move_stop.name
        names = ', '.join(other_publishers(self.node, topics.rover.cmd_vel, stop))
        if names != self._rules.other_drivers:
            with self._taking() as rules:
                rules.drivers(names)

    def _look_for_robot(self) -> None:
        robot, rover = self._config.robot, self._config.topics.rover
        odometry = [rover.odometry] if robot.mobile_base else []
        self._rivals = rival_publishers(self.node, [*odometry, rover.joint_states])
        missing = self._parts.missing()
        is_offered = partial(offers, self.node)
        self._mismatch = mismatch(self._config.nodes.robot, missing, self._profiles, is_offered)

    # --- due commands: after every step -----------------------------------------------------

    @contextmanager
    def _taking(self) -> Iterator[Rules]:
        """The rules for some steps, under the lock. What is due after them is executed, also if
        they refuse: the status shows the reason.
        """
        with self._lock:
            try:
                yield self._rules
            finally:
                self._execute_due_commands()

    def _execute_due_commands(self) -> None:
        """Execute the commands that the rules report as due. The caller holds the lock."""
        due = self._rules.due()
        if due.stop_call is not None:
            self._call_stop(due.stop_call)
        if due.zero_twist and not self._standstill.publish():
            self._rules.twist_lost()
        self._parts.hold(due.holds)
        for warning in due.warnings:
            data = {'node': self.node.get_name()}
            self._trace.publish(new_event(TraceKind.OBSERVE, warning, data=data))
        for alarm in due.alarms:
            self._trace.alarm(alarm)
        self._stepped.notify_all()
        at = self._rules.next_wakeup()
        wakeup = math.inf if at is None else at
        if wakeup < self._wakeup_at or self._status_schedule.is_news(self._status()):
            self._wakeup_at = min(self._wakeup_at, wakeup)
            self._guard_due.notify()

    def _call_stop(self, number: int) -> None:
        channel, request = self._base['move_stop'].channel, self._base['move_stop'].message
        if self._stop_future is not None and not self._stop_future.done():
            channel.forget(self._stop_future)
        try:
            if not channel.is_ready():
                raise MotionRefused(RefusalCode.NO_SERVICE.text(name=channel.name))
            self._stop_future = channel.send(request)
        except MotionRefused as refusal:
            self._rules.stop_failed(number, str(refusal))
            return
        self._stop_future.add_done_callback(partial(self._report_stop, channel, number))

    def _report_stop(self, channel: Channel, number: int, future: Future) -> None:
        refusal = channel.refusal(future.result())
        with self._taking() as rules:
            if refusal:
                rules.stop_failed(number, refusal)
            else:
                rules.stop_answered(number)

    def _run_guard(self, process: Process) -> None:
        try:
            with self._lock:
                while not self._closing:
                    self._wakeup_at = math.inf
                    self._execute_due_commands()
                    self._publish_status()
                    self._wakeup_at = min(self._wakeup_at, self._status_schedule.next_wakeup())
                    self._guard_due.wait(max(0.0, self._wakeup_at - time.monotonic()))
        except Exception as error:
            process.crash(error)

    def _publish_status(self) -> None:
        """Publish a due status. Runs only on the guard thread, so that no service call waits for
        the publisher. The caller holds the lock.
        """
        status = self._status()
        due = self._status_schedule.take_due(status, time.monotonic())
        if due and not self._status_topic.publish(String(data=json.dumps(status))):
            self._status_schedule.lost()

    def _publish_inputs(self) -> None:
        """Publish what the rules have taken in. A batch that is lost shows by its numbers."""
        with self._lock:
            batch = self._rules.inputs.take(time.time() - time.monotonic())
        if batch is not None:
            self._input_topic.publish(String(data=encode_batch(batch)))

    def _status(self) -> Status:
        pose, turn = self._telemetry.pose, self._telemetry.mast_turn
        return status_of(self._rules, pose, turn, self._rules.time.measured, self._rivals)

    def _diagnose(self) -> Finding:
        base = [each.channel for each in self._base.values()]
        missing = [channel.name for channel in base if not channel.is_ready()]
        missing += self._parts.missing()
        with self._lock:
            return diagnose(
                self._rules,
                self._status(),
                missing=missing,
                mismatch=self._mismatch,
                ages_s=self._telemetry.ages_s(),
                clock_problem=self._clock_watch.problem(),
            )

    def _wait(self, condition: Callable[[], bool], timeout_s: float) -> bool:
        """Wait until ``condition`` holds, the adapter closes or the time is up. The caller holds
        the lock; the wait releases it.
        """
        return self._stepped.wait_for(lambda: self._closing or condition(), timeout_s)

    # --- services ---------------------------------------------------------------------------

    def _serve_status(self, _: Any, response: Trigger.Response) -> Trigger.Response:
        with self._lock:
            self._execute_due_commands()  # the status shows the time of the last step
            status = self._status()
        response.success, response.message = True, json.dumps(status)
        return response

    def _stop_rover(self) -> None:
        """Call the rover's service, and wait for its standstill. Raises MotionRefused."""
        with self._taking() as rules:
            number = rules.request_stop()
            self._stops_asked += 1
        with self._lock:
            confirm_s = self._rules.time.stretched(self._limits.stop_confirm_s)
            self._wait(lambda: self._has_stopped(number), self._limits.stop_timeout_s + confirm_s)
            if self._rules.settles:
                settling_s = self._rules.time.stretched(self._limits.settling_max_s)
                self._wait(
                    lambda: not self._rules.settles or self._has_stopped(number), settling_s
                )
            if unconfirmed := self._rules.end_stop(number):
                raise MotionRefused(unconfirmed)

    def _has_stopped(self, number: int) -> bool:
        done = self._rules.stops_ended >= number and not self._rules.holding
        return done or bool(self._rules.violation)

    def _serve(self, lane: Node, service: str, act: Step) -> None:
        """Run ``act`` on each call of ``service``. The message is the reason of a refusal."""

        def callback(_: Any, response: Trigger.Response) -> Trigger.Response:
            call = self._calls.begin(service)
            try:
                act()
                response.success = True
            except MotionRefused as refusal:
                response.success, response.message = False, str(refusal)
            self._calls.end(call, response.message)
            return response

        lane.create_service(Trigger, service, callback)

    def _begin_motion(self, name: str) -> None:
        """Call the rover's service, and wait for its answer. Raises MotionRefused."""
        command, stops_before = self._base[name], self._stops_asked
        waits = self._rules.stopping or self._rules.holding
        if waits or not command.channel.is_ready():
            with self._taking() as rules:
                self._await_stop()
                if not command.channel.is_ready():
                    rules.check_motion(name, self._clock_watch.problem())
            self._await_ready(command.channel)
        # Stops are served one after another: one that came during another counts first.
        timeout_s = self._limits.service_timeout_s
        if waits and not self._threads[STOP_LANE].await_queued(timeout_s):
            raise MotionRefused(STOPPED_WHILE_STARTING)
        with self._taking() as rules:
            # A stop that arrived meanwhile, or the shutdown, also ends this motion.
            if self._shutting_down or self._stops_asked != stops_before:
                raise MotionRefused(STOPPED_WHILE_STARTING)
            # Check and send under one lock, so that no stop can come between the two.
            token = rules.start_motion(name, self._clock_watch.problem())
            failed = partial(rules.motion_failed, token)
            # A robot that refuses, or answers late, may move all the same: it is stopped.
            _, answer = self._send(command, partial(rules.motion_started, token), failed)
        self._await_answer(command, answer, failed)

    def _move_part(self, name: str) -> None:
        """Send a command that moves the joints of a part, and wait until the rules know how that
        ended. Raises MotionRefused.
        """
        command, part = self._parts[name], self._rules.parts[self._parts.part_of[name]]
        settings, stops_before = part.commands[name], self._stops_asked
        with self._taking() as rules:
            self._await_stop()
            rules.check_part(part.name, name)
        self._await_ready(command.channel)
        over = threading.Event()  # what is told later is no news of this call

        def started() -> None:
            if not over.is_set():
                self._rules.part_started(part.name)
                command.channel.watch(ended_early)

        def failed(reason: str) -> None:
            if not over.is_set():
                self._rules.part_failed(part.name, reason)

        def ended_early(reason: str) -> None:
            with self._taking():
                if part.busy:
                    failed(reason)

        with self._taking() as rules:
            # A stop that arrives before the joints move also ends a motion that can be held.
            was_stopped = settings.by_trajectory and self._stops_asked != stops_before
            if self._shutting_down or was_stopped:
                raise MotionRefused(STOPPED_WHILE_STARTING)
            if not rules.start_part(part.name, name):
                return
            future, answer = self._send(command, started, failed)

        def gave_up(reason: str) -> None:
            command.channel.forget(future)
            failed(reason)

        try:
            self._await_answer(command, answer, gave_up)
            with self._lock:
                # The rules end the motion in simulated time, at the latest after this bound.
                margin_s = self._config.thresholds.mast.confirm_margin_s
                limit_s = self._rules.time.longest_s(settings.duration_s + margin_s)
                self._wait(lambda: not part.busy, limit_s + PART_WAIT_MARGIN_S)
        finally:
            over.set()
        with self._taking() as rules:
            rules.end_part(part.name, name)

    def _send(
        self, command: Command, started: Step, failed: Refuse
    ) -> tuple[Future, SimpleQueue[str]]:
        """Send it now; the caller holds the lock. With the response one of the two steps is taken,
        and the queue gets the reason of a refusal, or ''.
        """
        answer: SimpleQueue[str] = SimpleQueue()

        def report(future: Future) -> None:
            why = command.channel.refusal(future.result())
            with self._taking():
                try:
                    if why:
                        failed(why)
                    else:
                        started()
                except MotionRefused as refusal:
                    why = str(refusal)
                answer.put(why)

        try:
            future = command.channel.send(command.message)
        except MotionRefused as refusal:
            failed(str(refusal))
            raise
        future.add_done_callback(report)
        return future, answer

    def _await_answer(self, command: Command, answer: SimpleQueue[str], gave_up: Refuse) -> None:
        """Raises MotionRefused. ``gave_up``: the step to take without an answer in time."""
        try:
            why = answer.get(timeout=self._limits.service_timeout_s)
        except Empty:
            with self._taking():
                if answer.empty():
                    why = RefusalCode.NO_ANSWER.text(name=command.channel.name)
                    gave_up(why)
                else:
                    why = answer.get()
        if why:
            raise MotionRefused(why)

    def _await_stop(self) -> None:
        """Wait for a running stop to be confirmed. The caller holds the lock."""
        settle_s = self._rules.time.stretched(self._limits.settle_s)
        rules, timeout_s = self._rules, self._limits.stop_timeout_s + settle_s
        self._wait(lambda: not (rules.stopping or rules.holding), timeout_s)

    def _await_ready(self, channel: Channel) -> None:
        if not channel.wait_until_ready(self._limits.service_timeout_s):
            reason = RefusalCode.NO_SERVICE.text(name=channel.name)
            with self._taking() as rules:
                rules.refuse(reason)
            raise MotionRefused(reason)

    # --- end --------------------------------------------------------------------------------

    def close(self) -> None:
        """Stop what moves, wait at most SHUTDOWN_TIMEOUT_S for standstill, and shut down."""
        with self._lock:
            self._shutting_down = True
            rules = self._rules
            parts = [part for part in rules.parts.values() if part is not rules.mast]
            if rules.motion is Motion.MOVING or any(part.busy for part in parts):
                rules.request_stop()
                self._execute_due_commands()
                self._wait(
                    lambda: rules.motion is Motion.STILL and not rules.holding, SHUTDOWN_TIMEOUT_S
                )
            self._closing = True
            self._stepped.notify_all()
            self._guard_due.notify()
        self._publish_inputs()
        self._graph.close()
        for thread in self._threads.values():
            thread.close()
        for node in self._nodes:
            node.destroy_node()


def main() -> None:
    sys.exit(run_app('adapter', AdapterApp))
