# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The short skills: the rover's tools, pictures, speech, questions and waits. A skill of your own
needs no change here: docs/howto/add_a_skill.md.

A skill's docstring, or its text in a table, is what a model reads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
import re
import time
from typing import Annotated, Literal

from curiosity_rosa_demo.agent.language.questions import graph_query
from curiosity_rosa_demo.agent.language.understand import understand
from curiosity_rosa_demo.agent.skills.skill import part_done, SkillCall
from curiosity_rosa_demo.domain.brain_state import Json
from curiosity_rosa_demo.domain.conditions import BadCondition, check, holds
from curiosity_rosa_demo.domain.graph import GraphKind, GraphQuery
from curiosity_rosa_demo.domain.models import MAX_LOST_LEGS, NO_IMAGE_RECEIVED, ToolResult
from curiosity_rosa_demo.domain.refusal import LINK_LOST, RefusalCode
from curiosity_rosa_demo.domain.skills import MOTIONS
from curiosity_rosa_demo.infra.config.behaviour import DAY_MIN
from pydantic import Field

# --- The rover's tools ---------------------------------------------------------------------------

ONE_CALL = {  # the skills that are one call of the tool of that name
    'capture_and_score': (
        'Take a picture of the ground and score the light where the rover stands, 0.0 (dark) to '
        '1.0 (bright). Needs a raised mast.'
    ),
    'mast_open': 'Raise the camera mast. Refused while the rover moves.',
    'mast_close': 'Stow the camera mast. Needed before any motion.',
    'mast_rotate': 'Turn the raised mast once around to look about; takes about 6 s.',
    'move_forward': (
        'Drive straight ahead for duration_s seconds, then stop. Needs a closed mast.'
    ),
    'turn_left': (
        'Drive an arc to the left for duration_s seconds, then stop. Needs a closed mast.'
    ),
    'turn_right': (
        'Drive an arc to the right for duration_s seconds, then stop. Needs a closed mast.'
    ),
    'move_stop': 'Stop the rover at once. Always allowed.',
    'get_status': 'Pose, mast, motion and last error of the rover, as measured now.',
    'stop_base': 'The same as move_stop: stop the rover at once. Always allowed.',
}
Duration = Annotated[float, Field(gt=0.0, description='seconds')]
Image = Annotated[
    Literal['last', 'new'], Field(description='last: of the last capture; new: take one first')
]


def tool_skills() -> Iterator[Callable[..., ToolResult]]:
    """The skills of ONE_CALL."""
    for name, text in ONE_CALL.items():
        yield _tool_skill(name, text, 'move_stop' if name == 'stop_base' else name)


def appendage_skill(name: str, text: str) -> Callable[..., ToolResult]:
    """The skill of one command of the robot's profile. Refused while the rover moves. It leads to
    a posture, so one that the adapter ended because it missed the agent is sent again.
    """
    return _tool_skill(name, text, name, again=MAX_LOST_LEGS)


def _tool_skill(name: str, text: str, tool: str, again: int = 0) -> Callable[..., ToolResult]:
    def run(call: SkillCall) -> ToolResult:
        result = call.world.tool(tool, call.cancellation)
        for _ in range(again):
            if result.error_code not in LINK_LOST:
                break
            result = call.world.tool(tool, call.cancellation)
        return result

    def drive(call: SkillCall, duration_s: Duration) -> ToolResult:
        return call.world.tool(tool, call.cancellation, duration_s=duration_s)

    skill = drive if name in MOTIONS else run
    skill.__name__, skill.__doc__ = name, text
    return skill


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


# --- Pictures for a model that can see, and speech -----------------------------------------------

Source = Annotated[
    Literal['camera', 'capture'],
    Field(description='camera: what it shows now; capture: the newest picture that was taken'),
]
NO_CAPTURE_TEXT = 'There is no capture yet: call capture_and_score first'


def look(call: SkillCall, source: Source = 'camera') -> ToolResult:
    """Look at what the camera shows now, or at the newest capture. Moves nothing."""
    pictures = call.world.pictures
    if source == 'camera':
        facts = pictures.see_camera(call.cancellation)
        failed = ToolResult.failure(NO_IMAGE_RECEIVED, RefusalCode.NO_IMAGE)
    else:
        facts = pictures.see_capture(call.cancellation)
        failed = ToolResult.failure(NO_CAPTURE_TEXT)
    return failed if facts is None else ToolResult(ok=True, data=facts)


SpokenText = Annotated[
    str, Field(min_length=1, max_length=500, description='at most 500 characters')
]


def speak(call: SkillCall, text: SpokenText) -> ToolResult:
    """Say something to the people around: on the console, in the trace and on the speech topic."""
    call.world.say(text)
    return ToolResult.success(said=text)


# --- Questions: the ROS graph, and the facts about the robot and its surroundings ---------------

KINDS = ', '.join(kind.value for kind in GraphKind)
What = Annotated[str, Field(max_length=40, description=f'one of: {KINDS}; empty: use question')]
Target = Annotated[
    str,
    Field(max_length=200, description='a topic, node, service, action or frame, or a part of it'),
]
Parameter = Annotated[str, Field(max_length=200, description='the parameter to read; empty: all')]
Question = Annotated[str, Field(max_length=300, description='a question in words instead of what')]


def query_graph(
    call: SkillCall,
    what: What = '',
    target: Target = '',
    parameter: Parameter = '',
    question: Question = '',
) -> ToolResult:
    """Read the ROS graph: nodes, topics, types, QoS, services, actions, parameters, rate,
    bandwidth, newest message, frames, or why there is no picture. Read-only.
    """
    if what and what not in KINDS.split(', '):
        return ToolResult.failure(f'what: {what[:40]!r} is none of: {KINDS}')
    query = GraphQuery(GraphKind(what), target, parameter) if what else graph_query(question)
    if query is None:
        why = f'question: {question[:80]!r} does not ask about the ROS graph'
        return ToolResult.failure(f'{why}; use what, one of: {KINDS}')
    return call.world.graph(query, understand(question).language, call.cancellation)


Query = Annotated[
    str, Field(max_length=500, description='names or words of facts; empty: all of them')
]
# Query words that do not occur in the names of the facts they ask for.
FACT_KEYWORDS = {
    'where': ('x', 'y', 'yaw_rad', 'zones'),
    'position': ('x', 'y'),
    'pose': ('x', 'y', 'yaw_rad'),
    'heading': ('yaw_rad',),
    'charge': ('battery_pct', 'battery_state'),
    'zone': ('zones',),
    'light': ('score', 'is_good', 'distance_to_target'),
    'stopped': ('moving', 'safety_latch'),
}


def query_world(call: SkillCall, query: Query = '') -> ToolResult:
    """What is known now: pose, mast, motion, battery, zones, mode. All of it, or what the query
    names.
    """
    return ToolResult(ok=True, data=matching_facts(call.world.facts(), query))


def matching_facts(facts: Json, query: str) -> Json:
    """The facts that ``query`` mentions by name or keyword; all facts if it mentions none."""
    words = set(re.findall(r'\w+', query.lower()))
    keyword_facts = {name for word in words for name in FACT_KEYWORDS.get(word, ())}
    chosen: Json = {}
    for name, value in facts.items():
        # not its units and single letters
        parts = {part for part in name.lower().split('_') if len(part) > 3}
        if name in keyword_facts or words & {name.lower(), *parts}:
            chosen[name] = value
    return chosen or dict(facts)


# --- Tasks of their own: the runner of tasks carries them out ------------------------------------

Text = Annotated[str, Field(min_length=1, pattern=r'\S')]
Minutes = Annotated[float, Field(gt=0.0, le=DAY_MIN)]


def react(
    call: SkillCall,
    text: Text,
    expects: Literal['answer', 'good_capture'] = 'answer',
    plan: Json | None = None,
) -> ToolResult:
    """Give a text to the model, which calls other skills until it answers; with a plan, run the
    plan.
    """
    return _only_as_a_task('react')


def charge(call: SkillCall) -> ToolResult:
    """Stop, stow the mast and wait until the battery is charged."""
    return _only_as_a_task('charge')


def activity(call: SkillCall, activity: Text, minutes: Minutes) -> ToolResult:
    """Spend the given minutes of the agent's clock on an activity; the rover does not move."""
    return _only_as_a_task('activity')


def _only_as_a_task(name: str) -> ToolResult:
    why = f'SKILL_NOT_FOUND: {name} is a task of its own; submit it as one'
    return ToolResult.failure(why, RefusalCode.SKILL_NOT_FOUND)


# --- Waits ---------------------------------------------------------------------------------------

POLL_PERIOD_S = 0.2
MAX_WAIT_S = 3600.0

WaitSeconds = Annotated[float, Field(gt=0.0, le=MAX_WAIT_S, description='seconds')]
Condition = Annotated[
    Json,
    Field(
        description='facts by name, all of which must hold: {"mast": "closed", '
        '"battery_pct_above": 50}; also _below, _at_least, _at_most, _is_not, _in, _within'
    ),
]


def wait(call: SkillCall, duration_s: WaitSeconds) -> ToolResult:
    """Wait for duration_s seconds, without a motion."""
    started_s = time.monotonic()
    while (left_s := duration_s - (time.monotonic() - started_s)) > 0.0:
        call.progress({'fraction': part_done(duration_s, left_s), 'left_s': round(left_s, 1)})
        call.cancellation.sleep(min(POLL_PERIOD_S, left_s))
    return ToolResult.success(waited_s=duration_s)


def wait_until(call: SkillCall, condition: Condition, timeout_s: WaitSeconds = 60.0) -> ToolResult:
    """Wait until a condition on the facts of query_world holds, for timeout_s seconds at most."""
    return wait_result(call, condition, timeout_s)


def wait_result(
    call: SkillCall,
    condition: Json,
    timeout_s: float,
    now: Callable[[], float] = time.monotonic,
) -> ToolResult:
    """Wait and return the result. ``now``: steady clock in seconds. Raises TurnCancelled."""
    try:
        check(condition)
    except BadCondition as error:
        return ToolResult.failure(f'PARAM_INVALID: {error}', RefusalCode.PARAM_INVALID)
    started_s = now()
    while True:
        verdict = holds(condition, call.world.facts())
        passed_s = now() - started_s
        waited_s = round(passed_s, 3)
        if verdict.ok:
            return ToolResult.success(held=verdict.why, waited_s=waited_s)
        if passed_s >= timeout_s:
            why = f'Not within {timeout_s:g} s: {verdict.why}'
            return ToolResult.failure(why, waited_s=waited_s)
        done = part_done(timeout_s, timeout_s - passed_s)
        call.progress({'fraction': done, 'waited_s': waited_s, 'why': verdict.why})
        call.cancellation.sleep(min(POLL_PERIOD_S, timeout_s - passed_s))
