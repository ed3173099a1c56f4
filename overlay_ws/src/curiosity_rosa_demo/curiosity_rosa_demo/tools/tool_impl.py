# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The skills as LangChain tools: names, descriptions with costs, checked arguments."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Protocol, TYPE_CHECKING

from curiosity_rosa_demo.domain.brain_state import SkillDef
from curiosity_rosa_demo.domain.models import ToolResult
from curiosity_rosa_demo.domain.serde import first_problem
from pydantic import BaseModel, ValidationError

if TYPE_CHECKING:
    from langchain_core.tools import BaseTool


class OfferedSkill(Protocol):
    """A skill as the model sees it. ``arguments`` is the schema of its arguments."""

    @property
    def definition(self) -> SkillDef: ...

    @property
    def description(self) -> str: ...

    @property
    def arguments(self) -> type[BaseModel]: ...


def make_tools(skills: Iterable[OfferedSkill], run: Callable[..., ToolResult]) -> list[BaseTool]:
    """LangChain tools for the skills that the model may use. ``run`` takes the name of a skill,
    and its arguments by name; none is called ``name``.
    """
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
    takes = ', '.join(schema.model_fields) or 'none'
    return f'{first_problem(error, "arguments")}; it takes: {takes}'
