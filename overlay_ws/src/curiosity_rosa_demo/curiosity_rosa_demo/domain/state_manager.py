# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Holds one BrainState. Every update is validated and replaces the whole state."""

from __future__ import annotations

from typing import Any

from curiosity_rosa_demo.domain.brain_state import BrainState
from curiosity_rosa_demo.domain.interfaces import IStateManager


class StateManager(IStateManager):
    """For use outside the kernel. Only the kernel's nodes change the running kernel's state."""

    def __init__(self, state: BrainState | None = None) -> None:
        self._state = state or BrainState()

    def get_state(self) -> BrainState:
        return self._state

    def update_state(self, updates: dict[str, Any]) -> BrainState:
        """``updates`` maps names of parts to models, or to dicts of all their fields. Raises
        ValidationError and keeps the previous state.
        """
        self._state = BrainState(**{**dict(self._state), **updates})
        return self._state

    def serialize(self) -> str:
        return self._state.serialize()

    def deserialize(self, data: str) -> BrainState:
        """Raises SerdeError and keeps the previous state."""
        self._state = BrainState.deserialize(data)
        return self._state
