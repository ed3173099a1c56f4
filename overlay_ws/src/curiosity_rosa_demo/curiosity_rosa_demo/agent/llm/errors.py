# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Errors of a chat model, explained in one sentence that a user can act on; and how long a model
that keeps failing is left alone.

Error texts of providers may quote keys and prompts, so the sentence depends on the types of the
error and its causes, and on the HTTP status. Only a refused request, and an error of no known
kind, quote the server, clipped and without secrets: no other text tells what it refuses, such as a
parameter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from email.utils import parsedate_to_datetime
import math
import os
import re
import time
from typing import Any
from urllib.parse import urlsplit

from curiosity_rosa_demo.agent.llm.local_server import LocalModelFailed
from curiosity_rosa_demo.domain.text import clip, printable
from curiosity_rosa_demo.infra.config.agent import LlmConfig

# Environment variables of LangChain's integrations; for others <PROVIDER>_API_KEY is assumed.
KEY_NAMES = {
    'openai': 'OPENAI_API_KEY',
    'azure_openai': 'AZURE_OPENAI_API_KEY',
    'anthropic': 'ANTHROPIC_API_KEY',
    'google_genai': 'GOOGLE_API_KEY',
    'mistralai': 'MISTRAL_API_KEY',
    'groq': 'GROQ_API_KEY',
    'deepseek': 'DEEPSEEK_API_KEY',
    'xai': 'XAI_API_KEY',
}
HIDDEN = '[hidden]'
RUN_CHARS = 5  # a word with this many characters of a secret in a row is hidden
_LOOKS_LIKE_A_KEY = re.compile(r'\b(?:sk|pk|gsk|xai|hf|bearer)[-_ ]+\S{8,}', re.I)


class StreamCut(Exception):
    """The stream ended before its answer did."""


# What is said of an error, by its status or a part of a type's name; the first that fits.
KINDS: dict[str, tuple[int | str, ...]] = {
    'refused the key (401): check the key in the environment.': (401, 'Authentication'),
    'denied access (403): this key may not use it.': (403, 'PermissionDenied'),
    'does not exist there (404): check llm.model and llm.base_url in agent.yaml.': (
        404,
        'NotFound',
    ),
    'is over its rate limit or quota (429), also after {retries} retries.': (429, 'RateLimit'),
    'has an internal error ({status}), also after {retries} retries.': tuple(range(500, 600)),
    'refused the request ({status}): {said}': tuple(range(400, 500)),
    'did not answer within {timeout_s:g} s (llm.timeout_s or policy.timeout_s of agent.yaml).': (
        'Timeout',
    ),
    'closed the connection before its answer was complete.': (
        *('RemoteProtocolError', 'ReadError', 'IncompleteRead', 'StreamCut'),
    ),
    'cannot be reached at {address}: check llm.base_url in agent.yaml.': ('Connect',),
    'sent an answer that cannot be read ({type}).': (  # LangChain raises these for an odd shape
        *('ResponseValidation', 'ValueError', 'TypeError', 'LookupError', 'AttributeError'),
    ),
}
BUSY = 'is busy ({status}): the server asks to wait {wait_s:.0f} s.'
OTHER = 'failed ({type}): {said}'
REFUSED_WITHOUT_TEXT = (
    'check llm.model and llm.temperature in agent.yaml; or the talk has grown too long for it'
)
# An error within a stream is not tried again: the beginning of its answer has been told.
RETRIED_STATUSES = (408, 409, 429, *range(500, 600))
RETRIED_TYPES = ('APITimeoutError', 'APIConnectionError', 'ConnectTimeout', 'ConnectError')
NOT_SENT_TYPES = {'ConnectError', 'ConnectTimeout', 'LocalModelFailed', 'UnsupportedProtocol'}


def explain(error: BaseException, llm: LlmConfig) -> str:
    """One sentence for ``error``, an exception of a LangChain chat model."""
    if local := next((e for e in _chain(error) if isinstance(e, LocalModelFailed)), None):
        return str(local)
    status, wait_s, names = _status(error), asked_wait_s(error), ' '.join(_type_names(error))
    known = (
        text
        for text, marks in KINDS.items()
        if status in marks or any(isinstance(each, str) and each in names for each in marks)
    )
    is_busy = wait_s >= 1.0 and (status == 429 or status >= 500)
    text = BUSY if is_busy else next(known, OTHER)
    said = quoted(next(filter(None, map(_server_text, _chain(error))), ''), llm)
    told = text.format(
        status=status,
        wait_s=wait_s,
        retries=llm.max_retries,
        timeout_s=llm.timeout_s,
        type=type(error).__name__,
        address=_without_login(llm.base_url) or "the provider's address",
        said=said or (REFUSED_WITHOUT_TEXT if status else ''),
    )
    who = f"The model '{llm.model}' of {llm.provider}" if llm.model else 'The model'
    return f'{who} {told.removesuffix(": ").removesuffix(".")}.'


def may_pass(error: BaseException, llm: LlmConfig) -> bool:
    """Whether the same request may succeed in a moment, no later than the server asks to wait."""
    is_known = type(error).__name__ in RETRIED_TYPES or _status(error) in RETRIED_STATUSES
    is_local = LocalModelFailed.__name__ in _type_names(error)
    return is_known and not is_local and asked_wait_s(error) <= llm.timeout_s


def may_be_billed(error: BaseException) -> bool:
    """Whether the request was sent, and no status refused it."""
    return not _status(error) and not NOT_SENT_TYPES.intersection(_type_names(error))


def asked_wait_s(error: BaseException) -> float:
    """The seconds that the server asks to wait; 0 if it does not."""
    responses = (getattr(each, 'response', None) for each in _chain(error))
    headers = (getattr(each, 'headers', None) or {} for each in responses)
    return max(retry_after_s(each, time.time()) or 0.0 for each in headers)


def retry_after_s(headers: Mapping[str, str], now_s: float) -> float | None:
    """The seconds that a server asks to wait; None if it does not. ``now_s``: since the epoch."""
    text, in_ms = headers.get('retry-after', ''), headers.get('retry-after-ms')  # of OpenAI
    try:
        wait_s = float(text) if in_ms is None else float(in_ms) / 1000.0
    except ValueError:
        try:
            wait_s = parsedate_to_datetime(text).timestamp() - now_s
        except (ValueError, TypeError, OverflowError):
            return None
    return wait_s if math.isfinite(wait_s) and wait_s >= 0.0 else None


def key_name(provider: str) -> str:
    """The environment variable with the key of ``provider``."""
    return KEY_NAMES.get(provider, f'{provider.upper()}_API_KEY')


def quoted(text: str, llm: LlmConfig) -> str:
    """``text`` of a server on one clipped line, with neither the key nor what looks like one."""
    words = _LOOKS_LIKE_A_KEY.sub(HIDDEN, printable(text)).split()
    try:
        url = urlsplit(llm.base_url)
        secrets = [url.username, url.password, url.query]
    except ValueError:
        secrets = [llm.base_url]
    # A secret shorter than a run, such as ``none``, protects nothing.
    parts = {
        secret[i : i + RUN_CHARS]
        for secret in (os.environ.get(key_name(llm.provider)), *secrets)
        if secret
        for i in range(len(secret) - RUN_CHARS + 1)
    }
    return clip(' '.join(HIDDEN if any(p in word for p in parts) else word for word in words))


def _status(error: BaseException) -> int:
    """The HTTP status of an error; 0 for none. With 200 the body was at fault."""
    for each in _chain(error):
        for holder in (each, getattr(each, 'response', None)):
            status = getattr(holder, 'status_code', None)
            if isinstance(status, int) and status >= 400:
                return status
    return 0


def _type_names(error: BaseException) -> set[str]:
    return {base.__name__ for each in _chain(error) for base in type(each).__mro__}


def _chain(error: BaseException) -> Iterator[BaseException]:
    seen: list[BaseException] = []
    each: BaseException | None = error
    while each is not None and each not in seen:
        yield each
        seen.append(each)
        each = each.__cause__ or each.__context__


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
    except ValueError:
        return ''
    host = parts.netloc.rpartition('@')[2]
    return host and parts._replace(netloc=host, query='', fragment='').geturl()


# --- A model that keeps failing is left alone for a while ---------------------------------------

# consecutive failures that open the breaker, and its time open
MAX_FAILURES, BREAKER_OPEN_S = 2, 60.0


class CircuitBreaker:
    """After ``failures`` consecutive failures the breaker opens for ``open_s`` seconds. It then
    allows one trial call (half open), which closes it or opens it again. Pure: the caller passes
    the time in seconds (``at``).
    """

    def __init__(self, failures: int, open_s: float) -> None:
        self._limit, self._open_s = failures, open_s
        self._failures = 0
        self._open_until = 0.0
        self._probing = False

    def allows(self, at: float) -> bool:
        """Whether a call may start. Changes no state: call ``record_start`` at the start."""
        is_closed = self._failures < self._limit
        return is_closed or (not self._probing and at >= self._open_until)

    def record_start(self) -> None:
        self._probing = True

    def record_success(self) -> None:
        self._probing, self._failures = False, 0

    def record_failure(self, at: float) -> None:
        self._probing = False
        self._failures += 1
        if self._failures >= self._limit:
            self._open_until = at + self._open_s


class FallbackModel:
    """The rule model stands in for a model that fails, which is then left alone for a while.

    Share one instance between all turns: then a dead provider does not cost its time-out in each
    step and each turn.
    """

    def __init__(self, steady: Callable[[], float] = time.monotonic) -> None:
        self._clock = steady
        self._breaker = CircuitBreaker(MAX_FAILURES, BREAKER_OPEN_S)
        self._last_failure = ''

    def unavailable_reason(self) -> str:
        """The reason why the model is not called now; empty if it may be called."""
        if self._breaker.allows(self._clock()):
            return ''
        return f'{self._last_failure} It is not asked for {BREAKER_OPEN_S:g} s.'

    def record_failure(self, why: str) -> None:
        self._last_failure = why
        self._breaker.record_failure(self._clock())

    def record_success(self) -> None:
        self._breaker.record_success()
