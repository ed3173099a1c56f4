# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The node that alone calls the rover. ``_begin_motion`` starts a drive and ``_stop_rover`` ends
it, as ``Rules`` decide. It serves /adapter/* in front of the rover's services.

Each of five threads spins one node, so that no lane waits for another. ``adapter`` runs the rover
clients and subscriptions and serves get_status, ``adapter_stop`` serves move_stop,
``adapter_motion`` the three motions, ``adapter_mast`` the three mast services and those of the
robot's appendages; each serves one call at a time. ``adapter_scan`` reads the scan. A sixth thread
asks the rules what is due at their next wake-up, and a seventh looks names up in the ROS graph:
nothing else waits for it. ``adapter`` also publishes the log of the rules' inputs.

Over 300 lines: the lock order of these threads is easier to check in one file.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
import json
import sys
import threading
import time
from typing import Any

from curiosity_rosa_demo.adapter.graph import (
    CallTrace,
    GraphThread,
    offers,
    other_publishers,
    rival_publishers,
)
from curiosity_rosa_demo.adapter.inputs import Inputs
from curiosity_rosa_demo.adapter.part import Part
from curiosity_rosa_demo.adapter.report import diagnose, mismatch, status_of, StatusSchedule
from curiosity_rosa_demo.adapter.rover_calls import Channel, Command, Commands, StandstillCommand
from curiosity_rosa_demo.adapter.rules import Motion, Rules, STOPPED_WHILE_STARTING
from curiosity_rosa_demo.adapter.steps import encode_batch, HISTORY, MotionRefused, PERIOD_S
from curiosity_rosa_demo.domain.adapter_status import Status
from curiosity_rosa_demo.domain.geometry import DIRECTIONS
from curiosity_rosa_demo.domain.models import TraceKind
from curiosity_rosa_demo.domain.refusal import RefusalCode
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
READY_CHECK_S = 0.05
STOP_LANE, MOTION_LANE, PART_LANE = 'adapter_stop', 'adapter_motion', 'adapter_mast'
OPEN_STOP_CALLS = 10  # whose answers are still awaited, while the stop is called again
Step = Callable[[], None]
Refuse = Callable[[str], None]  # its argument: the reason


class AdapterApp:
    def __init__(self, process: Process) -> None:
        self.node = Node('adapter')
        self._config: Config = node_config(self.node)
        self._limits = self._config.thresholds.motion
        topics, robot = self._config.topics, self._config.robot
        self._lock = threading.RLock()
        self._stepped = threading.Condition(self._lock)  # a step was taken: callers look again
        self._guard_due = threading.Condition(self._lock)  # the guard thread has work, or sooner
        self._rules = Rules(
            self._config.thresholds,
            stop_name=topics.curiosity.move_stop.name,
            steady=time.monotonic,
            ros_clock=self.node.get_clock(),
            robot=robot,
        )
        parts = self._rules.parts.values()
        self._part_commands = [(part, name) for part in parts for name in part.commands]
        losses = LossCounter()
        self._commands = Commands(self.node, self._config, losses)
        self._profiles = shipped_robots(self.node.get_parameter('rover_namespace').value)
        self._trace = TracePublisher(self.node, self._config, losses)
        mast = ', mast unknown' if self._config.robot.has_mast else ''
        self._trace.announce(f'adapter started: rover stopped first{mast}')
        self._graph = GraphThread(process.crash)
        self._calls = CallTrace(self.node, self._graph, topics.status.kernel, self._trace.publish)
        self._shutting_down = False  # True: no motion is started any more
        self._closing = False
        self._stops_asked = 0
        # Of them, those that were asked before the call which the lane serves had come.
        self._stops_before = {MOTION_LANE: 0, PART_LANE: 0}
        self._wakeup_at = 0.0  # of the guard thread
        self._stop_calls = deque[Future | None](maxlen=OPEN_STOP_CALLS)
        wheels = len(self._limits.wheel_joints) if robot.mobile_base else 0
        self._standstill = StandstillCommand(self.node, topics.rover, wheels=wheels, losses=losses)
        self._status_schedule = StatusSchedule()
        texts = partial(GuardedPublisher, self.node, String, losses=losses)
        self._status_topic = texts(topics.status.adapter, history_qos(1))
        self._input_topic = texts(topics.status.adapter_inputs, history_qos(HISTORY))
        self.node.create_timer(PERIOD_S, self._publish_inputs, clock=STEADY_CLOCK)
        self._inputs = Inputs(
            self.node,
            self._config,
            self._rules,
            self._taking,
            self._graph,
            self._calls,
            losses,
        )
        self._rivals: dict[str, list[str]] = {}  # as graph.rival_publishers
        self._mismatch = ''  # as report.mismatch
        Diagnostics(self.node, self._config, 'rover', self._diagnose, losses)
        self._nodes = [self.node, *self._create_services(), self._inputs.scan_node]
        with self._lock:  # the first call may come before the last of them has begun
            self._threads = {
                node.get_name(): SpinThread(node.get_name(), node, on_crash=process.crash)
                for node in self._nodes
            }
        threading.Thread(target=self._run_guard, args=(process,), daemon=True).start()
        self._graph.start(
            self._calls.name_callers,
            self._calls.report,
            self._inputs.look_for_agents,
            self._look_for_drivers,
            self._look_for_robot,
            self._inputs.look_for_scan,
        )

    def _create_services(self) -> list[Node]:
        names = self._config.topics.adapter
        own = [Node(name) for name in (STOP_LANE, MOTION_LANE, PART_LANE)]
        stop, motion, mast = own
        self.node.create_service(Trigger, names.get_status.name, self._serve_status)
        self._serve(stop, names.move_stop.name, self._stop_rover)
        for name in DIRECTIONS if self._rules.has_base else ():
            self._serve(motion, getattr(names, name).name, partial(self._begin_motion, name))
        for part, name in self._part_commands:
            known = getattr(names, name, None)
            service = known.name if known else self._config.appendage_service(name)
            self._serve(mast, service, partial(self._move_part, part, name))
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
        missing = self._commands.missing(name for _, name in self._part_commands)
        is_offered = partial(offers, self.node)
        self._mismatch = mismatch(self._config.nodes.robot, missing, self._profiles, is_offered)

    # --- due commands: after every step -----------------------------------------------------

    @contextmanager
    def _taking(self) -> Iterator[Rules]:
        """The rules for some steps, under the lock. What is due after them is executed, also if
        they refuse: the status shows the reason.
        """
        with self._lock:
            pressed = self._rules.e_stop
            try:
                yield self._rules
            finally:
                self._execute_due_commands()
                if self._rules.e_stop and not pressed:
                    self._end_waiting()

    def _execute_due_commands(self) -> None:
        """Execute the commands that the rules report as due. The caller holds the lock."""
        due = self._rules.due()
        if due.stop_call is not None:
            self._call_stop(due.stop_call)
        if due.zero_twist and not self._standstill.publish():
            self._rules.twist_lost()
        self._commands.hold(due.holds)
        for warning in due.warnings:
            data = {'node': self.node.get_name()}
            self._trace.publish(new_event(TraceKind.OBSERVE, warning, data=data))
        for alarm in due.alarms:
            self._trace.alarm(alarm)
        self._stepped.notify_all()
        if (wakeup_at := self._next_wakeup()) < self._wakeup_at:
            self._wakeup_at = wakeup_at
            self._guard_due.notify()

    def _next_wakeup(self) -> float:
        """Of the guard thread: for the rules, or for the status."""
        status_at = self._status_schedule.due_at(self._status())
        return min(status_at, self._rules.next_wakeup())

    def _call_stop(self, number: int) -> None:
        command, rules = self._commands['move_stop'], self._rules
        if len(self._stop_calls) == OPEN_STOP_CALLS:
            command.channel.forget(self._stop_calls[0])
        answered, failed = partial(rules.stop_answered, number), partial(rules.stop_failed, number)
        self._stop_calls.append(self._send(command, answered, failed)[0])

    def _send(
        self, command: Command, started: Step, failed: Refuse
    ) -> tuple[Future | None, list[str]]:
        """Send it now. With its answer one of the two steps is taken, ``failed`` if the robot
        refused. Returns the future of the answer, and a list that then holds why it is refused, or
        ''. The caller holds the lock.
        """
        answers = list[str]()

        def take(refusal: str) -> None:
            try:
                if refusal:
                    failed(refusal)
                else:
                    started()
            except MotionRefused as refused:
                refusal = str(refused)
            answers.append(refusal)

        def report(future: Future) -> None:
            refusal = command.channel.refusal(future.result())
            with self._taking():
                take(refusal)

        if (future := command.channel.send(command.message)) is not None:
            future.add_done_callback(report)
        else:
            take(RefusalCode.NO_SERVICE.text(name=command.channel.name))
        return future, answers

    def _run_guard(self, process: Process) -> None:
        """Execute what is due, and publish the status, at their times. No service call waits for
        this publisher.
        """
        try:
            with self._lock:
                while not self._closing:
                    self._execute_due_commands()
                    status, now = self._status(), time.monotonic()
                    if now >= self._status_schedule.due_at(status):
                        sent = self._status_topic.publish(String(data=json.dumps(status)))
                        self._status_schedule.published(status if sent else {}, now)
                    self._wakeup_at = self._next_wakeup()
                    self._guard_due.wait(max(0.0, self._wakeup_at - time.monotonic()))
        except Exception as error:
            process.crash(error)

    def _publish_inputs(self) -> None:
        """Publish what the rules have taken in. A batch that is lost shows by its numbers."""
        with self._lock:
            batch = self._rules.inputs.take(time.time() - time.monotonic())
        if batch is not None:
            self._input_topic.publish(String(data=encode_batch(batch)))

    def _status(self) -> Status:
        return status_of(self._rules, self._rivals)

    def _diagnose(self) -> Finding:
        missing = self._commands.missing()
        with self._lock:
            return diagnose(
                self._rules,
                self._status(),
                missing=missing,
                mismatch=self._mismatch,
                ages_s=self._inputs.ages_s(),
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

    def _serve(self, lane: Node, service: str, act: Step) -> None:
        """Run ``act`` on each call of ``service``. The message is the reason of a refusal."""

        def callback(_: Any, response: Trigger.Response) -> Trigger.Response:
            call = self._calls.begin(service)
            try:
                act()
                response.success = True
            except MotionRefused as refusal:
                response.success, response.message = False, str(refusal)
            call.answer = response.message
            self.node.get_logger().debug(f'{service}: {call.answer or "done"}')
            return response

        lane.create_service(Trigger, service, callback)

    def _stop_rover(self) -> None:
        """Call the rover's service, and wait for its standstill. Raises MotionRefused."""
        with self._taking() as rules:
            number = rules.request_stop()
            self._end_waiting()

        def stopped() -> bool:
            done = rules.stops_ended >= number and not rules.pending
            return done or bool(rules.violation)

        with self._lock:
            confirm_s = rules.time.stretched(self._limits.stop_confirm_s)
            self._wait(stopped, self._limits.stop_timeout_s + confirm_s)
            settling_s = rules.time.stretched(self._limits.settling_max_s)
            self._wait(lambda: not rules.settles or stopped(), settling_s)
            if unconfirmed := rules.end_stop(number):
                raise MotionRefused(unconfirmed)

    def _end_waiting(self) -> None:
        """A stop also ends the calls that wait in the lanes. The caller holds the lock."""
        self._stops_asked += 1
        for lane in self._stops_before:
            passed = partial(self._stops_before.update, {lane: self._stops_asked})
            self._threads[lane].post_behind(passed)

    def _begin_motion(self, name: str) -> None:
        """Call the rover's service, and wait for its answer. Raises MotionRefused."""
        command, stops_before = self._commands[name], self._stops_before[MOTION_LANE]
        waits = self._rules.stopping
        if waits or not command.channel.is_ready():
            self._make_ready(command.channel, partial(self._rules.check_motion, name))
        # Stops are served one after another: one that came during another counts first.
        timeout_s = self._limits.service_timeout_s
        if waits and not self._threads[STOP_LANE].await_queued(timeout_s):
            raise MotionRefused(STOPPED_WHILE_STARTING)
        with self._taking() as rules:
            # A stop that arrived meanwhile, or the shutdown, also ends this motion.
            if self._shutting_down or self._stops_asked != stops_before:
                raise MotionRefused(STOPPED_WHILE_STARTING)
            # Check and send under one lock, so that no stop can come between the two.
            token = rules.start_motion(name)
            # A robot that refuses, or answers late, may move all the same: it is stopped.
            failed = partial(rules.motion_failed, token)
            _, answers = self._send(command, partial(rules.motion_started, token), failed)
            self._await_answer(command.channel, answers, failed)

    def _move_part(self, part: Part, name: str) -> None:
        """Send a command that moves the joints of a part, and wait until the rules know how that
        ended. Raises MotionRefused.
        """
        command, settings = self._commands[name], part.commands[name]
        stops_before = self._stops_before[PART_LANE]
        self._make_ready(command.channel, partial(self._rules.check_part, part.name, name))
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
            # A stop that arrives before the joints move also ends this motion.
            if self._shutting_down or self._stops_asked != stops_before:
                raise MotionRefused(STOPPED_WHILE_STARTING)
            if not rules.start_part(part.name, name):
                return
            future, answers = self._send(command, started, failed)
            try:
                self._await_answer(command.channel, answers, failed)
                # The rules end the motion in simulated time, at the latest after this bound.
                margin_s = self._config.thresholds.mast.confirm_margin_s
                limit_s = rules.time.longest_s(settings.duration_s + margin_s)
                self._wait(lambda: not part.busy, limit_s + PART_WAIT_MARGIN_S)
            finally:
                over.set()
                command.channel.forget(future)
            rules.end_part(part.name, name)

    def _make_ready(self, channel: Channel, check: Step) -> None:
        """Wait for a running stop to be confirmed, and for the robot; before that ``check``
        refuses what may not start. Raises MotionRefused.
        """
        with self._taking() as rules:
            limits = self._limits
            timeout_s = limits.stop_timeout_s + rules.time.stretched(limits.settle_s)
            self._wait(lambda: not rules.pending, timeout_s)
            if channel.is_ready():
                return
            check()
        deadline = time.monotonic() + self._limits.service_timeout_s
        while not channel.is_ready():
            if time.monotonic() >= deadline:
                reason = RefusalCode.NO_SERVICE.text(name=channel.name)
                with self._taking() as rules:
                    rules.refuse(reason)
                raise MotionRefused(reason)
            time.sleep(READY_CHECK_S)

    def _await_answer(self, channel: Channel, answers: list[str], failed: Refuse) -> None:
        """Wait for the first of ``answers``, as ``_send`` fills them; without one in time the call
        has failed. Raises MotionRefused. The caller holds the lock; the wait releases it.
        """
        self._execute_due_commands()
        self._wait(lambda: bool(answers), self._limits.service_timeout_s)
        if not answers:
            answers.append(RefusalCode.NO_ANSWER.text(name=channel.name))
            failed(answers[0])
        if answers[0]:
            raise MotionRefused(answers[0])

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
                self._wait(lambda: not rules.pending, SHUTDOWN_TIMEOUT_S)
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
