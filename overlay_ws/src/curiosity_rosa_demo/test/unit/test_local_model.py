# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The process of llm.provider local, by a fake of it: an HTTP server without a model.

``FAKE`` says on standard output where it listens, as the real one does, and answers each request
with what the environment tells it; its end is that of the pipe on its standard input.
"""

from __future__ import annotations

from collections.abc import Iterator
import json
import os
import signal
import subprocess
import sys
from typing import Any

from curiosity_rosa_demo.agent.llm.errors import explain
from curiosity_rosa_demo.agent.llm.local_model import (
    forced_request,
    make_local_model,
    MAX_TEXT_CHARS,
    with_tool_call,
)
from curiosity_rosa_demo.agent.llm.local_server import (
    install_problem,
    KEY_VARIABLE,
    LocalModelFailed,
    LocalServer,
    MAX_STARTS,
    missing_model_note,
    NOT_INSTALLED,
)
from curiosity_rosa_demo.agent.llm.wire import estimated_tokens, fitting
from curiosity_rosa_demo.agent.react.turn.decide_tool import decide_tool
from curiosity_rosa_demo.domain.models import ToolResult
from curiosity_rosa_demo.infra.config.agent import LEAST_CONTEXT_TOKENS
from curiosity_rosa_demo.tools.tool_impl import make_tools
from harness import wait_until
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from langchain_core.utils.function_calling import convert_to_openai_tool
import psutil
from pydantic import ValidationError
import pytest
from react_world import REGISTRY
from turn_world import config_of, SHIPPED

FAKE = """
import http.server, json, os, sys, threading
KEY = os.environ['CURIOSITY_LOCAL_MODEL_KEY']

class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers['Content-Length']))
        ok = self.headers['Authorization'] == f'Bearer {KEY}'
        text = json.dumps({'tool': 'mast_open', 'arguments': {}})
        message = {'role': 'assistant', 'content': text}
        choice = {'index': 0, 'finish_reason': 'stop', 'message': message}
        data = json.dumps({'id': '1', 'object': 'chat.completion', 'choices': [choice]})
        self.send_response(200 if ok else 401)
        self.end_headers()
        self.wfile.write(data.encode())
    def log_message(self, *_):
        pass

server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
print(json.dumps({'url': f'http://127.0.0.1:{server.server_port}'}), flush=True)
sys.stdin.read()
"""
QUESTION = [SystemMessage('You drive.'), HumanMessage('Open the mast.')]


@pytest.fixture
def server() -> Iterator[LocalServer]:
    made = LocalServer([sys.executable, '-c', FAKE])
    yield made
    made.close()


def model_of(server: LocalServer) -> Any:
    return make_local_model(server, {'timeout': 10.0, 'max_retries': 0})


def end(server: LocalServer) -> None:
    assert server.pid is not None
    os.kill(server.pid, signal.SIGKILL)
    wait_until(lambda: server.pid is None, 'its end', 10.0)


def test_a_process_that_has_ended_is_started_again_at_the_next_call(server: LocalServer) -> None:
    for _ in range(MAX_STARTS + 1):  # each answer makes the next end the first again
        first = server.address()
        end(server)
        (call,) = model_of(server).invoke(QUESTION).tool_calls
        assert (call['name'], call['args']) == ('mast_open', {})
        assert server.address() != first


def test_a_process_that_ends_at_once_is_started_a_few_times_only() -> None:
    server = LocalServer([sys.executable, '-c', 'print("{\\"error\\": \\"no model\\"}")'])
    for _ in range(MAX_STARTS):
        with pytest.raises(LocalModelFailed, match=r'cannot be loaded: .*no model'):
            server.address()
    with pytest.raises(LocalModelFailed, match='not started again') as failed:
        model_of(server).invoke(QUESTION)
    assert explain(failed.value, SHIPPED.agent.llm) == str(failed.value)


def test_a_process_that_is_not_ready_in_time_is_ended() -> None:
    sleeps = [sys.executable, '-c', 'import sys; sys.stdin.read()']
    server = LocalServer(sleeps, ready_s=0.2)
    server.start()
    with pytest.raises(LocalModelFailed, match='not loaded within'):
        server.address()
    assert server.pid is None


def test_the_key_is_new_at_each_start_and_only_in_the_environment(server: LocalServer) -> None:
    first = server.address()
    assert server.pid is not None
    process = psutil.Process(server.pid)
    assert process.environ()[KEY_VARIABLE] == first.key
    assert first.key not in ' '.join(process.cmdline())
    assert 'OPENAI_API_KEY' not in process.environ()
    end(server)
    assert server.address().key != first.key


PARENT = """
import subprocess, sys, time
child = subprocess.Popen([sys.executable, '-c', sys.argv[1]], stdin=subprocess.PIPE)
print(child.pid, flush=True)
time.sleep(600)
"""
CHILD = """
from curiosity_rosa_demo.agent.llm.local_child import end_with_the_parent
end_with_the_parent()
while True:  # as C++ code that holds the interpreter: no thread of Python would come to its turn
    sum(range(10**9))
"""


def test_the_process_ends_with_the_agent_also_on_sigkill_and_while_it_computes() -> None:
    with subprocess.Popen(
        [sys.executable, '-c', PARENT, CHILD], stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout is not None
        child = psutil.Process(int(parent.stdout.readline()))
        wait_until(lambda: child.cpu_times().user > 0.05, 'its work', 30.0)
        parent.kill()
        psutil.wait_procs([child], timeout=20.0)
        assert not child.is_running()


def test_what_is_not_installed_names_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr('importlib.util.find_spec', lambda name: None)
    assert install_problem('') == NOT_INSTALLED
    assert 'scripts/setup.sh --model' in NOT_INSTALLED
    llm = config_of(llm={'provider': 'local'}).agent.llm
    assert missing_model_note(llm) == f'{NOT_INSTALLED} Until then the routine decides.'
    assert missing_model_note(SHIPPED.agent.llm) == ''
    with pytest.raises(LocalModelFailed, match=r'setup\.sh --model'):
        model_of(LocalServer([], NOT_INSTALLED)).invoke(QUESTION)


def test_the_configuration_of_a_local_model() -> None:
    local = {'provider': 'local'}
    for llm in (local, {**local, 'model': 'a.gguf', 'extra_body': {'top_k': 1}}):
        assert config_of(llm=llm).agent.llm.window_tokens == LEAST_CONTEXT_TOKENS
    for llm, refused in (
        ({**local, 'base_url': 'http://x'}, 'must be empty'),
        ({**local, 'context_tokens': 100}, 'must be 0, or at least'),
        ({'provider': 'openai'}, 'must be set'),
    ):
        with pytest.raises(ValidationError, match=refused):
            config_of(llm=llm)


TOOLS = [
    convert_to_openai_tool(tool)
    for tool in (*make_tools(REGISTRY, lambda name, **_: ToolResult.success()), decide_tool())
]


def forced(*messages: dict[str, Any]) -> dict[str, Any]:
    asked = [{'role': 'system', 'content': 'You drive.'}, {'role': 'user', 'content': 'Go.'}]
    body = {'model': 'local', 'messages': [*asked, *messages], 'tools': TOOLS, 'stream': True}
    return forced_request(body)


def test_the_grammar_is_one_call_of_one_skill_with_its_limits() -> None:
    sent = forced()
    assert not {'tools', 'tool_choice', 'stream'} & set(sent)
    schema = sent['response_format']['json_schema']['schema']
    calls = {each['properties']['tool']['const']: each for each in schema['anyOf']}
    assert list(calls) == [tool['function']['name'] for tool in TOOLS]
    drive = calls['move_forward']['properties']['arguments']
    seconds = drive['properties']['duration_s']
    assert (seconds['exclusiveMinimum'], seconds['maximum']) == (0.0, 20.0)
    assert (drive['required'], drive['additionalProperties']) == (['duration_s'], False)
    decide = calls['decide']['properties']['arguments']['properties']
    assert list(decide) == ['type', 'reason']  # a plan is more than such a model can write
    assert 'FINISH' in decide['type']['enum']
    assert decide['reason']['maxLength'] == MAX_TEXT_CHARS


def test_calls_and_results_are_text_with_the_roles_in_turn() -> None:
    function = {'name': 'mast_open', 'arguments': '{}'}
    called = {'role': 'assistant', 'content': None, 'tool_calls': [{'function': function}]}
    sent = forced(called, {'role': 'tool', 'content': 'done'}, {'role': 'user', 'content': 'And?'})
    roles = [message['role'] for message in sent['messages']]
    assert roles == ['system', 'user', 'assistant', 'user']
    tools, _, call, result = (message['content'] for message in sent['messages'])
    assert '- move_forward(duration_s): Drive straight ahead' in tools
    assert tools.endswith('You drive.')
    assert json.loads(call) == {'tool': 'mast_open', 'arguments': {}}
    assert result == 'Result: done\n\nAnd?'
    free = forced_request({'messages': [{'role': 'user', 'content': 'Go.'}], 'max_tokens': 9})
    assert free['messages'] == [{'role': 'user', 'content': 'Go.'}]
    assert ('response_format' in free, free['max_tokens']) == (False, 9)


def test_an_answer_that_is_no_call_is_left_alone() -> None:
    for text in ('Sand.', '{"tool": "mast_open"', '{"tool": "x"}', '[]', None):
        answer = {'choices': [{'message': {'content': text}, 'finish_reason': 'length'}]}
        assert with_tool_call(json.loads(json.dumps(answer))) == answer


texts = st.lists(st.text('ab ', max_size=60), max_size=8)


@given(texts, texts, st.integers(1, 200))
def test_the_oldest_goes_first_until_the_request_fits(
    said: list[str], steps: list[str], most: int
) -> None:
    history = [SystemMessage('now'), *map(HumanMessage, said)]

    def fits(kept: list[Any], calls: list[str]) -> bool:
        return estimated_tokens([*kept, *map(AIMessage, calls)]) <= most

    kept, calls = fitting(history, steps, fits)
    assert kept[0] == history[0]
    assert kept[1:] == history[len(history) - len(kept) + 1 :]
    assert calls == steps[len(steps) - len(calls) :]
    assert bool(calls) is bool(steps)
    assert len(calls) == len(steps) or len(kept) == 1
    assert fits(kept, calls) or (len(kept), len(calls)) <= (1, 1)
