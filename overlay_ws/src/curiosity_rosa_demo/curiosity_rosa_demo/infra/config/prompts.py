# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Schema of prompts.yaml. The file holds the values."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from curiosity_rosa_demo.infra.config.base import Section
from pydantic import Field

Language = Literal['en', 'ja', 'zh']
TemplateName = Annotated[str, Field(pattern=r'^[a-z][a-z0-9_]{0,39}$')]
DEMO = 'demo_ground_texture'  # the template of :demo


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
    """A shortcut: the command of its name stands for its text."""

    label: str
    text: str = Field(min_length=1)
    expects: Literal['good_capture', 'answer'] = 'answer'
    translations: dict[Language, Annotated[str, Field(min_length=1)]] = Field(default_factory=dict)

    def text_in(self, language: Language) -> str:
        """The text in ``language``; ``text`` if there is no translation."""
        return self.translations.get(language, self.text)


class Prompts(Section):
    robot_system_prompts: RobotPrompts
    bootstrap: Bootstrap
    vision: Vision
    memory: MemoryConfig
    templates: dict[TemplateName, Template]
    default_language: Language = 'en'


def below_own_texts(shipped: dict[str, Any], own: dict[str, Any]) -> dict[str, Any]:
    """The values of the shipped file without the translations of each text that ``own`` gives."""
    templates, texts = dict(shipped['templates']), own.get('templates')
    for name, template in texts.items() if isinstance(texts, dict) else ():
        if name in templates and isinstance(template, dict) and 'text' in template:
            templates[name] = {**templates[name], 'translations': {}}
    return {**shipped, 'templates': templates}
