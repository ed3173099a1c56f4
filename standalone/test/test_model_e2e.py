"""A real OpenAI-compatible server drives the demo, and fails in every way at every step."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from demo_bench import Bench, Run, wait_until
from rover_witness import Witness

from chat_server import Call, ChatServer, Cut, Fault, Hang, Reply, Say
from curiosity_rosa_demo.trace.trace_recorder import read_trace

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(240)]
KEY = 'sk-this-is-nobodys-key'
ANSWER = 'Fine sand, evenly lit.'
WHO = "! The model 'scripted' of openai"
DRIVE_S = 6.0
STEPS = (
    Say('I look first.', (Call('capture_and_score'),)),
    Say('It is dark. The mast must be stowed.', (Call('mast_close'),)),
    Say('Into the light.', (Call('move_forward', {'duration_s': DRIVE_S}),)),
    Say(calls=(Call('mast_open'),)),
    Say('I look again.', (Call('capture_and_score'),)),
    Say(ANSWER),
)
# One step of the script gone wrong for good, and the line that the turn ends with.
FATAL: dict[str, tuple[Callable[[Say], Reply], str]] = {
    '500 for ever': (lambda _: Fault(500, quote_key=True), f'{WHO} has an internal error (500)'),
    'hang': (lambda _: Hang(), f'{WHO} did not answer within 0.5 s'),
    'cut stream': (Cut, f'{WHO} closed the connection before its answer was complete'),
    'torn arguments': (
        lambda _: Say('So.', (Call('move_forward', '{"duration_s": 1'),)),
        '! The model wrote a tool call that cannot be read',
    ),
    'empty answer': (lambda _: Say(), '! The model answered nothing'),
}
# What a turn survives. Two refusals in a row at most: the third would end it.
SURVIVED: dict[str, tuple[Reply, ...]] = {
    '500 once': (Fault(500),),
    'unknown tool': (Say(calls=(Call('rm_rf', {'path': '/'}),)),),
    'wrong arguments': (
        Say(calls=(Call('move_forward', {'duration_s': 1000.0}),)),
        Say(calls=(Call('turn_left', {'seconds': 1, 'duration_s': 'long'}),)),
    ),
    'ten at once': (
        Say(calls=(Call('get_status'), *[Call('move_forward', {'duration_s': 1})] * 9)),
    ),
}


@dataclass
class Stage:
    bench: Bench
    run: Run
    server: ChatServer
    witness: Witness
    trace: Path

    def demo(self, *script: Reply, ends: str) -> None:
        """One more demo by this script; it ends with this line, and the rover stands."""
        self.server.says(*script)
        times = self.run.output().count(f'\n{ends}') + 1
        self.run.send(':demo')
        self.run.expect(f'\n{ends}', times=times)
        wait_until(lambda: not self.bench.moving, 'the rover to stand still', 5.0)

    def acts(self) -> list[str | None]:
        """The tools that were called, in their order."""
        return [event.tool_name for event in read_trace(self.trace) if event.kind == 'ACT']

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


@pytest.fixture
def stage(bench: Bench, tmp_path: Path) -> Iterator[Stage]:
    with ChatServer(*STEPS) as server:
        llm = {'provider': 'openai', 'model': 'scripted', 'base_url': server.url}
        llm |= {'timeout_s': 0.5, 'max_retries': 1}
        # The talk of before is not what is tested here, and grows with each demo.
        config = bench.box.config_dir(agent={'llm': llm}, prompts={'memory': {'enabled': False}})
        bench.env['OPENAI_API_KEY'] = KEY
        options = ('--config-dir', config, '--artifacts', str(tmp_path), '--speed', '8')
        witness = Witness(bench.box)
        run = bench.run(*options, '--stand-in', 'initial_x=2.0')
        run.expect('Type :help')
        yield Stage(bench, run, server, witness, tmp_path / 'trace.jsonl')
        assert run.end() == 0
        assert witness.violations() == []
        assert 'Traceback' not in run.output()
        kept = [path for path in bench.box.folder.rglob('*') if path.is_file()]
        assert any(path.name == 'agent.log' for path in kept)
        for path in (*kept, *tmp_path.iterdir()):
            assert KEY.encode() not in path.read_bytes(), path


def test_a_model_drives_the_demo_and_nothing_it_meets_leaves_the_rover_driving(
    stage: Stage,
) -> None:
    stage.demo(*STEPS, ends=ANSWER)
    first, second = stage.results('capture_and_score')
    assert '"is_good":false' in first
    assert '"is_good":true' in second
    assert all(request.authorization == f'Bearer {KEY}' for request in stage.server.requests)
    assert all(request.body['stream'] for request in stage.server.requests)

    for name, replies in SURVIVED.items():
        stage.demo(*(each for step in STEPS for each in (*replies, step)), ends=ANSWER)
        assert len(stage.server.requests) == len(STEPS) * (len(replies) + 1), name
    assert set(stage.acts()) & {'rm_rf', 'turn_left'} == set()

    for number, step in enumerate(STEPS):
        for gone_wrong, ends in FATAL.values():
            stage.demo(*STEPS[:number], gone_wrong(step), ends=ends)
    stage.demo(*STEPS, ends=ANSWER)  # and it is none the worse for it


def test_a_stop_at_every_step(stage: Stage) -> None:
    for number in range(len(STEPS)):
        stage.server.says(*STEPS[:number], Hang())
        stops = stage.run.output().count('! Stopped by the operator')
        stage.run.send(':demo')
        wait_until(lambda n=number: len(stage.server.requests) > n, f'question {number}')
        stage.run.send(':stop')
        stage.run.expect('! Stopped by the operator', times=stops + 1, timeout_s=5.0)
        wait_until(lambda: not stage.bench.moving, 'the rover to stand still', 5.0)

    stage.server.says(*STEPS)
    stage.run.send(':demo')
    wait_until(lambda: stage.bench.moving, 'the rover to drive')
    stage.run.send('stop!')
    wait_until(lambda: not stage.bench.moving, 'the rover to stand still', 2.0)
    stage.demo(*STEPS, ends=ANSWER)


def test_a_drive_that_the_agents_death_cut_is_told_to_the_model_and_not_repeated(
    stage: Stage,
) -> None:
    stage.server.says(*STEPS)
    stage.run.send(':demo')
    wait_until(lambda: stage.bench.moving, 'the rover to drive')
    old = stage.bench.kill('agent_node')
    wait_until(lambda: not stage.bench.moving, 'the rover to stand still', 10.0)
    place = stage.witness.place
    stage.bench.back('agent_node', old)
    stage.run.expect(f'\n{ANSWER}')
    stage.run.expect('Going on after 3 calls')
    assert 'Interrupted: what this call did is not known' in stage.results('move_forward')[0]
    assert stage.witness.place == pytest.approx(place, abs=0.05)
    assert stage.acts() == [call.name for step in STEPS for call in step.calls]
    assert stage.server.requests[-1].texts('tool')[-1].count('"score"') == 1
