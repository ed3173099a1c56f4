# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A plan and its steps as trace events."""

from __future__ import annotations

from collections.abc import Iterable

from curiosity_rosa_demo.agent.react.plan.steps import left_out_text
from curiosity_rosa_demo.domain.plan.plan import ExecutionResult, Plan
from curiosity_rosa_demo.domain.text import clip, count_text
from curiosity_rosa_demo.trace.plan_events import PlanMade, PlanStepEnded
from curiosity_rosa_demo.trace.reporter import TraceFunction


def trace_plan(trace: TraceFunction, plan: Plan) -> None:
    """Trace the plan as one HYPOTHESIZE event."""
    left_out, steps = left_out_text(plan), count_text(len(plan.steps), 'step')
    text = f'Plan: {clip(plan.goal)} ({steps}){left_out and "; "}{left_out}'
    trace(**PlanMade(plan).trace_fields(text))


def trace_steps(trace: TraceFunction, results: Iterable[ExecutionResult]) -> None:
    """Trace each result as one RESULT or ERROR event."""
    for result in results:
        trace(**PlanStepEnded(result).trace_fields())
