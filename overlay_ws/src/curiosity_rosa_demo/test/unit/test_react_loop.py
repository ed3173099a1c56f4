# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.
"""The loop of a turn: what each answer of a model decides, and the plans that it carries out."""

from __future__ import annotations

from dataclasses import dataclass, field
import json
import threading
from typing import Any

from chat_server import Call, Say
from curiosity_rosa_demo.agent.react.act import end_or_go_on, MAX_LOOPS_PER_STEP
from curiosity_rosa_demo.agent.react.ask import ApprovalAnswer, QuestionNotFound
from curiosity_rosa_demo.agent.react.deciders import NO_ANSWER_TEXT
from curiosity_rosa_demo.agent.react.supervise import SentenceStream
from curiosity_rosa_demo.agent.react.think import MAX_OBSERVATION_CHARS, MAX_RESULTS, observe
from curiosity_rosa_demo.agent.react.turn import ASK_TO_CONTINUE, Turn
from curiosity_rosa_demo.agent.runtime.approvals import find_question, split_id_and_reason
from curiosity_rosa_demo.domain.brain_state import (
    ApprovalAction,
    BrainState,
    Decision,
    DecisionType,
    Json,
    Question,
    RobotState,
    Spent,
    TasksState,
    WorldState,
)
from curiosity_rosa_demo.domain.models import ToolResult
from curiosity_rosa_demo.domain.operation import call_text, Exchange
from curiosity_rosa_demo.domain.plan import ExecutionResult, Plan, StepStatus
from curiosity_rosa_demo.trace.events import PlanStepEnded
from examples import examples
from harness import wait_until
from hypothesis import example, given, settings
from hypothesis import strategies as st
from langchain_core.messages import ToolCall
import pytest
from turn_world import action, Answering, finish, Nodes, SHIPPED, with_rules, World

text = st.text(st.characters(exclude_categories=['Cs']), max_size=12)


def decided(type_: str, **more: Any) -> list[ToolCall]:
    return [action('decide', {'type': type_, **more})]


DECIDED: list[tuple[Any, str, str, str]] = [
    # what the model returns, how the turn ends, its answer, what the model is told
    *((nothing, 'ABORT', NO_ANSWER_TEXT, '') for nothing in ([], finish(' \n'))),
    (decided('FINISH', reason='Enough seen.'), 'FINISH', 'Enough seen.', ''),
    (decided('ABORT', reason='Too dark.'), 'ABORT', 'Too dark.', ''),
    (decided('SWITCH_TASK', reason='Charge first'), 'SWITCH_TASK', 'Charge first', ''),
    (decided('SWITCH_TASK', reason=' '), '', '', 'needs the other goal as reason'),
    *((decided(kind, reason='Hm.'), '', '', '') for kind in ('CONTINUE', 'RETRY', 'REPLAN')),
    ([*decided('CONTINUE'), action('mast_open')], '', '', 'One tool call at a time'),
]


def test_what_a_decision_does() -> None:
    for returned, ends, answer, told in DECIDED:
        nodes = Nodes(returned)
        nodes.think()
        react = nodes.act()
        assert (react.stop_reason, react.answer) == (ends, answer)
        assert react.ok is (ends in ('FINISH', 'SWITCH_TASK'))
        assert (react.spent.steps, nodes.acts) == (0, [])
        refused = [each.error_reason for each in nodes.told() if not each.ok]
        assert told in ''.join(refused)
        assert bool(told) is bool(refused)


@dataclass(frozen=True)
class Late(Call):
    """Its arguments are sent only when ``sent`` is set."""

    sent: threading.Event = field(default_factory=threading.Event)

    @property
    def text(self) -> str:
        assert self.sent.wait(20), 'the test did not let the arguments go'
        return super().text


def test_sentences_are_told_while_the_model_still_speaks() -> None:
    late = Late('mast_open', '{}')
    first = Say('It is dark. I raise the mast. Then I look', (late,), piece=3)
    with World(first, Say('Up. Bright.'), streaming=True) as world:
        thread = threading.Thread(target=world.turn, daemon=True)
        thread.start()
        try:
            wait_until(lambda: len(world.events) >= 2, 'two sentences')
            assert [(e.kind.value, e.message) for e in world.events] == [
                ('HYPOTHESIZE', 'It is dark.'),
                ('HYPOTHESIZE', 'I raise the mast.'),
            ]
            assert world.calls == []
        finally:
            late.sent.set()
        thread.join(timeout=20)
        assert not thread.is_alive()
    kinds = ['HYPOTHESIZE', 'DECIDE', 'ACT', 'RESULT', 'OBSERVE', 'RESULT']
    assert [event.kind for event in world.events[2:]] == kinds
    assert [event.message for event in world.events[-2:]] == ['Up.', 'Up. Bright.']


@given(st.lists(text | st.sampled_from(['A. ', 'B? ', '。', '\n', ' ', '.']), max_size=12))
def test_the_sentences_are_the_text_whatever_the_pieces(pieces: list[str]) -> None:
    whole, told, unsplit = ''.join(pieces), list[str](), list[str]()
    listener = SentenceStream(told.append)
    for piece in pieces:
        listener.on_llm_new_token(piece)
    listener.finish(whole)
    assert ''.join(''.join(told).split()) == ''.join(whole.split())
    assert all(sentence.strip() == sentence != '' for sentence in told)
    SentenceStream(unsplit.append).finish(whole)
    assert ''.join(''.join(unsplit).split()) == ''.join(whole.split())


FLAT = {
    'x', 'y', 'yaw_rad', 'mast', 'moving', 'battery_pct', 'battery_state', 'mode', 'zones',
    'safety_latch', 'home_x', 'home_y', 'distance_to_target', 'score', 'is_good', 'budget',
}  # fmt: skip


def test_the_facts_are_those_of_the_rover_and_of_the_kernel() -> None:
    nodes = Nodes(finish())
    nodes.now(mode='EXEC', latch='e-stop')
    nodes.rover.mast_is_open = True
    spent = Spent(steps=3, cost=10.0, metres=20.0, seconds=60.0)
    nodes.turn = Turn(score=0.5, spent=spent)
    seen = nodes.run(observe).observation
    assert set(seen) == FLAT
    assert (seen['x'], seen['mast'], seen['moving'], seen['mode']) == (0.0, 'open', False, 'EXEC')
    assert (seen['safety_latch'], seen['score'], seen['battery_pct']) == ('e-stop', 0.5, None)
    steps = SHIPPED.agent.turn.max_steps - 3
    left = {'steps': steps, 'cost': 990.0, 'metres': 180.0, 'seconds': 3540.0}
    assert seen['budget'] == left


long = st.integers(0, 9000).map(lambda size: 'x' * size) | st.text(
    st.characters(exclude_categories=['Cs']), max_size=300
)


@settings(max_examples=examples(60))
@given(
    memory=st.lists(long, max_size=4).map('\n'.join),
    results=st.lists(long, max_size=MAX_RESULTS),
    steps=st.integers(0, 100),
    action_name=long.filter(str.strip),
    zones=st.lists(long, max_size=30),
    latch=long,
)
def test_however_much_there_is_the_size_is_bounded_and_the_facts_are_there(
    memory: str, results: list[str], steps: int, action_name: str, zones: list[str], latch: str
) -> None:
    nodes = Nodes(finish())
    nodes.env.recalled = memory
    brain = BrainState(
        tasks=TasksState(), robot=RobotState(safety_latch=latch), world=WorldState(zones=zones)
    )
    nodes.world.brain_state = lambda: brain
    plan = Plan.create_new('goal').to_dict()
    plan['steps'] = [{'step_id': n, 'action': action_name} for n in range(steps)]
    nodes.turn = Turn(
        plan=Plan.from_dict(plan),
        exchanges=[
            Exchange(tool=f'tool_{number}', input='{}', result=ToolResult.failure(f'no: {text}'))
            for number, text in enumerate(results)
        ],
    )
    seen = nodes.run(observe).observation
    assert set(seen) >= FLAT
    assert len(json.dumps(seen)) <= MAX_OBSERVATION_CHARS
    assert bool(nodes.env.situation(nodes.turn).safety_latch) is bool(latch)
    if steps == 0 and not results:
        told = str(seen.get('memory', ''))
        assert '\n'.join(memory.splitlines()).endswith(told)


PATIENCE = SHIPPED.guardrails.patience
MAPPED = {'SAFETY_VIOLATION': 'ABORT', 'PARAM_INVALID': 'ASK_HUMAN', 'NAV_BLOCKED': ''}
OVER = (DecisionType.FINISH, DecisionType.ABORT, DecisionType.SWITCH_TASK)


def turn_of(
    *, decision: Decision | None = None, failure: str = '', beside: bool = False, **more: Any
) -> Turn:
    """After a call of get_status that failed with that code, or did not fail."""
    result = ToolResult.failure(failure, failure) if failure else ToolResult.success()
    op = call_text('get_status', {})
    called = Exchange(tool='get_status', input='{}', call_id='c1', result=result, op=op)
    late = ToolResult.failure('One at a time')
    declined = Exchange(tool='no such skill', input='{}', result=late)
    exchanges = [called, declined] if beside else [called]  # of the same answer
    return Turn(exchanges=exchanges, decision=decision or Decision(), call_id='c1', **more)


counts = st.integers(0, 10)


ends = st.fixed_dictionaries(
    {
        'failures_in_a_row': counts,
        'same_in_a_row': counts,
        'refused_in_a_row': st.integers(0, 4),
        'spent': st.builds(Spent, steps=st.integers(0, 7)),
        'iter': st.integers(0, MAX_LOOPS_PER_STEP * 6 + 3),
    }
)
decisions = st.builds(
    Decision, type=st.sampled_from(DecisionType), reason=st.sampled_from(['', ' ', 'because'])
)


@settings(max_examples=examples(500))
@given(
    decision=decisions,
    exhausted=st.sampled_from(['ABORT', 'ASK_HUMAN']),
    failure=st.sampled_from(['', 'boom', *MAPPED]),
    beside=st.booleans(),
    react=ends,
)
@example(
    Decision(),
    'ABORT',
    'PARAM_INVALID',
    False,
    {
        'failures_in_a_row': 1,
        'same_in_a_row': 0,
        'refused_in_a_row': 3,
        'spent': Spent(steps=1),
        'iter': 1,
    },
)
def test_a_turn_ends_when_it_must_and_only_then(
    decision: Decision, exhausted: str, failure: str, beside: bool, react: Any
) -> None:
    most, kind = 5, decision.type
    config = with_rules(steps=most, patience={'exhausted': exhausted})
    nodes = Nodes(finish(), config=config)
    failures = react['failures_in_a_row'] if failure else 0
    same, refused = react['same_in_a_row'], react['refused_in_a_row']
    steps, loops = react['spent'].steps, react['iter']
    nodes.turn = turn_of(
        decision=decision,
        failure=failure,
        beside=beside,
        **{**react, 'failures_in_a_row': failures},
    )
    react = nodes.run(end_or_go_on)
    mapped = MAPPED.get(failure, '')
    if kind in OVER:
        end = kind.value
    elif (
        mapped == 'ABORT'
        or (steps >= most and refused > 0)
        or steps > most
        or loops > MAX_LOOPS_PER_STEP * (most + 1)
        or (refused >= PATIENCE.refused_in_a_row and (beside or mapped != 'ASK_HUMAN'))
    ):
        end = 'ABORT'
    elif mapped == 'ASK_HUMAN':
        end = ASK_TO_CONTINUE
    elif failures >= PATIENCE.failures_in_a_row or same + 1 >= PATIENCE.no_progress:
        end = ASK_TO_CONTINUE if exhausted == 'ASK_HUMAN' else 'ABORT'
    else:
        end = ''
    assert react.stop_reason == end
    assert react.ok is (end in ('FINISH', 'SWITCH_TASK'))
    assert bool(react.answer.strip()) is bool(end)
    assert (react.question is not None) is (end == ASK_TO_CONTINUE)


@settings(max_examples=examples(50))
@given(
    yes=st.booleans(),
    failure=st.sampled_from(['boom', 'PARAM_INVALID']),
    failures=st.integers(8, 20),
    same=st.integers(0, 20),
)
def test_a_yes_goes_on_with_new_patience_and_a_no_ends(
    yes: bool, failure: str, failures: int, same: int
) -> None:
    config = with_rules(patience={'exhausted': 'ASK_HUMAN'})
    nodes = Nodes(finish(), config=config)
    failed = {'failures_in_a_row': failures, 'same_in_a_row': same}
    nodes.turn = turn_of(failure=failure, **failed)
    question = nodes.run(end_or_go_on).question
    assert question is not None
    in_a_row = f'{failures} failures in a row; the last: boom'
    why = in_a_row if failure == 'boom' else 'get_status() failed: PARAM_INVALID'
    assert question.text == f'{why}. Go on?'
    nodes.answer('APPROVE' if yes else 'REJECT')
    react = nodes.act()
    assert react.question is None
    assert react.ok is False
    if yes:
        assert react.stop_reason == ''
        assert (react.failures_in_a_row, react.same_in_a_row, react.refused_in_a_row) == (0, 0, 0)
    else:
        assert react.stop_reason == 'ABORT'
        assert react.answer == why


DONE = Say('Done.')
YES, NO = (
    ApprovalAnswer(ApprovalAction.APPROVE),
    ApprovalAnswer(ApprovalAction.REJECT, why='not now'),
)


def a_plan(*steps: Json, **more: Any) -> Json:
    numbered = [{'step_id': number, **each} for number, each in enumerate(steps, 1)]
    plan = {'plan_id': 'plan_1', 'goal': 'Look around', 'steps': numbered, **more}
    return Plan.from_dict(plan).to_dict()


def step_of(action: str, **more: Any) -> Json:
    return {'action': action, **more}


def run_plan(plan: Json, *answers: ApprovalAnswer) -> tuple[World, Turn, list[str]]:
    """The world, the turn, and what was asked in it."""
    queue = Answering(*answers)
    with World(DONE, approval_queue=queue) as world:
        return world, world.turn(plan=plan), [each.text for each in queue.asked]


def results(world: World) -> list[tuple[int, StepStatus, str]]:
    """The steps' results, as they were traced."""
    found = (event for event in world.events if event.message.startswith('plan step '))
    read = [(event, ExecutionResult.from_dict(event.data)) for event in found]  # type: ignore
    for event, result in read:
        assert event.ok is result.success
    return [(result.step_id, result.status, result.message) for _, result in read]


def test_the_shape_of_the_example_is_carried_out_step_by_step() -> None:
    confirmed = {'requires_confirmation': True, 'confirmation_message': 'It is dark. Raise it?'}
    plan = a_plan(
        step_of('query_world_state', tool_call_type='query_world', parameters={'query': 'mast'}),
        step_of(
            'confirm_action', tool_call_type='ask_user', parameters={'prompt': 'X'}, **confirmed
        ),
        step_of('mast_open', preconditions={'mast': 'closed'}, fallback='get_status'),
        step_of('say', tool_call_type='speak', parameters={'message': 'The mast is up'}),
        step_of('nothing', tool_call_type='noop'),
        risk_level='medium',
    )
    world, last, asked = run_plan(plan, YES)
    assert (last.ok, asked) == (True, ['It is dark. Raise it?'])
    assert last.answer == 'Plan plan_1: completed, 5 of 5 steps done.'
    assert (world.calls, world.requests) == (['mast_open'], []), 'no model is asked'
    ends = [(number, status) for number, status, _ in results(world)]
    assert ends == [(number, StepStatus.SUCCESS) for number in range(1, 6)]
    told = [each.told for event in world.events if (each := PlanStepEnded.of(event))]
    assert told == [True, False, True, True, False], 'by the results of their calls'


@pytest.mark.parametrize('answer', [YES, NO])
def test_what_needs_a_yes_waits_for_it_once(answer: ApprovalAnswer) -> None:
    asking: list[tuple[Json, Json, str]] = [
        ({'requires_confirmation': True}, {}, 'failed'),
        ({}, {'risk_level': 'high'}, 'cancelled'),
    ]
    for of_the_step, of_the_plan, ends in asking:
        plan = a_plan(step_of('mast_open', **of_the_step), step_of('mast_close'), **of_the_plan)
        world, last, asked = run_plan(plan, answer)
        assert (asked, last.ok) == (['mast_open()'], answer is YES)
        assert world.calls == (['mast_open', 'mast_close'] if answer is YES else [])
        if answer is NO:
            plan_now: Any = world.reacts[-1].plan
            assert plan_now['status'] == ends
            assert results(world)[0][1:] == (StepStatus.FAILED, 'rejected: not now')
            assert [each['status'] for each in plan_now['steps']] == ['failed', 'skipped']


WITH_REMARKS = {
    **{'goal': 'Look', 'confidence': 0.9},
    'steps': [{'action': 'mast_open', 'note': 'for the view'}, {'action': 'capture_and_score'}],
}
LEFT_OUT = 'left out, as no plan has it: confidence, steps[0].note'


def patched(action: str, plan: Any = None) -> Say:
    patch = {'action': action} if plan is None else {'action': action, 'plan': plan}
    return Say('', (Call('decide', {'type': 'REPLAN', 'plan_patch': patch}),))


def plan_told(world: World, request: int = -1) -> list[dict[str, Any]]:
    return [json.loads(text) for text in world.requests[request].texts('tool')]


GOAL = {'goal': 'Look', 'steps': [{'action': 'mast_open'}, {'action': 'capture_and_score'}]}


def test_a_plan_of_the_model_is_carried_out_and_the_model_goes_on() -> None:
    for plan in (GOAL, f'```json\n{json.dumps(GOAL)}\n```', WITH_REMARKS):
        with World(patched('propose', plan), Say('Bright.')) as world:
            last = world.turn()
            assert (last.ok, last.answer, last.score) == (True, 'Bright.', 0.9)
            assert world.calls == ['mast_open', 'capture_and_score']
            assert len(world.requests) == 2
            assert [result['ok'] for result in plan_told(world)] == [True] * 3
            measured = world.requests[1].texts('system')[-1]
            assert '"status": "completed"' in measured
            assert '1 mast_open: success' in measured
    assert plan_told(world)[0]['data']['left_out'] == LEFT_OUT
    messages = [event.message for event in world.events]
    assert f'Plan: Look (2 steps); {LEFT_OUT}' in messages


def test_a_plan_that_failed_can_be_revised_and_dropped_and_what_was_done_is_not_repeated() -> None:
    mast: Json = {'action': 'mast_open'}
    drive: Json = {'action': 'move_forward', 'parameters': {'duration_s': 2}}
    first = {'goal': 'Go', 'steps': [mast, drive]}
    better = {'goal': 'Go', 'steps': [mast, {'action': 'mast_close'}, drive]}
    script = patched('propose', first), patched('revise', better), patched('drop'), DONE
    with World(*script) as world:
        assert world.turn().ok
        assert world.calls == ['mast_open', 'mast_close', 'move_forward', 'move_stop']
        assert '"status": "completed"' in world.requests[2].texts('system')[-1]
        assert world.reacts[-1].plan is None
        assert '"plan"' not in world.requests[-1].texts('system')[-1]


def test_a_question_of_a_models_plan_is_asked_whatever_its_name() -> None:
    step = step_of('find_the_light', tool_call_type='ask_user', parameters={'prompt': 'May I?'})
    queue = Answering(NO)
    script = patched('propose', {'goal': 'Light', 'steps': [step]}), DONE
    with World(*script, approval_queue=queue) as world:
        world.turn()
        assert [each.text for each in queue.asked] == ['May I?']
        assert world.calls == []


def test_a_plan_that_comes_with_a_question_waits_for_its_answer() -> None:
    drive = {'action': 'move_forward', 'parameters': {'duration_s': 2}}
    patch = {'action': 'propose', 'plan': {'goal': 'Go', 'steps': [drive]}}
    asks = {'type': 'ASK_HUMAN', 'reason': 'May I drive?', 'plan_patch': patch}
    for answer in (YES, NO):
        queue = Answering(answer)
        with World(Say('', (Call('decide', asks),)), DONE, approval_queue=queue) as world:
            world.turn()
            assert [each.reasons[0].startswith('May I drive? Go') for each in queue.asked] == [
                True
            ]
            assert world.calls == (['move_forward', 'move_stop'] if answer is YES else [])


BAD_PLANS: list[tuple[Any, str]] = [
    (None, 'That is no plan: '),
    ({'steps': []}, 'goal'),
    ({'goal': 'x', 'steps': []}, 'the plan has no steps'),
    ({'goal': 'x', 'steps': [{'action': 'fly'}]}, "there is no action 'fly'"),
    ({'goal': 'x', 'steps': [{'action': 'mast_open', 'if': 1}]}, "steps[0].'if' is no field"),
    ('{"goal": "x", "steps": [{"action": "mast_open"', 'That is no plan: '),
]


def test_a_bad_plan_is_a_refusal_that_names_the_problem() -> None:
    with World(DONE) as world:
        for plan, problem in BAD_PLANS:
            world.reset(patched('propose', plan), DONE)
            assert world.turn().ok
            (result,) = plan_told(world)
            assert not result['ok']
            assert problem in result['error_reason']
            assert world.calls == []
            assert world.reacts[-1].plan is None
        assert world.turn(plan={'goal': 'x'}).answer.startswith('That is no plan: ')
        fails = a_plan(step_of('mast_open', parameters={'angle': 3}))
        assert world.turn(plan=fails).answer.startswith('Plan plan_1: failed, 0 of 1')
        assert world.calls == []


ids = st.text('q012', min_size=1, max_size=4)


@given(st.lists(ids, max_size=4, unique=True), st.text('q012', max_size=3))
def test_a_question_is_found_by_the_beginning_of_its_id(open_: list[str], start: str) -> None:
    questions = [Question(id=each, text='') for each in open_]
    fitting = [each for each in open_ if each == start] or [
        each for each in open_ if each.startswith(start)
    ]
    if fitting and (start == '' or len(fitting) == 1):
        assert find_question(questions, start).id == fitting[0]
        return
    with pytest.raises(QuestionNotFound) as refused:
        find_question(questions, start)
    assert all(each in str(refused.value) for each in open_)


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
