# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The policy's typed events."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from curiosity_rosa_demo.agent.policy.world_state import Source
from curiosity_rosa_demo.infra.config.world import MESSAGE


@dataclass(frozen=True)
class StateChanged:
    """A part of the world state other than the activity changed. ``what``: ``place``, ``energy``
    (published at each tenth of the charge) or ``device NAME``.
    """

    name: ClassVar[str] = 'state.changed'
    at: float  # seconds since the epoch, by the policy's clock
    what: str
    before: str
    after: str

    def __str__(self) -> str:
        return f'{self.what}: {self.before} -> {self.after}'


@dataclass(frozen=True)
class ActionStarted:
    name: ClassVar[str] = 'action.started'
    at: float
    activity: str
    by: Source
    rationale: str = ''

    def __str__(self) -> str:
        why = f' ({self.rationale})' if self.rationale else ''
        return f'{self.activity}, by {self.by.value}{why}'


@dataclass(frozen=True)
class ActionEnded:
    """``how``: 'done', or why the activity ended early."""

    name: ClassVar[str] = 'action.ended'
    at: float
    activity: str
    how: str

    def __str__(self) -> str:
        return f'{self.activity}: {self.how}'


@dataclass(frozen=True)
class ExternalMessage:
    name: ClassVar[str] = MESSAGE
    at: float
    text: str

    def __str__(self) -> str:
        return self.text


Event = StateChanged | ActionStarted | ActionEnded | ExternalMessage
