# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The registry of skills by name, with the function and the resources of each."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
import inspect

from curiosity_rosa_demo.agent.tasks.task import Task

SkillFunction = Callable[[Task], Awaitable[None]]


@dataclass(frozen=True)
class TaskSkill:
    function: SkillFunction
    resources: frozenset[str]
    recovers: bool  # after a crash it re-observes, then calls observed()
    cancel_supported: bool = True  # False: pause, interrupt and cancel do not stop it


class TaskSkills:
    def __init__(self, resources: Iterable[str]) -> None:
        self.resources = frozenset(resources)
        self._skills: dict[str, TaskSkill] = {}

    def add(
        self,
        name: str,
        function: SkillFunction,
        resources: Iterable[str] | None,
        recovers: bool,
        *,
        cancel_supported: bool = True,
    ) -> None:
        """Register a skill. ``resources`` None means all. Raises ValueError, TypeError."""
        if name in self._skills:
            raise ValueError(f'There is already a skill {name!r}; give this one another name')
        if not inspect.iscoroutinefunction(function):
            raise TypeError(f'The skill {name!r} is {function!r}; it must be an async def')
        needed = self.resources if resources is None else frozenset(resources)
        if unknown := needed - self.resources:
            raise ValueError(
                f'The skill {name!r} needs {sorted(unknown)}; '
                f'the resources are {sorted(self.resources)}'
            )
        self._skills[name] = TaskSkill(function, needed, recovers, cancel_supported)

    def get(self, name: str) -> TaskSkill | None:
        return self._skills.get(name)

    def needs(self, task: Task) -> frozenset[str]:
        if task.resources is not None:
            return task.resources
        skill = self._skills.get(task.name)
        return self.resources if skill is None else skill.resources

    def missing(self, name: str) -> str:
        known = ', '.join(sorted(self._skills)) or 'none'
        return f'there is no skill {name!r}; registered: {known}'
