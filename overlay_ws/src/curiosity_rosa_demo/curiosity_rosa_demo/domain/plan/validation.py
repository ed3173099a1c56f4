# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Validation of the fields of a plan. Each error message begins with the path of the field."""

from __future__ import annotations

from dataclasses import fields, MISSING
from enum import Enum
import math
import reprlib
from typing import Any, TypeVar

from curiosity_rosa_demo.domain.text import clip, valid_unicode

E = TypeVar('E', bound=Enum)

MAX_STEPS = 200
MAX_CHARS = 100_000  # of a plan as text
MAX_DEPTH = 32  # nesting levels of lists and objects
WHOLE_END = 2**63  # an SQLite column holds integers below this
MAX_PATH = 120  # characters of a path that are shown
MAX_SHOWN_CHARS = 60  # characters of a value that are shown

_repr = reprlib.Repr()
_repr.maxstring = _repr.maxother = MAX_SHOWN_CHARS
_repr.maxlevel = 2


class PlanError(ValueError):
    """The plan is invalid. The message names the place, the text there and a valid form."""


def short_repr(value: object) -> str:
    """``value`` as a short text for an error message."""
    try:
        shown = _repr.repr(value)
    except ValueError:  # Python refuses to print integers of thousands of digits
        return 'a huge number'
    return clip(shown, MAX_SHOWN_CHARS)


def required_text(value: object, path: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise PlanError(f'{path} must be a text that is not empty, not {short_repr(value)}')
    return text(value, path)


def text(value: object, path: str) -> str:
    if not isinstance(value, str):
        raise PlanError(f'{path} must be a text, not {short_repr(value)}')
    try:
        value.encode()
    except UnicodeEncodeError:
        raise PlanError(f'{path} must be valid Unicode, not {short_repr(value)}') from None
    return value


def optional_text(value: object, path: str) -> str | None:
    return None if value is None else text(value, path)


def whole(value: object, path: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < WHOLE_END:
        raise PlanError(f'{path} must be a whole number from 0, not {short_repr(value)}')
    return value


def flag(value: object, path: str) -> bool:
    if not isinstance(value, bool):
        raise PlanError(f'{path} must be true or false, not {short_repr(value)}')
    return value


def seconds(value: object, path: str) -> float:
    """Validate a Unix time in seconds. Raises PlanError."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not _is_json_value(value):
        raise PlanError(f'{path} must be a time in seconds, not {short_repr(value)}')
    return value


def choice(enum: type[E], value: object, path: str) -> E:
    """The member of ``enum`` with this value. Raises PlanError."""
    for member in enum:
        if value is member or (type(value) is str and value == member.value):
            return member
    names = ', '.join(str(member.value) for member in enum)
    raise PlanError(f'{path} must be one of {names}, not {short_repr(value)}')


def json_object(value: object, path: str, levels: int = MAX_DEPTH) -> dict[str, Any]:
    """A deep copy of ``value``, an object with an exact JSON form. Raises PlanError."""
    if not isinstance(value, dict):
        raise PlanError(f'{path} must be an object, not {short_repr(value)}')
    copy: dict[str, Any] = _json_copy(value, path, levels)
    return copy


def given_fields(cls: type[Any], data: object, path: str) -> dict[str, Any]:
    """The items of ``data`` that are fields of the dataclass ``cls``. Raises PlanError."""
    if not isinstance(data, dict):
        raise PlanError(f'{path} must be an object, not {short_repr(data)}')
    found = {}
    for field in fields(cls):
        if field.name in data:
            found[field.name] = data[field.name]
        elif field.default is MISSING and field.default_factory is MISSING:
            raise PlanError(f'{field.name} is missing')
    return found


def _json_copy(value: object, path: str, levels: int) -> Any:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return text(value, path)
    if isinstance(value, (int, float)):
        if not _is_json_value(value):
            raise PlanError(f'{path} must be a finite number, not {short_repr(value)}')
        return value
    if not isinstance(value, (dict, list)):
        raise PlanError(f'{path} must be a JSON value, not {short_repr(value)}')
    if levels == 0:
        raise PlanError(f'{path} must not be nested that deep')
    if isinstance(value, list):
        items = enumerate(value)
        return [_json_copy(item, _path(f'{path}[{i}]'), levels - 1) for i, item in items]
    copy = {}
    for key, item in value.items():
        inner = _path(f'{path}.{key}' if isinstance(key, str) else path)
        copy[text(key, f'a key of {path}')] = _json_copy(item, inner, levels - 1)
    return copy


def _path(path: str) -> str:
    return clip(valid_unicode(path), MAX_PATH)


def _is_json_value(value: float) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    try:
        return bool(str(value))
    except ValueError:  # more digits than Python prints
        return False
