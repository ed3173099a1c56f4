# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Base class, field types and errors of the YAML contracts."""

from __future__ import annotations

from datetime import timedelta, timezone, tzinfo
import logging
from pathlib import Path
import re
from typing import Annotated, Any, NamedTuple
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from pydantic_core import PydanticCustomError

# -----------------------------------------------------------------------------------------------
# Aliases: values that a YAML contract may contain and that are read as another value.


_log = logging.getLogger('curiosity_rosa.config')


class Accepted(NamedTuple):
    """An alias: its file and key path, the accepted value, its replacement and the reason."""

    file: str
    keys: tuple[str, ...]
    value: str
    read_as: str
    why: str


ACCEPTED = (
    Accepted(
        'topics',
        ('services', 'capture_and_score', 'type'),
        'curiosity_rosa_demo/srv/CaptureAndScore',
        'curiosity_rosa_interfaces/srv/CaptureAndScore',
        'a Python package of ROS cannot define services, so they have a package of their own',
    ),
)


def with_our_names(path: Path, values: dict[str, Any]) -> dict[str, Any]:
    """Replace the aliases in ``values``, read from ``path``. Each replacement logs a warning."""
    for each in ACCEPTED:
        if each.file == path.stem and _at(values, each.keys) == each.value:
            values = _replaced(values, each.keys, each.read_as)
            _log.warning(
                'event=read_as file=%s key=%s value=%s read_as=%s hint=%r',
                *(path, '.'.join(each.keys), each.value, each.read_as, f'write that: {each.why}'),
            )
    return values


def _at(values: Any, keys: tuple[str, ...]) -> Any:
    for key in keys:
        values = values.get(key) if isinstance(values, dict) else None
    return values


def _replaced(values: dict[str, Any], keys: tuple[str, ...], value: str) -> dict[str, Any]:
    first, *rest = keys
    replaced = _replaced(values[first], tuple(rest), value) if rest else value
    return {**values, first: replaced}


RULE = 'rule_between_keys'  # pydantic error type: two keys contradict each other


class Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra='forbid', allow_inf_nan=False, strict=True)


def rule_error(key: str, value: object, rule: str, *, file: str = '') -> PydanticCustomError:
    """Make the error for a ``key`` whose value contradicts another key. ``rule``: the way out."""
    return PydanticCustomError(
        RULE, '{rule}', {'key': key, 'value': value, 'rule': rule, 'file': file}
    )


def ros_name(value: str) -> str:
    """Return ``value`` if it is a valid ROS name. Raises ValueError."""
    if len(value) > 200 or not re.fullmatch(r'/?[A-Za-z_]\w*(/[A-Za-z_]\w*)*', value, re.ASCII):
        raise ValueError(
            'not a ROS name: letters, digits and _, not a digit first, parts joined by /, at most '
            '200 characters, e.g. /capture/image'
        )
    return value


def optional_ros_name(value: str) -> str:
    return ros_name(value) if value else value


def _frame_name(value: str) -> str:
    if not re.fullmatch(r'/?[^/\s]+(/[^/\s]+)*', value):
        raise ValueError('not a frame name: no spaces, not empty, e.g. base_footprint')
    return value


FileName = Annotated[str, Field(pattern=r'^[A-Za-z0-9_]{1,60}$')]
Name = Annotated[str, AfterValidator(ros_name)]
OptionalName = Annotated[str, AfterValidator(optional_ros_name)]
Frame = Annotated[str, AfterValidator(_frame_name)]
Seconds = Annotated[float, Field(gt=0.0, le=3600.0)]
Metres = Annotated[float, Field(ge=-1e6, le=1e6)]
Radians = Annotated[float, Field(ge=-100.0, le=100.0)]
Fraction = Annotated[float, Field(ge=0.0, le=1.0)]


def below(namespace: str, name: str) -> str:
    """Put ``name`` into ``namespace``; an empty namespace, or name, leaves it
    unchanged.
    """
    namespace = namespace.strip('/')
    return f'/{namespace}/{name.lstrip("/")}' if namespace and name else name


# --- Parse time zones: UTC, offsets and IANA names ---------------------------------------------


def time_zone(name: str) -> tzinfo:
    """Parse ``UTC``, ``UTC+08:00`` or an IANA name such as Europe/Berlin. Raises ValueError."""
    if name == 'UTC':
        return timezone.utc
    if found := re.fullmatch(r'UTC([+-])(0[0-9]|1[0-4]):([0-5][0-9])', name, re.ASCII):
        sign, hours, minutes = found.groups()
        offset = timedelta(hours=int(hours), minutes=int(minutes))
        return timezone(-offset if sign == '-' else offset)
    try:
        return ZoneInfo(name)
    except (OSError, ValueError, KeyError):  # ZoneInfoNotFoundError is a KeyError
        raise ValueError(
            'not a time zone; write UTC, an offset such as UTC+08:00, or a name such as '
            'Europe/Berlin'
        ) from None
