# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The options of run_demo.sh, checked before anything starts, and the processes that they ask for,
from nodes.yaml, which demo.launch.py reads too. Pure.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
import importlib.util
import os
from pathlib import Path
import re
import sys
from typing import NoReturn

from curiosity_physics import demos
from curiosity_physics import settings as physics
from curiosity_rosa_demo.infra.config.agent import fleet_text
from curiosity_rosa_demo.infra.config.base import parse_yaml
from curiosity_rosa_demo.infra.config.topics import NodeSpec
from curiosity_rosa_demo.infra.config_loader import ConfigError
from curiosity_stand_in import settings as stand_in

from runner.supervision import PlannedProcess

STAND_IN, MUJOCO = 'stand-in', 'mujoco'  # the bodies that it can start
OF_OPTIONS = ('time_scale', 'publish_clock', 'demos')  # parameters that options of their own set
BODIES = {
    body: {name: each for name, each in parameters.items() if name not in OF_OPTIONS}
    for body, parameters in ((STAND_IN, stand_in.PARAMETERS), (MUJOCO, physics.PARAMETERS))
}
FASTEST = {STAND_IN: 60.0, MUJOCO: 20.0}
NAME = re.compile(r'[A-Za-z_][A-Za-z0-9_]{0,30}')
MOST_ROVERS = 6  # with five processes each; fastdds.xml allows 32 participants per domain


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
    rovers: Mapping[str, str] = field(default_factory=dict)  # profiles by namespace; empty: robot
    discovery_server: bool = False
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


class OneLineParser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.exit(2, f'{self.prog}: {message} (--help lists the options)\n')


def parse(arguments: list[str]) -> Options:
    """Parse the options. Invalid ones end the process with status 2 and one line."""
    parser = _parser()
    parsed = parser.parse_args(arguments)
    body = '' if parsed.no_stand_in else parsed.body
    if not 0.1 <= parsed.speed <= FASTEST.get(body, FASTEST[STAND_IN]):
        parser.error(f'--speed {parsed.speed:g}: must be from 0.1 to {FASTEST[parsed.body]:g}')
    if parsed.no_stand_in and (parsed.speed != 1.0 or parsed.stand_in):
        parser.error('--speed and --stand-in are for the stand-in rover')
    if parsed.sim_time and not parsed.no_stand_in:
        parser.error(f'--sim-time {parsed.sim_time}: is for --no-stand-in')
    if parsed.no_stand_in and parsed.body != STAND_IN:
        parser.error(f'--no-stand-in and --body {parsed.body}: a rover is running, or is to start')
    for flag, of_body, given in (
        ('--stand-in', STAND_IN, parsed.stand_in),
        ('--physics', MUJOCO, parsed.physics),
        ('--demos', MUJOCO, [parsed.demos] if parsed.demos else []),
    ):
        if given and body != of_body:
            parser.error(f'{flag} {given[0]}: is for --body {of_body}')
    for flag, given in (('--stand-in', parsed.stand_in), ('--physics', parsed.physics)):
        for each in given:
            if problem := _problem(each, body):
                parser.error(f'{flag} {each}: {problem}')
    if body == MUJOCO and parsed.rovers:
        parser.error('--rovers is for the stand-in: the demo, and so --body mujoco, has one rover')
    return Options(
        commands=tuple(parsed.c),
        speed=parsed.speed,
        artifacts=parsed.artifacts,
        record=parsed.record,
        body=body,
        outside_sim_time=None if parsed.sim_time is None else parsed.sim_time == 'true',
        demos=parsed.demos,
        config_dir=parsed.config_dir,
        robot=parsed.robot,
        body_parameters=(*parsed.stand_in, *parsed.physics),
        monitor=parsed.monitor,
        rovers=parsed.rovers,
        discovery_server=parsed.discovery_server,
    )


def _parser() -> OneLineParser:
    parser = OneLineParser(
        prog='run_demo.sh',
        description='Start the rover and its nodes and open the console of the agent.',
        allow_abbrev=False,
    )

    def folder(flag: str, metavar: str, text: str) -> None:
        parser.add_argument(flag, metavar=metavar, type=_path, default='', help=text)

    def several(flag: str, metavar: str, text: str) -> None:
        parser.add_argument(flag, metavar=metavar, action='append', default=[], help=text)

    def switch(flag: str, text: str) -> None:
        parser.add_argument(flag, action='store_true', help=text)

    several(
        '-c',
        'COMMAND',
        'run this console command and exit; the last line of output is one JSON object',
    )
    parser.add_argument(
        '--speed', type=float, default=1.0, help='speed of simulated time, 0.1 to 60'
    )
    folder('--artifacts', 'DIR', 'folder of capture.jpg, analysis.*, trace.jsonl')
    folder('--record', 'DIR', 'record the run into this folder')
    switch('--monitor', 'start the independent monitor of the requirements')
    folder('--config-dir', 'DIR', 'folder of your YAML files')
    parser.add_argument(
        '--robot', metavar='NAME', default='',
        help="the robot's profile, robots/NAME.yaml: curiosity has an arm to stow",
    )  # fmt: skip
    switch('--no-stand-in', 'a rover is already running (the Gazebo demo)')
    parser.add_argument(
        '--sim-time', choices=('true', 'false'),
        help='with --no-stand-in: take the time from /clock; default: if /clock is published',
    )  # fmt: skip
    several(
        '--stand-in',
        'NAME=VALUE',
        f'a parameter of the stand-in rover: {", ".join(BODIES[STAND_IN])}',
    )
    parser.add_argument(
        '--body', choices=tuple(BODIES), default=STAND_IN,
        help='the rover: stand-in, or mujoco (real physics; first scripts/setup.sh --physics)',
    )  # fmt: skip
    folder(
        '--demos',
        'PATH',
        'with --body mujoco: the rover and the nodes of this clone of space-ros/demos',
    )
    several(
        '--physics', 'NAME=VALUE', f'a parameter of --body mujoco: {", ".join(BODIES[MUJOCO])}'
    )
    parser.add_argument(
        '--rovers', metavar='N', type=_rovers, default={},
        help=f'number of rovers, r1 to rN, at most {MOST_ROVERS}; or their names, each with its '
        'profile if it has its own: mars,arm=canadarm2',
    )  # fmt: skip
    switch('--discovery-server', 'discover nodes through a Fast DDS discovery server')
    return parser


def _path(text: str) -> str:
    return os.path.abspath(text) if text else ''


def _rovers(text: str) -> dict[str, str]:
    """Profiles by name, from a number or a list; empty: none. Raises ArgumentTypeError."""
    if re.fullmatch(r'[0-9]{1,9}', text):
        words = [f'r{number}' for number in range(1, min(int(text), MOST_ROVERS + 1) + 1)]
    else:
        words = text.split(',')
    rovers: dict[str, str] = {}
    if not 1 <= len(words) <= MOST_ROVERS:
        raise argparse.ArgumentTypeError(f'{text}: must be from 1 to {MOST_ROVERS}')
    for name, equals, robot in (word.partition('=') for word in words):
        if not NAME.fullmatch(name):
            rule = 'must be a number, or names of letters, digits and _, not a digit first'
            raise argparse.ArgumentTypeError(f'{text}: {name!r}: {rule}')
        if name in rovers:
            raise argparse.ArgumentTypeError(f'{text}: each needs a name of its own')
        if equals and not NAME.fullmatch(robot):
            raise argparse.ArgumentTypeError(f'{text}: {name}={robot}: must be NAME=PROFILE')
        rovers[name] = robot
    return rovers


def _problem(assignment: str, body: str) -> str:
    """The reason why NAME=VALUE is no parameter of the body; empty if it is one."""
    name, equals, text = assignment.partition('=')
    if not equals:
        return 'must be NAME=VALUE'
    if name not in BODIES[body]:
        return f'there is no {name}; there are {", ".join(BODIES[body])}'
    try:
        stand_in.checked({name: parse_yaml(text)}, BODIES[body])
    except ConfigError:
        return 'the value is not YAML'
    except ValueError as error:
        return str(error)
    return ''


# --- The processes ----------------------------------------------------------------------------


def of_each(options: Options, http_port: int) -> list[Options]:
    """The options of each rover. ``http_port`` is that of the first rover; 0: as configured, any
    free ones, so that the agents cannot know each other's.
    """
    ports = {name: http_port and http_port + number for number, name in enumerate(options.rovers)}
    urls = {name: f'http://127.0.0.1:{port}' for name, port in ports.items()}
    return [
        replace(
            options,
            rover=name,
            robot=robot or options.robot,
            artifacts=options.artifacts and str(Path(options.artifacts, name)),
            record=options.record and str(Path(options.record, name)),
            http_port=ports[name],
            http_fleet=fleet_text(urls) if http_port else '',
        )
        for name, robot in options.rovers.items()
    ]


def background(
    options: Options, nodes: list[NodeSpec], root: Path, *, mobile_base: bool = True
) -> list[PlannedProcess]:
    """The processes that run in the background. ``mobile_base``: of the robot's profile. Raises
    ConfigError and FileNotFoundError.
    """
    body: list[PlannedProcess] = []
    if options.body == STAND_IN:
        body = [_stand_in(options, root, mobile_base=mobile_base)]
    elif options.body == MUJOCO:
        body = _physics(options, root)
    names = Counter([*(process.name for process in body), *(node.name for node in nodes)])
    for name, count in names.items():
        if count > 1:
            raise ConfigError(f'nodes.yaml: name {name!r} is taken twice; give each its own')
    wanted = {'', 'monitor'} if options.monitor else {''}
    arguments = _ros_arguments(options)
    planned = [
        PlannedProcess(node.name, (_executable(node.package, node.executable, root), *arguments))
        for node in nodes
        if node.when in wanted
    ]
    return [*body, *planned]


def _physics(options: Options, root: Path) -> list[PlannedProcess]:
    if importlib.util.find_spec('mujoco') is None:
        raise ConfigError('--body mujoco: MuJoCo is not installed; run scripts/setup.sh --physics')
    command = [
        _executable('curiosity_physics', 'physics_node', root),
        '--ros-args',
        *_parameters(time_scale=float(options.speed)),
        *_body_parameters(options),
    ]
    nodes: list[PlannedProcess] = []
    if options.demos:
        try:
            folder = demos.find(options.demos)
        except ValueError as error:
            raise ConfigError(f'--demos {error}') from None
        command += _parameters(demos=folder)
        time = _parameters(use_sim_time='true')
        nodes = [
            PlannedProcess(
                file.name, (sys.executable, str(file), '--ros-args', *time), stops_last=True
            )
            for file in demos.node_files(folder)
        ]
    return [PlannedProcess('physics', tuple(command), stops_last=True), *nodes]


def _stand_in(options: Options, root: Path, *, mobile_base: bool) -> PlannedProcess:
    if not mobile_base and options.body_parameters:
        name = options.body_parameters[0].partition('=')[0]
        raise ConfigError(f'--stand-in {name}: is for a rover; {options.robot} has no mobile base')
    command = [
        _executable(
            'curiosity_stand_in', 'stand_in_node' if mobile_base else 'profile_node', root
        ),
        '--ros-args',
        *_parameters(time_scale=float(options.speed), publish_clock=_yaml(options.sim_time)),
        *_body_parameters(options),
        *_parameters(config_dir=options.config_dir, robot=options.robot),
        *_own_namespace(options),
    ]
    return PlannedProcess('stand_in', tuple(command), stops_last=True)


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
    command = [
        _executable(agents[0].package, agents[0].executable, root),
        '--process-events-fd',
        str(process_events_fd),
        *_pairs('-c', options.commands),
    ]
    if options.rover and options.commands:
        command.append('--together')
    for flag, value in (
        ('--artifacts', options.artifacts),
        ('--record', options.record),
        ('--after-crash', crash),
    ):
        if value:
            command += [flag, value]
    page = _parameters(
        http_body=_body_text(options), http_port=options.http_port, http_fleet=options.http_fleet
    )
    return [*command, *_ros_arguments(options), *page]


def _body_text(options: Options) -> str:
    """What the page says of the rover; nothing of one that already runs."""
    if options.body == MUJOCO:
        return "mujoco (demo's URDF)" if options.demos else 'mujoco'
    return options.body


def _ros_arguments(options: Options) -> list[str]:
    """Of the nodes and the agent."""
    arguments = ['--ros-args', '--log-level', 'warn']
    arguments += _parameters(
        use_sim_time=_yaml(options.sim_time),
        config_dir=options.config_dir,
        robot=options.robot,
        # Without the slash, YAML reads "on" as a boolean and "1e3" as a number.
        rover_namespace=options.rover and f'/{options.rover}',
    )
    arguments += _own_namespace(options)
    if options.rover and options.sim_time:
        arguments += ['-r', f'/clock:={options.clock}']  # each stand-in has its own clock
    return arguments


def _own_namespace(options: Options) -> list[str]:
    return ['-r', f'__ns:=/{options.rover}'] if options.rover else []


def _body_parameters(options: Options) -> list[str]:
    return _pairs('-p', [each.replace('=', ':=', 1) for each in options.body_parameters])


def _parameters(**values: object) -> list[str]:
    """Those that are not empty."""
    return _pairs('-p', [f'{name}:={value}' for name, value in values.items() if value])


def _pairs(flag: str, values: Iterable[str]) -> list[str]:
    return [part for value in values for part in (flag, value)]


def _yaml(value: bool) -> str:
    return 'true' if value else 'false'


def _executable(package: str, name: str, root: Path) -> str:
    for workspace in ('overlay_ws', 'standalone'):
        path = root / workspace / 'install' / package / 'lib' / package / name
        if path.exists():
            return str(path)
    raise FileNotFoundError(f'{package}/{name} is not built; run scripts/setup.sh again')
