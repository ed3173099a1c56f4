# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Runs skills, turns and stops for all interfaces of the agent."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
import time
from typing import Any

from curiosity_rosa_demo.agent.language.tables import say
from curiosity_rosa_demo.agent.language.understand import Utterance
from curiosity_rosa_demo.agent.llm.usage import UsageLedger
from curiosity_rosa_demo.agent.llm.vision import SeenPictures
from curiosity_rosa_demo.agent.memory import recall
from curiosity_rosa_demo.agent.react.answer import admit, NotAdmitted, rehearsal_of, verdict_on
from curiosity_rosa_demo.agent.react.ask import ApprovalQueue
from curiosity_rosa_demo.agent.react.gate import ASK_AGAIN_TEXT, not_approved
from curiosity_rosa_demo.agent.react.guardrails import Ask
from curiosity_rosa_demo.agent.react.plan import cancel_plan
from curiosity_rosa_demo.agent.react.rehearse import compare_approved
from curiosity_rosa_demo.agent.react.turn import TurnEnvironment, TurnRequest
from curiosity_rosa_demo.agent.react.world import GraphReader, no_graph, RoverWorld
from curiosity_rosa_demo.agent.runtime.halt import Halt
from curiosity_rosa_demo.agent.runtime.rosa_loader import ModelUnavailable, RosaLoader
from curiosity_rosa_demo.agent.skills.executor import SkillMonitor
from curiosity_rosa_demo.agent.skills.registry import SkillRegistry
from curiosity_rosa_demo.agent.skills.skill import fraction_of, progress_text
from curiosity_rosa_demo.agent.tasks import Task
from curiosity_rosa_demo.agent.tasks.origin import (
    asked_by,
    current_order,
    door_of,
    Order,
    task_origin,
    under_order,
)
from curiosity_rosa_demo.domain.brain_state import (
    BrainState,
    Json,
    ReactState,
    RunningSkill,
    Spent,
)
from curiosity_rosa_demo.domain.cancellation import Cancellation, TurnCancelled
from curiosity_rosa_demo.domain.models import ToolResult, TraceEvent, TraceKind
from curiosity_rosa_demo.domain.operation import call_text, Operation
from curiosity_rosa_demo.domain.origin import named_caller, Origin
from curiosity_rosa_demo.domain.plan import Plan
from curiosity_rosa_demo.domain.refusal import RefusalCode
from curiosity_rosa_demo.domain.rehearsal import Rehearsal
from curiosity_rosa_demo.domain.skills import MAST_SKILLS, MOTIONS, Outcome
from curiosity_rosa_demo.domain.text import count_text
from curiosity_rosa_demo.infra.config.topics import Config
from curiosity_rosa_demo.infra.ros_io import ServiceFailed
from curiosity_rosa_demo.infra.spans import current_span, span
from curiosity_rosa_demo.tools.rover_client import RoverClient
from curiosity_rosa_demo.trace.events import (
    ModelCalled,
    SkillProgressed,
    TurnFailed,
    TurnStarted,
    with_task,
)
from curiosity_rosa_demo.trace.reporter import (
    summary_of,
    trace_result,
)
from curiosity_rosa_demo.trace.trace_buffer import EventBus
from curiosity_rosa_demo.trace.trace_codec import new_event


@dataclass(frozen=True)
class CurrentActivity:
    """A description of the running activity, and its start (steady seconds)."""

    description: str
    since: float


def turn_thread(task: Task) -> str:
    """Under which the turn of ``task`` is saved. A retry is a new turn, but that of a plan would
    drive its steps again.
    """
    is_anew = task.attempts and not task.metadata.get('plan')
    return f'{task.id}/{task.attempts}' if is_anew else task.id


class AgentSession:
    """``approval_queue`` gets the questions of a turn. ``checkpoints`` is the file of the turns
    that can resume. ``say`` prints, traces and publishes a text. ``graph`` reads the ROS graph,
    ``usage`` counts the model's calls.
    """

    def __init__(
        self,
        client: RoverClient,
        config: Config,
        ros_clock: Any,
        event_bus: EventBus,
        *,
        registry: SkillRegistry,
        approval_queue: ApprovalQueue,
        checkpoints: Path | str,
        say: Callable[[str], None] = lambda text: None,
        graph: GraphReader = no_graph,
        usage: UsageLedger | None = None,
        pictures: SeenPictures | None = None,
    ) -> None:
        self.usage = usage or UsageLedger(config.agent.llm)
        self._client, self._config, self._event_bus = client, config, event_bus
        self.approval_queue = approval_queue
        self.world = RoverWorld(
            client,
            config,
            ros_clock,
            brain_state=lambda: self.brain_state(),
            spent=lambda: self.react_state.spent if self._in_turn else Spent(),
            say=say,
            on_violation=lambda reason: self.monitor.on_violation(reason),
            graph=graph,
            pictures=pictures,
        )
        self.monitor = SkillMonitor(self._trace_progress, rover_clock=client.simulation)
        self._env = TurnEnvironment(
            registry=registry,
            world=self.world,
            approval_queue=approval_queue,
            checkpoints=checkpoints,
            trace=self.trace,
            recall=self._recall,
            on_react_state=self._set_react_state,
            monitor=self.monitor,
            usage=self.usage,
        )
        self.rosa_loader = RosaLoader(self._env)
        self.halt = Halt(self.stop_rover)  # whatever ends work is stopped there
        self._in_turn = False
        self.current_activity: CurrentActivity | None = None
        self.last_score: float | None = None
        self.react_state = ReactState()  # of the running turn, or of the last one
        self.brain_state: Callable[[], BrainState] = BrainState  # returns the kernel's state

    def _set_react_state(self, react: ReactState) -> None:
        self.react_state = react

    # --- trace ------------------------------------------------------------------------------

    def trace(self, kind: TraceKind, message: str, **fields: Any) -> None:
        fields['data'] = with_task(fields.get('data'), current_order().task_id)
        event = new_event(kind, message, **fields)
        if kind is TraceKind.ACT:
            self.current_activity = CurrentActivity(message, time.monotonic())
        elif self.current_activity is not None:
            self.current_activity = CurrentActivity('thinking', time.monotonic())
        current_span().add_event(kind.value, event.event_id)
        if event.score is not None:
            self.last_score = event.score
        self._event_bus.publish(event)

    def _trace_progress(self, run: RunningSkill) -> None:
        """Emit a progress event from the skill's thread. ``current_activity`` stays."""
        name, fraction = run.skill_name, fraction_of(run.progress)
        progressed = SkillProgressed(name, run.task_id, run.progress, fraction)
        event = new_event(**progressed.trace_fields(progress_text(name, run.progress)))
        current_span().add_event(event.kind.value, event.event_id)
        self._event_bus.publish(event)

    def recent_events(self) -> list[TraceEvent]:
        """The trace events of this agent, without the progress of skills and the calls' costs."""
        own = self._event_bus.trace_events(own_only=True)
        return [each for each in own if each.type not in (SkillProgressed.TYPE, ModelCalled.TYPE)]

    def _recall(self) -> str:
        memory = self._config.prompts.memory
        return recall(self.recent_events(), memory.max_events) if memory.enabled else ''

    # --- turns, skills and stops: blocking -----------------------------------------------------

    def run_turn(self, said: Utterance, task: Task, cancellation: Cancellation) -> Outcome:
        """Run the turn of this task with the model, or resume it where it was interrupted. A
        ``plan`` in its metadata replaces the model's decisions; ``expects``, as in prompts.yaml,
        defines success. Raises TurnCancelled.
        """
        door, name = door_of(task), named_caller(asked_by(task))

        def on_start(calls: int) -> None:
            user = 'User' if door in ('', Origin.CONSOLE.value) else f'User ({door})'
            user = name or user
            prefix = f'Going on after {count_text(calls, "call")}' if calls else user
            self.trace(**TurnStarted(calls, door, name).trace_fields(f'{prefix}: {said.text}'))

        plan = task.metadata.get('plan')
        request = TurnRequest(said, cancellation, turn_thread(task), plan, on_start)
        attributes = {'gen_ai.operation.name': 'invoke_agent'}
        with span('turn', attributes) as turn, self._active(cancellation):
            outcome = self._run_turn(request, task.metadata.get('expects', 'answer'))
            turn.set({'curiosity.ok': outcome.ok})
            if not outcome.ok:
                turn.fail('TURN_FAILED')
            return outcome

    def admit(self, name: str, cancellation: Cancellation, **arguments: Any) -> Order:
        """The order with which ``run_skill`` may run this skill. Blocks while a person is asked.
        Raises NotAdmitted and TurnCancelled.
        """
        cancellation.check()
        try:
            op = Operation(name, arguments)
            return admit(op, self._env, cancellation, self._reset_budget)
        except NotAdmitted as refused:
            why, data = refused.refusal.reason, refused.refusal.to_json()
            failed = {'tool_name': name, 'ok': False, 'error_reason': why, 'data': data}
            self.trace(TraceKind.ERROR, f'{name}: {why}', **failed)
            raise

    def has_skill(self, name: str) -> bool:
        return name in self._env.registry

    def run_skill(self, name: str, cancellation: Cancellation, **arguments: Any) -> Outcome:
        """Run one skill by name, for the order of this context. Raises TurnCancelled."""
        order = replace(current_order(), call=Operation(name, arguments))
        with self._active(cancellation, name), under_order(order):
            self._reset_budget()
            data = {'origin': order.origin.value}
            self.trace(TraceKind.ACT, call_text(name, arguments), tool_name=name, data=data)
            result = self._refused_result(order)
            if result is None:
                result = self._env.skill_executor.result_of(name, arguments, cancellation)
            trace_result(self.trace, name, result)
            language = self._config.prompts.default_language
            compare_approved(order.approval, result, self._env, language)
        score, refusal = result.data.get('score'), result.data.get('refusal')
        return Outcome(
            result.ok,
            summary_of(name, result),
            score if isinstance(score, float) else None,
            code=result.error_code,
            refusal=refusal if isinstance(refusal, dict) else None,
        )

    def rehearse_task(self, task: Task) -> Rehearsal | None:
        """What a task that waits for approval would do, by the adapter's last status. It does not
        block. None: it does not drive.
        """
        heard = self.brain_state().robot.heard.get('adapter')
        facts = self.world.facts_of({} if heard is None else dict(heard.value))
        arguments = task.metadata.get('arguments', task.metadata)
        return rehearsal_of(Operation(task.name, arguments), self._env, task_origin(task), facts)

    def task_usage(self, task_id: str) -> Json:
        """What the calls of a language model for this task have used; empty: none was made."""
        spent = self.usage.recent_task_spending(task_id)
        return spent.to_json(self._config.agent.llm.prices.currency) if spent.calls else {}

    def rover_status(self) -> ToolResult:
        """The rover's status. May be called while a skill or a turn runs."""
        try:
            return ToolResult.success(**self._client.status())
        except ServiceFailed as failure:
            return ToolResult.failure(str(failure))

    def stop_rover(self) -> Outcome:
        """Send a stop to the rover. Returns when odometry has confirmed the standstill, or the
        reason why it has not. Independent of turns and the model. For Halt alone.
        """
        result = ToolResult.success()
        try:
            self._client.trigger('move_stop')
        except ServiceFailed as failure:
            result = ToolResult.failure(str(failure), failure.code)
            if failure.code == RefusalCode.SAFETY_VIOLATION:
                self.monitor.on_violation(result.error_reason)
        trace_result(self.trace, 'move_stop', result)
        return Outcome(True, 'stopped') if result.ok else Outcome(False, result.error_reason)

    def _refused_result(self, order: Order) -> ToolResult | None:
        """The gate's refusal at the dispatch of a skill that is not itself one of the rover's
        tools, which are checked at their call; None: it may run.
        """
        assert order.call is not None
        if order.call.skill in (*MOTIONS, *MAST_SKILLS):
            return None
        verdict = verdict_on(order.call, self._env, order)
        if isinstance(verdict, Ask):
            verdict = not_approved(order.call, verdict.reasons, ASK_AGAIN_TEXT)
        return None if verdict is None else verdict.result()

    # --- inside -----------------------------------------------------------------------------

    def _reset_budget(self) -> None:
        """The budget of a direct order counts from its start; a running turn keeps its own."""
        if not self._in_turn:
            self.world.reset_budget()

    @contextmanager
    def _active(self, cancellation: Cancellation, skill: str = '') -> Iterator[None]:
        """A turn, or this skill, runs in this context. Raises TurnCancelled."""
        cancellation.check()
        self.current_activity = CurrentActivity('thinking', time.monotonic())
        try:
            yield
        except TurnCancelled as cancelled:
            why = str(cancelled)
            if skill:
                failed = {'tool_name': skill, 'ok': False, 'error_reason': why}
                self.trace(TraceKind.ERROR, f'{skill}: {why}', **failed)
            else:
                self.trace(**TurnFailed(False, None, why).trace_fields(why))
            raise
        finally:
            self.current_activity = None

    def _run_turn(self, request: TurnRequest, expects: str) -> Outcome:
        self.world.reset_budget()
        self._in_turn = True
        try:
            result = self.rosa_loader.run_turn(request)
        except ModelUnavailable as error:
            self.trace(TraceKind.ERROR, str(error), ok=False, error_reason=str(error))
            return Outcome(False, str(error))
        finally:
            self._in_turn = False
            self._end_plan()
            self._ensure_stopped()
        ok, answer = result.ok, result.answer
        if ok and expects == 'good_capture' and not result.is_good:
            why = say('reply.no_good_capture', request.said.language)
            ok, answer = False, f'{answer}\n{why}'
        return Outcome(ok, answer, result.score, result.new_goal)

    def _end_plan(self) -> None:
        """Show no plan as executing after its turn. A resumed turn shows its own state again."""
        plan = self.react_state.plan
        if plan is not None:
            ended = Plan.from_dict(plan)
            cancel_plan(ended)
            self.react_state = self.react_state.model_copy(update={'plan': ended.to_dict()})

    def _ensure_stopped(self) -> None:
        """Stop the rover if it moves after a turn, or if its status is unknown."""
        try:
            moving = self._client.status().get('moving', True)
        except ServiceFailed:
            moving = True
        if moving:
            self.halt.send().result()
