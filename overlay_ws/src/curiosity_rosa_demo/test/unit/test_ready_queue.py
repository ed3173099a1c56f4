# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Who starts next: against a plain reference, and the rules one by one."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
import pickle
from typing import Any

from curiosity_rosa_demo.agent.tasks import Task
from curiosity_rosa_demo.agent.tasks.ready_queue import Rank, rank_of, ReadyQueue
from examples import examples
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, rule, RuleBasedStateMachine
import pytest

ALL = ('base', 'mast', 'camera')
T0 = datetime(2026, 11, 22, tzinfo=timezone.utc)


def rank(priority: int = 3, *, urgent: bool = False) -> Rank:
    return rank_of(Task('x', priority, urgent=urgent), 0.0)


@pytest.mark.parametrize('ageing_s', [10.0, 600.0])
def test_waiting_for_ageing_s_counts_as_one_step_of_priority(ageing_s: float):
    def at(priority: int, waited_steps: float, counted_s: float = ageing_s) -> Rank:
        created = T0 - timedelta(seconds=waited_steps * ageing_s)
        return rank_of(Task('x', priority, created_at=created), counted_s)

    assert at(3, 1.1) < at(4, 0.0) < at(3, 0.9)
    assert at(3, 9999.0, 0.0) == at(3, 0.0, 0.0)  # without ageing


def test_reprioritising_over_and_over_does_not_fill_the_memory():
    made = ReadyQueue()
    for task_id, priority in (('a', 3), ('top', 9999)):
        made.add(task_id, (rank(priority), True, 0), frozenset(ALL))
    for turn in range(5000):
        made.move('a', rank(turn % 7))
    assert len(pickle.dumps(made)) < 10_000


def test_a_decision_costs_no_more_than_the_logarithm():
    compared = 0

    class Place(tuple):
        def __lt__(self, other: object) -> bool:
            nonlocal compared
            compared += 1
            return tuple.__lt__(self, other)

    made = ReadyQueue()
    for number in range(40_000):
        place: Any = Place((rank(number % 50), True, number))
        made.add(str(number), place, frozenset({'base' if number % 2 else 'mast'}))
    compared = 0
    for _ in range(100):
        assert made.pop_next() is not None
        made.free(frozenset(ALL))
    assert compared < 100 * 60  # twice log2(20,000) and the heads of two lanes


resource_sets = st.frozensets(st.sampled_from(ALL))
ranks_drawn = st.builds(rank, st.integers(0, 3), urgent=st.sampled_from([False, False, True]))


class AgainstReference(RuleBasedStateMachine):
    """The same decisions as a scan over all tasks in their order takes."""

    @initialize()
    def begin(self) -> None:
        self.made = ReadyQueue()
        self.ready: dict[str, tuple[tuple[Rank, bool, int], frozenset[str]]] = {}
        self.running: list[frozenset[str]] = []
        self.allowed: frozenset[int] | None = None
        self.seq = 0

    def admitted(self, task_id: str) -> bool:
        return self.allowed is None or int(task_id) % 3 in self.allowed

    @rule(own=ranks_drawn, new=st.booleans(), resources=resource_sets)
    def add(self, own: Rank, new: bool, resources: frozenset[str]) -> None:
        self.seq += 1
        task_id = str(self.seq)
        self.ready[task_id] = ((own, new, self.seq), resources)
        self.made.add(task_id, *self.ready[task_id])

    @rule(data=st.data(), own=ranks_drawn, times=st.sampled_from([1, 1, 100]))
    def move(self, data: st.DataObject, own: Rank, times: int) -> None:
        """Many times: the queue forgets its stale entries."""
        if self.ready:
            task_id = data.draw(st.sampled_from(sorted(self.ready)))
            place, resources = self.ready[task_id]
            self.ready[task_id] = ((own, *place[1:]), resources)
            for _ in range(times):
                self.made.move(task_id, own)

    @rule(data=st.data())
    def discard(self, data: st.DataObject) -> None:
        if self.ready:
            task_id = data.draw(st.sampled_from(sorted(self.ready)))
            del self.ready[task_id]
            self.made.discard(task_id)

    @rule(allowed=st.none() | st.frozensets(st.integers(0, 2)))
    def gate(self, allowed: frozenset[int] | None) -> None:
        self.allowed = allowed
        self.made.gate(None if allowed is None else self.admitted)

    @rule()
    def take(self) -> None:
        taken = frozenset().union(*self.running)
        expected = None
        for task_id in sorted(self.ready, key=lambda task_id: self.ready[task_id][0]):
            resources = self.ready[task_id][1]
            if not self.admitted(task_id):
                continue
            if resources.isdisjoint(taken):
                expected = task_id
                break
            taken |= resources
        assert self.made.pop_next() == expected
        if expected is not None:
            self.running.append(self.ready.pop(expected)[1])

    @rule()
    def free(self) -> None:
        if self.running:
            self.made.free(self.running.pop(0))

    @invariant()
    def counts(self) -> None:
        assert len(self.made) == len(self.ready)


AgainstReference.TestCase.settings = settings(max_examples=examples(100), stateful_step_count=40)
TestAgainstReference = AgainstReference.TestCase
