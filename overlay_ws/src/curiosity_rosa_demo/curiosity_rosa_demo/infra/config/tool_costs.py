# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Schema of tool_costs.yaml. The file holds the values."""

from __future__ import annotations

from typing import Annotated

from curiosity_rosa_demo.infra.config.base import (
    Section,
)
from pydantic import ConfigDict, Field

Cost = Annotated[float, Field(ge=0.0, le=1000.0)]


class ToolCostTable(Section):
    """Cost of each of the ten tools, and of any other skill that the file lists."""

    model_config = ConfigDict(extra='allow')
    __pydantic_extra__: dict[str, Cost]

    capture_and_score: Cost
    mast_rotate: Cost
    mast_open: Cost
    mast_close: Cost
    move_forward: Cost
    turn_left: Cost
    turn_right: Cost
    move_stop: Cost
    get_status: Cost
    analyze_ground: Cost


class ToolCosts(Section):
    tools: ToolCostTable

    def of(self, name: str) -> float:
        """Cost of the skill ``name``; 1.0 if the table does not list it."""
        return float(getattr(self.tools, name, 1.0))
