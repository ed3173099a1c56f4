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
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timezone
from functools import partial
from pathlib import Path
import threading
import time
from typing import Any, TYPE_CHECKING

from curiosity_rosa_demo.agent.kernel.actions import Action, Answer, CancelAllTasks, SubmitGoal
from curiosity_rosa_demo.agent.kernel.checkpoint import KernelCheckpoint
from curiosity_rosa_demo.agent.kernel.hci_ingress import InboxMessage
from curiosity_rosa_demo.agent.kernel.loop import build_graph, KernelLoop, tick
from curiosity_rosa_demo.agent.kernel.safe_orders import order_refusal
from curiosity_rosa_demo.agent.kernel.telemetry_sync import KernelRules
from curiosity_rosa_demo.agent.language.graph_questions import graph_query
from curiosity_rosa_demo.agent.language.questions import Topic
from curiosity_rosa_demo.agent.language.tables import detect_language, say
from curiosity_rosa_demo.agent.runtime.action_dispatcher import (
    ActionDispatcher,
    always,
    MessageReply,
    ReplyCallback,
)
from curiosity_rosa_demo.agent.runtime.answers import answer_to, AnswerFacts
from curiosity_rosa_demo.agent.runtime.approvals import Approvals
from curiosity_rosa_demo.agent.runtime.console_port import (
    PendingReplies,
    StopMessage,
    TaskMessage,
    UserMessage,
)
from curiosity_rosa_demo.agent.runtime.execution.blocking import BlockingCalls
from curiosity_rosa_demo.agent.runtime.execution.session import AgentSession
from curiosity_rosa_demo.agent.runtime.execution.task_origin import TaskSpans
from curiosity_rosa_demo.agent.runtime.execution.task_skills import (
    make_task,
    queued_task_of,
    register_skills,
    SkillContext,
)
from curiosity_rosa_demo.agent.runtime.task_client import AGENT_ENDS, TaskClient
from curiosity_rosa_demo.agent.runtime.threads.event_loop_thread import EventLoopThread
from curiosity_rosa_demo.agent.runtime.watchdog import Watchdog
from curiosity_rosa_demo.agent.skills.registry import SkillRegistry
from curiosity_rosa_demo.agent.skills.skill import Skill
from curiosity_rosa_demo.agent.tasks import SkillRunner, Task
from curiosity_rosa_demo.agent.tasks.task import StoreError, TaskError
from curiosity_rosa_demo.agent.tasks.texts import mode_text
from curiosity_rosa_demo.domain.brain_state import (
    BrainState,
    Json,
    Mode,
    Question,
    QueuedTask,
    Reading,
    UserInterruptType,
)
from curiosity_rosa_demo.domain.cancellation import Cancellation
from curiosity_rosa_demo.domain.models import TraceKind
from curiosity_rosa_demo.domain.origin import named_caller, Origin
from curiosity_rosa_demo.domain.skills import Outcome
from curiosity_rosa_demo.domain.text import MAX_QUOTE_CHARS, printable
from curiosity_rosa_demo.infra.config.topics import Config
from curiosity_rosa_demo.infra.event_thread import run_in_thread
from curiosity_rosa_demo.infra.files import SafetyLatch
from curiosity_rosa_demo.trace.trace_buffer import EventBus

if TYPE_CHECKING:
    from curiosity_rosa_demo.agent.react.loop import TurnCheckpointer

LEFT_OVER_REASON = 'left from an earlier run'
CLOSED_REASON = 'The agent ends'
NO_ANSWER_TEXT = 'This question cannot be answered; :status and :trace show what is known.'
MAX_KERNEL_TASKS = 50  # the kernel sees no more tasks
START_TIMEOUT_S, CLOSE_TIMEOUT_S = 60.0, 8.0


class Runtime(TaskClient):
    """``beat`` is called at every tick; ``say`` prints. ``clock``: that of the policy."""

    def __init__(
        self,
        session: AgentSession,
        config: Config,
        *,
        registry: SkillRegistry,
        database: Path | str,
        readings: Callable[[], Mapping[str, Reading]],
        beat: Callable[[], None],
        say: Callable[[str], None],
        clock: Callable[[], float] = time.time,
        event_bus: EventBus | None = None,
        spans: TaskSpans | None = None,
    ) -> None:
        self._agent_session, self._config = session, config
        self._on_beat = beat
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
        self._registry = registry
        self._preemptible = {
            skill.name: skill.preemptible and skill.cancel_supported for skill in registry
        }
        self._latch = SafetyLatch(Path(f'{database}.safety'))
        self._checkpoint_file = Path(f'{database}.kernel')
        self._checkpoint = KernelCheckpoint(self._open_saver, self._checkpoint_failed)
        self._blocking = BlockingCalls()
        self._approvals = Approvals(
            session.approval_queue,
            self.runner,
            say,
            session.trace,
            self.make_task,
            session.rehearse_task,
        )
        self._dispatcher = ActionDispatcher(
            session,
            self.runner,
            self._blocking,
            self._approvals,
            say,
            self._answer,
            self.order_refusal,
            self._graph_text,
        )
        self._rules = KernelRules.of(config.thresholds)
        self._kernel = KernelLoop(
            readings=readings,
            tasks=self._queued_tasks,
            question=self._approvals.pending_question,
            act=self._on_actions,
            admit=self._admit,
            tick_s=config.agent.kernel.tick_s,
            max_age_s=self._rules.max_age_s,
            running=session.monitor.running,
            registry=registry,
        )
        self._watchdog = Watchdog(config.agent.kernel.watchdog_s, self._on_watchdog)
        context = SkillContext(
            execution=session,
            runner=self.runner,
            blocking=self._blocking,
            robot=lambda: self.state.robot,
            charged_level=config.thresholds.battery.charged,
            clock=clock,
            hold_waiting=self._dispatcher.hold_after_fault,
            spans=spans or TaskSpans(),
        )
        if event_bus is not None:
            context.spans.follow(event_bus, self.runner.get_task)
        register_skills(registry, context)
        self._pending_replies = PendingReplies()
        self.stop_count = 0  # stops requested so far
        self._left_over_tasks: list[Task] = []
        self._was_safe = False
        self._safe_since: datetime | None = None  # the latch's time, or that of the mode
        self.failure = ''  # why the runtime no longer works; empty: it works
        self._event_loop = EventLoopThread('runtime', self._on_job_error)
        session.brain_state = lambda: self.state
        session.approval_queue.on_change = self.tick_now
        session.monitor.on_violation = self._kernel.violate

    # --- start and end ----------------------------------------------------------------------

    def start(self) -> list[str]:
        """Open the task database and start the kernel. Returns notes. Raises StoreError."""

        async def start() -> None:
            await self.runner.start()
            self._left_over_tasks = self.runner.live()
            self._event_loop.start_job(self._dispatcher.run())
            self._event_loop.start_job(self._run_kernel())
            self._event_loop.start_job(self._tick_on_task_events())

        self._event_loop.start()
        try:
            self.call(start(), START_TIMEOUT_S)
        except TaskError:
            self._event_loop.close()
            raise
        self._watchdog.start()
        return self.runner.notes

    async def _run_kernel(self) -> None:
        graph = await run_in_thread('kernel-start', partial(build_graph, self._rules))
        before = await run_in_thread('kernel-start', self._checkpoint.open)
        latch = self._latch.reason
        if before is not None:
            latch = latch or before.robot.safety_latch  # the safer of the two files holds
            if before.tasks.mode is Mode.SAFE and not latch:
                self._trace_error_soon(f'The last run ended in SAFE: {before.tasks.mode_reason}')
        if latch:
            since = self._latch.since
            begun = f' (since {since.astimezone():%Y-%m-%d %H:%M:%S})' if since else ''
            self._trace_error_soon(
                f'The last run ended in SAFE: {latch}{begun}. The safety latch still holds, and '
                'nothing may move: look at the rover, then enter :clear.'
            )
            self._kernel.set_safety_latch(latch)
        await self._kernel.run(lambda state: tick(graph, state))

    async def _tick_on_task_events(self) -> None:
        async for _ in self.runner.subscribe():
            self._kernel.tick_now()

    def run_tasks(self, *, go_on: bool, ended: Callable[[Task], None]) -> list[Task]:
        """Let tasks run, and return the unfinished tasks of an earlier run.

        With ``go_on`` they resume, and ``ended`` is called for each. Otherwise they are held: a
        rover that was just switched on must not move without an operator. The kernel's own charge
        task resumes in any case. Raises TaskError; then no task will run.
        """

        async def start_loop() -> list[Task]:
            while not self._kernel.ticks:
                await asyncio.sleep(0.02)
            unfinished = [task for task in self._left_over_tasks if not task.terminal]
            if not go_on:
                unfinished = [task for task in unfinished if task.name != 'charge']
            for task in unfinished:
                if go_on:
                    self.call_on_end(task, ended)
                else:
                    with suppress(TaskError):  # the task has just ended
                        await self.runner.pause(task.id, LEFT_OVER_REASON)
            self._event_loop.start_job(self.runner.run_loop())
            return unfinished

        return self.call(start_loop(), START_TIMEOUT_S)

    def halt(self) -> None:
        """Halt all skills for good: from now on no skill moves the rover."""
        self._watchdog.close()
        self._blocking.halt(CLOSED_REASON)

    def close(self) -> None:
        """Close the runtime, after ``halt``. Unfinished tasks stay stored for the next run."""
        if not self._event_loop.is_started:
            self._event_loop.close()
            return

        async def end() -> None:
            await self._event_loop.cancel_jobs()
            await self.runner.stop()

        try:
            self.call(end(), 2 * self._config.agent.tasks.cancel_grace_s + CLOSE_TIMEOUT_S)
        except TaskError as error:
            self._trace_error(f'The tasks could not be closed: {error}')
        finally:
            self._event_loop.close()
            self._pending_replies.fail_all(AGENT_ENDS)
            self._save_latch()  # the kernel may just have set it
            self._checkpoint.close()

    # --- from any thread --------------------------------------------------------------------

    def subscribe_to_ticks(self, listener: Callable[[BrainState], None]) -> None:
        """The loop calls ``listener`` with the kernel's state after each tick; it may not block.
        Call it before ``start``.
        """
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

    @property
    def shown_questions(self) -> tuple[Question, ...]:
        """The questions that were printed and not answered, the oldest first."""
        return self._approvals.shown_questions

    def order_refusal(self, skill: str) -> str:
        """Why an order for ``skill`` is refused now; '' when it is taken. An empty ``skill``
        stands for any order that could move the rover. Thread-safe.
        """
        return order_refusal(self.state, skill, self._safe_since)

    @property
    def busy(self) -> bool:
        """Whether a skill is running blocking work."""
        return self._blocking.busy

    def stop(self, by: str) -> Outcome:
        """Stop the rover, then end all tasks. Needs neither the loop nor the model. ``by`` names
        the caller. Blocks until the rover has answered.
        """
        wake, outcome = self._hold_and_send(by)
        wake()
        self._report_stop(by)  # before the kernel reports the stop without its caller
        self._stop_tasks(by)
        return outcome.result()

    def begin_stop(self, by: str) -> Future[Outcome]:
        """As ``stop``, but returns at once. The future gets the rover's answer."""
        wake, outcome = self._hold_and_send(by)
        self._report_stop(by)
        self._stop_tasks(by)
        # In a thread: the callbacks of the skills may take a while, and the caller may be a loop.
        _in_thread(wake, 'stop-skills')
        return outcome

    def _hold_and_send(self, by: str) -> tuple[Callable[[], None], Future[Outcome]]:
        """Send a stop; from now on no skill moves the rover. Nothing that the caller does next can
        delay the stop. It must call the first result, which wakes the skills.
        """
        self.stop_count += 1
        wake = self._blocking.hold(f'Stopped by {by}')
        return wake, self._send_stop()

    def _send_stop(self) -> Future[Outcome]:
        """Send a stop from a new thread. The future gets the rover's answer."""
        outcome: Future[Outcome] = Future()

        def send() -> None:
            try:
                outcome.set_result(self._agent_session.stop_rover())
            except BaseException as error:
                outcome.set_exception(error)

        _in_thread(send, 'stop')
        return outcome

    def _report_stop(self, by: str) -> None:
        for listener in self._stop_listeners:
            try:
                listener(by)
            except Exception as error:
                self._trace_error_soon(f'After the stop: {error!r}')

    def _stop_tasks(self, by: str) -> None:
        """Thread-safe. Later messages come after it, and their tasks are not cancelled."""
        if self._kernel.ticks:
            self._kernel.post(StopMessage({'intent': 'STOP'}, by))
        else:
            actions: list[Action] = [CancelAllTasks(by)]
            self._event_loop.call_soon(self._dispatcher.enqueue_actions, actions, None, by)

    def post_message(
        self,
        message: Json,
        on_reply: ReplyCallback,
        stops: int,
        origin: Origin | None = None,
    ) -> None:
        """Post a message to the kernel, after ``run_tasks``. ``on_reply`` gets the result, in the
        loop. The message is dropped if a stop was requested since ``stops`` was read. ``origin``:
        the door through which it came.
        """
        reply = self._pending_replies.expect_reply(on_reply)
        self._kernel.post(UserMessage(message, reply, stops, origin))

    def submit_task(
        self, task: Task, on_reply: ReplyCallback, stops: int, wanted: Callable[[], bool] = always
    ) -> None:
        """Submit a task, after ``run_tasks``, behind earlier messages. ``on_reply`` gets, in the
        loop, the stored task or the reason why there is none. ``stops`` as in ``post_message``. A
        task that is no longer ``wanted`` when its turn comes is not submitted.
        """
        reply = self._pending_replies.expect_reply(on_reply)
        self._kernel.post(TaskMessage(None, task, reply, stops, wanted))

    def _admit(self, message: InboxMessage) -> bool:
        """In the loop: whether no stop came since the message was made. Otherwise it is dropped,
        and its sender is told.
        """
        if not isinstance(message, (UserMessage, TaskMessage)):
            return True
        is_current = message.stop_count == self.stop_count
        if not is_current:
            self._dispatcher.drop_message(message.on_reply)
        return is_current

    def call_on_end(self, task: Task, ended: Callable[[Task], None]) -> None:
        """In the loop: call ``ended`` when the task has ended."""

        async def watch() -> None:
            ended(await self.runner.wait(task.id))

        self._event_loop.start_job(watch())

    def cancel_soon(self, task_id: str, why: str) -> None:
        """In the loop: cancel the task, if it has not ended."""

        async def cancel() -> None:
            with suppress(TaskError):
                await self.runner.cancel(task_id, why)

        self._event_loop.start_job(cancel())

    def was_dropped(self, task_id: str) -> bool:
        """Whether a stop ended the task before it began."""
        return task_id in self._dispatcher.dropped_task_ids

    def resume_by_name_only(self, task_ids: Collection[str]) -> None:
        """From now on ``:resume`` without an ID leaves these tasks held."""
        self._dispatcher.resumed_by_name_only = frozenset(task_ids)

    def tick_now(self) -> None:
        """Run a tick at once, for an input that cannot wait for the next one. Thread-safe."""
        self._kernel.tick_now()

    # --- tasks, from any thread -------------------------------------------------------------

    def make_task(self, name: str, arguments: dict[str, Any]) -> Task:
        """A task for the skill ``name``. Raises BadTask."""
        return make_task(self._registry, name, arguments)

    def skills(self) -> tuple[Skill, ...]:
        """The skills that a model may call."""
        return self._registry.for_model()

    def mode_text(self) -> str:
        return mode_text(self.state)

    # --- in the loop ------------------------------------------------------------------------

    def _queued_tasks(self) -> list[QueuedTask]:
        return [
            queued_task_of(
                task, self.runner.needs(task), preemptible=self._preemptible.get(task.name, True)
            )
            for task in self.runner.live(MAX_KERNEL_TASKS)
        ]

    def _on_actions(
        self, actions: list[Action], message: InboxMessage | None, after: BrainState
    ) -> None:
        stopped_by = message.stopped_by if isinstance(message, StopMessage) else None
        on_reply = message.on_reply if isinstance(message, UserMessage) else None
        if on_reply is not None and after.hci.user_interrupt is UserInterruptType.NONE:
            on_reply(
                MessageReply(after.trace.log[-1:], ok=False)
            )  # the kernel dropped the message
            on_reply = None
        if isinstance(message, UserMessage):
            by = named_caller(str((message.body or {}).get('by', '')))
            actions = [
                replace(each, origin=message.origin, asked_by=by)
                if isinstance(each, SubmitGoal)
                else each
                for each in actions
            ]
        self._track_safe(after)
        self._dispatcher.enqueue_actions(actions, on_reply, stopped_by)
        if isinstance(message, TaskMessage):
            self._dispatcher.enqueue_task(message.task, message.on_reply, message.wanted)
        self._watchdog.beat()
        self._on_beat()
        for listener in self._tick_listeners:
            listener(after)
        self._checkpoint.record(after)
        if after.robot.safety_latch != self._latch.reason:
            self._latch.set(after.robot.safety_latch)
            self._event_loop.start_job(run_in_thread('safety-latch', self._save_latch))

    def _track_safe(self, after: BrainState) -> None:
        if after.tasks.mode is not Mode.SAFE:
            self._safe_since, self._was_safe = None, False
        elif not self._was_safe:
            self._was_safe = True
            is_restored = after.robot.safety_latch != '' and self._latch.reason != ''
            self._safe_since = self._latch.since if is_restored else datetime.now(timezone.utc)

    def _answer(self, answer: Answer) -> Outcome:
        """The answer. No question may end the kernel's job, which would stop the rover."""
        try:
            return self._answer_from_facts(answer)
        except Exception as error:
            self._trace_error_soon(f'No answer to {answer.text[:MAX_QUOTE_CHARS]!r}: {error!r}')
            return Outcome(False, NO_ANSWER_TEXT)

    def _graph_text(self, question: str) -> str:
        """The answer to a question about the ROS graph. Blocks for a few seconds at most."""
        query, language = graph_query(question), detect_language(question)
        if query is None:
            return say('graph.unclear', language)
        try:
            result = self._agent_session.world.graph(query, language, Cancellation())
        except Exception as error:
            self._trace_error(f'No answer to {question[:MAX_QUOTE_CHARS]!r}: {error!r}')
            return say('graph.failed', language, why=printable(repr(error))[:MAX_QUOTE_CHARS])
        return str(result.data['answer']) if result.ok else result.error_reason

    def ask_graph(self, question: str, on_reply: ReplyCallback, stop_count: int) -> None:
        """Answer a question about the ROS graph; a stop does not drop it: it moves nothing."""
        answer = Answer((Topic.GRAPH,), question)
        self._event_loop.call_soon(lambda: self._dispatcher.enqueue_actions([answer], on_reply))

    def _answer_from_facts(self, answer: Answer) -> Outcome:
        session = self._agent_session
        facts = AnswerFacts(
            state=self.state,
            react=session.react_state,
            tasks=self.runner.list_tasks(),
            events=session.recent_events(),
            questions=self.shown_questions,
            now_s=time.time(),
            home=session.home,
        )
        return answer_to(answer, facts)

    def _open_saver(self) -> TurnCheckpointer:
        from curiosity_rosa_demo.agent.react.loop import TurnCheckpointer

        return TurnCheckpointer(self._checkpoint_file)

    def _checkpoint_failed(self, error: Exception) -> None:
        """Report the error. It is not fatal: the safety latch has a separate file."""
        self._trace_error(f"The kernel's state cannot be kept in {self._checkpoint_file}: {error}")

    def _save_latch(self) -> None:
        try:
            self._latch.save()
        except OSError as error:
            self._trace_error(f'The safety latch cannot be saved: {error}')

    def _on_job_error(self, error: BaseException) -> None:
        """Stop the rover: a job of the loop has failed. No task starts in this process again."""
        if self.failure:
            return
        self.failure = f'an internal error: {error!r}; leave, and start the agent again'
        wake = self._blocking.hold(f'Stopped by {self.failure}')
        self._stop_after_failure(self.failure)
        wake()
        self._report_stop(self.failure)
        # Not through the dispatcher: its own job may be the one that failed.
        self._event_loop.start_job(self.runner.cancel_all(f'Stopped by {self.failure}'))
        self._pending_replies.fail_all(f'Stopped by {self.failure}')

    def _on_store_error(self, error: StoreError) -> None:
        # The runner itself pauses the tasks, and resumes them when the file is writable again.
        threading.Thread(target=self._agent_session.stop_rover, name='stop', daemon=True).start()
        self._trace_error_soon(f'Nothing runs until tasks can be saved again: {error}')

    def _on_watchdog(self, why: str) -> None:
        try:
            self.stop(why)
        finally:
            self._trace_error(f'Stopped by {why}')

    def _stop_after_failure(self, by: str) -> None:
        """Stop the rover after an internal failure, and trace the failure."""
        self._dispatcher.stop_rover(f'Stopped by {by}')
        self._trace_error_soon(f'Stopped by {by}')

    def _trace_error_soon(self, why: str) -> None:
        """Trace the error in a thread: the trace may write to a file and block the loop."""
        work = partial(self._trace_error, why)
        threading.Thread(target=work, name='trace', daemon=True).start()

    def _trace_error(self, why: str) -> None:
        self._agent_session.trace(TraceKind.ERROR, why, ok=False, error_reason=why)


def _in_thread(work: Callable[[], None], name: str) -> None:
    """Run ``work`` in a new thread, or in this one if no more threads can be started."""
    try:
        threading.Thread(target=work, name=name, daemon=True).start()
    except RuntimeError:
        work()
