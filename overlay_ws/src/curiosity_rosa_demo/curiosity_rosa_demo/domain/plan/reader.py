# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Reads the JSON object of a plan from text as models write it, in linear time.

In addition to JSON, the reader accepts text around the object, ``//``, ``#`` and ``/* */``
comments, trailing commas, single quotes, line breaks in strings, and True, False, None.
"""

from __future__ import annotations

from collections.abc import Iterator
import math
import re
from typing import Any, NoReturn

from curiosity_rosa_demo.domain.plan.validation import MAX_CHARS, MAX_DEPTH, PlanError, short_repr

WHITESPACE = re.compile(r'(?:\s+|//[^\n]*|#[^\n]*|/\*.*?\*/)*', re.DOTALL)
WORD = re.compile(r'[-+]?[^\W\d]\w*')
NUMBER = re.compile(r'[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?(?!\w)')
PLAIN = {'"': re.compile(r'[^"\\]*'), "'": re.compile(r"[^'\\]*")}
WORDS = {'true': True, 'false': False, 'null': None, 'none': None}
ESCAPES = {'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}
ESCAPES.update({mark: mark for mark in '"\'\\/'})
HEX = re.compile(r'[0-9a-fA-F]{4}')
MAX_DIGITS = 400  # of a number; the longest double has 309 before its point
EXAMPLE = '{"goal": "...", "steps": [{"action": "..."}]}'


def read_plan(text: str) -> dict[str, Any]:
    """The first object that has a goal or steps, or the first of any kind. Raises PlanError."""
    if len(text) > MAX_CHARS:
        raise PlanError(f'text must be at most {MAX_CHARS} characters, not {len(text)}')
    first: dict[str, Any] | None = None
    problem = _UnexpectedText(0, f'a JSON object like {EXAMPLE}')
    at = text.find('{')
    while at >= 0:
        reader = _Reader(text, at)
        try:
            found = reader.object_()
        except _UnexpectedText as error:
            problem = error
            if reader.pairs:
                raise PlanError(_located(text, problem)) from None
        else:
            if any(key.lower() in ('goal', 'steps') for key in found):
                return found
            first = found if first is None else first
        # The braces were prose. Skip the text that was read, to keep the time linear.
        at = text.find('{', max(at + 1, reader.at))
    if first is None:
        raise PlanError(_located(text, problem))
    return first


class _UnexpectedText(Exception):
    """``expected`` describes the valid text at offset ``at``."""

    def __init__(self, at: int, expected: str) -> None:
        super().__init__(at, expected)
        self.at, self.expected = at, expected


def _located(text: str, problem: _UnexpectedText) -> str:
    at = problem.at
    line = text.count('\n', 0, at) + 1
    column = at - text.rfind('\n', 0, at)
    found = short_repr(text[at : at + 20]) if at < len(text) else 'the end of the text'
    return f'line {line}, column {column}: expected {problem.expected}; found {found}'


class _Reader:
    """Recursive-descent parser. ``at``: offset of the next character. ``pairs``: keys with a colon
    so far.
    """

    def __init__(self, text: str, at: int) -> None:
        self.text, self.at, self.pairs, self._depth = text, at, 0, 0

    def object_(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for at in self._items('}'):
            if self.text[at] not in PLAIN:
                self._fail(at, 'a key in double quotes')
            key = self._string()
            if self._peek() != ':':
                self._fail(self.at, f'a colon after the key {short_repr(key)}')
            self.at += 1
            self.pairs += 1
            if key in found:
                self._fail(at, f'another key: {short_repr(key)} is there already')
            found[key] = self._value()
        return found

    def _array(self) -> list[Any]:
        return [self._value() for _ in self._items(']')]

    def _items(self, end: str) -> Iterator[int]:
        """Yield the offset of each item, which the caller must read. Accepts a trailing comma."""
        opened = self.at
        self._depth += 1
        if self._depth > MAX_DEPTH:
            self._fail(opened, f'at most {MAX_DEPTH} levels of nesting')
        self.at += 1
        while (mark := self._peek()) != end:
            if not mark:
                self._fail(opened, f'a closing {end}')
            yield self.at
            mark = self._peek()
            if mark == ',':
                self.at += 1
            elif mark and mark != end:
                self._fail(self.at, f'a comma or {end}')
        self.at += 1
        self._depth -= 1

    def _value(self) -> Any:
        mark = self._peek()
        if mark == '{':
            return self.object_()
        if mark == '[':
            return self._array()
        if mark in PLAIN:
            return self._string()
        start = self.at
        if match := NUMBER.match(self.text, start):
            self.at = match.end()
            return self._number(match.group(), start)
        if match := WORD.match(self.text, start):
            word = match.group().lower()
            self.at = match.end()
            if word in WORDS:
                return WORDS[word]
            if word.lstrip('+-') in ('nan', 'infinity', 'inf'):
                self._fail(start, f'a finite number, not {match.group()}')
        return self._fail(start, 'a value: text in double quotes, a number, true, false, null')

    def _number(self, digits: str, start: int) -> int | float:
        if len(digits) > MAX_DIGITS:
            self._fail(start, f'a number of at most {MAX_DIGITS} digits')
        number = float(digits) if set(digits) & set('.eE') else int(digits)
        return number if abs(number) != math.inf else self._fail(start, 'a finite number')

    def _string(self) -> str:
        start = self.at
        quote = self.text[start]
        self.at += 1
        parts = []
        while True:
            match = PLAIN[quote].match(self.text, self.at)
            assert match is not None  # the pattern matches the empty text
            parts.append(match.group())
            self.at = match.end()
            if self.at >= len(self.text):
                self._fail(start, f'a closing {quote} for the text that begins here')
            self.at += 1
            if self.text[self.at - 1] == quote:
                break
            parts.append(self._escaped())
        try:
            # Two escapes can encode one character: \ud83d\ude00.
            return ''.join(parts).encode('utf-16', 'surrogatepass').decode('utf-16')
        except UnicodeDecodeError:
            return self._fail(start, 'text of valid Unicode')

    def _escaped(self) -> str:
        start = self.at - 1
        mark = self.text[self.at : self.at + 1]
        self.at += 1
        if mark in ESCAPES:
            return ESCAPES[mark]
        if mark == 'u' and (match := HEX.match(self.text, self.at)):
            self.at = match.end()
            return chr(int(match.group(), 16))
        return self._fail(start, r'an escape that JSON knows; a backslash itself is \\')

    def _peek(self) -> str:
        """The next character after white space and comments; empty at the end."""
        match = WHITESPACE.match(self.text, self.at)
        assert match is not None
        self.at = match.end()
        if self.text.startswith('/*', self.at):
            start, self.at = self.at, len(self.text)
            self._fail(start, 'a closing */ for the comment that begins here')
        return self.text[self.at : self.at + 1]

    def _fail(self, at: int, expected: str) -> NoReturn:
        raise _UnexpectedText(at, expected)
