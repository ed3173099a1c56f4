# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Errors of a chat model, explained in one sentence that a user can act on.

Error texts of providers may quote keys and prompts, so the sentence depends on the type of the
error and its HTTP status. Only a refused request, and an error without a status, quote the server,
clipped and without secrets: no other text tells what it refuses, such as a parameter.
"""

from __future__ import annotations

import time
from typing import Any
from urllib.parse import urlsplit

from curiosity_rosa_demo.agent.llm.keys import quoted
from curiosity_rosa_demo.agent.llm.local_server import LocalModelFailed
from curiosity_rosa_demo.agent.llm.wire import retry_after_s
from curiosity_rosa_demo.infra.config.agent import LlmConfig

CONNECTION_LOST_ERRORS = ('RemoteProtocolError', 'ReadError', 'IncompleteRead', 'StreamCut')
# LangChain's integrations raise these for an answer of an unexpected shape.
MALFORMED_ANSWER_ERRORS = (ValueError, TypeError, KeyError, IndexError, AttributeError)

REFUSED_WITHOUT_TEXT = (
    'check llm.model and llm.temperature in agent.yaml; or the talk has grown too long for it'
)


def explain(error: BaseException, llm: LlmConfig) -> str:
    """One sentence for ``error``, an exception of a LangChain chat model."""
    who = f"The model '{llm.model}' of {llm.provider}" if llm.model else 'The model'
    chain = _error_chain(error)
    if isinstance(error, LocalModelFailed):
        return str(error)
    names = ' '.join(type(each).__name__ for each in chain)
    said = quoted(next(filter(None, map(_server_text, chain)), ''), llm)
    status = next((_status(each) for each in chain if _status(each)), None)
    if status == 401 or 'Authentication' in names:
        return f'{who} refused the key (401): check the key in the environment.'
    if status == 403 or 'PermissionDenied' in names:
        return f'{who} denied access (403): this key may not use it.'
    if status == 404 or 'NotFound' in names:
        return f'{who} does not exist there (404): check llm.model and llm.base_url in agent.yaml.'
    wait_s = max(map(_wait_s, chain))
    if wait_s >= 1.0 and (status == 429 or (status or 0) >= 500):
        return f'{who} is busy ({status}): the server asks to wait {wait_s:.0f} s.'
    if status == 429 or 'RateLimit' in names:
        return (
            f'{who} is over its rate limit or quota (429), also after {llm.max_retries} retries.'
        )
    if status is not None and status >= 500:
        return f'{who} has an internal error ({status}), also after {llm.max_retries} retries.'
    if status is not None:
        return _sentence(f'{who} refused the request ({status})', said or REFUSED_WITHOUT_TEXT)
    if 'Timeout' in names:
        return f'{who} did not answer within {llm.timeout_s:g} s (llm.timeout_s of agent.yaml).'
    if any(name in names for name in CONNECTION_LOST_ERRORS):
        return f'{who} closed the connection before its answer was complete.'
    if 'Connect' in names:
        where = _without_login(llm.base_url) or "the provider's address"
        return f'{who} cannot be reached at {where}: check llm.base_url in agent.yaml.'
    if 'ResponseValidation' in names or any(
        isinstance(each, MALFORMED_ANSWER_ERRORS) for each in chain
    ):
        return f'{who} sent an answer that cannot be read ({type(error).__name__}).'
    return _sentence(f'{who} failed ({type(error).__name__})', said)


def _sentence(what: str, said: str) -> str:
    text = f'{what}: {said}' if said else what
    return text if text.endswith('.') else f'{text}.'


def _status(error: BaseException) -> int | None:
    for holder in (error, getattr(error, 'response', None)):
        status = getattr(holder, 'status_code', None)
        if isinstance(status, int) and status >= 400:  # with 200 the body was at fault
            return status
    return None


def _wait_s(error: BaseException) -> float:
    """The seconds that the server asks to wait; 0 if it does not."""
    headers = getattr(getattr(error, 'response', None), 'headers', None)
    return retry_after_s(headers or {}, time.time()) or 0.0


def _server_text(error: BaseException) -> str:
    """The sentence in the body of an HTTP error: OpenAI's form, or that of another server."""
    body: Any = getattr(error, 'body', None)
    for _ in range(3):
        if isinstance(body, list) and body:
            body = body[0]
        elif isinstance(body, dict):
            names = ('error', 'message', 'detail', 'msg')
            body = next((body[name] for name in names if body.get(name)), '')
    return body if isinstance(body, str) else ''


def _without_login(url: str) -> str:
    """``url`` without user, password and query, each of which may contain a key."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        return ''
    if not host:
        return ''
    return f'{parts.scheme}://{host}{f":{port}" if port else ""}{parts.path}'


def _error_chain(error: BaseException) -> list[BaseException]:
    chain: list[BaseException] = []
    each: BaseException | None = error
    while each is not None and each not in chain:
        chain.append(each)
        each = each.__cause__ or each.__context__
    return chain
