# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The SkillRunner runs persistent tasks. It works alone, without ROS.

    runner = SkillRunner(db_path='robot.db')

    @runner.skill('pour_water', resources=('base',))
    async def pour_water(task: Task) -> None: ...

    await runner.start()
    loop_task = asyncio.create_task(runner.run_loop())
    task = await runner.submit(Task('pour_water', 3))

A skill starts once ACTIVE is committed. It runs at least once: after a crash it runs again, with
the metadata of its last checkpoint. ready_queue.py defines the order of tasks, skill_runs.py the
effect of a skill's end.

If a task of ``blocked_by`` FAILED or was CANCELLED, the dependent task is CANCELLED too. The clock
of ``deadline_s`` stands while the task is PAUSED. Time without a running process counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from curiosity_rosa_demo.agent.tasks.kernel import RARKKernel
from curiosity_rosa_demo.agent.tasks.skill_runs import SkillFunction, TaskSkills
from curiosity_rosa_demo.agent.tasks.task import TaskError
from curiosity_rosa_demo.agent.tasks.validation import task_label

F = TypeVar('F', bound=SkillFunction)


class SkillRunner(RARKKernel):
    """A kernel that runs the skills itself. The constructor arguments are those of RARKKernel."""

    def _make_skills(self, resources: Iterable[str]) -> TaskSkills:
        return TaskSkills(resources)

    def skill(
        self,
        name: str,
        *,
        resources: Iterable[str] | None = None,
        recovers: bool = False,
        cancel_supported: bool = True,
    ) -> Callable[[F], F]:
        """Register an ``async def`` that takes one Task. ``resources`` None means all of them.

        ``recovers``: after a crash the skill re-observes the world, then calls observed(). Until
        then its task is RECOVERING. ``cancel_supported`` False: pause(), interrupt() and cancel()
        do not stop it; cancel_all(), hold(), a deadline and stop() do. Raises ValueError for a
        duplicate name or an unknown resource, TypeError for another kind of function.
        """

        def decorated(function: F) -> F:
            self.register(
                name,
                function,
                resources=resources,
                recovers=recovers,
                cancel_supported=cancel_supported,
            )
            return function

        return decorated

    def register(
        self,
        name: str,
        function: SkillFunction,
        *,
        resources: Iterable[str] | None = None,
        recovers: bool = False,
        cancel_supported: bool = True,
    ) -> None:
        """As ``skill``, for a function that exists already."""
        self._skills.add(name, function, resources, recovers, cancel_supported=cancel_supported)

    async def _report(self, task_id: str, error: str | None) -> None:
        """Always raises TaskError: ending the task would free resources that its skill uses."""
        task = self._live_record(task_id).task
        raise TaskError(
            f'Task {task_label(task)} ends when its skill does; cancel it to end it before'
        )
