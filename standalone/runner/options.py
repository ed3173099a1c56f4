# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The command line of scripts/run_demo.sh, checked before anything starts."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
import os
import re
from typing import Any, NoReturn

from curiosity_physics import settings as physics
from curiosity_rosa_demo.infra.config.base import ConfigError, parse_yaml
from curiosity_stand_in import settings as stand_in

from runner.plan import MUJOCO, Options, STAND_IN

# The parameters of each body, how they are checked, and those that options of their own set.
BODIES: dict[
    str, tuple[Mapping[str, Any], Callable[[Mapping[str, Any]], Any], tuple[str, ...]]
] = {
    STAND_IN: (stand_in.PARAMETERS, stand_in.checked, ('time_scale', 'publish_clock')),
    MUJOCO: (physics.PARAMETERS, physics.checked, ('time_scale', 'demos')),
}
FASTEST = {STAND_IN: 60.0, MUJOCO: 20.0}
NAME = re.compile(r'[A-Za-z_][A-Za-z0-9_]{0,30}')
MOST_ROVERS = 6  # with five processes each; fastdds.xml allows 32 participants per domain


class OneLineParser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.exit(2, f'{self.prog}: {message} (--help lists the options)\n')


def parse(arguments: list[str]) -> Options:
    """Parse the options. Invalid ones end the process with status 2 and one line."""
    parser = OneLineParser(
        prog='run_demo.sh',
        description='Start the rover and its nodes and open the console of the agent.',
        allow_abbrev=False,
    )
    parser.add_argument(
        '-c', metavar='COMMAND', action='append', default=[],
        help='run this console command and exit; the last line of output is one JSON object',
    )  # fmt: skip
    parser.add_argument(
        '--speed', type=float, default=1.0, help='speed of simulated time, 0.1 to 60'
    )
    parser.add_argument(
        '--artifacts',
        metavar='DIR',
        default='',
        help='folder of capture.jpg, analysis.*, trace.jsonl',
    )
    parser.add_argument(
        '--record', metavar='DIR', default='', help='record the run into this folder'
    )
    parser.add_argument(
        '--monitor', action='store_true', help='start the independent monitor of the requirements'
    )
    parser.add_argument(
        '--config-dir', metavar='DIR', default='', help='folder of your YAML files'
    )
    parser.add_argument(
        '--robot',
        metavar='NAME',
        default='',
        help="the robot's profile, robots/NAME.yaml: curiosity has an arm to stow",
    )
    parser.add_argument(
        '--no-stand-in', action='store_true', help='a rover is already running (the Gazebo demo)'
    )
    parser.add_argument(
        '--sim-time', choices=('true', 'false'),
        help='with --no-stand-in: take the time from /clock; default: if /clock is published',
    )  # fmt: skip
    parser.add_argument(
        '--stand-in', metavar='NAME=VALUE', action='append', default=[],
        help=f'a parameter of the stand-in rover: {", ".join(_settable(STAND_IN))}',
    )  # fmt: skip
    parser.add_argument(
        '--body', choices=tuple(BODIES), default=STAND_IN,
        help='the rover: stand-in, or mujoco (real physics; first scripts/setup.sh --physics)',
    )  # fmt: skip
    parser.add_argument(
        '--demos', metavar='PATH', default='',
        help='with --body mujoco: the rover and the nodes of this clone of space-ros/demos',
    )  # fmt: skip
    parser.add_argument(
        '--physics', metavar='NAME=VALUE', action='append', default=[],
        help=f'a parameter of --body mujoco: {", ".join(_settable(MUJOCO))}',
    )  # fmt: skip
    parser.add_argument(
        '--rovers', metavar='N', type=_rovers, default=(),
        help=f'number of rovers, r1 to rN, at most {MOST_ROVERS}; or their names, each with its '
        'profile if it has its own: mars,arm=canadarm2',
    )  # fmt: skip
    parser.add_argument(
        '--discovery-server', action='store_true',
        help='discover nodes through a Fast DDS discovery server',
    )  # fmt: skip
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
        artifacts=os.path.abspath(parsed.artifacts) if parsed.artifacts else '',
        record=os.path.abspath(parsed.record) if parsed.record else '',
        body=body,
        outside_sim_time=None if parsed.sim_time is None else parsed.sim_time == 'true',
        demos=os.path.abspath(parsed.demos) if parsed.demos else '',
        config_dir=os.path.abspath(parsed.config_dir) if parsed.config_dir else '',
        robot=parsed.robot,
        body_parameters=(*parsed.stand_in, *parsed.physics),
        monitor=parsed.monitor,
        rovers=tuple(name for name, _ in parsed.rovers),
        robots=tuple(robot for _, robot in parsed.rovers),
        discovery_server=parsed.discovery_server,
    )


def _rovers(text: str) -> tuple[tuple[str, str], ...]:
    """The rovers' names and profiles, from a number or a list. Raises ArgumentTypeError."""
    if re.fullmatch(r'[0-9]{1,9}', text):
        words = [f'r{number}' for number in range(1, min(int(text), MOST_ROVERS + 1) + 1)]
    else:
        words = text.split(',')
    pairs = [word.partition('=') for word in words]
    names = [name for name, _, _ in pairs]
    if not 1 <= len(names) <= MOST_ROVERS:
        raise argparse.ArgumentTypeError(f'{text}: must be from 1 to {MOST_ROVERS}')
    for name in names:
        if not NAME.fullmatch(name):
            rule = 'must be a number, or names of letters, digits and _, not a digit first'
            raise argparse.ArgumentTypeError(f'{text}: {name!r}: {rule}')
    if len(set(names)) < len(names):
        raise argparse.ArgumentTypeError(f'{text}: each needs a name of its own')
    for name, equals, robot in pairs:
        if equals and not NAME.fullmatch(robot):
            raise argparse.ArgumentTypeError(f'{text}: {name}={robot}: must be NAME=PROFILE')
    return tuple((name, robot) for name, _, robot in pairs)


def _settable(body: str) -> list[str]:
    parameters, _, ours = BODIES[body]
    return [name for name in parameters if name not in ours]


def _problem(assignment: str, body: str) -> str:
    """The reason why NAME=VALUE is no parameter of the body; empty if it is one."""
    name, equals, text = assignment.partition('=')
    if not equals:
        return 'must be NAME=VALUE'
    if name not in _settable(body):
        return f'there is no {name}; there are {", ".join(_settable(body))}'
    try:
        value: Any = parse_yaml(text)
        BODIES[body][1]({name: value})
    except ConfigError:
        return 'the value is not YAML'
    except ValueError as error:
        return str(error)
    return ''
