# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""When a tick needs no run through the graph, because it could change nothing. Pure.

The nodes are functions of the state and of what is put into it. When a run left all as it was, and
what comes in is the same but for its time stamps, the next run would leave all as it is too; time
alone matters only to a source that falls silent, and to a mast that is up while the rover moves.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from curiosity_rosa_demo.domain.brain_state import (
    BrainState,
    Question,
    QueuedTask,
    Reading,
    RunningSkill,
)

MAX_SKIPPED_S = 1.0  # seconds without a run, at most


@dataclass(frozen=True)
class TickInputs:
    """What comes into a tick beside a message."""

    now_s: float
    readings: Mapping[str, Reading]
    queue: list[QueuedTask]
    question: Question | None = None  # the one that a plain yes or no answers
    running: list[RunningSkill] = field(default_factory=list)
    violation: str = ''  # of a safety rule, reported since the last tick


def is_settled(before: BrainState, after: BrainState) -> bool:
    """Whether a run left all as it was; the ages of what was heard aside."""
    return (
        after.robot.exposed_since_s is None
        and not after.robot.events
        and _without_ages(before) == _without_ages(after)
    )


def is_unchanged(
    last: TickInputs, now: TickInputs, state: BrainState, max_age_s: Mapping[str, float]
) -> bool:
    """Whether ``now`` differs from the inputs of the ``last`` run in nothing but time stamps."""
    if now.now_s - last.now_s >= MAX_SKIPPED_S or now.queue != last.queue:
        return False
    if now.question != last.question or now.running != last.running:
        return False
    if now.violation:
        return False
    if now.readings.keys() != last.readings.keys():
        return False
    silent = state.robot.silent
    for source, reading in now.readings.items():
        if reading.value != last.readings[source].value:
            return False
        # While a source sends what cannot be used, its last good reading grows old.
        usable = state.robot.heard.get(source) if source in state.robot.refused else reading
        if usable is None:
            continue
        is_silent = now.now_s - usable.received_s > max_age_s.get(source, float('inf'))
        if is_silent is not (source in silent):
            return False
    return True


def _without_ages(state: BrainState) -> BrainState:
    robot = state.robot.model_copy(update={'ages_s': {}, 'heard': {}})
    telemetry = state.telemetry.model_copy(update={'now_s': 0.0, 'readings': {}})
    return state.model_copy(update={'robot': robot, 'telemetry': telemetry})
