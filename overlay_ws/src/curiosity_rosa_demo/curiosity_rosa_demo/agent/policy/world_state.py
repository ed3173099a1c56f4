# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What the policy knows between two ticks, as one value that is kept across restarts. Pure data.

Times are seconds since the epoch by the policy's clock (clock.py); energy is a fraction of the
full charge.
"""

from __future__ import annotations

from enum import Enum
from typing import Annotated

from curiosity_rosa_demo.domain.brain_state import Text
from curiosity_rosa_demo.domain.models import Model
from curiosity_rosa_demo.infra.config.world import WorldView
from pydantic import Field

Fraction = Annotated[float, Field(ge=0.0, le=1.0)]


class Source(str, Enum):
    """Who decided, the strongest first."""

    EMERGENCY = 'emergency'
    MODEL = 'model'
    ROUTINE = 'routine'


class Ongoing(Model):
    """An activity that has begun. ``task_ids``: the kernel's tasks that carry it out, in order;
    it ends with the last of them. ``until``: when its last task ends, None when only its work
    tells. ``energy_at``: up to when its effect on the energy is counted.
    """

    activity: str
    by: Source
    began_at: float
    until: float | None = None
    task_ids: list[Text] = Field(default_factory=list)
    rationale: str = ''
    energy_at: float
    held: bool = False


class Memory(Model):
    """By activity: when it last began and when it last ended as it should, and when it last
    failed or was cancelled; by place: when it last arrived there.
    """

    began: dict[Text, float] = Field(default_factory=dict)
    ended: dict[Text, float] = Field(default_factory=dict)
    failed: dict[Text, float] = Field(default_factory=dict)
    arrived: dict[Text, float] = Field(default_factory=dict)


class WorldState(Model):
    """``place`` '' is unknown. ``suspended``: what was interrupted and goes on afterwards, the
    last one first to go on. ``devices``: whether each can be used.
    """

    place: str
    energy: Fraction
    activity: Ongoing | None = None
    suspended: list[Ongoing] = Field(default_factory=list)
    devices: dict[Text, bool] = Field(default_factory=dict)
    memory: Memory = Field(default_factory=Memory)
    ticked_at: float = 0.0  # the last tick that was kept; time never goes back behind it

    @classmethod
    def first(cls, view: WorldView) -> WorldState:
        """The state of a world that nobody remembers."""
        return cls(
            place=view.begins.place,
            energy=view.begins.energy,
            devices={name: device.available for name, device in view.devices.items()},
        )
