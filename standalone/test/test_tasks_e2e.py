# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Tasks that outlive an empty battery, a pressed e-stop and the death of the agent."""

from __future__ import annotations

from pathlib import Path

from adapter_world import Witness
from demo_bench import Bench
import pytest
import yaml

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(240)]
ENDED = 'The ground can be examined here'  # how the routine ends a demo that succeeded
ALL_DAY = {
    'activities': {'go_to_work': {'window': '00:00-23:59'}},
    'routine': [{'activity': 'go_to_work', 'window': '00:00-23:59', 'preemptive': False}],
}


def killed_and_back(bench: Bench) -> None:
    bench.back('agent_node', bench.kill('agent_node'))


def test_the_agent_may_die_while_it_charges(bench: Bench) -> None:
    """Before, while it lives by itself; afterwards, in SAFE."""
    config = bench.box.config_dir()
    Path(config, 'world_view.yaml').write_text(yaml.safe_dump(ALL_DAY), encoding='utf-8')
    witness = Witness(bench.box)
    run = bench.run('--speed', '4', '--config-dir', config, '--stand-in', 'initial_x=-8.0')
    run.expect('Type :help')

    run.send(':auto on')
    run.expect('auto is on: the rules of world_view.yaml decide')
    run.expect('action.started: go_to_work, by routine')
    run.until(lambda: bench.moving, 'the rover to drive to its work')
    killed_and_back(bench)
    run.expect('auto is on', times=2)
    run.send(':stop')
    run.expect('auto is off: stopped by')
    bench.stands(10.0)
    run.send(':why 3')
    run.expect('off: stopped by')

    run.send(':demo')
    run.until(lambda: bench.moving, 'the rover to drive')
    bench.turn(battery=0.1, battery_charge_per_s=0.03)
    run.expect('CHARGE: battery is low')
    run.until(lambda: not bench.moving, 'the rover to stand still')
    run.expect('charging')
    killed_and_back(bench)
    run.expect('resumed tasks: 2')
    run.expect('charged to')
    run.expect('Going on after')
    run.expect(ENDED)
    assert run.output().count('User: ') <= 1  # it did not begin again
    assert 'Interrupted: what this call did is not known' not in run.output()  # for a model only

    run.send(':mast_close', ':submit navigate_to_pose {"x": -8.0, "y": 0.0}')
    run.until(lambda: bench.moving, 'the rover to drive back')
    bench.turn(e_stop=True)
    run.expect('SAFE: e-stop pressed')
    run.until(lambda: not bench.moving, 'the rover to stand still')
    run.send(':clear')
    run.expect('not cleared: e-stop pressed')
    run.send(':mast_open')
    run.expect('! SAFE_MODE: refused, nothing may move. SAFE since 20')
    bench.turn(e_stop=False)
    run.expect('e-stop released')
    acts = run.output().count('[ACT]')
    killed_and_back(bench)  # the latch outlives it
    run.expect('The last run ended in SAFE: e-stop pressed (since 20')
    run.send(':mode')
    run.expect('latched until :clear: e-stop pressed')
    run.send(':clear')
    run.expect('cleared: e-stop pressed')
    run.expect('task held')
    run.send(':tasks')
    run.expect('PAUSED')
    bench.stands(10.0)
    assert run.output().count('[ACT]') == acts
    run.send(':resume')
    run.expect('a motion is not repeated by itself')
    assert run.end() == 0
    assert 'Traceback' not in run.output()
    assert witness.violations() == []
