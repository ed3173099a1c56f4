# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The skills as LangChain tools: names, descriptions with costs, checked arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from curiosity_rosa_demo.domain.models import ToolResult
from curiosity_rosa_demo.domain.skills import OfferedSkills
from langchain_core.tools import BaseTool, StructuredTool


class RunSkill(Protocol):
    """Runs the skill ``name``. No skill has an argument called ``name``."""

    def __call__(self, name: str, **arguments: Any) -> ToolResult: ...


def make_tools(skills: OfferedSkills, run: RunSkill) -> list[BaseTool]:
    """LangChain tools for the skills that the model may use."""

    def bound(name: str) -> Callable[..., ToolResult]:
        return lambda **arguments: run(name, **arguments)

    return [
        StructuredTool.from_function(
            func=bound(skill.definition.name),
            name=skill.definition.name,
            description=skill.description,
            args_schema=skill.arguments,
        )
        for skill in skills.for_model()
    ]
