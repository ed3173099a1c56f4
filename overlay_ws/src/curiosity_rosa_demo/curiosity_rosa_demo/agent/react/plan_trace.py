"""The steps of a plan as trace events."""

from __future__ import annotations

from collections.abc import Iterable

from curiosity_rosa_demo.agent.reporting import Trace
from curiosity_rosa_demo.domain.models import TraceKind
from curiosity_rosa_demo.domain.plan import ExecutionResult


def trace_steps(trace: Trace, results: Iterable[ExecutionResult]) -> None:
    """One RESULT or ERROR for each."""
    for result in results:
        trace(
            TraceKind.RESULT if result.success else TraceKind.ERROR,
            f'plan step {result.step_id}: {result.message}',
            tool_name='plan',
            ok=result.success,
            error_reason=None if result.success else result.message,
            data=result.to_dict(),
        )
