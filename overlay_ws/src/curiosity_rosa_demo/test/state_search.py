# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Explicit-state breadth-first search: every reachable state of a system, and every input in it.

A system runs the real code. Its ``key`` is the abstraction: states with one key count as one, and
the first of them, reached by a shortest path, stands for the others. Pure.
"""

from __future__ import annotations

from array import array
from collections import Counter, deque
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

S = TypeVar('S')


class System(Protocol[S]):
    """``step`` returns a new state and leaves ``state`` as it is. An exception in ``step`` or
    ``check`` is a violation; an AssertionError says which rule is broken.
    """

    def initial(self) -> S: ...

    def inputs(self, state: S) -> Iterable[str]:
        """Every input that is possible in ``state``, as a line of a story."""

    def step(self, state: S, name: str) -> S: ...

    def key(self, state: S) -> Hashable: ...

    def check(self, state: S) -> None: ...

    def is_goal(self, state: S) -> bool:
        """Whether the system is where it must always be able to return to."""


class Violation(AssertionError):
    """A broken rule. ``path``: the inputs of a shortest way to it."""

    def __init__(self, rule: str, path: list[str]) -> None:
        lines = [f'{number:3}. {name}' for number, name in enumerate(path, 1)]
        super().__init__('\n'.join([f'broken: {rule}', 'The shortest way there:', *lines]))
        self.rule, self.path = rule, path


@dataclass
class Exploration(Generic[S]):
    """``complete`` False: ``max_states`` ended the search. ``depth``: the most inputs on a
    shortest way to a state; every state that needs fewer was found. ``views``: the quotient
    graph, how many transitions lead from view to view by an input.
    """

    states: int = 1
    transitions: int = 0
    depth: int = 0
    complete: bool = True
    goals: int = 0
    views: Counter[tuple[str, str, str]] = field(default_factory=Counter)


def explore(
    system: System[S], *, max_states: int | None = None, view: Callable[[S], str] | None = None
) -> Exploration[S]:
    """Visit every state that is reachable. Raises Violation at the first broken rule, and when a
    state of a complete search has no way to a goal.
    """
    found: Exploration[S] = Exploration()
    first = system.initial()
    numbers = {system.key(first): 0}
    parents: list[tuple[int, str, int]] = [(-1, '', 0)]  # state, input, depth
    goals = array('I')
    froms, tos = array('I'), array('I')

    def visit(number: int, state: S, path: list[str]) -> None:
        try:
            system.check(state)
        except Exception as error:
            raise Violation(_rule(error), path) from error
        if system.is_goal(state):
            goals.append(number)

    visit(0, first, [])
    frontier = deque([(0, first)])
    while frontier:
        number, state = frontier.popleft()
        for name in system.inputs(state):
            try:
                after = system.step(state, name)
            except Exception as error:
                raise Violation(_rule(error), [*_path(parents, number), name]) from error
            found.transitions += 1
            known = numbers.setdefault(system.key(after), len(parents))
            froms.append(number)
            tos.append(known)
            if view is not None:
                found.views[view(state), name, view(after)] += 1
            if known < len(parents):
                continue
            parents.append((number, name, parents[number][2] + 1))
            visit(known, after, _path(parents, known))
            if max_states is not None and len(parents) > max_states:
                found.complete = False
                frontier.clear()
                break
            frontier.append((known, after))
    found.states, found.depth, found.goals = len(parents), parents[-1][2], len(goals)
    if found.complete:
        _check_return(parents, froms, tos, goals)
    return found


def _rule(error: Exception) -> str:
    text = str(error).split('\n')[0]
    return text if isinstance(error, AssertionError) else f'{type(error).__name__}: {text}'


def _path(parents: list[tuple[int, str, int]], number: int) -> list[str]:
    path = []
    while number > 0:
        number, name, _ = parents[number]
        path.append(name)
    return path[::-1]


def _check_return(
    parents: list[tuple[int, str, int]], froms: array[int], tos: array[int], goals: array[int]
) -> None:
    """Raises Violation for the first state from which no input sequence leads to a goal."""
    before: list[list[int]] = [[] for _ in parents]
    for start, end in zip(froms, tos, strict=True):
        before[end].append(start)
    returns = bytearray(len(parents))
    todo = list(goals)
    for number in todo:
        returns[number] = 1
    while todo:
        for number in before[todo.pop()]:
            if not returns[number]:
                returns[number] = 1
                todo.append(number)
    if (lost := returns.find(0)) >= 0:
        raise Violation('from here no way leads back to a goal', _path(parents, lost))
