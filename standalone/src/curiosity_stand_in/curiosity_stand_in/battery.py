# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The rover's battery: how its charge changes while the rover drives, stands and is stowed."""

from __future__ import annotations

from dataclasses import dataclass

STANDING_PART = 0.1  # drain of a standing rover, as a fraction of the drain while driving
SETTLE_S = 1.0  # a stowed rover charges after standing still for this long


@dataclass(frozen=True)
class Rates:
    """Rates as fractions of the full charge per second of the rover's time."""

    drain_per_s: float = 0.0005  # while driving
    charge_per_s: float = 0.02  # net, while stowed and still


@dataclass(frozen=True)
class Battery:
    """``charge`` is 0 to 1. An empty battery does not stop the rover."""

    charge: float = 1.0
    charging: bool = False

    @property
    def full(self) -> bool:
        return self.charging and self.charge == 1.0

    def after(
        self, rates: Rates, *, start: float, end: float, driving: bool, charges_from: float | None
    ) -> Battery:
        """The battery at ``end`` if no command comes after ``start``; seconds of the rover's time.

        ``charges_from`` is the time at which charging starts or started; None: no charging.
        """
        charge_start = end if charges_from is None else min(max(start, charges_from), end)
        drain = rates.drain_per_s * (1.0 if driving else STANDING_PART)
        charge = max(0.0, self.charge - drain * (charge_start - start))
        charge = min(1.0, charge + rates.charge_per_s * (end - charge_start))
        return Battery(charge, charging=charges_from is not None and end >= charges_from)
