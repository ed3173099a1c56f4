# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.
"""Errors, breaker, tokens and cost of the language model, and the limits of llm.budget."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path
import re
from typing import Any

from chat_server import call, Fault, Reply, Say
from curiosity_rosa_demo.agent.llm.budget import (
    BudgetRefusal,
    limits_of,
    SCOPES,
    usage_line,
    usage_table,
)
from curiosity_rosa_demo.agent.llm.call import (
    call_timeout_s,
    CircuitBreaker,
    decide,
    ModelCallFailed,
)
from curiosity_rosa_demo.agent.llm.errors import explain
from curiosity_rosa_demo.agent.llm.usage import Spending, Tokens, turn_scope
from curiosity_rosa_demo.agent.llm.usage_ledger import call_cost, UsageLedger
from curiosity_rosa_demo.agent.llm.wire import retry_after_s
from curiosity_rosa_demo.agent.react.turn.messages import call_entry
from curiosity_rosa_demo.domain.cancellation import Cancellation
from curiosity_rosa_demo.infra.config.agent import LlmConfig
from curiosity_rosa_demo.trace.events import BudgetLimitReached
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain.agents.output_parsers.tools import ToolAgentAction
import pytest
from turn_world import BY_ROUTINE, config_of, KEY, LLM, parts_of_the_key, SHIPPED, World


def action_with(call_id: str) -> ToolAgentAction:
    return ToolAgentAction(
        tool='get_status', tool_input={}, log='', tool_call_id=call_id, message_log=[]
    )


class Raising:
    def __init__(self, error: BaseException) -> None:
        self._error = error

    def invoke(self, *_: Any) -> Any:
        raise self._error


def test_a_model_that_fails_ends_the_turn_in_words() -> None:
    for error in (SystemExit(3), KeyboardInterrupt(), GeneratorExit(), OSError()):
        with pytest.raises(ModelCallFailed, match=type(error).__name__):
            decide(Raising(error), {}, SHIPPED.agent.llm, Cancellation())


def test_a_made_up_id_is_one_that_every_server_takes_and_the_servers_own_is_kept() -> None:
    made: set[str] = set()
    for number, own in enumerate(['', 'call_x', 'call_x', '', 'rosa00004', '']):
        call_id = str(call_entry(action_with(own), '', made)['call_id'])
        assert call_id == own or re.fullmatch('[A-Za-z0-9]{9}', call_id)
        assert (call_id == own) is (bool(own) and own not in made)
        made.add(call_id)
        assert len(made) == number + 1


WHO = "The model 'scripted' of openai"


def error_of(status: int | None, text: str, depth: int) -> Exception:
    class Odd(Exception):
        status_code: int | None = None

    error: Exception = Odd(text)
    error.status_code = status  # type: ignore[attr-defined]
    for _ in range(depth):
        outer = RuntimeError(text)
        outer.__cause__ = error
        error = outer
    return error


@given(
    status=st.none() | st.integers(100, 599),
    text=st.text() | st.just(KEY),
    depth=st.integers(0, 3),
    base_url=st.sampled_from(
        ['', 'nonsense', 'http://[', 'http://a:b@[::1]:x', f'http://{KEY}@h']
    ),
)
def test_any_error_is_one_line_without_a_word_of_its_own(
    status: int | None, text: str, depth: int, base_url: str
) -> None:
    llm = config_of(llm={**LLM, 'base_url': base_url}).agent.llm
    sentence = explain(error_of(status, text, depth), llm)
    assert sentence.startswith(WHO)
    assert sentence.endswith('.')
    assert '\n' not in sentence
    assert not parts_of_the_key(sentence)
    if status is not None and status >= 400:
        assert f'({status})' in sentence


def refusal(body: Any) -> Exception:
    error = error_of(400, KEY, 0)
    error.body = body  # type: ignore[attr-defined]
    return error


SYSTEM = 'System message must be at the beginning.'
UNTOLD = 'check llm.model and llm.temperature in agent.yaml; or the talk has grown too long for it'


QUOTED: list[tuple[Any, str]] = [
    ({'message': SYSTEM, 'type': 'BadRequestError'}, SYSTEM[:-1]),
    ({'error': {'message': SYSTEM, 'code': 400}}, SYSTEM[:-1]),
    ({'error': 'no tools\n\x1b[2Jhere'}, 'no tools [2Jhere'),
    ({'detail': [{'loc': ['body'], 'msg': 'Extra inputs'}]}, 'Extra inputs'),
    ('<html>Bad gateway</html>', '<html>Bad gateway</html>'),
    ({'message': 'x ' * 5000}, f'{"x " * 5000:.197}..'),
    ({'message': 'Authorization: Bearer abcdefgh123'}, 'Authorization: [hidden]'),
    ({'message': f'key={KEY}, not sk-0123456789'}, 'key=[hidden] not [hidden]'),
    *((nothing, UNTOLD) for nothing in (None, {'message': ''}, {'message': {'a': 1}})),
]


def test_a_refused_request_quotes_the_servers_own_sentence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv('OPENAI_API_KEY', KEY)
    for body, told in QUOTED:
        sentence = explain(refusal(body), config_of(llm=LLM).agent.llm)
        assert sentence == f'{WHO} refused the request (400): {told}.'


@given(before=st.text(), after=st.text(), cut=st.integers(0, 12))
def test_no_quoted_sentence_holds_a_part_of_the_key(before: str, after: str, cut: int) -> None:
    body = {'message': f'{before}{KEY[cut:]}{after}{KEY[: 20 - cut]}'}
    llm = config_of(llm={**LLM, 'base_url': f'http://u:{KEY}@h/v1'}).agent.llm
    sentence = explain(refusal(body), llm)
    assert not parts_of_the_key(sentence)
    assert sentence.isprintable()


def test_errors_that_cause_each_other_in_a_ring_end() -> None:
    first, second = ValueError('a'), TypeError('b')
    first.__context__, second.__context__ = second, first
    llm = config_of(llm=LLM).agent.llm
    assert explain(first, llm) == f'{WHO} sent an answer that cannot be read (ValueError).'


@given(timeout_s=st.floats(0.1, 3600.0), retries=st.integers(0, 10))
def test_patience_covers_every_try_and_ends(timeout_s: float, retries: int) -> None:
    llm = config_of(llm={**LLM, 'timeout_s': timeout_s, 'max_retries': retries}).agent.llm
    assert timeout_s * (retries + 1) < call_timeout_s(llm) <= (timeout_s + 9.0) * (retries + 1)


LAST = Say('Sand.')


def test_the_wait_is_read_from_seconds_or_a_date() -> None:
    waits = {'7': 7.0, '0.5': 0.5, 'Thu, 01 Jan 1970 00:01:40 GMT': 90.0}
    for text in (*waits, '', 'soon', '-1', 'nan', 'inf'):
        assert retry_after_s({'retry-after': text}, 10.0) == waits.get(text)


def test_the_settings_of_agent_yaml_are_sent_and_the_shipped_ones_leave_all_but_one() -> None:
    extra = {'top_k': 3, 'parallel_tool_calls': None}
    bodies: list[Any] = []
    for llm in ({'max_tokens': 99, 'tool_choice': 'required', 'extra_body': extra}, {}):
        with World(LAST, **llm) as world:
            world.turn()
            bodies.append(world.requests[0].body)
    set_, shipped = bodies
    assert (set_.get('max_tokens') or set_['max_completion_tokens']) == 99
    assert (set_['tool_choice'], set_['top_k']) == ('required', 3)
    assert 'parallel_tool_calls' not in set_
    assert not {'max_tokens', 'max_completion_tokens', 'tool_choice', 'top_k'} & set(shipped)
    assert shipped['parallel_tool_calls'] is False


def test_only_good_turns_are_examples_for_the_next() -> None:
    with World(Fault(500), Say('I am Curiosity.'), LAST) as world:
        world.turn('One?')
        world.turn('Two?')
        world.turn('Three?')
        assert world.requests[-1].texts('user') == ['Two?', 'Three?']
        assert world.requests[-1].texts('assistant') == ['I am Curiosity.']


def test_a_breaker_allows_one_trial_after_its_time_and_has_a_meaning() -> None:
    breaker = CircuitBreaker(1, 60.0)
    breaker.record_start()
    breaker.record_failure(0.0)
    assert (breaker.allows(60.0), breaker.allows(60.0)) == (True, True), 'asking changes nothing'
    breaker.record_start()
    assert (breaker.state, breaker.allows(1e9)) == ('half open', False)
    for failures, open_s in ((0, 1.0), (1, 0.0), (1, float('nan'))):
        with pytest.raises(ValueError, match='failures'):
            CircuitBreaker(failures, open_s)


@settings(deadline=None)
@given(
    st.integers(1, 4),
    st.floats(0.5, 100.0),
    st.lists(st.tuples(st.floats(-5.0, 150.0), st.booleans()), max_size=60),
)
def test_whatever_happens_no_call_begins_while_it_is_open(
    limit: int, open_s: float, course: list[tuple[float, bool]]
) -> None:
    breaker, at, row, opened = CircuitBreaker(limit, open_s), 0.0, 0, float('-inf')
    for step, works in course:
        at += step
        allowed = breaker.allows(at)
        assert allowed == (row < limit or at >= opened + open_s)
        assert breaker.state == ('closed' if row < limit else 'open')
        if not allowed:
            continue
        breaker.record_start()
        if works:
            breaker.record_success()
            row = 0
        else:
            breaker.record_failure(at)
            row, opened = row + 1, at


DEMO = SHIPPED.prompts.templates['demo_ground_texture'].text_in('en')
PRICES = {'input': 2.0, 'output': 8.0, 'cached': 1.0, 'currency': 'USD'}
NOON = datetime(2026, 1, 5, 12, tzinfo=timezone.utc)


def llm_of(prices: dict[str, Any] | None = None, **budget: Any) -> LlmConfig:
    shipped = SHIPPED.agent.llm
    return config_of(
        llm={
            **LLM,
            'base_url': 'http://127.0.0.1:9/v1',
            'budget': {**shipped.budget.model_dump(), **budget},
            'prices': PRICES if prices is None else prices,
        }
    ).agent.llm


def make_call(ledger: UsageLedger, estimate: int, tokens: Tokens) -> BudgetRefusal | None:
    entry = ledger.admit(estimate)
    if isinstance(entry, BudgetRefusal):
        return entry
    ledger.settle(entry, tokens)
    return None


calls = st.lists(
    st.tuples(
        st.integers(0, 500),  # estimated input
        st.builds(Tokens, st.integers(0, 500), st.integers(0, 500)),
        st.integers(0, 3),  # the task of the turn; 0: the policy
        st.integers(0, 9),  # hours until the call
    ),
    max_size=30,
)
limits = st.integers(0, 3000)


@given(calls, limits, limits, limits, st.sampled_from([0.0, 0.002, 0.01]))
def test_no_scope_exceeds_a_limit_by_more_than_its_last_call(
    made: list[tuple[int, Tokens, int, int]], turn: int, task: int, day: int, money: float
) -> None:
    llm, now = llm_of(turn_tokens=turn, task_tokens=task, day_tokens=day, day_money=money), [NOON]
    ledger = UsageLedger(llm, now=lambda: now[0])
    sums: dict[tuple[str, str], Spending] = {}
    for estimate, tokens, number, hours in made:
        now[0] += timedelta(hours=hours)
        keys = [('day', now[0].date().isoformat())]
        if number:
            keys.append(('task', str(number)))
            with turn_scope(str(number)):
                refusal = make_call(ledger, estimate, tokens)
        else:
            refusal = make_call(ledger, estimate, tokens)
        before = {key: sums.get(key, Spending()) for key in keys}
        if number:
            before['turn', ''] = Spending()
        over = any(_exceeds(llm, key[0], spent, estimate) for key, spent in before.items())
        assert (refusal is not None) is over
        if refusal is None:
            used = Spending.of(tokens, call_cost(llm, tokens))
            sums |= {key: before[key] + used for key in keys}
        assert ledger.report()['day'] == sums.get(keys[0], Spending())


def _exceeds(llm: LlmConfig, scope: str, spent: Spending, estimate: int) -> bool:
    most_tokens, most_money = limits_of(llm, scope)
    cost = call_cost(llm, Tokens(estimate)) or Decimal(0)
    return bool(most_tokens and spent.tokens + estimate > most_tokens) or bool(
        most_money and spent.cost + cost > most_money
    )


def test_the_sums_survive_a_restart_and_the_day_ends_at_midnight_of_the_zone(
    tmp_path: Path,
) -> None:
    now, zone = [NOON], timezone(timedelta(hours=8))
    llm, file = llm_of(day_tokens=1000, task_tokens=1500), tmp_path / 'tasks.db.usage'

    def opened() -> UsageLedger:
        return UsageLedger(llm, file, zone=zone, now=lambda: now[0])

    first = opened()
    with turn_scope('a'):
        assert make_call(first, 10, Tokens(700, 200)) is None
        assert not isinstance(first.admit(50), BudgetRefusal)  # the agent dies in this call
    first.close()
    second = opened()
    assert isinstance(second.admit(51), BudgetRefusal)
    assert second.report()['day'].tokens == 950
    now[0] += timedelta(hours=4)  # midnight in UTC+08:00
    assert second.report()['day'] == Spending()
    assert make_call(second, 51, Tokens(1, 1)) is None
    with turn_scope('a'):
        refusal = second.admit(551)
    assert isinstance(refusal, BudgetRefusal)
    assert (refusal.scope, refusal.used) == ('task', 950)


def test_calls_at_the_same_time_see_each_other() -> None:
    ledger = UsageLedger(llm_of(day_tokens=100))
    assert not isinstance(ledger.admit(60), BudgetRefusal)
    assert isinstance(ledger.admit(60), BudgetRefusal)


def test_a_file_that_is_no_database_is_set_aside_and_one_that_cannot_be_made_is_told(
    tmp_path: Path,
) -> None:
    file = tmp_path / 'usage'
    file.write_bytes(b'no database ' * 100)
    ledger = UsageLedger(llm_of(), file)
    assert make_call(ledger, 1, Tokens(5, 5)) is None
    assert 'was damaged' in ledger.problem
    nowhere = UsageLedger(llm_of(day_tokens=9), tmp_path / 'none' / 'usage')
    assert make_call(nowhere, 1, Tokens(5, 5)) is None
    assert 'cannot be saved' in nowhere.problem
    assert make_call(nowhere, 1, Tokens()) is not None  # the limits hold all the same


UNPRICED: dict[str, Any] = {'input': None, 'output': None, 'cached': None, 'currency': 'USD'}


COSTS: list[tuple[dict[str, Any], dict[str, Any], str | None]] = [
    ({}, PRICES, '0.0016'),
    ({}, UNPRICED, None),  # a server of one's own
    ({'base_url': '', 'model': 'gpt-4o-mini'}, UNPRICED, '0.00012'),
    ({'provider': 'local', 'base_url': ''}, UNPRICED, '0'),
    ({'provider': 'routine', 'base_url': ''}, PRICES, '0'),
]


def test_a_call_costs_what_is_configured_or_published_or_it_is_unknown() -> None:
    for changes, prices, cost in COSTS:
        llm = llm_of(prices).model_copy(update=changes)
        found = call_cost(llm, Tokens(500, 100, cached=200))
        assert found == (None if cost is None else Decimal(cost)), changes


def test_an_unknown_price_is_said_and_never_zero() -> None:
    ledger = UsageLedger(llm_of(UNPRICED))
    make_call(ledger, 1, Tokens(5, 5))
    spent = ledger.report()['day']
    assert spent.to_json('USD')['cost'] is None
    assert 'cost unknown' in usage_line(ledger.llm, ledger.report())
    assert [row[2] for row in usage_table(ledger.llm, {'day': spent})] == ['cost unknown']
    refusal = UsageLedger(llm_of(UNPRICED, turn_money=1.0, day_money=1.0)).admit(1)
    assert isinstance(refusal, BudgetRefusal)
    for language, words in (('en', 'is unknown'), ('ja', '不明'), ('zh', '未知')):
        assert words in refusal.text(language)  # type: ignore[arg-type]


@contextmanager
def limited(*script: Reply, budget: dict[str, Any], **llm: Any) -> Iterator[World]:
    limits = {**SHIPPED.agent.llm.budget.model_dump(), **budget}
    with World(*script, budget=limits, prices=PRICES, **llm) as world:
        yield world


STEP = Say('So.', call('mast_open').calls, tokens=(20_000, 500))


@pytest.mark.parametrize(
    ('budget', 'unit'), [({'turn_tokens': 22_000}, 'tokens'), ({'day_money': 0.05}, 'USD')]
)
def test_the_limit_stops_the_model_within_one_call_and_the_routine_takes_over(
    budget: dict[str, Any], unit: str
) -> None:
    with limited(STEP, budget=budget, streaming=unit == 'USD') as world:
        last = world.turn(DEMO)
        assert (last.ok, last.is_good) == (True, True)
        spent = [(each.tokens, each.cost) for each in world.used]
        assert spent == [(Tokens(20_000, 500), Decimal('0.044'))]
        assert len(world.requests) == 1
        reached = [found for each in world.events if (found := BudgetLimitReached.of(each))]
        assert {each.unit for each in reached} == {unit}
        told = [event.message for event in world.events if event.message.startswith(BY_ROUTINE)]
        assert all("The model's budget for " in each for each in told)
        assert world.turn(DEMO).ok  # the breaker is closed; a limit of the turn begins anew
        assert len(world.requests) == (2 if unit == 'tokens' else 1)


def test_without_the_routine_the_turn_ends_with_the_reason_in_the_users_language() -> None:
    with limited(STEP, budget={'task_tokens': 20_000}, fallback='none') as world:
        for text, words in (
            (DEMO, "The model's budget for this task is reached"),
            ('明るい場所を探して', 'モデルの予算に達しました'),
            ('找到明亮的地方', '模型预算已用完'),
        ):
            world.reset(STEP)
            last = world.turn(text, task=words)
            assert not last.ok
            assert words in last.answer
            assert len(world.requests) == 1
            reached = [found for each in world.events if (found := BudgetLimitReached.of(each))]
            assert [found.scope for found in reached] == ['task']


def test_retries_and_an_answer_that_is_asked_for_again_count() -> None:
    nothing = Say(tokens=(100, 1))
    good = Say('', call('mast_open').calls, tokens=(200, 2))
    end = call('decide', type='ABORT', reason='enough')
    with limited(Fault(500), nothing, good, end, budget={}, max_retries=1) as world:
        world.turn('Open the mast.')
        assert len(world.requests) == 4
        first, second, third = (each.tokens for each in world.used)
        assert (first.input, second.input) == (100, 200)  # an error is not billed
        assert third.estimated  # the server reported none
        assert third.input > 500
        spent = world.usage.report()['turn']
        assert (spent.calls, spent.estimated) == (3, 1)
        assert set(world.usage.report()) == set(SCOPES)
