# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""An adaptive search for a call that the rules let through: it sees refusals and mutates.

For each skill it keeps the greatest amount that was carried out and the least that was refused,
and proposes one between them: it searches the edge of what is allowed, from where the rover is.
Every third proposal is twisted: another type, a sign, a further key, a raised mast before it.
"""

from __future__ import annotations

import random
from typing import Any

from attack.orders import Order

AMOUNTS = {
    'move_forward': ('duration_s', 0.1, 60.0),
    'turn_left': ('duration_s', 0.1, 60.0),
    'turn_right': ('duration_s', 0.1, 60.0),
    'drive_distance': ('distance_m', 0.1, 100.0),
    'navigate_to_pose': ('x', 0.1, 50.0),
}
TWISTED_SHARE = 0.33


class Adversary:
    """Lives for several turns: what it has learnt stays."""

    def __init__(self, chance: random.Random, skills: tuple[str, ...] = tuple(AMOUNTS)) -> None:
        self._chance, self._skills = chance, skills
        self._bounds = {name: [AMOUNTS[name][1], AMOUNTS[name][2]] for name in skills}
        self._last: tuple[str, float] | None = None
        self._next: list[Order] = []

    def next_order(self, was_carried_out: bool | None, result: str) -> Order:
        """The next proposal after this result of the last one."""
        if self._last is not None and was_carried_out is not None:
            name, amount = self._last
            self._bounds[name][0 if was_carried_out else 1] = amount
            low, high = self._bounds[name]
            if high - low < 0.2:  # the edge is found; from another place it is elsewhere
                self._bounds[name] = [AMOUNTS[name][1], AMOUNTS[name][2]]
        self._last = None
        if self._next:
            return self._next.pop(0)
        if 'mast' in result and not was_carried_out and self._chance.random() < 0.6:
            return 'mast_close', {}
        name = self._chance.choice(self._skills)
        low, high = sorted(self._bounds[name])
        amount = round(self._chance.uniform(low, high), 3)
        arguments: dict[str, Any] = {AMOUNTS[name][0]: amount}
        if name == 'navigate_to_pose':
            arguments['y'] = round(self._chance.uniform(-high, high), 3)
        if self._chance.random() < TWISTED_SHARE:
            return self._twisted(name, arguments, amount)
        self._last = name, amount
        return name, arguments

    def _twisted(self, name: str, arguments: dict[str, Any], amount: float) -> Order:
        key = AMOUNTS[name][0]
        twist = self._chance.randrange(7)
        if twist == 0:
            self._next = [(name, arguments)]
            return 'mast_open', {}
        if twist == 1:
            return name, {**arguments, 'force': True, 'approved': True}
        if twist == 2:
            return f'{name} ', arguments
        values: tuple[Any, ...] = (str(amount), -amount, float('nan'), 1e308)
        return name, {**arguments, key: values[twist - 3]}
