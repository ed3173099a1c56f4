"""The agent's process: a console in front of the session, rclpy in a thread behind it."""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

import rclpy
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions
from rclpy.utilities import remove_ros_args

from curiosity_rosa_demo.agent.artifacts import Artifacts
from curiosity_rosa_demo.agent.console import RULES_NOTE, Console
from curiosity_rosa_demo.agent.peers import Peers
from curiosity_rosa_demo.agent.session import Session
from curiosity_rosa_demo.agent.terminal import run_commands, run_pipe, run_terminal
from curiosity_rosa_demo.domain.models import TraceEvent, TraceKind
from curiosity_rosa_demo.infra.config_loader import ConfigError
from curiosity_rosa_demo.infra.ros_io import SpinThread, TracePublisher, node_config
from curiosity_rosa_demo.tools.rover_client import RoverClient
from curiosity_rosa_demo.trace.trace_recorder import TraceRecorder

READY_WAIT_S = 20.0


class AgentApp:
    """Everything but where the lines come from."""

    def __init__(self, artifacts_dir: str) -> None:
        self.node = Node('agent')
        self.config = node_config(self.node)
        self._publisher = TracePublisher(self.node, self.config)
        self._recorders: list[TraceRecorder] = []
        self.client = RoverClient(self.node, self.config)
        self.artifacts = (
            Artifacts(self.node, self.config, artifacts_dir) if artifacts_dir else None
        )
        for path in (self.config.agent.recorder.path, self.artifacts and self.artifacts.trace):
            if path:
                self._recorders.append(TraceRecorder(path))
        self.session = Session(self.client, self.config, self.node.get_clock(), self._emit)
        self.console = Console(self.session, self.config, self._print)
        self._peers = Peers(self.node, self.config, self.console.notice)
        self._printing = threading.Lock()
        self._spin = SpinThread('agent', self.node, on_crash=self._crashed)

    def _emit(self, event: TraceEvent) -> None:
        for recorder in self._recorders:
            recorder.record(event)
        self._publisher.publish(event)
        if self.artifacts is not None and event.tool_name == 'capture_and_score' and event.ok:
            self.artifacts.save_capture()
        self.console.show(event)

    def _print(self, text: str) -> None:
        print(text, flush=True)

    def _crashed(self, error: Exception) -> None:
        print(f'agent: lost ROS: {error!r}', file=sys.stderr, flush=True)
        os.kill(os.getpid(), signal.SIGTERM)

    def wait_for_the_others(self) -> None:
        """Give the other nodes time to appear; say so when they do not."""
        done = threading.Event()
        for _ in range(int(READY_WAIT_S / 0.02)):
            if self.client.ready():
                return
            done.wait(0.02)
        self.console.notice(
            f'! The adapter or the simulator node did not appear within {READY_WAIT_S:g} s; '
            'commands will say what is missing.'
        )

    def report_crash(self, cause: str) -> None:
        """The agent before this one died: stop what it left driving, and say so."""
        outcome = self.session.stop('the restarted agent')
        rover = 'the rover was stopped' if outcome.ok else f'stopping failed: {outcome.answer}'
        text = f'The agent was restarted after {cause}; what it was doing is lost, {rover}.'
        self.session.trace(TraceKind.ERROR, text, ok=False, error_reason=cause)

    def close(self) -> None:
        if self.console.busy:
            self.console.stop('the end of the console')
            self.console.wait(5.0)
        self._spin.close()
        for recorder in self._recorders:
            recorder.close()
        self.node.destroy_node()


def parse_arguments(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog='agent_node', description='The console of the rover.')
    parser.add_argument(
        '-c', '--command', action='append', default=[], help='run this command and leave'
    )
    parser.add_argument('--artifacts', default='', help='folder for capture.jpg and trace.jsonl')
    parser.add_argument('--after-crash', default='', help=argparse.SUPPRESS)
    return parser.parse_args(arguments)


def main() -> None:
    sys.exit(run(sys.argv))


def run(argv: list[str]) -> int:
    options = parse_arguments(remove_ros_args(argv)[1:])
    for stream in (sys.stdin, sys.stdout):
        stream.reconfigure(encoding='utf-8', errors='replace')  # type: ignore[union-attr]
    rclpy.init(args=argv, signal_handler_options=SignalHandlerOptions.NO)
    signal.signal(signal.SIGTERM, _leave)
    try:
        try:
            app = AgentApp(options.artifacts)
        except ConfigError as error:
            print(f'agent: {error}', file=sys.stderr, flush=True)
            return 2
        except OSError as error:
            print(f'agent: cannot write its records: {error}', file=sys.stderr, flush=True)
            return 2
        try:
            return _converse(app, options)
        except (KeyboardInterrupt, SystemExit):
            return 130
        finally:
            app.close()
    finally:
        rclpy.try_shutdown()


def _leave(*_: object) -> None:
    raise SystemExit(143)


def _converse(app: AgentApp, options: argparse.Namespace) -> int:
    app.wait_for_the_others()
    if options.after_crash:
        app.report_crash(options.after_crash)
    if options.command:
        run_commands(app.console, options.command)
        return _report(app)
    if app.config.agent.llm.provider == 'routine':
        app.console.notice(RULES_NOTE)
    app.console.notice('Type :help for the commands, or say what you want.')
    if sys.stdin.isatty():
        run_terminal(app.console, app.session)
    else:
        run_pipe(app.console)
    return 0


def _report(app: AgentApp) -> int:
    """One JSON object on the last line of standard output, for scripts."""
    last = app.console.last
    ok = last is not None and last.ok
    picture = app.artifacts and app.artifacts.picture
    print(
        json.dumps(
            {
                'ok': ok,
                'answer': last.answer if last else '',
                'score': app.session.last_score,
                'image': str(picture) if picture and Path(picture).exists() else None,
                'trace': str(app.artifacts.trace) if app.artifacts else None,
            },
            ensure_ascii=False,
        ),
        flush=True,
    )
    return 0 if ok else 1
