# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Runs of the rover's rules in the worlds of bench/worlds.py."""

from __future__ import annotations

from types import SimpleNamespace

from _worlds import world_of
from curiosity_rosa_demo.domain.ground import GROUND_UNKNOWN
from curiosity_rosa_demo.domain.refusal import RefusalCode
from curiosity_rosa_demo.infra.config_loader import load_config
from curiosity_rosa_demo.infra.ros_io import ServiceFailed
import pytest
from rover_twin import RoverTwin
from worlds import run_world

CONFIG = load_config()
WHY = 'no free patch of ground: rocks or the rover cover what is near'


def test_a_success_ends_with_the_analysis_and_costs_no_less_than_the_optimum() -> None:
    run = run_world(world_of(3), CONFIG)
    assert (run.found, run.ok, run.violations) == (True, True, ())
    assert 'could not' not in run.answer
    assert run.over is not None
    assert run.over >= 1.0


@pytest.mark.parametrize(
    ('error', 'found', 'answer'),
    [
        (
            ServiceFailed(f'{GROUND_UNKNOWN}: {WHY}', RefusalCode.GROUND_UNKNOWN.value),
            True,
            f'The light is here, but the ground could not be analyzed: {WHY}.',
        ),
        (AttributeError('no such thing'), False, ''),
    ],
)
def test_a_ground_that_cannot_be_analyzed_is_a_failure_in_one_sentence(
    error: Exception, found: bool, answer: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(_: RoverTwin) -> SimpleNamespace:
        raise error

    monkeypatch.setattr(RoverTwin, 'analyze_ground', refused)
    run = run_world(world_of(3), CONFIG)
    assert (run.found, run.ok) == (found, False)
    assert run.answer.startswith(answer)
