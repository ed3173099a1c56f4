# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The plans of a run, with the results of their steps. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from curiosity_rosa_demo.domain.models import TraceEvent
from curiosity_rosa_demo.domain.operation import call_text
from curiosity_rosa_demo.domain.plan.plan import ExecutionResult, Plan, PlanStep
from curiosity_rosa_demo.trace.plan_events import PlanMade, PlanStepEnded


@dataclass
class RecordedPlan:
    """``results``: the last one of each step that has one, by its ID. ``at_s``: seconds since the
    start of the run.
    """

    at_s: float
    plan: Plan
    results: dict[int, ExecutionResult] = field(default_factory=dict)

    @property
    def steps(self) -> list[tuple[PlanStep, str, ExecutionResult | None]]:
        """Each step with what it calls, and its result; None: it has none."""
        return [
            (each, step_text(each), self.results.get(each.step_id)) for each in self.plan.steps
        ]


def step_text(step: PlanStep) -> str:
    """What the step does, as a call."""
    return call_text(step.action, step.parameters)


def recorded_plans(events: Sequence[tuple[float, TraceEvent]]) -> list[RecordedPlan]:
    """``events``: the oldest first. A plan that was traced again has the results of both times."""
    plans: dict[str, RecordedPlan] = {}
    for at_s, event in events:
        made, ended = PlanMade.of(event), PlanStepEnded.of(event)
        if made is not None:
            known = plans.setdefault(made.plan.plan_id, RecordedPlan(at_s, made.plan))
            known.plan = made.plan
        elif ended is not None and (of := plans.get(ended.result.plan_id)) is not None:
            of.results[ended.result.step_id] = ended.result
    return list(plans.values())
