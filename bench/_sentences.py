# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.


"""What is true of the rover after a sentence, and whether it was right. Metres and radians."""

from __future__ import annotations

from dataclasses import dataclass
import math
from pathlib import Path
import re
from typing import NamedTuple

FILE = Path(__file__).with_name('sentences.tsv')
DRIVE_MPS, TURN_RADPS = 0.5, 0.1  # of the twin: what an order in seconds means
NEAR_M, NEAR_RAD = 0.3, math.radians(15.0)
SHARE = 0.15  # of an ordered distance
LEAST_M, LEAST_RAD = 0.15, math.radians(4.0)  # a shorter leg is no motion
SIDES = {'left': 'turn_left', 'right': 'turn_right'}
FREE = ('light', 'explore', 'goto')  # orders that leave the way to the rover
STILL = ('refuse', 'doubt', 'stop', 'question')


class Sentence(NamedTuple):
    language: str
    label: str
    text: str


def sentences() -> list[Sentence]:
    """The rows of sentences.tsv; their labels are those of test/unit/test_orders.py."""
    lines = FILE.read_text(encoding='utf-8').splitlines()
    return [Sentence(*line.split('\t')) for line in lines if line[0] != '#']


class Leg(NamedTuple):
    """Motions of one service in a row. ``metres``: distance between its ends."""

    motion: str
    metres: float
    radians: float

    @property
    def counts(self) -> bool:
        return self.metres >= LEAST_M or abs(self.radians) >= LEAST_RAD


class Order(NamedTuple):
    """A leg that was ordered; ``amount`` 0: as far as the rover likes."""

    motions: tuple[str, ...]
    amount: float

    def fits(self, leg: Leg, *, at_least: bool = False) -> bool:
        if leg.motion not in self.motions:
            return False
        if not self.amount:
            return leg.counts
        is_drive = leg.motion == 'move_forward'
        done = leg.metres if is_drive else abs(leg.radians)
        slack = NEAR_M + SHARE * self.amount if is_drive else NEAR_RAD
        return done >= self.amount - slack and (at_least or done <= self.amount + slack)


@dataclass(frozen=True)
class Outcome:
    """What is true of the rover after a sentence. ``is_good``: the last picture was good.
    ``brightness``: at its place.
    """

    legs: tuple[Leg, ...]
    x: float
    y: float
    mast: str
    rotations: int
    pictures: int
    is_good: bool
    brightness: float
    ok: bool


def orders_of(label: str) -> tuple[list[Order], bool]:
    """The legs that a label orders, in order, before the rover may choose its way; and whether it
    may at all.
    """
    orders: list[Order] = []
    for step in label.split(' > '):
        verb, *amount = step.split()
        if verb in FREE:
            return orders, True
        if verb == 'forward' or verb in SIDES:
            order = _order(verb, amount[0] if amount else '')
            if orders and orders[-1].motions == order.motions:  # the twin merges them, too
                before = orders.pop().amount
                both = before + order.amount if before and order.amount else 0.0
                order = Order(order.motions, both)
            orders.append(order)
    return orders, False


def _order(verb: str, amount: str) -> Order:
    found = re.fullmatch(r'([\d.]+)(m|s|deg)', amount)
    number, unit = (float(found[1]), found[2]) if found else (0.0, '')
    if verb == 'forward':
        return Order(('move_forward',), number * (DRIVE_MPS if unit == 's' else 1.0))
    radians = number * TURN_RADPS if unit == 's' else math.radians(number)
    # Half a turn ends the same way on both sides.
    motions = tuple(SIDES.values()) if amount == '180deg' else (SIDES[verb],)
    return Order(motions, radians)


def is_right(label: str, outcome: Outcome) -> bool:
    """Whether what was ordered is true of the rover, and nothing else."""
    orders, free = orders_of(label)
    legs = [leg for leg in outcome.legs if leg.counts]
    if label.split()[0] in STILL:
        return not legs and not outcome.pictures
    if not outcome.ok or len(legs) < len(orders) or (len(legs) > len(orders) and not free):
        return False
    pairs = zip(orders, legs, strict=False)
    return all(order.fits(leg, at_least=free) for order, leg in pairs) and all(
        _holds(step, label, outcome) for step in label.split(' > ')
    )


def _holds(step: str, label: str, outcome: Outcome) -> bool:
    """Whether a step that is no leg is done."""
    verb, *amounts = step.split()
    if verb in ('open', 'close'):
        last = re.findall(r'open|close', label)[-1]
        return verb != last or outcome.mast == ('open' if verb == 'open' else 'closed')
    if verb == 'picture':
        wanted = sum(int(count or 1) for count in re.findall(r'picture(?: x(\d+))?', label))
        looks = outcome.pictures
        return looks >= wanted if 'explore' in label or 'light' in label else looks == wanted
    if verb == 'goto':
        x, y = map(float, amounts)
        return math.hypot(outcome.x - x, outcome.y - y) <= 2 * NEAR_M
    facts = {'light': outcome.brightness >= 0.8, 'explore': outcome.is_good,
             'rotate': outcome.rotations > 0}  # fmt: skip
    return facts.get(verb, True)


def is_wrong_motion(label: str, outcome: Outcome) -> bool:
    """Whether the rover drove or turned as nobody ordered."""
    orders, free = orders_of(label)
    if free:
        return False
    allowed = {motion for order in orders for motion in order.motions}
    legs = [leg for leg in outcome.legs if leg.counts]
    if any(leg.motion not in allowed for leg in legs):
        return True
    ordered = [o.amount for o in orders if o.motions == ('move_forward',)]
    driven = sum(leg.metres for leg in legs if leg.motion == 'move_forward')
    return bool(ordered) and all(ordered) and driven > 1.5 * sum(ordered) + 1.0
