# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The processes of the demo, from nodes.yaml, which demo.launch.py reads too. Pure."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
import importlib.util
from pathlib import Path
import sys

from curiosity_physics import demos
from curiosity_rosa_demo.infra.config.agent import fleet_text
from curiosity_rosa_demo.infra.config.topics import NodeSpec
from curiosity_rosa_demo.infra.config_loader import ConfigError

STAND_IN, MUJOCO = 'stand-in', 'mujoco'  # the bodies that it can start
STAND_IN_NODE = NodeSpec(
    name='stand_in', package='curiosity_stand_in', executable='stand_in_node', when=''
)
PROFILE_STAND_IN = STAND_IN_NODE.model_copy(update={'executable': 'profile_node'})
PHYSICS_NODE = NodeSpec(
    name='physics', package='curiosity_physics', executable='physics_node', when=''
)


@dataclass(frozen=True)
class Options:
    """The options of run_demo.sh."""

    commands: tuple[str, ...] = ()
    speed: float = 1.0
    artifacts: str = ''
    record: str = ''
    body: str = STAND_IN  # STAND_IN or MUJOCO; empty: a rover is already running
    demos: str = ''  # the clone of space-ros/demos for MUJOCO; empty: a rover of our own
    config_dir: str = ''
    robot: str = ''  # the profile; empty: as configured
    body_parameters: tuple[str, ...] = ()  # NAME=VALUE
    rovers: tuple[str, ...] = ()  # their names, which are their namespaces
    discovery_server: bool = False
    robots: tuple[str, ...] = ()  # the profile of each of rovers; empty: robot
    rover: str = ''  # the rover of these options, one of rovers
    monitor: bool = False  # start the independent monitor
    http_port: int = 0  # of the rover's agent; 0: as configured
    http_fleet: str = ''  # the robots of the page /fleet, as the agent reads them

    outside_sim_time: bool | None = None  # of a rover that already runs; None: not known yet

    @property
    def sim_time(self) -> bool:
        if not self.body:
            return bool(self.outside_sim_time)
        return self.body == MUJOCO or self.speed != 1.0

    @property
    def clock(self) -> str:
        """The topic of the simulated time."""
        return f'/{self.rover}/clock' if self.rover else '/clock'


@dataclass(frozen=True)
class PlannedProcess:
    name: str
    command: tuple[str, ...]
    stops_last: bool = False


def of_each(options: Options, http_port: int) -> list[Options]:
    """The options of each rover. ``http_port`` is that of the first rover; 0: as configured, any
    free ones, so that the agents cannot know each other's.
    """
    robots = options.robots or ('',) * len(options.rovers)
    ports = {name: http_port and http_port + number for number, name in enumerate(options.rovers)}
    urls = {name: f'http://127.0.0.1:{port}' for name, port in ports.items()}
    return [
        replace(
            options,
            rover=name,
            robot=robot or options.robot,
            artifacts=_folder(options.artifacts, name),
            record=_folder(options.record, name),
            http_port=ports[name],
            http_fleet=fleet_text(urls) if http_port else '',
        )
        for name, robot in zip(options.rovers, robots, strict=True)
    ]


def _folder(parent: str, name: str) -> str:
    return str(Path(parent, name)) if parent else ''


def background(
    options: Options, nodes: list[NodeSpec], root: Path, *, mobile_base: bool = True
) -> list[PlannedProcess]:
    """The processes that run in the background. ``mobile_base``: of the robot's profile. Raises
    ConfigError and FileNotFoundError.
    """
    body = _body(options, root, mobile_base=mobile_base)
    names = Counter([*(process.name for process in body), *(node.name for node in nodes)])
    for name, count in names.items():
        if count > 1:
            raise ConfigError(f'nodes.yaml: name {name!r} is taken twice; give each its own')
    wanted = {'', 'monitor'} if options.monitor else {''}
    planned = [_plan(node, options, root) for node in nodes if node.when in wanted]
    return [*body, *planned]


def _body(options: Options, root: Path, *, mobile_base: bool) -> list[PlannedProcess]:
    if options.body == STAND_IN:
        return [_stand_in(options, root, mobile_base=mobile_base)]
    return _physics(options, root) if options.body == MUJOCO else []


def _physics(options: Options, root: Path) -> list[PlannedProcess]:
    if importlib.util.find_spec('mujoco') is None:
        raise ConfigError('--body mujoco: MuJoCo is not installed; run scripts/setup.sh --physics')
    parameters = [f'time_scale:={float(options.speed)}']
    parameters += [each.replace('=', ':=', 1) for each in options.body_parameters]
    nodes: list[PlannedProcess] = []
    if options.demos:
        try:
            folder = demos.find(options.demos)
        except ValueError as error:
            raise ConfigError(f'--demos {error}') from None
        parameters.append(f'demos:={folder}')
        nodes = [
            PlannedProcess(
                file.name,
                (sys.executable, str(file), '--ros-args', '-p', 'use_sim_time:=true'),
                stops_last=True,
            )
            for file in demos.node_files(folder)
        ]
    command = [_executable(PHYSICS_NODE, root), '--ros-args', *_pairs('-p', parameters)]
    return [PlannedProcess(PHYSICS_NODE.name, tuple(command), stops_last=True), *nodes]


def _stand_in(options: Options, root: Path, *, mobile_base: bool) -> PlannedProcess:
    parameters = [
        f'time_scale:={float(options.speed)}',
        f'publish_clock:={"true" if options.sim_time else "false"}',
        *(each.replace('=', ':=', 1) for each in options.body_parameters),
    ]
    if not mobile_base and options.body_parameters:
        name = options.body_parameters[0].partition('=')[0]
        raise ConfigError(f'--stand-in {name}: is for a rover; {options.robot} has no mobile base')
    parameters += _profile_parameters(options)
    node = STAND_IN_NODE if mobile_base else PROFILE_STAND_IN
    command = [_executable(node, root), '--ros-args', *_pairs('-p', parameters)]
    command += _pairs('-r', _own_namespace(options))
    return PlannedProcess(STAND_IN_NODE.name, tuple(command), stops_last=True)


def _profile_parameters(options: Options) -> list[str]:
    named = {'config_dir': options.config_dir, 'robot': options.robot}
    return [f'{name}:={value}' for name, value in named.items() if value]


def agent(
    options: Options, nodes: list[NodeSpec], root: Path, *, crash: str = '', process_events_fd: int
) -> list[str]:
    """The command line of the agent. Raises ConfigError and FileNotFoundError.

    ``crash``: how the previous agent ended. ``process_events_fd``: the descriptor from which the
    agent reads the events of the other processes.
    """
    agents = [node for node in nodes if node.when == 'agent']
    if len(agents) != 1:
        raise ConfigError(f'nodes.yaml: {len(agents)} nodes have when: agent; it must be one')
    command = [_executable(agents[0], root), '--process-events-fd', str(process_events_fd)]
    command += _pairs('-c', options.commands)
    if options.rover and options.commands:
        command.append('--together')
    if options.artifacts:
        command += ['--artifacts', options.artifacts]
    if options.record:
        command += ['--record', options.record]
    if crash:
        command += ['--after-crash', crash]
    command += _ros_arguments(options)
    if body := _body_text(options):
        command += ['-p', f'http_body:={body}']
    if options.http_port:
        command += ['-p', f'http_port:={options.http_port}']
    if options.http_fleet:
        command += ['-p', f'http_fleet:={options.http_fleet}']
    return command


def _body_text(options: Options) -> str:
    """What the page says of the rover; nothing of one that already runs."""
    if options.body == MUJOCO:
        return "mujoco (demo's URDF)" if options.demos else 'mujoco'
    return options.body


def _plan(node: NodeSpec, options: Options, root: Path) -> PlannedProcess:
    return PlannedProcess(node.name, (_executable(node, root), *_ros_arguments(options)))


def _ros_arguments(options: Options) -> list[str]:
    parameters = [f'use_sim_time:={"true" if options.sim_time else "false"}']
    parameters += _profile_parameters(options)
    if options.rover:
        # Without the slash, YAML reads "on" as a boolean and "1e3" as a number.
        parameters.append(f'rover_namespace:=/{options.rover}')
    remaps = _own_namespace(options)
    if options.rover and options.sim_time:
        remaps.append(f'/clock:={options.clock}')  # each stand-in has its own clock
    pairs = [*_pairs('-p', parameters), *_pairs('-r', remaps)]
    return ['--ros-args', '--log-level', 'warn', *pairs]


def _own_namespace(options: Options) -> list[str]:
    return [f'__ns:=/{options.rover}'] if options.rover else []


def _pairs(flag: str, values: tuple[str, ...] | list[str]) -> list[str]:
    return [part for value in values for part in (flag, value)]


def _executable(node: NodeSpec, root: Path) -> str:
    for workspace in ('overlay_ws', 'standalone'):
        path = root / workspace / 'install' / node.package / 'lib' / node.package / node.executable
        if path.exists():
            return str(path)
    raise FileNotFoundError(
        f'{node.package}/{node.executable} is not built; run scripts/setup.sh again'
    )
