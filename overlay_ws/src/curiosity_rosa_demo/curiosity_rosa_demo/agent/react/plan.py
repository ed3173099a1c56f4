# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Steps through a plan, one operation at a time: it names the next step and never acts.

The plan itself holds how far it is, so that it can be stored at any point. The state of a step is
its status. While its fallback is next or runs, the step's metadata has the text of the failure
before it under PROGRESS_KEY. Times are Unix times in seconds.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
import json

from curiosity_rosa_demo.domain.brain_state import Json
from curiosity_rosa_demo.domain.conditions import BadCondition, check, holds
from curiosity_rosa_demo.domain.operation import call_text, full_call_text
from curiosity_rosa_demo.domain.plan import (
    ExecutionResult,
    MAX_STEPS,
    Plan,
    PlanStatus,
    PlanStep,
    RiskLevel,
    StepStatus,
    ToolCallType,
    UNFINISHED,
)
from curiosity_rosa_demo.domain.plan_reader import LEFT_OUT, PROGRESS_KEY
from curiosity_rosa_demo.domain.text import clip, count_text, visible, without_controls
from curiosity_rosa_demo.trace.events import PlanMade, PlanStepEnded
from curiosity_rosa_demo.trace.reporter import TraceFunction

# --- The operation and the question of a plan's step. Pure -------------------------------------


MAX_LINE_CHARS = 500  # characters of a model's text on the console
FALLBACK_PARAMETERS = 'fallback_parameters'  # in a step's metadata
SPEECH_KEYS = ('text', 'message', 'content')
QUERY_KEYS = ('query', 'question', 'text')
PROMPT_KEYS = ('prompt', 'message', 'question')


class NoOperation(ValueError):
    """The step lacks an argument that its skill needs; the message names it."""


def step_operation(step: PlanStep, *, fallback: bool = False) -> tuple[str, Json]:
    """The skill and its arguments; skill '' for a step without operation. Raises NoOperation."""
    if fallback and step.fallback:
        parameters = step.metadata.get(FALLBACK_PARAMETERS, {})
        if not isinstance(parameters, dict):
            raise NoOperation(f'metadata.{FALLBACK_PARAMETERS} must be an object')
        return step.fallback, parameters
    match step.tool_call_type:
        case ToolCallType.EXECUTE:
            return step.action, step.parameters
        case ToolCallType.SPEAK:
            return 'speak', {'text': _needed(step, SPEECH_KEYS)}
        case ToolCallType.QUERY_WORLD:
            return 'query_world', {'query': _text(step, QUERY_KEYS)}
        case ToolCallType.QUERY_KNOWLEDGE:
            return 'query_knowledge', {'query': _needed(step, QUERY_KEYS)}
    return '', {}


def step_question(step: PlanStep, *, fallback: bool = False) -> str:
    """The question to the operator about this step, whole; '' for none. Raises NoOperation."""
    if fallback and step.fallback:
        call = full_call_text(*step_operation(step, fallback=True))
        ask = f'Step {step.step_id} failed. Try {call} instead?'
        return ask if step.requires_confirmation else ''
    if step.tool_call_type is ToolCallType.ASK_USER:
        own = step.confirmation_message or _text(step, PROMPT_KEYS)
        return visible(own or step.description or _step_call(step))
    if not step.requires_confirmation:
        return ''
    what = step.description or _step_call(step)
    return visible(step.confirmation_message or f'Step {step.step_id}: {what}?')


def plan_question(plan: Plan) -> str:
    """The question about the whole plan, always with its steps: the message may hide them. Each
    step has its arguments and its fallback: all that is approved.
    """
    message = visible(plan.confirmation_message or 'Carry out this plan?')
    steps = '; '.join(f'{step.step_id}. {_step_call(step)}' for step in plan.steps)
    risk = plan.risk_level.value
    count = count_text(len(plan.steps), 'step')
    return f'{message} {visible(plan.goal)} (risk {risk}, {count}: {steps})'


def _step_call(step: PlanStep) -> str:
    """The call of the step, whole, with its preconditions and its fallback."""
    kind = step.tool_call_type
    call = full_call_text(
        step.action if kind is ToolCallType.EXECUTE else kind.value, step.parameters
    )
    needs = visible(json.dumps(step.preconditions, ensure_ascii=False))
    only_if = f' only if {needs}' if step.preconditions else ''
    if not step.fallback:
        return f'{call}{only_if}'
    fallback = full_call_text(step.fallback, step.metadata.get(FALLBACK_PARAMETERS, {}))
    return f'{call}{only_if}, else {fallback}'


def clipped_line(text: str) -> str:
    """``text`` for a console: clipped, without control characters that move the cursor."""
    return clip(without_controls(text), MAX_LINE_CHARS)


def _text(step: PlanStep, names: tuple[str, ...]) -> str:
    values = (step.parameters.get(name) for name in names)
    return next((each for each in values if isinstance(each, str) and each.strip()), '')


def _needed(step: PlanStep, names: tuple[str, ...]) -> str:
    text = _text(step, names)
    if not text:
        raise NoOperation(f'{step.action} needs a text in parameters: {" or ".join(names)}')
    return text


ENDED_STATUSES = (PlanStatus.COMPLETED, PlanStatus.FAILED, PlanStatus.CANCELLED)


@dataclass(frozen=True)
class NextStep:
    """The next step, now RUNNING, or WAIT_CONFIRMATION when it has a ``question``.

    ``step`` None: the plan is over. ``op_skill`` '': the step has only the question. ``results``:
    of the steps that ended or failed before this one was found.
    """

    step: PlanStep | None = None
    op_skill: str = ''
    arguments: Json = field(default_factory=dict)
    question: str = ''
    results: list[ExecutionResult] = field(default_factory=list)


def next_step(plan: Plan, facts: Json, now: float) -> NextStep:
    """The next operation or question. ``facts``: the observation, for preconditions.

    A step that is RUNNING already has lost its result, and fails.
    """
    results: list[ExecutionResult] = []
    while not _is_over(plan):
        step = next(step for step in plan.steps if step.status in UNFINISHED)
        fallback = PROGRESS_KEY in step.metadata
        if step.status is StepStatus.RUNNING:
            results += _failed(plan, step, 'its result is not known', now)
            continue
        problem = _unmet_reason(step, facts)
        try:
            skill, arguments = step_operation(step, fallback=fallback)
            ask = step_question(step, fallback=fallback)
        except NoOperation as error:
            problem = problem or str(error)
        if problem:
            results += _failed(plan, step, problem, now)
            continue
        if not skill and not ask:
            results.append(_succeeded(plan, step, '', {}, now))
            continue
        risky = plan.requires_confirmation or plan.risk_level is RiskLevel.HIGH
        waits = plan.status is PlanStatus.WAIT_CONFIRMATION
        if waits or (risky and plan.status is PlanStatus.CREATED):  # for a yes to the whole plan
            plan.status = PlanStatus.WAIT_CONFIRMATION
            ask = ' '.join(filter(None, (plan_question(plan), ask)))
        else:
            plan.status = PlanStatus.EXECUTING
        step.status = StepStatus.WAIT_CONFIRMATION if ask else StepStatus.RUNNING
        return NextStep(step, skill, arguments, ask, results)
    return NextStep(results=results + _end_plan(plan, now))


def open_step(plan: Plan) -> PlanStep | None:
    """The step that runs or waits for an answer."""
    step = next((step for step in plan.steps if step.status in UNFINISHED), None)
    return None if step is None or step.status is StepStatus.PENDING else step


# What is recorded of the open step, of which there must be one, returns its result, which is
# PENDING when the step or its fallback runs next, and then those of the steps that will not run.


def approve_step(plan: Plan) -> None:
    """Record the operator's approval, if there is an open step; its operation may run."""
    step = open_step(plan)
    if step is not None:
        if plan.status is PlanStatus.WAIT_CONFIRMATION:
            plan.status = PlanStatus.APPROVED
        step.status = StepStatus.RUNNING


def unmet_reason(plan: Plan, facts: Json) -> str:
    """The precondition of the open step that does not hold now; '' for none."""
    return _unmet_reason(_open(plan), facts)


def edit_step(plan: Plan, arguments: Json) -> None:
    """Record the operator's own arguments of the open step: they hold for its retry, too."""
    step = _open(plan)
    if PROGRESS_KEY in step.metadata:
        step.metadata[FALLBACK_PARAMETERS] = arguments
    else:
        step.parameters = arguments


def reject_step(plan: Plan, why: str, now: float) -> list[ExecutionResult]:
    """Record the operator's rejection, which ends the plan."""
    if plan.status is PlanStatus.WAIT_CONFIRMATION:
        plan.status = PlanStatus.CANCELLED
    return _failed(plan, _open(plan), f'rejected: {why}', now, retry=False)


def record_step(
    plan: Plan, ok: bool, message: str, output: Json, now: float
) -> list[ExecutionResult]:
    """Record the result of the operation, or the yes to a plain question."""
    step = _open(plan)
    if not ok:
        return _failed(plan, step, message or 'it failed', now, output)
    plan.status = PlanStatus.EXECUTING
    if PROGRESS_KEY in step.metadata:
        output = {**output, 'fallback': step.fallback}
    result = _succeeded(plan, step, message, output, now)
    return [result, *(_end_plan(plan, now) if _is_over(plan) else [])]


def retry_step(plan: Plan, why: str, now: float) -> list[ExecutionResult]:
    """Make an interrupted, repeatable operation PENDING again."""
    step = _open(plan)
    plan.status, step.status = PlanStatus.EXECUTING, StepStatus.PENDING
    why = f'{why}; it is done again'
    return [ExecutionResult(plan.plan_id, step.step_id, False, step.status, why, timestamp=now)]


def _open(plan: Plan) -> PlanStep:
    step = open_step(plan)
    assert step is not None
    return step


def cancel_plan(plan: Plan) -> None:
    """End a plan whose turn is over: its open steps are not carried out. An ended one stays."""
    if plan.status not in ENDED_STATUSES:
        plan.status = PlanStatus.CANCELLED
        for step in plan.steps:
            if step.status in UNFINISHED:
                step.status = StepStatus.SKIPPED


def keep_done(old: Plan, new: Plan) -> None:
    """Mark the steps of ``new`` that ``old`` has completed. Two steps are the same when their ID
    and their operation are.
    """
    done = {step.step_id: step for step in old.steps if step.status is StepStatus.SUCCESS}
    for step in new.steps:
        if step.step_id in done and _operation_key(step) == _operation_key(done[step.step_id]):
            step.status = StepStatus.SUCCESS


def check_plan(plan: Plan, skills: Collection[str]) -> list[str]:
    """The problems that do not depend on the world. ``skills``: names of the known skills."""
    problems = []
    if not plan.steps:
        problems.append('the plan has no steps')
    if len(plan.steps) > MAX_STEPS:
        problems.append(f'{len(plan.steps)} steps are more than {MAX_STEPS}')
    for step in plan.steps:
        found: list[str] = []
        try:
            check(step.preconditions)
        except BadCondition as error:
            found.append(str(error))
        for fallback in (False, True) if step.fallback else (False,):
            try:
                skill, _ = step_operation(step, fallback=fallback)
            except NoOperation as error:
                found.append(str(error))
                continue
            if skill and skill not in skills:
                noun = 'fallback' if fallback else 'action'
                there_are = ', '.join(sorted(skills))
                found.append(f'there is no {noun} {clipped_line(skill)!r}, but {there_are}')
        problems += [f'step {step.step_id}: {problem}' for problem in found]
    return problems


def plan_text(plan: Plan) -> str:
    """The plan for the console, with one line for each step."""
    head = f'{clipped_line(plan.goal)} ({plan.status.value}, risk {plan.risk_level.value})'
    lines = [_step_text(step) for step in plan.steps]
    left_out = left_out_text(plan)
    return '\n'.join([head, *lines, *([f'  ({left_out})'] if left_out else [])])


def left_out_text(plan: Plan) -> str:
    """A note on the unknown fields that were removed from this plan; '' for none."""
    paths = plan.metadata.get(LEFT_OUT)
    if not isinstance(paths, list) or not paths:
        return ''
    return clipped_line(f'left out, as no plan has it: {", ".join(map(str, paths))}')


def _step_text(step: PlanStep) -> str:
    kind = step.tool_call_type
    call = call_text(step.action if kind is ToolCallType.EXECUTE else kind.value, step.parameters)
    description = f', {step.description}' if step.description else ''
    fallback = f', else {step.fallback}' if step.fallback else ''
    return clipped_line(f'  {step.step_id}. {step.status.value}: {call}{description}{fallback}')


def _operation_key(step: PlanStep) -> tuple[ToolCallType, str, str]:
    # As text: 1 == True, but they are different arguments.
    return step.tool_call_type, step.action, json.dumps(step.parameters, sort_keys=True)


def _is_over(plan: Plan) -> bool:
    return plan.status in ENDED_STATUSES or plan.is_finished() or bool(plan.get_failed_steps())


def _unmet_reason(step: PlanStep, facts: Json) -> str:
    if PROGRESS_KEY in step.metadata:  # they are not those of the fallback
        return ''
    try:
        verdict = holds(step.preconditions, facts)
        return '' if verdict.ok else f'precondition: {verdict.why}'
    except BadCondition as error:
        return f'precondition: {error}'


def _succeeded(
    plan: Plan, step: PlanStep, message: str, output: Json, now: float
) -> ExecutionResult:
    step.metadata.pop(PROGRESS_KEY, None)
    step.status = StepStatus.SUCCESS
    result = ExecutionResult.success_result(plan.plan_id, step.step_id, message or 'done', output)
    result.timestamp = now
    return result


def _failed(
    plan: Plan,
    step: PlanStep,
    why: str,
    now: float,
    output: Json | None = None,
    *,
    retry: bool = True,
) -> list[ExecutionResult]:
    """Record a failed attempt. Without a fallback it ends the plan; the skipped steps follow."""
    before = step.metadata.pop(PROGRESS_KEY, None)
    if retry and step.fallback and before is None:
        step.metadata[PROGRESS_KEY] = why
        step.status = StepStatus.PENDING
        why = f'{why}; its fallback {step.fallback} is next'
    else:
        step.status = StepStatus.FAILED
        why = why if before is None else f'{before}; its fallback {step.fallback}: {why}'
    failure = ExecutionResult(
        plan.plan_id, step.step_id, False, step.status, why, output or {}, timestamp=now
    )
    return [failure, *(_end_plan(plan, now) if _is_over(plan) else [])]


def _end_plan(plan: Plan, now: float) -> list[ExecutionResult]:
    """Skip the unfinished steps and set the plan's final status."""
    left = [step for step in plan.steps if step.status in UNFINISHED]
    for step in left:
        step.metadata.pop(PROGRESS_KEY, None)
        step.status = StepStatus.SKIPPED
    if plan.status not in ENDED_STATUSES:
        failed = not plan.steps or plan.get_failed_steps()
        plan.status = PlanStatus.FAILED if failed else PlanStatus.COMPLETED
    skipped = [ExecutionResult.skipped_result(plan.plan_id, step.step_id) for step in left]
    for result in skipped:
        result.timestamp = now
    return skipped


# --- A plan and its steps as trace events ------------------------------------------------------


def trace_plan(trace: TraceFunction, plan: Plan) -> None:
    """Trace the plan as one HYPOTHESIZE event."""
    left_out, steps = left_out_text(plan), count_text(len(plan.steps), 'step')
    text = f'Plan: {clip(plan.goal)} ({steps}){left_out and "; "}{left_out}'
    trace(**PlanMade(plan).trace_fields(text))


def trace_steps(
    trace: TraceFunction, results: Iterable[ExecutionResult], *, called: bool = False
) -> None:
    """Trace each result as one RESULT or ERROR event. ``called``: the step made a call, whose
    result was traced.
    """
    for result in results:
        told = called and result.status is StepStatus.SUCCESS
        trace(**PlanStepEnded(result, told=told).trace_fields())
