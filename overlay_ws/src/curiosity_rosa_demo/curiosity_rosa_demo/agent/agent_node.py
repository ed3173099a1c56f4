# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The process of the agent: the console in the main thread, rclpy in a spin thread.

Four functions build the parts, each from those before it; ``AgentApp.parts`` has the order in
which they start, and end. Over 400 lines in one file: it is the only one that knows all parts.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
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
from curiosity_rosa_demo.agent.interfaces.terminal.commands import RULES_NOTE, with_templates
from curiosity_rosa_demo.agent.interfaces.terminal.options import parse_arguments
from curiosity_rosa_demo.agent.interfaces.terminal.terminal import (
    END_SIGNALS,
    InterruptHandler,
    print_addresses,
    run_commands,
    run_pipe,
    run_terminal,
    wait_for_a_signal,
    wait_for_go_ahead,
)
from curiosity_rosa_demo.agent.interfaces.terminal.writer import ConsoleWriter, use_utf8
from curiosity_rosa_demo.agent.interfaces.triggers import topics as trigger_topics
from curiosity_rosa_demo.agent.interfaces.triggers.door import (
    check_triggers,
    TriggerBoard,
    TriggerDoor,
    world_facts,
)
from curiosity_rosa_demo.agent.kernel.decide import KernelDecisions
from curiosity_rosa_demo.agent.llm.local_server import missing_model_note
from curiosity_rosa_demo.agent.llm.usage import UsageLedger
from curiosity_rosa_demo.agent.llm.vision import SeenPictures
from curiosity_rosa_demo.agent.policy.autonomy import Autonomy
from curiosity_rosa_demo.agent.policy.clock import PolicyClock
from curiosity_rosa_demo.agent.policy.port import check_world
from curiosity_rosa_demo.agent.policy.suggestion_provider import make_provider
from curiosity_rosa_demo.agent.react.ask import ApprovalQueue
from curiosity_rosa_demo.agent.robot import Robot
from curiosity_rosa_demo.agent.runtime.runtime import Runtime
from curiosity_rosa_demo.agent.runtime.session import AgentSession
from curiosity_rosa_demo.agent.runtime.session_recorder import (
    MAX_TRACE_BYTES,
    SessionFolder,
    TRACE_FILES,
)
from curiosity_rosa_demo.agent.runtime.task_spans import TaskSpans
from curiosity_rosa_demo.agent.skills.registry import make_registry, SkillRegistry
from curiosity_rosa_demo.agent.startup.logs import LogFile
from curiosity_rosa_demo.agent.startup.startup import Startup
from curiosity_rosa_demo.agent.startup.web import (
    check_address,
    WebServer,
    with_http_parameters,
)
from curiosity_rosa_demo.agent.tasks.task import StoreError
from curiosity_rosa_demo.agent.topics.camera import CameraFeed, RoverPictures
from curiosity_rosa_demo.agent.topics.captures import Analyses, Artifacts, Captures
from curiosity_rosa_demo.agent.topics.graph_answers import GraphAnswers
from curiosity_rosa_demo.agent.topics.graph_reader import RclpyGraph
from curiosity_rosa_demo.agent.topics.node_health import (
    NodeEvents,
    NodeHealth,
    own_findings,
    read_process_events,
)
from curiosity_rosa_demo.agent.topics.notices import ClockMonitor, ReplayMonitor, SpeechPublisher
from curiosity_rosa_demo.agent.topics.telemetry import MessageIntake, TelemetrySource
from curiosity_rosa_demo.domain.brain_state import BrainState, Mode
from curiosity_rosa_demo.domain.models import TraceEvent, TraceKind
from curiosity_rosa_demo.domain.skills import Outcome
from curiosity_rosa_demo.domain.text import printable, visible
from curiosity_rosa_demo.infra.clocks import SimulationClock
from curiosity_rosa_demo.infra.config.base import time_zone
from curiosity_rosa_demo.infra.config.topics import Config
from curiosity_rosa_demo.infra.config_loader import ConfigError
from curiosity_rosa_demo.infra.diagnostics import Diagnostics
from curiosity_rosa_demo.infra.event_thread import EventThread
from curiosity_rosa_demo.infra.files import (
    agent_log_file,
    beside,
    is_restart,
    mark_start,
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
from curiosity_rosa_demo.trace.jsonl_log import JsonLines, read_newest
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


@dataclass(frozen=True)
class Part:
    """A part of the agent: what starts and what ends it, if anything does."""

    start: Callable[[], object] | None = None
    stop: Callable[[], object] | None = None


@dataclass(frozen=True)
class Records:
    """What is told and kept: the console's texts, the trace, the spans, the log, a recording."""

    texts: EventBus
    writer: ConsoleWriter
    losses: LossCounter
    bus: EventBus
    tracer: TaskTracer | None
    recording: RecordingControl
    session: SessionFolder
    earlier_events: Sequence[TraceEvent]
    log: LogFile
    files: list[JsonLines] = field(default_factory=list)
    threads: list[EventThread] = field(default_factory=list)

    def deliver(self, name: object, listener: Callable[[TraceEvent], None]) -> None:
        """The agent's own trace events, in a thread."""
        self.threads.append(EventThread(self.bus, str(name), listener))

    def keep(self, path: Path, max_bytes: int, max_files: int) -> None:
        """The agent's own trace events, in files."""
        file = JsonLines(path, max_bytes=max_bytes, max_files=max_files)
        self.files.append(file)
        self.deliver(path, file.write)

    def close(self) -> None:
        for file in self.files:
            file.close()
        self.log.close()


@dataclass(frozen=True)
class Body:
    """What the agent has of the rover: its services, pictures and messages."""

    client: RoverClient
    captures: Captures
    analyses: Analyses
    camera: CameraFeed
    artifacts: Artifacts | None
    speech: SpeechPublisher
    clock: ClockMonitor


@dataclass(frozen=True)
class Mind:
    """Kernel, tasks and skills; the rover on its own."""

    registry: SkillRegistry
    usage: UsageLedger
    session: AgentSession
    telemetry: TelemetrySource
    runtime: Runtime
    autonomy: Autonomy


@dataclass(frozen=True)
class Doors:
    """The port, and all that people and programs reach the agent by."""

    robot: Robot
    console: Console
    run_task: RunTaskServer
    web: WebServer
    startup: Startup


def build_records(node: Node, config: Config, options: argparse.Namespace) -> Records:
    """Raises OSError, ConfigError."""
    space, agent = node.get_namespace(), config.agent
    texts = EventBus(max_events=MAX_CONSOLE_TEXTS, max_bytes=MAX_CONSOLE_BYTES)
    writer, losses = ConsoleWriter(texts), LossCounter()
    bus = EventBus(partial(_report_loss, losses, writer))

    def notice(text: str) -> None:
        """Show a message about the recording on the console, and on the page in the trace."""
        writer.write(text)
        bus.publish(new_event(TraceKind.OBSERVE, text.removeprefix('! ')), own=False)

    database = task_database_file(agent.tasks.db_path, space)
    session = SessionFolder(beside(database, config.nodes.robot, 'session'))
    records = Records(
        texts,
        writer,
        losses,
        bus,
        _make_tracer(node, config, writer, losses),
        RecordingControl(config, recordings_folder(config, options.record, space), notice),
        session,
        read_newest(session.trace, MAX_EARLIER_EVENTS),  # before this run writes to it
        LogFile(
            agent_log_file(space),
            debug=node.get_logger().get_effective_level() <= logging.DEBUG,
        ),
    )
    records.keep(session.trace, MAX_TRACE_BYTES, TRACE_FILES)
    if path := trace_file(config, space):
        records.keep(path, agent.recorder.max_file_mb * 10**6, agent.recorder.max_files)
    records.deliver(config.topics.trace.events, TracePublisher(node, config, losses).publish)
    return records


def build_body(node: Node, config: Config, records: Records, options: argparse.Namespace) -> Body:
    client = RoverClient(node, config, records.recording.record_call)
    captures = Captures(node, config, client.pose, always_on=bool(options.artifacts))
    analyses = Analyses(node, config)
    for name, kept in (('captures', captures), ('analyses', analyses)):
        records.bus.listen(name, kept.record_event, TraceEvent, own_only=True)
    artifacts = None
    if options.artifacts:
        fresh = not options.after_crash
        artifacts = Artifacts(options.artifacts, captures.of, analyses.picture_of, fresh=fresh)
        limits = config.agent.recorder
        records.keep(artifacts.trace, limits.max_file_mb * 10**6, limits.max_files)
        records.deliver(artifacts.picture, artifacts.record_event)
    motion = config.thresholds.motion
    patient = motion.changed(clock_max_age_s=CLOCK_PATIENCE * motion.clock_max_age_s)
    return Body(
        client,
        captures,
        analyses,
        CameraFeed(node, config),
        artifacts,
        SpeechPublisher(node, config, records.writer.write, records.losses),
        ClockMonitor(SimulationClock(node.get_clock(), patient), records.writer.write),
    )


def build_mind(
    node: Node, config: Config, records: Records, body: Body, options: argparse.Namespace
) -> Mind:
    agent, policy = config.agent, config.agent.policy
    database = task_database_file(agent.tasks.db_path, node.get_namespace())
    registry = make_registry(config)
    check_world(config, registry)

    def on_call(call: ModelCalled) -> None:
        records.bus.publish(new_event(**call.trace_fields()))

    usage = UsageLedger(
        agent.llm,
        beside(database, 'usage'),
        zone=time_zone(policy.timezone),
        kept_days=agent.tasks.retention_days,
        on_call=on_call,
    )
    session = AgentSession(
        body.client,
        config,
        node.get_clock(),
        records.bus,
        registry=registry,
        approval_queue=ApprovalQueue(
            timeout_s=config.guardrails.approval.timeout_s, is_attended=not options.command
        ),
        checkpoints=beside(database, 'react'),
        say=body.speech,
        graph=GraphAnswers(RclpyGraph(node, body.client.transforms), config.topics),
        usage=usage,
        pictures=SeenPictures(RoverPictures(body.captures, body.camera)),
    )
    session.world.on_decision = records.recording.record_decision
    telemetry = TelemetrySource(
        node, config, body.client.transforms, on_urgent=lambda cause: runtime.tick_now(cause)
    )
    ros_clock = node.get_clock()  # wall time without use_sim_time
    clock = PolicyClock(lambda: float(ros_clock.now().nanoseconds) * 1e-9)
    runtime = Runtime(
        session,
        config,
        registry=registry,
        database=database,
        readings=telemetry.snapshot,
        say=records.writer.write,
        clock=clock.now,
        event_bus=records.bus,
        spans=TaskSpans(records.tracer),
    )
    calls = body.client.sent_calls
    heartbeat = Heartbeat(node, config, records.losses, lambda: _safe_reason(runtime.state), calls)
    runtime.subscribe_to_ticks(lambda state: heartbeat.beat())
    runtime.subscribe_to_ticks(KernelDecisions(records.recording.record_decision).on_tick)
    autonomy = Autonomy(
        runtime,
        config,
        trace=session.trace,
        file=beside(database, policy.world_view, 'policy'),
        clock=clock,
        provider=partial(
            make_provider, config, session.rosa_loader.wait_until_loaded, usage=usage
        ),
        speak=body.speech,
    )
    return Mind(registry, usage, session, telemetry, runtime, autonomy)


def build_doors(
    node: Node,
    config: Config,
    records: Records,
    body: Body,
    mind: Mind,
    options: argparse.Namespace,
) -> Doors:
    """Raises ConfigError."""
    runtime, session, autonomy = mind.runtime, mind.session, mind.autonomy
    write, losses = records.writer.write, records.losses
    triggers = config.triggers.triggers
    facts = partial(world_facts, session.world, mind.telemetry.snapshot)
    check_triggers(triggers, mind.registry, facts())
    board = TriggerBoard(triggers)
    trigger_topics.subscribe(node, triggers, board.put)
    runtime.subscribe_to_stops(board.on_stop)
    robot = Robot(
        runtime,
        session,
        autonomy,
        config,
        say=write,
        camera=body.camera,
        captures=body.captures,
        analyses=body.analyses,
        nodes=NodeHealth(node, config, mind.telemetry.snapshot),
        pose=body.client.pose,
        replay=ReplayMonitor(node, config).text,
        recording=records.recording,
        clock_problem=lambda: body.clock.problem,
        triggers=board.statuses,
        switch_trigger=board.switch,
        console_texts=records.texts,
        earlier_events=records.earlier_events,
        earlier=records.session.load(),
    )
    runtime.subscribe_to_ticks(robot.record_tick)
    record = records.session.record_event
    records.deliver(
        records.session.path, partial(record, trail=robot.trail, capture_of=body.captures.of)
    )
    console = Console(robot, write)
    door = TriggerDoor(board, robot, facts=facts, trace=session.trace)
    runtime.subscribe_to_ticks(door.on_tick)
    messages, topic = config.agent.policy.topic_messages, config.topics.agent.messages
    intake = MessageIntake(
        topic,
        messages.per_min,
        post=partial(autonomy.post_message, interrupts=messages.interrupt),
        say=console.print_notice,
        losses=losses,
    )
    node.create_subscription(String, topic, lambda message: intake.take(message.data), 10)
    NodeEvents(node, config, console.print_notice, partial(records.bus.publish, own=False))
    Diagnostics(
        node,
        config,
        'runtime',
        lambda: own_findings(robot, config.agent.llm, body.clock.problem),
        losses,
    )
    space = node.get_namespace()
    web = WebServer(
        robot,
        console.print_notice,
        history=records.session.view,
        recordings=recordings_folder(config, options.record, space),
    )
    crash = options.after_crash
    startup = Startup(body.client, session, runtime, robot, console, web, crash=crash)
    return Doors(robot, console, RunTaskServer(config, robot), web, startup)


def _safe_reason(state: BrainState) -> str:
    return state.tasks.mode_reason if state.tasks.mode is Mode.SAFE else ''


def _report_loss(losses: LossCounter, writer: ConsoleWriter, name: str, error: Exception) -> None:
    """Count the trace events that a subscriber lost, for example a file on a full disk.

    The diagnostics report the count; the console shows only the first loss of each listener.
    """
    count = error.count if isinstance(error, EventsLost) else 1
    if losses.count(name, count) == count:
        if not isinstance(error, OSError | EventsLost):  # a defect: keep its traceback
            _log.warning('event=listener_failed name=%s', name, exc_info=error)
        writer.write(printable(f'! {name} has lost trace events: {error}'))


def _make_tracer(
    node: Node, config: Config, writer: ConsoleWriter, losses: LossCounter
) -> TaskTracer | None:
    """None if tracing is off: OpenTelemetry is then not imported. Raises OSError."""
    tracing, space = config.agent.tracing, node.get_namespace()
    if tracing.exporter == 'off':
        return None
    from curiosity_rosa_demo.infra.tracing import make_task_tracer

    def lost(count: int, error: Exception) -> None:
        if losses.count('tracing', count) == count:
            writer.write(printable(f'! tracing has lost spans: {error}'))

    return make_task_tracer(
        tracing,
        file=span_file(config, space),
        node=node.get_name(),
        namespace=space,
        write=writer.write,
        failed=lost,
    )


class AgentApp:
    """All parts of the agent except the source of its console lines. The constructor builds them;
    ``start`` starts their threads, ``close`` ends them. Raises ConfigError, OSError.
    """

    def __init__(self, options: argparse.Namespace) -> None:
        self._options = options
        self.crashed = False
        self.outcome: Outcome | None = None  # of the commands of -c
        self.node = node = Node('agent')
        self.config = config = with_http_parameters(node, node_config(node))
        check_address(config.agent.http)
        self.records = build_records(node, config, options)
        self.body = build_body(node, config, self.records, options)
        self.mind = build_mind(node, config, self.records, self.body, options)
        self.doors = build_doors(node, config, self.records, self.body, self.mind, options)
        self._spin: SpinThread | None = None

    def parts(self) -> Sequence[Part]:
        """In the order of their start; they end in the reverse order. No thread runs before."""
        records, mind, doors = self.records, self.mind, self.doors
        return (
            Part(stop=self.destroy_nodes),  # once nothing spins them
            Part(self.start_writer, records.writer.close),
            Part(stop=records.close),
            Part(stop=self.close_ros),
            Part(stop=self.close_spans),
            Part(stop=self.close_event_threads),  # they publish the last events on a topic
            Part(self.start_recording, records.recording.close),
            # The clients get their results while ROS still spins.
            Part(stop=doors.run_task.handles.close),
            Part(stop=mind.usage.close),
            Part(self.start_runtime, mind.runtime.close),  # the kernel ticks; no task runs yet
            Part(self.start_ros),
            Part(stop=mind.autonomy.close),
            # Waits for the other nodes, in a thread, then lets tasks run.
            Part(doors.startup.start, doors.startup.join),
            Part(self.start_process_events),
            Part(stop=self.close_web),
            Part(stop=doors.run_task.end_goals),
            Part(stop=self.halt),  # first: from then on no skill moves the rover
        )

    def start(self) -> None:
        """Raises StoreError."""
        for part in self.parts():
            if part.start is not None:
                part.start()

    def close(self) -> None:
        """Stop the rover, then close all parts. Unfinished tasks stay for the next run. A part
        that raises keeps no other from its turn.
        """
        for part in reversed(self.parts()):
            try:
                if part.stop is not None:
                    part.stop()
            except Exception:
                _log.exception('event=close_failed part=%r', part.stop)

    # --- starts -------------------------------------------------------------------------------

    def start_writer(self) -> None:
        self.records.writer.start()
        shown = self.doors.console.print_event
        self.records.bus.listen('console', shown, TraceEvent, own_only=True)

    def start_recording(self) -> None:
        if self._options.record:
            self.doors.console.handle_line(':record on')

    def start_runtime(self) -> None:
        mind, tasks = self.mind, self.config.agent.tasks
        mark = beside(task_database_file(tasks.db_path, self.node.get_namespace()), 'started')
        # An ordinary start may crash before it has held the tasks of an earlier run.
        go_on = bool(self._options.after_crash) and is_restart(mark)
        for note in (*mind.registry.notes, *mind.runtime.start(go_on=go_on)):
            self.doors.console.print_notice(f'! {note}')
        mind.autonomy.start(go_on=go_on)
        with suppress(OSError):  # then a crash holds the tasks
            mark_start(mark)

    def start_ros(self) -> None:
        nodes = self.node, self.doors.run_task.handles.node
        self._spin = SpinThread('agent', *nodes, on_crash=self._on_ros_failure)
        # /clock is heard from now on
        self.mind.runtime.subscribe_to_ticks(lambda state: self.body.clock.check())

    def start_process_events(self) -> None:
        if self._options.process_events_fd is not None:
            read_process_events(self._options.process_events_fd, self._on_process_event)

    def _on_ros_failure(self, error: Exception) -> None:
        self.crashed = True
        print(f'agent: lost ROS: {error!r}', file=sys.stderr, flush=True)
        os.kill(os.getpid(), signal.SIGTERM)

    def _on_process_event(self, text: str) -> None:
        self.mind.session.trace(TraceKind.ERROR, text, ok=False, error_reason=text)

    # --- ends ---------------------------------------------------------------------------------

    def halt(self) -> None:
        self.doors.startup.cancel()
        halt = self.mind.runtime.halt
        busy = halt.busy
        self.mind.runtime.halt_for_good()
        if busy or self._options.headless:  # without a console no operator sees the rover drive
            halt.send().result()

    def close_web(self) -> None:
        self.doors.web.close()
        self.body.camera.close()

    def close_event_threads(self) -> None:
        for thread in self.records.threads:
            thread.close()

    def close_spans(self) -> None:
        if self.records.tracer is not None:
            self.records.tracer.close()

    def close_ros(self) -> None:
        if self._spin is not None:
            self._spin.close()

    def destroy_nodes(self) -> None:
        self.doors.run_task.handles.destroy()
        self.node.destroy_node()

    def print_result(self, outcome: Outcome | None) -> int:
        """Print the result for scripts: one JSON object, the last line of standard output.

        Returns the exit status.
        """
        artifacts = self.body.artifacts
        picture = artifacts and artifacts.picture
        result = {
            'ok': outcome is not None and outcome.ok,
            'answer': outcome.answer if outcome else '',
            'score': self.mind.session.last_score,
            'image': str(picture) if picture and Path(picture).exists() else None,
            'trace': str(artifacts.trace) if artifacts else None,
        }
        print(visible(json.dumps(result, ensure_ascii=False)), flush=True)
        return 0 if result['ok'] else 1


def main() -> None:
    sys.exit(run(sys.argv))


def run(argv: list[str]) -> int:
    options = parse_arguments(remove_ros_args(argv)[1:])
    use_utf8(sys.stdin, sys.stdout)
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
            end_within(END_LIMIT_S, app.records.log.stack_stream)
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
    console = app.doors.console
    if options.headless:
        if not app.doors.web.url:
            console.reject_questions()  # a client of the action cannot answer
        print_addresses(app.doors.web.url, app.config.topics.agent.run_task)
        wait_for_a_signal()
        return EXIT_CRASHED if app.crashed else 0
    if note := missing_model_note(app.config.agent.llm):
        console.print_notice(note)
    interrupts = InterruptHandler(console, exit_at_once=bool(options.command))
    if options.command:
        try:
            if options.together:
                wait_for_go_ahead(console, app.doors.startup.complete)
            app.outcome = run_commands(console, options.command)
        except KeyboardInterrupt:
            interrupts.wait_for_stop()
            raise
        return 0
    if app.config.agent.llm.provider == 'routine':
        console.print_notice(RULES_NOTE)
    if app.doors.web.url:
        console.print_notice(f'The page: {app.doors.web.url}')
    console.print_notice('Type :help for the commands, or say what you want.')
    if sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty():
        commands = with_templates(app.config.prompts.templates)
        status, skills = app.doors.robot.console_status, [each.name for each in app.mind.registry]
        run_terminal(console, status, interrupts, commands, skills)
    else:
        run_pipe(console)
    return 0
