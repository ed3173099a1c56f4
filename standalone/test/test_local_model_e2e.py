# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.
"""The model of llm.provider local drives the demo: the real one, in a process of its own."""

from __future__ import annotations

from pathlib import Path

from adapter_world import Witness
from curiosity_rosa_demo.trace.jsonl_log import read_trace
from demo_bench import Api, Bench
from harness import Sandbox, wait_until
import psutil
import pytest

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(420)]
MODEL = 'local_child'
TURN_S = 300.0  # with the machine's cores busy elsewhere: a decision takes seconds on an idle one
RULES = {'patience': {'takeovers': 1}}  # one repeated call ends a weak model's part of the turn
AGENT = {'llm': {'provider': 'local'}}


def test_the_model_in_the_box_finds_the_light_and_comes_back_with_a_killed_agent(
    bench: Bench, sandbox: Sandbox, tmp_path: Path
) -> None:
    witness = Witness(sandbox)
    config = sandbox.config_dir(agent=AGENT, guardrails=RULES)
    options = ('--config-dir', config, '--artifacts', str(tmp_path), '--speed', '10')
    run = bench.run(*options, '--stand-in', 'initial_x=6.0')
    run.expect('Type :help')
    model = wait_until(lambda: bench.find(MODEL), 'the process of the model', 60.0)
    api = Api(run).ready()
    task = f'/tasks/{api.say(":demo")["task"]["id"]}'
    run.until(lambda: api.get(task)['state'] == 'completed', 'the end of the demo', TURN_S)
    decisions = [e for e in read_trace(tmp_path / 'trace.jsonl') if e.kind == 'DECIDE']
    assert any(event.data != {'by': 'routine'} for event in decisions), run.output()

    bench.kill('agent_node')
    psutil.wait_procs([model], timeout=30.0)
    assert not model.is_running()
    bench.back(MODEL, model.pid)
    assert run.end() == 0
    assert witness.violations() == []
    bench.nothing_left()
