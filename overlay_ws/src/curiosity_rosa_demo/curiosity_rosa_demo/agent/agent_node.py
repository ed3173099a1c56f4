# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The process of the agent: the console in the main thread, rclpy in a spin thread.

Over 300 lines in one file: it constructs every component, and START and END are the orders in
which they start and end.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from functools import partial
import json
import logging
import os
from pathlib import Path
import signal
import sys
from typing import TYPE_CHECKING

from curiosity_rosa_demo.agent.console import Console
from curiosity_rosa_demo.agent.interfaces.action_server.server import RunTaskServer
from curiosity_rosa_demo.agent.interfaces.terminal.commands import with_templates
from curiosity_rosa_demo.agent.interfaces.terminal.headless import (
    END_SIGNALS,
    print_addresses,
    wait_for_a_signal,
)
from curiosity_rosa_demo.agent.interfaces.terminal.options import parse_arguments
from curiosity_rosa_demo.agent.interfaces.terminal.queries import RULES_NOTE
from curiosity_rosa_demo.agent.interfaces.terminal.terminal import (
    InterruptHandler,
    run_commands,
    run_pipe,
    run_terminal,
    wait_for_go_ahead,
)
from curiosity_rosa_demo.agent.interfaces.terminal.writer import ConsoleWriter
from curiosity_rosa_demo.agent.interfaces.triggers import topics as trigger_topics
from curiosity_rosa_demo.agent.interfaces.triggers.board import TriggerBoard
from curiosity_rosa_demo.agent.interfaces.triggers.door import check_triggers, TriggerDoor
from curiosity_rosa_demo.agent.interfaces.triggers.machine import WorldFacts
from curiosity_rosa_demo.agent.kernel.decision import KernelDecisions
from curiosity_rosa_demo.agent.llm.local_server import missing_model_note
from curiosity_rosa_demo.agent.llm.usage import UsageLedger
from curiosity_rosa_demo.agent.llm.vision import SeenPictures
from curiosity_rosa_demo.agent.policy.autonomy import Autonomy
from curiosity_rosa_demo.agent.policy.clock import PolicyClock
from curiosity_rosa_demo.agent.policy.port import check_world
from curiosity_rosa_demo.agent.policy.suggestion_provider import make_provider
from curiosity_rosa_demo.agent.react.ask import ApprovalQueue
from curiosity_rosa_demo.agent.runtime.execution.session import AgentSession
from curiosity_rosa_demo.agent.runtime.execution.task_spans import TaskSpans
from curiosity_rosa_demo.agent.runtime.robot import Robot
from curiosity_rosa_demo.agent.runtime.runtime import Runtime
from curiosity_rosa_demo.agent.runtime.session_recorder import (
    MAX_TRACE_BYTES,
    SessionFolder,
    SessionRecorder,
    TRACE_FILES,
)
from curiosity_rosa_demo.agent.skills.registry import make_registry
from curiosity_rosa_demo.agent.startup.logs import LogFile
from curiosity_rosa_demo.agent.startup.startup import Startup
from curiosity_rosa_demo.agent.startup.web import (
    check_address,
    WebServer,
    with_http_body,
    with_http_fleet,
    with_http_port,
)
from curiosity_rosa_demo.agent.tasks.task import StoreError
from curiosity_rosa_demo.agent.topics.camera import CameraFeed, RoverPictures
from curiosity_rosa_demo.agent.topics.captures import Analyses, Artifacts, Captures
from curiosity_rosa_demo.agent.topics.clock_monitor import ClockMonitor, ReplayMonitor
from curiosity_rosa_demo.agent.topics.graph.answers import GraphAnswers
from curiosity_rosa_demo.agent.topics.graph.reader import RclpyGraph
from curiosity_rosa_demo.agent.topics.node_health import (
    NodeEvents,
    NodeHealth,
    own_findings,
    read_process_events,
)
from curiosity_rosa_demo.agent.topics.speech import SpeechPublisher
from curiosity_rosa_demo.agent.topics.telemetry import MessageIntake, TelemetrySource
from curiosity_rosa_demo.domain.brain_state import Mode
from curiosity_rosa_demo.domain.models import TraceEvent, TraceKind
from curiosity_rosa_demo.domain.skills import Outcome
from curiosity_rosa_demo.domain.text import printable, visible
from curiosity_rosa_demo.infra.config.base import time_zone
from curiosity_rosa_demo.infra.config_loader import ConfigError
from curiosity_rosa_demo.infra.diagnostics import Diagnostics
from curiosity_rosa_demo.infra.event_thread import EventThread
from curiosity_rosa_demo.infra.files import (
    agent_log_file,
    beside,
    recordings_folder,
    span_file,
    task_database_file,
    trace_file,
)
from curiosity_rosa_demo.infra.process import END_LIMIT_S, end_within, node_config, SpinThread
from curiosity_rosa_demo.infra.ros_io import Heartbeat, LossCounter, TracePublisher
from curiosity_rosa_demo.recording.recorder import RecordingControl
from curiosity_rosa_demo.tools.rover_client import RoverClient
from curiosity_rosa_demo.trace.events import ModelCalled
from curiosity_rosa_demo.trace.jsonl_log import JsonlTraceLog, read_newest
from curiosity_rosa_demo.trace.trace_buffer import EventBus, EventsLost
from curiosity_rosa_demo.trace.trace_codec import new_event
import rclpy
from rclpy._rclpy_pybind11 import RCLError
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions
from rclpy.utilities import remove_ros_args
from std_msgs.msg import String

if TYPE_CHECKING:
    from curiosity_rosa_demo.infra.tracing import TaskTracer

MAX_EARLIER_EVENTS = 5000  # of the runs before, for the page
CLOCK_PATIENCE = 2.0  # imports at the start may delay the reception of /clock
MAX_CONSOLE_TEXTS, MAX_CONSOLE_BYTES = 500, 2_000_000  # kept for consoles that attach
EXIT_CRASHED, EXIT_INTERRUPTED = 70, 130  # exit statuses

_log = logging.getLogger('curiosity_rosa.agent')


class AgentApp:
    """All components of the agent except the source of its console lines. The constructor builds
    them; ``start`` starts their threads, ``close`` ends them.
    """

    def __init__(self, options: argparse.Namespace) -> None:
        self._options = options
        self.crashed = False
        self.outcome: Outcome | None = None  # of the commands of -c
        self._console_texts = EventBus(max_events=MAX_CONSOLE_TEXTS, max_bytes=MAX_CONSOLE_BYTES)
        self.console_writer = ConsoleWriter(self._console_texts)
        self.node = Node('agent')
        config = with_http_port(self.node, node_config(self.node))
        config = with_http_body(self.node, config)
        self.config = with_http_fleet(self.node, config)
        space = self.node.get_namespace()
        check_address(self.config.agent.http)
        self._losses = LossCounter()
        publisher = TracePublisher(self.node, self.config, self._losses)
        self.event_bus = EventBus(self._listener_failed)
        self._tracer = self._make_tracer(space)
        self._recorders: list[JsonlTraceLog] = []
        self._event_threads: list[EventThread[TraceEvent]] = []
        self.recording = RecordingControl(
            self.config,
            recordings_folder(self.config, options.record, space),
            self._print_recording_notice,
        )
        self.rover_client = RoverClient(self.node, self.config, self.recording.record_call)
        self._captures = Captures(
            self.node, self.config, self.rover_client.pose, always_on=bool(options.artifacts)
        )
        self._analyses = Analyses(self.node, self.config)
        self.artifacts = (
            Artifacts(
                options.artifacts,
                self._captures.of,
                self._analyses.picture_of,
                fresh=not options.after_crash,
            )
            if options.artifacts
            else None
        )
        database = task_database_file(self.config.agent.tasks.db_path, space)
        session = SessionFolder(beside(database, self.config.nodes.robot, 'session'))
        trace_paths = (trace_file(self.config, space), self.artifacts and self.artifacts.trace)
        # Read before this run writes to it.
        self._earlier_events = read_newest(session.trace, MAX_EARLIER_EVENTS)
        self._recorders.append(
            JsonlTraceLog(session.trace, max_bytes=MAX_TRACE_BYTES, max_files=TRACE_FILES)
        )
        for path in trace_paths:
            if path:
                limits = self.config.agent.recorder
                self._recorders.append(
                    JsonlTraceLog(
                        path, max_bytes=limits.max_file_mb * 10**6, max_files=limits.max_files
                    )
                )
        for name, kept in (('captures', self._captures), ('analyses', self._analyses)):
            self.event_bus.listen(name, kept.record_event, TraceEvent, own_only=True)
        for recorder in self._recorders:
            self._deliver_in_thread(str(recorder.path), recorder.write)
        self._deliver_in_thread(self.config.topics.trace.events, publisher.publish)
        if self.artifacts is not None:
            self._deliver_in_thread(str(self.artifacts.picture), self.artifacts.record_event)
        debug = self.node.get_logger().get_effective_level() <= logging.DEBUG
        self._log = LogFile(agent_log_file(space), debug=debug)
        self.stack_stream = self._log.stack_stream
        registry = make_registry(self.config)
        check_world(self.config, registry)
        approval_queue = ApprovalQueue(
            timeout_s=self.config.guardrails.approval.timeout_s, is_attended=not options.command
        )
        speech = SpeechPublisher(self.node, self.config, self.console_writer.write, self._losses)
        self._camera = CameraFeed(self.node, self.config)
        llm = self.config.agent.llm
        self.usage = UsageLedger(
            llm,
            beside(database, 'usage'),
            zone=time_zone(self.config.agent.policy.timezone),
            kept_days=self.config.agent.tasks.retention_days,
            on_call=self._on_model_call,
        )
        self.session = AgentSession(
            self.rover_client,
            self.config,
            self.node.get_clock(),
            self.event_bus,
            registry=registry,
            approval_queue=approval_queue,
            checkpoints=beside(database, 'react'),
            say=speech,
            graph=GraphAnswers(
                RclpyGraph(self.node, self.rover_client.transforms), self.config.topics
            ),
            usage=self.usage,
            pictures=SeenPictures(RoverPictures(self._captures, self._camera)),
        )
        telemetry = TelemetrySource(
            self.node, self.config, self.rover_client.transforms, on_urgent=self._tick_now
        )
        ros_clock = self.node.get_clock()  # wall time without use_sim_time
        clock = PolicyClock(lambda: float(ros_clock.now().nanoseconds) * 1e-9)
        self._clock_monitor = ClockMonitor(
            self.node.get_clock(),
            CLOCK_PATIENCE * self.config.thresholds.motion.clock_max_age_s,
            self.console_writer.write,
        )
        self._tick_callbacks: list[Callable[[], None]] = [
            Heartbeat(
                self.node,
                self.config,
                self._losses,
                self._safe_reason,
                self.rover_client.sent_calls,
            ).beat
        ]
        self.runtime = Runtime(
            self.session,
            self.config,
            registry=registry,
            database=database,
            readings=telemetry.snapshot,
            beat=self._on_tick,
            say=self.console_writer.write,
            clock=clock.now,
            event_bus=self.event_bus,
            spans=TaskSpans(self._tracer),
        )
        self.autonomy = Autonomy(
            self.runtime,
            self.config,
            trace=self.session.trace,
            file=beside(database, self.config.agent.policy.world_view, 'policy'),
            clock=clock,
            provider=partial(
                make_provider, self.config, self.session.wait_for_model, usage=self.usage
            ),
            speak=speech,
        )
        triggers = self.config.triggers.triggers
        facts = WorldFacts(self.session.world, telemetry.snapshot)
        check_triggers(triggers, registry, facts.now())
        board = TriggerBoard(triggers)
        trigger_topics.subscribe(self.node, triggers, board.put)
        self.console = Console(
            self.session,
            self.runtime,
            self.autonomy,
            self.config,
            self.console_writer.write,
            self.recording,
            board,
        )
        self._notes = registry.notes
        self.skill_names = [each.name for each in registry]  # for completion
        messages = self.config.agent.policy.topic_messages
        self._message_intake = MessageIntake(
            self.config.topics.agent.messages,
            messages.per_min,
            post=partial(self.autonomy.post_message, interrupts=messages.interrupt),
            say=self.console.print_notice,
            losses=self._losses,
        )
        self.node.create_subscription(
            String, self.config.topics.agent.messages, self._on_message, 10
        )
        self._node_events = NodeEvents(
            self.node,
            self.config,
            self.console.print_notice,
            partial(self.event_bus.publish, own=False),
        )
        self.robot = Robot(
            self.runtime,
            self.session,
            self.autonomy,
            self.console,
            camera=self._camera,
            captures=self._captures,
            analyses=self._analyses,
            nodes=NodeHealth(self.node, self.config, telemetry.snapshot),
            pose=self.rover_client.pose,
            replay=ReplayMonitor(self.node, self.config).text,
            kernel_max_age_s=self.config.agent.kernel.watchdog_s,
            clock_problem=lambda: self._clock_monitor.problem,
            triggers=board,
            console_texts=self._console_texts,
            earlier_events=self._earlier_events,
            earlier=session.load(),
        )
        self._deliver_in_thread(
            str(session.path),
            SessionRecorder(session, self.robot.trail, self._captures.of).record_event,
        )
        self.runtime.subscribe_to_stops(board.on_stop)
        door = TriggerDoor(
            board,
            self.robot,
            self.runtime.loop,
            facts=facts.now,
            trace=self.session.trace,
        )
        self.runtime.subscribe_to_ticks(door.on_tick)
        decisions = KernelDecisions(self.recording.record_decision)
        self.runtime.subscribe_to_ticks(decisions.on_tick)
        self.session.world.on_decision = self.recording.record_decision
        self._tick_callbacks.append(self.robot.record_tick)
        self.web = WebServer(
            self.robot,
            self.runtime.runner,
            self.config,
            self.console.print_notice,
            history=session.view,
            recordings=recordings_folder(self.config, options.record, space),
        )
        self._run_task = RunTaskServer(
            self.config, self.robot, self.runtime.runner, self.runtime.loop
        )
        Diagnostics(
            self.node,
            self.config,
            'runtime',
            lambda: own_findings(self.robot, llm, self._clock_monitor.problem),
            self._losses,
        )
        self._spin: SpinThread | None = None
        self._startup = Startup(
            self.rover_client,
            self.session,
            self.runtime,
            self.autonomy,
            self.console,
            self.robot,
            self.web,
            crash=options.after_crash,
        )
        self.startup_complete = self._startup.complete

    # --- start, in the order of START ---------------------------------------------------------

    def start(self) -> None:
        """Raises StoreError."""
        for step in START:
            step(self)

    def start_console_writer(self) -> None:
        self.console_writer.start()
        self.event_bus.listen('console', self.console.print_event, TraceEvent, own_only=True)

    def start_recording(self) -> None:
        if self._options.record:
            self.console.handle_line(':record on')

    def start_runtime(self) -> None:
        for note in (*self._notes, *self.runtime.start()):
            self.console.print_notice(f'! {note}')

    def start_ros(self) -> None:
        self._spin = SpinThread(
            'agent', self.node, self._run_task.node, on_crash=self._on_ros_failure
        )
        self._tick_callbacks.append(self._clock_monitor.check)  # /clock is heard from now on

    def start_tasks(self) -> None:
        self._startup.start()

    def start_process_events(self) -> None:
        if self._options.process_events_fd is not None:
            read_process_events(self._options.process_events_fd, self._on_process_event)

    # --- callbacks ----------------------------------------------------------------------------

    def _deliver_in_thread(self, name: str, listener: Callable[[TraceEvent], None]) -> None:
        self._event_threads.append(EventThread(self.event_bus, name, listener, TraceEvent))

    def _on_tick(self) -> None:
        for each in self._tick_callbacks:
            each()

    def _safe_reason(self) -> str:
        tasks = self.runtime.state.tasks
        return tasks.mode_reason if tasks.mode is Mode.SAFE else ''

    def _tick_now(self) -> None:
        self.runtime.tick_now()

    def _on_model_call(self, call: ModelCalled) -> None:
        self.event_bus.publish(new_event(**call.trace_fields()))

    def _on_message(self, message: String) -> None:
        self._message_intake.take(message.data)

    def _print_recording_notice(self, text: str) -> None:
        """Show a message about the recording on the console, and on the page in the trace."""
        self.console_writer.write(text)
        self.event_bus.publish(new_event(TraceKind.OBSERVE, text.removeprefix('! ')), own=False)

    def _listener_failed(self, name: str, error: Exception) -> None:
        """Count the trace events that a subscriber lost, for example a file on a full disk.

        The diagnostics report the count; the console shows only the first loss of each listener.
        """
        losses = error.count if isinstance(error, EventsLost) else 1
        if self._losses.count(name, losses) == losses:
            if not isinstance(error, OSError | EventsLost):  # a defect: keep its traceback
                _log.warning('event=listener_failed name=%s', name, exc_info=error)
            self.console_writer.write(printable(f'! {name} has lost trace events: {error}'))

    def _make_tracer(self, space: str) -> TaskTracer | None:
        """None if tracing is off: OpenTelemetry is then not imported. Raises OSError."""
        tracing = self.config.agent.tracing
        if tracing.exporter == 'off':
            return None
        from curiosity_rosa_demo.infra.tracing import make_task_tracer

        return make_task_tracer(
            tracing,
            file=span_file(self.config, space),
            node=self.node.get_name(),
            namespace=space,
            write=self.console_writer.write,
            failed=self._spans_lost,
        )

    def _spans_lost(self, count: int, error: Exception) -> None:
        if self._losses.count('tracing', count) == count:
            self.console_writer.write(printable(f'! tracing has lost spans: {error}'))

    def _on_ros_failure(self, error: Exception) -> None:
        self.crashed = True
        print(f'agent: lost ROS: {error!r}', file=sys.stderr, flush=True)
        os.kill(os.getpid(), signal.SIGTERM)

    def _on_process_event(self, text: str) -> None:
        self.session.trace(TraceKind.ERROR, text, ok=False, error_reason=text)

    # --- end, in the order of END -------------------------------------------------------------

    def close(self) -> None:
        """Stop the rover, then close all components. Unfinished tasks stay for the next run. A
        step that raises keeps no other from its turn.
        """
        for step in END:
            try:
                step(self)
            except Exception:
                _log.exception('event=close_failed step=%s', step.__name__)

    def halt(self) -> None:
        self._startup.cancel()
        busy = self.runtime.halt.busy
        self.runtime.halt_for_good()
        if busy or self._options.headless:  # without a console no operator sees the rover drive
            self.session.stop_rover()

    def end_goals(self) -> None:
        self._run_task.end_goals()

    def close_web(self) -> None:
        self.web.close()
        self._camera.close()

    def join_startup(self) -> None:
        self._startup.join()

    def close_autonomy(self) -> None:
        self.autonomy.close()

    def close_runtime(self) -> None:
        self.runtime.close()
        self.usage.close()

    def linger_goals(self) -> None:
        self._run_task.close()

    def close_recording(self) -> None:
        self.recording.close()

    def close_event_threads(self) -> None:
        for thread in self._event_threads:
            thread.close()

    def close_spans(self) -> None:
        if self._tracer is not None:
            self._tracer.close()

    def close_ros(self) -> None:
        if self._spin is not None:
            self._spin.close()

    def close_logs(self) -> None:
        for recorder in self._recorders:
            recorder.close()
        self._log.close()

    def close_console_writer(self) -> None:
        self.console_writer.close()

    def destroy_nodes(self) -> None:
        self._run_task.destroy()
        self.node.destroy_node()

    def print_result(self, outcome: Outcome | None) -> int:
        """Print the result for scripts: one JSON object, the last line of standard output.

        Returns the exit status.
        """
        picture = self.artifacts and self.artifacts.picture
        result = {
            'ok': outcome is not None and outcome.ok,
            'answer': outcome.answer if outcome else '',
            'score': self.session.last_score,
            'image': str(picture) if picture and Path(picture).exists() else None,
            'trace': str(self.artifacts.trace) if self.artifacts else None,
        }
        print(visible(json.dumps(result, ensure_ascii=False)), flush=True)
        return 0 if result['ok'] else 1


# No thread runs before start().
START: Sequence[Callable[[AgentApp], None]] = (
    AgentApp.start_console_writer,
    AgentApp.start_recording,
    AgentApp.start_runtime,  # the kernel ticks, and the heartbeat begins; no task runs yet
    AgentApp.start_ros,
    AgentApp.start_tasks,  # waits for the other nodes, in a thread, then lets tasks run
    AgentApp.start_process_events,
)
END: Sequence[Callable[[AgentApp], None]] = (
    AgentApp.halt,  # first: from here on no skill moves the rover
    AgentApp.end_goals,
    AgentApp.close_web,
    AgentApp.join_startup,
    AgentApp.close_autonomy,
    AgentApp.close_runtime,
    AgentApp.linger_goals,  # the clients get their results while ROS still spins
    AgentApp.close_recording,
    AgentApp.close_event_threads,  # they publish the last events on a topic
    AgentApp.close_spans,
    AgentApp.close_ros,
    AgentApp.close_logs,
    AgentApp.close_console_writer,
    AgentApp.destroy_nodes,  # once nothing spins them
)


def main() -> None:
    sys.exit(run(sys.argv))


def run(argv: list[str]) -> int:
    options = parse_arguments(remove_ros_args(argv)[1:])
    for stream in (sys.stdin, sys.stdout):
        if stream is not None:  # None: the stream was closed at the start
            stream.reconfigure(encoding='utf-8', errors='replace')  # type: ignore[union-attr]
    rclpy.init(args=argv, signal_handler_options=SignalHandlerOptions.NO)
    for signum in END_SIGNALS if options.headless else (signal.SIGTERM, signal.SIGHUP):
        signal.signal(signum, lambda *_: sys.exit(0 if options.headless else 143))
    try:
        try:
            app = AgentApp(options)
            app.start()
        except (ConfigError, StoreError) as error:
            print(f'agent: {error}', file=sys.stderr, flush=True)
            return 2
        except RCLError as error:  # for example SROS2 without a key
            print(f'agent: cannot start: {error}', file=sys.stderr, flush=True)
            return 2
        except OSError as error:
            print(f'agent: cannot write its records: {error}', file=sys.stderr, flush=True)
            return 2
        try:
            status = _run_to_the_end(app, options)
        finally:
            _ignore_end_signals()
            end_within(END_LIMIT_S, app.stack_stream)
            app.close()
        if not options.command:
            return status
        if status == 0:
            return app.print_result(app.outcome)
        app.print_result(Outcome(False, 'The commands were interrupted.'))
        return status
    finally:
        rclpy.try_shutdown()


def _run_to_the_end(app: AgentApp, options: argparse.Namespace) -> int:
    """Read lines until the end or a signal, and ignore signals from then on: the agent closes.
    Returns the exit status.

    A signal may arrive at each line, also together with the end of the input.
    """
    status: int | None = None
    while True:
        try:
            if status is None:
                status = _read_lines(app, options)
            _ignore_end_signals()
            return status
        except (KeyboardInterrupt, SystemExit):
            exit_status = 0 if options.headless else EXIT_INTERRUPTED
            status = EXIT_CRASHED if app.crashed else exit_status


def _ignore_end_signals() -> None:
    for signum in END_SIGNALS:
        signal.signal(signum, signal.SIG_IGN)


def _read_lines(app: AgentApp, options: argparse.Namespace) -> int:
    if options.headless:
        if not app.web.url:
            app.console.reject_questions()  # a client of the action cannot answer
        print_addresses(app.web.url, app.config.topics.agent.run_task)
        wait_for_a_signal()
        return EXIT_CRASHED if app.crashed else 0
    if note := missing_model_note(app.config.agent.llm):
        app.console.print_notice(note)
    interrupts = InterruptHandler(app.console, exit_at_once=bool(options.command))
    if options.command:
        try:
            if options.together:
                wait_for_go_ahead(app.console, app.startup_complete)
            app.outcome = run_commands(app.console, options.command)
        except KeyboardInterrupt:
            interrupts.wait_for_stop()
            raise
        return 0
    if app.config.agent.llm.provider == 'routine':
        app.console.print_notice(RULES_NOTE)
    if app.web.url:
        app.console.print_notice(f'The page: {app.web.url}')
    app.console.print_notice('Type :help for the commands, or say what you want.')
    if sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty():
        commands = with_templates(app.config.prompts.templates)
        status = app.robot.console_status
        run_terminal(app.console, status, interrupts, commands, app.skill_names)
    else:
        run_pipe(app.console)
    return 0
