# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The startup sequence of the agent, in a thread: wait for the other nodes, let tasks run, then
load the model and start the web server.
"""

from __future__ import annotations

from collections.abc import Callable
import gc
import threading

from curiosity_rosa_demo.agent.console import Console
from curiosity_rosa_demo.agent.language.understand import understand
from curiosity_rosa_demo.agent.robot import Robot
from curiosity_rosa_demo.agent.runtime.runtime import Runtime
from curiosity_rosa_demo.agent.runtime.session import AgentSession, turn_thread
from curiosity_rosa_demo.agent.runtime.task_skills import crash_text
from curiosity_rosa_demo.agent.startup.web import WebServer
from curiosity_rosa_demo.agent.tasks import Task
from curiosity_rosa_demo.domain.adapter_status import Status
from curiosity_rosa_demo.domain.cancellation import Cancellation, TurnCancelled
from curiosity_rosa_demo.domain.models import ToolResult, TraceKind
from curiosity_rosa_demo.domain.skills import Outcome
from curiosity_rosa_demo.domain.text import count_text
from curiosity_rosa_demo.tools.rover_client import RoverClient

CLOSE_TIMEOUT_S = 5.0
SERVICES_TIMEOUT_S = 20.0
STATUS_TIMEOUT_S = 10.0  # the rover may start after its adapter
POSE_TIMEOUT_S = 3.0  # a robot without TF never has one
PERIOD_S = 0.05


class Startup:
    """``crash``: how the previous agent ended; empty: it did not crash."""

    def __init__(
        self,
        client: RoverClient,
        session: AgentSession,
        runtime: Runtime,
        robot: Robot,
        console: Console,
        web: WebServer,
        *,
        crash: str,
    ) -> None:
        self._client, self._session, self._runtime = client, session, runtime
        self._robot, self._console = robot, console
        self._web, self._crash = web, crash
        self._cancellation = Cancellation()
        self.complete = threading.Event()  # all imports are done
        self._thread = threading.Thread(target=self._run, name='startup', daemon=True)

    def start(self) -> None:
        self._thread.start()

    def cancel(self) -> None:
        self._cancellation.cancel('The console ended')

    def join(self) -> None:
        """Wait for the thread after ``cancel``, CLOSE_TIMEOUT_S at most."""
        if self._thread.ident is not None:
            self._thread.join(timeout=CLOSE_TIMEOUT_S)

    def _run(self) -> None:
        try:
            self._start_tasks()
        except TurnCancelled:
            return
        except BaseException as error:  # SystemExit too: clients wait for ``complete``
            self._robot.startup_failure = f'The agent cannot begin: {error!r}. No task will run.'
            self._console.print_notice(f'! {self._robot.startup_failure}')
            _in_background(self._web.start)  # the page shows the failure, too
            self.complete.set()
            return
        self._console.run_queued_lines()
        _in_background(self._start_web)

    def _start_tasks(self) -> None:
        """Wait for the nodes, then let tasks run. After a crash, stop the rover first."""
        session, console, crash = self._session, self._console, self._crash
        robot = self._robot
        wait_for_nodes(
            self._client,
            session.rover_status,
            self._heard_status,
            self._cancellation,
            console.print_notice,
        )
        stopped = self._runtime.halt.send().result() if crash else None
        unfinished = self._runtime.run_tasks(ended=console.report_task_end)
        # Not earlier: two threads that import parts of LangChain can wait for each other.
        live = [task for task in robot.wait(robot.tasks()) if not task.terminal]
        session.rosa_loader.start([turn_thread(task) for task in live])
        robot.autonomy.enable()
        if stopped is not None:
            self._trace_crash(stopped, unfinished)
        elif unfinished:
            are = 'is' if len(unfinished) == 1 else 'are'
            console.print_notice(
                f'! {count_text(len(unfinished), "task")} {are} left from an earlier run and '
                f'{are} held: :tasks lists, :resume continues, :cancel ID ends.'
            )

    def _heard_status(self) -> Status | None:
        """The last status of the adapter that the kernel has read."""
        reading = self._runtime.state.robot.heard.get('adapter')
        return None if reading is None else reading.value

    def _trace_crash(self, stopped: Outcome, unfinished: list[Task]) -> None:
        rover = 'the rover was stopped' if stopped.ok else f'stopping failed: {stopped.answer}'
        tasks = crash_text(unfinished)
        text = f'The agent was restarted after {self._crash}; {rover}; {tasks}.'
        self._session.trace(TraceKind.ERROR, text, ok=False, error_reason=self._crash)

    def _start_web(self) -> None:
        try:
            understand('drive')  # no first sentence waits for the words of the default language
            self._session.rosa_loader.wait_until_loaded()  # one import at a time, as above
            if not self._cancellation.requested:
                self._web.start()
        finally:
            gc.freeze()  # a full collection of all that was imported would hold up a stop
            self.complete.set()


def _in_background(work: Callable[[], None]) -> None:
    """Run ``work`` in a daemon thread. No one joins it: an import cannot be interrupted."""
    threading.Thread(target=work, name='open-web', daemon=True).start()


def wait_for_nodes(
    client: RoverClient,
    status_of: Callable[[], ToolResult],
    heard: Callable[[], Status | None],
    cancellation: Cancellation,
    notice: Callable[[str], None],
) -> None:
    """Wait for the services, for a status that says that the rover stands still, and for a pose,
    each for a limited time. So the first question has an answer.

    ``status_of`` asks the adapter for the status; ``heard`` is the last one that came without
    asking, from which the agent answers questions. ``notice`` gets the text about a missing
    condition. Raises TurnCancelled.
    """

    def no_services() -> str:
        return '' if client.ready() else 'The adapter or the simulator node did not appear'

    def no_standstill() -> str:
        """The adapter begins by stopping the rover."""
        asked, last = status_of(), heard()
        if not asked.ok or asked.data.get('moving'):
            reason = asked.error_reason or asked.data.get('last_error_reason')
            return f'The rover does not stand still: {reason or "it still moves"}'
        is_heard = last is not None and not last.get('moving')
        return '' if is_heard else 'The status of the rover did not arrive'

    for problem, timeout_s in (
        (no_services, SERVICES_TIMEOUT_S),
        (no_standstill, STATUS_TIMEOUT_S),
    ):
        for _ in range(round(timeout_s / PERIOD_S)):
            if not (why := problem()):
                break
            cancellation.sleep(PERIOD_S)
        else:
            notice(f'! {why} (within {timeout_s:g} s); commands will say what is missing.')
            return
    for _ in range(round(POSE_TIMEOUT_S / PERIOD_S)):
        if client.pose() is not None and (heard() or {}).get('rover_x') is not None:
            return
        cancellation.sleep(PERIOD_S)
