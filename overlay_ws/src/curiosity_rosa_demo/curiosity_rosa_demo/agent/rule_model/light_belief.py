# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What the rule model believes of the light: how probable each edge is, given what was seen. Pure.

A hypothesis is a straight edge: the score rises from 0 to 1 over a width, along a heading, and is
1 beyond. That is the simulator's model of the light, turned in any direction. World frame, metres,
radians.
"""

from __future__ import annotations

from collections.abc import Iterable
import math

from curiosity_rosa_demo.agent.rule_model.beliefs import Pose
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

HEADINGS = 36
FARTHEST_M = 26.0  # of an edge from the start
EDGE_STEP_M = 0.5
WIDTHS_M = (1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)
NEAR_M = 10.0  # an edge is less probable by e at each further so many metres
HINT_WEIGHT = 0.8  # that a hint is right
HINT_EDGES_M = (-0.2, 0.0, 0.2)
NO_LIGHT_WEIGHT = 0.05
SIGMA = 0.08  # of a score: the sensor's noise and the steps of the hypotheses
DOUBT = 1e-4  # that a score says nothing
GOOD = 0.8  # the score that a capture needs, until a bad one was seen above
LIT = 0.05
TELLING_M = 4.0  # a look so far from another one tells most of what the two can


class LightBelief:
    """``start``: where the search began; ``hint_x``: the x from which on it is said to be
    bright; ``samples``: the scores of captures that were not good.
    """

    def __init__(
        self, start: Pose, hint_x: float | None, samples: Iterable[tuple[Pose, float]]
    ) -> None:
        seen = list(samples)
        self._lit_places = [pose for pose, score in seen if score > LIT]
        self._good = min(1.0, max([GOOD, *(score + LIT for _, score in seen)]))
        self._cos, self._sin, self._bright, self._width, weight = _hypotheses(start, hint_x)
        no_light = NO_LIGHT_WEIGHT
        for pose, score in seen:
            weight *= _likelihood(score, self._scores(pose))
            no_light *= float(_likelihood(score, np.zeros(1))[0])
        total = float(weight.sum()) + no_light
        self._weight = weight / total
        self.no_light = no_light / total  # the probability that there is none

    def _scores(self, pose: Pose) -> Floats:
        along = pose.x * self._cos + pose.y * self._sin
        scores: Floats = np.clip((along - self._bright) / self._width + 1.0, 0.0, 1.0)
        return scores

    def probabilities(self, x: Floats, y: Floats) -> tuple[Floats, Floats]:
        """For each place: that a capture is good, and that it shows light that tells something:
        some, but not yet enough, and none was seen nearby.
        """
        good = self._share_beyond(self._bright - (1.0 - self._good) * self._width, x, y)
        lit = self._share_beyond(self._bright - (1.0 - LIT) * self._width, x, y)
        far = np.full_like(x, math.inf)
        for pose in self._lit_places:
            far = np.minimum(far, np.hypot(x - pose.x, y - pose.y))
        return good, (lit - good) * (1.0 - np.exp(-far / TELLING_M))

    def _share_beyond(self, edge: Floats, x: Floats, y: Floats) -> Floats:
        """The weight of the hypotheses whose ``edge`` lies before each place."""
        share = np.zeros_like(x)
        order = np.lexsort((edge, self._sin, self._cos))
        turns = (np.diff(self._cos[order]) != 0.0) | (np.diff(self._sin[order]) != 0.0)
        for group in np.split(order, np.flatnonzero(turns) + 1):
            along = x * self._cos[group[0]] + y * self._sin[group[0]]
            summed = np.r_[0.0, np.cumsum(self._weight[group])]
            share += summed[np.searchsorted(edge[group], along, side='right')]
        return share


def _likelihood(score: float, expected: Floats) -> Floats:
    fits: Floats = np.exp(-0.5 * ((score - expected) / SIGMA) ** 2) + DOUBT
    return fits


def _hypotheses(
    start: Pose, hint_x: float | None
) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """Cosine and sine of the heading, the bright edge along it, the width and the weight."""
    headings = np.round(np.linspace(-math.pi, math.pi, HEADINGS, endpoint=False), 9)
    edges = np.arange(-2.0, FARTHEST_M, EDGE_STEP_M)
    heading, edge, width = (
        grid.ravel() for grid in np.meshgrid(headings, edges, np.array(WIDTHS_M), indexing='ij')
    )
    weight = np.exp(-np.maximum(edge, 0.0) / NEAR_M)
    weight *= (1.0 - NO_LIGHT_WEIGHT - (HINT_WEIGHT if hint_x is not None else 0.0)) / weight.sum()
    cos, sin = np.cos(heading), np.sin(heading)
    bright = start.x * cos + start.y * sin + edge
    if hint_x is None:
        return cos, sin, bright, width, weight
    near, widths = (
        grid.ravel() for grid in np.meshgrid(np.array(HINT_EDGES_M), np.array(WIDTHS_M))
    )
    hinted = np.full(near.size, HINT_WEIGHT / near.size)
    return (
        np.r_[cos, np.ones(near.size)],
        np.r_[sin, np.zeros(near.size)],
        np.r_[bright, hint_x + near],
        np.r_[width, widths],
        np.r_[weight, hinted],
    )
