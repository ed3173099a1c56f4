# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Random plans for property tests."""

from __future__ import annotations

from curiosity_rosa_demo.domain.plan.plan import (
    ExecutionResult,
    Plan,
    PlanStatus,
    PlanStep,
    RiskLevel,
    StepStatus,
    ToolCallType,
)
from hypothesis import strategies as st
from strategies import json_objects, names, text

required = names.filter(str.strip)
times = st.integers(0, 2**40) | st.floats(0.0, 1e12)
ids = st.integers(0, 2**63 - 1) | st.integers(0, 9)


def steps(status: st.SearchStrategy[StepStatus]) -> st.SearchStrategy[PlanStep]:
    return st.builds(
        PlanStep,
        step_id=ids,
        action=required,
        parameters=json_objects,
        preconditions=json_objects,
        fallback=st.none() | text,
        status=status,
        description=text,
        tool_call_type=st.sampled_from(ToolCallType),
        requires_confirmation=st.booleans(),
        confirmation_message=st.none() | text,
        metadata=json_objects,
    )


def plans(step: st.SearchStrategy[PlanStep]) -> st.SearchStrategy[Plan]:
    return st.builds(
        Plan,
        plan_id=required,
        goal=required,
        reasoning=text,
        risk_level=st.sampled_from(RiskLevel),
        requires_confirmation=st.booleans(),
        confirmation_message=st.none() | text,
        steps=st.lists(step, max_size=4, unique_by=lambda each: each.step_id),
        status=st.sampled_from(PlanStatus),
        created_at=times,
        source=text,
        metadata=json_objects,
    )


any_plans = plans(steps(st.sampled_from(StepStatus)))


@st.composite
def results(draw: st.DrawFn) -> ExecutionResult:
    status = draw(st.sampled_from(StepStatus))
    legal = {StepStatus.SUCCESS: [True], StepStatus.FAILED: [False]}.get(status, [True, False])
    return ExecutionResult(
        plan_id=draw(required),
        step_id=draw(ids),
        success=draw(st.sampled_from(legal)),
        status=status,
        message=draw(text),
        output=draw(json_objects),
        timestamp=draw(times),
    )
