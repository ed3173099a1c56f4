# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The examples of the SkillRunner run as they are."""

from __future__ import annotations

from pathlib import Path
import runpy

from http_world import running, state_of
import pytest
from skill_world import in_loop

EXAMPLES = Path(__file__).resolve().parents[5] / 'examples'


def test_the_interrupted_task_goes_on_where_it_was(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(EXAMPLES / 'interrupt_demo.py'), run_name='__main__')
    told = capsys.readouterr().out.splitlines()
    cups = [line for line in told if line.startswith('pour_water: cup')]
    assert cups == [f'pour_water: cup {number} of 4' for number in range(1, 5)]
    assert sorted(set(told) - set(cups)) == [
        'avoid_obstacle: COMPLETED',
        'avoid_obstacle: the rover waits',
        'avoid_obstacle: the way is free',
        'pour_water: COMPLETED',
        'pour_water: PAUSED',
    ]
    assert told.index('avoid_obstacle: the way is free') < told.index(cups[-1])


@in_loop
async def test_the_server_runs_and_interrupts_tasks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # for its database
    runner = runpy.run_path(str(EXAMPLES / 'server_demo.py'))['runner']
    async with running(runner) as http:
        water = (await http.post('/tasks', json={'name': 'pour_water'})).json()
        await state_of(http, water['id'], 'active')
        obstacle = await http.post('/interrupt', json={'name': 'avoid_obstacle', 'priority': 10})
        assert obstacle.status_code == 201
        await state_of(http, water['id'], 'paused')
        answer = (await http.delete(f'/tasks/{water["id"]}')).json()
        assert (answer['state'], answer['cancelled']) == ('cancelled', True)
