# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Launch the overlay's nodes beside a running Curiosity demo. nodes.yaml lists the nodes.

ros2 launch gives a node no standard input. The agent is therefore headless, and consoles attach to
it: "ros2 run curiosity_rosa_demo console" in any other terminal. agent:=terminal opens the agent's
own console in an xterm. With agent:=none start the agent yourself: "ros2 run curiosity_rosa_demo
agent_node".
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
import shutil
import signal

from curiosity_rosa_demo.infra.clocks import clock_is_published, time_text
from curiosity_rosa_demo.infra.config.base import ros_name
from curiosity_rosa_demo.infra.config.topics import Config, NodeSpec
from curiosity_rosa_demo.infra.config_loader import load_config, shipped_config_dir
from launch import LaunchContext, LaunchDescription
from launch.actions import (
    DeclareLaunchArgument,
    EmitEvent,
    OpaqueFunction,
    RegisterEventHandler,
    TimerAction,
)
from launch.event_handlers import OnProcessExit, OnProcessStart, OnShutdown
from launch.events import matches_action, Shutdown
from launch.events.process import ProcessExited, ProcessStarted, SignalProcess
from launch.logging import get_logger
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import Parameter

AGENT, MONITOR = 'agent', 'monitor'
ARGUMENTS = {
    'config_dir': (str(shipped_config_dir()), 'folder of the YAML files'),
    'robot': ('', "the robot's profile, robots/NAME.yaml; empty: that of nodes.yaml"),
    'namespace': ('', "ROS namespace of the overlay's own names"),
    'rover_namespace': ('', "namespace of the rover's names, /tf included"),
    'use_sim_time': ('auto', 'take the time from /clock; auto: if it has a publisher now'),
    'clock_topic': ('/clock', 'topic of the simulated time, such as /r1/clock'),
    'use_rviz': ('false', 'open RViz with rviz.yaml'),
    AGENT: (
        'headless',
        'headless: no console of its own; terminal: in an xterm; none: no agent',
    ),
    'monitor': ('false', 'start the independent monitor of the requirements'),
    'http_port': ('0', "port of the agent's page; 0: the port in agent.yaml"),
    'debug': ('false', "the overlay's own lines at debug level"),
}
CHOICES = {AGENT: ['terminal', 'headless', 'none']}
RESTART_DELAY_S = 1.0  # of an agent; the others at once: without the adapter the rover drives on
NO_RESTART_STATUSES = (0, 2)  # of an agent that was asked to exit, or that cannot start
# Ctrl-C, and the hang-up of a terminal, signal all processes at once. The nodes block these two
# signals; this file sends SIGTERM to one node after another. If launch itself is killed, it does
# not end its nodes; the Linux kernel then sends them SIGTERM (pdeathsig).
NODE_PREFIX = 'setpriv --pdeathsig TERM env --block-signal=INT,HUP'
SHUTDOWN_TIMEOUT_S = 20  # after which launch itself sends SIGTERM to a node


def generate_launch_description() -> LaunchDescription:
    arguments = [
        DeclareLaunchArgument(
            name, default_value=default, description=description, choices=CHOICES.get(name)
        )
        for name, (default, description) in ARGUMENTS.items()
    ]
    return LaunchDescription([*arguments, OpaqueFunction(function=_launch_actions)])


def _launch_actions(context: LaunchContext) -> list[object]:
    overlay = Overlay(context)
    return [*overlay.handlers(), *overlay.nodes(), *overlay.rviz()]


class Overlay:
    """Starts the nodes and shuts them down one by one, in the reverse order of nodes.yaml. So the
    agent exits while the other nodes still respond, and the adapter exits last, when no other node
    can move the rover.
    """

    def __init__(self, context: LaunchContext) -> None:
        """Check the arguments and load the configuration. Raises ConfigError, ValueError."""
        self._value = {name: LaunchConfiguration(name).perform(context) for name in ARGUMENTS}
        self._flag = {
            name: _flag(name, self._value[name]) for name in ('use_rviz', 'debug', MONITOR)
        }
        _check_namespace('clock_topic', self._value['clock_topic'])
        self._flag['use_sim_time'] = _sim_time(
            self._value['use_sim_time'], self._value['clock_topic'] or '/clock'
        )
        _check_namespace('rover_namespace', self._value['rover_namespace'])
        if not self._value['http_port'].isdecimal():
            raise ValueError(f'http_port:={self._value["http_port"]}: must be a whole number')
        if self._value[AGENT] == 'terminal' and shutil.which('xterm') is None:
            raise ValueError('agent:=terminal: install xterm, or take agent:=headless')
        self._folder = Path(self._value['config_dir']).expanduser().absolute()
        self._config: Config = load_config(str(self._folder), robot=self._value['robot'])
        self._specs = self._config.node_specs
        self._positions: dict[Node, int] = {}  # index in nodes.yaml
        self._running: set[Node] = set()

    def handlers(self) -> list[RegisterEventHandler]:
        return [
            RegisterEventHandler(OnProcessStart(on_start=self._on_start)),
            RegisterEventHandler(OnProcessExit(on_exit=self._on_exit)),
            RegisterEventHandler(OnShutdown(on_shutdown=self._on_shutdown)),
        ]

    def nodes(self) -> list[Node]:
        wanted = {'': True, AGENT: self._value[AGENT] != 'none', MONITOR: self._flag[MONITOR]}
        return [self._node(spec) for spec in self._specs if wanted[spec.when]]

    def rviz(self) -> Iterator[Node]:
        if not self._flag['use_rviz']:
            return
        own = self._folder / 'rviz.yaml'
        yield Node(
            package='rviz2',
            executable='rviz2',
            arguments=['-d', str(own if own.exists() else shipped_config_dir() / 'rviz.yaml')],
            parameters=[Parameter('use_sim_time', self._flag['use_sim_time'])],
            remappings=[*self._remappings(), *self._clock_remapping()],
        )

    def _remappings(self) -> Iterator[tuple[str, str]]:
        """Remappings from the names in rviz.yaml to the names in the namespaces."""
        rover = self._value['rover_namespace'].strip('/')
        own = self._value['namespace']
        moved = load_config(
            self._folder, robot=self._value['robot'], namespace=own, rover_namespace=rover
        )
        names = (_strings(each.topics.model_dump()) for each in (self._config, moved))
        for old, new in zip(*names, strict=True):
            if old != new:
                yield old, new
        if rover:
            yield '/robot_description', f'/{rover}/robot_description'

    def _clock_remapping(self) -> list[tuple[str, str]]:
        topic = self._value['clock_topic']
        return [] if topic in ('', '/clock') else [('/clock', topic)]

    def _node(self, spec: NodeSpec, *extra_arguments: str) -> Node:
        is_agent = spec.when == AGENT
        terminal = is_agent and self._value[AGENT] == 'terminal'
        headless = ['--headless'] if is_agent and not terminal else []
        port = [Parameter('http_port', int(self._value['http_port']))] if is_agent else []
        node = Node(
            package=spec.package,
            executable=spec.executable,
            exec_name=spec.executable,  # otherwise launch names it after the prefix
            # No name: launch would set __node, which renames every node of the process.
            namespace=self._value['namespace'],
            arguments=[*headless, *extra_arguments],
            # One by one they go into the command line; a dictionary would leave a file in /tmp.
            parameters=[
                Parameter('config_dir', str(self._folder), value_type=str),
                Parameter('rover_namespace', self._value['rover_namespace'], value_type=str),
                Parameter('robot', self._value['robot'], value_type=str),
                Parameter('use_sim_time', self._flag['use_sim_time']),
                *port,
            ],
            remappings=self._clock_remapping(),
            ros_arguments=[
                *spec.log_arguments(self._value['namespace'], debug=self._flag['debug']),
                '--enclave',
                self._enclave(spec),
            ],
            prefix='xterm -e' if terminal else NODE_PREFIX,
            output='screen',
            respawn=not is_agent,  # the agent restarts with --after-crash: see _restart
            sigterm_timeout=str(SHUTDOWN_TIMEOUT_S),
        )
        self._positions[node] = self._specs.index(spec)
        return node

    def _enclave(self, spec: NodeSpec) -> str:
        """The enclave of the policy in docker/sros2. Without SROS2 it has no effect."""
        namespace = self._value['namespace'].strip('/')
        return f'{"/" if namespace else ""}{namespace}/curiosity_rosa/{spec.name}'

    # --- launch event handlers --------------------------------------------------------------

    def _on_start(self, event: ProcessStarted, context: LaunchContext) -> EmitEvent | None:
        if event.action in self._positions:
            self._running.add(event.action)
        return self._stop_last() if context.is_shutdown else None

    def _on_exit(
        self, event: ProcessExited, context: LaunchContext
    ) -> EmitEvent | TimerAction | None:
        self._running.discard(event.action)
        return self._stop_last() if context.is_shutdown else self._restart(event)

    def _on_shutdown(self, _: Shutdown, __: LaunchContext) -> EmitEvent | None:
        return self._stop_last()

    def _stop_last(self) -> EmitEvent | None:
        """Send SIGTERM to the running node that is last in nodes.yaml."""
        if not self._running:
            return None
        last = max(self._running, key=lambda node: self._positions[node])
        return EmitEvent(
            event=SignalProcess(signal_number=signal.SIGTERM, process_matcher=matches_action(last))
        )

    def _restart(self, event: ProcessExited) -> TimerAction | None:
        """Restart a headless agent that crashed. It resumes its tasks."""
        position = self._positions.get(event.action)
        spec = None if position is None else self._specs[position]
        if spec is None or spec.when != AGENT or self._value[AGENT] != 'headless':
            return None
        status = event.returncode
        if status in NO_RESTART_STATUSES:
            return None
        crash = f'signal {-status}' if status < 0 else f'exit status {status}'
        return TimerAction(
            period=RESTART_DELAY_S, actions=[self._node(spec, '--after-crash', crash)]
        )


def _sim_time(text: str, topic: str) -> bool:
    if text.lower() != 'auto':
        return _flag('use_sim_time', text)
    published = clock_is_published(topic)
    get_logger('demo').info(time_text(topic, published, 'use_sim_time:=true'))
    return published


def _flag(name: str, text: str) -> bool:
    flags = {'true': True, '1': True, 'false': False, '0': False}
    if text.lower() not in flags:
        raise ValueError(f'{name}:={text}: must be true or false')
    return flags[text.lower()]


def _check_namespace(name: str, text: str) -> None:
    try:
        if text.strip('/'):
            ros_name(text.strip('/'))
    except ValueError as error:
        raise ValueError(f'{name}:={text}: {error}') from None


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for each in value.values():
            yield from _strings(each)
    elif isinstance(value, str):
        yield value
