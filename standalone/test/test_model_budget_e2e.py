# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A provider that reports tokens, and llm.budget, in the whole product and over its restart."""

from __future__ import annotations

from chat_server import Call, ChatServer, Say
from curiosity_rosa_demo.trace.events import BudgetLimitReached, ModelCalled
from curiosity_rosa_demo.trace.jsonl_log import read_trace
from demo_bench import Bench
from harness import Sandbox
from http_client import Api
import pytest

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(240)]
FOUND = '\nThe ground can be examined here'  # the routine's own answer
WAIT_S = 60.0
LOOK = Say('I look first.', (Call('capture_and_score'),), tokens=(20_000, 500))


def test_the_limit_of_the_day_stops_the_model_within_one_call_and_holds_after_a_restart() -> None:
    with Sandbox() as box, ChatServer(LOOK) as server:
        llm = {'provider': 'openai', 'model': 'scripted', 'base_url': server.url}
        llm |= {'budget': {'day_tokens': 22_000}, 'prices': {'input': 2.0, 'output': 8.0}}
        config, trace = box.config_dir(agent={'llm': llm}), box.folder / 'trace.jsonl'
        bench = Bench(box)
        bench.env['OPENAI_API_KEY'] = 'sk-this-is-nobodys-key'
        options = ('--config-dir', config, '--artifacts', str(box.folder), '--speed', '10')
        try:
            run = bench.run(*options)
            api = Api(run).ready()
            task = api.say(':demo')['task']['id']
            run.expect(FOUND, WAIT_S)
            assert len(server.requests) == 1
            run.until(lambda: 'usage' in api.get(f'/tasks/{task}')['metadata'], 'its usage')
            assert api.get(f'/tasks/{task}')['metadata']['usage']['cost'] == pytest.approx(0.044)
            day = api.get('/state')['usage']['day']
            assert (day['input'], day['output'], day['max_tokens']) == (20_000, 500, 22_000)
            metrics = api.client.get('/metrics').text
            counted = 'curiosity_model_tokens_total{direction="input",model="scripted"} 20000.0'
            assert counted in metrics
            run.send(':budget')
            run.expect('20,500 of 22,000 (20,000 in, 500 out)')
            assert run.end() == 0
            events = read_trace(trace)
            (called,) = (found for each in events if (found := ModelCalled.of(each)))
            assert (called.input, called.output, called.cost) == (20_000, 500, 0.044)
            assert {each.scope for each in map(BudgetLimitReached.of, events) if each} == {'day'}
            assert 'BudgetReached' not in run.output()

            again = bench.run(*options)
            Api(again).ready().say(':demo')
            again.expect(FOUND, WAIT_S)
            assert len(server.requests) == 1
            again.send(':budget')
            again.expect('20,500 of 22,000')
            assert again.end() == 0
        finally:
            bench.close()
