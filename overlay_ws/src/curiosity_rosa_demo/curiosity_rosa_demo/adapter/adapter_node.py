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
nothing else waits for it. ``adapter`` also publishes the log of the rules'
inputs.

Over 300 lines: the lock order of these threads is easier to check in one file.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
import json
import math
from queue import Empty, SimpleQueue
import sys
import threading
import time
from typing import Any

from curiosity_rosa_demo.adapter.call_trace import CallTrace
from curiosity_rosa_demo.adapter.graph_names import (
    GraphThread,
    offers,
    other_publishers,
    RivalPublishers,
)
from curiosity_rosa_demo.adapter.input_log import encode_batch, HISTORY, InputLog, PERIOD_S
from curiosity_rosa_demo.adapter.joint_commands import (
    JointCommand,
    PartCommands,
    ServiceCommand,
    StandstillCommand,
)
from curiosity_rosa_demo.adapter.profile_figures import mismatch
from curiosity_rosa_demo.adapter.rules import (
    Motion,
    MotionRefused,
    Rules,
    STOPPED_WHILE_STARTING,
)
from curiosity_rosa_demo.adapter.status import diagnose, status_of, StatusSchedule
from curiosity_rosa_demo.adapter.telemetry_inputs import PresenceLink, ScanInput, TelemetryInputs
from curiosity_rosa_demo.domain.adapter_status import Status
from curiosity_rosa_demo.domain.models import service_timeout, service_unavailable, TraceKind
from curiosity_rosa_demo.infra.clocks import ClockWatch, SimulationClock
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

MOTION_SERVICES = ('move_forward', 'turn_left', 'turn_right')
SHUTDOWN_TIMEOUT_S = 2.0
PART_WAIT_MARGIN_S = 1.0
STOP_LANE = 'adapter_stop'


class AdapterApp:
    def __init__(self, process: Process) -> None:
        self.node = Node('adapter')
        self._config: Config = node_config(self.node)
        topics = self._config.topics
        robot = self._config.robot
        self._base_motions = MOTION_SERVICES if robot.mobile_base else ()
        base = (*self._base_motions, 'move_stop') if robot.mobile_base else ()
        self._commands = {
            name: ServiceCommand.of(self.node, getattr(topics.curiosity, name)) for name in base
        }
        self._lock = threading.RLock()
        self._changed = threading.Condition(self._lock)
        self._simulation = SimulationClock.of(
            self.node.get_clock(), self._config.thresholds.motion
        )
        self._inputs = InputLog()
        self._rules = Rules(
            self._config.thresholds,
            stop_name=topics.curiosity.move_stop.name,
            steady=time.monotonic,
            ros_clock=self.node.get_clock(),
            log=self._inputs,
            robot=self._config.robot,
        )
        # Sampled by each start of a motion and, once a second, by the diagnostics.
        self._clock_watch = ClockWatch(
            self.node.get_clock(), max_age_s=self._config.thresholds.motion.clock_max_age_s
        )
        losses = LossCounter()
        self._part_commands = PartCommands(self.node, self._config, losses)
        rover = self.node.get_parameter('rover_namespace').value
        self._profiles = {
            name: profile.in_namespace(rover) for name, profile in shipped_robots().items()
        }
        self._trace = TracePublisher(self.node, self._config, losses)
        self._trace.announce('adapter started: rover stopped first, mast unknown')
        self._graph = GraphThread(process.crash)
        self._calls = CallTrace(self.node, self._graph, topics.status.kernel, self._trace.publish)
        self._shutting_down = False  # True: no motion is started any more
        self._closing = False
        self._stops_asked = 0
        self._wakeup_at = 0.0
        self._stop_future: Future | None = None
        wheels = self._config.thresholds.motion.wheel_joints if robot.mobile_base else ()
        self._standstill = StandstillCommand.create(
            self.node, topics.rover, wheels=len(wheels), losses=losses
        )
        self._status_schedule = StatusSchedule()
        self._status_topic = GuardedPublisher.create(
            self.node, String, topics.status.adapter, history_qos(1), losses
        )
        self._input_topic = GuardedPublisher.create(
            self.node, String, topics.status.adapter_inputs, history_qos(HISTORY), losses
        )
        self.node.create_timer(PERIOD_S, self._publish_inputs, clock=STEADY_CLOCK)
        self._telemetry = TelemetryInputs(
            self.node,
            topics,
            self._config.thresholds.motion.agent_lease_s,
            self._rules,
            graph=self._graph,
            lock=self._lock,
            on_input=self._execute_due_commands,
            on_calls=self._calls.record_sent,
            joints=self._part_commands.joints,
            wheels=wheels,
        )
        PresenceLink(
            self.node,
            topics.rover,
            self._rules,
            losses,
            lock=self._lock,
            on_input=self._execute_due_commands,
        )
        odometry = [topics.rover.odometry] if robot.mobile_base else []
        self._rivals = RivalPublishers(
            self.node, self._graph, [*odometry, topics.rover.joint_states]
        )
        self._mismatch = ''  # as profile_match.mismatch
        self._graph.add(self._look_for_drivers)
        self._graph.add(self._look_for_robot)
        self._scan = ScanInput(
            self._config,
            self._rules,
            graph=self._graph,
            simulation=self._simulation,
            lock=self._lock,
            on_input=self._execute_due_commands,
        )
        Diagnostics(self.node, self._config, 'rover', self._diagnose, losses)
        self._nodes = [self.node, *self._create_services(process), self._scan.node]
        self._threads = {
            node.get_name(): SpinThread(node.get_name(), node, on_crash=process.crash)
            for node in self._nodes
        }
        self._guard_thread = threading.Thread(target=self._run_guard, args=(process,), daemon=True)
        self._guard_thread.start()
        self._graph.start()

    # --- looks into the graph: on its own thread --------------------------------------------

    def _look_for_drivers(self) -> None:
        """Before a stop has failed: its alarm names who else drives."""
        if not self._rules.stopping:
            return
        topics = self._config.topics
        stop = topics.curiosity.move_stop.name
        names = ', '.join(other_publishers(self.node, topics.rover.cmd_vel, stop))
        with self._lock:
            if names != self._rules.other_drivers:
                self._rules.drivers(names)
                self._execute_due_commands()

    def _look_for_robot(self) -> None:
        missing = self._part_commands.missing()
        is_offered = partial(offers, self.node)
        self._mismatch = mismatch(self._config.nodes.robot, missing, self._profiles, is_offered)

    def _create_services(self, process: Process) -> list[Node]:
        names = self._config.topics.adapter
        own = [Node(name) for name in (STOP_LANE, 'adapter_motion', 'adapter_mast')]
        stop, motion, mast = own
        self.node.create_service(Trigger, names.get_status.name, self._serve_status)
        stop.create_service(Trigger, names.move_stop.name, self._serve_stop)
        for name in self._base_motions:
            service = getattr(names, name).name
            act = partial(self._begin_motion, name)
            motion.create_service(Trigger, service, self._trigger_callback(service, act))
        for name in self._part_commands.by_name:
            service = getattr(names, name, None)
            service = service.name if service else self._config.appendage_service(name)
            act = partial(self._move_part, name)
            mast.create_service(Trigger, service, self._trigger_callback(service, act))
        return own

    # --- due commands: runs after every step of the rules ----------------------------------

    def _execute_due_commands(self) -> None:
        """Execute the commands that the rules report as due. The caller holds the lock."""
        due = self._rules.due()
        if due.stop_call is not None:
            self._call_stop(due.stop_call)
        if due.zero_twist and not self._standstill.publish():
            self._rules.twist_lost()
        self._part_commands.hold(due.holds)
        for warning in due.warnings:
            data = {'node': self.node.get_name()}
            self._trace.publish(new_event(TraceKind.OBSERVE, warning, data=data))
        for alarm in due.alarms:
            self._trace.alarm(alarm)
        wakeup = self._rules.next_wakeup()
        sooner = wakeup is not None and wakeup < self._wakeup_at
        if wakeup is not None and sooner:
            self._wakeup_at = wakeup
        state = (
            *((part.state, part.busy) for part in self._rules.parts.values()),
            self._rules.motion,
            self._rules.stopping,
            self._rules.holding,
            self._rules.stops_ended,
            self._rules.moving,
            self._rules.move_allowed,
            self._rules.violation,
            self._rules.agent_latch,
            self._rules.e_stop,
            self._rules.other_adapters,
            self._rules.last_error,
        )
        if sooner or state != getattr(self, '_last_state', None):
            self._last_state = state
            self._changed.notify_all()

    def _call_stop(self, number: int) -> None:
        command = self._commands['move_stop']
        if self._stop_future is not None and not self._stop_future.done():
            command.forget(self._stop_future)
        if not command.is_ready():
            self._rules.stop_failed(number, service_unavailable(command.name))
            return
        try:
            self._stop_future = command.send()
        except MotionRefused as refusal:
            self._rules.stop_failed(number, str(refusal))
            return
        self._stop_future.add_done_callback(
            lambda future: self._report_stop(number, command.refusal(future.result()))
        )

    def _report_stop(self, number: int, refusal: str) -> None:
        with self._lock:
            if refusal:
                self._rules.stop_failed(number, refusal)
            else:
                self._rules.stop_answered(number)
            self._execute_due_commands()

    def _run_guard(self, process: Process) -> None:
        try:
            with self._lock:
                while not self._closing:
                    self._wakeup_at = math.inf
                    self._execute_due_commands()
                    self._publish_status()
                    self._wakeup_at = min(self._wakeup_at, self._status_schedule.next_wakeup())
                    self._changed.wait(max(0.0, self._wakeup_at - time.monotonic()))
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
            batch = self._inputs.take(time.time() - time.monotonic())
        if batch is not None:
            self._input_topic.publish(String(data=encode_batch(batch)))

    def _status(self) -> Status:
        return status_of(
            self._rules,
            self._telemetry.pose,
            self._telemetry.mast_turn,
            self._simulation.measured,
            self._rivals.found,
        )

    def _diagnose(self) -> Finding:
        missing = [command.name for command in self._commands.values() if not command.is_ready()]
        missing_parts = self._part_commands.missing()
        with self._lock:
            return diagnose(
                self._rules,
                e_stop=self._telemetry.e_stop,
                missing=[*missing, *missing_parts],
                mismatch=self._mismatch,
                ages_s=self._telemetry.ages_s(),
                clock_problem=self._clock_watch.problem(),
                real_time_factor=self._simulation.measured,
                rivals=self._rivals.found,
            )

    def _wait(self, condition: Callable[[], bool], timeout_s: float) -> bool:
        """Wait until ``condition`` holds, the adapter closes or the time is up. The caller holds
        the lock; the wait releases it.
        """
        return self._changed.wait_for(lambda: self._closing or condition(), timeout_s)

    # --- services ---------------------------------------------------------------------------

    def _serve_status(self, _: Any, response: Trigger.Response) -> Trigger.Response:
        with self._lock:
            self._execute_due_commands()  # the status shows the time of the last step
            status = self._status()
        response.success, response.message = True, json.dumps(status)
        return response

    def _serve_stop(self, _: Any, response: Trigger.Response) -> Trigger.Response:
        motion = self._config.thresholds.motion
        with self._lock:
            number = self._rules.request_stop()
            self._stops_asked += 1
            self._execute_due_commands()
        call = self._calls.begin(self._config.topics.adapter.move_stop.name)  # after the stop
        with self._lock:
            confirm_s = self._simulation.stretched(motion.stop_confirm_s)
            timeout_s = motion.stop_timeout_s + confirm_s
            self._wait(lambda: self._has_stopped(number), timeout_s)
            if self._rules.settles:
                settling_s = self._simulation.stretched(motion.settling_max_s)
                self._wait(
                    lambda: not self._rules.settles or self._has_stopped(number), settling_s
                )
            response.message = self._rules.end_stop(number)
            response.success = not response.message
        self._calls.end(call, response.message)
        return response

    def _moves_appendage(self) -> bool:
        parts = self._rules.parts.values()
        return any(part.busy for part in parts if part is not self._rules.mast)

    def _is_at_rest(self) -> bool:
        return self._rules.motion is Motion.STILL and not self._rules.holding

    def _has_stopped(self, number: int) -> bool:
        done = self._rules.stops_ended >= number and not self._rules.holding
        return done or bool(self._rules.violation)

    def _begin_motion(self, name: str) -> None:
        """Call the rover's service, and wait for its answer. Raises MotionRefused."""
        command = self._commands[name]
        timeout_s = self._config.thresholds.motion.service_timeout_s
        with self._lock:
            stops_before = self._stops_asked
            waited = self._await_stop()
            if not command.is_ready():
                self._rules.check_motion(name, self._clock_watch.problem())
        self._await_ready(command)
        # Stops are served one after another: one that came during another counts first.
        if waited and not self._threads[STOP_LANE].await_queued(timeout_s):
            raise MotionRefused(STOPPED_WHILE_STARTING)
        outcome: SimpleQueue[MotionRefused | None] = SimpleQueue()
        with self._lock:
            # A stop that arrived meanwhile, or the shutdown, also ends this motion.
            if self._shutting_down or self._stops_asked != stops_before:
                raise MotionRefused(STOPPED_WHILE_STARTING)
            # Check and send under one lock, so that no stop can come between the two.
            token = self._rules.start_motion(name, self._clock_watch.problem())
            try:
                future = command.send()
            except MotionRefused as refusal:
                self._rules.motion_failed(token, str(refusal))
                self._execute_due_commands()
                raise
            future.add_done_callback(partial(self._report_start, command, token, outcome))
            self._execute_due_commands()
        try:
            refused = outcome.get(timeout=timeout_s)
        except Empty:
            with self._lock:
                if outcome.empty():
                    reason = service_timeout(command.name)
                    self._rules.motion_failed(token, reason)
                    self._execute_due_commands()
                    raise MotionRefused(reason) from None
            refused = outcome.get()
        if refused is not None:
            raise refused

    def _report_start(
        self,
        command: ServiceCommand,
        token: int,
        outcome: SimpleQueue[MotionRefused | None],
        future: Future,
    ) -> None:
        """A robot that refuses may move all the same: it is stopped."""
        refused = None
        with self._lock:
            if why := command.refusal(future.result()):
                refused = MotionRefused(why)
                self._rules.motion_failed(token, why)
            else:
                try:
                    self._rules.motion_started(token)
                except MotionRefused as refusal:
                    refused = refusal
            outcome.put(refused)
            self._execute_due_commands()

    def _move_part(self, name: str) -> None:
        """Send a command that moves the joints of a part, and wait until the rules know how that
        ended. Raises MotionRefused.
        """
        command, part_name = self._part_commands[name], self._part_commands.by_name[name]
        part = self._rules.parts[part_name]
        motion, mast = self._config.thresholds.motion, self._config.thresholds.mast
        with self._lock:
            stops_before = self._stops_asked
            self._await_stop()
            self._rules.check_part(part_name, name)
        self._await_ready(command)
        with self._lock:
            # A stop that arrives before the joints move also ends a motion that can be held.
            by_trajectory = part.commands[name].by_trajectory
            was_stopped = by_trajectory and self._stops_asked != stops_before
            if self._shutting_down or was_stopped:
                raise MotionRefused(STOPPED_WHILE_STARTING)
            if not self._rules.start_part(part_name, name):
                return
            done = threading.Event()
            try:
                future = command.send()
            except MotionRefused as refusal:
                self._rules.part_failed(part_name, str(refusal))
                self._execute_due_commands()
                raise
            future.add_done_callback(lambda _: done.set())
            self._execute_due_commands()
        in_time = done.wait(motion.service_timeout_s)
        ended = threading.Event()

        def report(reason: str) -> None:
            """The robot has ended the motion early. A report after its end is no news."""
            with self._lock:
                if part.busy and not ended.is_set():
                    self._rules.part_failed(part_name, reason)
                    self._execute_due_commands()

        with self._lock:
            if not in_time:
                command.forget(future)
                self._rules.part_failed(part_name, service_timeout(command.name))
            elif why := command.refusal(future.result()):
                self._rules.part_failed(part_name, why)
            else:
                self._rules.part_started(part_name)
                command.watch(report)
            self._execute_due_commands()
            # The rules end the motion in simulated time, at the latest after this bound.
            duration_s = part.commands[name].duration_s + mast.confirm_margin_s
            limit = self._simulation.longest_s(duration_s)
            self._wait(lambda: not part.busy, limit + PART_WAIT_MARGIN_S)
            ended.set()
            self._rules.end_part(part_name, name)

    def _trigger_callback(
        self, service: str, act: Callable[[], None]
    ) -> Callable[[Any, Trigger.Response], Trigger.Response]:
        """A callback of ``service`` that runs ``act``. Its message is the reason of a refusal."""

        def callback(_: Any, response: Trigger.Response) -> Trigger.Response:
            call = self._calls.begin(service)
            try:
                act()
                response.success = True
            except MotionRefused as refusal:
                response.success, response.message = False, str(refusal)
                with self._lock:
                    self._execute_due_commands()  # the status shows the reason
            self._calls.end(call, response.message)
            return response

        return callback

    def _await_stop(self) -> bool:
        """Wait for a running stop to be confirmed. Returns whether there was one. The caller
        holds the lock.
        """
        motion = self._config.thresholds.motion
        timeout_s = motion.stop_timeout_s + self._simulation.stretched(motion.settle_s)
        was_stopping = self._rules.stopping or self._rules.holding
        self._wait(lambda: not (self._rules.stopping or self._rules.holding), timeout_s)
        return was_stopping

    def _await_ready(self, command: JointCommand) -> None:
        timeout_s = self._config.thresholds.motion.service_timeout_s
        if not (command.is_ready() or command.wait_until_ready(timeout_s)):
            reason = service_unavailable(command.name)
            with self._lock:
                self._rules.refuse(reason)
            raise MotionRefused(reason)

    # --- end --------------------------------------------------------------------------------

    def close(self) -> None:
        """Stop what moves, wait at most SHUTDOWN_TIMEOUT_S for standstill, and shut down."""
        with self._lock:
            self._shutting_down = True
            if self._rules.motion is Motion.MOVING or self._moves_appendage():
                self._rules.request_stop()
                self._execute_due_commands()
                self._wait(self._is_at_rest, SHUTDOWN_TIMEOUT_S)
            self._closing = True
            self._changed.notify_all()
        self._publish_inputs()
        self._graph.close()
        for thread in self._threads.values():
            thread.close()
        for node in self._nodes:
            node.destroy_node()


def main() -> None:
    sys.exit(run_app('adapter', AdapterApp))
