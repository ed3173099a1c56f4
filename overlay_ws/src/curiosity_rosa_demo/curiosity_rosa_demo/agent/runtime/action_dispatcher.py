# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Carries out the actions of the kernel: stops of the rover first, then the others in order."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
import threading

from curiosity_rosa_demo.agent.kernel.actions import (
    Action,
    Answer,
    Approve,
    CancelAllTasks,
    HoldAfterSafe,
    HoldTasks,
    Notice,
    PauseTask,
    ReleaseTasks,
    ReportHeldTasks,
    ResumeTask,
    StopRover,
    SubmitCharge,
    SubmitGoal,
)
from curiosity_rosa_demo.agent.kernel.kernel_route import CHARGE_SKILL
from curiosity_rosa_demo.agent.kernel.safe_orders import SKILLS_IN_SAFE
from curiosity_rosa_demo.agent.language.questions import Topic
from curiosity_rosa_demo.agent.react.ask import QuestionNotFound
from curiosity_rosa_demo.agent.runtime.approvals import Approvals
from curiosity_rosa_demo.agent.runtime.execution.blocking import BlockingCalls
from curiosity_rosa_demo.agent.runtime.execution.session import AgentSession
from curiosity_rosa_demo.agent.runtime.execution.task_origin import with_origin
from curiosity_rosa_demo.agent.tasks import SkillRunner, Task
from curiosity_rosa_demo.agent.tasks.task import OrderRefused, TaskError
from curiosity_rosa_demo.domain.models import TraceKind
from curiosity_rosa_demo.domain.skills import Outcome
from curiosity_rosa_demo.domain.text import count_text, printable
from curiosity_rosa_demo.infra.event_thread import run_in_thread

CHARGE_PRIORITY = 900
CHARGE_RETRIES = 100
MAX_SHOWN_IDS = 5  # of held tasks
ACTIONS_WHILE_HALTED = (StopRover, HoldTasks, CancelAllTasks, PauseTask, HoldAfterSafe)


@dataclass
class MessageReply:
    """The result of a message: a task, or lines of text."""

    lines: list[str] = field(default_factory=list)
    ok: bool = True
    refused: bool = False  # an order that SAFE refuses
    task: Task | None = None
    dropped: bool = False  # a later stop removed it


ReplyCallback = Callable[[MessageReply], None]


def always() -> bool:
    return True


@dataclass(frozen=True)
class _Submit:
    task: Task
    is_wanted: Callable[[], bool]


@dataclass(frozen=True)
class _Refusal:
    """Takes the place of an order that was given in SAFE."""

    why: str


_Step = Action | _Submit | _Refusal


@dataclass(frozen=True)
class _Batch:
    actions: Sequence[_Step]
    on_reply: ReplyCallback | None
    halted: bool = False  # all skills were halted for it
    paused: bool = False  # the skills that may be cancelled were halted for it
    stopped_by: str | None = None  # who has already stopped the rover; None: not stopped


class ActionDispatcher:
    """Use it in the runtime's loop only. ``say`` prints a line; ``answer`` returns the answer to
    a question. Both are called in that loop. ``graph_text`` answers a question about the ROS
    graph; it listens for a few seconds, and so is called in a thread.

    ``refusal`` returns why an order for a skill is refused now, '' when it is taken. It is asked
    when an order arrives, so that a later clear does not release it, and again when its turn
    comes.
    """

    def __init__(
        self,
        session: AgentSession,
        runner: SkillRunner,
        blocking: BlockingCalls,
        approvals: Approvals,
        say: Callable[[str], None],
        answer: Callable[[Answer], Outcome],
        refusal: Callable[[str], str] = lambda skill: '',
        graph_text: Callable[[str], str] = lambda question: '',
    ) -> None:
        self._session, self._runner, self._blocking = session, runner, blocking
        self._answer, self._refusal = answer, refusal
        self._approvals, self._say = approvals, say
        self._graph_text = graph_text
        self._graph_replies: set[asyncio.Task[None]] = set()
        self._batches: asyncio.Queue[_Batch] = asyncio.Queue()
        self._dropped_messages = 0  # dropped by a stop and not yet reported
        self.dropped_task_ids: set[str] = set()  # tasks that a stop ended before they began
        # tasks that are only resumed by name
        self.resumed_by_name_only: frozenset[str] = frozenset()

    def enqueue_actions(
        self,
        actions: list[Action],
        on_reply: ReplyCallback | None = None,
        stopped_by: str | None = None,
    ) -> None:
        """Queue the actions of a tick; stops of the rover are sent, and questions are answered, at
        once.

        ``stopped_by``: who has already halted the skills and stopped the rover; None: not stopped.
        """
        halted, paused = stopped_by is not None, False
        for action in actions:
            if isinstance(action, StopRover) and not halted and not paused:
                if action.cancellable_only:
                    paused, wake = True, self._blocking.hold_cancellable(action.why)
                else:
                    halted, wake = True, self._blocking.hold(action.why)
                # A thread: the rover's answer takes a while, and the loop must not block.
                threading.Thread(target=self._session.stop_rover, name='stop', daemon=True).start()
                wake()
        questions = [each for each in actions if isinstance(each, Answer)]
        answers = list(map(self._answer, questions))
        if questions and on_reply is not None:
            about_graph = [each.text for each in questions if Topic.GRAPH in each.topics]
            if about_graph:
                reply = asyncio.get_running_loop().create_task(
                    self._reply_with_graph(answers, about_graph, on_reply)
                )
                self._graph_replies.add(reply)  # the loop holds only a weak reference
                reply.add_done_callback(self._graph_replies.discard)
            else:
                on_reply(_reply_of(answers))
            on_reply = None
        actions = [each for each in actions if not isinstance(each, Answer)]
        if actions or on_reply or halted:
            steps = [self._admitted(action) for action in actions]
            self._batches.put_nowait(_Batch(steps, on_reply, halted, paused, stopped_by))

    async def _reply_with_graph(
        self, answers: list[Outcome], questions: list[str], on_reply: ReplyCallback
    ) -> None:
        texts = await run_in_thread('graph', lambda: list(map(self._graph_text, questions)))
        on_reply(_reply_of([*answers, *(Outcome(True, text) for text in texts)]))

    def enqueue_task(
        self, task: Task, on_reply: ReplyCallback, wanted: Callable[[], bool] = always
    ) -> None:
        """Submit ``task`` after the queued actions, if it is still ``wanted`` then."""
        self._batches.put_nowait(_Batch([self._admitted(_Submit(task, wanted))], on_reply))

    def _admitted(self, step: _Step) -> _Step:
        """``step``, or its refusal if it is an order that is refused now."""
        skill = _ordered_skill(step)
        why = '' if skill is None else self._refusal(skill)
        return _Refusal(why) if why else step

    def drop_message(self, on_reply: ReplyCallback) -> None:
        """Drop a message because of a stop. The stop reports the number of dropped messages."""
        self._dropped_messages += 1
        on_reply(MessageReply(ok=False, dropped=True))

    def stop_rover(self, why: str) -> None:
        """Stop the rover at once, then cancel all tasks."""
        self.enqueue_actions([StopRover(why), CancelAllTasks(why)])

    async def run(self) -> None:
        """Perform the queued batches, until it is cancelled."""
        while True:
            batch = await self._batches.get()
            reply = MessageReply()
            actions = self._with_unseen_pauses(batch.actions)
            try:
                for action in actions:
                    if isinstance(action, ACTIONS_WHILE_HALTED):
                        await self._perform_or_report(action, reply, batch.stopped_by)
            finally:
                if batch.halted:
                    self._blocking.release()
                if batch.paused:
                    self._blocking.release_cancellable()
            # After the release: tasks that are released or submitted here are to run.
            for action in actions:
                if not isinstance(action, ACTIONS_WHILE_HALTED):
                    await self._perform_or_report(action, reply, batch.stopped_by)
            if batch.on_reply is not None:
                batch.on_reply(reply)
            elif any(isinstance(action, ReportHeldTasks) for action in actions):
                self._say_what_is_held()

    def _with_unseen_pauses(self, actions: Sequence[_Step]) -> Sequence[_Step]:
        """``actions``; a pause also covers queued tasks beyond the kernel's MAX_KERNEL_TASKS."""
        pauses = {action.id: action for action in actions if isinstance(action, PauseTask)}
        if not pauses:
            return actions
        why = next(iter(pauses.values())).why
        others = [
            PauseTask(task.id, why)
            for task in self._runner.live()
            if task.id not in pauses and task.state.waits_its_turn and not task.held
        ]
        return [*others, *actions]

    async def _perform_or_report(
        self, action: _Step, reply: MessageReply, stopped_by: str | None
    ) -> None:
        """Perform ``action``. A failure is added to ``reply``; the following actions still run."""
        try:
            await self._perform(self._admitted(action), reply, stopped_by)
        except (TaskError, QuestionNotFound) as error:
            reply.ok = False
            reply.refused |= isinstance(error, OrderRefused)
            reply.lines.append(printable(str(error)))

    async def _perform(self, action: _Step, reply: MessageReply, stopped_by: str | None) -> None:
        runner = self._runner
        if isinstance(action, _Refusal):
            raise OrderRefused(action.why)
        if isinstance(action, HoldTasks):
            allowed = action.allow_skills
            await runner.hold(action.why, lambda task: task.name in allowed)
        elif isinstance(action, ReleaseTasks):
            await runner.release()
        elif isinstance(action, CancelAllTasks):
            await self._cancel_all_tasks(
                action.why if stopped_by is None else f'Stopped by {stopped_by}'
            )
        elif isinstance(action, PauseTask):
            paused = await runner.pause(action.id, action.why)
            reply.lines.append(
                f'paused {action.id[:8]}'
                if paused
                else f'{action.id[:8]} cannot be paused; it ends by itself, or :stop ends it'
            )
        elif isinstance(action, HoldAfterSafe):
            await self._hold_waiting(action.why)
        elif isinstance(action, ReportHeldTasks):
            reply.lines += self._held_tasks_lines()
        elif isinstance(action, ResumeTask):
            await self._resume_tasks(action.id, reply)
        elif isinstance(action, SubmitCharge):
            if not any(task.name == CHARGE_SKILL for task in runner.live()):
                await runner.submit(
                    Task(CHARGE_SKILL, CHARGE_PRIORITY, max_retries=CHARGE_RETRIES)
                )
        elif isinstance(action, SubmitGoal):
            goal = Task('react', action.priority, metadata={'text': action.text})
            if action.origin is not None:
                with_origin(goal, action.origin, action.asked_by)
            submit = runner.interrupt if action.preempt else runner.submit
            reply.task = await submit(goal)
        elif isinstance(action, _Submit):
            if not action.is_wanted():
                raise TaskError(f'{action.task.name} was withdrawn before it was submitted')
            reply.task = await runner.submit(action.task)
        elif isinstance(action, Approve):
            reply.lines.append(await self._approvals.apply_answer(action.action, action.payload))
        elif isinstance(action, Notice):
            reply.ok = reply.ok and action.ok
            reply.lines.append(printable(action.text))
            try:  # in a thread: the trace may write to a file
                await run_in_thread(
                    'trace', partial(self._session.trace, TraceKind.OBSERVE, action.text)
                )
            except OSError as error:
                reply.lines.append(f'(not recorded: {error})')

    async def _cancel_all_tasks(self, why: str) -> None:
        waiting = [task.id for task in self._runner.live() if not task.state.running]
        self.dropped_task_ids.update(waiting)
        await self._runner.cancel_all(why)
        dropped, self._dropped_messages = len(waiting) + self._dropped_messages, 0
        if dropped:
            self._say(f'({dropped} queued dropped)')

    async def hold_after_fault(self, why: str) -> None:
        """Hold the tasks that wait: a fault has stopped the rover."""
        if await self._hold_waiting(f'the rover was stopped: {why}'):
            self._say_what_is_held()

    async def _hold_waiting(self, why: str) -> list[str]:
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

    def _say_what_is_held(self) -> None:
        for line in self._held_tasks_lines():
            self._say(f'! {line}')

    async def _resume_tasks(self, task_id: str | None, reply: MessageReply) -> None:
        held = [task.id for task in self._held_tasks()]
        for each in held if task_id is None else [task_id]:
            await self._runner.resume(each)
            reply.lines.append(f'resumed {each[:8]}')
        if not reply.lines:
            reply.lines.append('nothing is paused')


def _ordered_skill(step: _Step) -> str | None:
    """The skill that an order asks for, '' for more than one; None: the step is no order."""
    if isinstance(step, _Submit):
        return step.task.name
    if isinstance(step, SubmitGoal):
        return 'react'
    return '' if isinstance(step, ResumeTask) else None


def _reply_of(answers: Sequence[Outcome]) -> MessageReply:
    texts = [each.answer for each in answers if each.answer]
    return MessageReply(texts, ok=all(each.ok for each in answers))
