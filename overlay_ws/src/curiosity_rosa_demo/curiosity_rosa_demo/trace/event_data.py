# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The data of the trace events that other parts of the agent react to.

A reader asks these functions. The message of an event is for people: a model or a client may have
written it.
"""

from __future__ import annotations

from curiosity_rosa_demo.domain.models import Json, TraceEvent, TraceKind

TURN_CALLS = 'turn_calls'  # in an OBSERVE: a turn starts or resumes, after this number of calls
QUESTION = 'question'  # in a DECIDE: the ID of the question that the agent asks a person


def turn_start_data(calls: int) -> Json:
    """``calls``: that the turn has made so far; 0 for a new turn."""
    return {TURN_CALLS: calls}


def calls_at_turn_start(event: TraceEvent) -> int | None:
    """The calls that the turn had made when it started here; None: the event starts no turn."""
    calls = (event.data or {}).get(TURN_CALLS)
    return calls if event.kind is TraceKind.OBSERVE and isinstance(calls, int) else None


def question_data(question_id: str) -> Json:
    return {QUESTION: question_id}


def is_question(event: TraceEvent) -> bool:
    """Whether the agent asks a person."""
    return event.kind is TraceKind.DECIDE and QUESTION in (event.data or {})
