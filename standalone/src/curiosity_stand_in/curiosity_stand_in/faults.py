# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Injected faults of services: the strings of the parameter, and their delays."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
import math
import threading
import time

from curiosity_rosa_demo.domain.geometry import DIRECTIONS
from curiosity_stand_in.parts import PARTS

SERVICES = (*DIRECTIONS, 'move_stop', *(name for part in PARTS for name in part.moves))
KINDS = ('hang', 'late', 'absent')
MAX_DELAY_S = 3600.0


@dataclass(frozen=True)
class ServiceFault:
    """The fault of one service. ``delay_s`` is wall time; only the kind ``late`` has it."""

    kind: str
    delay_s: float = 0.0


def parse(texts: Iterable[str]) -> dict[str, ServiceFault]:
    """Faults by service from texts such as ``move_stop:hang`` and ``mast_close:late:2.5``.

    Raises ValueError, which names the text and the valid form.
    """
    faults: dict[str, ServiceFault] = {}
    for text in texts:
        service, _, rest = text.partition(':')
        if service not in SERVICES:
            raise ValueError(f'{text!r}: the service must be one of {", ".join(SERVICES)}')
        if service in faults:
            raise ValueError(f'{text!r}: {service} has a fault already; give it one')
        try:
            faults[service] = _fault(rest)
        except ValueError as error:
            raise ValueError(f'{text!r}: {error}') from None
    return faults


def _fault(text: str) -> ServiceFault:
    kind, colon, delay = text.partition(':')
    if kind not in KINDS:
        raise ValueError(f'the fault must be one of {", ".join(KINDS)}, as in move_stop:hang')
    if kind != 'late':
        if colon:
            raise ValueError(f'{kind} takes no seconds')
        return ServiceFault(kind)
    try:
        seconds = float(delay)
    except ValueError:
        seconds = math.nan
    if not 0.0 < seconds <= MAX_DELAY_S:
        raise ValueError(f'late needs seconds up to {MAX_DELAY_S:g}, as in mast_close:late:2.5')
    return ServiceFault(kind, seconds)


@dataclass
class ServiceFaults:
    """The active faults. Thread-safe; a service callback waits in ``hold``."""

    _faults: Mapping[str, ServiceFault] = field(default_factory=dict)
    _closed: bool = False
    _changed: threading.Condition = field(default_factory=threading.Condition)

    def set(self, faults: Mapping[str, ServiceFault]) -> None:
        with self._changed:
            self._faults = dict(faults)
            self._changed.notify_all()

    def close(self) -> None:
        """Release every waiting callback, without its effect."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def absent(self, service: str) -> bool:
        with self._changed:
            fault = self._faults.get(service)
            return fault is not None and fault.kind == 'absent'

    def hold(self, service: str) -> bool:
        """Wait as the service's fault demands. Returns False once the faults are closed.

        A change of the fault releases the callback at once, like a thawed process.
        """
        with self._changed:
            fault = self._faults.get(service)
            if fault is None or fault.kind == 'absent':
                return not self._closed
            limit = fault.delay_s if fault.kind == 'late' else None
            deadline = None if limit is None else time.monotonic() + limit
            while not self._closed and self._faults.get(service) == fault:
                left = None if deadline is None else deadline - time.monotonic()
                if left is not None and left <= 0:
                    break
                self._changed.wait(left)
            return not self._closed
