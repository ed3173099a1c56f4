# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Makes external text safe to show, send or store. Pure."""

from __future__ import annotations

from dataclasses import is_dataclass
import json
import re
import sys
from typing import Any, cast, TypeVar

T = TypeVar('T')

# Printable by str.isprintable(), and yet drawn as nothing: fillers and variation selectors.
_UNSEEN = re.compile(
    '[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0'
    '\U000e0100-\U000e01ef]'
)

MAX_QUOTE_CHARS = 200  # for text whose length a model determines


def clip(text: str, longest: int = MAX_QUOTE_CHARS, *, ending: str = '...') -> str:
    """``text`` with at most ``longest`` characters. ``ending`` marks a cut."""
    return text if len(text) <= longest else f'{text[: longest - len(ending)]}{ending}'


def short_repr(value: object, longest: int = 60) -> str:
    """``value`` as Python writes it, for an error message."""
    try:
        return clip(repr(value), longest)
    except (ValueError, RecursionError):  # an integer of thousands of digits, nested too deeply
        return f'a {type(value).__name__} too large to show'


def count_text(count: int, noun: str) -> str:
    """``1 task``, ``2 tasks``: a noun whose plural ends in s."""
    return f'{count} {noun}{"" if count == 1 else "s"}'


def one_line(text: str) -> str:
    """``text`` on one line, with single blanks between words."""
    return ' '.join(text.split())


def first_line(text: str) -> str:
    """The first line, with an ellipsis for the others."""
    first, *others = text.split('\n', 1)
    return f'{first} …' if others else first


def without_controls(text: str) -> str:
    """``text`` with a blank for every character that is not printable."""
    return text if text.isprintable() else ''.join(c if c.isprintable() else ' ' for c in text)


def printable(text: str) -> str:
    """``text`` on one line, so that a model cannot forge another line of the console."""
    return one_line(without_controls(text))


def printable_lines(text: str) -> str:
    """``text`` with its line breaks, and a blank for every other character that is not printable:
    nothing in it moves the cursor of a terminal.
    """
    return '\n'.join(map(without_controls, text.split('\n')))


def marked_lines(text: str) -> str:
    """``text`` with its line breaks and a mark before each further line, so that a model cannot
    forge another line of the console.
    """
    return '\n  | '.join(line for each in text.splitlines() if (line := printable(each)))


def visible(text: str) -> str:
    r"""``text`` with every control, bidirectional, invisible or unassigned character as the escape
    of JSON, such as ``\u202e``. Nothing is removed. The value of JSON on one line stays the same.
    """
    if text.isprintable() and not _UNSEEN.search(text):
        return text
    return ''.join(
        each if each.isprintable() and not _UNSEEN.match(each) else json.dumps(each)[1:-1]
        for each in text
    )


def valid_unicode(value: T) -> T:
    """``value``, text or JSON, with surrogate pairs joined and lone surrogates replaced by U+FFFD.
    A stream may split a pair, and UTF-8 cannot encode a lone surrogate.
    """
    repaired: Any = value
    if isinstance(value, str):
        if not value.isascii():
            repaired = value.encode('utf-16', 'surrogatepass').decode('utf-16', 'replace')
    elif isinstance(value, dict):
        repaired = {valid_unicode(key): valid_unicode(item) for key, item in value.items()}
    elif isinstance(value, list):
        repaired = [valid_unicode(item) for item in value]
    return cast(T, repaired)


def memory_size(value: object) -> int:
    """Bytes of ``value`` and of all that its dictionaries, lists, tuples and dataclasses hold:
    parsed JSON may take forty times the memory of its text. A value that occurs twice counts
    twice, so the result is rather too large.
    """
    size = 0
    todo = [value]
    while todo:
        part = todo.pop()
        size += sys.getsizeof(part)
        if isinstance(part, str):  # most of them
            continue
        if isinstance(part, dict):
            todo.extend(part)
            todo.extend(part.values())
        elif isinstance(part, (list, tuple)):
            todo.extend(part)
        elif is_dataclass(type(part)):
            todo.append(vars(part))
    return size
