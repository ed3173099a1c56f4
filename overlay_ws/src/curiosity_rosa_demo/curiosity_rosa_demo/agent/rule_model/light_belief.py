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
from dataclasses import dataclass
import math

from curiosity_rosa_demo.domain.geometry import Place
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

HEADINGS = 36
FARTHEST_M = 26.0  # of an edge from the start
EDGE_STEP_M = 0.5
WIDTHS_M = (1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)
NEAR_M = 10.0  # an edge is less probable by e at each further so many metres
HINT_WEIGHT = 0.6  # that a hint is right
HINT_ABOUT_WEIGHT = 0.15  # that only its direction is: the edge is a few metres off
HINT_EDGES_M = (-0.2, 0.0, 0.2)
HINT_ABOUT_M = tuple(np.arange(-6.0, 6.5, 0.5))
NO_LIGHT_WEIGHT = 0.05
SIGMA = 0.08  # of a score: the sensor's noise and the steps of the hypotheses
DOUBT = 1e-4  # that a score says nothing
GOOD = 0.8  # the score that a capture needs, until a bad one was seen above
LIT = 0.05
BIN_M, REACH_M = 0.5, 90.0  # of the sums over edges, and how far from the start they reach
BINS = round(2 * REACH_M / BIN_M)


@dataclass(frozen=True)
class Outcomes:
    """Of a look at each of some places: ``good`` and ``lit`` are the probabilities of a good
    capture and of some light, ``missing_m`` the metres to a good one times their probability, by
    heading of the light (rows); that of the place itself is a column.
    """

    good: Floats
    lit: Floats
    missing_m: Floats


class Edges:
    """Weights of hypotheses, summed over their edges: quick to ask at thousands of places."""

    def __init__(
        self,
        start: Place,
        number: NDArray[np.int64],
        good_m: Floats,
        lit_m: Floats,
        weight: Floats,
    ) -> None:
        """``number``: of a hypothesis' heading; its edges are metres along it from ``start``."""
        self._start = start
        self._number, self._weight = number, weight
        self._good_m, self._lit_m = good_m, lit_m
        self._good = self._summed(good_m, weight)
        self._lit = self._summed(lit_m, weight)
        self._good_way = self._summed(good_m, weight * good_m)
        self._lit_way = self._summed(lit_m, weight * good_m)

    def _summed(self, edge_m: Floats, weight: Floats) -> Floats:
        bins = np.clip(np.ceil((edge_m + REACH_M) / BIN_M), 0, BINS - 1).astype(np.int64)
        flat = np.bincount(self._number * BINS + bins, weight, minlength=HEADINGS * BINS)
        sums: Floats = np.cumsum(flat.reshape(HEADINGS, BINS), axis=1)
        return sums

    def _along(self, x: Floats, y: Floats) -> Floats:
        dx, dy = x - self._start.x, y - self._start.y
        ahead: Floats = COS[:, None] * dx + SIN[:, None] * dy
        return ahead

    def outcomes(self, x: Floats, y: Floats) -> Outcomes:
        along = self._along(x, y)
        bins = np.clip((along + REACH_M) / BIN_M, 0, BINS - 1).astype(np.int64)
        bins += np.arange(HEADINGS)[:, None] * BINS
        good, lit = self._good.ravel()[bins], self._lit.ravel()[bins]
        way = self._lit_way.ravel()[bins] - self._good_way.ravel()[bins]
        return Outcomes(good, lit, np.maximum(way - along * (lit - good), 0.0))

    def dark_at(self, x: float, y: float) -> Edges:
        """What is left if a look there shows no light."""
        along = self._along(np.array([x]), np.array([y]))[:, 0]
        dark = self._lit_m > along[self._number]
        return Edges(
            self._start,
            self._number[dark],
            self._good_m[dark],
            self._lit_m[dark],
            self._weight[dark],
        )


ANGLES = np.round(np.linspace(-math.pi, math.pi, HEADINGS, endpoint=False), 9)
COS, SIN = np.cos(ANGLES), np.sin(ANGLES)
AHEAD = HEADINGS // 2  # the heading along x, that of a hint


class LightBelief:
    """``start``: where the search began; ``hint_x``: the x from which on it is said to be
    bright; ``samples``: the scores of captures that were not good.
    """

    def __init__(
        self, start: Place, hint_x: float | None, samples: Iterable[tuple[Place, float]]
    ) -> None:
        seen = list(samples)
        good = min(1.0, max([GOOD, *(score + LIT for _, score in seen)]))
        hint_m = None if hint_x is None else hint_x - start.x
        number, bright, width, weight = _hypotheses(hint_m)
        no_light = NO_LIGHT_WEIGHT
        for pose, score in seen:
            along = (pose.x - start.x) * COS[number] + (pose.y - start.y) * SIN[number]
            expected = np.clip((along - bright) / width + 1.0, 0.0, 1.0)
            weight = weight * _likelihood(score, expected)
            no_light *= float(_likelihood(score, np.zeros(1))[0])
        total = float(weight.sum()) + no_light
        self.no_light = no_light / total  # the probability that there is none
        weight = weight / total
        kept = weight > 1e-9
        number, weight = number[kept], weight[kept]
        bright, width = bright[kept], width[kept]
        self.edges = Edges(
            start, number, bright - (1.0 - good) * width, bright - (1.0 - LIT) * width, weight
        )


def _likelihood(score: float, expected: Floats) -> Floats:
    fits: Floats = np.exp(-0.5 * ((score - expected) / SIGMA) ** 2) + DOUBT
    return fits


def _hypotheses(
    hint_m: float | None,
) -> tuple[NDArray[np.int64], Floats, Floats, Floats]:
    """The number of the heading, the bright edge along it from the start, width and weight."""
    edges = np.arange(-2.0, FARTHEST_M, EDGE_STEP_M)
    heading, edge, width = (
        grid.ravel()
        for grid in np.meshgrid(np.arange(HEADINGS), edges, np.array(WIDTHS_M), indexing='ij')
    )
    weight = np.exp(-np.maximum(edge, 0.0) / NEAR_M)
    hinted = 0.0 if hint_m is None else HINT_WEIGHT + HINT_ABOUT_WEIGHT
    weight *= (1.0 - NO_LIGHT_WEIGHT - hinted) / weight.sum()
    parts = [(heading, edge, width, weight)]
    if hint_m is not None:
        for offsets, share in ((HINT_EDGES_M, HINT_WEIGHT), (HINT_ABOUT_M, HINT_ABOUT_WEIGHT)):
            near, widths = (
                grid.ravel() for grid in np.meshgrid(np.array(offsets), np.array(WIDTHS_M))
            )
            each = np.full(near.size, share / near.size)
            parts.append((np.full(near.size, AHEAD), hint_m + near, widths, each))
    number, bright, widths, weights = (np.concatenate(each) for each in zip(*parts, strict=True))
    return number.astype(np.int64), bright, widths, weights
