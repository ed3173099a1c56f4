# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The agent is ready when the first question has an answer, or after a limited time."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

from curiosity_rosa_demo.domain.cancellation import Cancellation
from curiosity_rosa_demo.domain.models import ToolResult
from curiosity_rosa_demo.tools.readiness import wait_for_nodes
import pytest

NEVER = math.inf
BOUNDS_S = 20.0 + 10.0 + 3.0


class Start(Cancellation):
    """A start in a time of its own. Each part of it is there from its second on."""

    def __init__(self, **seconds: float) -> None:
        super().__init__()
        self.now_s = 0.0
        self._from_s = {
            **dict.fromkeys(('services', 'still', 'heard', 'pose', 'placed'), 0.0),
            **seconds,
        }
        self.said: list[str] = []

    def sleep(self, seconds: float) -> None:
        self.check()
        self.now_s += seconds

    def has(self, part: str) -> bool:
        return self.now_s >= self._from_s[part]

    def status(self) -> dict[str, Any]:
        return {'moving': not self.has('still'), 'rover_x': 1.0 if self.has('placed') else None}

    def wait(self) -> None:
        client: Any = SimpleNamespace(
            ready=lambda: self.has('services'),
            pose=lambda: object() if self.has('pose') else None,
        )
        wait_for_nodes(
            client,
            lambda: ToolResult.success(**self.status()),
            lambda: self.status() if self.has('heard') else None,
            self,
            self.said.append,
        )


@pytest.mark.parametrize('part', ['services', 'still', 'heard', 'pose', 'placed'])
@pytest.mark.parametrize('seconds', [0.3, 2.5])
def test_it_waits_for_each_part_of_the_first_status(part: str, seconds: float) -> None:
    start = Start(**{part: seconds})
    start.wait()
    assert seconds <= start.now_s < seconds + 0.1
    assert start.said == []


@pytest.mark.parametrize(
    ('part', 'notice'),
    [
        ('services', 'The adapter or the simulator node did not appear (within 20 s)'),
        ('still', 'The rover does not stand still: it still moves (within 10 s)'),
        ('heard', 'The status of the rover did not arrive (within 10 s)'),
        ('pose', ''),  # a robot without TF is driven too
        ('placed', ''),
    ],
)
def test_it_does_not_wait_for_ever_and_says_what_is_missing(part: str, notice: str) -> None:
    start = Start(**{part: NEVER})
    start.wait()
    assert start.now_s < BOUNDS_S
    assert ''.join(start.said).startswith(f'! {notice}' if notice else '')
    assert len(start.said) == bool(notice)
