# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Performs the actions of the kernel and submits tasks, in the order of the messages."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from curiosity_rosa_demo.agent.kernel.actions import (
    Action,
    Answer,
    Approve,
    CancelAllTasks,
    HoldAfterSafe,
    HoldTasks,
    Notice,
    PauseTasks,
    ReleaseTasks,
    RESUME_TO_CHARGE_TEXT,
    ResumeTask,
    StopRover,
    SubmitCharge,
    SubmitGoal,
)
from curiosity_rosa_demo.agent.kernel.decide import CHARGE_SKILL, SKILLS_IN_SAFE
from curiosity_rosa_demo.agent.kernel.hear import Message, Ordered, Reply, Said, Stopped
from curiosity_rosa_demo.agent.language.questions import Topic
from curiosity_rosa_demo.agent.react.ask import QuestionNotFound
from curiosity_rosa_demo.agent.runtime.approvals import Approvals
from curiosity_rosa_demo.agent.runtime.halt import Halt
from curiosity_rosa_demo.agent.tasks import LifecycleState, SkillRunner, Task
from curiosity_rosa_demo.agent.tasks.origin import SAID_KEY, with_origin
from curiosity_rosa_demo.agent.tasks.task import OrderRefused, TaskError
from curiosity_rosa_demo.domain.models import TraceKind
from curiosity_rosa_demo.domain.origin import named_caller
from curiosity_rosa_demo.domain.skills import Outcome
from curiosity_rosa_demo.domain.text import count_text, printable
from curiosity_rosa_demo.infra.event_thread import run_in_thread
from curiosity_rosa_demo.trace.reporter import TraceFunction

CHARGE_PRIORITY = 900
CHARGE_RETRIES = 100
CHARGE_AGAIN_S = 5.0  # between two submissions
MAX_SHOWN_IDS = 5  # of held tasks
ACTIONS_WHILE_HALTED = (StopRover, HoldTasks, CancelAllTasks, PauseTasks, HoldAfterSafe)


_Step = Action | Ordered | OrderRefused  # the last: in place of an order that was given in SAFE


@dataclass(frozen=True)
class _Batch:
    """``halt``: the number of the halt that these actions settle; None: none."""

    steps: Sequence[_Step]
    message: Message | None
    halt: int | None


class ActionDispatcher:
    """Use it in the runtime's loop only. ``say`` prints a line; ``answer`` returns the answer to
    a question. Both are called in that loop. ``graph_text`` answers a question about the ROS
    graph; it listens for a few seconds, and so is called in a thread.

    ``refusal`` returns why an order for a skill is refused now, '' when it is taken. It is asked
    when an order arrives, so that a later clear does not release it, and again when its turn
    comes. ``tell_stop`` is told of a stop that only the kernel has recognised.
    """

    def __init__(
        self,
        runner: SkillRunner,
        halt: Halt,
        approvals: Approvals,
        say: Callable[[str], None],
        trace: TraceFunction,
        answer: Callable[[Answer], Outcome],
        refusal: Callable[[str], str],
        graph_text: Callable[[Answer], str],
        tell_stop: Callable[[str], None],
    ) -> None:
        self._runner, self._halt, self._approvals = runner, halt, approvals
        self._say, self._trace, self._answer = say, trace, answer
        self._refusal, self._graph_text, self._tell_stop = refusal, graph_text, tell_stop
        self._jobs: set[asyncio.Task[None]] = set()
        self._batches: asyncio.Queue[_Batch] = asyncio.Queue()
        self._wants_charge = False  # the mode is CHARGE, and no person has ended the charge
        self._charge: Task | None = None  # the last one that was live meanwhile
        self._charge_due_s = 0.0  # in the loop's time
        self._dropped_messages = 0  # dropped by a stop and not yet reported
        self.dropped_task_ids: set[str] = set()  # tasks that a stop ended before they began
        # tasks that are only resumed by name
        self.resumed_by_name_only: frozenset[str] = frozenset()

    def enqueue(self, actions: Sequence[Action], message: Message | None = None) -> None:
        """Queue the actions of a tick, and the task that its message orders. The rover is stopped,
        and questions are answered, at once.
        """
        halt = message.number if isinstance(message, Stopped) else None
        # A "no" without a question: its door has not counted it.
        is_new_stop = halt is None and any(isinstance(each, CancelAllTasks) for each in actions)
        for action in actions:
            if isinstance(action, StopRover) and halt is None:
                halt = self._halt.halt(
                    action.why, cancellable_only=action.cancellable_only, count=is_new_stop
                )
        if is_new_stop:
            self._tell_stop('the user')
        questions = [each for each in actions if isinstance(each, Answer)]
        if questions and message is not None:
            self._reply_to(questions, message)
        steps: list[_Step] = [each for each in actions if not isinstance(each, Answer)]
        if isinstance(message, Ordered):
            steps.append(message)
        if steps or halt is not None or (message is not None and not questions):
            self._batches.put_nowait(_Batch(list(map(self._admitted, steps)), message, halt))
        self._keep_charging(actions)

    def _keep_charging(self, actions: Sequence[Action]) -> None:
        """In CHARGE submit the charge again if it was lost, unless a person has ended it."""
        now_s = asyncio.get_running_loop().time()
        for action in actions:
            if isinstance(action, HoldTasks | ReleaseTasks | CancelAllTasks | SubmitCharge):
                allowed = action.allow_skills if isinstance(action, HoldTasks) else ()
                self._wants_charge = isinstance(action, SubmitCharge) or CHARGE_SKILL in allowed
                self._charge, self._charge_due_s = None, now_s + CHARGE_AGAIN_S
        if not self._wants_charge:
            return
        live = next((task for task in self._runner.live() if task.name == CHARGE_SKILL), None)
        self._charge = live or self._charge
        if live is None and self._charge and self._charge.state is LifecycleState.CANCELLED:
            self._wants_charge = False
            self._say(f'! {RESUME_TO_CHARGE_TEXT}')
        elif live is None and now_s >= self._charge_due_s:
            self._charge_due_s = now_s + CHARGE_AGAIN_S
            self._batches.put_nowait(_Batch([SubmitCharge()], None, None))

    def _reply_to(self, questions: Sequence[Answer], message: Message) -> None:
        answers = list(map(self._answer, questions))
        about_graph = [each for each in questions if Topic.GRAPH in each.topics]
        if not about_graph:
            message.settle(_reply_of(answers))
            return

        async def read_graph() -> None:
            texts = await run_in_thread('graph', lambda: list(map(self._graph_text, about_graph)))
            message.settle(_reply_of([*answers, *(Outcome(True, text) for text in texts)]))

        self._in_background(read_graph())

    def _in_background(self, work: Coroutine[Any, Any, None]) -> None:
        job = asyncio.get_running_loop().create_task(work)
        self._jobs.add(job)  # the loop holds only a weak reference
        job.add_done_callback(self._jobs.discard)

    def _admitted(self, step: _Step) -> _Step:
        """``step``, or its refusal if it is an order that is refused now."""
        skill = _ordered_skill(step)
        why = '' if skill is None else self._refusal(skill)
        return OrderRefused(why) if why else step

    def drop_message(self, message: Message) -> None:
        """Drop a message because of a stop. The stop reports the number of dropped messages."""
        self._dropped_messages += 1
        message.settle(Reply(ok=False, dropped=True))

    async def run(self) -> None:
        """Perform the queued batches, until it is cancelled."""
        while True:
            batch = await self._batches.get()
            reply = Reply()
            try:
                for step in batch.steps:
                    if isinstance(step, ACTIONS_WHILE_HALTED):
                        await self._perform_or_report(step, reply, batch.message)
            finally:
                if batch.halt is not None:
                    self._halt.settle(batch.halt)
            # After that: tasks that are released or submitted here are to run.
            for step in batch.steps:
                if not isinstance(step, ACTIONS_WHILE_HALTED):
                    await self._perform_or_report(step, reply, batch.message)
            if any(isinstance(step, HoldAfterSafe) for step in batch.steps):
                lines = self._held_tasks_lines()
                reply.lines += lines
                if batch.message is None:
                    self._say_each(lines)
            if batch.message is not None:
                batch.message.settle(reply)
                if batch.message.reply.cancelled() and reply.task is not None:
                    self.withdraw(reply.task)

    def withdraw(self, task: Task) -> None:
        """Cancel a task of which its caller does not know. Call it in the loop."""

        async def cancel() -> None:
            with suppress(TaskError):
                await self._runner.cancel(task.id, 'its caller was told that nobody answered')

        self._in_background(cancel())

    async def _perform_or_report(self, step: _Step, reply: Reply, message: Message | None) -> None:
        """Perform ``step``. A failure is added to ``reply``, or traced if nobody waits for it; the
        following steps still run.
        """
        try:
            await self._perform(self._admitted(step), reply, message)
        except (TaskError, QuestionNotFound) as error:
            _tell(error, reply)
            if message is None:
                head = 'The charge cannot begin: ' if isinstance(step, SubmitCharge) else ''
                why = printable(f'{head}{error}')
                self._trace(TraceKind.ERROR, why, ok=False, error_reason=why)

    async def _perform(self, step: _Step, reply: Reply, message: Message | None) -> None:
        runner = self._runner
        if isinstance(step, OrderRefused):
            raise step
        if isinstance(step, HoldTasks):
            allowed = step.allow_skills
            await runner.hold(step.why, lambda task: task.name in allowed)
        elif isinstance(step, ReleaseTasks):
            await runner.release()
        elif isinstance(step, CancelAllTasks):
            by = message.by if isinstance(message, Stopped) else ''
            await self._cancel_all_tasks(f'Stopped by {by}' if by else step.why)
        elif isinstance(step, PauseTasks):
            await self._pause_tasks(step.why, reply)
        elif isinstance(step, HoldAfterSafe):
            await self.hold_waiting(step.why)
        elif isinstance(step, ResumeTask):
            await self._resume_tasks(step.id, reply)
        elif isinstance(step, SubmitCharge):
            if not any(task.name == CHARGE_SKILL for task in runner.live()):
                await runner.submit(
                    Task(CHARGE_SKILL, CHARGE_PRIORITY, max_retries=CHARGE_RETRIES)
                )
        elif isinstance(step, SubmitGoal):
            meant = {'text': step.said.text, SAID_KEY: step.said.to_json()}
            goal = Task('react', step.priority, metadata=meant)
            if isinstance(message, Said) and message.origin is not None:
                with_origin(goal, message.origin, named_caller(message.by))
            submit = runner.interrupt if step.preempt else runner.submit
            reply.task = await submit(goal)
        elif isinstance(step, Ordered):
            if step.reply.cancelled():
                raise TaskError(f'{step.task.name} was withdrawn before it was submitted')
            submit = runner.interrupt if step.interrupts else runner.submit
            reply.task = await submit(step.task)
        elif isinstance(step, Approve):
            reply.lines.append(await self._approvals.apply_answer(step.action, step.payload))
        elif isinstance(step, Notice):
            reply.ok = reply.ok and step.ok
            reply.lines.append(printable(step.text))
            self._trace(TraceKind.OBSERVE, step.text)

    async def _pause_tasks(self, why: str, reply: Reply) -> None:
        asked = set[str]()
        # Until there are no more: a turn may just have switched to a goal that is not stored yet.
        while free := [
            each for each in self._runner.live() if not (each.held or each.id in asked)
        ]:
            asked.update(each.id for each in free)
            for task in sorted(free, key=lambda each: each.state.running):  # first those that wait
                try:
                    paused = await self._runner.pause(task.id, why)
                except TaskError as error:
                    _tell(error, reply)
                    continue
                reply.lines.append(
                    f'paused {task.id[:8]}'
                    if paused
                    else f'{task.id[:8]} cannot be paused; it ends by itself, or :stop ends it'
                )

    async def _cancel_all_tasks(self, why: str) -> None:
        waiting = [task.id for task in self._runner.live() if not task.state.running]
        self.dropped_task_ids.update(waiting)
        await self._runner.cancel_all(why)
        dropped, self._dropped_messages = len(waiting) + self._dropped_messages, 0
        if dropped:
            self._say(f'({dropped} queued dropped)')

    async def hold_after_fault(self, why: str) -> None:
        """Hold the tasks that wait: a fault has stopped the rover."""
        if await self.hold_waiting(f'the rover was stopped: {why}'):
            self._say_each(self._held_tasks_lines())

    async def hold_waiting(self, why: str) -> list[str]:
        """Hold the tasks that wait or were interrupted; their IDs. The policy's tasks and charging
        have their own rules; what may run in SAFE is left alone.
        """

        def is_to_hold(task: Task) -> bool:
            is_own = task.name == CHARGE_SKILL or task.id in self.resumed_by_name_only
            return not is_own and task.name not in SKILLS_IN_SAFE

        return await self._runner.hold_waiting(why, is_to_hold)

    def _held_tasks_lines(self) -> list[str]:
        held = [task.id[:8] for task in self._held_tasks()]
        if not held:
            return []
        return [
            f'{count_text(len(held), "task")} held ({", ".join(held[:MAX_SHOWN_IDS])}'
            f'{", ..." if len(held) > MAX_SHOWN_IDS else ""}): :resume or :resume ID runs them '
            'again, :cancel ID or :stop drops them'
        ]

    def _held_tasks(self) -> list[Task]:
        """The tasks that ``:resume`` without an ID resumes."""
        by_name = self.resumed_by_name_only
        return [task for task in self._runner.live() if task.held and task.id not in by_name]

    def _say_each(self, lines: Sequence[str]) -> None:
        for line in lines:
            self._say(f'! {line}')

    async def _resume_tasks(self, task_id: str | None, reply: Reply) -> None:
        held = [task.id for task in self._held_tasks()]
        for each in held if task_id is None else [task_id]:
            try:
                await self._runner.resume(each)
                reply.lines.append(f'resumed {each[:8]}')
            except TaskError as error:  # the others are resumed
                _tell(error, reply)
        if not reply.lines:
            reply.lines.append('nothing is paused')


def _tell(error: Exception, reply: Reply) -> None:
    reply.ok, reply.error = False, error
    reply.lines.append(printable(str(error)))


def _ordered_skill(step: _Step) -> str | None:
    """The skill that an order asks for, '' for more than one; None: the step is no order."""
    if isinstance(step, Ordered):
        return step.task.name
    if isinstance(step, SubmitGoal):
        return 'react'
    return '' if isinstance(step, ResumeTask) else None


def _reply_of(answers: Sequence[Outcome]) -> Reply:
    return Reply(
        [each.answer for each in answers if each.answer], all(each.ok for each in answers)
    )
