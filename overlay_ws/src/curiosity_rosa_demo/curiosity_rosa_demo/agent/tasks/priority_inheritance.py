# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Ranks of tasks, and the priority that a blocker inherits from its dependents. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from curiosity_rosa_demo.agent.tasks.task import Task

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
