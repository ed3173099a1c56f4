# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The spans of a turn, their IDs, their export, and that nothing is imported or sent unasked."""

from http.server import BaseHTTPRequestHandler, HTTPServer
import json
from pathlib import Path
import subprocess
import sys
import threading
from types import SimpleNamespace
from typing import Any

from chat_server import call, Say
from curiosity_rosa_demo.agent.interfaces.action_server.goal import GoalArguments, parse_goal
from curiosity_rosa_demo.agent.llm.model_span import response_attributes
from curiosity_rosa_demo.agent.react.turn.approval_queue import ApprovalAnswer
from curiosity_rosa_demo.agent.runtime.execution.context import TaskSpans
from curiosity_rosa_demo.agent.tasks import LifecycleState, Task
from curiosity_rosa_demo.agent.tasks.events import Event, EventType
from curiosity_rosa_demo.domain.brain_state import ApprovalAction
from curiosity_rosa_demo.infra.config_loader import load_config
from curiosity_rosa_demo.infra.tracing.exporters import otlp_lines
from curiosity_rosa_demo.infra.tracing.span import (
    EVENT_ID,
    NO_SPAN,
    span,
    TASK_ID,
    task_trace_ids,
    TRACEPARENT,
)
from curiosity_rosa_demo.infra.tracing.span_tree import read_spans, tree_lines, TreeSpan
from curiosity_rosa_demo.infra.tracing.task_tracer import make_task_tracer, SpanQueue, TaskTracer
from curiosity_rosa_demo.trace.bus import EventBus
from http_world import alone
from langchain_core.messages import AIMessage
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor
import pytest
from runtime_world import AgentWorld
from skill_world import in_loop
from turn_world import asking

KEY, PROMPT, ANSWER = 'sk-nobodys-key', 'open the mast, then drive', 'Stowed away, nothing driven.'
CALLER = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
TASK = 'a9bc7787-f45d-4a87-9af6-d09e891433a0'
SCRIPT = (call('mast_open'), call('move_forward', duration_s=2.0), Say(ANSWER))


class Spans(SpanProcessor):
    """Ended spans in memory, and the IDs of their events."""

    def __init__(self) -> None:
        self.ended: list[TreeSpan] = []
        self.events: set[Any] = set()

    def on_end(self, span: ReadableSpan) -> None:
        self.ended += read_spans(otlp_lines([span]))
        self.events |= {(each.attributes or {})[EVENT_ID] for each in span.events}

    def named(self, begin: str) -> list[TreeSpan]:
        return [each for each in self.ended if each.name.startswith(begin)]


def finished(tracer: Any, *, traceparent: str = '', work: Any = lambda: None) -> None:
    """A task whose skill does ``work``, from its submission to its end."""
    bus, task = EventBus(), Task('react', id=TASK, metadata={TRACEPARENT: traceparent})
    spans = TaskSpans(tracer)
    spans.follow(bus, lambda task_id: task)
    bus.publish(Event(EventType.TASK_SUBMIT, task.id))
    with spans.active(task.id):
        work()
    task.state = LifecycleState.COMPLETED
    bus.publish(Event(EventType.TASK_COMPLETE, task.id))


def turn_with_a_model_call() -> None:
    with span('turn'), span('chat scripted', is_client=True) as chat:
        chat.set({'gen_ai.usage.input_tokens': 7, 'gen_ai.response.finish_reasons': ['stop']})
        chat.add_event('OBSERVE', 'e1')
        chat.fail('UnusableAnswer')


def test_the_spans_of_a_turn_are_one_tree_with_the_ids_of_task_and_events(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv('OPENAI_API_KEY', KEY)
    found = Spans()
    with AgentWorld(
        tmp_path, *SCRIPT, config=asking('mast_open'), spans=TaskSpans(TaskTracer(found))
    ) as world:
        task = world.submit('react', text=PROMPT)
        queue = world.session.approval_queue
        world.until(lambda: queue.questions, 'the question')
        queue.answer(ApprovalAnswer(ApprovalAction.APPROVE))
        world.until(lambda: found.named('task'), 'the end of the task')
        published = {event.event_id for event in world.events}
    (root,), (turn,), steps = found.named('task'), found.named('turn'), found.named('step')
    assert [root.parent, turn.parent] == ['', root.id]
    assert {each.trace for each in found.ended} == {task.id.replace('-', '')}
    assert {each.attributes[TASK_ID] for each in found.ended} == {task.id}
    assert {each.parent for each in steps} == {turn.id}
    by_id = {each.id: each for each in found.ended}
    steps_of: dict[str, list[str]] = {each.name: [] for each in steps}
    for each in found.ended:
        parent = by_id.get(each.parent)
        if parent is not None:
            assert parent.start_ns <= each.start_ns <= each.end_ns <= parent.end_ns
            if parent in steps:
                steps_of[parent.name].append(each.name)
    assert steps_of['step 1'][:4] == [
        'chat scripted',
        'guard mast_open',
        'approval',
        'guard mast_open',
    ]
    assert steps_of['step 1'][-1] == 'execute_tool mast_open'
    verdicts = [each.attributes['curiosity.guard.verdict'] for each in found.named('guard')]
    assert verdicts[0] == 'ask'
    (refused,) = (each for each in found.named('guard move_forward') if each.failure)
    assert refused.attributes['curiosity.guard.code'] == refused.failure == 'MAST_NOT_CLOSED'
    assert found.named('approval')[0].attributes['curiosity.approval.answer'] == 'APPROVE'
    chat = found.named('chat')[0].attributes
    assert chat['gen_ai.operation.name'] == 'chat'
    assert (chat['gen_ai.provider.name'], chat['gen_ai.request.model']) == ('openai', 'scripted')
    assert found.events
    assert found.events <= published
    exported = repr(found.ended)
    assert not any(secret in exported for secret in (KEY, PROMPT, ANSWER))


def test_what_is_not_traced_has_no_span_and_what_is_lost_is_counted() -> None:
    class Full:
        def export(self, spans: Any) -> None:
            raise OSError('no space left')

        def close(self) -> None: ...

    seen: list[Any] = []

    def work() -> None:
        with span('guard') as within:
            seen.append(within)

    work()  # outside of a task
    finished(None, work=work)
    finished(TaskTracer(Spans()), work=work, traceparent=CALLER[:-2] + '00')  # does not record
    assert seen == [NO_SPAN] * 3
    lost: list[int] = []
    queue = SpanQueue(Full(), lambda count, error: lost.append(count))
    finished(TaskTracer(queue), work=turn_with_a_model_call)
    queue.shutdown()
    assert sum(lost) == 3


def test_a_task_belongs_to_the_trace_of_its_caller() -> None:
    theirs = '0af7651916cd43dd8448eb211c80319c', 'b7ad6b7169203331'
    ours = TASK.replace('-', ''), '0' * 16
    callers: dict[object, tuple[str, str]] = {
        **dict.fromkeys(('', 'none', 7, '00-x-y-01'), ours),
        CALLER: theirs,
        CALLER.replace('00-', '01-', 1) + '-more': theirs,
        CALLER + '-more': ours,
        CALLER.replace('00-', 'ff-', 1): ours,
        CALLER.upper(): ours,
        f'00-{"0" * 32}-b7ad6b7169203331-01': ours,
        None: ours,
    }
    found = {each: task_trace_ids(TASK, each) for each in callers}
    assert all(0 < ids.span_id < 2**64 for ids in found.values())
    assert task_trace_ids(TASK, CALLER) == found[CALLER]
    assert {
        each: (f'{ids.trace_id:032x}', f'{ids.parent_id:016x}') for each, ids in found.items()
    } == callers


def exported_by(exporter: str, path: Path, say: Any, *, endpoint: str = '', **task: str) -> None:
    changed = {'exporter': exporter, 'max_file_mb': 1, 'max_files': 2, 'endpoint': endpoint}
    tracer = make_task_tracer(
        load_config().agent.tracing.model_copy(update=changed),
        file=path,
        node='agent',
        namespace='/',
        write=say,
        failed=lambda count, error: pytest.fail(str(error)),
    )
    finished(tracer, work=turn_with_a_model_call, **task)
    assert tracer.flush(20.0)
    tracer.close()


def test_a_file_holds_the_tree_and_the_console_prints_it(tmp_path: Path) -> None:
    path, said = tmp_path / 'spans.jsonl', list[str]()
    exported_by('file', path, print, traceparent=CALLER)
    with path.open() as file:
        lines = [line.split(' ms  ')[1].rstrip() for line in tree_lines(read_spans(file))]
    trace = CALLER.split('-')[1]
    task = 'task react skill=react origin=unknown state=completed'
    chat = 'chat scripted input_tokens=7 finish_reasons=stop ! UnusableAnswer'
    assert lines == [f'{task} task={TASK} trace={trace}', '└─ turn', f'   └─ {chat}']
    first = json.loads(path.read_text().splitlines()[0])
    (event,) = first['resourceSpans'][0]['scopeSpans'][0]['spans'][0]['events']
    assert event['attributes'] == [{'key': EVENT_ID, 'value': {'stringValue': 'e1'}}]
    exported_by('console', Path('unused'), said.append)
    assert [line.split()[2] for line in said] == ['task', '└─', '└─']


def test_a_model_call_says_its_tokens_and_how_it_finished() -> None:
    usage: Any = {'input_tokens': 3, 'output_tokens': 5, 'total_tokens': 8}
    for one, other in (('finish_reason', 'model_name'), ('stop_reason', 'model')):
        answer = AIMessage('x', usage_metadata=usage, response_metadata={one: 'end', other: 'm'})
        assert response_attributes(answer) == {
            'gen_ai.usage.input_tokens': 3,
            'gen_ai.usage.output_tokens': 5,
            'gen_ai.response.finish_reasons': ['end'],
            'gen_ai.response.model': 'm',
        }
    assert response_attributes(AIMessage('x')) == {}


def test_a_collector_gets_the_same_spans_by_otlp() -> None:
    bodies: list[bytes] = []

    class Collector(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            assert self.path == '/v1/traces'
            bodies.append(self.rfile.read(int(self.headers['Content-Length'])))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None: ...

    server = HTTPServer(('127.0.0.1', 0), Collector)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    endpoint = f'http://127.0.0.1:{server.server_port}'
    exported_by('otlp', Path('unused'), print, endpoint=endpoint)
    server.shutdown()
    server.server_close()
    (body,) = bodies
    for part in (bytes.fromhex(TASK.replace('-', '')), b'chat scripted', b'turn', b'task react'):
        assert part in body


def test_the_agent_imports_nothing_of_opentelemetry_before_it_traces() -> None:
    modules = 'curiosity_rosa_demo.agent.agent_node, curiosity_rosa_demo.infra.tracing.span_tree'
    program = f'import sys, {modules}; print([n for n in sys.modules if "opentelemetry" in n])'
    done = subprocess.run([sys.executable, '-c', program], capture_output=True, timeout=60)
    assert done.stdout == b'[]\n', done.stderr


@in_loop
async def test_a_posted_task_and_a_goal_of_run_task_carry_the_traceparent() -> None:
    headers = {TRACEPARENT: CALLER}
    async with alone() as http:
        sent = await http.post('/tasks', json={'name': 'job'}, headers=headers)
        wrong = await http.post('/tasks', json={'name': 'job'}, headers={TRACEPARENT: 'none'})
    assert (sent.json()['metadata'], wrong.json()['metadata']) == (headers, {})
    arguments = json.dumps({'duration_s': 2.0, TRACEPARENT: CALLER})
    goal = SimpleNamespace(text='', skill='move_forward', arguments_json=arguments)
    assert parse_goal(goal) == GoalArguments('', 'move_forward', {'duration_s': 2.0}, CALLER)
