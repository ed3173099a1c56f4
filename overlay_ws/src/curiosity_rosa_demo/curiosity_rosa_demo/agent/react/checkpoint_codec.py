# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""BrainState in a checkpoint as JSON text.

MessagePack, LangGraph's default, has no integers beyond 64 bits, and a model may write one.
Pydantic also writes the text in a third of the time.
"""

from __future__ import annotations

from typing import Any

from curiosity_rosa_demo.domain.brain_state import BrainState
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

BRAIN, VALUES = 'brain', 'channel_values'


class CheckpointCodec(JsonPlusSerializer):
    """For checkpoints whose state has one channel, ``brain``."""

    def dumps_typed(self, obj: Any) -> tuple[str, bytes]:
        values = obj.get(VALUES) if isinstance(obj, dict) else None
        if isinstance(values, dict) and isinstance(values.get(BRAIN), BrainState):
            text = values[BRAIN].model_dump_json()
            obj = {**obj, VALUES: {**values, BRAIN: text}}
        return super().dumps_typed(obj)

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        """Raises ValidationError for a state in another version's format."""
        obj = super().loads_typed(data)
        values = obj.get(VALUES) if isinstance(obj, dict) else None
        if isinstance(values, dict) and isinstance(values.get(BRAIN), str):
            brain = BrainState.model_validate_json(values[BRAIN])
            obj = {**obj, VALUES: {**values, BRAIN: brain}}
        return obj
