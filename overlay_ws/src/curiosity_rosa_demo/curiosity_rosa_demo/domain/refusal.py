# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A refusal: why an order does not reach the rover, as a typed value with one text form."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import Enum

from curiosity_rosa_demo.domain.brain_state import Json
from curiosity_rosa_demo.domain.models import MOVE_IN_PROGRESS, NEED_TO_CLOSE_MAST
from curiosity_rosa_demo.domain.text import one_line


class RefusalCode(str, Enum):
    SAFE_MODE = 'SAFE_MODE'
    BATTERY_CRITICAL = 'BATTERY_CRITICAL'
    MAST_NOT_CLOSED = 'MAST_NOT_CLOSED'
    MOVE_IN_PROGRESS = 'MOVE_IN_PROGRESS'
    RESOURCE_CONFLICT = 'RESOURCE_CONFLICT'
    REFUSED_AGAIN = 'REFUSED_AGAIN'
    BUDGET = 'BUDGET'
    GEOFENCE = 'GEOFENCE'
    ENERGY = 'ENERGY'
    NOT_APPROVED = 'NOT_APPROVED'
    ROVER_SILENT = 'ROVER_SILENT'
    NAV_TOO_LONG = 'NAV_TOO_LONG'


POSE_UNKNOWN = 'the pose or the goal is unknown'  # why a fence lets nothing pass
# The first words of a text, where they are not the code itself: the adapter uses these too.
TEXT_BEGINS = {
    RefusalCode.MAST_NOT_CLOSED: NEED_TO_CLOSE_MAST,
    RefusalCode.MOVE_IN_PROGRESS: MOVE_IN_PROGRESS,
    RefusalCode.ROVER_SILENT: '',
}


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
        begin = TEXT_BEGINS.get(self.code, self.code.value)
        if not (begin and self.why):
            return one_line(begin or self.why)
        return one_line(f'{begin}: {self.why}; {self.way_out}')

    def to_json(self) -> Json:
        return {**asdict(self), 'code': self.code.value}
