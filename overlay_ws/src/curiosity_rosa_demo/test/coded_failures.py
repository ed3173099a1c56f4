# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Failures with the codes that the product gives them, for twins of what stands before it."""

from __future__ import annotations

from typing import Any

from curiosity_rosa_demo.domain.models import INTERRUPTED_TEXT, MAST_IS_CLOSED, ToolResult
from curiosity_rosa_demo.domain.refusal import code_of, facts_of, Refusal, RefusalCode

OWN = {
    INTERRUPTED_TEXT: RefusalCode.INTERRUPTED,
    MAST_IS_CLOSED: RefusalCode.MAST_IS_CLOSED,
    'Rejected by the operator': RefusalCode.REJECTED,
}
OUTSIDE = Refusal(RefusalCode.GEOFENCE, 'outside the fence', 'inside', 'turn round')
MAST_OUT = Refusal(RefusalCode.MAST_NOT_CLOSED, '', 'closed', 'mast_close first')


def failed(reason: str, **data: Any) -> ToolResult:
    """The result of one of the rover's tools for what the adapter has answered."""
    code = OWN.get(reason) or code_of(reason)
    return ToolResult.failure(reason, code, **facts_of(reason), **data)


def ended_early(answer: str, **data: Any) -> ToolResult:
    """Of a motion that had begun."""
    data = {'duration_s': 1.0, **facts_of(answer), **data}
    return ToolResult.failure(f'Motion ended early: {answer}', code_of(answer), **data)
