# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The watchdog, with a clock that the test holds, and once with the real one."""

from __future__ import annotations

import threading
from typing import Any

from curiosity_rosa_demo.agent.runtime.watchdog import Watchdog
from hypothesis import given
from hypothesis import strategies as st

LIMIT_S = 2.0
LONG_S = 20.0


class Kennel:
    def __init__(self) -> None:
        self.now_s = 100.0
        self.barks: list[str] = []
        self.dog = Watchdog(LIMIT_S, self.barks.append, lambda: self.now_s)


@given(st.lists(st.tuples(st.sampled_from(['beat', 'look']), st.floats(0.0, 4.0)), max_size=40))
def test_it_barks_at_the_first_look_after_each_silence(script: list[tuple[str, float]]) -> None:
    kennel = Kennel()
    last, owed, expected = None, True, 0
    for what, seconds in script:
        kennel.now_s += seconds
        if what == 'beat':
            kennel.dog.beat()
            last, owed = kennel.now_s, True
        else:
            kennel.dog.check()
            if last is not None and owed and kennel.now_s - last > LIMIT_S:
                expected, owed = expected + 1, False
        assert len(kennel.barks) == expected


def test_its_thread_looks_by_itself_and_survives_what_a_bark_raises() -> None:
    barked = threading.Semaphore(0)

    def lost(why: str) -> Any:
        barked.release()
        raise OSError('no space left')

    dog = Watchdog(0.05, lost)
    dog.start()
    try:
        for _ in range(2):
            dog.beat()
            assert barked.acquire(timeout=LONG_S)
    finally:
        dog.close()
