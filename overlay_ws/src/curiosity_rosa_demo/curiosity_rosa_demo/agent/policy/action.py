# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Values of a policy tick: proposed actions, external inputs and commands. Pure data."""

from __future__ import annotations

from dataclasses import dataclass, field

from curiosity_rosa_demo.agent.policy.world_state import Ongoing, Source
from curiosity_rosa_demo.domain.models import Model
from pydantic import Field


class PolicyAction(Model):
    """One action as a model writes it: the name of an activity, whether it may interrupt what
    goes on, and why.
    """

    type: str = Field(min_length=1, max_length=60, description='the name of an activity')
    preemptive: bool = Field(
        default=False, description='true: it interrupts the activity that goes on now'
    )
    rationale: str = Field(default='', max_length=500, description='why, in one sentence')


@dataclass(frozen=True)
class ActionProposal:
    action: PolicyAction
    source: Source


@dataclass(frozen=True)
class Senses:
    """Inputs from outside the policy. ``place`` and ``energy`` are None when not measured.
    ``hold_reason``: why no activity may start, such as 'SAFE: e-stop pressed'; '' when one may.
    ``tasks``: LifecycleState name of each requested kernel task; a task that the kernel does not
    know is missing. ``devices``: whether a device is usable, for each device that was switched
    since the agent started.
    """

    place: str | None = None
    energy: float | None = None
    hold_reason: str = ''
    tasks: dict[str, str] = field(default_factory=dict)
    devices: dict[str, bool] = field(default_factory=dict)


@dataclass(frozen=True)
class SubmitTasks:
    """Submit the tasks of an activity."""

    ongoing: Ongoing


@dataclass(frozen=True)
class CancelTasks:
    task_ids: tuple[str, ...]
    why: str


@dataclass(frozen=True)
class PauseTasks:
    """Hold the tasks until ``ResumeTasks``."""

    task_ids: tuple[str, ...]
    why: str


@dataclass(frozen=True)
class ResumeTasks:
    task_ids: tuple[str, ...]


Command = SubmitTasks | CancelTasks | PauseTasks | ResumeTasks
