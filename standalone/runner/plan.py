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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
import importlib.util
import os
from pathlib import Path
import re
import sys
from typing import Any, NoReturn

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


def _path(text: str) -> str:
    return os.path.abspath(text) if text else ''


def _truth(text: str) -> bool:
    if text not in ('true', 'false'):
        raise argparse.ArgumentTypeError(f'{text}: must be true or false')
    return text == 'true'


def _rovers(text: str) -> dict[str, str]:
    """Profiles by name, from a number or a list; empty: none. Raises ArgumentTypeError."""
    if re.fullmatch(r'[0-9]{1,9}', text):
        words = [f'r{number}' for number in range(1, min(int(text), MOST_ROVERS + 1) + 1)]
    else:
        words = text.split(',')
    rovers: dict[str, str] = {}
    problem = '' if 1 <= len(words) <= MOST_ROVERS else f'must be from 1 to {MOST_ROVERS}'
    for name, equals, robot in (word.partition('=') for word in words):
        if not NAME.fullmatch(name):
            rule = 'must be a number, or names of letters, digits and _, not a digit first'
            problem = problem or f'{name!r}: {rule}'
        elif name in rovers:
            problem = problem or 'each needs a name of its own'
        elif equals and not NAME.fullmatch(robot):
            problem = problem or f'{name}={robot}: must be NAME=PROFILE'
        rovers[name] = robot
    if problem:
        raise argparse.ArgumentTypeError(f'{text}: {problem}')
    return rovers


def _option(default: Any, text: str, flag: str = '', **settings: Any) -> Any:
    """A field of Options that has an option, of its name unless ``flag`` gives another;
    ``settings``: of argparse.
    """
    settings = {**settings, 'flag': flag, 'help': text}
    return field(default_factory=lambda: default, metadata=settings)


def _switch(text: str) -> Any:
    return _option(False, text, action='store_true')


def _folder(text: str, metavar: str = 'DIR') -> Any:
    return _option('', text, metavar=metavar, type=_path)


def _parameters_of(body: str, text: str) -> Any:
    told = f'{text}: {", ".join(BODIES[body])}'
    return _option((), told, metavar='NAME=VALUE', action='append')


@dataclass(frozen=True)
class Options:
    """The options of run_demo.sh; the last three are made of them for each rover."""

    commands: Sequence[str] = _option(
        (),
        'run this console command and exit; the last line of output is one JSON object',
        flag='-c',
        metavar='COMMAND',
        action='append',
    )
    speed: float = _option(1.0, 'speed of simulated time, 0.1 to 60', type=float)
    artifacts: str = _folder('folder of capture.jpg, analysis.*, trace.jsonl')
    record: str = _folder('record the run into this folder')
    monitor: bool = _switch('start the independent monitor of the requirements')
    config_dir: str = _folder('folder of your YAML files')
    robot: str = _option(
        '', "the robot's profile, robots/NAME.yaml: curiosity has an arm to stow", metavar='NAME'
    )
    no_stand_in: bool = _switch('a rover is already running (the Gazebo demo)')
    outside_sim_time: bool | None = _option(  # None: not known yet
        None,
        'with --no-stand-in: take the time from /clock; default: if /clock is published',
        flag='--sim-time',
        metavar='{true,false}',
        type=_truth,
    )
    stand_in: Sequence[str] = _parameters_of(STAND_IN, 'a parameter of the stand-in rover')
    body: str = _option(  # empty: a rover is already running
        STAND_IN,
        'the rover: stand-in, or mujoco (real physics; first scripts/setup.sh --physics)',
        choices=tuple(BODIES),
    )
    demos: str = _folder(
        'with --body mujoco: the rover and the nodes of this clone of space-ros/demos', 'PATH'
    )
    physics: Sequence[str] = _parameters_of(MUJOCO, 'a parameter of --body mujoco')
    rovers: Mapping[str, str] = _option(  # profiles by namespace
        {},
        f'number of rovers, r1 to rN, at most {MOST_ROVERS}; or their names, each with its '
        'profile if it has its own: mars,arm=canadarm2',
        metavar='N',
        type=_rovers,
    )
    discovery_server: bool = _switch('discover nodes through a Fast DDS discovery server')
    rover: str = ''  # the rover of these options, one of rovers
    http_port: int = 0  # of the rover's agent; 0: as configured
    http_fleet: str = ''  # the robots of the page /fleet, as the agent reads them

    @property
    def sim_time(self) -> bool:
        if not self.body:
            return bool(self.outside_sim_time)
        return self.body == MUJOCO or self.speed != 1.0

    @property
    def clock(self) -> str:
        """The topic of the simulated time."""
        return f'/{self.rover}/clock' if self.rover else '/clock'

    @property
    def body_parameters(self) -> list[str]:
        """NAME=VALUE."""
        return [*self.stand_in, *self.physics]


class OneLineParser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.exit(2, f'{self.prog}: {message} (--help lists the options)\n')


def parse(arguments: list[str]) -> Options:
    """Parse the options. Invalid ones end the process with status 2 and one line."""
    parser = OneLineParser(
        prog='run_demo.sh',
        description='Start the rover and its nodes and open the console of the agent.',
        allow_abbrev=False,
        argument_default=argparse.SUPPRESS,  # what is not given is as in Options
    )
    for each in fields(Options):
        if settings := dict(each.metadata):
            flag = settings.pop('flag') or f'--{each.name.replace("_", "-")}'
            parser.add_argument(flag, dest=each.name, **settings)
    options = Options(**vars(parser.parse_args(arguments)))
    if problem := _problem(options):
        parser.error(problem)
    return replace(options, body='') if options.no_stand_in else options


def _problem(options: Options) -> str:
    """Why the options do not go together; '': they do."""
    body, speed = options.body, options.speed
    if not 0.1 <= speed <= FASTEST[body]:
        return f'--speed {speed:g}: must be from 0.1 to {FASTEST[body]:g}'
    if options.no_stand_in:
        if speed != 1.0 or options.stand_in:
            return '--speed and --stand-in are for the stand-in rover'
        if body != STAND_IN:
            return f'--no-stand-in and --body {body}: a rover is running, or is to start'
    elif options.outside_sim_time is not None:
        return f'--sim-time {_yaml(options.outside_sim_time)}: is for --no-stand-in'
    for flag, of_body, given in (
        ('--stand-in', STAND_IN, options.stand_in),
        ('--physics', MUJOCO, options.physics),
        ('--demos', MUJOCO, [options.demos] if options.demos else []),
    ):
        for each in given:
            if body != of_body:
                return f'{flag} {each}: is for --body {of_body}'
            if flag != '--demos' and (why := _parameter_problem(each, body)):
                return f'{flag} {each}: {why}'
    if options.rovers and (one := next((c for c in options.commands if c.startswith('@')), '')):
        return f'-c {one!r}: -c is for all rovers; write lines for one to standard input'
    if body == MUJOCO and options.rovers:
        return '--rovers is for the stand-in: the demo, and so --body mujoco, has one rover'
    return ''


def _parameter_problem(assignment: str, body: str) -> str:
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
    wanted, arguments = {'', 'monitor'} if options.monitor else {''}, _ros_arguments(options)
    planned = list(_body(options, root, mobile_base=mobile_base))
    for node in nodes:
        if node.when in wanted:
            command = _executable(node.package, node.executable, root), *arguments
            planned.append(PlannedProcess(node.name, command))
    for name, count in Counter(each.name for each in planned).items():
        if count > 1:
            raise ConfigError(f'nodes.yaml: name {name!r} is taken twice; give each its own')
    return planned


def _body(options: Options, root: Path, *, mobile_base: bool) -> Iterator[PlannedProcess]:
    """The rover, and the nodes of the demo that it comes with."""
    if not options.body:
        return
    parameters = _pairs('-p', [each.replace('=', ':=', 1) for each in options.body_parameters])
    parameters += _parameters(time_scale=float(options.speed))
    if options.body == STAND_IN:
        if not mobile_base and options.body_parameters:
            name = options.body_parameters[0].partition('=')[0]
            raise ConfigError(
                f'--stand-in {name}: is for a rover; {options.robot} has no mobile base'
            )
        executable = 'stand_in_node' if mobile_base else 'profile_node'
        parameters += _parameters(
            publish_clock=_yaml(options.sim_time),
            config_dir=options.config_dir,
            robot=options.robot,
        )
        parameters += _own_namespace(options)
        command = _executable('curiosity_stand_in', executable, root), '--ros-args', *parameters
        yield PlannedProcess('stand_in', command, stops_last=True)
        return
    if importlib.util.find_spec('mujoco') is None:
        raise ConfigError('--body mujoco: MuJoCo is not installed; run scripts/setup.sh --physics')
    files: list[Path] = []
    if options.demos:
        try:
            folder = demos.find(options.demos)
        except ValueError as error:
            raise ConfigError(f'--demos {error}') from None
        parameters += _parameters(demos=folder)
        files = demos.node_files(folder)
    command = _executable('curiosity_physics', 'physics_node', root), '--ros-args', *parameters
    yield PlannedProcess('physics', command, stops_last=True)
    for file in files:
        arguments = '--ros-args', *_parameters(use_sim_time='true')
        yield PlannedProcess(file.name, (sys.executable, str(file), *arguments), stops_last=True)


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
    body = "mujoco (demo's URDF)" if options.body == MUJOCO and options.demos else options.body
    page = _parameters(http_body=body, http_port=options.http_port, http_fleet=options.http_fleet)
    return [*command, *_ros_arguments(options), *page]


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
