# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The adapter's status, and how often it is published."""

from __future__ import annotations

from itertools import pairwise
import json
import time
from typing import Any

from curiosity_rosa_demo.adapter.mast import MastAction
from curiosity_rosa_demo.adapter.obstacle_stop import ObstacleStop
from curiosity_rosa_demo.adapter.status import MIN_PERIOD_S, PERIOD_S, status_of, StatusSchedule
from curiosity_rosa_demo.domain.adapter_status import MEASURED_FIELDS
from curiosity_rosa_demo.infra.config_loader import load_config
from curiosity_rosa_demo.infra.obstacles import ObstacleView
from guard_world import World
from hypothesis import given
from hypothesis import strategies as st
import numpy as np
import pytest

OBSTACLES = ObstacleStop(load_config().thresholds, time.monotonic)
MOVED = {'rover_x': 1.0, 'rover_y': 0.0, 'yaw_rad': 0.1, 'mast_yaw_rad': 0.2, 'moving': True}


def test_the_status_is_json_and_knows_what_nobody_knows() -> None:
    world = World()
    status = status_of(world.guard, None, None, OBSTACLES)
    assert json.loads(json.dumps(status)) == status
    assert set(status) > MEASURED_FIELDS
    assert (status['mast'], status['mast_is_open'], status['moving']) == ('unknown', None, True)
    assert all(status[key] is None for key in MEASURED_FIELDS)


def test_the_mast_turns_only_while_it_is_not_closed() -> None:
    world = World()
    world.step(1.0)
    pose = (1.0, 2.0, 0.5)
    assert status_of(world.guard, pose, -0.5, OBSTACLES)['mast_yaw_rad'] == -0.5
    world.ask_mast(MastAction.CLOSE)
    world.step(2.0)
    status = status_of(world.guard, pose, -1.57, OBSTACLES)
    assert (status['mast_is_open'], status['mast_yaw_rad']) == (False, None)
    assert (status['rover_x'], status['rover_y'], status['yaw_rad']) == pose
    assert status['move_allowed']
    OBSTACLES.record_scan(ObstacleView(False, {}, np.empty((0, 2))))
    status = status_of(world.guard, pose, -1.57, OBSTACLES)
    assert (status['obstacle_view'], status['obstacle_ahead_m']) == (
        'no view ahead while stowed',
        None,
    )


def test_a_change_is_told_at_once_but_not_twenty_times_a_second() -> None:
    pace = StatusSchedule()
    assert pace.take_due(MOVED, 10.0)
    assert pace.take_due({**MOVED, 'moving': False}, 10.0 + MIN_PERIOD_S)
    assert not pace.take_due(MOVED, 10.0 + 1.5 * MIN_PERIOD_S)
    assert pace.next_wakeup() == pytest.approx(10.0 + 2 * MIN_PERIOD_S)
    assert pace.take_due(MOVED, pace.next_wakeup())


@pytest.mark.parametrize('key', sorted(MEASURED_FIELDS))
def test_a_measured_number_alone_can_wait(key: str) -> None:
    pace = StatusSchedule()
    pace.take_due(MOVED, 0.0)
    assert not pace.take_due({**MOVED, key: 9.0}, 0.9)
    assert pace.next_wakeup() == PERIOD_S
    assert pace.take_due({**MOVED, key: 9.0}, PERIOD_S)


def test_a_status_that_could_not_be_sent_is_sent_again_soon() -> None:
    pace = StatusSchedule()
    assert pace.take_due(MOVED, 10.0)
    pace.lost()
    assert pace.next_wakeup() == pytest.approx(10.0 + MIN_PERIOD_S)
    assert pace.take_due(MOVED, pace.next_wakeup())
    assert pace.next_wakeup() == pytest.approx(10.0 + MIN_PERIOD_S + PERIOD_S)


@given(
    st.lists(
        st.tuples(st.floats(0.001, 3.0), st.fixed_dictionaries(dict.fromkeys('ab', st.booleans())))
    )
)
def test_it_keeps_its_pace_and_ends_with_the_newest(steps: list[tuple[float, Any]]) -> None:
    """Asked when something happens and whenever it wants to be asked, as the watcher does."""
    pace, now, told, status = StatusSchedule(), 0.0, [], {'a': True}
    for wait, following in [*steps, (2 * PERIOD_S, None)]:
        end = now + wait
        while now < end:
            if pace.take_due(status, now):
                told.append((now, status))
            assert pace.next_wakeup() > now
            now = min(end, pace.next_wakeup())
        if following is not None:
            status = following
    gaps = [later - earlier for (earlier, _), (later, _) in pairwise(told)]
    assert all(MIN_PERIOD_S - 1e-9 <= gap <= PERIOD_S + 1e-9 for gap in gaps)
    assert told[-1][1] == status
