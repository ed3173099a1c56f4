# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Text that others wrote, made fit to be shown, sent or stored. Pure."""

from __future__ import annotations

from typing import Any, cast, TypeVar

T = TypeVar('T')

MAX_QUOTE_CHARS = 200  # characters of what a model can make as long as it likes


def clip(text: str, longest: int = MAX_QUOTE_CHARS, *, ending: str = '...') -> str:
    """``text`` with at most ``longest`` characters; ``ending`` stands for what is left out."""
    return text if len(text) <= longest else f'{text[: longest - len(ending)]}{ending}'


def one_line(text: str) -> str:
    """``text`` in one line, with one blank between two words."""
    return ' '.join(text.split())


def without_controls(text: str) -> str:
    """``text`` with a blank for every character that could move a cursor."""
    return text if text.isprintable() else ''.join(c if c.isprintable() else ' ' for c in text)


def printable(text: str) -> str:
    """``text`` in one line: what a model wrote cannot pass for another line of the console."""
    return one_line(without_controls(text))


def valid_unicode(value: T) -> T:
    """``value``, text or JSON, with halves of a surrogate pair joined, or replaced by U+FFFD where
    one is missing: a stream may cut a pair in two, and UTF-8 can carry no half.
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
