# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Schema of prompts.yaml. The file holds the values."""

from __future__ import annotations

from typing import Annotated, Literal

from curiosity_rosa_demo.infra.config.base import (
    Section,
)
from pydantic import BaseModel, ConfigDict, Field

Language = Literal['en', 'ja', 'zh']


class RobotPrompts(Section):
    embodiment_and_persona: str
    critical_instructions: str
    relevant_context: str
    nuance_and_assumptions: str


class Bootstrap(Section):
    enabled: bool
    text: str


class Vision(Section):
    """``text``: for a model that can see."""

    text: str


class MemoryConfig(Section):
    enabled: bool
    max_events: int = Field(ge=0, le=100)


class Template(Section):
    label: str
    text: str = Field(min_length=1)
    expects: Literal['good_capture', 'answer'] = 'answer'
    translations: dict[Language, Annotated[str, Field(min_length=1)]] = Field(default_factory=dict)

    def text_in(self, language: Language) -> str:
        """The text in ``language``; ``text`` if there is no translation."""
        return self.translations.get(language, self.text)


class Templates(BaseModel):
    """The goal of ``:demo``. Other templates are validated and stored; no command uses them."""

    model_config = ConfigDict(frozen=True, extra='allow')
    __pydantic_extra__: dict[str, Template]
    demo_ground_texture: Template


class Prompts(Section):
    robot_system_prompts: RobotPrompts
    bootstrap: Bootstrap
    vision: Vision
    memory: MemoryConfig
    templates: Templates
    default_language: Language = 'en'
