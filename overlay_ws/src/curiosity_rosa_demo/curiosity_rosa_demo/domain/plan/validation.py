# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What is wrong with a plan, in words that begin with the path of the field."""

from __future__ import annotations

import json
import reprlib
from typing import Any

from curiosity_rosa_demo.domain.text import clip, valid_unicode
from pydantic import ValidationError

MAX_STEPS = 200
MAX_CHARS = 100_000  # of a plan as text
MAX_DEPTH = 32  # nesting levels of lists and objects
MAX_PATH = 120  # characters of a path that are shown
MAX_SHOWN_CHARS = 60  # characters of a value that are shown

_repr = reprlib.Repr()
_repr.maxstring = _repr.maxother = MAX_SHOWN_CHARS
_repr.maxlevel = 2

# By the type of pydantic's error: what the value must be.
_MUST_BE = {
    'string_type': 'a text',
    'string_pattern_mismatch': 'a text that is not empty',
    'string_unicode': 'valid Unicode',
    'int_type': 'a whole number from 0',
    'greater_than_equal': 'a whole number from 0',
    'less_than': 'a whole number below 2**63',
    'bool_type': 'true or false',
    'float_type': 'a time in seconds',
    'finite_number': 'a time in seconds',
    'list_type': 'a list',
}


class PlanError(ValueError):
    """The plan is invalid. The message names the place, the text there and a valid form."""


def short_repr(value: object) -> str:
    """``value`` as a short text for an error message."""
    try:
        shown = _repr.repr(value)
    except ValueError:  # Python refuses to print integers of thousands of digits
        return 'a huge number'
    return clip(shown, MAX_SHOWN_CHARS)


def plan_error(error: ValidationError, name: str) -> PlanError:
    """The first problem of the model called ``name``."""
    first = error.errors(include_url=False)[0]
    parts = (f'[{part}]' if isinstance(part, int) else f'.{part}' for part in first['loc'])
    path = ''.join(parts).removeprefix('.')
    cause = first.get('ctx', {}).get('error')
    if isinstance(cause, PlanError):
        return PlanError(f'{path}{cause}')
    if first['type'] == 'missing':
        return PlanError(f'{path} is missing')
    must_be = _MUST_BE.get(first['type'], 'an object')
    if isinstance(cause, UnicodeError):
        must_be = _MUST_BE['string_unicode']
    elif first['type'] == 'enum':
        must_be = first['ctx']['expected']
    return PlanError(f'{path or name} must be {must_be}, not {short_repr(first["input"])}')


def json_object(value: object, path: str = '', levels: int = MAX_DEPTH) -> dict[str, Any]:
    """``value`` if it is an object with an exact JSON form. Raises PlanError."""
    if not isinstance(value, dict):
        raise PlanError(f'{path} must be an object, not {short_repr(value)}')
    _check_json(value, path, levels)
    return value


def _check_json(value: object, path: str, levels: int) -> None:
    path = clip(valid_unicode(path), MAX_PATH)
    if isinstance(value, dict | list):
        if levels == 0:
            raise PlanError(f'{path} must not be nested that deep')
        if isinstance(value, list):
            inner = {f'{path}[{index}]': item for index, item in enumerate(value)}
        else:
            for key in value:
                if not isinstance(key, str) or valid_unicode(key) != key:
                    raise PlanError(f'{path}: a key must be a text, not {short_repr(key)}')
            inner = {f'{path}.{key}': item for key, item in value.items()}
        for item_path, item in inner.items():
            _check_json(item, item_path, levels - 1)
    elif isinstance(value, str):
        if valid_unicode(value) != value:
            raise PlanError(f'{path} must be valid Unicode, not {short_repr(value)}')
    elif isinstance(value, int | float):
        try:
            json.dumps(value, allow_nan=False)
        except ValueError:  # not finite, or more digits than Python prints
            raise PlanError(f'{path} must be a finite number, not {short_repr(value)}') from None
    elif value is not None:
        raise PlanError(f'{path} must be a JSON value, not {short_repr(value)}')
