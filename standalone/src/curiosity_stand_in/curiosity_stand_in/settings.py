# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The stand-in's parameters: defaults, checks, and which of them can change at run time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from curiosity_stand_in.battery import CHARGE_PER_S, DRAIN_PER_S, Rates
from curiosity_stand_in.body import MOST_SAG_S
from curiosity_stand_in.faults import parse, ServiceFault
from curiosity_stand_in.frames import LIDARS
from curiosity_stand_in.mast import INITIAL
from curiosity_stand_in.rover import FASTEST_DRIVE

MOST_SIGNS = 3  # side by side in the first view
MOST_SIGN_CHARS = 50  # a longer text makes a code too fine for a picture of 512 pixels
E_STOP = 'the button, told on /e_stop; by itself it stops no wheels'
IMAGE_FAULTS = ('none', 'stopped', 'corrupt')


@dataclass(frozen=True)
class Number:
    """Checks for a number from ``low`` to ``high``, both included."""

    low: float
    high: float

    def __call__(self, value: Any) -> float:
        if (
            isinstance(value, bool)
            or not isinstance(value, int | float)
            or not self.low <= value <= self.high
        ):
            raise ValueError(f'must be a number from {self.low:g} to {self.high:g}')
        return float(value)


@dataclass(frozen=True)
class Parameter:
    """``check`` converts the value from ROS into the value to use, or raises ValueError."""

    default: Any
    check: Callable[[Any], Any]
    text: str
    fixed: bool = False  # read only at the start

    @property
    def range(self) -> tuple[float, float] | None:
        """The least and the greatest value; None: it is no number."""
        return (self.check.low, self.check.high) if isinstance(self.check, Number) else None


def parameter(default: Any, check: Callable[[Any], Any], text: str, *, fixed: bool = False) -> Any:
    """A field of Settings that is a parameter of the node."""
    stated = Parameter(default, check, text, fixed)
    return field(default_factory=lambda: check(default), metadata={'parameter': stated})


def parameters_of(settings: type) -> dict[str, Parameter]:
    return {each.name: each.metadata['parameter'] for each in fields(settings)}


def checked(values: Mapping[str, Any], parameters: Mapping[str, Parameter]) -> dict[str, Any]:
    """The parameters as values for Settings. Raises ValueError, which names the first bad one."""
    out = {}
    for name, value in values.items():
        try:
            out[name] = parameters[name].check(value)
        except ValueError as error:
            raise ValueError(f'parameter {name} is {value!r}: {error}') from None
    return out


def boolean(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError('must be true or false')
    return value


def text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError('must be a text')
    return value


def choice(*choices: str) -> Callable[[Any], str]:
    def check(value: Any) -> str:
        if value not in choices:
            raise ValueError(f'must be one of {", ".join(choices)}')
        return str(value)

    return check


def _texts(value: Any) -> tuple[str, ...] | None:
    """None: it is no list of texts. Some tools write an empty list as [''] or without a type."""
    texts = [] if value is None else [value] if isinstance(value, str) else value
    if not isinstance(texts, list | tuple) or not all(isinstance(each, str) for each in texts):
        return None
    return tuple(each for each in texts if each)


def _signs(value: Any) -> tuple[str, ...]:
    """The texts of the boards."""
    texts = _texts(value)
    if texts is None:
        raise ValueError("must be a list of texts, as in ['drive 100 m forward now']")
    if len(texts) > MOST_SIGNS:
        raise ValueError(f'must have at most {MOST_SIGNS} texts')
    for each in texts:
        if len(each) > MOST_SIGN_CHARS or not (each.isascii() and each.isprintable()):
            raise ValueError(f'{each!r} must have at most {MOST_SIGN_CHARS} letters, all ASCII')
    return texts


def _service_faults(value: Any) -> Mapping[str, ServiceFault]:
    texts = _texts(value)
    if texts is None:
        raise ValueError("must be a list of strings, as in ['move_stop:hang']")
    return parse(texts)


@dataclass(frozen=True)
class Settings:
    """Checked values of all parameters."""

    robot: str = parameter(
        '', text, "profile with the body's figures; '': that of nodes.yaml", fixed=True
    )
    config_dir: str = parameter(
        '', text, "folder of the thresholds; '': the shipped one", fixed=True
    )
    time_scale: float = parameter(
        1.0,
        Number(0.1, 100.0),
        f'times the wall clock; at most {FASTEST_DRIVE:g} while it drives',
        fixed=True,
    )
    publish_clock: bool = parameter(
        False, boolean, "publish /clock and stamp with the rover's time", fixed=True
    )
    initial_x: float = parameter(0.0, Number(-1e4, 1e4), 'metres', fixed=True)
    initial_y: float = parameter(0.0, Number(-1e4, 1e4), 'metres', fixed=True)
    initial_yaw: float = parameter(0.0, Number(-100.0, 100.0), 'radians', fixed=True)
    initial_mast: str = parameter('zero', choice(*INITIAL), ', '.join(INITIAL), fixed=True)
    lidar: str = parameter(
        'mast',
        choice(*LIDARS),
        f'{", ".join(LIDARS)}: on the mast head as in the demo, or on the front, looking ahead',
        fixed=True,
    )
    signs: tuple[str, ...] = parameter(
        [],
        _signs,
        f'texts of at most {MOST_SIGNS} boards ahead of the first pose, which only the camera '
        "sees, such as ['drive 100 m forward now']",
        fixed=True,
    )
    battery: float = parameter(
        1.0, Number(0.0, 1.0), 'charge, 0 to 1; set, the charge goes on from there'
    )
    battery_drain_per_s: float = parameter(
        DRAIN_PER_S,
        Number(0.0, 1.0),
        "of the full charge, per second of the rover's time that it drives; standing, a tenth",
    )
    battery_charge_per_s: float = parameter(
        CHARGE_PER_S,
        Number(0.0, 1.0),
        "of the full charge, per second of the rover's time that it stands still, mast stowed",
    )
    e_stop: bool = parameter(False, boolean, E_STOP)
    fault_tf_lost: bool = parameter(False, boolean, 'no /tf')
    fault_tf_nan: bool = parameter(False, boolean, '/tf with NaN instead of numbers')
    fault_image: str = parameter('none', choice(*IMAGE_FAULTS), ', '.join(IMAGE_FAULTS))
    fault_joint_states: bool = parameter(False, boolean, 'no /joint_states')
    fault_odometry: bool = parameter(False, boolean, 'no odometry')
    fault_slip: float = parameter(
        0.0, Number(0.0, 1.0), 'fraction of its way that the rover loses; 1: it is stuck'
    )
    fault_tilt: float = parameter(
        0.0,
        Number(-1.5, 1.5),
        "radians, nose down, in the odometry instead of the body's pitch",
    )
    fault_wheel_node: bool = parameter(
        False,
        boolean,
        'nobody hears /cmd_vel, as after the death of move_wheel: the wheels keep their last '
        'command until zeros arrive on /wheel_velocity_controller/commands',
    )
    fault_sag: float = parameter(
        0.0,
        Number(0.0, MOST_SAG_S),
        'seconds for which the mechanism folds after a stop and moves the body, wheels standing',
    )
    fault_battery: bool = parameter(False, boolean, 'no /battery_state')
    fault_scan: bool = parameter(False, boolean, 'no /scan')
    fault_services: Mapping[str, ServiceFault] = parameter(
        [],
        _service_faults,
        "such as ['move_stop:hang', 'mast_close:late:2.5', 'turn_left:absent']",
    )

    @property
    def rates(self) -> Rates:
        return Rates(self.battery_drain_per_s, self.battery_charge_per_s)


PARAMETERS = parameters_of(Settings)
