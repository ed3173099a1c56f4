# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.
"""A rehearsal, and what came of it, as trace events."""

from __future__ import annotations

from curiosity_rosa_demo.agent.react.rehearsal.texts import comparison_text
from curiosity_rosa_demo.domain.models import TraceKind
from curiosity_rosa_demo.domain.rehearsal import Rehearsal, StepForecast
from curiosity_rosa_demo.trace.plan_events import RehearsalCompared, RehearsalMade
from curiosity_rosa_demo.trace.reporter import TraceFunction


def trace_rehearsal(trace: TraceFunction, rehearsal: Rehearsal) -> None:
    trace(**RehearsalMade(rehearsal).trace_fields())


def trace_step_refusal(trace: TraceFunction, step: StepForecast) -> None:
    """As the gate traces its own refusal of this call."""
    skill = step.call.partition('(')[0]
    text = f'{skill}: {step.reason}'
    failed = {'ok': False, 'error_reason': step.reason, 'data': step.refusal}
    trace(TraceKind.ERROR, text, tool_name=skill, **failed)


def trace_comparison(trace: TraceFunction, rehearsal: Rehearsal, language: str) -> Rehearsal:
    """Trace ``rehearsal.real``: a gap over its limit is an ERROR. Returns the rehearsal with the
    text of it.
    """
    real = rehearsal.real
    assert real is not None
    text = comparison_text(real, language)
    trace(**RehearsalCompared(rehearsal).trace_fields(text))
    return rehearsal.model_copy(update={'text': f'{rehearsal.text}\n{text}'})
