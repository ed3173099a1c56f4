# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The skills as LangChain tools: names, descriptions with costs, checked arguments."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any, Protocol, TYPE_CHECKING

from curiosity_rosa_demo.domain.models import ToolResult
from curiosity_rosa_demo.domain.skills import OfferedSkill
from curiosity_rosa_demo.domain.text import clip
from pydantic import BaseModel, ValidationError

if TYPE_CHECKING:
    from langchain_core.tools import BaseTool


class RunSkill(Protocol):
    """Runs the skill ``name``. No skill has an argument called ``name``."""

    def __call__(self, name: str, **arguments: Any) -> ToolResult: ...


def make_tools(skills: Iterable[OfferedSkill], run: RunSkill) -> list[BaseTool]:
    """LangChain tools for the skills that the model may use."""
    from langchain_core.tools import StructuredTool  # not at the start of the agent

    return [
        StructuredTool.from_function(
            func=partial(run, skill.definition.name),
            name=skill.definition.name,
            description=skill.description,
            args_schema=skill.arguments,
        )
        for skill in skills
    ]


def arguments_error_text(error: ValidationError, schema: type[BaseModel]) -> str:
    """The first validation error, followed by the names of all arguments."""
    first = error.errors(include_url=False, include_input=False)[0]
    where = '.'.join(str(part) for part in first['loc']) or 'arguments'
    takes = ', '.join(schema.model_fields) or 'none'
    return f'{clip(where)}: {clip(first["msg"])}; it takes: {takes}'
