# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Converts domain models to JSON text and back, exactly for every value that a model accepts; and
reads JSON of which no model is known.
"""

from __future__ import annotations

import json
from typing import Any, TypeVar

from curiosity_rosa_demo.domain.models import Model
from curiosity_rosa_demo.domain.text import clip, short_repr, valid_unicode
from pydantic import ValidationError

M = TypeVar('M', bound=Model)
_PLACES = ('missing', 'extra_forbidden')  # problems that no value has


class SerdeError(ValueError):
    """The text is not JSON, or not JSON of this model. The message gives the place and reason."""


def to_json(model: Model) -> str:
    """One line of JSON."""
    return model.model_dump_json()


def from_json(cls: type[M], text: str | bytes) -> M:
    """The model in ``text``. Raises SerdeError."""
    try:
        return cls.model_validate_json(text)
    except ValidationError as error:
        raise SerdeError(f'{cls.__name__}: {first_problem(error)}') from error


def first_problem(error: ValidationError, whole: str = 'text') -> str:
    """The place, what is wrong, and the value there, as a short text. ``whole``: all of it."""
    first = error.errors(include_url=False)[0]
    parts = (f'[{part}]' if isinstance(part, int) else f'.{part}' for part in first['loc'])
    place = clip(valid_unicode(''.join(parts).removeprefix('.'))) or whole
    told, is_place = clip(first['msg']).removeprefix('Value error, '), first['type'] in _PLACES
    found = '' if is_place else f', not {short_repr(first["input"])}'
    return f'{place}: {told}{found}'


def read_object(text: str | bytes) -> dict[str, Any]:
    """The JSON object in ``text``, with None for NaN and infinity; empty if it is none."""
    try:
        value = json.loads(text, parse_constant=lambda _: None)
    except (ValueError, RecursionError):  # RecursionError: nested too deeply
        return {}
    return value if isinstance(value, dict) else {}
