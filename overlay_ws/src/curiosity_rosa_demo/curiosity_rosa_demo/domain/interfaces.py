# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The abstract interfaces around BrainState, for code that brings its own implementation."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from curiosity_rosa_demo.domain.brain_state import BrainState


class IStateManager(ABC):
    """Holds one BrainState."""

    @abstractmethod
    def get_state(self) -> BrainState:
        """The current state."""

    @abstractmethod
    def update_state(self, updates: dict[str, Any]) -> BrainState:
        """Replace the parts that ``updates`` names; the state after it."""

    @abstractmethod
    def serialize(self) -> str:
        """The current state as JSON."""

    @abstractmethod
    def deserialize(self, data: str) -> BrainState:
        """Take over the state that ``data`` holds."""


class ISkillExecutor(ABC):
    """Runs skills by name."""

    @abstractmethod
    async def dispatch(self, skill_name: str, params: dict[str, Any]) -> str:
        """Start a skill; the ID of the run."""

    @abstractmethod
    async def cancel(self, goal_id: str) -> bool:
        """Ask a run to end; whether it will."""

    @abstractmethod
    async def get_feedback(self, goal_id: str) -> dict[str, Any]:
        """The last report of progress; empty before the first."""

    @abstractmethod
    async def get_result(self, goal_id: str) -> dict[str, Any]:
        """The result, once the run has ended."""


class IKernelNode(ABC):
    """One node of the outer loop."""

    @abstractmethod
    def execute(self, state: BrainState) -> BrainState:
        """The state after this node."""


class IReActNode(ABC):
    """One node of the agent loop."""

    @abstractmethod
    async def execute(self, state: BrainState) -> BrainState:
        """The state after this node."""
