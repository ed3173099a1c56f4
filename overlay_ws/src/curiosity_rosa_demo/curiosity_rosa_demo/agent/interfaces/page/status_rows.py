# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The data of the page's panels as JSON. Pure. The browser never parses a text as markup.

Lengths are in metres, durations in seconds, times in seconds since the epoch.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
import json
from typing import Any

from curiosity_rosa_demo.agent.kernel.decide import way_out
from curiosity_rosa_demo.agent.react.texts import short_id
from curiosity_rosa_demo.agent.skills.skill import fraction_of, progress_text
from curiosity_rosa_demo.agent.tasks import Task
from curiosity_rosa_demo.agent.tasks.origin import asked_by
from curiosity_rosa_demo.agent.tasks.texts import task_summary
from curiosity_rosa_demo.domain.adapter_status import NodeStatus, TriggerState, TriggerStatus
from curiosity_rosa_demo.domain.brain_state import (
    BatteryLevel,
    BrainState,
    Mode,
    Question,
    RunningSkill,
)
from curiosity_rosa_demo.domain.geometry import Place
from curiosity_rosa_demo.domain.ground import ground_figures
from curiosity_rosa_demo.domain.models import TraceEvent, TraceKind
from curiosity_rosa_demo.domain.pictures import AnalyzedGround, Capture
from curiosity_rosa_demo.domain.rehearsal import Rehearsal
from curiosity_rosa_demo.domain.task_state import LifecycleState
from curiosity_rosa_demo.domain.text import clip, count_text, short_repr, visible
from curiosity_rosa_demo.drawing.columns import clip_columns
from curiosity_rosa_demo.trace.events import (
    ModelCalled,
    QuestionAnswered,
    QuestionAsked,
    SkillProgressed,
    task_of,
    TurnAnswered,
    TurnStarted,
)

PanelData = dict[str, Any]

MAX_TEXT_CHARS = 2000  # characters of one text on the page
MAX_COLUMNS = 120  # columns of a text in a table
MAX_BEHIND_COLUMNS = 40


def pose_text(pose: Place | None) -> str:
    return 'unknown' if pose is None else f'x {pose.x:.1f} m, y {pose.y:.1f} m'


def task_data(tasks: Iterable[Task]) -> PanelData:
    """The newest first. ``behind``: what a task waits for its turn behind."""
    tasks = sorted(tasks, key=lambda task: task.seq, reverse=True)
    return {'rows': [{**task_row(task), 'behind': behind_text(task, tasks)} for task in tasks]}


def task_row(task: Task) -> PanelData:
    """Those that wait run in the order of ``urgent``, ``priority`` and ``seq``."""
    return {
        'id': task.id,
        'short': task.id[:8],
        'what': clip_columns(task_summary(task), MAX_COLUMNS),
        'by': asked_by(task),
        'state': task.state.value,
        'held': task.held and not task.terminal,
        'live': not task.terminal,
        'runs': task.state.running,
        'urgent': task.urgent,
        'priority': task.priority,
        'seq': task.seq,
        'reason': clip_columns(task.reason, MAX_COLUMNS),
        'since': task.updated_at.timestamp(),
    }


def behind_text(task: Task, tasks: Iterable[Task]) -> str:
    """What ``task`` is queued behind; '' when it is not, or nothing runs."""
    if task.held or not task.state.waits_its_turn:
        return ''
    ahead = [each for each in tasks if each.state.running and each.id != task.id]
    return ', '.join(
        f'queued behind {each.id[:8]} {clip_columns(task_summary(each), MAX_BEHIND_COLUMNS)}'
        for each in ahead[:1]
    )


def trigger_data(triggers: Iterable[TriggerStatus]) -> PanelData:
    return {
        'rows': [
            {
                'name': each.name,
                'on': each.state is not TriggerState.OFF,
                'state': each.state.value,
                'value': clipped(short_repr(each.value)),
                'what': clip_columns(f'{each.condition}: {each.action}', MAX_COLUMNS),
                'why': clip_columns(each.why_not, MAX_COLUMNS),
            }
            for each in triggers
        ]
    }


def progress_facts(running: Iterable[RunningSkill]) -> PanelData:
    """The running skills that report progress. ``fraction`` None: unknown."""
    return {
        'rows': [
            {
                'id': run.goal_id,
                'skill': clipped(run.skill_name),
                'fraction': fraction_of(run.progress),
                'text': clipped(progress_text(run.skill_name, run.progress)),
            }
            for run in running
            if run.progress
        ]
    }


def plan_data(plan: Mapping[str, Any] | None, rehearsal: Rehearsal | None = None) -> PanelData:
    """``plan`` and ``rehearsal`` as in ReactState. Invalid parts, which a model may have
    written, are left out.
    """
    steps = plan.get('steps') if plan else None
    return {
        'goal': clipped(str(plan.get('goal', ''))) if plan else '',
        'status': clipped(str(plan.get('status', ''))) if plan else '',
        'rehearsal': rehearsal_lines(rehearsal),
        'differs': bool(rehearsal and rehearsal.real and rehearsal.real.exceeded),
        'steps': [step_data(step) for step in steps if isinstance(step, dict)]
        if isinstance(steps, list)
        else [],
    }


def question_data(question: Question, until: float | None) -> PanelData:
    """``until``: time of automatic rejection, in seconds since the epoch; None: never."""
    op = question.op
    return {
        'id': question.id,
        'short': short_id(question),
        # In full: the operator must see all that is approved or edited.
        'text': visible(question.text),
        'reasons': [visible(reason) for reason in question.reasons],
        'skill': '' if op is None else visible(op.skill),
        'arguments': '\n'.join(map(visible, _json_lines({} if op is None else op.arguments))),
        'editable': op is not None,
        'until': until,
        'rehearsal': rehearsal_lines(question.rehearsal),
    }


def rehearsal_lines(rehearsal: Rehearsal | None) -> list[str]:
    """The figures of a rehearsal, and what came of it."""
    return [] if rehearsal is None else [visible(line) for line in rehearsal.text.splitlines()]


def _json_lines(value: object) -> list[str]:
    return json.dumps(value, ensure_ascii=False, indent=2).split('\n')


def capture_data(captures: Iterable[Capture], *, replay: bool = False) -> PanelData:
    """The newest first. ``replay``: the camera shows a recording."""
    rows = [
        {
            'id': capture.event_id,
            'score': round(capture.score, 3),
            'good': capture.is_good,
            'at': capture.picture.at,
            'place': pose_text(capture.pose.place if capture.pose else None),
        }
        for capture in captures
    ]
    return {'rows': rows[::-1], 'replay': replay}


def ground_data(ground: AnalyzedGround | None) -> PanelData:
    """The newest analysis; without one, ``rows`` is empty. ``picture``: whether it has arrived."""
    if ground is None:
        return {'rows': []}
    return {
        'id': ground.event_id,
        'at': ground.at,
        'picture': ground.picture is not None,
        'rows': [each._asdict() for each in ground_figures(ground.analysis)],
        'note': clipped(ground.analysis.geometry_note),
    }


def restart_data(at: float) -> PanelData:
    """The line between the events of an agent and those of the next one."""
    return {
        'id': f'restart-{at:.3f}',
        'ts': at,
        'took': None,
        'kind': 'RESTART',
        'tool': '',
        'text': 'The agent was restarted; what stands above is of the agent before.',
        'ok': None,
        'score': None,
        'replay': False,
        'earlier': False,
        'role': 'note',
        'task': '',
        'question': '',
    }


def trace_data(event: TraceEvent, before: float | None, *, earlier: bool = False) -> PanelData:
    """A line of the trace. ``before``: the time of the previous event. ``earlier``: of the agent
    that ran before this one.
    """
    return {
        'id': event.event_id,
        'ts': event.ts,
        'took': None if before is None else round(max(0.0, event.ts - before), 3),
        'kind': event.kind.value,
        'tool': clipped(event.tool_name or ''),
        'text': clipped(event.message),
        'ok': event.ok,
        'score': event.score,
        'replay': is_replay(event),
        'earlier': earlier,
        'role': talk_role(event),
        'task': clipped(task_of(event)),
        'question': clipped(_question_of(event)),
    }


def talk_role(event: TraceEvent) -> str:
    """What the event is in a conversation: said, thought, act, progress, result, asks, answered
    (a question), answer (of a turn), failure, or note, which is not shown there.
    """
    started = TurnStarted.of(event)
    if started is not None:
        return 'thought' if started.calls else 'said'
    for kind, role in _TALK_ROLES:
        if kind.of(event) is not None:
            return role
    if event.kind is TraceKind.ACT:
        return 'act'
    if event.kind in (TraceKind.RESULT, TraceKind.ERROR):
        return 'result' if event.tool_name else 'failure'
    return 'thought' if task_of(event) or event.kind is not TraceKind.OBSERVE else 'note'


_TALK_ROLES = (
    (TurnAnswered, 'answer'),
    (QuestionAsked, 'asks'),
    (QuestionAnswered, 'answered'),
    (SkillProgressed, 'progress'),
    (ModelCalled, 'note'),
)


def _question_of(event: TraceEvent) -> str:
    """The ID of the question that the event asks or answers; '': none."""
    found = QuestionAsked.of(event) or QuestionAnswered.of(event)
    return '' if found is None else found.question_id


def is_replay(event: TraceEvent) -> bool:
    """Whether the event was played back from a recording."""
    return bool(event.data and event.data.get('replay'))


def step_data(step: Mapping[str, Any]) -> PanelData:
    parameters = step.get('parameters') or {}
    return {
        'id': str(step.get('step_id', '')),
        'action': clipped(str(step.get('action', ''))),
        'parameters': clipped(json.dumps(parameters, ensure_ascii=False)) if parameters else '',
        'status': clipped(str(step.get('status', 'pending'))),
        'text': clipped(str(step.get('description', ''))),
    }


def clipped(text: str) -> str:
    """``text`` in at most MAX_TEXT_CHARS characters."""
    return clip(text, MAX_TEXT_CHARS, ending='…')


# -----------------------------------------------------------------------------------------------
# What an operator must not miss, as JSON: SAFE, a replay, and what has failed. Pure.


FAILURE_SHOWN = timedelta(minutes=15)  # a task that failed longer ago is in the list of tasks only
MAX_FAILED_TASKS = 2  # the newest


def alarm_data(
    state: BrainState,
    health: Iterable[NodeStatus],
    tasks: Sequence[Task],
    now: datetime,
    *,
    waits_for: str,
    replay: bool,
    replay_text: str = '',
) -> PanelData:
    """``waits_for``: why no task can run yet. ``replay``: a recording is shown; ``replay_text``:
    which, while it is played. ``now``: timezone-aware.
    """
    safe = state.tasks.mode is Mode.SAFE
    return {
        'safe': _safe(state) if safe else None,
        'replay': replay,
        'replay_text': clipped(replay_text),
        'rows': [
            *_conditions(state, waits_for),
            *(_row(f'node:{each.name}', _node_text(each)) for each in health if not each.ok),
            *_failed_tasks(tasks, now),
            *_held_tasks(tasks),
        ],
    }


def _safe(state: BrainState) -> PanelData:
    return {
        'cause': clipped(state.tasks.mode_reason or state.robot.safety_latch or 'cause unknown'),
        'way_out': way_out(state, 'press Clear'),
        'latched': bool(state.robot.safety_latch),
    }


def _conditions(state: BrainState, waits_for: str) -> Iterator[PanelData]:
    robot, safe = state.robot, state.tasks.mode is Mode.SAFE
    if waits_for:
        yield _row('waits', f'Nothing can run yet: {waits_for}')
    if robot.safety_latch and not safe:
        latched = _row('latch', f'Held: {robot.safety_latch}')
        yield {**latched, 'line': ':clear', 'button': 'Clear'}
    if robot.estop and not safe:
        yield _row('estop', 'The e-stop is pressed')
    for source in robot.silent:
        yield _row(f'silent:{source}', f'{source} is silent')
    if robot.battery_state is BatteryLevel.LOW:
        yield _row('battery', f'The battery is low: {robot.battery_pct:.0f} %')


def _node_text(node: NodeStatus) -> str:
    return f'{node.name}: {node.text or "not well"}'


def _failed_tasks(tasks: Sequence[Task], now: datetime) -> Iterator[PanelData]:
    failed = [
        task
        for task in tasks
        if task.state is LifecycleState.FAILED and now - task.updated_at < FAILURE_SHOWN
    ]
    failed.sort(key=lambda task: task.updated_at, reverse=True)
    for task in failed[:MAX_FAILED_TASKS]:
        why = f': {task.reason}' if task.reason else ''
        text = f'Task {task.id[:8]} failed: {task_summary(task)}{why}'
        yield {**_row(f'task:{task.id}', clip_columns(text, MAX_COLUMNS)), 'dismissable': True}


def _held_tasks(tasks: Sequence[Task]) -> Iterator[PanelData]:
    """No failure, but nothing goes on without a person."""
    held = sum(task.held and not task.terminal for task in tasks)
    if held:
        row = _row('held', f'{count_text(held, "task")} held until a person resumes')
        yield {**row, 'told': True, 'line': ':resume', 'button': 'Resume'}


def _row(row_id: str, text: str) -> PanelData:
    return {'id': row_id, 'text': clipped(text)}
