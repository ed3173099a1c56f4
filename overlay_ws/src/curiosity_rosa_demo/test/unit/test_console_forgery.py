# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""No text from outside begins a line of the console or of a log, nor controls the terminal."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timezone
import logging
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from curiosity_rosa_demo.agent.interfaces.terminal.writer import ConsoleWriter
from curiosity_rosa_demo.agent.kernel.actions import Answer
from curiosity_rosa_demo.agent.kernel.intent.topics import Topic
from curiosity_rosa_demo.agent.memory import event_line
from curiosity_rosa_demo.agent.react.plan.steps import plan_question, plan_text
from curiosity_rosa_demo.agent.react.turn.texts import (
    budget_text,
    pending_table,
    question_summary,
    question_text,
)
from curiosity_rosa_demo.agent.runtime.answers import answer_to, AnswerFacts
from curiosity_rosa_demo.agent.startup.logs import IndentingFormatter, LOG_FORMAT
from curiosity_rosa_demo.agent.tasks import LifecycleState, Task
from curiosity_rosa_demo.agent.tasks.store import HistoryRow
from curiosity_rosa_demo.agent.tasks.texts import history_table, mode_text, task_text, tasks_table
from curiosity_rosa_demo.agent.topics.node_health import NodeEvents
from curiosity_rosa_demo.domain.brain_state import (
    BrainState,
    Question,
    ReactState,
    Reading,
    RobotState,
    TasksState,
    WorldState,
)
from curiosity_rosa_demo.domain.models import TraceEvent, TraceKind
from curiosity_rosa_demo.domain.plan.plan import Plan
from curiosity_rosa_demo.domain.skills import Outcome
from curiosity_rosa_demo.domain.text import ConsoleText
from curiosity_rosa_demo.trace.bus import EventBus
from curiosity_rosa_demo.trace.reporter import status_text
from curiosity_rosa_demo.trace.trace_codec import decode, encode, new_event
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st
import pytest
from runtime_world import CONFIG, RuntimeBench

NOW = datetime(2026, 11, 23, tzinfo=timezone.utc)
FORGED = 'x\n? q1 forged\r\n! \x1b[2J\x9b1A\u2028Rover: \x85\u202e'

# Not blank, so that no optional line comes or goes with it.
hostile = st.text(
    st.sampled_from('a?!:\n\r\t\x0b\x0c\x1b\x07\x7f\x85\x9b\u2028\u2029\u202e\u200b[2J '),
    max_size=30,
).map(lambda text: f'a{text}b')


def a_task(text: str) -> Task:
    metadata = {'text': text, 'note': text}
    task = Task('react', metadata=metadata, reason=text, state=LifecycleState.FAILED)
    task.created_at = task.updated_at = NOW
    return task


def a_state(text: str) -> BrainState:
    adapter = {'rover_x': 1.0, 'mast': text, 'last_error_reason': text}
    heard = Reading(value=adapter, received_s=0.0)
    return BrainState(
        robot=RobotState(safety_latch=text, silent=[text], heard={'adapter': heard}),
        tasks=TasksState(mode_reason=text),
        world=WorldState(summary=text),
        react=ReactState(goal=text),
    )


def an_event(text: str) -> TraceEvent:
    return new_event(TraceKind.ERROR, text, tool_name=text, error_reason=text, ok=False)


def a_question(text: str) -> Question:
    return Question(id='q1', text=text, reasons=[text], op={'skill': text, 'arguments': {}})


def a_plan(text: str) -> Plan:
    words = dict.fromkeys(('action', 'description', 'fallback', 'confirmation_message'), text)
    step = {'step_id': 1, 'tool_call_type': 'execute', 'parameters': {text: text}, **words}
    plan = {'plan_id': 'p', 'goal': text, 'confirmation_message': text, 'steps': [step]}
    return Plan.from_dict(plan)


def answers(text: str) -> str:
    facts = AnswerFacts(
        a_state(text),
        ReactState(goal=text, plan=a_plan(text).to_dict()),
        [a_task(text)],
        [an_event(text), new_event(TraceKind.DECIDE, text)],
        [a_question(text)],
        NOW.timestamp(),
    )
    return '\n'.join(answer_to(Answer([topic], text), facts).answer for topic in Topic)


def node_events(text: str) -> str:
    """A node that calls itself ``text`` fails, starts, and starts again."""
    said: list[str] = []
    subscribed: dict[str, Callable[[Any], None]] = {}

    def subscribe(kind: object, topic: str, on_event: Callable[[Any], None], qos: object) -> None:
        subscribed[topic] = on_event

    node: Any = SimpleNamespace(create_subscription=subscribe)
    NodeEvents(node, CONFIG, said.append)
    starts = {'node': text, 'started': True}
    for event in (
        new_event(TraceKind.ERROR, text, data={'node': text}),
        new_event(TraceKind.OBSERVE, text, data=starts),
        new_event(TraceKind.OBSERVE, text, data=starts),
    ):
        subscribed[CONFIG.topics.trace.events](SimpleNamespace(data=encode(event)))
    return '\n'.join(said)


BUILDERS: dict[str, Callable[[str], str]] = {
    'trace': lambda text: event_line(an_event(text)),
    'tasks': lambda text: tasks_table([a_task(text)], NOW),
    'task': lambda text: task_text(a_task(text)),
    'history': lambda text: history_table([HistoryRow(NOW, None, LifecycleState.FAILED, text)]),
    'mode': lambda text: mode_text(a_state(text)),
    'status': lambda text: status_text({'mast': text, 'last_error_reason': text}),
    'question': lambda text: question_text(a_question(text), 1.0),
    'question in the toolbar': lambda text: question_summary(a_question(text)),
    'pending': lambda text: pending_table([a_question(text)], 0.0),
    'plan': lambda text: plan_text(a_plan(text)),
    'question about a plan': lambda text: plan_question(a_plan(text)),
    'budget': lambda text: budget_text(ReactState(goal=text), CONFIG.guardrails.budget, 40),
    'answers': answers,
    'other nodes': node_events,
}


@pytest.mark.parametrize('name', BUILDERS)
@settings(max_examples=examples(40))
@given(text=hostile)
def test_no_text_adds_a_line_to_what_the_console_shows(name: str, text: str) -> None:
    shown = BUILDERS[name](text)
    assert len(shown.split('\n')) == len(BUILDERS[name]('ab').split('\n'))


@given(st.lists(st.text() | hostile, min_size=1, max_size=3))
def test_no_text_controls_the_terminal(texts: list[str]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        printed: list[str] = []
        patch.setattr('builtins.print', lambda text, flush: printed.append(text))
        bus = EventBus()
        writer = ConsoleWriter(bus)
        writer.start()
        for text in texts:
            writer.write(text)
        writer.close()
    assert [ConsoleText(each) for each in printed] == [e.event for e in bus.events_after(0).events]
    assert len(printed) == len(texts)
    assert all(line.isprintable() for text in printed for line in text.split('\n'))


@given(hostile)
def test_no_text_is_a_line_of_the_log_or_of_the_trace_file(text: str) -> None:
    try:
        raise ValueError(text)
    except ValueError as error:
        info: Any = (type(error), error, error.__traceback__)
    record = logging.LogRecord('x', logging.INFO, 'x.py', 1, 'event=%s', (text,), info)
    first, *more = IndentingFormatter(LOG_FORMAT).format(record).split('\n')
    assert all(line.startswith('    ') for line in more)
    assert all(line.isprintable() for line in (first, *more))
    event = an_event(text)
    assert encode(event).isprintable()
    assert decode(encode(event)) == event


def test_no_outcome_forges_a_line(tmp_path: Path) -> None:
    """A reason for a no, the answer of a turn, the error of a skill, a name, a notice."""
    with RuntimeBench(tmp_path) as bench:
        bench.session.asks = [Question(id='q1', text='Go?', asked_at=NOW.timestamp() + 1e9)]
        bench.session.release.set()
        bench.console.handle_line('look around')
        bench.asked(Question(id='q1', text='Go?'))
        no = {'action': 'REJECT', 'id': 'q1', 'why': FORGED}
        bench.runtime.post_message({'intent': 'APPROVAL', 'payload': no}, lambda reply: None, 0)
        bench.finish()
        bench.session.fails = FORGED
        for line in (':cap', f':submit {FORGED}', f'look {FORGED}'):
            bench.console.handle_line(line)
            bench.finish()
        bench.console.print_notice(FORGED)
        outcome = {'outcome': {'ok': True, 'answer': FORGED}}
        ended = Task('react', state=LifecycleState.COMPLETED, metadata=outcome)
        bench.console.report_task_end(ended)
        # -c hands the answer on as it is
        assert bench.console.take_outcome() == Outcome(True, FORGED)
        assert len(bench.said) >= 6
        further = [line for each in bench.said for line in each.split('\n')[1:]]
        assert [line for line in further if not line.startswith('  | ')] == []
