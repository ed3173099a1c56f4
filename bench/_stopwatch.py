# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A stopwatch around functions, which splits the time of a piece of work into parts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
import inspect
import threading
import time
from typing import Any


class Stopwatch:
    """``seconds`` by part, without the nested parts. Nested parts run in the same thread, or in
    another thread for which the part waits. Times one piece of work at once.
    """

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self._stack: list[list[float]] = []  # seconds of the nested parts, for each active part
        self._lock = threading.Lock()

    def run(self, part: str, work: Callable[[], Any]) -> Any:
        began = self._enter()
        try:
            return work()
        finally:
            self._leave(part, began)

    def _enter(self) -> float:
        with self._lock:
            self._stack.append([0.0])
        return time.perf_counter()

    def _leave(self, part: str, began: float) -> None:
        took = time.perf_counter() - began
        with self._lock:
            within = self._stack.pop()[0]
            self.seconds[part] += took - within
            if self._stack:
                self._stack[-1][0] += took

    def of(self, part: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """``function``, timed; also a coroutine function."""

        async def awaited(*arguments: Any, **named: Any) -> Any:
            began = self._enter()
            try:
                return await function(*arguments, **named)
            finally:
                self._leave(part, began)

        def called(*arguments: Any, **named: Any) -> Any:
            return self.run(part, lambda: function(*arguments, **named))

        timed = awaited if inspect.iscoroutinefunction(function) else called
        timed.__name__ = getattr(function, '__name__', part)
        return timed

    @contextmanager
    def around(
        self, *parts: tuple[Any, str, str], stages: dict[str, tuple[Any, ...]]
    ) -> Iterator[None]:
        """Time these attributes and the nodes of ``stages`` within the context. A part is an
        object, the name of its attribute, and the label of the part.
        """
        before = [(owner, name, getattr(owner, name)) for owner, name, _ in parts]
        nodes = dict(stages)
        for owner, name, part in parts:
            was = getattr(owner, name)
            timed = _Agent(was, self.of(part, was.invoke)) if name == 'agent' else None
            setattr(owner, name, timed or self.of(part, was))
        for stage, functions in nodes.items():
            stages[stage] = tuple(self.of(f'node {f.__name__}', f) for f in functions)
        try:
            yield
        finally:
            for owner, name, was in before:
                setattr(owner, name, was)
            stages.update(nodes)


class _Agent:
    """An agent with a replaced ``invoke``."""

    def __init__(self, agent: Any, invoke: Callable[..., Any]) -> None:
        self._agent, self.invoke = agent, invoke
