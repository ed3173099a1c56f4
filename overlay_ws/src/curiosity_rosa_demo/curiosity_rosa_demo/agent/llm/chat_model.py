# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The chat model configured in agent.yaml, with its key from the environment; and its callback,
which asks the ledger before each call and tells it what the call has used.
"""

from __future__ import annotations

from collections.abc import Mapping
import logging
import os
import re
from typing import Any
from uuid import UUID

from curiosity_rosa_demo.agent.llm.call import ModelCallFailed
from curiosity_rosa_demo.agent.llm.errors import key_name, KEY_NAMES, may_be_billed
from curiosity_rosa_demo.agent.llm.local_server import (
    install_problem,
    LocalServer,
    shared_server,
)
from curiosity_rosa_demo.agent.llm.messages import estimated_tokens, message_tokens
from curiosity_rosa_demo.agent.llm.usage import BudgetRefusal, Entry, Tokens, UsageLedger
from curiosity_rosa_demo.infra.config.agent import LlmConfig, LOCAL
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage
from langchain_core.outputs import LLMResult

MAX_TOKENS = 10**9  # of one call, whatever a server says
_callback_log = logging.getLogger('langchain_core.callbacks.manager')


class ModelSetupError(Exception):
    """The configured model cannot be created. The message names the fix."""


def make_chat_model(llm: LlmConfig, usage: UsageLedger | None = None) -> BaseChatModel | None:
    """Create the configured chat model; None for the rule model, which is none. Raises
    ModelSetupError, whose text never quotes a key. ``usage`` counts its calls and keeps their
    limits.
    """
    if llm.provider == 'routine':
        return None
    if llm.provider == LOCAL:
        server = shared_server(llm.model, llm.window_tokens)
        if not install_problem(llm.model):
            server.start()
        model = make_local_model(llm, server)
    else:
        model = _provider_model(llm)
    if usage is not None:
        usage.open()
        model.callbacks = [UsageMeter(usage)]
    return model


def _provider_model(llm: LlmConfig) -> BaseChatModel:
    variable = key_name(llm.provider)
    key = os.environ.get(variable, '')
    if llm.provider in KEY_NAMES and not key.strip():
        raise ModelSetupError(
            f'No key for {llm.provider}: set {variable} in the environment'
            + (' (any text, if your server needs none).' if llm.base_url else '.')
        )
    if not (key.isascii() and key.isprintable()) or key != key.strip():
        raise ModelSetupError(
            f'{variable} in the environment is no key: it holds a space at an end, a line break '
            'or letters outside ASCII.'
        )
    from langchain.chat_models import init_chat_model

    options = _options(llm)
    if llm.base_url:
        options['base_url'] = llm.base_url
    if llm.provider in ('openai', 'azure_openai', 'anthropic'):
        options['streaming'] = llm.streaming
    if llm.provider in ('openai', 'azure_openai') and 'stream_options' not in llm.extra_body:
        options['stream_usage'] = True  # else a stream ends without a count of its tokens
    try:
        if llm.provider == 'openai':
            from curiosity_rosa_demo.agent.llm.wire import HEADERS, make_http_client

            options['http_client'] = make_http_client()
            options['default_headers'] = HEADERS
        return init_chat_model(llm.model, model_provider=llm.provider, **options)
    except ImportError as error:
        named = re.search(r'pip install (?:-U )?([\w-]+)', str(error))
        package = named.group(1) if named else f'langchain-{llm.provider.replace("_", "-")}'
        raise ModelSetupError(
            f"llm.provider '{llm.provider}' needs a package: pip install {package} "
            '(a release for langchain 0.3)'
        ) from None
    except ValueError as error:
        if 'Unsupported' in str(error):
            raise ModelSetupError(
                f"llm.provider '{llm.provider}' is unknown; use routine, openai or another "
                "provider of LangChain's init_chat_model"
            ) from None
        raise ModelSetupError(
            f"The model '{llm.model}' cannot be set up: wrong settings"
        ) from None
    except Exception as error:
        raise ModelSetupError(
            f"The model '{llm.model}' of {llm.provider} cannot be set up "
            f'({type(error).__name__}); is {variable} set?'
        ) from None


def _options(llm: LlmConfig) -> dict[str, Any]:
    options: dict[str, Any] = {
        'temperature': llm.temperature,
        'timeout': llm.timeout_s,
        'max_retries': 0,  # call.decide retries
    }
    if llm.max_tokens:
        options['max_tokens'] = llm.max_tokens
    if llm.extra_body:
        sent = {name: value for name, value in llm.extra_body.items() if value is not None}
        options['extra_body'] = sent
    return options


def make_local_model(llm: LlmConfig, server: LocalServer) -> BaseChatModel:
    """A model that cannot start says so at its first call: until then the rule model decides."""
    from curiosity_rosa_demo.agent.llm.local_model import BASE_URL, LocalTransport
    import httpx
    from langchain_openai import ChatOpenAI

    client = httpx.Client(transport=LocalTransport(server))
    where: dict[str, Any] = {'base_url': BASE_URL, 'api_key': 'unused', 'http_client': client}
    return ChatOpenAI(model=LOCAL, **where, **_options(llm))


def tool_options(llm: LlmConfig) -> dict[str, Any]:
    """Options of ``bind_tools``: whether the model must call a tool, and one call at a time."""
    options: dict[str, Any] = {}
    if llm.tool_choice == 'required':
        options['tool_choice'] = 'any'  # LangChain's name of it, for every provider
    if llm.provider == 'openai' and 'parallel_tool_calls' not in llm.extra_body:
        options['parallel_tool_calls'] = False
    return options


# --- The count of its calls ---------------------------------------------------------------------


class BudgetReached(ModelCallFailed):
    """The call was not made: a limit of llm.budget is reached."""

    def __init__(self, refusal: BudgetRefusal) -> None:
        super().__init__(refusal.text())
        self.refusal = refusal


# LangChain logs what a callback raises; this is no fault, and the turn says it.
_callback_log.addFilter(lambda record: BudgetReached.__name__ not in record.getMessage())


class UsageMeter(BaseCallbackHandler):
    """A callback of the model itself, so that no call of it goes uncounted. Raises BudgetReached
    in place of a call. A call that was never answered may be billed, one that was refused is not.
    """

    raise_error = True  # else LangChain would swallow BudgetReached

    def __init__(self, ledger: UsageLedger) -> None:
        self._ledger = ledger
        self._calls: dict[UUID, tuple[Entry, int]] = {}

    def on_chat_model_start(
        self,
        serialized: dict[str, Any],
        messages: list[list[BaseMessage]],
        *,
        run_id: UUID,
        **kwargs: Any,
    ) -> None:
        tools = (kwargs.get('invocation_params') or {}).get('tools') or ()
        needed = estimated_tokens(messages[0], tools, self._ledger.llm.image_px)
        entry = self._ledger.admit(needed)
        if isinstance(entry, BudgetRefusal):
            raise BudgetReached(entry)
        self._calls[run_id] = entry, needed

    def on_llm_end(self, response: LLMResult, *, run_id: UUID, **_: Any) -> None:
        message: Any = getattr(response.generations[0][0], 'message', None)
        self._settle(run_id, _reported_tokens(message), message_tokens(message))

    def on_llm_error(self, error: BaseException, *, run_id: UUID, **_: Any) -> None:
        self._settle(run_id, None if may_be_billed(error) else Tokens())

    def _settle(self, run_id: UUID, tokens: Tokens | None, made: int = 0) -> None:
        """``tokens`` None: not reported. ``made``: an estimate of the output."""
        if run_id in self._calls:  # not one that was refused
            entry, needed = self._calls.pop(run_id)
            self._ledger.settle(entry, tokens or Tokens(needed, made, estimated=True))


def _reported_tokens(message: BaseMessage) -> Tokens | None:
    """The tokens in LangChain's ``usage_metadata``; None: the provider reported none."""
    usage = getattr(message, 'usage_metadata', None)
    given, made = _count(usage, 'input_tokens'), _count(usage, 'output_tokens')
    if not given and not made:
        return None
    cached = _count((usage or {}).get('input_token_details'), 'cache_read')
    reasoning = _count((usage or {}).get('output_token_details'), 'reasoning')
    return Tokens(given, made, min(cached, given), min(reasoning, made))


def _count(holder: object, name: str) -> int:
    value = holder.get(name) if isinstance(holder, Mapping) else None
    return min(value, MAX_TOKENS) if type(value) is int and value > 0 else 0
