# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The policy's state between two ticks, as one value that is saved across restarts. Pure data.

Times are seconds since the epoch by the policy's clock (clock.py); energy is a fraction of the
full charge.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Annotated, ClassVar

from curiosity_rosa_demo.domain.models import Model
from curiosity_rosa_demo.infra.config.behaviour import MESSAGE, WorldView
from pydantic import Field

Fraction = Annotated[float, Field(ge=0.0, le=1.0)]


class Source(str, Enum):
    """The source of a decision, the strongest first."""

    EMERGENCY = 'emergency'
    MODEL = 'model'
    ROUTINE = 'routine'


class Ongoing(Model):
    """An activity that has started. ``task_ids``: the kernel tasks that execute it, in order; it
    ends with the last one. ``until``: when its last task ends; None when that depends on its work.
    ``energy_at``: the time up to which its effect on the energy is counted.
    """

    activity: str
    by: Source
    began_at: float
    until: float | None = None
    task_ids: list[str] = Field(default_factory=list)
    rationale: str = ''
    energy_at: float
    held: bool = False


class Memory(Model):
    """Times by activity: its last start, last proper end, and last failure or cancellation. By
    place: the last arrival.
    """

    began: dict[str, float] = Field(default_factory=dict)
    ended: dict[str, float] = Field(default_factory=dict)
    failed: dict[str, float] = Field(default_factory=dict)
    arrived: dict[str, float] = Field(default_factory=dict)


class WorldState(Model):
    """``place`` '' is unknown. ``suspended``: the interrupted activities; the last one resumes
    first. ``devices``: whether each is usable.
    """

    place: str
    energy: Fraction
    activity: Ongoing | None = None
    suspended: list[Ongoing] = Field(default_factory=list)
    devices: dict[str, bool] = Field(default_factory=dict)
    memory: Memory = Field(default_factory=Memory)
    ticked_at: float = 0.0  # the last saved tick; the clock never returns less

    @classmethod
    def first(cls, view: WorldView) -> WorldState:
        """The initial state, for when none was saved."""
        return cls(
            place=view.begins.place,
            energy=view.begins.energy,
            devices={name: device.available for name, device in view.devices.items()},
        )


# --- The policy's typed events -----------------------------------------------------------------


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
