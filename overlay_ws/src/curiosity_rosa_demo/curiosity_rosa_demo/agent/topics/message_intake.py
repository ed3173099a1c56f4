# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The messages of the topic on which any node may publish: at most so many a minute."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
import time

from curiosity_rosa_demo.domain.text import count_text
from curiosity_rosa_demo.infra.loss_counter import LossCounter

WINDOW_S = 60.0


class MessageIntake:
    """Hands on at most ``per_min`` messages in any 60 s to ``post`` and drops the others.

    ``losses`` counts each drop. ``say`` tells the first drop, and their number once no message
    was dropped for 60 s. For one thread.
    """

    def __init__(
        self,
        topic: str,
        per_min: int,
        *,
        post: Callable[[str], object],
        say: Callable[[str], None],
        losses: LossCounter,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._topic, self._per_min, self._clock = topic, per_min, clock
        self._post, self._say, self._losses = post, say, losses
        self._posted_s: deque[float] = deque(maxlen=per_min)
        self._dropped = 0  # in this flood
        self._dropped_at_s = 0.0  # the last one

    def take(self, text: str) -> None:
        """Hand on or drop one message."""
        now_s = self._clock()
        if self._dropped and now_s - self._dropped_at_s >= WINDOW_S:
            dropped = count_text(self._dropped, 'message')
            self._say(f'! {dropped} on {self._topic} had no effect: they came too fast')
            self._dropped = 0
        if len(self._posted_s) == self._per_min and now_s - self._posted_s[0] < WINDOW_S:
            self._dropped += 1
            self._dropped_at_s = now_s
            self._losses.count(self._topic)
            if self._dropped == 1:
                most = count_text(self._per_min, 'message')
                self._say(f'! More than {most} a minute on {self._topic}: the others are dropped')
            return
        self._posted_s.append(now_s)
        self._post(text)
