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

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from curiosity_rosa_demo.domain.brain_state import BrainState, RobotState, TasksState
from curiosity_rosa_demo.infra.event_thread import DrainThread

# --- Validate the readings of each source. Pure; accepts any value -----------------------------


MAST_STATES = ('closed', 'opening', 'open', 'closing', 'unknown', 'none')
FAR_M = 1e6  # metres, and metres or radians per second: larger values are invalid
MAX_UNIT_COMPONENT = 1.01  # a component of a unit quaternion, with a margin for rounding

ODOMETRY = {
    **dict.fromkeys(('x', 'y', 'z', 'linear_x', 'angular_z'), FAR_M),
    **dict.fromkeys(('orientation_z', 'orientation_w'), MAX_UNIT_COMPONENT),
}
SECTORS = ('ahead_m', 'behind_m', 'left_m', 'right_m')
PATHS = ('forward_m', 'turn_left_m', 'turn_right_m')


def reading_problem(source: str, value: Mapping[str, object]) -> str:
    """The reason why the reading is invalid; empty if it is valid."""
    check = _SOURCE_CHECKS.get(source)
    if check is None:
        return f'there is no such source; the sources are {", ".join(_SOURCE_CHECKS)}'
    if not isinstance(value, Mapping):
        return f'it is {_shown(value)}, not an object'
    return check(value)


def _odometry(value: Mapping[str, object]) -> str:
    for key, limit in ODOMETRY.items():
        if not _is_number(value.get(key), -limit, limit):
            return f'{key} is {_shown(value.get(key))}, not a number from {-limit:g} to {limit:g}'
    return ''


def _battery(value: Mapping[str, object]) -> str:
    fraction = value.get('fraction')
    if _is_number(fraction, 0.0, 1.0):
        return ''
    return f'fraction is {_shown(fraction)}, not a number from 0 to 1'


def _adapter(value: Mapping[str, object]) -> str:
    mast, moving = value.get('mast'), value.get('moving')
    if not isinstance(mast, str) or mast not in MAST_STATES:
        return f'mast is {_shown(mast)}, not one of {", ".join(MAST_STATES)}'
    if not isinstance(moving, bool):
        return f'moving is {_shown(moving)}, not true or false'
    parts = value.get('appendages', {})
    if not isinstance(parts, dict) or not all(isinstance(each, str) for each in parts.values()):
        return f'appendages is {_shown(parts)}, not texts by name'
    e_stop, violation = value.get('e_stop', False), value.get('violation', '')
    if not isinstance(e_stop, bool):
        return f'e_stop is {_shown(e_stop)}, not true or false'
    return '' if isinstance(violation, str) else f'violation is {_shown(violation)}, not a text'


def _scan(value: Mapping[str, object]) -> str:
    if not isinstance(value.get('view'), bool):
        return f'view is {_shown(value.get("view"))}, not true or false'
    for key in (*SECTORS, *PATHS):
        is_null = key in value and value[key] is None
        if not is_null and not _is_number(value.get(key), 0.0, FAR_M):
            return f'{key} is {_shown(value.get(key))}, not null or metres from 0 to {FAR_M:g}'
    return ''


def _estop(value: Mapping[str, object]) -> str:
    pressed = value.get('pressed')
    if isinstance(pressed, bool):
        return ''
    return f'pressed is {_shown(pressed)}, not true or false'


_SOURCE_CHECKS: dict[str, Callable[[Mapping[str, object]], str]] = {
    'odometry': _odometry,
    'battery': _battery,
    'adapter': _adapter,
    'scan': _scan,
    'estop': _estop,
}


def _is_number(value: object, lowest: float, highest: float) -> bool:
    """Whether ``value`` is a number within the bounds. A boolean or NaN is not."""
    return (
        isinstance(value, (int, float))
        and not isinstance(value, bool)
        and lowest <= value <= highest
    )


def _shown(value: object) -> str:
    """``value`` in a few characters. Python cannot convert integers of over 4300 digits."""
    if isinstance(value, int) and abs(value) >= 10**18:
        return 'a huge number'
    if isinstance(value, str):
        return repr(value[:20])
    if value is None or isinstance(value, (int, float)):
        return repr(value)
    return type(value).__name__


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
