# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Plan the next look: the place with the least expected cost until a good capture. Pure.

At a place a look is good with probability g, or it shows some light with probability l. If no
light was seen nearby, that light shows the way: a good capture then costs about GRADIENT_CALLS
more. After any other look the search goes on as before. So a place that is reached at cost c is
worth

    F = (c + l * gradient) / (g + l),

and the place with the least F is next. No place beyond a cost of the best F can be better.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from curiosity_rosa_demo.agent.rule_model.beliefs import Mast, Obstacle, Pose
from curiosity_rosa_demo.agent.rule_model.light_belief import LightBelief
from curiosity_rosa_demo.agent.rule_model.motion_search import (
    FIRST_MOTION,
    FIRST_SECONDS,
    layers,
    Motions,
    SECONDS,
    X,
    Y,
)
from curiosity_rosa_demo.domain.dead_reckoning import DIRECTIONS
from curiosity_rosa_demo.domain.skills import MAST_SKILLS
import numpy as np

GRADIENT_CALLS = ('mast_close', 'turn_left', 'move_forward', 'mast_open', 'capture_and_score')
COST_PER_SECOND = 0.1  # of driving: one drive goes before two arcs
FARTHEST_COST = 24.0  # of the motions to one look


@dataclass(frozen=True)
class Look:
    """The planned look. ``tool`` and ``seconds``: the first motion to it; empty: look here.
    ``good``: the probability that the capture is good; ``cost``: of the calls to it; ``expected``:
    of the whole search.
    """

    tool: str
    seconds: float
    x: float
    y: float
    good: float
    cost: float
    expected: float


def next_look(
    pose: Pose,
    mast: Mast,
    belief: LightBelief,
    motions: Motions,
    prices: dict[str, float],
    *,
    obstacles: tuple[Obstacle, ...] = (),
    first_at_most: Mapping[str, float] = MappingProxyType({}),
    seen_here: bool = False,
) -> Look | None:
    """``first_at_most``: seconds of a first motion; ``seen_here``: a capture of this place is no
    news. None: nothing is within reach.
    """
    free = MAST_SKILLS if mast is Mast.NONE else ()
    calls = {tool: 0.0 if tool in free else price for tool, price in prices.items()}
    look = calls['capture_and_score']
    here = look + (0.0 if mast is Mast.OPEN else calls['mast_open'])
    there = look + calls['mast_open'] + (0.0 if mast is Mast.CLOSED else calls['mast_close'])
    gradient = sum(calls[tool] for tool in GRADIENT_CALLS)
    best: Look | None = None
    for cost, poses in layers(pose, motions, obstacles, first_at_most):
        if cost > FARTHEST_COST or (best is not None and cost + there >= best.expected):
            break
        if cost == 0.0 and seen_here:
            continue
        price = (here if cost == 0.0 else cost + there) + COST_PER_SECOND * poses[:, SECONDS]
        good, telling = belief.probabilities(poses[:, X], poses[:, Y])
        expected = (price + telling * gradient) / np.maximum(good + telling, 1e-9)
        row = int(np.argmin(expected))
        if best is None or expected[row] < best.expected:
            tool = '' if cost == 0.0 else list(DIRECTIONS)[int(poses[row, FIRST_MOTION])]
            best = Look(
                tool=tool,
                seconds=float(poses[row, FIRST_SECONDS]),
                x=float(poses[row, X]),
                y=float(poses[row, Y]),
                good=float(good[row]),
                cost=float(price[row]),
                expected=float(expected[row]),
            )
    return best
