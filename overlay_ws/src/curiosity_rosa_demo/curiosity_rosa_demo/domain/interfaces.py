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
        """Replace the parts that ``updates`` names and return the new state."""

    @abstractmethod
    def serialize(self) -> str:
        """The current state as JSON."""

    @abstractmethod
    def deserialize(self, data: str) -> BrainState:
        """Replace the current state by the one in ``data``."""


class ISkillExecutor(ABC):
    """Runs skills by name."""

    @abstractmethod
    async def dispatch(self, skill_name: str, params: dict[str, Any]) -> str:
        """Start a skill and return the ID of the run."""

    @abstractmethod
    async def cancel(self, goal_id: str) -> bool:
        """Request the end of a run. Return whether the request is accepted."""

    @abstractmethod
    async def get_feedback(self, goal_id: str) -> dict[str, Any]:
        """The last progress report; empty before the first."""

    @abstractmethod
    async def get_result(self, goal_id: str) -> dict[str, Any]:
        """Wait for the end of the run and return its result."""


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
