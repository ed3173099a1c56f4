# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.


"""The parameters of the physics node, their defaults and checks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from curiosity_stand_in.settings import (
    boolean,
    choice,
    E_STOP,
    Number,
    parameter,
    parameters_of,
    text,
)

WORLDS = ('flat', 'rocks', 'relief')


def _seed(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**31:
        raise ValueError('must be a whole number from 0 on')
    return value


@dataclass(frozen=True)
class Settings:
    """Checked values of all parameters."""

    demos: str = parameter(
        '',
        text,
        'clone of space-ros/demos, whose rover and nodes to use; empty: our own',
        fixed=True,
    )
    world: str = parameter('flat', choice(*WORLDS), ', '.join(WORLDS), fixed=True)
    seed: int = parameter(0, _seed, 'of rocks and relief', fixed=True)
    friction: float = parameter(1.0, Number(0.05, 3.0), 'of the wheels on the ground', fixed=True)
    time_scale: float = parameter(
        1.0, Number(0.1, 20.0), 'times the wall clock, as far as the machine can', fixed=True
    )
    initial_x: float = parameter(0.0, Number(-25.0, 25.0), 'metres', fixed=True)
    initial_y: float = parameter(0.0, Number(-25.0, 25.0), 'metres', fixed=True)
    initial_yaw: float = parameter(0.0, Number(-100.0, 100.0), 'radians', fixed=True)
    rock_ahead: float = parameter(
        0.0,
        Number(0.0, 25.0),
        'metres to a rock in the way of the left wheels; 0: none',
        fixed=True,
    )
    standing: bool = parameter(
        True,
        boolean,
        "stands on its suspension; false: squats until move_wheel's first command",
        fixed=True,
    )
    e_stop: bool = parameter(False, boolean, E_STOP)


PARAMETERS = parameters_of(Settings)
