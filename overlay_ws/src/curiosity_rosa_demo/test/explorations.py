# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What is explored, by name, and the pictures of it in the documentation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
import re
from typing import Any

from curiosity_rosa_demo.adapter.part import MAST
import explored_guard
from explored_guard import GuardedRover, GuardSystem
import explored_kernel
from explored_kernel import KernelSystem, mode_of
import explored_tasks
from explored_tasks import TaskSystem
from state_search import System

Views = Counter[tuple[str, str, str]]

LATCHED = 'an obstacle was near'
# Without ``max_states`` each of these searches ends by itself.
SYSTEMS: dict[str, Callable[[], System[Any]]] = {
    **{
        f'guard: {name}': lambda scope=scope: GuardSystem(scope)  # type: ignore[misc]
        for name, scope in explored_guard.SCOPES.items()
    },
    **{
        f'kernel: {name}': lambda scope=scope: KernelSystem(scope)  # type: ignore[misc]
        for name, scope in explored_kernel.SCOPES.items()
    },
    'kernel: safety, after a run that ended latched': lambda: KernelSystem(
        explored_kernel.SCOPES['safety'], LATCHED
    ),
    **{
        f'tasks: {name}': lambda scope=scope: TaskSystem(*scope)  # type: ignore[misc]
        for name, scope in explored_tasks.SCOPES.items()
    },
}
# These do not end in minutes: their shortest histories alone are explored.
BOUNDED: dict[str, tuple[int, Callable[[], System[Any]]]] = {
    'guard: every input': (100_000, lambda: GuardSystem(explored_guard.ALL_INPUTS)),
    'kernel: every input': (25_000, lambda: KernelSystem(explored_kernel.ALL_INPUTS)),
}


def mast_and_motion(rover: GuardedRover) -> str:
    guard, mast = rover.guard, rover.guard.parts[MAST]
    return f'mast {mast.state}\n{"stopping" if guard.stopping else guard.motion.value}'


# The picture of an exploration: the exploration, and the view that a state becomes.
PICTURES: dict[str, tuple[str, Callable[[Any], str]]] = {
    'explored_guard': ('guard: motion and mast', mast_and_motion),
    'explored_kernel': ('kernel: safety', mode_of),
}


def arrows(views: Views) -> dict[tuple[str, str], list[str]]:
    """The inputs that lead from view to view; ticks are one input. Without loops."""
    found: dict[tuple[str, str], set[str]] = {}
    for before, name, after in views:
        if before != after:
            name = 'time passes' if name.startswith('time passes') else name
            found.setdefault((before, after), set()).add(name)
    return {pair: sorted(names) for pair, names in sorted(found.items())}


def arrows_of_svg(svg: str) -> set[tuple[str, str]]:
    """The pairs of views that a picture made by Graphviz connects."""
    titles = re.findall(r'<g id="edge\d+" class="edge">\s*<title>(.*?)</title>', svg)
    pairs = [title.replace('\\n', '\n').split('&#45;&gt;') for title in titles]
    return {(before, after) for before, after in pairs}
