# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What goes wrong between us and a model: one sentence, one ERROR event, and never the key."""

from __future__ import annotations

from collections.abc import Callable, Iterator
import logging
from typing import Any

from chat_server import Call, Cut, Fault, Hang, Raw, Reply, Say, Trickle
from curiosity_rosa_demo.agent.llm.call import call_timeout_s
from curiosity_rosa_demo.agent.llm.errors import explain
from hypothesis import given
from hypothesis import strategies as st
import pytest
from turn_world import check_story, config_of, KEY, LLM, parts_of_the_key, World

DONE = Say('Done.')
ANSWER = Say('The ground is bright here.')
WHO = "The model 'scripted' of openai"
Make = Callable[..., World]


@pytest.fixture(params=[True, False], ids=['streaming', 'whole'])
def make(
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> Iterator[Make]:
    monkeypatch.setenv('OPENAI_API_KEY', KEY)
    caplog.set_level(logging.DEBUG)
    worlds: list[World] = []

    def make_world(*script: Any, **options: Any) -> World:
        worlds.append(World(*script, streaming=request.param, **options))
        return worlds[-1]

    yield make_world
    for world in worlds:
        world.server.close()
        for text in (*world.texts(), caplog.text, *capfd.readouterr()):
            assert not parts_of_the_key(text), 'the key got out'


def fails(world: World) -> str:
    """A turn that must fail, leave a rover that was not moved, and let the next one work."""
    last = world.turn('Go.')
    assert not last.ok
    assert set(world.errors()) == {last.answer}
    assert check_story(world.events) == 0
    assert world.calls == []
    requests = list(world.requests)
    world.server.says(DONE)
    world.renew_button()
    assert world.turn('Again.').ok
    world.requests[:] = requests
    return last.answer


STATUS = {
    400: f'{WHO} refused the request (400): Incorrect: [hidden].',
    401: f'{WHO} refused the key (401): check the key in the environment.',
    403: f'{WHO} denied access (403): this key may not use it.',
    404: f'{WHO} does not exist there (404): check llm.model and llm.base_url in agent.yaml.',
    429: f'{WHO} is over its rate limit or quota (429), also after 2 retries.',
    500: f'{WHO} has an internal error (500), also after 2 retries.',
    503: f'{WHO} has an internal error (503), also after 2 retries.',
}


@pytest.mark.parametrize('status', STATUS)
def test_each_status_is_one_sentence_after_the_right_number_of_tries(
    make: Make, status: int
) -> None:
    world = make(Fault(status, quote_key=True), max_retries=2)
    assert fails(world) == STATUS[status]
    assert len(world.requests) == (3 if status in (429, 500, 503) else 1)
    assert {request.authorization for request in world.requests} == {f'Bearer {KEY}'}


@pytest.mark.parametrize('fault', [Fault(429), Fault(500), Hang()], ids=['429', '500', 'hangs'])
def test_a_fault_that_passes_is_not_noticed(make: Make, fault: Reply) -> None:
    world = make(fault, fault, ANSWER, timeout_s=0.3, max_retries=2)
    assert world.turn().answer == ANSWER.text
    assert world.errors() == []
    assert len(world.requests) == 3


CLOSED = f'{WHO} closed the connection before its answer was complete.'
TORN_DRIVE = Say('', (Call('move_forward', {'duration_s': 19.5}),), piece=1)


@pytest.mark.parametrize(
    ('reply', 'timeout_s', 'told'),
    [
        (Hang(), 0.3, f'{WHO} did not answer within 0.3 s (llm.timeout_s of agent.yaml).'),
        (Trickle(), 0.5, 'The model did not answer within 1.5 s.'),  # no more than the others
        (Cut(ANSWER), 5.0, CLOSED),
        (Cut(TORN_DRIVE), 5.0, CLOSED),
    ],
    ids=['hangs', 'trickles', 'breaks off', 'breaks off in a call'],
)
def test_a_reply_that_never_ends_is_told(
    make: Make, reply: Reply, timeout_s: float, told: str
) -> None:
    assert fails(make(reply, timeout_s=timeout_s)) == told


UNREADABLE = (f'{WHO} sent an answer that cannot be read', 'The model answered')


@pytest.mark.parametrize(
    ('body', 'told'),
    [
        *((html, UNREADABLE) for html in ('<html>Welcome</html>', '{"choices": [{"in')),
        *((json, UNREADABLE) for json in ('[]', '{}', '{"choices": null}', 'null', '""')),
        (f'{{"error": {{"message": "bad key {KEY}", "code": 500}}}}', (WHO,)),
    ],
    ids=range(8),
)
def test_an_answer_that_is_no_answer(make: Make, body: str, told: tuple[str, ...]) -> None:
    assert fails(make(Raw(body))).startswith(told)


def test_a_key_that_is_refused_in_the_middle_of_a_turn_ends_it(make: Make) -> None:
    world = make(Say('', (Call('mast_open'),)), Fault(401, quote_key=True))
    last = world.turn()
    assert last.answer == STATUS[401]
    assert check_story(world.events) == 1


def test_nobody_listens(make: Make) -> None:
    world = make(DONE)
    world.server.close()
    last = world.turn()
    where = world.server.url
    assert last.answer == f'{WHO} cannot be reached at {where}: check llm.base_url in agent.yaml.'
    assert world.errors() == [last.answer]


def test_a_base_url_with_a_login_is_shown_without_it(monkeypatch: pytest.MonkeyPatch) -> None:
    llm = config_of(llm={**LLM, 'base_url': f'http://me:{KEY}@127.0.0.1:9/v1?key={KEY}'}).agent.llm
    text = explain(ConnectionError(), llm)
    assert 'http://127.0.0.1:9/v1:' in text
    assert not parts_of_the_key(text)


# --- the rules ------------------------------------------------------------------------------


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


@pytest.mark.parametrize(
    ('body', 'told'),
    [
        ({'message': SYSTEM, 'type': 'BadRequestError'}, SYSTEM[:-1]),
        ({'object': 'error', 'message': SYSTEM}, SYSTEM[:-1]),
        ({'error': {'message': SYSTEM, 'code': 400}}, SYSTEM[:-1]),
        ({'error': 'no tools\n\x1b[2Jhere'}, 'no tools [2Jhere'),
        ({'detail': [{'loc': ['body'], 'msg': 'Extra inputs'}]}, 'Extra inputs'),
        ('<html>Bad gateway</html>', '<html>Bad gateway</html>'),
        ({'message': 'x ' * 5000}, f'{"x " * 5000:.197}..'),
        ({'message': 'Authorization: Bearer abcdefgh123'}, 'Authorization: [hidden]'),
        ({'message': f'key={KEY}, not sk-0123456789'}, 'key=[hidden] not [hidden]'),
        (None, UNTOLD),
        ({'message': ''}, UNTOLD),
        ({'message': {'a': 1}}, UNTOLD),
    ],
    ids=range(12),
)  # fmt: skip
def test_a_refused_request_quotes_the_servers_own_sentence(
    monkeypatch: pytest.MonkeyPatch, body: Any, told: str
) -> None:
    monkeypatch.setenv('OPENAI_API_KEY', KEY)
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


# --- the server of these tests --------------------------------------------------------------
