# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The order of the ready tasks, and the one that starts next. Pure: no clock, no loop, no store.

Order: urgent tasks, then higher effective priority, then tasks that recover from a crash, then
earlier submission. A paused task keeps its place.

Resources and priority inversion. Tasks with disjoint resources run in parallel. A task that waits
for a resource RESERVES all resources that it needs: no lower task that needs any of them starts.
So a task that needs ``base`` and ``mast`` does not starve behind a stream of small tasks that need
one of them. The queue never preempts a running task (SkillRunner.interrupt does), so a task
waits at most for those that already run. A task in another's ``blocked_by`` inherits the rank of
that other task, so tasks of a rank in between do not overtake it. If a skill waits for a task that
it submitted, that task must not need resources that a higher task may have reserved. Otherwise
both wait for each other until a deadline ends one of them.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from curiosity_rosa_demo.agent.tasks.task import Task

Rank = tuple[bool, float]  # (not urgent, minus the effective priority): smaller runs first
Place = tuple[Rank, bool, int]  # rank, not recovering, seq


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

    def add(self, task_id: str, own: Rank, blockers: Iterable[str]) -> list[str]:
        """Add a task with its known blockers. Like set_own() and remove(), it returns the tasks
        whose inherited rank has changed.
        """
        self._nodes[task_id] = node = _Node(own, own, tuple(blockers))
        for blocker in node.blockers:
            self._nodes[blocker].dependents.add(task_id)
        return self._propagate(node.blockers)

    def set_own(self, task_id: str, own: Rank) -> list[str]:
        self._nodes[task_id].own = own
        return self._propagate([task_id])

    def remove(self, task_id: str) -> list[str]:
        """Remove an ended task, whose blockers no longer inherit its rank."""
        node = self._nodes.pop(task_id)
        for blocker in node.blockers:
            if blocker in self._nodes:
                self._nodes[blocker].dependents.discard(task_id)
        return self._propagate(node.blockers)

    def dependents(self, task_id: str) -> list[str]:
        return sorted(self._nodes[task_id].dependents)

    def _propagate(self, task_ids: Iterable[str]) -> list[str]:
        changed: dict[str, None] = {}
        todo = [*task_ids]
        while todo:
            task_id = todo.pop()
            if (node := self._nodes.get(task_id)) is None:
                continue
            rank = min([node.own, *(self._nodes[each].rank for each in node.dependents)])
            if rank != node.rank:
                node.rank = rank
                changed[task_id] = None
                todo += node.blockers
        return list(changed)


class ReadyQueue:
    """The ready tasks, in one sorted list for each set of resources: there are few such sets, and
    a decision reads only their heads. ``allow``: which tasks may start; None: all.
    """

    def __init__(self) -> None:
        self.allow: Callable[[str], bool] | None = None
        self._ready: dict[str, tuple[Place, frozenset[str]]] = {}
        self._lists: dict[frozenset[str], list[tuple[Place, str]]] = {}
        self._busy: frozenset[str] = frozenset()

    def __len__(self) -> int:
        return len(self._ready)

    def __contains__(self, task_id: str) -> bool:
        return task_id in self._ready

    def add(self, task_id: str, place: Place, resources: frozenset[str]) -> None:
        """Add a ready task, or move a queued one to ``place``."""
        self.discard(task_id)
        self._ready[task_id] = (place, resources)
        insort(self._lists.setdefault(resources, []), (place, task_id))

    def move(self, task_id: str, rank: Rank) -> None:
        """Change the rank of a queued task. Other IDs are ignored."""
        if task_id in self._ready:
            place, resources = self._ready[task_id]
            self.add(task_id, (rank, *place[1:]), resources)

    def discard(self, task_id: str) -> None:
        if task_id in self._ready:
            place, resources = self._ready.pop(task_id)
            tasks = self._lists[resources]
            del tasks[bisect_left(tasks, (place, task_id))]

    def admits(self, task_id: str) -> bool:
        return self.allow is None or self.allow(task_id)

    def pop_next(self) -> str | None:
        """Take the next task that can start, or None. It occupies its resources until free()."""
        heads = (
            (next((each for each in tasks if self.admits(each[1])), None), resources)
            for resources, tasks in self._lists.items()
        )
        taken = self._busy
        for (_, task_id), resources in sorted((head, needs) for head, needs in heads if head):
            if resources.isdisjoint(taken):
                self.discard(task_id)
                self._busy |= resources
                return task_id
            taken |= resources
        return None

    def free(self, resources: frozenset[str]) -> None:
        self._busy -= resources
