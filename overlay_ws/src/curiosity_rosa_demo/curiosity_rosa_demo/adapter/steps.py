# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The steps of the rules: what the clocks show in one, what is due after it, and the log. Pure.

A recording that holds the log can be replayed into the rules: the same steps at the same times
have the same results. Entries are numbered from 0, the start of the adapter. A reader sees by the
numbers which of them are missing.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial, wraps
import json
from typing import Any, cast, TypeVar

from curiosity_rosa_demo.infra.clocks import bounded_factor, RealTimeFactor
from curiosity_rosa_demo.infra.config.limits import MotionConfig

PERIOD_S = 0.5  # between two messages
HISTORY = 240  # messages for a late subscriber: two minutes
MAX_ENTRIES = 5000  # that wait for a message; the oldest are dropped
ALARM_PERIOD_S = 10.0  # between two alarms of one text, steady seconds
REFUSED = 'refused'  # the key of a refusal's reason in the log


class MotionRefused(Exception):
    """A rule forbids the motion. docs/reference/contracts.md lists the messages."""


@dataclass(frozen=True)
class Due:
    """The commands that the caller must execute now: call the rover's stop service and report its
    result with this number; publish a zero Twist; hold these parts at these angles, radians (no
    angles: cancel their goals alone); show the alarms and the warnings.
    """

    stop_call: int | None = None
    zero_twist: bool = False
    holds: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    alarms: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any] | None:
        """The fields that say something; None: nothing is due."""
        holds = {name: list(angles) for name, angles in self.holds.items()}
        texts = {'alarms': list(self.alarms), 'warnings': list(self.warnings)}
        fields = {**vars(self), 'holds': holds, **texts}
        return {key: value for key, value in fields.items() if value} or None


@dataclass
class _Fold:
    """An alarm since its last report: ``repeats`` is the number of those not reported yet."""

    until: float
    repeats: int = 0


class AlarmFold:
    """Alarms for the operator: the first of a text is due at once. Its repetitions are counted,
    and due as one line after ALARM_PERIOD_S.
    """

    def __init__(self) -> None:
        self._folds: dict[str, _Fold] = {}
        self._due: list[str] = []

    def add(self, text: str, now: float) -> None:
        fold = self._folds.get(text)
        if fold is None or (now >= fold.until and fold.repeats == 0):
            self._folds[text] = _Fold(now + ALARM_PERIOD_S)
            self._due.append(text)
        else:
            fold.repeats += 1

    def take_due(self, now: float) -> list[str]:
        """Return and clear the lines that are due at ``now``."""
        for text, fold in list(self._folds.items()):
            if now < fold.until:
                continue
            if fold.repeats == 0:
                del self._folds[text]
                continue
            times = 'once' if fold.repeats == 1 else f'{fold.repeats} times'
            self._due.append(f'{text} ({times} more)')
            self._folds[text] = _Fold(now + ALARM_PERIOD_S)
        due, self._due = self._due, []
        return due

    def next_wakeup(self) -> float | None:
        """The time by which to call ``take_due`` again; None when no repetition is pending."""
        return min((fold.until for fold in self._folds.values() if fold.repeats), default=None)


class StepTime:
    """The time of a step, in seconds of three clocks. ``steady`` is the machine's.

    ``simulated`` is for what the simulator does: a SimulationClock. ``travelled`` is for a motion
    under way. Simulated time determines the distance that a moving rover covers. It can run faster
    than wall time, jump, stop, and is zero before the first ``/clock``. So ``travelled`` advances
    by the larger of the two advances: a jump can end a motion early, but nothing can prolong it.
    """

    def __init__(self, steady: Callable[[], float], ros_clock: Any, motion: MotionConfig) -> None:
        """Without simulated time the ROS clock shows the steady one."""
        self._clock, self._ros_clock = steady, ros_clock
        self._slowest = motion.slowest_real_time_factor
        self._measured = RealTimeFactor(motion.clock_max_age_s)
        self.simulated = self.travelled = 0.0
        self._factor = 1.0  # simulated seconds in a steady one
        self._read_clocks()

    def read(self) -> None:
        """Take the time anew: all that a step does happens at one time."""
        steady, ros_s = self.steady, self._ros_s
        self._read_clocks()
        advance = self.steady - steady
        self.simulated += advance * self._factor
        self.travelled += max(self._ros_s - ros_s, advance)
        if self.ros_ns is None:
            self._measured.reset()
        else:
            self._measured.record(self.steady, self._ros_s)
        self._factor = bounded_factor(self._measured.measured, self._slowest)

    def _read_clocks(self) -> None:
        self.steady = self._clock()
        is_active = self._ros_clock.ros_time_is_active
        self.ros_ns = int(self._ros_clock.now().nanoseconds) if is_active else None
        nanoseconds = int(self.steady * 1e9) if self.ros_ns is None else self.ros_ns
        self._ros_s = float(nanoseconds) * 1e-9

    def stretched(self, seconds: float) -> float:
        """The steady seconds in which so many simulated seconds pass."""
        return seconds / self._factor


@dataclass(frozen=True)
class LogEntry:
    """A step. ``at``: steady seconds. ``ros_ns``: simulated time; None without it. ``result``:
    None, a number, a truth value, or an object, such as the reason of a refusal.
    """

    at: float
    ros_ns: int | None
    name: str
    arguments: Sequence[Any] = ()
    result: Any = None


F = TypeVar('F', bound=Callable[..., Any])
STEPS: set[str] = set()  # the names of the methods that a log of inputs calls


def step(act: F) -> F:
    """A step of the rules, which reads the clocks once and adds itself to the log."""
    name = act.__name__
    STEPS.add(name)

    @wraps(act)
    def taken(rules: Any, *arguments: Any) -> Any:
        rules.time.read()
        entry = partial(LogEntry, rules.time.steady, rules.time.ros_ns, name, arguments)
        try:
            result = act(rules, *arguments)
        except MotionRefused as refusal:
            rules.inputs.add(entry({REFUSED: str(refusal)}))
            raise
        rules.inputs.add(entry(result.to_json() if isinstance(result, Due) else result))
        return result

    return cast(F, taken)


@dataclass(frozen=True)
class LogBatch:
    """Consecutive entries. ``first``: the number of the first. ``offset_s``: seconds that the
    clock of the machine, since the epoch, is ahead of the steady clock.
    """

    first: int
    offset_s: float
    entries: Sequence[LogEntry]


@dataclass
class InputLog:
    """Keeps the entries until they are taken. The caller holds one lock around both methods."""

    _waiting: deque[LogEntry] = field(default_factory=lambda: deque(maxlen=MAX_ENTRIES))
    _count: int = 0

    def add(self, entry: LogEntry) -> None:
        self._waiting.append(entry)
        self._count += 1

    def take(self, offset_s: float) -> LogBatch | None:
        """The waiting entries, each once; None without any."""
        entries = list(self._waiting)
        self._waiting.clear()
        return LogBatch(self._count - len(entries), offset_s, entries) if entries else None


def encode_batch(batch: LogBatch) -> str:
    """As JSON of Python, with NaN and Infinity: what a sensor says is an input, too."""
    entries = []
    for each in batch.entries:
        rest = [] if each.result is None else [each.result]
        arguments = [list(each.arguments)] if each.arguments or rest else []
        entries.append([each.at, each.ros_ns, each.name, *arguments, *rest])
    content = {'first': batch.first, 'offset_s': batch.offset_s, 'entries': entries}
    return json.dumps(content, separators=(',', ':'))


def decode_batch(text: str) -> LogBatch | None:
    """None for a text that is no batch, or that a replay has published."""
    try:
        content = json.loads(text)
        if content.get('replay'):
            return None
        entries = [_entry(each) for each in content['entries']]
        batch = LogBatch(content['first'], content['offset_s'], entries)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None
    fits = type(batch.first) is int and isinstance(batch.offset_s, float)
    return batch if fits and batch.first >= 0 else None


def _entry(fields: list[Any]) -> LogEntry:
    """Raises TypeError if ``fields`` are not those of an entry."""
    entry = LogEntry(*fields)
    is_entry = type(entry.at) is float and isinstance(entry.name, str)
    is_timed = entry.ros_ns is None or type(entry.ros_ns) is int
    if not (is_entry and is_timed and isinstance(entry.arguments, Sequence)):
        raise TypeError('not an entry')
    return entry
