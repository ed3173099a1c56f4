# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A subscriber of the event bus that may wait: for a file, a network or a picture."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from curiosity_rosa_demo.infra.drain_thread import DrainThread
from curiosity_rosa_demo.trace.bus import EventBus, EventsLost

MAX_BATCH = 50  # events that the thread takes from the ring at once
END_TIMEOUT_S = 4.0  # for the events that are not yet delivered

T = TypeVar('T')


class EventThread(Generic[T]):
    """Calls ``listener`` with the own events of ``kind``, in their order, in a thread that lives
    while there are any. Its errors and losses are reported.
    """

    def __init__(
        self, bus: EventBus, name: str, listener: Callable[[T], None], kind: type[T]
    ) -> None:
        self._bus, self._name, self._listener = bus, name, listener
        self._thread = DrainThread(f'events {name}', self._deliver)
        self._subscription = bus.subscribe(name, kind, own_only=True, wake=self._thread.wake)

    def close(self, timeout_s: float = END_TIMEOUT_S) -> None:
        """Deliver what was published before, for ``timeout_s`` at most."""
        self._subscription.close()
        self._thread.wake()
        self._thread.wait(timeout_s)

    def _deliver(self) -> None:
        while (batch := self._subscription.read(MAX_BATCH)).events or batch.lost:
            if batch.lost:
                self._bus.report(self._name, EventsLost(batch.lost))
            for each in batch.events:
                self._call(each.event)

    def _call(self, event: T) -> None:
        try:
            self._listener(event)
        except Exception as error:
            self._bus.report(self._name, error)
