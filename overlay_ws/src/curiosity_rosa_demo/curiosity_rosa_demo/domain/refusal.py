# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Why an order does not reach the rover, or why a call failed: a code, and a text for people.

Code decides by codes. The services of ROS answer a text alone: ``text`` makes it, and
``read_answer`` reads it back.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import Enum
import re

from curiosity_rosa_demo.domain import models
from curiosity_rosa_demo.domain.ground import GROUND_UNKNOWN
from curiosity_rosa_demo.domain.models import Json, ToolResult
from curiosity_rosa_demo.domain.text import one_line


class RefusalCode(str, Enum):
    """A code, and what a service of ROS answers for it: ``words``, by which the code is known;
    '': none does. ``rest`` has the fields of ``text``.
    """

    words: str
    rest: str

    def __new__(cls, code: str, words: str = '', rest: str = '') -> RefusalCode:
        made = str.__new__(cls, code)
        made._value_, made.words, made.rest = code, words, rest
        return made

    # of the gate
    SAFE_MODE = 'SAFE_MODE'
    BATTERY_CRITICAL = 'BATTERY_CRITICAL'
    MAST_NOT_CLOSED = 'MAST_NOT_CLOSED', models.NEED_TO_CLOSE_MAST
    MOVE_IN_PROGRESS = 'MOVE_IN_PROGRESS', models.MOVE_IN_PROGRESS
    RESOURCE_CONFLICT = 'RESOURCE_CONFLICT'
    REFUSED_AGAIN = 'REFUSED_AGAIN'
    BUDGET = 'BUDGET'
    GEOFENCE = 'GEOFENCE'
    ENERGY = 'ENERGY'
    NOT_APPROVED = 'NOT_APPROVED'
    ROVER_SILENT = 'ROVER_SILENT'
    NAV_TOO_LONG = 'NAV_TOO_LONG'
    # of the adapter and of the other services
    MAST_NOT_OPEN = 'MAST_NOT_OPEN', models.NEED_TO_OPEN_MAST
    MAST_IS_CLOSED = 'MAST_IS_CLOSED', models.MAST_IS_CLOSED
    NOT_STOWED = 'NOT_STOWED', 'Need to stow', ' {part}: {stow}'
    OBSTACLE = 'OBSTACLE', models.OBSTACLE_AHEAD, ' at {obstacle_m:.1f} m: {ways}'
    AGENT_SILENT = 'AGENT_SILENT', models.AGENT_IS_SILENT
    AGENT_GONE = 'AGENT_GONE', models.AGENT_IS_GONE
    AGENT_FELL_SILENT = 'AGENT_FELL_SILENT', models.AGENT_FELL_SILENT, ' for {seconds:g} s'
    # of a node of the rover that drives its wheels
    DRIVER_FELL_SILENT = (
        'DRIVER_FELL_SILENT',
        models.DRIVER_FELL_SILENT,
        ' on {topic} for {seconds:.1f} s',
    )
    GROUND_UNKNOWN = 'GROUND_UNKNOWN', GROUND_UNKNOWN
    NO_IMAGE = 'NO_IMAGE', models.NO_IMAGE_RECEIVED
    TF_UNAVAILABLE = 'TF_UNAVAILABLE', models.TF_UNAVAILABLE, ': {world} -> {base}'
    NO_SERVICE = 'NO_SERVICE', 'Service unavailable', ': {name}'
    NO_ANSWER = 'NO_ANSWER', 'Service timeout', ': {name}'  # it may have begun, or may begin
    STOPPED = 'STOPPED', models.STOPPED_FOR, '{part} is {state}'  # for a broken safety rule
    SAFETY_VIOLATION = 'SAFETY_VIOLATION'  # it latches SAFE
    # of a skill
    SKILL_NOT_FOUND = 'SKILL_NOT_FOUND'
    PARAM_INVALID = 'PARAM_INVALID'
    SKILL_TIMEOUT = 'SKILL_TIMEOUT'
    CANCELLED = 'CANCELLED'
    UNKNOWN = 'UNKNOWN'  # it did not end when it was stopped: its effect is unknown
    # of a turn
    NAV_GOAL_REJECTED = 'NAV_GOAL_REJECTED'
    NAV_BLOCKED = 'NAV_BLOCKED'
    NAV_TIMEOUT = 'NAV_TIMEOUT'
    REJECTED = 'REJECTED'  # by the operator
    DECLINED = 'DECLINED'  # a further call of the same answer
    INTERRUPTED = 'INTERRUPTED'  # the agent ended meanwhile
    INTERNAL_ERROR = 'INTERNAL_ERROR'  # nobody foresaw it: it ends the turn

    def text(self, **facts: object) -> str:
        """What a service of ROS answers for this code. ``facts``: the fields of its text."""
        return f'{self.words}{self.rest}'.format(**facts)


POSE_UNKNOWN = 'the pose or the goal is unknown'  # why a fence lets nothing pass
# The fields by which code decides: the metres that are free before the obstacle, and the skill
# that stows what sticks out.
_FIELDS = {'obstacle_m': r'(?P<obstacle_m>\d+\.\d)', 'stow': r'(?P<stow>\w+)'}
# A motion that the adapter ended because it missed the agent may go on: a loaded computer can
# hold a living agent back for longer than its liveliness lease.
LINK_LOST = frozenset({RefusalCode.AGENT_GONE, RefusalCode.AGENT_FELL_SILENT})


def read_answer(text: str) -> tuple[str, Json]:
    """The code of what a service of ROS has answered, and the facts in it, ``obstacle_m`` as a
    number and ``stow``; '' for a text without a code. Only tools/rover_client.py asks: all others
    are given the code.
    """
    for code in RefusalCode:
        if code.words and text.startswith(code.words):
            field = re.compile(r'\\\{(\w+)[^}]*\}')
            pattern = field.sub(lambda found: _FIELDS.get(found[1], '.+'), re.escape(code.rest))
            found = re.match(pattern, text.removeprefix(code.words))
            facts = found.groupdict() if found else {}
            metres = {key: float(facts[key]) for key in facts if key == 'obstacle_m'}
            return code.value, Json(facts | metres)
    return '', Json()


@dataclass(frozen=True)
class Refusal:
    """``why``: the fact that the rule objects to. ``allowed``: what the rule lets pass.
    ``way_out``: what to do now. ``rule``: name of the rule. ``asked``: the refused call as text.
    """

    code: RefusalCode
    why: str
    allowed: str
    way_out: str
    rule: str = ''
    asked: str = ''

    @property
    def reason(self) -> str:
        """The refusal in one line, the same for every reader. It starts with a stable word."""
        begin = '' if self.code is RefusalCode.ROVER_SILENT else self.code.words or self.code.value
        if not (begin and self.why):
            return one_line(begin or self.why)
        return one_line(f'{begin}: {self.why}; {self.way_out}')

    def result(self) -> ToolResult:
        """Of the call that was refused."""
        return ToolResult.failure(self.reason, self.code, refusal=self.to_json())

    def to_json(self) -> Json:
        return {**asdict(self), 'code': self.code.value}
