# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Which of the tasks that are ready starts next. Pure: no clock, no loop, no store.

Order: urgent first, then the higher effective priority, then what recovers from a crash, then
the earlier submission. A task that was paused keeps its place.

Resources and priority inversion. Tasks whose resources do not meet run side by side. A task that
waits for a resource RESERVES all it needs: nothing that ranks lower and needs any of it starts, so
that a task that needs ``base`` and ``mast`` does not starve behind a stream of small ones that
need one of them. A running task is never preempted here (SkillRunner.interrupt does that), so a
task waits at most for those that already run. Where a task waits for another (``blocked_by``), the
other inherits its rank (priority_inheritance.py), and tasks that rank in between do not overtake
it. A skill that waits for a task which it has submitted itself should see that this one needs
nothing that a higher task may have reserved; else both wait for each other until a deadline ends
one.

Cost: a heap for every set of resources (there are few), deleted from lazily. A decision looks at
the heads alone: O(log n) for n ready tasks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
import heapq

from curiosity_rosa_demo.agent.tasks.priority_inheritance import Rank

Place = tuple[Rank, bool, int]  # rank, not recovering, seq
_Lane = list[tuple[Place, int, str]]  # a heap of place, ticket, id
_Lanes = dict[frozenset[str], _Lane]

_SLACK = 64  # stale entries that are not worth a clean-up


@dataclass(frozen=True)
class _Ready:
    ticket: int  # entries of the heaps with another one are stale
    place: Place
    resources: frozenset[str]


class ReadyQueue:
    def __init__(self) -> None:
        self._ready: dict[str, _Ready] = {}
        self._busy: frozenset[str] = frozenset()
        self._tickets = 0
        # the last take() found nothing, and nothing has changed since
        self._nothing_to_start = False
        self._all: _Lanes = {}
        self._allow: Callable[[str], bool] | None = None
        self._allowed: _Lanes = {}  # what the gate lets through, while it is closed

    def __len__(self) -> int:
        return len(self._ready)

    def __contains__(self, task_id: str) -> bool:
        return task_id in self._ready

    def add(self, task_id: str, place: Place, resources: frozenset[str]) -> None:
        """It may start; a task that is here already moves to ``place``."""
        self._nothing_to_start = False
        self._tickets += 1
        self._ready[task_id] = ready = _Ready(self._tickets, place, resources)
        _push(self._all, task_id, ready)
        if self._allow is not None and self._allow(task_id):
            _push(self._allowed, task_id, ready)
        if sum(map(len, self._all.values())) > 2 * len(self._ready) + _SLACK:
            self._rebuild()

    def move(self, task_id: str, rank: Rank) -> None:
        """Its rank has changed; nothing happens to a task that is not here."""
        if (ready := self._ready.get(task_id)) is not None:
            self.add(task_id, (rank, *ready.place[1:]), ready.resources)

    def discard(self, task_id: str) -> None:
        if self._ready.pop(task_id, None) is not None:
            self._nothing_to_start = False  # it may have reserved what another needs

    def gate(self, allow: Callable[[str], bool] | None) -> None:
        """From now on only what ``allow`` says starts; None: everything. O(n) when it closes."""
        self._nothing_to_start = False
        self._allow, self._allowed = allow, {}
        if allow is not None:
            for task_id, ready in self._ready.items():
                if allow(task_id):
                    _push(self._allowed, task_id, ready)

    def admits(self, task_id: str) -> bool:
        """Whether the gate lets it through."""
        return self._allow is None or self._allow(task_id)

    def pop_next(self) -> str | None:
        """The task that starts now, which keeps its resources until ``free``; None: none can."""
        if self._nothing_to_start or not self._ready:
            return None
        lanes = self._all if self._allow is None else self._allowed
        heads = [
            (lane[0], resources)
            for resources, lane in lanes.items()
            if self._drop_stale_heads(lane)
        ]
        taken = self._busy
        for (_, _, task_id), resources in sorted(heads):
            if resources.isdisjoint(taken):
                del self._ready[task_id]
                self._busy |= resources
                return task_id
            taken |= resources
        self._nothing_to_start = True
        return None

    def free(self, resources: frozenset[str]) -> None:
        self._nothing_to_start = False
        self._busy -= resources

    def _drop_stale_heads(self, lane: _Lane) -> bool:
        """Drop stale heads; whether anything is left."""
        while lane:
            _, ticket, task_id = lane[0]
            ready = self._ready.get(task_id)
            if ready is not None and ready.ticket == ticket:
                return True
            heapq.heappop(lane)
        return False

    def _rebuild(self) -> None:
        self._all = {}
        for task_id, ready in self._ready.items():
            _push(self._all, task_id, ready)
        self.gate(self._allow)


def _push(lanes: _Lanes, task_id: str, ready: _Ready) -> None:
    heapq.heappush(lanes.setdefault(ready.resources, []), (ready.place, ready.ticket, task_id))
