# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.


"""The parameters of the physics node, their defaults and checks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from curiosity_stand_in.settings import Number, Parameter

WORLDS = ('flat', 'rocks', 'relief')


@dataclass(frozen=True)
class Settings:
    """Checked values of all parameters. The fields have the parameters' names."""

    demos: str = ''
    world: str = 'flat'
    seed: int = 0
    friction: float = 1.0
    time_scale: float = 1.0
    initial_x: float = 0.0
    initial_y: float = 0.0
    initial_yaw: float = 0.0
    rock_ahead: float = 0.0
    standing: bool = True
    e_stop: bool = False


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError('must be a text')
    return value


def _world(value: Any) -> str:
    if value not in WORLDS:
        raise ValueError(f'must be one of {", ".join(WORLDS)}')
    return str(value)


def _seed(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**31:
        raise ValueError('must be a whole number from 0 on')
    return value


def _boolean(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError('must be true or false')
    return value


PARAMETERS: dict[str, Parameter] = {
    'demos': Parameter(
        '', _text, 'clone of space-ros/demos, whose rover and nodes to use; empty: our own',
        fixed=True,
    ),
    'world': Parameter('flat', _world, ', '.join(WORLDS), fixed=True),
    'seed': Parameter(0, _seed, 'of rocks and relief', fixed=True),
    'friction': Parameter(1.0, Number(0.05, 3.0), 'of the wheels on the ground', fixed=True),
    'time_scale': Parameter(
        1.0, Number(0.1, 20.0), 'times the wall clock, as far as the machine can', fixed=True
    ),
    'initial_x': Parameter(0.0, Number(-25.0, 25.0), 'metres', fixed=True),
    'initial_y': Parameter(0.0, Number(-25.0, 25.0), 'metres', fixed=True),
    'initial_yaw': Parameter(0.0, Number(-100.0, 100.0), 'radians', fixed=True),
    'rock_ahead': Parameter(
        0.0, Number(0.0, 25.0), 'metres to a rock in the way of the left wheels; 0: none',
        fixed=True,
    ),
    'standing': Parameter(
        True,
        _boolean,
        "stands on its suspension; false: squats until move_wheel's first command",
        fixed=True,
    ),
    'e_stop': Parameter(
        False, _boolean, 'the button, told on /e_stop; by itself it stops no wheels'
    ),
}  # fmt: skip


def checked(values: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters as values for Settings. Raises ValueError, which names the first bad one."""
    out = {}
    for name, value in values.items():
        try:
            out[name] = PARAMETERS[name].check(value)
        except ValueError as error:
            raise ValueError(f'parameter {name} is {value!r}: {error}') from None
    return out
