# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The steps of the rules: what is due after one, and the log of them. Pure.

A recording that holds the log can be replayed into the rules: the same steps at the same times
have the same results. Entries are numbered from 0, the start of the adapter. A reader sees by the
numbers which of them are missing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
import json
import math
from types import MappingProxyType
from typing import Annotated, Any, cast, NamedTuple, TypeVar

from pydantic import Field, TypeAdapter, ValidationError

PERIOD_S = 0.5  # between two messages
HISTORY = 240  # messages for a late subscriber: two minutes
MAX_ENTRIES = 5000  # in a message; the oldest are dropped
ALARM_PERIOD_S = 10.0  # between two alarms of one text, steady seconds
REFUSED = 'refused'  # the key of a refusal's reason in the log


class MotionRefused(Exception):
    """A rule forbids the motion. docs/reference/contracts.md lists the messages."""


class Due(NamedTuple):
    """The commands that the caller must execute now: call the rover's stop service and report its
    result with this number; publish a zero Twist; hold these parts at these angles, radians (no
    angles: cancel their goals alone); show the alarms and the warnings.
    """

    stop_call: int | None = None
    zero_twist: bool = False
    holds: Mapping[str, Sequence[float]] = MappingProxyType({})
    alarms: Sequence[str] = ()
    warnings: Sequence[str] = ()

    def to_json(self) -> dict[str, Any] | None:
        """The fields that say something; None: nothing is due."""
        return {key: value for key, value in self._asdict().items() if value} or None


class AlarmFold:
    """Alarms for the operator: the first of a text is due at once. Its repetitions are counted,
    and due as one line after ALARM_PERIOD_S.
    """

    def __init__(self) -> None:
        self._folds: dict[str, tuple[float, int]] = {}  # until when, and repetitions so far
        self._due: list[str] = []

    def add(self, text: str, now: float) -> None:
        until, repeats = self._folds.get(text, (now, 0))
        if now >= until and repeats == 0:
            self._folds[text] = (now + ALARM_PERIOD_S, 0)
            self._due.append(text)
        else:
            self._folds[text] = (until, repeats + 1)

    def take_due(self, now: float) -> list[str]:
        """Return and clear the lines that are due at ``now``."""
        for text, (_, repeats) in [each for each in self._folds.items() if now >= each[1][0]]:
            del self._folds[text]
            if repeats:
                times = 'once' if repeats == 1 else f'{repeats} times'
                self._due.append(f'{text} ({times} more)')
                self._folds[text] = (now + ALARM_PERIOD_S, 0)
        due, self._due = self._due, []
        return due

    def next_wakeup(self) -> float:
        """The time by which to call ``take_due`` again."""
        return min((until for until, repeats in self._folds.values() if repeats), default=math.inf)


class LogEntry(NamedTuple):
    """A step. ``at``: steady seconds. ``ros_ns``: simulated time; None without it. ``result``:
    None, a number, a truth value, or an object, such as the reason of a refusal.
    """

    at: float
    ros_ns: int | None
    name: str
    arguments: Sequence[Any] = ()
    result: Any = None


class LogBatch(NamedTuple):
    """Consecutive entries. ``first``: the number of the first. ``offset_s``: seconds that the
    clock of the machine, since the epoch, is ahead of the steady clock.
    """

    first: Annotated[int, Field(ge=0)]
    offset_s: float
    entries: list[LogEntry]


_BATCHES = TypeAdapter(LogBatch)
F = TypeVar('F', bound=Callable[..., Any])
STEPS: set[str] = set()  # the names of the methods that a log of inputs calls


def step(act: F) -> F:
    """A step of the rules, which reads the clocks once and adds itself to the log."""
    name = act.__name__
    STEPS.add(name)

    @wraps(act)
    def taken(rules: Any, *arguments: Any) -> Any:
        rules.time.read()
        told: Any = None
        try:
            told = result = act(rules, *arguments)
            if isinstance(result, Due):
                told = result.to_json()
            return result
        except MotionRefused as refusal:
            told = {REFUSED: str(refusal)}
            raise
        finally:
            entry = LogEntry(rules.time.steady, rules.time.ros_ns, name, arguments, told)
            rules.inputs.append(entry)

    return cast(F, taken)


class InputLog(list[LogEntry]):
    """The entries that wait to be taken. The caller holds one lock around it."""

    taken = 0

    def take(self, offset_s: float) -> LogBatch | None:
        """The waiting entries, each once; None without any."""
        entries = self[-MAX_ENTRIES:]
        self.taken += len(self)
        self.clear()
        return LogBatch(self.taken - len(entries), offset_s, entries) if entries else None


def encode_batch(batch: LogBatch) -> str:
    """As JSON of Python, with NaN and Infinity: what a sensor says is an input, too."""
    return json.dumps(batch._asdict(), separators=(',', ':'))


def decode_batch(text: str) -> LogBatch | None:
    """None for a text that is no batch, or that a replay has published."""
    try:
        return _BATCHES.validate_json(text)
    except ValidationError:
        return None
