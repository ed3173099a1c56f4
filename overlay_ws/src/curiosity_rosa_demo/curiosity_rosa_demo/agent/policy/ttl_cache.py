# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A cache whose values expire and whose size is limited. Pure."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Generic, TypeVar

K = TypeVar('K', bound=Hashable)
V = TypeVar('V')


class TtlCache(Generic[K, V]):
    """Holds the newest ``most`` values, each for ``keep_s`` seconds; 0 holds none."""

    def __init__(self, keep_s: float, most: int) -> None:
        self._ttl_s = keep_s
        self._max_size = most
        self._values: dict[K, tuple[float, V]] = {}

    def __len__(self) -> int:
        return len(self._values)

    def put(self, key: K, value: V, at: float) -> None:
        self._values.pop(key, None)  # a dict keeps insertion order
        self._values[key] = (at, value)
        if len(self._values) > self._max_size:
            del self._values[next(iter(self._values))]

    def get(self, key: K, at: float) -> V | None:
        found = self._values.get(key)
        if found is None:
            return None
        if at - found[0] >= self._ttl_s:
            del self._values[key]
            return None
        return found[1]

    def discard(self, key: K) -> None:
        self._values.pop(key, None)

    def values(self, at: float) -> list[V]:
        """All values that have not expired, in insertion order."""
        return [value for put_at, value in self._values.values() if at - put_at < self._ttl_s]
