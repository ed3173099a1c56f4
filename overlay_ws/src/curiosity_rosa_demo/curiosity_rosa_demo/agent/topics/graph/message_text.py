# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A message as a few lines: field names and values, clipped. No bytes of pictures. Pure."""

from __future__ import annotations

from collections.abc import Iterator
import itertools
import math
from typing import Any

from curiosity_rosa_demo.domain.text import clip, printable

MAX_FIELDS = 24
MAX_DEPTH = 4
MAX_ITEMS = 6
MAX_VALUE_CHARS = 80


def message_lines(message: Any) -> tuple[str, ...]:
    """``field.subfield: value`` of a ROS message, at most MAX_FIELDS of them."""
    lines = list(itertools.islice(_fields(message, '', 0), MAX_FIELDS + 1))
    return (*lines[:MAX_FIELDS], '...') if len(lines) > MAX_FIELDS else tuple(lines)


def _fields(message: Any, prefix: str, depth: int) -> Iterator[str]:
    for name in message.get_fields_and_field_types():
        value, path = getattr(message, name), f'{prefix}{name}'
        if hasattr(value, 'get_fields_and_field_types') and depth < MAX_DEPTH:
            yield from _fields(value, f'{path}.', depth + 1)
        else:
            yield f'{path}: {_value_text(value)}'


def _value_text(value: Any) -> str:
    if isinstance(value, bytes | bytearray | memoryview):
        return f'[{len(value)} bytes]'
    if isinstance(value, str):
        return clip(printable(value[: 4 * MAX_VALUE_CHARS]), MAX_VALUE_CHARS)
    if isinstance(value, float):
        return f'{value:.4g}' if math.isfinite(value) else str(value)
    if isinstance(value, bool | int):
        return str(value)
    try:
        count = len(value)
    except TypeError:
        return clip(printable(type(value).__name__), MAX_VALUE_CHARS)
    if count > MAX_ITEMS:
        return f'[{count} values]'
    return '[' + ', '.join(_item_text(each) for each in value) + ']'


def _item_text(item: Any) -> str:
    if hasattr(item, 'get_fields_and_field_types'):
        return type(item).__name__
    try:
        return _value_text(float(item) if not isinstance(item, str | bool | int) else item)
    except (TypeError, ValueError):
        return type(item).__name__
