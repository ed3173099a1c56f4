# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A typed command: its name and its arguments. Pure functions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
import math
from typing import Any, TYPE_CHECKING
import unicodedata

from curiosity_rosa_demo.agent.kernel.hear import Message, Reply
from curiosity_rosa_demo.domain.models import read_json_object
from curiosity_rosa_demo.domain.origin import Origin
from curiosity_rosa_demo.domain.skills import Outcome

if TYPE_CHECKING:
    from curiosity_rosa_demo.agent.robot import Robot

DEFAULT_DRIVE_S = 4.0
SWITCH = ('on', 'off')


class BadCommand(ValueError):
    """The line is not a valid command. The message gives the usage."""


@dataclass(frozen=True)
class Command:
    """A console command, or a ``text`` for the model."""

    name: str  # of a command, or 'text'
    text: str = ''  # a free text, an ID, or the name of a skill or of a file
    number: float = 0.0
    data: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class TypedLine:
    """A line, with the stop count and the open question at the time of its input."""

    command: Command
    robot: Robot
    line: str = ''
    stops: int = 0  # requested so far; a later stop drops the line
    question_id: str = ''  # of the question that a plain yes or no answers; '': none
    by: str = ''  # who typed it
    # receives the reply; None: the line was typed at the console
    on_reply: Callable[[Reply], None] | None = None
    origin: Origin = Origin.CONSOLE


Handler = Callable[[TypedLine], Outcome | Message]  # answers at once, or sends a message

# --- Reading: the words of a command are ASCII where they can be, a raw text is as it was typed --


@dataclass(frozen=True)
class Spec:
    """A command. ``read`` gets its words and the longest drive in seconds, ``raw`` the text after
    its name in their place. ``early``: it may run before the other nodes are up.
    """

    name: str
    argument: str  # as :help shows it; empty: no argument
    help: str
    run: Handler
    read: Read
    raw: Callable[[Spec, str], Command] | None = None
    choices: tuple[str, ...] = ()  # of its first word
    early: bool = False

    @property
    def usage(self) -> str:
        return f':{self.name} {self.argument}'.rstrip()

    def check(self, holds: bool, word: str, allowed: str) -> None:
        """Raises BadCommand."""
        if not holds:
            raise BadCommand(f'{self.usage}: {word[:40]!r} is {allowed}')


Read = Callable[[Spec, list[str], float], Command]


def word(spec: Spec, words: list[str], _: float) -> Command:
    return Command(spec.name, text=words[0].lower() if words else '')


def neither(choices: tuple[str, ...]) -> str:
    *others, last = choices
    return f'neither {", ".join(others)} nor {last}'


def _number(spec: Spec, words: list[str], default: float, allowed: str) -> float:
    if not words:
        return default
    try:
        number = float(words[0])
    except ValueError:
        number = math.nan
    spec.check(math.isfinite(number), words[0], f'not {allowed}')
    return number


def seconds(spec: Spec, words: list[str], longest_s: float) -> Command:
    limit = f'seconds, more than 0 and at most {longest_s:g}'
    number = _number(spec, words, min(DEFAULT_DRIVE_S, longest_s), limit)
    spec.check(0.0 < number <= longest_s, ''.join(words), f'not {limit}')
    return Command(spec.name, number=number)


def count(default: int) -> Read:
    def read(spec: Spec, words: list[str], _: float) -> Command:
        limit = 'a count from 1 to 1000'
        number = _number(spec, words, default, limit)
        spec.check(number == int(number) and 1 <= number <= 1000, ''.join(words), f'not {limit}')
        return Command(spec.name, number=number)

    return read


def priority(spec: Spec, words: list[str], _: float) -> Command:
    limit = 'a whole number from -1000 to 1000'
    number = _number(spec, words[1:], 0, limit)
    spec.check(number == int(number) and abs(number) <= 1000, words[1], f'not {limit}')
    return Command(spec.name, text=words[0].lower(), number=number)


def device(spec: Spec, words: list[str], _: float) -> Command:
    name, switch = map(str.lower, words)
    spec.check(switch in SWITCH, words[1], neither(SWITCH))
    return Command(spec.name, text=name, number=float(switch == 'on'))


def triggers(spec: Spec, words: list[str], _: float) -> Command:
    if not words:
        return Command(spec.name)
    if len(words) == 1:
        raise BadCommand(f'{spec.usage}: which one? :triggers lists them; all stands for all')
    return Command(spec.name, text=words[1].lower(), number=float(words[0].lower() == 'on'))


def submit(spec: Spec, typed: str) -> Command:
    name, *arguments = typed.split(None, 1) or ['']
    if not name:
        raise BadCommand(f'usage: {spec.usage}')
    data = _json_object(spec, arguments[0]) if arguments else {}
    return Command(spec.name, text=unicodedata.normalize('NFKC', name), data=data)


def raw_text(spec: Spec, typed: str) -> Command:
    if not typed and spec.argument[0] != '[':
        raise BadCommand(f'usage: {spec.usage}')
    return Command(spec.name, text=typed)


def edit(spec: Spec, typed: str) -> Command:
    words, brace, rest = typed.partition('{')
    start, *surplus = words.split() or ['']
    if not brace or surplus:
        raise BadCommand(f'usage: {spec.usage}, such as {{"duration_s": 2}}')
    start = unicodedata.normalize('NFKC', start).lower()
    return Command(spec.name, text=start, data=_json_object(spec, brace + rest))


def _json_object(spec: Spec, text: str) -> dict[str, Any]:
    try:
        return read_json_object(text)
    except ValueError as error:
        raise BadCommand(f'{spec.usage}: not JSON: {error}') from None
