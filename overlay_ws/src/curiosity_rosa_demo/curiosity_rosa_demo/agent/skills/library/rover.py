# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The skills of the ten rover tools, and stop_base. Each makes one call to the adapter."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Literal

from curiosity_rosa_demo.agent.skills.skill import SkillCall
from curiosity_rosa_demo.domain.models import MAX_LOST_LEGS, NO_IMAGE_RECEIVED, ToolResult
from curiosity_rosa_demo.domain.refusal import LINK_LOST
from pydantic import Field

Image = Annotated[
    Literal['last', 'new'], Field(description='last: of the last capture; new: take one first')
]
Duration = Annotated[float, Field(gt=0.0, description='seconds')]


def capture_and_score(call: SkillCall) -> ToolResult:
    """Take a picture of the ground and score the light where the rover stands, 0.0 (dark) to
    1.0 (bright). Needs a raised mast.
    """
    return call.world.tool('capture_and_score', call.cancellation)


def analyze_ground(call: SkillCall, image: Image = 'last') -> ToolResult:
    """Analyze the ground in the last picture, or in a new one: texture class, grain size in cm,
    rocks (count, coverage, distance and bearing of the largest), sharpness, and how sure each is.
    Needs a good picture; a new one needs a raised mast.
    """
    if image == 'new':
        taken = call.world.tool('capture_and_score', call.cancellation)
        if not taken.ok:
            return taken
    return call.world.tool('analyze_ground', call.cancellation)


def mast_open(call: SkillCall) -> ToolResult:
    """Raise the camera mast. Refused while the rover moves."""
    return call.world.tool('mast_open', call.cancellation)


def mast_close(call: SkillCall) -> ToolResult:
    """Stow the camera mast. Needed before any motion."""
    return call.world.tool('mast_close', call.cancellation)


def mast_rotate(call: SkillCall) -> ToolResult:
    """Turn the raised mast once around to look about; takes about 6 s."""
    return call.world.tool('mast_rotate', call.cancellation)


def move_forward(call: SkillCall, duration_s: Duration) -> ToolResult:
    """Drive straight ahead for duration_s seconds, then stop. Needs a closed mast."""
    return call.world.tool('move_forward', call.cancellation, duration_s=duration_s)


def turn_left(call: SkillCall, duration_s: Duration) -> ToolResult:
    """Drive an arc to the left for duration_s seconds, then stop. Needs a closed mast."""
    return call.world.tool('turn_left', call.cancellation, duration_s=duration_s)


def turn_right(call: SkillCall, duration_s: Duration) -> ToolResult:
    """Drive an arc to the right for duration_s seconds, then stop. Needs a closed mast."""
    return call.world.tool('turn_right', call.cancellation, duration_s=duration_s)


def move_stop(call: SkillCall) -> ToolResult:
    """Stop the rover at once. Always allowed."""
    return call.world.tool('move_stop', call.cancellation)


def get_status(call: SkillCall) -> ToolResult:
    """Pose, mast, motion and last error of the rover, as measured now."""
    return call.world.tool('get_status', call.cancellation)


def make_appendage_skill(name: str, description: str) -> Callable[[SkillCall], ToolResult]:
    """The skill of one command of the robot's profile. Refused while the rover moves. It leads to
    a posture, so one that the adapter ended because it missed the agent is sent again.
    """

    def run(call: SkillCall) -> ToolResult:
        for _ in range(MAX_LOST_LEGS):
            result = call.world.tool(name, call.cancellation)
            if result.error_code not in LINK_LOST:
                return result
        return call.world.tool(name, call.cancellation)

    run.__name__, run.__doc__ = name, description
    return run


def stop_base(call: SkillCall) -> ToolResult:
    """The same as move_stop: stop the rover at once. Always allowed."""
    return call.world.tool('move_stop', call.cancellation)


# -----------------------------------------------------------------------------------------------
# The skill ``look``: a picture of the camera. A model that can see gets it after the result.


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


# --- The skill ``speak``: a message to the people around the robot -----------------------------


SpokenText = Annotated[
    str, Field(min_length=1, max_length=500, description='at most 500 characters')
]


def speak(call: SkillCall, text: SpokenText) -> ToolResult:
    """Say something to the people around: on the console, in the trace and on the speech topic."""
    call.world.say(text)
    return ToolResult.success(said=text)
