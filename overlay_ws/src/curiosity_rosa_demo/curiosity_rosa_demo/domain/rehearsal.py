# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.
"""What a plan or an operation is expected to do, and what it did. Exact in JSON.

Metres and radians in the world frame, seconds, percent of the battery. Null is unknown.
"""

from __future__ import annotations

from typing import Literal

from curiosity_rosa_demo.domain.geometry import Place
from curiosity_rosa_demo.domain.models import Model
from pydantic import Field

FenceVerdict = Literal['pass', 'ask', 'refuse']
Gap = Literal['distance', 'place', 'heading']


class StepForecast(Model):
    """One call. ``step_id``: of the plan; null for a single operation. ``end``: where it leads.
    ``fence_margin_m``: the least distance of what the call may reach from the fence's margin, as
    the fence's rule measures it; below 0 it may leave. Null: it does not move the base.
    ``verdict``: what the gate says about the fence; ``reason``: why it would ask or refuse;
    ``refusal``: the fields of what it would refuse with.
    """

    call: str
    step_id: int | None
    metres: float
    seconds: float
    end: Place
    fence_margin_m: float | None = None
    verdict: FenceVerdict = 'pass'
    reason: str = ''
    refusal: dict[str, str] | None = None


class Comparison(Model):
    """The real motion beside its forecast of ``predicted_m``. ``end``: where the rover stands. The
    gaps are absolute; ``distance_gap_m`` is null when no path was measured. ``exceeded``: the gaps
    over their limit.
    """

    predicted_m: float
    metres: float | None
    end: Place
    distance_gap_m: float | None
    place_gap_m: float
    heading_gap_rad: float
    limit_m: float
    exceeded: list[Gap] = Field(default_factory=list)


class Rehearsal(Model):
    """The forecast. ``why_not``: why nothing is predicted. ``unknown_from``: the first call whose
    motion cannot be predicted; nothing after it is. ``path``: x and y, from ``start`` on.
    ``obstacle_margin_m``: the least free distance from the rover's body to what the scan shows
    now; null without one. ``driven_m``: what the turn had driven before. ``text``: all this for a
    person, in the language of the order. ``real``: what came of it, once it is over.
    """

    why_not: Literal['', 'pose_unknown', 'stale', 'moving'] = ''
    start: Place | None = None
    end: Place | None = None
    path: list[tuple[float, float]] = Field(default_factory=list)
    metres: float = 0.0
    seconds: float = 0.0
    energy_pct: float = 0.0
    battery_left_pct: float | None = None
    fence_margin_m: float | None = None
    obstacle_margin_m: float | None = None
    steps: list[StepForecast] = Field(default_factory=list)
    unknown_from: str = ''
    driven_m: float = 0.0
    text: str = ''
    real: Comparison | None = None

    @property
    def at_the_fence(self) -> StepForecast | None:
        """The first step that the gate would not let pass at the fence, a refused one first."""
        refused = [each for each in self.steps if each.verdict == 'refuse']
        asking = [each for each in self.steps if each.verdict == 'ask']
        return next(iter(refused + asking), None)
