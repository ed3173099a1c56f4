# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Plans, their steps and rehearsals as trace events, in the manner of events.py."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from curiosity_rosa_demo.domain.models import TraceEvent, TraceKind
from curiosity_rosa_demo.domain.plan.plan import ExecutionResult, Plan, PlanError
from curiosity_rosa_demo.domain.rehearsal import Rehearsal
from pydantic import ValidationError

PLAN = 'plan'  # tool_name of a step's result
REHEARSAL = 'rehearsal'  # tool_name and key of the data


@dataclass(frozen=True)
class PlanMade:
    """The agent has a plan."""

    plan: Plan

    def trace_fields(self, message: str) -> dict[str, Any]:
        return {'kind': TraceKind.HYPOTHESIZE, 'message': message, 'data': self.plan.to_dict()}

    @classmethod
    def of(cls, event: TraceEvent) -> PlanMade | None:
        data = event.data or {}
        if event.kind is not TraceKind.HYPOTHESIZE or 'plan_id' not in data:
            return None
        try:
            return cls(Plan.from_dict(data))
        except PlanError:
            return None


@dataclass(frozen=True)
class PlanStepEnded:
    """A step of a plan has ended, or was skipped."""

    result: ExecutionResult

    def trace_fields(self) -> dict[str, Any]:
        result = self.result
        return {
            'kind': TraceKind.RESULT if result.success else TraceKind.ERROR,
            'message': f'plan step {result.step_id}: {result.message}',
            'tool_name': PLAN,
            'ok': result.success,
            'error_reason': None if result.success else result.message,
            'data': result.to_dict(),
        }

    @classmethod
    def of(cls, event: TraceEvent) -> PlanStepEnded | None:
        if event.tool_name != PLAN or event.kind not in (TraceKind.RESULT, TraceKind.ERROR):
            return None
        try:
            return cls(ExecutionResult.from_dict(event.data or {}))
        except PlanError:
            return None


@dataclass(frozen=True)
class RehearsalMade:
    """A plan was rehearsed."""

    rehearsal: Rehearsal

    def trace_fields(self) -> dict[str, Any]:
        return {
            'kind': TraceKind.HYPOTHESIZE,
            'message': self.rehearsal.text,
            'tool_name': REHEARSAL,
            'data': {REHEARSAL: self.rehearsal.model_dump(mode='json')},
        }

    @classmethod
    def of(cls, event: TraceEvent) -> RehearsalMade | None:
        rehearsal = _rehearsal(event) if event.kind is TraceKind.HYPOTHESIZE else None
        return None if rehearsal is None else cls(rehearsal)


@dataclass(frozen=True)
class RehearsalCompared:
    """What was rehearsed is over: ``rehearsal.real`` holds what came of it. A gap over its limit
    is an ERROR. The path and the steps are those of the rehearsal, and not repeated.
    """

    rehearsal: Rehearsal

    def trace_fields(self, message: str) -> dict[str, Any]:
        real = self.rehearsal.real
        failed = real is not None and bool(real.exceeded)
        dumped = self.rehearsal.model_dump(mode='json', exclude={'path', 'steps'})
        return {
            'kind': TraceKind.ERROR if failed else TraceKind.OBSERVE,
            'message': message,
            'tool_name': REHEARSAL,
            'data': {REHEARSAL: dumped},
            **({'ok': False, 'error_reason': message} if failed else {}),
        }

    @classmethod
    def of(cls, event: TraceEvent) -> RehearsalCompared | None:
        rehearsal = _rehearsal(event)
        return None if rehearsal is None or rehearsal.real is None else cls(rehearsal)


def _rehearsal(event: TraceEvent) -> Rehearsal | None:
    if event.tool_name != REHEARSAL:
        return None
    try:
        return Rehearsal.model_validate((event.data or {}).get(REHEARSAL))
    except ValidationError:
        return None
