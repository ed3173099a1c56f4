# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A goal that outlives an empty battery, a pressed e-stop and the death of the agent."""

from __future__ import annotations

import threading

from demo_bench import Bench, Run, wait_until
import pytest
from rover_parameters import turn

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(180)]
CHARGED = 'CHARGE is over'
ENDED = 'The ground can be examined here'  # how the routine ends a demo that succeeded


def driving_demo(bench: Bench, *, initial_x: float = -2.0) -> Run:
    run = bench.run('--speed', '4', '--stand-in', f'initial_x={initial_x}')
    run.expect('Type :help')
    run.send(':demo')
    run.until(lambda: bench.moving, 'the rover to drive')
    return run


def ends_well(run: Run) -> str:
    run.expect(ENDED)
    run.send(':tasks')
    run.expect('COMPLETED')
    assert run.end() == 0
    output = run.output()
    assert 'Traceback' not in output
    return output


def test_a_demo_goes_on_where_it_was_after_a_charge_and_after_its_agents_death(
    bench: Bench,
) -> None:
    run = driving_demo(bench, initial_x=-10.0)
    looks = run.output().count('[ACT] capture_and_score')
    assert looks > 0
    turn(bench, battery=0.1, battery_charge_per_s=0.05)
    run.expect('CHARGE: battery is low')
    run.until(lambda: not bench.moving, 'the rover to stand still')
    run.expect('charging')
    run.expect(CHARGED)
    run.expect('Going on after')
    run.until(lambda: bench.moving, 'the rover to drive on')
    assert run.output().count('User: ') <= 1  # it did not begin again

    old = bench.kill('agent_node')
    bench.back('agent_node', old)
    run.expect('resumed tasks: 1')
    output = ends_well(run)
    assert output.count('Going on after') == 2
    assert 'Interrupted: what this call did is not known' not in output  # for the model only


def test_the_agent_may_die_while_it_charges(bench: Bench) -> None:
    run = driving_demo(bench)
    turn(bench, battery=0.1, battery_charge_per_s=0.03)
    run.expect('CHARGE: battery is low')
    run.expect('charging')
    old = bench.kill('agent_node')
    bench.back('agent_node', old)
    run.expect('resumed tasks: 2')
    run.expect('charged to')
    assert 'Going on after' in ends_well(run)


def test_an_e_stop_holds_everything_until_it_is_cleared(bench: Bench) -> None:
    run = driving_demo(bench)
    turn(bench, e_stop=True)
    run.expect('SAFE: e-stop pressed')
    wait_until(lambda: not bench.moving, 'the rover to stand still')
    run.send(':clear')
    run.expect('not cleared: e-stop pressed')
    acts = run.output().count('[ACT]')
    run.send(':mast_open')
    run.expect('! SAFE_MODE: refused, nothing may move. SAFE since 20')
    turn(bench, e_stop=False)
    run.expect('e-stop released')

    old = bench.kill('agent_node')  # the latch outlives it
    bench.back('agent_node', old)
    run.expect('The agent was restarted')
    run.expect('The last run ended in SAFE: e-stop pressed (since 20')
    run.send(':mode')
    run.expect('latched until :clear: e-stop pressed')
    threading.Event().wait(1.0)  # for something wrong to happen
    assert run.output().count('[ACT]') == acts
    assert not bench.moving

    run.send(':clear')
    run.expect('cleared: e-stop pressed')
    run.expect('1 task held')
    threading.Event().wait(1.0)  # for something wrong to happen
    assert run.output().count('[ACT]') == acts
    assert not bench.moving
    run.send(':resume')
    ends_well(run)
