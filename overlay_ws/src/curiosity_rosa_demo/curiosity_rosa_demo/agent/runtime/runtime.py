# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Runs kernel, tasks and skills in one asyncio loop, in a separate thread.

Other threads call the runtime. A stop is sent to the rover before the loop is notified, so that
it never waits for the loop.

Over 300 lines in one file: it is the only module that both other threads and the loop enter.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import Future
from datetime import datetime, timezone
from functools import partial
from pathlib import Path
import time
from typing import Any, TypeVar

from curiosity_rosa_demo.agent.kernel.actions import Action, Answer, CancelAllTasks
from curiosity_rosa_demo.agent.kernel.decide import order_refusal
from curiosity_rosa_demo.agent.kernel.hear import (
    Answered,
    AskedGraph,
    Message,
    Reply,
    Said,
    Stopped,
)
from curiosity_rosa_demo.agent.kernel.loop import KernelLoop
from curiosity_rosa_demo.agent.language.questions import graph_query, Topic
from curiosity_rosa_demo.agent.language.tables import say
from curiosity_rosa_demo.agent.language.understand import understand
from curiosity_rosa_demo.agent.runtime.action_dispatcher import ActionDispatcher
from curiosity_rosa_demo.agent.runtime.answers import answer_to, AnswerFacts
from curiosity_rosa_demo.agent.runtime.approvals import Approvals
from curiosity_rosa_demo.agent.runtime.halt import Watchdog
from curiosity_rosa_demo.agent.runtime.session import AgentSession
from curiosity_rosa_demo.agent.runtime.task_skills import (
    make_task,
    queued_task_of,
    register_skills,
    SkillContext,
)
from curiosity_rosa_demo.agent.runtime.task_spans import TaskSpans
from curiosity_rosa_demo.agent.runtime.threads import (
    CALL_TIMEOUT_S,
    EventLoopThread,
)
from curiosity_rosa_demo.agent.skills.registry import SkillRegistry
from curiosity_rosa_demo.agent.tasks import Event, SkillRunner, Task
from curiosity_rosa_demo.agent.tasks.task import StoreError, TaskError
from curiosity_rosa_demo.domain.brain_state import (
    BrainState,
    Mode,
    QueuedTask,
    Reading,
    UserInterruptType,
)
from curiosity_rosa_demo.domain.cancellation import Cancellation
from curiosity_rosa_demo.domain.models import TraceKind
from curiosity_rosa_demo.domain.skills import Outcome
from curiosity_rosa_demo.domain.text import MAX_QUOTE_CHARS, printable
from curiosity_rosa_demo.infra.config.topics import Config
from curiosity_rosa_demo.infra.event_thread import run_in_thread
from curiosity_rosa_demo.infra.files import SafetyLatch
from curiosity_rosa_demo.trace.trace_buffer import EventBus

T = TypeVar('T')

LEFT_OVER_REASON = 'left from an earlier run'
CLOSED_REASON = 'The agent ends'
AGENT_ENDS = 'The agent ends; ask the next one'
NO_ANSWER_TEXT = 'This question cannot be answered; :status and :trace show what is known.'
NO_WORDS_TEXT, NO_JSON_TEXT = 'The text has no words.', 'The arguments are no JSON.'
MAX_KERNEL_TASKS = 50  # the kernel sees no more tasks
START_TIMEOUT_S, CLOSE_TIMEOUT_S = 60.0, 8.0
SAVE_PERIOD_S = 1.0  # between two attempts to save the latch


class Runtime:
    """``say`` prints. ``clock``: that of the policy. ``event_loop``: of kernel and tasks."""

    def __init__(
        self,
        session: AgentSession,
        config: Config,
        *,
        registry: SkillRegistry,
        database: Path | str,
        readings: Callable[[], Mapping[str, Reading]],
        say: Callable[[str], None],
        clock: Callable[[], float] = time.time,
        event_bus: EventBus | None = None,
        spans: TaskSpans | None = None,
    ) -> None:
        self._agent_session, self._config = session, config
        self._tick_listeners: list[Callable[[BrainState], None]] = []
        self._stop_listeners: list[Callable[[str], None]] = []
        settings = config.agent.tasks
        self.runner = SkillRunner(
            str(database),
            settings.crash_policy,
            cancel_grace_s=settings.cancel_grace_s,
            ageing_s=settings.ageing_s,
            retention_days=settings.retention_days,
            resources=config.robot.resources,
            on_failure=self._on_store_error,
            event_bus=event_bus,
        )
        self.registry = registry
        self.make_task = partial(make_task, registry)  # of a skill, by its name and arguments
        self._preemptible = {
            skill.name: skill.preemptible and skill.cancel_supported for skill in registry
        }
        # Whoever has tasks has a latch: a deleted file must not release it.
        self._has_tasks = Path(database).exists()
        self._latch = SafetyLatch(Path(f'{database}.safety'), expected=self._has_tasks)
        self.halt = session.halt
        self.halt.on_stop = self._on_stop
        self.approvals = Approvals(
            session.approval_queue,
            self.runner,
            say,
            session.trace,
            self.make_task,
            session.rehearse_task,
        )
        self.dispatcher = ActionDispatcher(
            self.runner,
            self.halt,
            self.approvals,
            say,
            session.trace,
            self._answer,
            self.order_refusal,
            self._graph_text,
            self._tell_stop,
        )
        self._kernel = KernelLoop(
            readings=readings,
            tasks=self._queued_tasks,
            question=self.approvals.pending_question,
            act=self._on_actions,
            admit=self._admit,
            tick_s=config.agent.kernel.tick_s,
            rules=config.thresholds,
            running=session.monitor.running,
            registry=registry,
        )
        self._watchdog = Watchdog(config.agent.kernel.watchdog_s, self._on_watchdog)
        context = SkillContext(
            execution=session,
            runner=self.runner,
            robot=lambda: self.state.robot,
            charged_level=config.thresholds.battery.charged,
            clock=clock,
            hold_waiting=self.dispatcher.hold_after_fault,
            spans=spans or TaskSpans(),
        )
        if event_bus is not None:
            context.spans.follow(event_bus, self.runner.get_task)
        register_skills(registry, context)
        self._unanswered: set[Future[Reply]] = set()
        self._left_over_tasks: list[Task] = []
        self._was_safe = False
        self._safe_since: datetime | None = None  # the latch's time, or that of the mode
        self._save_due_s = 0.0  # steady seconds
        self._save_failure = ''  # as told
        self.failure = ''  # why the runtime no longer works; empty: it works
        self._end = ''  # why no message gets another reply; empty: each gets one
        self.event_loop = EventLoopThread('runtime', self._on_job_error)
        session.brain_state = lambda: self.state
        session.approval_queue.on_change = self.tick_now
        session.monitor.on_violation = self._kernel.violate

    # --- start and end ----------------------------------------------------------------------

    def start(self, *, go_on: bool) -> list[str]:
        """Open the task database and start the kernel. Returns notes. Raises StoreError.

        With ``go_on`` the unfinished tasks of an earlier run resume once tasks may run, but for
        those of a run that ended in SAFE. Otherwise they are held: a rover that was just switched
        on must not move without an operator, though this run may crash before it is ready. Only
        the kernel's own charge task resumes, and ``run_tasks`` does not return it.
        """

        async def start() -> None:
            if not self._has_tasks:  # else another agent may use the file, and have changed it
                self._save_latch()  # before the tasks: tasks without a latch count as latched
            await self.runner.start()
            live = self.runner.live()
            self._left_over_tasks = [task for task in live if go_on or task.name != 'charge']
            if not go_on:
                ids = [task.id for task in self._left_over_tasks]
                await self.runner.hold_waiting(LEFT_OVER_REASON, lambda task: task.id in ids)
            await self._restore_safe()
            self.event_loop.start_job(self.dispatcher.run())
            self.event_loop.start_job(self._kernel.run())
            self.runner.event_bus.listen('kernel', lambda event: self._kernel.tick_now(), Event)

        self.event_loop.start()
        try:
            self.call(start(), START_TIMEOUT_S)
        except TaskError:
            self.event_loop.close()
            raise
        self._watchdog.start()
        return self.runner.notes

    async def _restore_safe(self) -> None:
        """Before the first tick, which ends a SAFE without a latch: its tasks wait."""
        latch, (mode, reason) = self._latch.reason, self._latch.mode
        if latch:
            since = self._latch.since
            begun = f' (since {since.astimezone():%Y-%m-%d %H:%M:%S})' if since else ''
            self._trace_error(
                f'The last run ended in SAFE: {latch}{begun}. The safety latch still holds, and '
                'nothing may move: look at the rover, then enter :clear.'
            )
            self._kernel.set_safety_latch(latch)
        elif mode == Mode.SAFE.value:
            self._trace_error(f'The last run ended in SAFE: {reason}')
            await self.dispatcher.hold_waiting(f'SAFE: {reason}')

    def run_tasks(self, *, ended: Callable[[Task], None]) -> list[Task]:
        """Let tasks run, and return the unfinished tasks of an earlier run. ``ended`` is called
        for each of them. Raises TaskError; then no task will run.
        """

        async def start_loop() -> list[Task]:
            while not self._kernel.ticks:
                await asyncio.sleep(0.02)
            unfinished = [task for task in self._left_over_tasks if not task.terminal]
            for task in unfinished:
                self.call_on_end(task, ended)
            self.event_loop.start_job(self.runner.run_loop())
            return unfinished

        return self.call(start_loop(), START_TIMEOUT_S)

    def halt_for_good(self) -> None:
        """From now on no skill moves the rover."""
        self._watchdog.close()
        self.halt.close(CLOSED_REASON)

    def close(self) -> None:
        """Close the runtime, after ``halt_for_good``. Unfinished tasks stay stored for the next
        run.
        """
        if not self.event_loop.is_started:
            self.event_loop.close()
            return

        async def end() -> None:
            await self.event_loop.cancel_jobs()
            await self.runner.stop()

        try:
            self.call(end(), 2 * self._config.agent.tasks.cancel_grace_s + CLOSE_TIMEOUT_S)
        except TaskError as error:
            self._trace_error(f'The tasks could not be closed: {error}')
        finally:
            self.event_loop.close()
            self._answer_all(AGENT_ENDS)
            self._save_latch()  # the kernel may just have set it

    # --- from any thread --------------------------------------------------------------------

    def subscribe_to_ticks(self, listener: Callable[[BrainState], None]) -> None:
        """``listener`` gets the kernel's state after each tick, in the loop; it may not block."""
        self._tick_listeners.append(listener)

    def subscribe_to_stops(self, listener: Callable[[str], None]) -> None:
        """``listener`` is called, in any thread, with the name of the caller of a stop; it may not
        block.
        """
        self._stop_listeners.append(listener)

    @property
    def state(self) -> BrainState:
        """The kernel's last state."""
        return self._kernel.state

    def order_refusal(self, skill: str) -> str:
        """Why an order for ``skill`` is refused now; '' when it is taken. An empty ``skill``
        stands for any order that could move the rover. Thread-safe.
        """
        return order_refusal(self.state, skill, self._safe_since)

    def _on_stop(self, by: str, number: int) -> None:
        """After a stop was sent: end all tasks."""
        self._tell_stop(by)  # before the kernel reports the stop without its caller
        stopped = Stopped(by, number)
        if self._kernel.ticks:
            # Later messages come after it, and their tasks are not cancelled.
            self._kernel.post(stopped)
        else:
            self.event_loop.call_soon(self.dispatcher.enqueue, [CancelAllTasks(by)], stopped)

    def _tell_stop(self, by: str) -> None:
        for listener in self._stop_listeners:
            try:
                listener(by)
            except Exception as error:
                self._trace_error(f'After the stop: {error!r}')

    def post(self, message: Message) -> None:
        """Post a message to the kernel, after ``run_tasks``. It gets a reply in any case; it is
        dropped if a stop was requested since its ``stops`` were read.
        """
        self._unanswered.add(message.reply)
        message.reply.add_done_callback(self._unanswered.discard)
        if self._end:
            message.settle(Reply([self._end], ok=False))
        elif isinstance(message, AskedGraph):
            answers = [Answer((Topic.GRAPH,), message.text, understand(message.text).language)]
            self.event_loop.call_soon(self.dispatcher.enqueue, answers, message)
        else:
            self._kernel.post(message)

    def call_on_end(self, task: Task, ended: Callable[[Task], None]) -> None:
        """In the loop: call ``ended`` when the task has ended."""

        async def watch() -> None:
            ended(await self.runner.wait(task.id))

        self.event_loop.start_job(watch())

    def tick_now(self, violation: str = '') -> None:
        """Run a tick at once, for an input that cannot wait for the next one; a ``violation``
        latches SAFE. Thread-safe.
        """
        if violation:
            self._kernel.violate(violation)
        else:
            self._kernel.tick_now()

    # --- tasks, from any thread but that of the loop ----------------------------------------

    def call(self, work: Coroutine[Any, Any, T], timeout_s: float = CALL_TIMEOUT_S) -> T:
        """Run ``work`` in the loop and return its result. Do not call it from the loop itself.

        Raises the exceptions of ``work``, and TaskError after ``timeout_s``.
        """
        try:
            return self.event_loop.call(work, timeout_s)
        except TimeoutError as error:
            raise TaskError(f'{error}; try again; :stop still works') from None

    def begin_call(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Run ``work`` in the loop without waiting. Raises TaskError when the loop has ended."""
        try:
            return self.event_loop.submit(work)
        except RuntimeError:
            raise TaskError(AGENT_ENDS) from None

    # --- in the loop ------------------------------------------------------------------------

    def _admit(self, message: Message) -> bool:
        """Whether no stop came since the message was made. Otherwise it is dropped, and its sender
        is told.
        """
        is_current = isinstance(message, Stopped) or message.stops == self.halt.stops
        if not is_current:
            self.dispatcher.drop_message(message)
        return is_current

    def _queued_tasks(self) -> list[QueuedTask]:
        return [
            queued_task_of(
                task, self.runner.needs(task), preemptible=self._preemptible.get(task.name, True)
            )
            for task in self.runner.live(MAX_KERNEL_TASKS)
        ]

    def _on_actions(
        self, actions: list[Action], message: Message | None, after: BrainState
    ) -> None:
        has_no_meaning = after.hci.user_interrupt is UserInterruptType.NONE
        if isinstance(message, (Said, Answered)) and has_no_meaning:
            text = NO_WORDS_TEXT if isinstance(message, Said) else NO_JSON_TEXT
            message.settle(Reply([text], ok=False))
        self._track_safe(after)
        self.dispatcher.enqueue(actions, message)
        self._watchdog.beat()
        for listener in self._tick_listeners:
            listener(after)
        self._keep_latch(after)

    def _track_safe(self, after: BrainState) -> None:
        if after.tasks.mode is not Mode.SAFE:
            self._safe_since, self._was_safe = None, False
        elif not self._was_safe:
            self._was_safe = True
            is_restored = after.robot.safety_latch != '' and self._latch.reason != ''
            self._safe_since = self._latch.since if is_restored else datetime.now(timezone.utc)

    def _keep_latch(self, after: BrainState) -> None:
        """Save the latch, and a SAFE without one, when either begins, changes or ends. What cannot
        be saved is tried again.
        """
        latch, tasks = after.robot.safety_latch, after.tasks
        mode, kept = (tasks.mode.value, tasks.mode_reason), self._latch.mode
        if latch != self._latch.reason or (mode != kept and Mode.SAFE.value in (mode[0], kept[0])):
            self._latch.set(latch, mode)
            self._save_due_s = 0.0
        now_s = after.telemetry.now_s
        if not self._latch.saved and now_s >= self._save_due_s:
            self._save_due_s = now_s + SAVE_PERIOD_S
            self.event_loop.start_job(run_in_thread('safety-latch', self._save_latch))

    def _answer(self, answer: Answer) -> Outcome:
        """The answer. No question may end the kernel's job, which would stop the rover."""
        session = self._agent_session
        try:
            facts = AnswerFacts(
                state=self.state,
                react=session.react_state,
                tasks=self.runner.list_tasks(),
                events=session.recent_events(),
                questions=self.approvals.shown_questions,
                now_s=time.time(),
                home=session.world.home,
            )
            return answer_to(answer, facts)
        except Exception as error:
            self._trace_error(f'No answer to {answer.text[:MAX_QUOTE_CHARS]!r}: {error!r}')
            return Outcome(False, NO_ANSWER_TEXT)

    def _graph_text(self, asked: Answer) -> str:
        """The answer to a question about the ROS graph. Blocks for a few seconds at most."""
        query, language = graph_query(asked.text), asked.language
        if query is None:
            return say('graph.unclear', language)
        try:
            result = self._agent_session.world.graph(query, language, Cancellation())
        except Exception as error:
            self._trace_error(f'No answer to {asked.text[:MAX_QUOTE_CHARS]!r}: {error!r}')
            return say('graph.failed', language, why=printable(repr(error))[:MAX_QUOTE_CHARS])
        return str(result.data['answer']) if result.ok else result.error_reason

    # --- faults -----------------------------------------------------------------------------

    def _on_job_error(self, error: BaseException) -> None:
        """Stop the rover: a job of the loop has failed. No task starts in this process again."""
        if self.failure:
            return
        self.failure = f'an internal error: {error!r}; leave, and start the agent again'
        why = f'Stopped by {self.failure}'
        self.halt.halt(why)  # and it is never settled
        self._trace_error(why)
        self._tell_stop(self.failure)
        # Not through the dispatcher: its own job may be the one that failed.
        self.event_loop.start_job(self.runner.cancel_all(why))
        self._answer_all(why)

    def _on_store_error(self, error: StoreError) -> None:
        # The runner itself pauses the tasks, and resumes them when the file is writable again.
        self.halt.send()
        self._trace_error(f'Nothing runs until tasks can be saved again: {error}')

    def _on_watchdog(self, why: str) -> None:
        try:
            self.halt.stop(why).result()
        finally:
            self._trace_error(f'Stopped by {why}')

    def _answer_all(self, why: str) -> None:
        """Give all messages without a reply, and each later one, this reply."""
        self._end = why
        for reply in list(self._unanswered):
            Message(reply=reply).settle(Reply([why], ok=False))

    def _save_latch(self) -> None:
        failure = ''
        try:
            self._latch.save()
        except OSError as error:
            failure = f'The safety latch cannot be saved: {error}'
        if failure and failure != self._save_failure:
            self._trace_error(failure)
        self._save_failure = failure

    def _trace_error(self, why: str) -> None:
        self._agent_session.trace(TraceKind.ERROR, why, ok=False, error_reason=why)
