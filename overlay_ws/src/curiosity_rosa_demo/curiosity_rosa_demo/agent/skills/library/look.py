# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The skill ``look``: a picture of the camera. A model that can see gets it after the result."""

from __future__ import annotations

from typing import Annotated, Literal

from curiosity_rosa_demo.agent.skills.skill import SkillCall
from curiosity_rosa_demo.domain.models import NO_IMAGE_RECEIVED, ToolResult
from pydantic import Field

Source = Annotated[
    Literal['camera', 'capture'],
    Field(description='camera: what it shows now; capture: the newest picture that was taken'),
]
NO_CAPTURE_TEXT = 'There is no capture yet: call capture_and_score first'


def look(call: SkillCall, source: Source = 'camera') -> ToolResult:
    """Look at what the camera shows now, or at the newest capture. Moves nothing."""
    pictures = call.world.pictures
    if source == 'camera':
        facts, problem = pictures.see_camera(call.cancellation), NO_IMAGE_RECEIVED
    else:
        facts, problem = pictures.see_capture(call.cancellation), NO_CAPTURE_TEXT
    return ToolResult.failure(problem) if facts is None else ToolResult(ok=True, data=facts)
