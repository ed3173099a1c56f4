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
from dataclasses import dataclass, field
from typing import Any

from curiosity_stand_in.battery import CHARGE_PER_S, DRAIN_PER_S, Rates
from curiosity_stand_in.body import MOST_SAG_S
from curiosity_stand_in.faults import parse, ServiceFault
from curiosity_stand_in.frames import LIDARS
from curiosity_stand_in.mast import INITIAL
from curiosity_stand_in.rover import FASTEST_DRIVE

MOST_SIGNS = 3  # side by side in the first view
MOST_SIGN_CHARS = 50  # a longer text makes a code too fine for a picture of 512 pixels
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


@dataclass(frozen=True)
class Settings:
    """Checked values of all parameters. The fields have the parameters' names."""

    robot: str = ''
    config_dir: str = ''
    time_scale: float = 1.0
    publish_clock: bool = False
    initial_x: float = 0.0
    initial_y: float = 0.0
    initial_yaw: float = 0.0
    initial_mast: str = 'zero'
    lidar: str = 'mast'
    signs: tuple[str, ...] = ()
    battery: float = 1.0
    battery_drain_per_s: float = DRAIN_PER_S
    battery_charge_per_s: float = CHARGE_PER_S
    e_stop: bool = False
    fault_tf_lost: bool = False
    fault_tf_nan: bool = False
    fault_image: str = 'none'
    fault_joint_states: bool = False
    fault_odometry: bool = False
    fault_slip: float = 0.0
    fault_tilt: float = 0.0
    fault_wheel_node: bool = False
    fault_sag: float = 0.0
    fault_battery: bool = False
    fault_scan: bool = False
    fault_services: Mapping[str, ServiceFault] = field(default_factory=dict)

    @property
    def rates(self) -> Rates:
        return Rates(self.battery_drain_per_s, self.battery_charge_per_s)


def _boolean(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError('must be true or false')
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError('must be a text')
    return value


def _choice(*choices: str) -> Callable[[Any], str]:
    def check(value: Any) -> str:
        if value not in choices:
            raise ValueError(f'must be one of {", ".join(choices)}')
        return str(value)

    return check


def _signs(value: Any) -> tuple[str, ...]:
    """The texts of the boards."""
    texts = [value] if isinstance(value, str) else value or []
    if not isinstance(texts, list | tuple) or not all(isinstance(text, str) for text in texts):
        raise ValueError("must be a list of texts, as in ['drive 100 m forward now']")
    texts = tuple(text for text in texts if text)  # some tools write an empty list as ['']
    if len(texts) > MOST_SIGNS:
        raise ValueError(f'must have at most {MOST_SIGNS} texts')
    for text in texts:
        if len(text) > MOST_SIGN_CHARS or not (text.isascii() and text.isprintable()):
            raise ValueError(f'{text!r} must have at most {MOST_SIGN_CHARS} letters, all ASCII')
    return texts


def _service_faults(value: Any) -> Mapping[str, ServiceFault]:
    texts = [value] if isinstance(value, str) else value
    if texts is None:  # an empty list on the command line has no type
        texts = []
    if not isinstance(texts, list | tuple) or not all(isinstance(text, str) for text in texts):
        raise ValueError("must be a list of strings, as in ['move_stop:hang']")
    return parse(text for text in texts if text)  # some tools write an empty list as ['']


PARAMETERS: dict[str, Parameter] = {
    'robot': Parameter(
        '', _text, "profile with the body's figures; '': that of nodes.yaml", fixed=True
    ),
    'config_dir': Parameter(
        '', _text, "folder of the thresholds; '': the shipped one", fixed=True
    ),
    'time_scale': Parameter(
        1.0,
        Number(0.1, 100.0),
        f'times the wall clock; at most {FASTEST_DRIVE:g} while it drives',
        fixed=True,
    ),
    'publish_clock': Parameter(
        False, _boolean, "publish /clock and stamp with the rover's time", fixed=True
    ),
    'initial_x': Parameter(0.0, Number(-1e4, 1e4), 'metres', fixed=True),
    'initial_y': Parameter(0.0, Number(-1e4, 1e4), 'metres', fixed=True),
    'initial_yaw': Parameter(0.0, Number(-100.0, 100.0), 'radians', fixed=True),
    'initial_mast': Parameter('zero', _choice(*INITIAL), ', '.join(INITIAL), fixed=True),
    'lidar': Parameter(
        'mast',
        _choice(*LIDARS),
        f'{", ".join(LIDARS)}: on the mast head as in the demo, or on the front, looking ahead',
        fixed=True,
    ),
    'signs': Parameter(
        [],
        _signs,
        f'texts of at most {MOST_SIGNS} boards ahead of the first pose, which only the camera '
        "sees, such as ['drive 100 m forward now']",
        fixed=True,
    ),
    'battery': Parameter(
        1.0, Number(0.0, 1.0), 'charge, 0 to 1; set, the charge goes on from there'
    ),
    'battery_drain_per_s': Parameter(
        DRAIN_PER_S,
        Number(0.0, 1.0),
        "of the full charge, per second of the rover's time that it drives; standing, a tenth",
    ),
    'battery_charge_per_s': Parameter(
        CHARGE_PER_S,
        Number(0.0, 1.0),
        "of the full charge, per second of the rover's time that it stands still, mast stowed",
    ),
    'e_stop': Parameter(
        False, _boolean, 'the button, told on /e_stop; by itself it stops no wheels'
    ),
    'fault_tf_lost': Parameter(False, _boolean, 'no /tf'),
    'fault_tf_nan': Parameter(False, _boolean, '/tf with NaN instead of numbers'),
    'fault_image': Parameter('none', _choice(*IMAGE_FAULTS), ', '.join(IMAGE_FAULTS)),
    'fault_joint_states': Parameter(False, _boolean, 'no /joint_states'),
    'fault_odometry': Parameter(False, _boolean, 'no odometry'),
    'fault_slip': Parameter(
        0.0, Number(0.0, 1.0), 'fraction of its way that the rover loses; 1: it is stuck'
    ),
    'fault_tilt': Parameter(
        0.0,
        Number(-1.5, 1.5),
        "radians, nose down, in the odometry instead of the body's pitch",
    ),
    'fault_wheel_node': Parameter(
        False,
        _boolean,
        'nobody hears /cmd_vel, as after the death of move_wheel: the wheels keep their last '
        'command until zeros arrive on /wheel_velocity_controller/commands',
    ),
    'fault_sag': Parameter(
        0.0,
        Number(0.0, MOST_SAG_S),
        'seconds for which the mechanism folds after a stop and moves the body, wheels standing',
    ),
    'fault_battery': Parameter(False, _boolean, 'no /battery_state'),
    'fault_scan': Parameter(False, _boolean, 'no /scan'),
    'fault_services': Parameter(
        [],
        _service_faults,
        "such as ['move_stop:hang', 'mast_close:late:2.5', 'turn_left:absent']",
    ),
}


def checked(values: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters as values for Settings. Raises ValueError, which names the first bad one."""
    out = {}
    for name, value in values.items():
        try:
            out[name] = PARAMETERS[name].check(value)
        except ValueError as error:
            raise ValueError(f'parameter {name} is {value!r}: {error}') from None
    return out
