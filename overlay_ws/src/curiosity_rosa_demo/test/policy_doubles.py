# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What a policy deals with: a kernel that carries out its commands, and a model that it asks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from curiosity_rosa_demo.agent.policy.action import (
    CancelTasks,
    Command,
    PauseTasks,
    PolicyAction,
    ResumeTasks,
    SubmitTasks,
)
from curiosity_rosa_demo.agent.policy.suggestion import PromptSituation
from curiosity_rosa_demo.agent.policy.suggestion_provider import LLMPolicyProvider
from curiosity_rosa_demo.agent.policy.world_state import Ongoing
from curiosity_rosa_demo.agent.policy.world_view import WorldModel
from curiosity_rosa_demo.infra.config.agent import PolicyConfig
from curiosity_rosa_demo.infra.config_loader import load_config

SETTINGS = load_config().agent.policy
WORK_S = 90.0  # how long the work of an activity takes, unless a test says otherwise


@dataclass
class Job:
    """One task of the twin. ``left_s``: of its work; ``minutes``: it lasts so long from when it
    first runs, whether paused or not.
    """

    ongoing: Ongoing
    left_s: float = 0.0
    minutes: float | None = None
    until: float | None = None
    fails: bool = False
    paused: bool = False


class SimulatedTasks:
    """Carries out commands as the kernel would. ``work_s`` says for an activity how many seconds
    its work takes; negative: it fails after so long.
    """

    def __init__(
        self, world: WorldModel, work_s: Callable[[str], float] = lambda name: WORK_S
    ) -> None:
        self.world, self.work_s = world, work_s
        self.states: dict[str, str] = {}
        self.at = 0.0
        self.place, self.energy = world.view.begins.place, world.view.begins.energy
        self._jobs: dict[str, Job] = {}  # those that have not ended, in the order of their begin

    def do(self, commands: Sequence[Command], at: float) -> None:
        self.advance(at)
        for command in commands:
            if isinstance(command, SubmitTasks):
                self._submit(command.ongoing)
            else:
                for task_id in command.task_ids:
                    self._control(command, task_id)
        self.advance(at)

    def advance(self, at: float) -> None:
        for task_id in list(self._jobs):
            if task_id in self._jobs:
                self._run(task_id, at)
        self.at = at

    def lose(self) -> None:
        """All tasks, as a kernel whose file was moved away."""
        self.states, self._jobs = {}, {}

    def cancel_all(self) -> None:
        """As somebody does who is not the policy."""
        for task_id in list(self._jobs):
            self._end(task_id, 'CANCELLED')

    def live(self) -> list[Job]:
        """Those that run or wait to run."""
        return [job for job in self._jobs.values() if not job.paused]

    def _submit(self, ongoing: Ongoing) -> None:
        activity = self.world.view.activities[ongoing.activity]
        if any(task_id in self.states for task_id in ongoing.task_ids):
            raise AssertionError(f'{ongoing.activity} was submitted twice')
        jobs: list[Job] = []
        if activity.does or activity.asks:
            left_s = self.work_s(ongoing.activity)
            jobs.append(Job(ongoing, left_s=abs(left_s), fails=left_s < 0.0))
        if activity.minutes:
            jobs.append(Job(ongoing, minutes=activity.minutes))
        assert len(jobs) == len(ongoing.task_ids)
        for task_id, job in zip(ongoing.task_ids, jobs, strict=True):
            self._jobs[task_id] = job
            self.states[task_id] = 'PENDING'

    def _control(self, command: Command, task_id: str) -> None:
        job = self._jobs.get(task_id)
        if job is None:
            return
        if isinstance(command, CancelTasks):
            self._end(task_id, 'CANCELLED')
        else:
            job.paused = isinstance(command, PauseTasks)
            assert job.paused or isinstance(command, ResumeTasks)
            self.states[task_id] = 'PAUSED' if job.paused else 'PENDING'

    def _run(self, task_id: str, at: float) -> None:
        job = self._jobs[task_id]
        if job.paused:
            return
        begins = self.at
        first = job.ongoing.task_ids[0]
        if first != task_id:
            if first in self._jobs:
                self.states[task_id] = 'WAITING'
                return
            if self.states[first] != 'COMPLETED':
                self._end(task_id, 'CANCELLED')
                return
        self.states[task_id] = 'ACTIVE'
        if job.minutes is None:
            job.left_s -= at - begins
            over = job.left_s <= 0.0
        else:
            if job.until is None:
                job.until = at + job.minutes * 60.0
            over = at >= job.until
        self._drain(job, at - begins)
        if over:
            self._end(task_id, 'FAILED' if job.fails else 'COMPLETED')

    def _drain(self, job: Job, seconds: float) -> None:
        rate = self.world.view.activities[job.ongoing.activity].energy_per_h
        self.energy = min(1.0, max(0.0, self.energy + rate * seconds / 3600.0))

    def _end(self, task_id: str, state: str) -> None:
        job = self._jobs.pop(task_id)
        self.states[task_id] = state
        to = self.world.view.activities[job.ongoing.activity].to
        if to and state == 'COMPLETED' and task_id == job.ongoing.task_ids[-1]:
            self.place = to


class ScriptedModel:
    """A model behind the real provider. ``say`` answers a situation or raises; while ``silent``
    its answers are held back until ``speak``.
    """

    def __init__(
        self, say: Callable[[PromptSituation], PolicyAction], settings: PolicyConfig = SETTINGS
    ) -> None:
        self.say = say
        self.asked: list[PromptSituation] = []
        self.silent = False
        self.steady_s = 0.0
        self._calls: list[Callable[[], None]] = []
        self.provider = LLMPolicyProvider(
            self._ask, settings, start=self._start, steady=lambda: self.steady_s
        )

    def speak(self) -> None:
        calls, self._calls = self._calls, []
        for call in calls:
            call()

    def _start(self, call: Callable[[], None]) -> None:
        self._calls.append(call)
        if not self.silent:
            self.speak()

    def _ask(self, situation: PromptSituation, refusals: str) -> PolicyAction:
        self.asked.append(situation)
        return self.say(situation)


def suggests(name: str, *, preemptive: bool = False) -> Callable[[PromptSituation], PolicyAction]:
    action = PolicyAction(type=name, preemptive=preemptive, rationale=f'{name} would be good')
    return lambda situation: action
