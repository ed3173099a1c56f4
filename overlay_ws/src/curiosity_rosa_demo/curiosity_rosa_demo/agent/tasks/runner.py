# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The SkillRunner: tasks that survive time. Usable alone, without ROS.

    runner = SkillRunner(db_path='robot.db')

    @runner.skill('pour_water', resources=('base',))
    async def pour_water(task: Task) -> None: ...

    await runner.start()
    loop_task = asyncio.create_task(runner.run_loop())
    task = await runner.submit(Task('pour_water', 3))

A skill starts once ACTIVE is committed. It runs at least once; after a crash it runs again, with
the metadata of its last checkpoint. What starts when is written in ready_queue.py, what the end of
a skill means in skill_runs.py.

A task whose ``blocked_by`` names one that FAILED or was CANCELLED is CANCELLED itself. The clock
of ``deadline_s`` stands while the task is PAUSED; the time in which no process ran counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from curiosity_rosa_demo.agent.tasks.errors import TaskError
from curiosity_rosa_demo.agent.tasks.kernel import RARKKernel
from curiosity_rosa_demo.agent.tasks.skill import SkillFunction, TaskSkills
from curiosity_rosa_demo.agent.tasks.validation import task_label

F = TypeVar('F', bound=SkillFunction)


class SkillRunner(RARKKernel):
    """A kernel that carries its tasks out itself. The arguments are those of RARKKernel."""

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
        """Registers an ``async def`` of one Task. ``resources`` None: all of them.

        ``recovers``: after a crash it looks again and then calls observed(); until that its task
        is RECOVERING. ``cancel_supported`` False: pause(), interrupt() and cancel() do not stop
        it; cancel_all(), hold(), a deadline and stop() do. Raises ValueError, TypeError.
        """

        def register(function: F) -> F:
            self._skills.add(
                name, function, resources, recovers, cancel_supported=cancel_supported
            )
            return function

        return register

    async def _report(self, task_id: str, error: str | None) -> None:
        """Raises TaskError: two skills might run at once if somebody else ended a task."""
        task = self._alive(task_id).task
        raise TaskError(
            f'Task {task_label(task)} ends when its skill does; cancel it to end it before'
        )
