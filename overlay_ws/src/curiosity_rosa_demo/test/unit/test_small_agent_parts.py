# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The printer, the log file, the places, the loop in a thread, what the agent remembers, and the
process of a local model, by a fake of it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
import json
import logging
import os
from pathlib import Path
import signal
import subprocess
import sys
import threading
import time
import tracemalloc
from typing import Any

from curiosity_rosa_demo.agent.llm.chat_model import make_local_model
from curiosity_rosa_demo.agent.llm.errors import explain, may_pass
from curiosity_rosa_demo.agent.llm.local_model import (
    forced_request,
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
    READY_S,
)
from curiosity_rosa_demo.agent.llm.messages import estimated_tokens, fitting
from curiosity_rosa_demo.agent.memory import LINE_LENGTH, recall
from curiosity_rosa_demo.agent.react.prompt import make_tools
from curiosity_rosa_demo.agent.runtime.threads import EventLoopThread
from curiosity_rosa_demo.agent.startup.logs import LogFile, LOGGER_NAME
from curiosity_rosa_demo.domain.geometry import finite_float
from curiosity_rosa_demo.domain.models import ToolResult, TraceEvent, TraceKind
from curiosity_rosa_demo.domain.text import memory_size
from curiosity_rosa_demo.infra.config.agent import LEAST_CONTEXT_TOKENS
from curiosity_rosa_demo.infra.config_loader import load_config
from curiosity_rosa_demo.infra.files import (
    agent_log_file,
    beside,
    recordings_folder,
    state_folder,
    task_database_file,
    trace_file,
)
from curiosity_rosa_demo.trace.reporter import IN_WORDS, summary_of, trace_result
from curiosity_rosa_demo.trace.trace_buffer import EventBus
from curiosity_rosa_demo.trace.trace_codec import (
    bounded_event,
    decode,
    event_memory,
    MAX_EVENT_BYTES,
    MAX_EVENT_MEMORY,
    new_event,
)
from examples import examples
from harness import wait_until
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.utils.function_calling import convert_to_openai_tool
from openai import APIConnectionError
import psutil
from pydantic import ValidationError
import pytest
from strategies import events, json_objects, json_values, names
from turn_world import config_of, REGISTRY, SHIPPED

LONG_S = 20.0


UNREAD = """
import os, signal, sys, threading
from curiosity_rosa_demo.agent.interfaces.terminal.writer import ConsoleWriter
told = threading.Event()
signal.signal(signal.SIGTERM, lambda *_: told.set())
BEFORE
writer = ConsoleWriter()
writer.start()
for _ in range(50):
    writer.write('x' * 5000)
for _ in range(200):  # a signal just before a wait begins does not end that wait
    if told.wait(0.1):
        break
writer.write('more')
writer.close()
sys.stderr.write(f'ended {told.is_set()}')
"""


@pytest.mark.parametrize('before', ['', 'sys.stdout.close()', 'os.close(1)'])
def test_when_nobody_reads_any_more_the_process_is_told_to_end(before: str) -> None:
    reading, writing = os.pipe()
    command = [sys.executable, '-c', UNREAD.replace('BEFORE', before)]
    with subprocess.Popen(command, stdout=writing, stderr=subprocess.PIPE, text=True) as process:
        os.close(writing)
        os.close(reading)
        assert process.stderr is not None
        assert process.stderr.read().strip() == 'ended True'
        assert process.wait(LONG_S) in (0, 120)  # 120: what Python had left to write is lost


def test_a_log_has_what_is_logged_in_its_order_and_is_refused_or_closed_whole(
    tmp_path: Path,
) -> None:
    with pytest.raises(OSError, match='nowhere'):
        LogFile(tmp_path / 'nowhere' / 'agent.log')
    path = tmp_path / 'agent.log'
    log, logger = LogFile(path), logging.getLogger(f'{LOGGER_NAME}.tasks')
    for number in range(50):
        logger.info('event=x number=%d name=%r', number, '光')
    logger.debug('event=too_much')
    log.close()
    del log
    logger.error('event=late')
    lines = path.read_text(encoding='utf-8').splitlines()
    told = [f"INFO curiosity_rosa.tasks event=x number={n} name='光'" for n in range(50)]
    assert [line[-len(each) :] for line, each in zip(lines, told, strict=True)] == told
    assert logging.getLogger(LOGGER_NAME).propagate
    assert not [each for each in os.listdir('/proc/self/fd') if _leads_to(each, path)]


def _leads_to(descriptor: str, path: Path) -> bool:
    try:
        return os.readlink(f'/proc/self/fd/{descriptor}') == str(path)
    except OSError:
        return False


def test_agents_of_two_domains_and_namespaces_share_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv('HOME', str(tmp_path))
    for state, folder in (('', '.local/state'), (str(tmp_path), '')):
        monkeypatch.setenv('XDG_STATE_HOME', state)
        assert state_folder() == tmp_path / folder / 'curiosity_rosa'
        assert state_folder().is_dir()
    names = {('', ''): '', ('0', '/'): '', ('42', ''): '_42', ('42', '/mars/r1'): '_42_mars_r1'}
    for (domain, namespace), name in {**names, ('', '/r1'): '_0_r1'}.items():
        monkeypatch.setenv('ROS_DOMAIN_ID', domain)
        assert task_database_file('', namespace) == state_folder() / f'tasks{name}.db'
    shipped = load_config()
    paths = {'recorder': {'path': '~/trace.jsonl'}, 'recording': {'folder': '~/runs'}}
    config = shipped.changed(agent=paths)
    for namespace, own in (('/r1', '_r1'), ('', '')):
        for file, name in (
            (task_database_file('~/my.db', namespace), f'my{own}.db'),
            (agent_log_file(namespace), f'curiosity_rosa/agent{own}.log'),
            (trace_file(config, namespace), f'trace{own}.jsonl'),
            (recordings_folder(config, '', namespace), f'runs{own}'),
            (recordings_folder(shipped, '', namespace), f'curiosity_rosa/recordings{own}'),
        ):
            assert file == tmp_path / name
    assert beside(Path('tasks.db'), 'scout', 'session').name == 'tasks.db.scout.session'
    blocked = tmp_path / 'blocked'
    blocked.touch()
    monkeypatch.setenv('XDG_STATE_HOME', str(blocked))
    with pytest.raises(OSError, match='blocked'):
        state_folder()


ERRORS: list[BaseException] = []


@pytest.fixture
def loop() -> Iterator[EventLoopThread]:
    made = EventLoopThread('test-loop', ERRORS.append)
    made.start()
    yield made
    made.close()
    ERRORS.clear()


def test_a_job_that_fails_is_told_and_one_that_is_cancelled_is_not(loop: EventLoopThread) -> None:
    ended = threading.Event()

    async def fail() -> None:
        raise ZeroDivisionError('a bug')

    async def late() -> None:
        raise TimeoutError('of its own')

    async def last() -> None:
        try:
            await asyncio.sleep(LONG_S)
        finally:
            ended.set()

    loop.call_soon(loop.start_job, fail())
    loop.call_soon(loop.start_job, last())
    wait_until(lambda: ERRORS, 'the error', LONG_S)
    loop.call(loop.cancel_jobs())
    assert ended.is_set()
    assert [str(error) for error in ERRORS] == ['a bug']
    with pytest.raises(TimeoutError, match='of its own'):
        loop.call(late())


def test_what_is_not_answered_in_time_does_not_happen_later(loop: EventLoopThread) -> None:
    done: list[str] = []
    gate = asyncio.Event()

    async def late() -> None:
        await gate.wait()
        done.append('late')

    with pytest.raises(TimeoutError, match=r'within 0\.05 s'):
        loop.call(late(), 0.05)

    async def opens() -> None:
        gate.set()
        await asyncio.sleep(0)

    loop.call(opens())
    assert done == []


def traced(tool: str, result: ToolResult) -> TraceEvent:
    """The one event of a result."""
    told: list[TraceEvent] = []

    def trace(kind: TraceKind, message: str, **fields: object) -> None:
        told.append(new_event(kind, message, **fields))

    trace_result(trace, tool, result)
    (event,) = told
    return event


@given(past=st.lists(events, max_size=6), count=st.integers(0, 8))
def test_each_event_is_one_short_line(past: list[TraceEvent], count: int) -> None:
    told = recall(past, count).splitlines()
    assert len(told) == (min(count, len(past)) + 1 if count and past else 0)
    for text, event in zip(told[1:], past[-count:] if count else [], strict=True):
        assert text.startswith(f'[{event.kind.value}]')
        assert len(text) <= LINE_LENGTH


@given(tool=names | st.sampled_from(sorted(IN_WORDS)), data=json_objects)
def test_every_result_can_be_told(tool: str, data: dict[str, object]) -> None:
    good, bad = ToolResult.success(**data), ToolResult.failure('Mast is closed', **data)
    assert summary_of(tool, good)
    assert summary_of(tool, bad) == 'Mast is closed'
    told = traced(tool, good)
    assert (told.kind, told.ok, told.error_reason) == (TraceKind.RESULT, True, None)
    # An event keeps what fits in it; a character takes at most twelve bytes.
    assert told.data == good.data or len(json.dumps(good.data)) > 1000
    told = traced(tool, bad)
    assert (told.kind, told.ok, told.error_reason) == (TraceKind.ERROR, False, 'Mast is closed')
    assert told.message == f'{tool}: Mast is closed'


@given(st.integers() | st.floats() | st.booleans() | st.none() | st.text() | st.just(10**400))
def test_a_score_is_a_finite_number_or_nothing(value: object) -> None:
    found = finite_float(value)
    assert found is None or (type(found) is float and abs(found) < float('inf'))
    if type(value) is int and abs(value) < 2**1000:
        assert found == float(value)
    if isinstance(value, bool):
        assert found is None


ALLOWANCE = 1000  # bytes: what the parser itself keeps
# Fragments of JSON whose objects are many times larger than their text.
FRAGMENTS = st.sampled_from(['[]', '{}', '[[[[]]]]', '[' * 90 + ']' * 90, '1e5', '"\u706b"'])


def traced_bytes(make: Callable[[], Any]) -> int:
    """The memory that the result of ``make`` takes."""
    tracemalloc.start()
    try:
        result = make()
        size = tracemalloc.get_traced_memory()[0]
        del result
        return size
    finally:
        tracemalloc.stop()


def text_of(event_id: str, data: str) -> str:
    head = f'"event_id": "{event_id}", "ts": 1.0, "kind": "ACT", "message": "m"'
    return f'{{{head}, "data": {{"x": {data}}}}}'


@given(json_values)
def test_a_value_takes_no_more_memory_than_is_counted(value: object) -> None:
    text = json.dumps(value)
    assert traced_bytes(lambda: json.loads(text)) <= memory_size(json.loads(text)) + ALLOWANCE


@settings(max_examples=examples(25), deadline=None)
@given(FRAGMENTS, st.integers(0, 6000))
def test_an_event_of_the_topic_is_bounded_by_its_memory(fragment: str, count: int) -> None:
    text = text_of('a', f'[{",".join([fragment] * count)}]')
    event = decode(text)
    assert event_memory(event) <= MAX_EVENT_MEMORY
    assert (event.kind is TraceKind.ERROR) == (len(text) > MAX_EVENT_BYTES)
    assert bounded_event(event) is event


@given(st.lists(st.integers(1, 3000), max_size=40), st.integers(1, 20), st.integers(1, 20_000))
def test_a_buffer_keeps_the_newest_events_that_fit(
    lengths: list[int], size: int, max_bytes: int
) -> None:
    buffer = EventBus(max_events=size, max_bytes=max_bytes)
    sent = [new_event(TraceKind.ACT, 'x' * length) for length in lengths]
    for each in sent:
        buffer.publish(each)
    kept = buffer.trace_events()
    assert kept == sent[len(sent) - len(kept) :]
    assert len(kept) <= size
    assert sum(map(event_memory, kept)) <= max_bytes or len(kept) == 1
    one_more = sent[-len(kept) - 1 :]
    assert len(kept) in (size, len(sent)) or sum(map(event_memory, one_more)) > max_bytes


# FAKE says where it listens, as the real one does; its end is that of its standard input.
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
LOCAL_LLM = config_of(llm={'provider': 'local', 'timeout_s': 10.0}).agent.llm


@pytest.fixture
def server() -> Iterator[LocalServer]:
    made = LocalServer([sys.executable, '-c', FAKE])
    yield made
    made.close()


def model_of(server: LocalServer) -> Any:
    return make_local_model(LOCAL_LLM, server)


def unusable(server: LocalServer) -> str:
    """What is said of a call that is not tried again."""
    with pytest.raises(APIConnectionError) as failed:
        model_of(server).invoke(QUESTION)
    assert not may_pass(failed.value, LOCAL_LLM)
    return explain(failed.value, LOCAL_LLM)


def end(server: LocalServer) -> None:
    assert server.pid is not None
    os.kill(server.pid, signal.SIGKILL)
    wait_until(lambda: server.pid is None, 'its end', 10.0)


def test_a_process_that_has_ended_is_started_again_with_a_new_key(server: LocalServer) -> None:
    for _ in range(MAX_STARTS + 1):  # each answer makes the next end the first again
        key = server.address().key
        process = psutil.Process(server.pid)
        assert (process.environ()[KEY_VARIABLE], key in ' '.join(process.cmdline())) == (
            key,
            False,
        )
        assert 'OPENAI_API_KEY' not in process.environ()
        end(server)
        (call,) = model_of(server).invoke(QUESTION).tool_calls
        assert (call['name'], call['args']) == ('mast_open', {})
        assert server.address().key != key


def test_a_process_that_ends_at_once_or_is_late_is_started_a_few_times_only() -> None:
    for program, ready_s, reason in (
        ('print("{\\"error\\": \\"no model\\"}")', 60.0, 'cannot be loaded: .*no model'),
        ('import sys; sys.stdin.read()', 0.2, 'not loaded within'),
    ):
        server = LocalServer([sys.executable, '-c', program], ready_s=ready_s)
        for _ in range(MAX_STARTS):
            with pytest.raises(LocalModelFailed, match=reason):
                server.address()
            assert server.pid is None
        assert 'not started again' in unusable(server)


def test_the_agent_does_not_wait_for_a_model_that_still_loads() -> None:
    server = LocalServer([sys.executable, '-c', 'import sys; sys.stdin.read()'])
    with ThreadPoolExecutor() as pool:
        waiting = pool.submit(server.address)
        wait_until(lambda: server.pid is not None, 'its begin', 10.0)
        begun_s = time.monotonic()
        server.close()
        assert time.monotonic() - begun_s < READY_S / 2
        with pytest.raises(LocalModelFailed):
            waiting.result()


PARENT = """
import subprocess, sys
child = subprocess.Popen([sys.executable, '-c', sys.argv[1]], stdin=subprocess.PIPE)
print(child.pid, flush=True)
child.wait()
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
    assert missing_model_note(LOCAL_LLM) == f'{NOT_INSTALLED} Until then the rule model decides.'
    assert missing_model_note(SHIPPED.agent.llm) == ''
    assert unusable(LocalServer([], NOT_INSTALLED)) == NOT_INSTALLED


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


TOOLS = [convert_to_openai_tool(tool) for tool in make_tools(REGISTRY.for_model())]


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


def test_a_text_that_the_grammar_cut_ends_with_a_whole_word() -> None:
    whole = 'five ' * (MAX_TEXT_CHARS // 5 - 1)
    for text, told in (
        ('It is dark.', 'It is dark.'),
        (f'{whole}witho', f'{whole.rstrip()}…'),
        ('x' * MAX_TEXT_CHARS, f'{"x" * (MAX_TEXT_CHARS - 1)}…'),
    ):
        call = {'tool': 'decide', 'arguments': {'reason': text, 'sure': 0.5}}
        answer = with_tool_call({'choices': [{'message': {'content': json.dumps(call)}}]})
        (made,) = answer['choices'][0]['message']['tool_calls']
        assert json.loads(made['function']['arguments']) == {'reason': told, 'sure': 0.5}


texts = st.lists(st.text('ab ', max_size=60), max_size=8)


@given(texts, texts, st.integers(0, 300))
def test_the_oldest_goes_first_until_the_request_fits(
    said: list[str], steps: list[str], most: int
) -> None:
    llm = LOCAL_LLM.model_copy(update={'max_tokens': LOCAL_LLM.window_tokens - most})
    call: Any = [{'name': 'look', 'args': {}, 'id': 'a'}]
    pairs = [(AIMessage('', tool_calls=call), ToolMessage(s, tool_call_id='a')) for s in steps]
    talk, calls = [HumanMessage(each) for each in said], [each for pair in pairs for each in pair]
    whole = [SystemMessage('now'), *talk, HumanMessage('Go.'), *calls]
    kept = fitting(whole, len(talk), llm)
    of_calls = 2 * sum(isinstance(each, ToolMessage) for each in kept)
    of_talk = len(kept) - 2 - of_calls
    lost, gone = len(talk) - of_talk, len(calls) - of_calls
    assert kept == [whole[0], *talk[lost:], whole[len(talk) + 1], *calls[gone:]]
    assert bool(of_calls) is bool(calls)
    assert not (gone and of_talk)
    assert estimated_tokens(kept) <= most or (of_talk, of_calls) <= (0, 2)
    assert gone or not lost or estimated_tokens([talk[lost - 1], *kept]) > most
