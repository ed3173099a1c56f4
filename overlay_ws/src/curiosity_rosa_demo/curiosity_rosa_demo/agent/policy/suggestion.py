# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What a model is asked and what comes back, as values."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from curiosity_rosa_demo.agent.policy.action import PolicyAction
from curiosity_rosa_demo.domain.text import printable

MAX_TEXT_CHARS = 300  # characters of what a model said that are kept

Key = tuple[str, str, int, tuple[str, ...]]


@dataclass(frozen=True)
class PromptSituation:
    """What the model is asked about. ``activity`` '': nothing goes on. ``options``: names of the
    activities that it may suggest. ``text``: for the prompt; only needed when it is asked.
    """

    place: str
    activity: str
    energy: float  # a fraction of the full charge
    options: tuple[str, ...]
    text: str

    @cached_property
    def key(self) -> Key:
        """Equal for situations that deserve the same answer."""
        return self.place, self.activity, int(self.energy * 10), self.options


@dataclass(frozen=True)
class Suggestion:
    """``answer_text``: what the model said, in one line. ``cached``: it said so earlier."""

    action: PolicyAction
    answer_text: str
    cached: bool


@dataclass(frozen=True)
class NoSuggestion:
    reason: str
    answer_text: str = ''


@dataclass(frozen=True)
class PendingSuggestion:
    """The model has not answered yet."""


class SuggestionFailed(Exception):
    """The model gave no action that can be read. ``reason`` is for the user, ``answer_text``
    what the model said.
    """

    def __init__(self, reason: str, answer_text: str = '') -> None:
        super().__init__(reason)
        self.reason = reason
        self.answer_text = cleaned_text(answer_text)


def cleaned_text(text: str) -> str:
    """What a model said, in one line of valid Unicode that a console can show."""
    return printable(text[: 4 * MAX_TEXT_CHARS])[:MAX_TEXT_CHARS]


def checked_action(action: object) -> PolicyAction:
    """``action`` with texts that a console can show. Raises SuggestionFailed."""
    if not isinstance(action, PolicyAction):
        raise SuggestionFailed('The model named no activity.', str(action))
    if action.type != printable(action.type):
        raise SuggestionFailed('The model named an activity that nobody can read.', action.type)
    return action.model_copy(update={'rationale': cleaned_text(action.rationale)})


def suggestion_text(action: PolicyAction, why: str) -> str:
    name = f'{action.type} (preemptive)' if action.preemptive else action.type
    return f'{name}: {why}' if why else name
