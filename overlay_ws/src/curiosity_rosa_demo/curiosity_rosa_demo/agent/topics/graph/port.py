# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The port through which answers read the ROS graph. It has no method that writes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from curiosity_rosa_demo.domain.cancellation import Cancellation
from curiosity_rosa_demo.domain.graph import FrameAge, GraphSnapshot, Sample, TopicInfo


class GraphPort(Protocol):
    """Thread-safe. The calls block for a bounded time."""

    def snapshot(self) -> GraphSnapshot:
        """What the middleware has discovered."""

    def listen(
        self,
        topic: TopicInfo,
        seconds: float,
        cancellation: Cancellation,
        *,
        first_only: bool = False,
    ) -> Sample:
        """Listen for ``seconds`` at most. Raises TurnCancelled."""

    def parameters(self, node: str, cancellation: Cancellation) -> dict[str, str]:
        """The parameters of ``node`` as text. Raises ServiceFailed and TurnCancelled."""

    def frames(self) -> Sequence[FrameAge]: ...
