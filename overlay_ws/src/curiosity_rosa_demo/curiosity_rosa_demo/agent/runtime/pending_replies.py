# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Who waits for a reply; everybody hears exactly once, also when nobody is left to answer."""

from __future__ import annotations

from curiosity_rosa_demo.agent.runtime.action_dispatcher import Reply, Then


class Replies:
    """In one thread."""

    def __init__(self) -> None:
        self._open: set[Then] = set()
        self._lost = ''

    def expect(self, then: Then) -> Then:
        """What to call in place of ``then``. After ``lose`` the answer is there already."""

        def once(reply: Reply) -> None:
            if once in self._open:
                self._open.discard(once)
                then(reply)

        self._open.add(once)
        if self._lost:
            once(Reply([self._lost], ok=False))
        return once

    def lose(self, why: str) -> None:
        """Nobody will answer any more: whoever waits, or asks later, is told ``why``."""
        self._lost = why
        for once in list(self._open):
            once(Reply([why], ok=False))
