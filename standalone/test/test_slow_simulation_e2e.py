# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The whole overlay before a simulation that runs at a quarter of real time."""

from __future__ import annotations

import re

from demo_bench import Bench
import pytest

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(180)]


def test_at_a_quarter_of_real_time_mast_and_wheels_work_and_the_status_says_so(
    bench: Bench,
) -> None:
    commands = (':mast_rotate', ':mast_close', ':forward 1', ':status')
    status, result, output = bench.commands(*commands, options=('--speed', '0.25'))
    assert (status, result['ok']) == (0, True), output
    factor = re.search(r'may drive; real-time factor (\d\.\d\d)', output)
    assert factor, output
    assert float(factor[1]) == pytest.approx(0.25, abs=0.05)
