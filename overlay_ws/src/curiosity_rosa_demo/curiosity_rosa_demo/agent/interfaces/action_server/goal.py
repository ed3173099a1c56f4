# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Parsing a goal of ``run_task``. Pure functions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from curiosity_rosa_demo.agent.tasks.task import BadTask
from curiosity_rosa_demo.domain.models import read_json_object
from curiosity_rosa_demo.infra.spans import is_traceparent, TRACEPARENT

MAX_TEXT_CHARS = 20_000  # of a text or of arguments; enough for a plan
TEXT_OR_SKILL_RULE = 'give either text or skill'
EXAMPLE = 'such as skill "move_forward" with arguments_json {"duration_s": 2.0}'


class GoalRequest(Protocol):
    """The fields of RunTask.Goal."""

    text: str
    skill: str
    arguments_json: str


@dataclass(frozen=True)
class GoalArguments:
    """Either a ``text``, or the name of a skill and its arguments. ``traceparent``: of the caller,
    from the arguments, if it is one.
    """

    text: str = ''
    skill: str = ''
    arguments: dict[str, Any] | None = None
    traceparent: str = ''


def parse_goal(request: GoalRequest) -> GoalArguments:
    """Check the goal and read its arguments. Raises BadTask, whose message gives the rule."""
    text, skill, arguments = request.text.strip(), request.skill.strip(), request.arguments_json
    for name, given in (('text', text), ('skill', skill), ('arguments_json', arguments)):
        if len(given) > MAX_TEXT_CHARS:
            raise BadTask(f'{name} has {len(given)} characters; {MAX_TEXT_CHARS} are allowed')
    if text and skill:
        raise BadTask(
            f'The goal has text {text[:40]!r} and skill {skill[:40]!r}; {TEXT_OR_SKILL_RULE}'
        )
    if skill:
        given_arguments = _arguments(arguments)
        traceparent = _taken_traceparent(given_arguments)
        return GoalArguments('', skill, given_arguments, traceparent)
    if not text:
        raise BadTask(f'The goal is empty; {TEXT_OR_SKILL_RULE}, {EXAMPLE}')
    if arguments.strip():
        raise BadTask(f'arguments_json goes with skill, not with text; {EXAMPLE}')
    return GoalArguments(text=text)


def _taken_traceparent(arguments: dict[str, Any]) -> str:
    """The W3C header in ``arguments``, which then loses it; '' for none. No skill has such an
    argument, so another value is left for its check to refuse.
    """
    if not is_traceparent(arguments.get(TRACEPARENT)):
        return ''
    return str(arguments.pop(TRACEPARENT))


def _arguments(text: str) -> dict[str, Any]:
    try:
        return read_json_object(text if text.strip() else '{}')
    except ValueError as error:
        raise BadTask(f'arguments_json {text[:80]!r} cannot be read: {error}; {EXAMPLE}') from None
