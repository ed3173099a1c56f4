# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.
"""The model: how it is made and told, what its failures say, and what it may spend."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import datetime, timedelta, timezone
from pathlib import Path
import re
import threading
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

from chat_server import call, Fault, Reply, Say
from curiosity_rosa_demo.agent.language.understand import understand
from curiosity_rosa_demo.agent.llm import call as call_module
from curiosity_rosa_demo.agent.llm.call import call_timeout_s, decide, MAX_CALLS, ModelCallFailed
from curiosity_rosa_demo.agent.llm.chat_model import make_chat_model, MAX_TOKENS, ModelSetupError
from curiosity_rosa_demo.agent.llm.errors import CircuitBreaker, explain, KEY_NAMES, retry_after_s
from curiosity_rosa_demo.agent.llm.usage import (
    BudgetRefusal,
    call_cost,
    limits_of,
    SCOPES,
    Spending,
    Tokens,
    usage_line,
    usage_table,
    UsageLedger,
)
from curiosity_rosa_demo.agent.react.ask import ApprovalQueue
from curiosity_rosa_demo.agent.react.prompt import OBSERVATION_HEADING, robot_prompts
from curiosity_rosa_demo.agent.react.turn import TurnEnvironment, TurnRequest
from curiosity_rosa_demo.agent.runtime.rosa_loader import ModelUnavailable, RosaLoader
from curiosity_rosa_demo.agent.skills.registry import make_registry
from curiosity_rosa_demo.agent.tasks.origin import Order, under_order
from curiosity_rosa_demo.domain.cancellation import Cancellation, TurnCancelled
from curiosity_rosa_demo.infra.config.agent import LlmConfig
from curiosity_rosa_demo.infra.config.topics import Config
from curiosity_rosa_demo.trace.events import BudgetLimitReached
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.prompts import ChatPromptTemplate
import pytest
import rosa.rosa
from tool_rover import SimulatedRover
from turn_world import (
    action,
    BY_ROUTINE,
    config_of,
    KEY,
    LLM,
    Nodes,
    OFFERED,
    parts_of_the_key,
    SHIPPED,
    SimulatedRoverWorld,
    World,
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


def test_calls_that_hang_are_few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(call_module, 'CANCEL_GRACE_S', 0.0)
    llm = SHIPPED.agent.llm.model_copy(update={'timeout_s': 0.01, 'max_retries': 0})
    released, calls, told = threading.Event(), list[threading.Thread](), list[str]()

    def hang(*_: Any) -> None:
        calls.append(threading.current_thread())
        released.wait(60.0)

    for _ in range(MAX_CALLS + 1):
        with pytest.raises(ModelCallFailed) as failed:
            decide(SimpleNamespace(invoke=hang), {}, llm, Cancellation())
        told.append(str(failed.value))
    released.set()
    for each in calls:
        each.join(60.0)
    assert len(calls) == MAX_CALLS
    assert set(told[:-1]) == {'The model did not answer within 0.01 s.'}
    assert f'{MAX_CALLS} calls of it hang' in told[-1]


def test_a_made_up_id_is_one_that_every_server_takes_and_the_servers_own_is_kept() -> None:
    owns = ['', 'call_x', 'call_x', '', 'rosa00004', '']
    nodes = Nodes([{**action('get_status'), 'id': own} for own in owns])
    made: list[str] = []
    for own, each in zip(owns, nodes.think().exchanges, strict=True):
        assert each.call_id == own or re.fullmatch('[A-Za-z0-9]{9}', each.call_id)
        assert (each.call_id == own) is (bool(own) and own not in made)
        made.append(each.call_id)
    assert len(set(made)) == len(owns)


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
    for text, wait_s in {'500': 0.5, '-1': None, 'nan': None}.items():
        assert retry_after_s({'retry-after-ms': text, 'retry-after': '9'}, 10.0) == wait_s


def test_only_good_turns_are_examples_for_the_next() -> None:
    with World(Fault(500), Say('I am Curiosity.'), LAST) as world:
        world.turn('One?')
        world.turn('Two?')
        world.turn('Three?')
        assert world.requests[-1].texts('user') == ['Two?', 'Three?']
        assert world.requests[-1].texts('assistant') == ['I am Curiosity.']


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
        st.tuples(st.integers(0, 500), st.integers(0, 500)).map(lambda used: Tokens(*used)),
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
    done: list[tuple[dict[str, str], Tokens]] = []  # the scopes of each call, and what it used

    def spent_by(scope: str, name: str) -> Spending:
        used = [each for names, each in done if names.get(scope) == name]
        cost = sum(call_cost(llm, each) or 0.0 for each in used)
        sums = map(sum, zip(Tokens(), *used, strict=True))
        return Spending(len(used), *sums, round(cost, 9))

    def exceeds(scope: str, spent: Spending, estimate: int) -> bool:
        most_tokens, most_money = limits_of(llm, scope)
        cost = round(spent.cost + (call_cost(llm, Tokens(estimate)) or 0.0), 9)
        return bool(0 < most_tokens < spent.tokens + estimate or 0 < most_money < cost)

    for place, (estimate, tokens, number, hours) in enumerate(made):
        now[0] += timedelta(hours=hours)
        names = {'day': now[0].date().isoformat()}
        if number:
            names |= {'turn': str(place), 'task': str(number)}
        with turn_of(str(number)) if number else nullcontext():
            refusal = make_call(ledger, estimate, tokens)
        over = any(exceeds(each, spent_by(each, names[each]), estimate) for each in names)
        assert (refusal is not None) is over
        if refusal is None:
            done.append((names, tokens))
        assert ledger.report()['day'] == spent_by('day', names['day'])


def turn_of(task: str) -> AbstractContextManager[None]:
    return under_order(Order(task_id=task, turn=uuid4().hex))


def test_the_sums_survive_a_restart_and_the_day_ends_at_midnight_of_the_zone(
    tmp_path: Path,
) -> None:
    now, zone = [NOON], timezone(timedelta(hours=8))
    llm, file = llm_of(day_tokens=1000, task_tokens=1500), tmp_path / 'tasks.db.usage'

    def opened() -> UsageLedger:
        return UsageLedger(llm, file, zone=zone, now=lambda: now[0])

    first = opened()
    with turn_of('a'):
        assert make_call(first, 10, Tokens(700, 200)) is None
        assert not isinstance(first.admit(50), BudgetRefusal)  # the agent dies in this call
    first.close()
    second = opened()
    assert isinstance(second.admit(51), BudgetRefusal)
    assert second.report()['day'].tokens == 950
    now[0] += timedelta(hours=4)  # midnight in UTC+08:00
    assert second.report()['day'] == Spending()
    assert make_call(second, 51, Tokens(1, 1)) is None
    with turn_of('a'):
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
    assert 'could not be read' in ledger.problem
    nowhere = UsageLedger(llm_of(day_tokens=9), tmp_path / 'none' / 'usage')
    assert make_call(nowhere, 1, Tokens(5, 5)) is None
    assert 'cannot be saved' in nowhere.problem
    assert make_call(nowhere, 1, Tokens()) is not None  # the limits hold all the same


UNPRICED: dict[str, Any] = {'input': None, 'output': None, 'cached': None, 'currency': 'USD'}


COSTS: list[tuple[dict[str, Any], dict[str, Any], float | None]] = [
    ({}, PRICES, 0.0016),
    ({}, UNPRICED, None),  # a server of one's own
    ({'base_url': '', 'model': 'gpt-4o-mini'}, UNPRICED, 0.00012),
    ({'provider': 'local', 'base_url': ''}, UNPRICED, 0.0),
    ({'provider': 'routine', 'base_url': ''}, PRICES, 0.0),
]


def test_a_call_costs_what_is_configured_or_published_or_it_is_unknown() -> None:
    for changes, prices, cost in COSTS:
        llm = llm_of(prices).model_copy(update=changes)
        assert call_cost(llm, Tokens(500, 100, cached=200)) == cost, changes


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
        spent = [(each.input, each.output, each.cost) for each in world.used]
        assert spent == [(20_000, 500, 0.044)]
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
    good = Say('', call('mast_open').calls, tokens=(10**30, 2))
    end = call('decide', type='ABORT', reason='enough')
    with limited(Fault(500), nothing, good, end, budget={}, max_retries=1) as world:
        world.turn('Open the mast.')
        assert len(world.requests) == 4
        counts = [0, 100, MAX_TOKENS]  # an error is not billed, and no server counts without end
        assert [each.input for each in world.used[:3]] == counts
        last = world.used[3]
        assert last.estimated  # the server reported none
        assert last.input > 500
        spent = world.usage.report()['turn']
        assert (spent.calls, spent.estimated) == (4, 1)
        assert set(world.usage.report()) == set(SCOPES)


FIELDS = {
    'embodiment_and_persona': 'Embodiment',
    'critical_instructions': 'Critical Instructions',
    'relevant_context': 'About Your Environment',
    'nuance_and_assumptions': 'Nuance And Assumptions',
}


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in KEY_NAMES.values():
        monkeypatch.delenv(name, raising=False)


def refused(**llm: Any) -> str:
    """Why the model cannot be made."""
    with pytest.raises(ModelSetupError) as caught:
        make_chat_model(config_of(llm={**LLM, **llm}).agent.llm)
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
    assert not parts_of_the_key(str(caught.value))
    return str(caught.value)


def with_context(text: str) -> Config:
    return SHIPPED.changed(prompts={'robot_system_prompts': {'relevant_context': text}})


def system_prompt(world: World) -> str:
    """The one system message, but for what is measured."""
    world.turn()
    (told,) = world.requests[-1].texts('system')
    return str(told).partition(OBSERVATION_HEADING)[0]


OPENAI = {'OPENAI_API_KEY': KEY}
UNKNOWN = (
    "llm.provider '{}' is unknown; use routine, openai or another provider of "
    "LangChain's init_chat_model"
)
NO_KEY_FOR_A_SERVER = (
    'No key for openai: set OPENAI_API_KEY in the environment '
    '(any text, if your server needs none).'
)
NEEDS = "llm.provider '{}' needs a package: pip install {} (a release for langchain 0.3)"
PACKAGES = {
    'mistralai': 'langchain-mistralai',
    'anthropic': 'langchain-anthropic',
    'google_genai': 'langchain-google-genai',
    'bedrock': 'langchain-aws',
}
SERVER = {'base_url': 'http://127.0.0.1:9/v1'}
NO_KEY = 'No key for {}: set {} in the environment.'
SPOILT_TEXT = 'OPENAI_API_KEY in the environment is no key: it holds ...'
SPOILT = [f'{KEY}\n', f' {KEY}', f'{KEY}\r', f'{KEY[:9]}\n{KEY}', 'ké']
REFUSED: list[tuple[dict[str, Any], dict[str, str], str]] = [
    *(({'provider': name}, {}, NO_KEY.format(name, key)) for name, key in KEY_NAMES.items()),
    *((SERVER, {'OPENAI_API_KEY': blank}, NO_KEY_FOR_A_SERVER) for blank in ('', ' ', '\n')),
    *(({}, {'OPENAI_API_KEY': key}, SPOILT_TEXT) for key in SPOILT),
    *(({'provider': name}, OPENAI, UNKNOWN.format(name)) for name in ('Open AI', 'openai ')),
    *(
        ({'provider': name}, {KEY_NAMES.get(name, 'UNUSED'): KEY}, NEEDS.format(name, package))
        for name, package in PACKAGES.items()
    ),
    ({'provider': 'azure_openai'}, {'AZURE_OPENAI_API_KEY': KEY}, "The model 'scripted' ..."),
]


def test_a_model_that_cannot_be_made_is_one_sentence_without_the_key(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for llm, environment, told in REFUSED:
        with monkeypatch.context() as patch:
            for name, value in environment.items():
                patch.setenv(name, value)
            text = refused(**llm)
        assert '\n' not in text
        assert text.startswith(told[:-3]) if told.endswith('...') else text == told


def test_the_prompts_of_the_yaml_take_rosas_places_in_each_instance() -> None:
    before = list(rosa.rosa.system_prompts)
    with World(Say('One.')) as world, World(Say('Two.')) as second:
        prompt = system_prompt(world)
        assert prompt == system_prompt(second)
        assert 'functions' not in world.requests[0].body  # those are ROSA's
    assert rosa.rosa.system_prompts == before
    assert prompt.startswith('Your are ROSA (Robot Operating System Agent)')
    assert prompt.count('Begin Robot-specific System Prompts') == 1
    ours = prompt.partition('Begin Robot-specific System Prompts')[2]
    for field, title in FIELDS.items():
        assert f'{title}: {getattr(SHIPPED.prompts.robot_system_prompts, field)}' in ours
    assert f'About Your Capabilities: {SHIPPED.prompts.bootstrap.text}' in ours
    unbooted = robot_prompts(SHIPPED.prompts.changed(bootstrap={'enabled': False})).as_message()
    assert SHIPPED.prompts.bootstrap.text not in unbooted[1]
    words = set(re.findall(r'[a-z0-9]+(?:_[a-z0-9]+)+', prompt))
    assert words - set(OFFERED) == set(), 'it names no tool that is not offered'
    assert not re.search('math tool|calculation tool|rosparam|rostopic', prompt)
    assert 'ONE AT A TIME' in prompt, "ROSA's other prompts stay"


def test_braces_stay_braces() -> None:
    text = 'Answer {"a": {x}} and {{twice}}, {input}, {chat_history}, { and }.'
    with World(Say('One.'), config=with_context(text)) as world:
        assert text in system_prompt(world)
        world.turn('{no} template')
        assert world.requests[-1].texts('user')[-1] == '{no} template'


@given(text=st.text(st.characters(exclude_categories=['Cs'])) | st.text(st.sampled_from('{}a')))
def test_any_prompt_reaches_the_model_as_it_is_written(text: str) -> None:
    prompts = robot_prompts(with_context(text).prompts)
    shown = ChatPromptTemplate.from_messages([prompts.as_message()]).invoke({}).to_string()
    if text.strip():
        assert f'About Your Environment: {text}' in shown


def brain_of(config: Config, checkpoints: Any = ':memory:') -> RosaLoader:
    return RosaLoader(
        TurnEnvironment(
            registry=make_registry(config),
            world=SimulatedRoverWorld(SimulatedRover(), config),
            approval_queue=ApprovalQueue(timeout_s=1.0),
            checkpoints=checkpoints,
            trace=lambda *_, **__: None,
            recall=lambda: '',
            on_react_state=lambda react: None,
        )
    )


def test_a_brain_that_cannot_be_made_says_so_at_every_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    no_key, request = (
        brain_of(config_of(llm=LLM)),
        TurnRequest(understand('Hello'), Cancellation()),
    )
    for _ in range(2):
        with pytest.raises(ModelUnavailable, match=r'^No key for openai: set OPENAI_API_KEY'):
            no_key.run_turn(request)
    file = tmp_path / 'turns.db'
    file.write_bytes(b'This is no database, ' * 100)
    with pytest.raises(ModelUnavailable, match=r'^Turns cannot be kept in .*turns.db: file is no'):
        brain_of(SHIPPED, file).run_turn(request)
    monkeypatch.setenv('OPENAI_API_KEY', KEY)
    # Without its own package, ollama falls back on a class of langchain-community without tools.
    with pytest.raises(ModelUnavailable, match='ollama'):
        brain_of(config_of(llm={**LLM, 'provider': 'ollama', 'model': 'x'})).run_turn(request)
    button = Cancellation()
    button.cancel('Stopped by a test')
    with pytest.raises(TurnCancelled, match='Stopped by a test'):
        brain_of(SHIPPED).run_turn(TurnRequest(understand('Hello'), button))
