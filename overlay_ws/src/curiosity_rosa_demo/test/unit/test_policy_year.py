# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Eight weeks of minute ticks in each shipped world, with HYPOTHESIS_PROFILE=thorough a year: no
rule is broken (policy_rules.py looks at every tick), and they have what they are made of.
bench/policy_year.py measures what a year costs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from curiosity_rosa_demo.infra.config.world import WorldView
from examples import days
from policy_world import COMPANION, ROVER, run_policy, world_of
import pytest

# Traced it takes four times as long.
pytestmark = [pytest.mark.timeout(1800), pytest.mark.no_cover]
DAYS = days(8 * 7)


def messages(at: float) -> Sequence[str]:
    """A message every 50 hours."""
    return ['hello'] if int(at) // 60 % 3000 == 0 else []


@pytest.mark.parametrize(
    ('view', 'each_day', 'each_weekday'),
    [
        (ROVER, ('sleep', 'wake', 'go_to_work', 'go_home'), ()),
        (COMPANION, ('sleep', 'wake'), ('go_to_school', 'study', 'go_home', 'homework')),
    ],
    ids=['rover', 'companion'],
)
def test_weeks_of_minutes(
    view: WorldView, each_day: tuple[str, ...], each_weekday: tuple[str, ...]
) -> None:
    policy_run = run_policy(world_of(view), DAYS, messages=messages)
    begun = Counter(name for _, name, _ in policy_run.rules.begun)
    for name in each_day:
        assert DAYS - 5 <= begun[name] <= DAYS + 5, begun
    for name in each_weekday:
        assert DAYS * 250 // 365 <= begun[name] <= DAYS * 2 * 262 // 365, begun
    assert begun['read_message'] >= DAYS * 1440 // 3000 - 1
