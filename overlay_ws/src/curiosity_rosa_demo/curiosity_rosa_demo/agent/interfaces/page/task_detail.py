# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""One task in full, for its drawer on the page: its history, its plan with the state of each step,
its captures, and what its calls of a language model have used. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from curiosity_rosa_demo.agent.interfaces.page.status_rows import (
    capture_data,
    clipped,
    PanelData,
    plan_data,
    progress_facts,
    task_row,
)
from curiosity_rosa_demo.agent.interfaces.page.task_history import TaskHistory
from curiosity_rosa_demo.agent.tasks import Task
from curiosity_rosa_demo.domain.brain_state import BrainState, Json
from curiosity_rosa_demo.domain.models import TraceEvent, TraceKind
from curiosity_rosa_demo.domain.pictures import Capture
from curiosity_rosa_demo.domain.text import count_text
from curiosity_rosa_demo.trace.events import CaptureTaken, ModelCalled, task_of

MAX_TASKS = 60  # whose events are summed up


@dataclass
class _Told:
    """What the events of one task have told. ``results``: of the steps of ``plan``, by step."""

    plan: Json | None = None
    results: dict[Any, Json] = field(default_factory=dict)
    captures: set[str] = field(default_factory=set)  # IDs of trace events
    calls: list[ModelCalled] = field(default_factory=list)


class TaskEvents:
    """Sums up the trace events by task; the oldest tasks are forgotten. Use it in one thread."""

    def __init__(self) -> None:
        self._told: dict[str, _Told] = {}

    def add(self, event: TraceEvent) -> None:
        task_id = task_of(event)
        if not task_id:
            return
        told = self._told.setdefault(task_id, _Told())
        if len(self._told) > MAX_TASKS:
            del self._told[next(iter(self._told))]
        data = event.data or {}
        if CaptureTaken.of(event) is not None:
            told.captures.add(event.event_id)
        elif (called := ModelCalled.of(event)) is not None:
            told.calls.append(called)
        elif event.kind is TraceKind.HYPOTHESIZE and isinstance(data.get('steps'), list):
            told.plan, told.results = data, {}
        elif event.tool_name == 'plan' and data.get('plan_id') == (told.plan or {}).get('plan_id'):
            told.results[str(data.get('step_id'))] = data

    def captures(self, task_id: str) -> set[str]:
        """The IDs of the trace events of its captures."""
        return self._of(task_id).captures

    def calls(self, task_id: str) -> Sequence[ModelCalled]:
        return self._of(task_id).calls

    def plan(self, task: Task, running: Mapping[str, Any] | None) -> PanelData:
        """The plan of ``task``, each step with ``why``: what came of it. ``running``: the plan of
        the last turn, which knows the running step.
        """
        told = self._of(task.id)
        plan = told.plan or task.metadata.get('plan')
        if not isinstance(plan, dict):
            return plan_data(None)
        if running is not None and running.get('plan_id') == plan.get('plan_id'):
            plan = {**plan, **running}
        facts = plan_data(plan)
        for step in facts['steps']:
            result = told.results.get(step['id'], {})
            step['why'] = clipped(str(result.get('message', '')))
            if step['status'] == 'pending' and result:
                step['status'] = clipped(str(result.get('status')))
        return facts

    def _of(self, task_id: str) -> _Told:
        return self._told.get(task_id, _Told())


def task_detail(
    history: TaskHistory, events: TaskEvents, state: BrainState, captures: Iterable[Capture]
) -> PanelData:
    """Times are in seconds since the epoch."""
    task = history.task
    own = events.captures(task.id)
    return {
        **task_row(task),
        'created': task.created_at.timestamp(),
        'history': [
            {
                'at': row.at.timestamp(),
                'state': row.after.value,
                'reason': clipped(row.reason),
            }
            for row in history.rows
        ],
        'plan': events.plan(task, state.react.plan),
        'progress': progress_facts(
            run for run in state.skills.running if task.id in (run.task_id, run.goal_id)
        ),
        'captures': capture_data(each for each in captures if each.event_id in own),
        'usage': usage_text(task.metadata.get('usage'), events.calls(task.id)),
    }


def usage_text(stored: object, calls: Sequence[ModelCalled]) -> str:
    """Tokens and cost of a task's calls of a language model; '': it made none. ``stored``: their
    sum in the task's metadata, once its turn has ended; until then, that of ``calls``.
    """
    if isinstance(stored, dict):
        count, made = stored.get('calls'), (stored.get('input'), stored.get('output'))
        cost, currency = stored.get('cost'), stored.get('currency')
    else:
        count, made = len(calls), (sum(c.input for c in calls), sum(c.output for c in calls))
        known = [each.cost for each in calls if each.cost is not None]
        cost = sum(known) if known else None
        currency = calls[0].currency if calls else ''
    if not isinstance(count, int) or not count:
        return ''
    price = 'cost unknown' if not isinstance(cost, float | int) else f'{cost:.6f} {currency}'
    return clipped(f'{count_text(count, "call")}: {made[0]} tokens in, {made[1]} out, {price}')
