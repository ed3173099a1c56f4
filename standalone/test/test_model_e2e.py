# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A model drives the demo: the one in the box; a real server, which fails in every way."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from adapter_world import Witness
from chat_server import Call, ChatServer, Fault, Hang, Reply, Say
from curiosity_rosa_demo.trace.jsonl_log import read_newest
from demo_bench import Api, Bench, Run
from harness import Sandbox, wait_until
import psutil
import pytest

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(240)]
KEY = 'sk-this-is-nobodys-key'
ANSWER = 'Fine sand, evenly lit.'
WHO = "! The model 'scripted' of openai"
STOPPED = '! Stopped by the operator'
TIMEOUT_S = 1.5  # of the model
WAIT_S = 60.0  # for one turn


def script(drive_s: float) -> tuple[Say, ...]:
    return (
        Say('I look first.', (Call('capture_and_score'),)),
        Say('It is dark. The mast must be stowed.', (Call('mast_close'),)),
        Say('Into the light.', (Call('move_forward', {'duration_s': drive_s}),)),
        Say(calls=(Call('mast_open'),)),
        Say('I look again.', (Call('capture_and_score'),)),
        Say(calls=(Call('analyze_ground'),)),
        Say(ANSWER),
    )


STEPS, LONG_DRIVE = script(3.0), script(15.0)
CALLS = [call.name for step in STEPS for call in step.calls]
# What a turn survives, before each of the first steps. Two refusals in a row at most: the third
# would end it. unit/test_react_fallback.py has the rest, and what the routine decides instead.
SURVIVED: tuple[tuple[Reply, ...], ...] = (
    (Fault(500),),
    (Say(calls=(Call('rm_rf', {'path': '/'}),)),),
    (
        Say(calls=(Call('move_forward', {'duration_s': 1000.0}),)),
        Say(calls=(Call('turn_left', {'seconds': 1, 'duration_s': 'long'}),)),
    ),
    (Say('So.', (Call('move_forward', '{"duration_s": 1'),)),),
    (Say('{"name": "turn_left", "arguments": {"duration_s": 1}}'),),
    (Say(calls=(Call('get_status'), *[Call('turn_left')] * 2)),),
)


CHILD = 'local_child'
TURN_S = 300.0  # with the machine's cores busy elsewhere: a decision takes seconds on an idle one
RULES = {'patience': {'takeovers': 1}}  # one repeated call ends a weak model's part of the turn
AGENT = {'llm': {'provider': 'local'}}


@pytest.mark.timeout(420)
def test_the_model_in_the_box_finds_the_light_and_comes_back_with_a_killed_agent(
    bench: Bench, sandbox: Sandbox, tmp_path: Path
) -> None:
    witness = Witness(sandbox)
    config = sandbox.config_dir(agent=AGENT, guardrails=RULES)
    options = ('--config-dir', config, '--artifacts', str(tmp_path), '--speed', '10')
    run = bench.run(*options, '--stand-in', 'initial_x=6.0')
    run.expect('Type :help')
    model = wait_until(lambda: bench.find(CHILD), 'the process of the model', 60.0)
    api = Api(run).ready()
    task = f'/tasks/{api.say(":demo")["task"]["id"]}'
    run.until(lambda: api.get(task)['state'] == 'completed', 'the end of the demo', TURN_S)
    decisions = [e for e in read_newest(tmp_path / 'trace.jsonl') if e.kind == 'DECIDE']
    assert any(event.data != {'by': 'routine'} for event in decisions), run.output()

    bench.kill('agent_node')
    psutil.wait_procs([model], timeout=30.0)
    assert not model.is_running()
    bench.back(CHILD, model.pid)
    assert run.end() == 0
    assert witness.violations() == []
    bench.nothing_left()


@dataclass
class Stage:
    bench: Bench
    run: Run
    server: ChatServer
    witness: Witness
    trace: Path

    def demo(self, *script: Reply, ends: str, text: str = ':demo') -> None:
        """One more turn by this script; it ends with this line, and the rover stands."""
        self.server.says(*script)
        times = self.run.output().count(f'\n{ends}') + 1
        self.run.send(text)
        self.run.expect(f'\n{ends}', WAIT_S, times=times)
        wait_until(lambda: not self.bench.moving, 'the rover to stand still')

    def acts(self) -> list[str | None]:
        """The tools that were called, in their order."""
        return [event.tool_name for event in read_newest(self.trace) if event.kind == 'ACT']

    def results(self, tool: str) -> list[str]:
        """What the model was told of its calls of this tool, in the last request."""
        request = self.server.requests[-1]
        calls = [
            call['id']
            for message in request.messages('assistant')
            for call in message.get('tool_calls') or ()
            if call['function']['name'] == tool
        ]
        told = {each['tool_call_id']: each['content'] for each in request.messages('tool')}
        return [str(told[call]) for call in calls]


@pytest.fixture(scope='module')
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """One demo for all: to start it takes as long as ten turns."""
    artifacts = tmp_path_factory.mktemp('artifacts')
    with Sandbox() as box, ChatServer(*STEPS) as server, closing(Bench(box)) as bench:
        llm = {'provider': 'openai', 'model': 'scripted', 'base_url': server.url}
        llm |= {'timeout_s': TIMEOUT_S, 'max_retries': 1, 'fallback': 'none'}
        config = box.config_dir(agent={'llm': llm})
        witness = Witness(box)
        bench.env['OPENAI_API_KEY'] = KEY
        options = ('--config-dir', config, '--artifacts', str(artifacts), '--speed', '10')
        run = bench.run(*options, '--stand-in', 'initial_x=3.6')
        run.expect('Type :help')
        yield Stage(bench, run, server, witness, artifacts / 'trace.jsonl')
        assert run.end() == 0
        assert witness.violations() == []
        assert 'Traceback' not in run.output()
        kept = [path for path in box.folder.rglob('*') if path.is_file()]
        assert any(path.name == 'agent.log' for path in kept)
        for path in (*kept, *artifacts.iterdir()):
            assert KEY.encode() not in path.read_bytes(), path


def test_a_model_drives_the_demo_from_the_dark_into_the_light(stage: Stage) -> None:
    stage.demo(*STEPS, ends=ANSWER)
    first, second = stage.results('capture_and_score')
    assert '"is_good":false' in first
    assert '"is_good":true' in second
    assert [each.authorization for each in stage.server.requests] == [f'Bearer {KEY}'] * len(STEPS)
    assert all(request.body['stream'] for request in stage.server.requests)


def test_what_goes_wrong_once_is_survived(stage: Stage) -> None:
    """Each before a step of its own; what remains is the last step."""
    before = len(stage.acts())
    wrong = [*SURVIVED, ()]
    script = [
        each for step, replies in zip(STEPS, wrong, strict=True) for each in (*replies, step)
    ]
    stage.demo(*script, ends=ANSWER)
    assert len(stage.server.requests) == len(script)
    others = [name for name in stage.acts()[before:] if name != 'get_status']
    assert others == CALLS


def test_what_goes_wrong_for_good_ends_the_turn(stage: Stage) -> None:
    """unit/test_turn.py has the rest."""
    before = len(stage.acts())
    stage.demo(*STEPS[:3], Hang(), ends=f'{WHO} did not answer within {TIMEOUT_S:g} s')
    stage.demo(Fault(500, quote_key=True), ends=f'{WHO} has an internal error (500)')
    assert stage.acts()[before:] == CALLS[:3]


def test_a_stop_while_the_model_thinks(stage: Stage) -> None:
    stage.server.says(*STEPS[:3], Hang())
    stage.run.send(':demo')
    stage.run.until(lambda: len(stage.server.requests) > 3, 'the question after the drive')
    stops = stage.run.output().count(STOPPED)
    stage.run.send(':stop')
    stage.run.expect(STOPPED, times=stops + 1)
    wait_until(lambda: not stage.bench.moving, 'the rover to stand still')


def test_a_stop_while_it_drives(stage: Stage) -> None:
    stage.server.says(*LONG_DRIVE)
    stage.run.send(':demo')
    stage.run.until(lambda: stage.bench.moving, 'the rover to drive', WAIT_S)
    stops = stage.run.output().count(STOPPED)
    stage.run.send('stop!')
    stage.run.until(lambda: not stage.bench.moving, 'the rover to stand still')
    stage.run.expect(STOPPED, times=stops + 1)
    stage.demo(*STEPS, ends=ANSWER)  # and it is none the worse for it


def test_a_drive_that_the_agents_death_cut_is_told_and_not_repeated(stage: Stage) -> None:
    stage.server.says(*LONG_DRIVE)
    before, answers = len(stage.acts()), stage.run.output().count(f'\n{ANSWER}')
    stage.run.send(':demo')
    stage.run.until(lambda: stage.bench.moving, 'the rover to drive', WAIT_S)
    old = stage.bench.kill('agent_node')
    wait_until(lambda: not stage.bench.moving, 'the rover to stand still')
    place = stage.witness.place
    stage.bench.back('agent_node', old)
    stage.run.expect('Going on after 3 calls')
    stage.run.expect(f'\n{ANSWER}', times=answers + 1)
    assert 'Interrupted: what this call did is not known' in stage.results('move_forward')[0]
    assert stage.witness.place == pytest.approx(place, abs=0.05)
    assert stage.acts()[before:] == CALLS
