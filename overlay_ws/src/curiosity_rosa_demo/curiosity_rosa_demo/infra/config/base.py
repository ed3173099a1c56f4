# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Base class, field types and errors of the YAML contracts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import timedelta, timezone, tzinfo
import math
from pathlib import Path
import re
from typing import Annotated, Any
from zoneinfo import ZoneInfo

from curiosity_rosa_demo.domain.plan import RiskLevel
from curiosity_rosa_demo.domain.text import clip, one_line
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator, ValidationInfo
from pydantic_core import PydanticCustomError
from typing_extensions import Self
import yaml

RULE = 'rule_between_keys'  # pydantic error type: two keys contradict each other


class ConfigError(Exception):
    """An invalid contract. The message names file, key path, value and allowed values."""


# Whether a rule is broken, the key to change (for one further inside: its path), the way out.
Rule = tuple[object, str | tuple[Any, ...], str]


def rule_error(keys: Iterable[object], value: object, rule: str) -> PydanticCustomError:
    """The error for the value at ``keys``, one below the other. ``rule``: the way out."""
    return PydanticCustomError(RULE, '{rule}', {'keys': [*keys], 'value': value, 'rule': rule})


class Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra='forbid', allow_inf_nan=False, strict=True)

    @model_validator(mode='wrap')
    @classmethod
    def _checked(cls, values: Any, validate: Any) -> Self:
        known = ', '.join(cls.model_fields)
        if not isinstance(values, (cls, dict)):
            raise ValueError(f'must be keys with values: {known}')
        for key, value in values.items() if isinstance(values, dict) else ():
            if key not in cls.model_fields:
                raise rule_error([key], value, f'unknown key; allowed here: {known}')
        section: Self = validate(values)
        for is_broken, key, rule in section.rules():
            if is_broken:
                keys = (key,) if isinstance(key, str) else key
                raise rule_error(keys, section.value_at(keys), rule)
        return section

    def rules(self) -> Iterable[Rule]:
        """The rules between its keys. The first that is broken is told."""
        return ()

    def changed(self, **changes: Any) -> Self:
        """A copy with other values; a dict for a section changes some of its keys."""
        for key, value in changes.items():
            if isinstance(below := getattr(self, key), Section) and isinstance(value, dict):
                changes[key] = below.changed(**value)
        return self.model_copy(update=changes)

    def value_at(self, keys: Iterable[Any]) -> Any:
        """The value under ``keys``, one below the other."""
        value: Any = self
        for key in keys:
            value = getattr(value, key) if isinstance(value, Section) else value[key]
        return value


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


def _below(key: str) -> AfterValidator:
    """Put a name below the namespace that the context of the validation has under ``key``."""

    def moved(name: str, info: ValidationInfo) -> str:
        namespace = (info.context or {}).get(key, '').strip('/')
        if not namespace or not name:
            return name
        try:
            return ros_name(f'/{namespace}/{name.lstrip("/")}')
        except ValueError as error:
            raise ValueError(f'in the namespace {namespace}: {error}') from None

    return AfterValidator(moved)


def _frame_name(value: str) -> str:
    if not re.fullmatch(r'/?[^/\s]+(/[^/\s]+)*', value):
        raise ValueError('not a frame name: no spaces, not empty, e.g. base_footprint')
    return value


FileName = Annotated[str, Field(pattern=r'^[A-Za-z0-9_]{1,60}$')]
Name = Annotated[str, AfterValidator(ros_name)]
OwnName = Annotated[Name, _below('namespace')]  # of the overlay
RoverName = Annotated[Name, _below('rover_namespace')]
OptionalRoverName = Annotated[str, AfterValidator(optional_ros_name), _below('rover_namespace')]
Frame = Annotated[str, AfterValidator(_frame_name)]
Seconds = Annotated[float, Field(gt=0.0, le=3600.0)]
Metres = Annotated[float, Field(ge=-1e6, le=1e6)]
Radians = Annotated[float, Field(ge=-100.0, le=100.0)]
Risk = Annotated[RiskLevel, Field(strict=False)]
Fraction = Annotated[float, Field(ge=0.0, le=1.0)]


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


def above(key: str, *, or_zero: bool = False) -> AfterValidator:
    """A number must be greater than that of the field ``key`` before it."""

    def check(value: float, info: ValidationInfo) -> float:
        low = info.data.get(key, -math.inf)  # without it: it is refused itself
        if value <= low and not (or_zero and value == 0.0):
            raise ValueError(f'must be greater than {key} ({low}){", or 0" if or_zero else ""}')
        return value

    return AfterValidator(check)


def unique_names(items: list[Any]) -> list[Any]:
    """Raises ValueError."""
    for name, count in Counter(each.name for each in items).items():
        if count > 1:
            raise ValueError(f'name {name!r} is taken twice; give each its own')
    return items


# --- The one reader of YAML --------------------------------------------------------------------


class _Loader(getattr(yaml, 'CSafeLoader', yaml.SafeLoader)):  # type: ignore[misc]  # with libyaml
    """Refuses a key that stands twice, of which YAML libraries silently take the last."""

    def construct_mapping(self, node: Any, deep: bool = False) -> Any:
        lines: dict[tuple[str, str], int] = {}
        for key, _ in node.value:
            name, line = (key.tag, str(key.value)), key.start_mark.line + 1
            if name in lines:
                shown, first = clip(one_line(name[1]), 80), lines[name]
                raise ConfigError(f'{shown}: this key stands twice, in lines {first} and {line}')
            lines[name] = line
        return super().construct_mapping(node, deep)


def read_yaml(path: Path) -> Any:
    """The value in the file. Raises ConfigError, which names the file."""
    try:
        return parse_yaml(path.read_text(encoding='utf-8'))
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f'{path}: cannot be read: {error}') from error
    except ConfigError as error:
        raise ConfigError(f'{path}: {error}') from error.__cause__


def parse_yaml(text: str) -> Any:
    """The value that ``text`` describes; None if it describes none. Raises ConfigError."""
    try:
        return yaml.load(text, _Loader)
    except (yaml.YAMLError, ValueError, RecursionError) as error:  # ValueError: date 2026-13-01
        raise ConfigError(f'not YAML: {one_line(str(error))}') from error
