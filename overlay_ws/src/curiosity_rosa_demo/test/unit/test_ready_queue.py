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

from curiosity_rosa_demo.agent.tasks import Task
from curiosity_rosa_demo.agent.tasks.priority_inheritance import PriorityRanks, Rank, rank_of
from curiosity_rosa_demo.agent.tasks.ready_queue import ReadyQueue
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, rule, RuleBasedStateMachine
import pytest

ALL = ('base', 'mast', 'camera')
T0 = datetime(2026, 11, 22, tzinfo=timezone.utc)


def rank(priority: int = 3, *, urgent: bool = False) -> Rank:
    return rank_of(Task('x', priority, urgent=urgent), 0.0)


def ready(*tasks: tuple[str, int, tuple[str, ...]]) -> ReadyQueue:
    """Tasks of id, priority and resources, submitted in this order."""
    made = ReadyQueue()
    for seq, (task_id, priority, resources) in enumerate(tasks):
        made.add(task_id, (rank(priority), True, seq), frozenset(resources))
    return made


def take_all(made: ReadyQueue) -> list[str]:
    return list(iter(made.pop_next, None))


def test_the_higher_priority_goes_first_and_equals_in_order_of_submission():
    made = ready(('low', 1, ALL), ('first', 3, ALL), ('second', 3, ALL), ('high', 5, ALL))
    order = []
    while (task_id := made.pop_next()) is not None:
        order.append(task_id)
        made.free(frozenset(ALL))
    assert order == ['high', 'first', 'second', 'low']


def test_urgent_goes_before_any_priority():
    made = ready(('high', 1000, ALL))
    made.add('urgent', (rank(-1000, urgent=True), True, 9), frozenset(ALL))
    assert made.pop_next() == 'urgent'


def test_what_recovers_goes_before_others_of_its_rank_only():
    made = ready(('equal', 3, ALL), ('higher', 4, ALL))
    made.add('recovering', (rank(3), False, 9), frozenset(ALL))
    order = []
    while (task_id := made.pop_next()) is not None:
        order.append(task_id)
        made.free(frozenset(ALL))
    assert order == ['higher', 'recovering', 'equal']


def test_tasks_that_share_nothing_run_side_by_side():
    made = ready(('drive', 3, ('base',)), ('look', 3, ('mast', 'camera')), ('idle', 3, ()))
    assert take_all(made) == ['drive', 'look', 'idle']


def test_a_waiting_task_reserves_what_it_needs():
    made = ready(('drive', 3, ('base',)))
    assert made.pop_next() == 'drive'
    made.add('both', (rank(2), True, 1), frozenset({'base', 'mast'}))
    made.add('look', (rank(1), True, 2), frozenset({'mast'}))
    made.add('shoot', (rank(1), True, 3), frozenset({'camera'}))
    assert take_all(made) == ['shoot']
    made.free(frozenset({'base'}))
    assert take_all(made) == ['both']


def test_a_closed_gate_lets_only_the_allowed_through_and_they_reserve_nothing_meanwhile():
    made = ready(('high', 9, ALL), ('stow', 1, ('mast',)))
    made.gate(lambda task_id: task_id.startswith('stow'))
    assert take_all(made) == ['stow']
    made.add('stow2', (rank(0), True, 5), frozenset({'base'}))
    made.add('other', (rank(5), True, 6), frozenset({'camera'}))
    assert take_all(made) == ['stow2']
    made.gate(None)
    made.free(frozenset(ALL))
    assert take_all(made) == ['high']


def test_a_replaced_gate_counts_alone():
    made = ready(('a', 3, ('base',)), ('b', 3, ('mast',)))
    made.gate(lambda task_id: task_id == 'a')
    made.gate(lambda task_id: task_id == 'b')
    assert take_all(made) == ['b']


def test_reprioritising_over_and_over_does_not_fill_the_memory():
    made = ready(('a', 3, ALL), ('top', 9999, ALL))
    for turn in range(5000):
        made.move('a', rank(turn % 7))
    assert len(made) == 2
    assert sum(map(len, made._all.values())) < 500


@pytest.mark.parametrize('ageing_s', [10.0, 600.0])
def test_waiting_for_ageing_s_counts_as_one_step_of_priority(ageing_s: float):
    def at(priority: int, waited_steps: float) -> Rank:
        created = T0 - timedelta(seconds=waited_steps * ageing_s)
        return rank_of(Task('x', priority, created_at=created), ageing_s)

    assert at(3, 1.1) < at(4, 0.0) < at(3, 0.9)


def test_without_ageing_the_age_counts_for_nothing():
    old = Task('x', 3, created_at=T0 - timedelta(days=9999))
    assert rank_of(old, 0.0) == rank_of(Task('x', 3), 0.0)


def test_a_blocker_inherits_the_highest_rank_over_several_steps_and_loses_it_again():
    ranks = PriorityRanks()
    ranks.add('a', rank(1))
    ranks.add('b', rank(2), ['a'])
    assert ranks.add('c', rank(0, urgent=True), ['b']) == ['b', 'a']
    assert ranks['a'] == ranks['b'] == rank(0, urgent=True)
    ranks.remove('c')
    assert (ranks['a'], ranks['b']) == (rank(2), rank(2))
    ranks.set_own('b', rank(0))
    assert ranks['a'] == rank(1)


@given(st.data())
def test_every_rank_is_the_highest_of_all_that_wait_for_it(data: st.DataObject):
    ranks, own, blockers = PriorityRanks(), {}, {}

    def expected(task_id: str) -> Rank:
        waiting = [other for other, known in blockers.items() if task_id in known]
        return min([own[task_id], *map(expected, waiting)])

    for number in range(data.draw(st.integers(1, 12))):
        kind = data.draw(st.sampled_from(['add', 'add', 'set', 'remove'])) if own else 'add'
        if kind == 'add':
            task_id = f't{number}'
            known = data.draw(st.lists(st.sampled_from(sorted(own)), unique=True)) if own else []
            own[task_id], blockers[task_id] = rank(data.draw(st.integers(0, 5))), known
            ranks.add(task_id, own[task_id], known)
        else:
            task_id = data.draw(st.sampled_from(sorted(own)))
            if kind == 'set':
                own[task_id] = rank(data.draw(st.integers(0, 5)))
                ranks.set_own(task_id, own[task_id])
            else:
                ranks.remove(task_id)
                del own[task_id], blockers[task_id]
        assert {task_id: ranks[task_id] for task_id in own} == {t: expected(t) for t in own}


resource_sets = st.frozensets(st.sampled_from(ALL))


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

    @rule(priority=st.integers(0, 3), new=st.booleans(), resources=resource_sets)
    def add(self, priority: int, new: bool, resources: frozenset[str]) -> None:
        self.seq += 1
        task_id = str(self.seq)
        self.ready[task_id] = ((rank(priority), new, self.seq), resources)
        self.made.add(task_id, *self.ready[task_id])

    @rule(data=st.data(), priority=st.integers(0, 3))
    def move(self, data: st.DataObject, priority: int) -> None:
        if self.ready:
            task_id = data.draw(st.sampled_from(sorted(self.ready)))
            place, resources = self.ready[task_id]
            self.ready[task_id] = ((rank(priority), *place[1:]), resources)
            self.made.move(task_id, rank(priority))

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


def test_a_decision_costs_no_more_than_the_logarithm():
    made = ready(*((str(number), number % 50, ('base',)) for number in range(20_000)))
    compared = 0

    class Place(tuple):
        def __lt__(self, other: object) -> bool:
            nonlocal compared
            compared += 1
            return tuple.__lt__(self, other)

    for number in range(20_000):
        place = Place((rank(number % 50), True, 20_000 + number))
        made.add(f'p{number}', place, frozenset({'mast'}))
    compared = 0
    for _ in range(100):
        assert made.pop_next() is not None
        made.free(frozenset(ALL))
    assert compared < 100 * 60  # twice log2(20,000) and the heads of two lanes


def test_what_could_not_start_starts_when_that_which_had_reserved_goes_or_may_not() -> None:
    base, both = frozenset({'base'}), frozenset({'base', 'mast'})

    def blocked() -> ReadyQueue:
        queue = ReadyQueue()
        queue.add('runs', ((True, -9.0), True, 1), frozenset({'mast'}))
        assert queue.pop_next() == 'runs'
        queue.add('reserves', ((True, -5.0), True, 2), both)
        queue.add('low', ((True, -1.0), True, 3), base)
        assert queue.pop_next() is None
        assert queue.pop_next() is None
        return queue

    discarded, gated, released = blocked(), blocked(), blocked()
    discarded.discard('reserves')
    assert discarded.pop_next() == 'low'
    gated.gate(lambda task_id: task_id == 'low')
    assert gated.pop_next() == 'low'
    released.discard('reserves')
    released.gate(lambda task_id: False)
    assert released.pop_next() is None
    released.gate(None)
    assert released.pop_next() == 'low'
