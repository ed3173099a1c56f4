# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Plan the next looks: the places with the least expected cost to a good capture. Pure.

A look shows nothing, some light, or enough. While looks show nothing there is nothing to choose:
a plan is a sequence of places k = 1, 2, ... at costs c(k), and the first look that shows light
ends it. That look is good, or the light is then known well enough to drive there at the cost v,
which counts the arcs that the rover needs to turn to it. With d(k) the probability that no look
before k showed light, m(k) that the look k is the first to show some, and v(k) the mean of v times
its probability, a plan is worth

    F = (sum of d(k) c(k) + v(k)) / (sum of m(k)),

the expected cost if the search goes on at this rate afterwards. The first motion of the plan with
the least F is next; whatever it shows, the search then plans anew.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
import math
from types import MappingProxyType

from curiosity_rosa_demo.agent.rule_model.beliefs import Mast
from curiosity_rosa_demo.agent.rule_model.light_belief import ANGLES, Edges, Floats, LightBelief
from curiosity_rosa_demo.agent.rule_model.motion_search import (
    FIRST_MOTION,
    FIRST_SECONDS,
    layers,
    Motions,
    SECONDS,
    X,
    Y,
    YAW,
)
from curiosity_rosa_demo.domain.geometry import DIRECTIONS, Place, XY
from curiosity_rosa_demo.domain.skills import MAST_SKILLS
import numpy as np

COST_PER_SECOND = 0.08  # of driving: one drive goes before two arcs that are as long
FARTHEST_COST = 20.0  # of the motions to one look, if that turns the rover round
LOOKS = 2  # of a plan
PLANS = 5  # that are kept with one look fewer
FURTHER_M, FURTHER_HEADINGS = 3.0, 8  # apart are the places of the looks after the first
COST = SECONDS + 3  # a further column of the poses: the price of the motions to it


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


@dataclass(frozen=True)
class _Prices:
    """``look``: of one with its mast; ``radian``: of an arc; ``metre``: straight ahead."""

    look: float
    radian: float
    metre: float


@dataclass(frozen=True)
class _Plan:
    """``found``: the probability that a look of it shows light; ``spent``: the sum of the d c + v.
    ``before``: the hypotheses of which no look but the last one would show light.
    """

    first: Look | None
    end: Place
    found: float
    spent: float
    before: Edges

    @property
    def worth(self) -> float:
        return self.spent / max(self.found, 1e-9)

    @cached_property
    def left(self) -> Edges:
        return self.before if self.first is None else self.before.dark_at(self.end.x, self.end.y)


def next_look(
    pose: Place,
    mast: Mast,
    belief: LightBelief,
    motions: Motions,
    prices: dict[str, float],
    *,
    obstacles: tuple[XY, ...] = (),
    first_at_most: Mapping[str, float] = MappingProxyType({}),
    seen_here: bool = False,
) -> Look | None:
    """``first_at_most``: seconds of a first motion; ``seen_here``: a capture of this place is no
    news. None: nothing is within reach.
    """
    free = MAST_SKILLS if mast is Mast.NONE else ()
    calls = {tool: 0.0 if tool in free else price for tool, price in prices.items()}
    capture = calls['capture_and_score']
    arc = min(calls['turn_left'], calls['turn_right']) / motions.longest_s
    ahead = calls['move_forward'] / motions.longest_s
    rates = _Prices(
        look=capture + calls['mast_open'] + calls['mast_close'],
        radian=(arc + COST_PER_SECOND) / motions.speeds.turn,
        metre=(ahead + COST_PER_SECOND) / motions.speeds.straight,
    )
    reached = _reached(pose, motions, obstacles, first_at_most)
    limited, anywhere = bool(obstacles or first_at_most), reached[1:]
    if obstacles and len(reached) == 1:  # better too near to one than nowhere
        reached = _reached(pose, motions, (), first_at_most)
    price = reached[:, COST] + rates.look
    if mast is Mast.OPEN:  # an open mast is closed once, before a drive
        price[reached[:, COST] == 0.0] = capture
    if seen_here:
        reached, price = reached[1:], price[1:]
    if not len(reached):
        return None
    plans = _extended(_Plan(None, pose, 0.0, 0.0, belief.edges), reached, price, rates, motions)
    best = plans[0]
    further = _thinned(_reached(pose, motions, (), {})[1:] if limited else anywhere)
    for _ in range(LOOKS - 1):
        longer = [
            plan
            for each in plans
            for plan in _extended(
                each,
                _moved(further, pose, each.end),
                further[:, COST] + rates.look,
                rates,
                motions,
            )
        ]
        plans = sorted([best, *longer], key=lambda plan: plan.worth)[:PLANS]
        best = plans[0]
    assert best.first is not None  # every plan but the root has one
    return replace(best.first, expected=best.worth)


def _reached(
    pose: Place,
    motions: Motions,
    obstacles: tuple[XY, ...],
    first_at_most: Mapping[str, float],
) -> Floats:
    """The poses within reach of a look, the start first, with their COST."""
    turns = [motions.costs[tool] for tool in ('turn_left', 'turn_right') if tool in motions.costs]
    half_circle = math.ceil(math.pi / (motions.speeds.turn * motions.longest_s))
    ahead = motions.costs.get('move_forward', 0.0)
    farthest = max(FARTHEST_COST, min(turns, default=0.0) * half_circle + 2.0 * ahead)
    rows: list[Floats] = []
    for cost, poses in layers(pose, motions, obstacles, first_at_most):
        if cost > farthest:
            break
        rows.append(np.column_stack((poses, np.full(len(poses), cost))))
    return np.concatenate(rows)


def _thinned(poses: Floats) -> Floats:
    """The first pose of each place and heading."""
    columns = (
        np.round(poses[:, X] / FURTHER_M),
        np.round(poses[:, Y] / FURTHER_M),
        np.round(poses[:, YAW] % math.tau / math.tau * FURTHER_HEADINGS),
    )
    _, first = np.unique(np.column_stack(columns), axis=0, return_index=True)
    thinned: Floats = poses[np.sort(first)]
    return thinned


def _moved(poses: Floats, start: Place, end: Place) -> Floats:
    """The poses that motions reach from ``end`` which reach ``poses`` from ``start``."""
    turn = end.yaw_rad - start.yaw_rad
    cos, sin = math.cos(turn), math.sin(turn)
    x, y = poses[:, X] - start.x, poses[:, Y] - start.y
    after = poses.copy()
    after[:, X] = end.x + cos * x - sin * y
    after[:, Y] = end.y + sin * x + cos * y
    after[:, YAW] += turn
    return after


def _extended(
    plan: _Plan, poses: Floats, price: Floats, rates: _Prices, motions: Motions
) -> list[_Plan]:
    """The best plans with one more look, at one of ``poses``."""
    seen = plan.left.outcomes(poses[:, X], poses[:, Y])
    partly = seen.lit - seen.good
    aside = np.abs((ANGLES[:, None] - poses[:, YAW] + math.pi) % math.tau - math.pi)
    # A turn to the light advances by up to a radius. One more look than needed pays for what a
    # single score leaves open.
    advance_m = motions.speeds.radius_m * np.sin(np.minimum(aside, math.pi / 2))
    straight_m = np.maximum(seen.missing_m - partly * advance_m, 0.0)
    then = partly * (2.0 * rates.look + rates.radian * aside) + rates.metre * straight_m
    found = plan.found + seen.lit.sum(axis=0)
    here = (1.0 - plan.found) * (price + COST_PER_SECOND * poses[:, SECONDS])
    spent = plan.spent + here + then.sum(axis=0)
    best = np.argsort(spent / np.maximum(found, 1e-9), kind='stable')[:PLANS]
    plans = []
    for row in best:
        x, y, yaw = (float(value) for value in poses[row, [X, Y, YAW]])
        first = plan.first or Look(
            tool=''
            if poses[row, COST] == 0.0
            else list(DIRECTIONS)[int(poses[row, FIRST_MOTION])],
            seconds=float(poses[row, FIRST_SECONDS]),
            x=x,
            y=y,
            good=float(seen.good[:, row].sum()),
            cost=float(price[row]),
            expected=math.inf,
        )
        plans.append(
            _Plan(first, Place(x, y, yaw), float(found[row]), float(spent[row]), plan.left)
        )
    return plans
