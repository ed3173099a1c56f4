# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Decide whether a tick can skip the graph, because a run could not change the state. Pure.

The nodes are pure functions of the state and the inputs of a tick. If a run left the state
unchanged and the new inputs differ in time stamps only, the next run leaves it unchanged too.
Elapsed time matters in two cases: a source falls silent, or the rover moves with its mast up.
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

MAX_SKIPPED_S = 1.0  # longest time without a graph run


@dataclass(frozen=True)
class TickInputs:
    """The inputs of a tick, except the message."""

    now_s: float
    readings: Mapping[str, Reading]
    queue: list[QueuedTask]
    question: Question | None = None  # the one that a plain yes or no answers
    running: list[RunningSkill] = field(default_factory=list)
    violation: str = ''  # of a safety rule, reported since the last tick; empty without one


def is_settled(before: BrainState, after: BrainState) -> bool:
    """Whether a run left the state unchanged, apart from the ages of readings."""
    return (
        after.robot.exposed_since_s is None
        and not after.robot.events
        and _without_ages(before) == _without_ages(after)
    )


def is_unchanged(
    last: TickInputs, now: TickInputs, state: BrainState, max_age_s: Mapping[str, float]
) -> bool:
    """Whether ``now`` differs from the inputs of the ``last`` run in time stamps only."""
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
        # The age of a source is that of its last valid reading, also while it sends invalid ones.
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
