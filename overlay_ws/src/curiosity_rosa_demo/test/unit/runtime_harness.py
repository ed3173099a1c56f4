# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A real runtime (kernel, runner, store) that a test feeds with readings."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
import time
from types import TracebackType
from typing import Any, TypeVar

from curiosity_rosa_demo.agent.runtime.execution.context import TaskSpans
from curiosity_rosa_demo.agent.runtime.runtime import Runtime
from curiosity_rosa_demo.agent.skills.registry import SkillRegistry
from curiosity_rosa_demo.domain.brain_state import Reading
from curiosity_rosa_demo.domain.text import ConsoleText
from curiosity_rosa_demo.infra.config.topics import Config
from curiosity_rosa_demo.trace.bus import EventBus
from harness import wait_until

H = TypeVar('H', bound='RuntimeHarness')
# A busy machine can starve a test of the CPU for seconds; that is not a silent kernel.
PATIENT_S = 60.0


def with_watchdog(config: Config, limit_s: float) -> Config:
    kernel = config.agent.kernel.model_copy(update={'watchdog_s': limit_s})
    agent = config.agent.model_copy(update={'kernel': kernel})
    return config.model_copy(update={'agent': agent})


class RuntimeHarness:
    """Use it in a ``with``: the runtime halts and everything closes at the end. The runtime is not
    started yet.
    """

    wait_s = 20.0

    def __init__(
        self,
        folder: Path,
        session: Any,
        config: Config,
        registry: SkillRegistry,
        clock: Callable[[], float] = time.time,
        spans: TaskSpans | None = None,
    ) -> None:
        self.said: list[str] = []
        self.console_texts = EventBus()  # the same, for the consoles that are attached
        self.beats = 0
        self.readings: dict[str, Reading] = {}
        self.runtime = Runtime(
            session,
            config,
            registry=registry,
            database=folder / 'tasks.db',
            readings=lambda: dict(self.readings),
            beat=self._beat,
            say=self.print,
            clock=clock,
            event_bus=EventBus(),
            spans=spans,
        )

    def print(self, text: str) -> None:
        self.said.append(text)
        self.console_texts.publish(ConsoleText(text))

    def _beat(self) -> None:
        self.beats += 1

    def __enter__(self: H) -> H:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.runtime.halt()
        self.close()

    def close(self) -> None:
        """After the runtime was halted."""
        self.runtime.close()

    def hear(self, source: str, **value: Any) -> None:
        reading = Reading(value=value, received_s=time.monotonic())
        self.readings = {**self.readings, source: reading}
        self.runtime.tick_now()

    def until(self, condition: Callable[[], Any], what: str) -> None:
        wait_until(condition, what, self.wait_s)
