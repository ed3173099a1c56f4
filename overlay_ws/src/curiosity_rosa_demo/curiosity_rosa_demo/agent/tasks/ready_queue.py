# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Select the next of the ready tasks to start. Pure: no clock, no loop, no store.

Order: urgent tasks, then higher effective priority, then tasks that recover from a crash, then
earlier submission. A paused task keeps its place.

Resources and priority inversion. Tasks with disjoint resources run in parallel. A task that waits
for a resource RESERVES all resources that it needs: no lower task that needs any of them starts.
So a task that needs ``base`` and ``mast`` does not starve behind a stream of small tasks that need
one of them. The scheduler never preempts a running task (SkillRunner.interrupt does), so a task
waits at most for those that already run. A task in another's ``blocked_by`` inherits the rank of
that other task (priority_inheritance.py), so tasks of a rank in between do not overtake it. If a
skill waits for a task that it submitted, that task must not need resources that a higher task may
have reserved. Otherwise both wait for each other until a deadline ends one of them.

Cost: one heap per set of resources (there are few), with lazy deletion. A decision reads only the
heads: O(log n) for n ready tasks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
import heapq

from curiosity_rosa_demo.agent.tasks.task import Task

# -----------------------------------------------------------------------------------------------
# Ranks of tasks, and the priority that a blocker inherits from its dependents. Pure.


Rank = tuple[bool, float]  # (not urgent, minus the effective priority): smaller runs first


def rank_of(task: Task, ageing_s: float) -> Rank:
    """Compute a rank. Each ``ageing_s`` seconds of waiting add one step of priority; 0: no ageing.

    All tasks age at the same rate, so the order of two tasks never changes and the rank needs no
    clock: priority + waited / ageing_s and priority - created / ageing_s give the same order.
    """
    aged = task.created_at.timestamp() / ageing_s if ageing_s else 0.0
    return (not task.urgent, aged - task.priority)


@dataclass
class _Node:
    own: Rank
    rank: Rank
    blockers: tuple[str, ...]
    dependents: set[str] = field(default_factory=set)


class PriorityRanks:
    """The ranks of the tasks that have not ended, and the graph of their blockers.

    A task ranks at least as high as every task that waits for it, directly or through others. So
    tasks of middle rank do not overtake a low task for which an urgent one waits.
    """

    def __init__(self) -> None:
        self._nodes: dict[str, _Node] = {}

    def __getitem__(self, task_id: str) -> Rank:
        return self._nodes[task_id].rank

    def add(self, task_id: str, own: Rank, blockers: Iterable[str] = ()) -> list[str]:
        """Add a task. Unknown ``blockers``, which have ended, are ignored.

        Like set_own() and remove(), it returns the tasks whose inherited rank has changed.
        """
        known = tuple([blocker for blocker in blockers if blocker in self._nodes])
        self._nodes[task_id] = _Node(own, own, known)
        for blocker in known:
            self._nodes[blocker].dependents.add(task_id)
        return self._propagate(known) if known else []

    def set_own(self, task_id: str, own: Rank) -> list[str]:
        self._nodes[task_id].own = own
        return self._propagate([task_id])

    def remove(self, task_id: str) -> list[str]:
        """Remove an ended task, whose blockers no longer inherit its rank."""
        node = self._nodes.pop(task_id)
        for blocker in node.blockers:
            if blocker in self._nodes:
                self._nodes[blocker].dependents.discard(task_id)
        return self._propagate(node.blockers) if node.blockers else []

    def dependents(self, task_id: str) -> list[str]:
        return sorted(self._nodes[task_id].dependents)

    def _propagate(self, task_ids: Iterable[str]) -> list[str]:
        changed: dict[str, None] = {}
        todo = [task_id for task_id in task_ids if task_id in self._nodes]
        while todo:
            task_id = todo.pop()
            node = self._nodes[task_id]
            lent = (self._nodes[dependent].rank for dependent in node.dependents)
            rank = min(lent, default=node.own)
            rank = min(rank, node.own)
            if rank != node.rank:
                node.rank = rank
                changed[task_id] = None
                todo += [blocker for blocker in node.blockers if blocker in self._nodes]
        return list(changed)


Place = tuple[Rank, bool, int]  # rank, not recovering, seq
_Heap = list[tuple[Place, int, str]]  # a heap of place, ticket, id
_Heaps = dict[frozenset[str], _Heap]

_SLACK = 64  # stale entries allowed before a rebuild


@dataclass(frozen=True)
class _Ready:
    ticket: int  # heap entries with another ticket are stale
    place: Place
    resources: frozenset[str]


class ReadyQueue:
    def __init__(self) -> None:
        self._ready: dict[str, _Ready] = {}
        self._busy: frozenset[str] = frozenset()
        self._tickets = 0
        # The last pop_next() returned None, and nothing has changed since.
        self._nothing_to_start = False
        self._all: _Heaps = {}
        self._allow: Callable[[str], bool] | None = None
        self._allowed: _Heaps = {}  # the tasks that a closed gate admits

    def __len__(self) -> int:
        return len(self._ready)

    def __contains__(self, task_id: str) -> bool:
        return task_id in self._ready

    def add(self, task_id: str, place: Place, resources: frozenset[str]) -> None:
        """Add a ready task, or move a queued one to ``place``."""
        self._nothing_to_start = False
        self._tickets += 1
        self._ready[task_id] = ready = _Ready(self._tickets, place, resources)
        _push(self._all, task_id, ready)
        if self._allow is not None and self._allow(task_id):
            _push(self._allowed, task_id, ready)
        if sum(map(len, self._all.values())) > 2 * len(self._ready) + _SLACK:
            self._rebuild()

    def move(self, task_id: str, rank: Rank) -> None:
        """Change the rank of a queued task. Other IDs are ignored."""
        if (ready := self._ready.get(task_id)) is not None:
            self.add(task_id, (rank, *ready.place[1:]), ready.resources)

    def discard(self, task_id: str) -> None:
        if self._ready.pop(task_id, None) is not None:
            self._nothing_to_start = False  # it may have reserved resources of another

    def gate(self, allow: Callable[[str], bool] | None) -> None:
        """Let only tasks start for which ``allow`` returns True; None: all. O(n) unless None."""
        self._nothing_to_start = False
        self._allow, self._allowed = allow, {}
        if allow is not None:
            for task_id, ready in self._ready.items():
                if allow(task_id):
                    _push(self._allowed, task_id, ready)

    def admits(self, task_id: str) -> bool:
        """Whether the gate admits the task."""
        return self._allow is None or self._allow(task_id)

    def pop_next(self) -> str | None:
        """Take the next task that can start, or None. It occupies its resources until free()."""
        if self._nothing_to_start or not self._ready:
            return None
        heaps = self._all if self._allow is None else self._allowed
        heads = [
            (heap[0], resources)
            for resources, heap in heaps.items()
            if self._drop_stale_heads(heap)
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

    def _drop_stale_heads(self, heap: _Heap) -> bool:
        """Drop stale heads. Returns whether any entry remains."""
        while heap:
            _, ticket, task_id = heap[0]
            ready = self._ready.get(task_id)
            if ready is not None and ready.ticket == ticket:
                return True
            heapq.heappop(heap)
        return False

    def _rebuild(self) -> None:
        self._all = {}
        for task_id, ready in self._ready.items():
            _push(self._all, task_id, ready)
        self.gate(self._allow)


def _push(heaps: _Heaps, task_id: str, ready: _Ready) -> None:
    heapq.heappush(heaps.setdefault(ready.resources, []), (ready.place, ready.ticket, task_id))
