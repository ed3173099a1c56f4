# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The skills that run now, from every executor, with their resources and their progress.

One monitor serves every executor of the agent. It is the lock of the resources base, mast and
camera: two skills that need the same resource never run at once. A skill that did not react to its
stop holds its resources until its thread ends, because it may still use them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
import logging
import threading
import time

from curiosity_rosa_demo.agent.skills.skill import fraction_of, is_due, ResourceBusy
from curiosity_rosa_demo.agent.tasks.origin import current_order
from curiosity_rosa_demo.domain.brain_state import Json, RunningSkill

ProgressListener = Callable[[RunningSkill], None]

_log = logging.getLogger('curiosity_rosa.skills')


class SkillMonitor:
    """Thread-safe. The monitor calls two callbacks in the thread of the skill: ``listener`` with
    each progress report that is due, and ``on_violation`` with the reason of each failure that
    breaks a safety rule.

    An entry whose ``goal_id`` is a task's ID represents the task itself. It does not compete with
    the skills that this task starts.

    ``rover_clock`` counts the time-outs of skills that hold a resource of the rover.
    """

    def __init__(
        self,
        listener: ProgressListener = lambda run: None,
        clock: Callable[[], float] = time.monotonic,
        *,
        rover_clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._listener, self._clock, self.rover_clock = listener, clock, rover_clock
        self.on_violation: Callable[[str], None] = lambda reason: None
        self._lock = threading.RLock()
        self._running: dict[str, RunningSkill] = {}
        self._told: dict[str, tuple[float, float]] = {}  # the last report: seconds, fraction

    def claim(self, run: RunningSkill) -> None:
        """Add ``run``, which holds its resources until ``release``. Raises ResourceBusy."""
        with self._lock:
            holder = self.holder_of(run.resources_occupied)
            if holder is not None:
                shared = set(run.resources_occupied).intersection(holder.resources_occupied)
                raise ResourceBusy(
                    f'RESOURCE_CONFLICT: {run.skill_name} needs {", ".join(sorted(shared))}, '
                    f'which {holder.skill_name} holds; wait for it, or cancel it'
                )
            self.enter(run)

    def enter(self, run: RunningSkill) -> None:
        """Add a task without a check: the task scheduler has reserved its resources."""
        with self._lock:
            self._running[run.goal_id] = run

    def release(self, goal_id: str) -> None:
        """Remove a run that has ended. Does nothing for an unknown ID."""
        with self._lock:
            self._running.pop(goal_id, None)
            self._told.pop(goal_id, None)

    def report(self, goal_id: str, progress: Json) -> None:
        """Store a progress report of a run. Exceptions of the listener are logged, not raised."""
        now_s, fraction = self._clock(), fraction_of(progress)
        with self._lock:
            run = self._running.get(goal_id)
            if run is None:
                return
            run = self._running[goal_id] = run.model_copy(update={'progress': progress})
            told_s, before = self._told.setdefault(goal_id, (now_s, 0.0))
            if not is_due(progress, now_s - told_s, before):
                return
            self._told[goal_id] = (now_s, before if fraction is None else fraction)
        try:
            self._listener(run)
        except Exception:
            _log.exception('event=progress_not_told skill=%s', run.skill_name)

    def running(self) -> list[RunningSkill]:
        """The running skills and tasks, oldest first."""
        with self._lock:
            return list(self._running.values())

    def competing(self) -> list[RunningSkill]:
        """The running skills that compete with a skill started in this context."""
        task_id = current_order().task_id
        return [run for run in self.running() if not task_id or run.goal_id != task_id]

    def holder_of(self, resources: Collection[str]) -> RunningSkill | None:
        """The running skill that blocks a skill started in this context from ``resources``."""
        needs = set(resources)
        return next((run for run in self.competing() if needs & {*run.resources_occupied}), None)
