# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Plans through the whole graph; questions as a person reads them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
import json
import threading
from typing import Any

from chat_server import Call, Reply, Say
from curiosity_rosa_demo.agent.react.turn.approval_queue import (
    ApprovalAnswer,
    ApprovalQueue,
    QuestionNotFound,
)
from curiosity_rosa_demo.agent.react.turn.request import TurnResult
from curiosity_rosa_demo.agent.react.turn.texts import (
    pending_table,
    question_summary,
    question_text,
)
from curiosity_rosa_demo.agent.runtime.approvals import find_question, split_id_and_reason
from curiosity_rosa_demo.domain.brain_state import ApprovalAction, Json, Question
from curiosity_rosa_demo.domain.plan.plan import ExecutionResult, Plan, StepStatus
from curiosity_rosa_demo.domain.text import visible
from harness import wait_until
from hypothesis import given
from hypothesis import strategies as st
import pytest
from turn_world import World

DONE = Say('Done.')
YES, NO = (
    ApprovalAnswer(ApprovalAction.APPROVE),
    ApprovalAnswer(ApprovalAction.REJECT, why='not now'),
)


@contextmanager
def asked_world(*script: Reply) -> Iterator[World]:
    queue = ApprovalQueue(timeout_s=20.0)
    with World(*(script or (DONE,)), approval_queue=queue) as world:
        yield world


def a_plan(*steps: Json, **more: Any) -> Json:
    numbered = [{'step_id': number, **step} for number, step in enumerate(steps, 1)]
    plan = {'plan_id': 'plan_1', 'goal': 'Look around', 'steps': numbered, **more}
    return Plan.from_dict(plan).to_dict()


def step(action: str, **more: Any) -> Json:
    return {'action': action, **more}


def run(world: World, plan: Json | None, *answers: ApprovalAnswer) -> tuple[TurnResult, list[str]]:
    """The turn, and what was asked in it."""
    ends: list[TurnResult] = []
    asked: list[str] = []
    queue = world.approval_queue
    assert queue is not None
    thread = threading.Thread(target=lambda: ends.append(world.turn(plan=plan)), daemon=True)
    thread.start()
    for answer in answers:
        wait_until(lambda: queue.oldest_question or ends, 'the question')
        assert queue.oldest_question is not None, ends
        asked.append(queue.oldest_question.text)
        queue.answer(answer)
    thread.join(timeout=30)
    assert not thread.is_alive(), f'it still asks: {queue.oldest_question}'
    return ends[0], asked


def results(world: World) -> list[tuple[int, StepStatus, str]]:
    """The steps' results, as they were traced."""
    found = (event for event in world.events if event.message.startswith('plan step '))
    read = [(event, ExecutionResult.from_dict(event.data)) for event in found]  # type: ignore
    for event, result in read:
        assert event.ok is result.success
    return [(result.step_id, result.status, result.message) for _, result in read]


def statuses(world: World) -> list[str]:
    plan: Any = world.reacts[-1].plan
    return [each['status'] for each in plan['steps']]


def test_the_shape_of_the_example_is_carried_out_step_by_step() -> None:
    confirmed = {'requires_confirmation': True, 'confirmation_message': 'It is dark. Raise it?'}
    plan = a_plan(
        step('query_world_state', tool_call_type='query_world', parameters={'query': 'mast'}),
        step('confirm_action', tool_call_type='ask_user', parameters={'prompt': 'X'}, **confirmed),
        step('mast_open', preconditions={'mast': 'closed'}, fallback='get_status'),
        step('say', tool_call_type='speak', parameters={'message': 'The mast is up'}),
        step('nothing', tool_call_type='noop'),
        risk_level='medium',
    )
    with asked_world() as world:
        last, asked = run(world, plan, YES)
        assert (last.ok, asked) == (True, ['It is dark. Raise it?'])
        assert last.answer == 'Plan plan_1: completed, 5 of 5 steps done.'
        assert (world.calls, world.requests) == (['mast_open'], []), 'no model is asked'
        ends = [(number, status) for number, status, _ in results(world)]
        assert ends == [(number, StepStatus.SUCCESS) for number in range(1, 6)]


@pytest.mark.parametrize('answer', [YES, NO])
def test_what_needs_a_yes_waits_for_it_once(answer: ApprovalAnswer) -> None:
    asking: list[tuple[Json, Json, str]] = [
        ({'requires_confirmation': True}, {}, 'failed'),
        ({}, {'risk_level': 'high'}, 'cancelled'),
    ]
    for of_the_step, of_the_plan, ends in asking:
        with asked_world() as world:
            plan = a_plan(step('mast_open', **of_the_step), step('mast_close'), **of_the_plan)
            last, asked = run(world, plan, answer)
            assert (asked, last.ok) == (['mast_open()'], answer is YES)
            assert world.calls == (['mast_open', 'mast_close'] if answer is YES else [])
            if answer is NO:
                plan_now: Any = world.reacts[-1].plan
                assert plan_now['status'] == ends
                assert results(world)[0][1:] == (StepStatus.FAILED, 'rejected: not now')
                assert statuses(world) == ['failed', 'skipped']


def test_what_cannot_be_done_fails_the_plan() -> None:
    with asked_world() as world:
        for plan, answer in (
            (a_plan(step('fly'), step('mast_open')), 'Plan plan_1: failed, 0 of 2 steps done.'),
            (a_plan(step('mast_open', parameters={'angle': 3})), 'Plan plan_1: failed, 0 of 1'),
            ({'goal': 'x'}, 'That is no plan: '),
        ):
            last = world.turn(plan=plan)
            assert not last.ok
            assert last.answer.startswith(answer)
            assert world.calls == []


WITH_REMARKS = {
    **{'goal': 'Look', 'confidence': 0.9},
    'steps': [{'action': 'mast_open', 'note': 'for the view'}, {'action': 'capture_and_score'}],
}
LEFT_OUT = 'left out, as no plan has it: confidence, steps[0].note'


def patched(action: str, plan: Any = None) -> Say:
    patch = {'action': action} if plan is None else {'action': action, 'plan': plan}
    return Say('', (Call('decide', {'type': 'REPLAN', 'plan_patch': patch}),))


def told(world: World, request: int = -1) -> list[dict[str, Any]]:
    return [json.loads(text) for text in world.requests[request].texts('tool')]


GOAL = {'goal': 'Look', 'steps': [{'action': 'mast_open'}, {'action': 'capture_and_score'}]}


def test_a_plan_of_the_model_is_carried_out_and_the_model_goes_on() -> None:
    for plan in (GOAL, f'```json\n{json.dumps(GOAL)}\n```', WITH_REMARKS):
        with asked_world(patched('propose', plan), Say('Bright.')) as world:
            last, _ = run(world, None)
            assert (last.ok, last.answer, last.score) == (True, 'Bright.', 0.9)
            assert world.calls == ['mast_open', 'capture_and_score']
            assert len(world.requests) == 2
            assert [result['ok'] for result in told(world)] == [True] * 3
            measured = world.requests[1].texts('system')[-1]
            assert '"status": "completed"' in measured
            assert '1 mast_open: success' in measured
    assert told(world)[0]['data']['left_out'] == LEFT_OUT
    messages = [event.message for event in world.events]
    assert f'Plan: Look (2 steps); {LEFT_OUT}' in messages


def test_a_plan_that_failed_can_be_revised_and_dropped_and_what_was_done_is_not_repeated() -> None:
    mast: Json = {'action': 'mast_open'}
    drive: Json = {'action': 'move_forward', 'parameters': {'duration_s': 2}}
    first = {'goal': 'Go', 'steps': [mast, drive]}
    better = {'goal': 'Go', 'steps': [mast, {'action': 'mast_close'}, drive]}
    script = patched('propose', first), patched('revise', better), patched('drop'), DONE
    with asked_world(*script) as world:
        last, _ = run(world, None)
        assert last.ok
        assert world.calls == ['mast_open', 'mast_close', 'move_forward', 'move_stop']
        assert '"status": "completed"' in world.requests[2].texts('system')[-1]
        assert world.reacts[-1].plan is None
        assert '"plan"' not in world.requests[-1].texts('system')[-1]


BAD_PLANS: list[tuple[Any, str]] = [
    (None, 'That is no plan: '),
    ({'steps': []}, 'goal'),
    ({'goal': 'x', 'steps': []}, 'the plan has no steps'),
    ({'goal': 'x', 'steps': [{'action': 'fly'}]}, "there is no action 'fly'"),
    ({'goal': 'x', 'steps': [{'action': 'mast_open', 'if': 1}]}, 'steps[0].if is no field'),
    ('{"goal": "x", "steps": [{"action": "mast_open"', 'That is no plan: '),
]


def test_a_bad_plan_is_a_refusal_that_names_the_problem() -> None:
    with asked_world() as world:
        for plan, problem in BAD_PLANS:
            world.reset(patched('propose', plan), DONE)
            assert world.turn().ok
            (result,) = told(world)
            assert not result['ok']
            assert problem in result['error_reason']
            assert world.calls == []
            assert world.reacts[-1].plan is None


OP = {'skill': 'move_forward', 'arguments': {'duration_s': 6.0}}
questions = st.builds(
    Question,
    id=st.text('q0123456789abcdef-', min_size=1, max_size=36),
    text=st.text(st.characters(exclude_categories=['Cs']), max_size=900),
    op=st.sampled_from([None, OP]),
    reasons=st.lists(st.text(st.characters(exclude_categories=['Cs'])), max_size=3),
    asked_at=st.floats(0.0, 4e9),
)


@given(questions)
def test_whatever_a_model_asks_stays_in_its_line(question: Question) -> None:
    """It cannot print another question, nor move the cursor."""
    for text in (question_text(question, 12.3), question_summary(question)):
        assert text.isprintable()
        assert text.startswith(f'? {question.id[:8]}')
        assert (':edit' in text) is (question.op is not None) or ':edit' in question.text
    assert all(line.isprintable() for line in pending_table([question], 5e9).splitlines())
    assert len(pending_table([question], 5e9).splitlines()) == 2
    for text in (question_text(question, 12.3), pending_table([question], 5e9)):
        assert all(visible(each) in text for each in (question.text, *question.reasons))


asked = st.lists(questions, max_size=4, unique_by=lambda each: each.id)


@given(asked, st.text('q0123456789abcdef-', max_size=3))
def test_a_question_is_found_by_the_beginning_of_its_id(open_: list[Question], start: str) -> None:
    exact = [each for each in open_ if each.id == start]
    fitting = exact or [each for each in open_ if each.id.startswith(start)]
    if fitting and (start == '' or len(fitting) == 1):
        assert find_question(open_, start) == fitting[0]
        return
    with pytest.raises(QuestionNotFound) as refused:
        find_question(open_, start)
    if not open_:
        assert str(refused.value) == 'No question is open.'
    assert all(each.id[:8] in str(refused.value) for each in open_)


MEANT = {
    '': ('', ''),
    'q1': ('q1', ''),
    'q7 too  Far': ('q7', 'too  Far'),
    'Ｑ１ too far': ('q1', 'too far'),
    '3F2 wet': ('3f2', 'wet'),
    **{words: ('', words) for words in ('too far', '300 s is far', 'bad', 'quite far')},
    'fe it is mine': ('fe', 'it is mine'),  # it begins one that is open
}


def test_a_first_word_that_is_an_id_is_no_reason() -> None:
    open_ = [Question(id='q1a2b3c4', text=''), Question(id='fee1dead', text='')]
    assert {words: split_id_and_reason(words, open_) for words in MEANT} == MEANT
