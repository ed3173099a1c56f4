# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Checkpoints of the kernel's state, through LangGraph's checkpointer interface.

A tick never waits for the disk: record() compares a few fields and passes a changed state to a
thread that lives while it saves the newest one. Ticks without a change write nothing. A restart
reads the checkpoint to report how the last run ended and to restore the safety latch. It restores
nothing else, because the first tick computes the mode anew.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from curiosity_rosa_demo.domain.brain_state import BrainState, RobotState, TasksState
from curiosity_rosa_demo.infra.drain_thread import DrainThread

CONFIG: Any = {'configurable': {'thread_id': 'kernel', 'checkpoint_ns': ''}}
CLOSE_WAIT_S = 3.0


class Saver(Protocol):
    """The methods of a LangGraph checkpointer that the kernel calls."""

    def get_tuple(self, config: Any, /) -> Any: ...

    def put(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any, /) -> Any: ...

    def close(self) -> None: ...


def durable_part(state: BrainState) -> BrainState:
    """The part that a restart reads: mode and reason, latch, active task and trace."""
    tasks = state.tasks
    return BrainState(
        robot=RobotState(safety_latch=state.robot.safety_latch),
        tasks=TasksState(
            mode=tasks.mode, mode_reason=tasks.mode_reason, active_task_id=tasks.active_task_id
        ),
        trace=state.trace,
    )


class KernelCheckpoint:
    """open() calls ``open_saver``. ``on_error`` is never called in the loop's thread. It is called
    once per series of failed saves; each later change is saved again.
    """

    def __init__(
        self, open_saver: Callable[[], Saver], on_error: Callable[[Exception], None]
    ) -> None:
        self._open_saver, self._on_error = open_saver, on_error
        self._last_state: BrainState | None = None  # the state of the last tick
        self._fields: object = None  # the fields of the last change, for comparison
        self._step = 0
        self._failing = False
        self._newest: BrainState | None = None  # written by the loop only
        self._saved: BrainState | None = None  # written by the thread only
        self._saver: Saver | None = None
        self._thread = DrainThread('kernel-checkpoint', self._save_newest)

    def open(self) -> BrainState | None:
        """Return the durable part of an earlier run's last state, or None without a readable one:
        then nothing is saved in this run. Blocks; do not call in the loop's thread.
        """
        try:
            saver = self._open_saver()
            found = saver.get_tuple(CONFIG)
        except Exception as error:  # from SQLite, the file system, or the state of another version
            self._on_error(error)
            return None
        self._saver = saver
        return None if found is None else found.checkpoint['channel_values']['brain']

    def record(self, state: BrainState) -> None:
        """Queue a changed state. Call after each tick, in the loop's thread."""
        if state is self._last_state:
            return
        tasks = state.tasks
        fields = (
            *(tasks.mode, tasks.mode_reason, tasks.active_task_id),
            *(state.robot.safety_latch, state.trace.log),
        )
        self._last_state = state
        if fields != self._fields:
            self._fields = fields
            self._newest = state
            if self._saver is not None:
                self._thread.wake()

    def close(self) -> None:
        """Save the last change; wait at most CLOSE_WAIT_S. Do not call in the loop's thread."""
        if self._thread.wait(CLOSE_WAIT_S) and self._saver is not None:
            self._saver.close()
            self._saver = None

    def _save_newest(self) -> None:
        state = self._newest
        if state is None or state is self._saved or self._saver is None:
            return
        self._saved = state
        try:
            self._put(self._saver, durable_part(state))
            self._failing = False
        except Exception as error:
            if not self._failing:
                self._failing = True
                self._on_error(error)

    def _put(self, saver: Saver, state: BrainState) -> None:
        from langgraph.checkpoint.base import empty_checkpoint

        self._step += 1
        versions = {'brain': self._step}
        checkpoint = {
            **empty_checkpoint(),
            'channel_values': {'brain': state},
            'channel_versions': versions,
        }
        metadata = {'source': 'update', 'step': self._step, 'parents': {}}
        saver.put(CONFIG, checkpoint, metadata, versions)
