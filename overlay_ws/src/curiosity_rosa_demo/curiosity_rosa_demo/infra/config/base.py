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

from curiosity_rosa_demo.domain.text import clip, one_line
from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from pydantic_core import PydanticCustomError
import yaml

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


# -----------------------------------------------------------------------------------------------
# The one reader of YAML. It refuses a key that stands twice, of which YAML libraries silently
# take the last.


LOADER: Any = getattr(yaml, 'CSafeLoader', yaml.SafeLoader)  # libyaml is much faster


class YamlError(Exception):
    """Text that is not YAML, or a file that cannot be read."""


def read_yaml(path: Path) -> Any:
    """The value in the file. Raises YamlError, which names the file, and FileNotFoundError."""
    try:
        return parse_yaml(path.read_text(encoding='utf-8'))
    except FileNotFoundError:
        raise
    except (OSError, UnicodeDecodeError) as error:
        raise YamlError(f'{path}: cannot be read: {error}') from error
    except YamlError as error:
        raise YamlError(f'{path}: {error}') from error.__cause__


def parse_yaml(text: str) -> Any:
    """The value that ``text`` describes; None if it describes none. Raises YamlError."""
    try:
        loader = LOADER(text)
        try:
            root = loader.get_single_node()
            if root is None:
                return None
            _refuse_repeated_keys(root)
            return loader.construct_document(root)
        finally:
            loader.dispose()
    except (yaml.YAMLError, ValueError, RecursionError) as error:  # ValueError: date 2026-13-01
        raise YamlError(f'not YAML: {one_line(str(error))}') from error


def _refuse_repeated_keys(root: yaml.Node) -> None:
    waiting: list[tuple[list[str], yaml.Node]] = [([], root)]
    seen: set[int] = set()  # an alias may lead back
    while waiting:
        path, node = waiting.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, yaml.SequenceNode):
            waiting += [([*path, str(index)], each) for index, each in enumerate(node.value)]
        elif isinstance(node, yaml.MappingNode):
            lines: dict[tuple[str, str], int] = {}
            for key, value in node.value:
                if not isinstance(key, yaml.ScalarNode):
                    continue  # refused later: a mapping or a list is no key
                keys, line = [*path, key.value], key.start_mark.line + 1
                if (first := lines.get((key.tag, key.value))) is not None:
                    name = clip(one_line('.'.join(keys)), 80)
                    raise YamlError(f'{name}: this key stands twice, in lines {first} and {line}')
                lines[key.tag, key.value] = line
                waiting.append((keys, value))
