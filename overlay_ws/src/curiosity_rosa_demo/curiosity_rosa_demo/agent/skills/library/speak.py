# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The skill ``speak``: a message to the people around the robot."""

from __future__ import annotations

from typing import Annotated

from curiosity_rosa_demo.agent.skills.skill import SkillCall
from curiosity_rosa_demo.domain.models import ToolResult
from pydantic import Field

SpokenText = Annotated[
    str, Field(min_length=1, max_length=500, description='at most 500 characters')
]


def speak(call: SkillCall, text: SpokenText) -> ToolResult:
    """Say something to the people around: on the console, in the trace and on the speech topic."""
    call.world.say(text)
    return ToolResult.success(said=text)
