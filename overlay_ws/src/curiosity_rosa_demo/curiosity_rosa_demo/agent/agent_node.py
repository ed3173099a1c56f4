# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The agent's process: a console in front of the session, rclpy in a thread behind it.

Over 300 lines, in one file: what is made first is closed last, which shows only side by side.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
import json
import os
from pathlib import Path
import signal
import sys

from curiosity_rosa_demo.agent.console import Console
from curiosity_rosa_demo.agent.interfaces.action_server.server import RunTaskServer
from curiosity_rosa_demo.agent.interfaces.terminal.no_console import (
    ENDS,
    tell_where,
    wait_for_a_signal,
)
from curiosity_rosa_demo.agent.interfaces.terminal.options import parse_arguments
from curiosity_rosa_demo.agent.interfaces.terminal.queries import RULES_NOTE
from curiosity_rosa_demo.agent.interfaces.terminal.terminal import (
    Interrupts,
    run_commands,
    run_pipe,
    run_terminal,
    wait_for_the_others,
)
from curiosity_rosa_demo.agent.interfaces.terminal.writer import Printer
from curiosity_rosa_demo.agent.policy.autonomy.activity_tasks import check_world
from curiosity_rosa_demo.agent.policy.autonomy.autonomy import Autonomy
from curiosity_rosa_demo.agent.policy.autonomy.ros_clock import clock_of
from curiosity_rosa_demo.agent.policy.autonomy.suggestion_model import make_provider
from curiosity_rosa_demo.agent.react.turn.approval_queue import Desk
from curiosity_rosa_demo.agent.runtime.execution.session import Session
from curiosity_rosa_demo.agent.runtime.robot_service import MissionControl
from curiosity_rosa_demo.agent.runtime.runtime import Mission
from curiosity_rosa_demo.agent.skills.registry import make_registry
from curiosity_rosa_demo.agent.startup.logs import LogFile
from curiosity_rosa_demo.agent.startup.startup import Beginning
from curiosity_rosa_demo.agent.startup.web import check_address, Web, with_http_port
from curiosity_rosa_demo.agent.tasks.errors import StoreError
from curiosity_rosa_demo.agent.topics.artifacts import Artifacts
from curiosity_rosa_demo.agent.topics.camera import CameraFeed
from curiosity_rosa_demo.agent.topics.captures import Shots
from curiosity_rosa_demo.agent.topics.node_events import listen, Peers
from curiosity_rosa_demo.agent.topics.node_health import NodeHealth
from curiosity_rosa_demo.agent.topics.own_health import diagnose
from curiosity_rosa_demo.agent.topics.speech import Speech
from curiosity_rosa_demo.agent.topics.telemetry import TelemetrySource
from curiosity_rosa_demo.domain.models import TraceKind
from curiosity_rosa_demo.domain.outcome import Outcome
from curiosity_rosa_demo.infra.config_loader import ConfigError
from curiosity_rosa_demo.infra.diagnostics import Diagnostics
from curiosity_rosa_demo.infra.loss_counter import LossCounter
from curiosity_rosa_demo.infra.ros_io import Heartbeat, node_config, SpinThread, TracePublisher
from curiosity_rosa_demo.infra.storage.paths import (
    agent_log,
    policy_state,
    recordings,
    task_database,
    trace_file,
    turn_checkpoints,
)
from curiosity_rosa_demo.recording.recorder import Recording
from curiosity_rosa_demo.tools.recorded_client import WatchedClient
from curiosity_rosa_demo.trace.bus import EventFeed
from curiosity_rosa_demo.trace.fan_out import TraceFanOut
from curiosity_rosa_demo.trace.jsonl_log import TraceRecorder
import rclpy
from rclpy._rclpy_pybind11 import RCLError
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions
from rclpy.utilities import remove_ros_args
from std_msgs.msg import String

CRASHED, INTERRUPTED = 70, 130  # exit statuses


class AgentApp:
    """Everything but where the lines come from."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.crashed = False
        self._headless = options.headless
        self.printer = Printer()
        self.node = Node('agent')
        self.config = with_http_port(self.node, node_config(self.node))
        space = self.node.get_namespace()
        check_address(self.config.agent.http)
        self._losses = LossCounter()
        publisher = TracePublisher(self.node, self.config, self._losses)
        self._fan_out = TraceFanOut(self._listener_failed)
        self._recorders: list[TraceRecorder] = []
        self.recording = Recording(
            self.config, recordings(self.config, options.record, space), self.printer.say
        )
        self.client = WatchedClient(self.node, self.config, self.recording.called)
        self._shots = Shots(self.node, self.config, self.client.pose)
        self.artifacts = (
            Artifacts(options.artifacts, self._shots.of, fresh=not options.after_crash)
            if options.artifacts
            else None
        )
        for path in (trace_file(self.config, space), self.artifacts and self.artifacts.trace):
            if path:
                self._recorders.append(TraceRecorder(path))
        self.feed = EventFeed()
        for recorder in self._recorders:
            self._fan_out.add(str(recorder.path), recorder.record)
        self._fan_out.add('event feed', self.feed.hear)
        self._fan_out.add(self.config.topics.trace.events, publisher.publish)
        self._fan_out.add('captures', self._shots.hear)
        if self.artifacts is not None:
            self._fan_out.add(str(self.artifacts.picture), self.artifacts.hear)
        self._fan_out.add('console', lambda event: self.console.show(event))
        self._log = LogFile(agent_log(space))
        registry = make_registry(self.config)
        check_world(self.config, registry)
        desk = Desk(timeout_s=self.config.guardrails.approval.timeout_s)
        desk.attended = not options.command
        database = task_database(self.config.agent.tasks.db_path, space)
        self.session = Session(
            self.client,
            self.config,
            self.node.get_clock(),
            self._fan_out.emit,
            registry=registry,
            desk=desk,
            checkpoints=turn_checkpoints(database),
        )
        self.session.world.say = Speech(self.node, self.config, self.printer.say, self._losses)
        telemetry = TelemetrySource(self.node, self.config, on_urgent=self._urgent)
        clock = clock_of(self.node)
        self._each_tick: list[Callable[[], None]] = [
            Heartbeat(self.node, self.config, self._losses).beat
        ]
        self.mission = Mission(
            self.session,
            self.config,
            registry=registry,
            database=database,
            readings=telemetry.snapshot,
            beat=self._beat,
            say=self.printer.say,
            clock=clock.now,
        )
        self.autonomy = Autonomy(
            self.mission,
            self.config,
            trace=self.session.trace,
            file=policy_state(database, self.config.agent.policy.world_view),
            clock=clock,
            provider=partial(make_provider, self.config, self.session.wait_for_model),
            speak=self.session.world.say,
        )
        self.console = Console(
            self.session,
            self.mission,
            self.autonomy,
            self.config,
            self.printer.say,
            self.recording,
        )
        if options.record:
            self.console.enter(':record on')
        for note in (*registry.notes, *self.mission.start()):
            self.console.notice(f'! {note}')
        self.node.create_subscription(
            String, self.config.topics.agent.messages, self._hear_message, 10
        )
        camera = CameraFeed(self.node, self.config)
        self._peers = Peers(self.node, self.config, self.console.notice, self.feed.hear)
        self.control = MissionControl(
            self.mission,
            self.session,
            self.autonomy,
            self.console,
            feed=self.feed,
            camera=camera,
            shots=self._shots,
            nodes=NodeHealth(self.node, self.config, telemetry.snapshot),
            pose=self.client.pose,
            kernel_max_age_s=self.config.agent.kernel.watchdog_s,
        )
        self._each_tick.append(self.control.tick)
        self.web = Web(self.control, self.mission.runner, self.config, self.console.notice)
        self._extras: list[Callable[[], None]] = [self.web.close, camera.close]  # their ends
        run_task = RunTaskServer(self.config, self.control, self.mission.runner)
        self._extras.insert(0, run_task.close)  # before the mission: clients hear of the end
        llm = self.config.agent.llm
        Diagnostics(
            self.node,
            self.config,
            'mission',
            lambda: diagnose(self.control, llm),
            self._losses,
        )
        self._spin = SpinThread('agent', self.node, on_crash=self._crashed)
        self._beginning = Beginning(
            self.client,
            self.session,
            self.mission,
            self.autonomy,
            self.console,
            self.control,
            self.web,
            crash=options.after_crash,
        )
        self.opened = self._beginning.opened
        if options.news_fd is not None:
            listen(options.news_fd, self._process_news)

    def _beat(self) -> None:
        for each in self._each_tick:
            each()

    def _urgent(self) -> None:
        self.mission.urgent()

    def _hear_message(self, message: String) -> None:
        self.autonomy.message(message.data)

    def _listener_failed(self, name: str, error: Exception) -> None:
        """Such as a trace file on a full disk. The diagnostics count all, a person reads of the
        first.
        """
        if self._losses.count(name) == 1:
            self.printer.say(f'! {name} has lost a trace event: {error}')

    def _crashed(self, error: Exception) -> None:
        self.crashed = True
        print(f'agent: lost ROS: {error!r}', file=sys.stderr, flush=True)
        os.kill(os.getpid(), signal.SIGTERM)

    def _process_news(self, text: str) -> None:
        self.session.trace(TraceKind.ERROR, text, ok=False, error_reason=text)

    def close(self) -> None:
        """The rover first. What runs is kept for another run."""
        self._beginning.cancel()
        busy = self.mission.busy
        self.mission.halt()
        if busy or self._headless:  # nobody sits there and sees it drive
            self.session.stop()
        for close in self._extras:
            close()
        self._beginning.join()
        self.autonomy.close()
        self.mission.close()
        self.recording.close()
        self._spin.close()
        for recorder in self._recorders:
            recorder.close()
        self._log.close()
        self.printer.close()
        self.node.destroy_node()

    def report(self, outcome: Outcome | None) -> int:
        """One JSON object on the last line of standard output, for scripts; the exit status."""
        picture = self.artifacts and self.artifacts.picture
        result = {
            'ok': outcome is not None and outcome.ok,
            'answer': outcome.answer if outcome else '',
            'score': self.session.last_score,
            'image': str(picture) if picture and Path(picture).exists() else None,
            'trace': str(self.artifacts.trace) if self.artifacts else None,
        }
        print(json.dumps(result, ensure_ascii=False), flush=True)
        return 0 if result['ok'] else 1


def main() -> None:
    sys.exit(run(sys.argv))


def run(argv: list[str]) -> int:
    options = parse_arguments(remove_ros_args(argv)[1:])
    for stream in (sys.stdin, sys.stdout):
        if stream is not None:  # None: it was closed before we began
            stream.reconfigure(encoding='utf-8', errors='replace')  # type: ignore[union-attr]
    rclpy.init(args=argv, signal_handler_options=SignalHandlerOptions.NO)
    for signum in ENDS if options.headless else (signal.SIGTERM, signal.SIGHUP):
        signal.signal(signum, lambda *_: sys.exit(0 if options.headless else 143))
    try:
        try:
            app = AgentApp(options)
        except (ConfigError, StoreError) as error:
            print(f'agent: {error}', file=sys.stderr, flush=True)
            return 2
        except RCLError as error:  # such as SROS2 without a key
            print(f'agent: cannot start: {error}', file=sys.stderr, flush=True)
            return 2
        except OSError as error:
            print(f'agent: cannot write its records: {error}', file=sys.stderr, flush=True)
            return 2
        status: int | None = None
        try:
            status = _converse(app, options)
        except (KeyboardInterrupt, SystemExit):
            told_to_end = 0 if options.headless else INTERRUPTED
            status = CRASHED if app.crashed else told_to_end
        finally:
            for signum in ENDS:
                signal.signal(signum, signal.SIG_IGN)  # it is leaving already
            app.close()
        if not options.command:
            return status
        if status == 0:
            return app.report(app.console.last)
        app.report(Outcome(False, 'The commands were interrupted.'))
        return status
    finally:
        rclpy.try_shutdown()


def _converse(app: AgentApp, options: argparse.Namespace) -> int:
    if options.headless:
        if not app.web.url:
            app.console.nobody_answers()  # an action has no way to
        tell_where(app.web.url, app.config.topics.agent.run_task)
        wait_for_a_signal()
        return CRASHED if app.crashed else 0
    interrupts = Interrupts(app.console)
    if options.command:
        if options.together:
            wait_for_the_others(app.console, app.opened)
        run_commands(app.console, options.command)
        return 0
    if app.config.agent.llm.provider == 'routine':
        app.console.notice(RULES_NOTE)
    if app.web.url:
        app.console.notice(f'The page: {app.web.url}')
    app.console.notice('Type :help for the commands, or say what you want.')
    if sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty():
        run_terminal(app.console, app.session, interrupts)
    else:
        run_pipe(app.console)
    return 0
