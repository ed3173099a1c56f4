# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The span of a check by the gate."""

from __future__ import annotations

from collections.abc import Callable

from curiosity_rosa_demo.agent.react.guardrails.approval import Ask
from curiosity_rosa_demo.domain.refusal import Refusal
from curiosity_rosa_demo.infra.tracing.span import span

Verdict = Refusal | Ask | None


def traced_check(skill: str, check: Callable[[], Verdict]) -> Verdict:
    """The verdict of ``check``, which runs in a span with its rule and code."""
    with span(f'guard {skill}', {'curiosity.skill': skill}) as guard:
        verdict = check()
        if not guard.recording:
            return verdict
        if isinstance(verdict, Refusal):
            code, rule = verdict.code.value, verdict.rule
            guard.set(
                {
                    'curiosity.guard.verdict': 'refuse',
                    'curiosity.guard.rule': rule,
                    'curiosity.guard.code': code,
                }
            )
            guard.fail(code)
        elif isinstance(verdict, Ask):
            guard.set({'curiosity.guard.verdict': 'ask'})
        else:
            guard.set({'curiosity.guard.verdict': 'pass'})
        return verdict
