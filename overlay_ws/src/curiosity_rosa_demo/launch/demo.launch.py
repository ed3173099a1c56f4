# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The overlay's nodes beside a Curiosity demo that runs already. The list of nodes is nodes.yaml.

ros2 launch gives a node no standard input: agent:=terminal opens the console in an xterm,
agent:=headless starts one that is reached by HTTP and the action, and with agent:=none there is
"ros2 run curiosity_rosa_demo agent_node" in a terminal of your own.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
import shutil
import signal

from curiosity_rosa_demo.infra.config.base import ros_name
from curiosity_rosa_demo.infra.config.contracts import Config
from curiosity_rosa_demo.infra.config.nodes import NodeSpec
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
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue

AGENT = 'agent'
ARGUMENTS = {
    'config_dir': (str(shipped_config_dir()), 'folder of the YAML files'),
    'namespace': ('', "ROS namespace of the overlay's own names"),
    'rover_namespace': ('', "namespace of the rover's names, /tf included"),
    'use_sim_time': ('true', 'take the time from /clock, as the Gazebo demo does'),
    'use_rviz': ('false', 'open RViz with rviz.yaml'),
    AGENT: ('none', 'terminal: console in an xterm; headless: no console; none: no agent'),
    'http_port': ('0', "port of the agent's page; 0: the port in agent.yaml"),
    'debug': ('false', 'log at debug level'),
}
CHOICES = {AGENT: ['terminal', 'headless', 'none']}
AGAIN_S = 1.0  # from the end of a node to its next start
LEFT = (0, 2)  # exit statuses of an agent that was told to leave, or cannot start
# Ctrl-C, or the end of a terminal, reaches every process at once. The nodes do not hear it: they
# are told in turn, and by the kernel should launch itself be killed, which ends its nodes not.
IN_TURN = 'setpriv --pdeathsig TERM env --block-signal=INT,HUP'
END_WAIT_S = 20  # for the turn of a node, before launch ends it itself


def generate_launch_description() -> LaunchDescription:
    arguments = [
        DeclareLaunchArgument(
            name, default_value=default, description=description, choices=CHOICES.get(name)
        )
        for name, (default, description) in ARGUMENTS.items()
    ]
    return LaunchDescription([*arguments, OpaqueFunction(function=_begin)])


def _begin(context: LaunchContext) -> list[object]:
    overlay = Overlay(context)
    return [*overlay.handlers(), *overlay.nodes(), *overlay.rviz()]


class Overlay:
    """Starts the nodes, and ends them one after the other, the last of nodes.yaml first: the agent
    while the others still answer it, the adapter when nobody is left who could move the rover.
    """

    def __init__(self, context: LaunchContext) -> None:
        """Raises ConfigError and ValueError."""
        self._value = {name: LaunchConfiguration(name).perform(context) for name in ARGUMENTS}
        self._flag = {
            name: _flag(name, self._value[name]) for name in ('use_sim_time', 'use_rviz', 'debug')
        }
        _check_namespace('rover_namespace', self._value['rover_namespace'])
        if not self._value['http_port'].isdecimal():
            raise ValueError(f'http_port:={self._value["http_port"]}: must be a whole number')
        if self._value[AGENT] == 'terminal' and shutil.which('xterm') is None:
            raise ValueError('agent:=terminal: install xterm, or take agent:=headless')
        self._folder = Path(self._value['config_dir']).expanduser().absolute()
        self._config: Config = load_config(str(self._folder))
        self._specs = self._config.nodes.nodes
        self._places: dict[Node, int] = {}  # in the list
        self._running: set[Node] = set()

    def handlers(self) -> list[RegisterEventHandler]:
        return [
            RegisterEventHandler(OnProcessStart(on_start=self._started)),
            RegisterEventHandler(OnProcessExit(on_exit=self._exited)),
            RegisterEventHandler(OnShutdown(on_shutdown=self._shut_down)),
        ]

    def nodes(self) -> list[Node]:
        wanted = self._value[AGENT] != 'none'
        return [self._node(spec) for spec in self._specs if wanted or spec.when != AGENT]

    def rviz(self) -> Iterator[Node]:
        if not self._flag['use_rviz']:
            return
        own = self._folder / 'rviz.yaml'
        yield Node(
            package='rviz2',
            executable='rviz2',
            arguments=['-d', str(own if own.exists() else shipped_config_dir() / 'rviz.yaml')],
            parameters=[{'use_sim_time': self._flag['use_sim_time']}],
            remappings=list(self._moved()),
        )

    def _moved(self) -> Iterator[tuple[str, str]]:
        """The names that rviz.yaml has, and where the namespaces put them."""
        rover = self._value['rover_namespace'].strip('/')
        topics = self._config.topics
        moved = topics.in_namespace(self._value['namespace'], rover=rover)
        for old, new in zip(_texts(topics.model_dump()), _texts(moved.model_dump()), strict=True):
            if old != new:
                yield old, new
        if rover:
            yield '/robot_description', f'/{rover}/robot_description'

    def _node(self, spec: NodeSpec, *more: str) -> Node:
        is_agent = spec.when == AGENT
        terminal = is_agent and self._value[AGENT] == 'terminal'
        headless = ['--headless'] if is_agent and not terminal else []
        port = {'http_port': int(self._value['http_port'])} if is_agent else {}
        node = Node(
            package=spec.package,
            executable=spec.executable,
            exec_name=spec.executable,  # else it would be called env
            # No name: a process holds several nodes, and a global __node remap would rename all.
            namespace=self._value['namespace'],
            arguments=[*headless, *more],
            parameters=[
                {
                    'config_dir': ParameterValue(str(self._folder), value_type=str),
                    'rover_namespace': ParameterValue(
                        self._value['rover_namespace'], value_type=str
                    ),
                    'use_sim_time': self._flag['use_sim_time'],
                    **port,
                }
            ],
            ros_arguments=[
                '--log-level',
                'debug' if self._flag['debug'] else 'info',
                '--enclave',
                self._enclave(spec),
            ],
            prefix='xterm -e' if terminal else IN_TURN,
            output='screen',
            respawn=not is_agent,  # the agent is to know of its end: see _again
            respawn_delay=AGAIN_S,
            sigterm_timeout=str(END_WAIT_S),
        )
        self._places[node] = self._specs.index(spec)
        return node

    def _enclave(self, spec: NodeSpec) -> str:
        """As docker/sros2 has it; without SROS2 it means nothing."""
        namespace = self._value['namespace'].strip('/')
        return f'{"/" if namespace else ""}{namespace}/curiosity_rosa/{spec.name}'

    # --- what launch tells ------------------------------------------------------------------

    def _started(self, event: ProcessStarted, context: LaunchContext) -> EmitEvent | None:
        if event.action in self._places:
            self._running.add(event.action)
        return self._next() if context.is_shutdown else None

    def _exited(
        self, event: ProcessExited, context: LaunchContext
    ) -> EmitEvent | TimerAction | None:
        self._running.discard(event.action)
        return self._next() if context.is_shutdown else self._again(event)

    def _shut_down(self, _: Shutdown, __: LaunchContext) -> EmitEvent | None:
        return self._next()

    def _next(self) -> EmitEvent | None:
        """Tell the last one that still runs to leave."""
        if not self._running:
            return None
        last = max(self._running, key=lambda node: self._places[node])
        return EmitEvent(
            event=SignalProcess(signal_number=signal.SIGTERM, process_matcher=matches_action(last))
        )

    def _again(self, event: ProcessExited) -> TimerAction | None:
        """A headless agent that crashed starts again, and goes on with its tasks."""
        place = self._places.get(event.action)
        spec = None if place is None else self._specs[place]
        if spec is None or spec.when != AGENT or self._value[AGENT] != 'headless':
            return None
        status = event.returncode
        if status in LEFT:
            return None
        crash = f'signal {-status}' if status < 0 else f'exit status {status}'
        return TimerAction(period=AGAIN_S, actions=[self._node(spec, '--after-crash', crash)])


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


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for each in value.values():
            yield from _texts(each)
    elif isinstance(value, str):
        yield value
