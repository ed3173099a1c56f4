# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The chat model configured in agent.yaml, with its key from the environment."""

from __future__ import annotations

from collections.abc import Collection
import os
import re
from typing import Any, TYPE_CHECKING

from curiosity_rosa_demo.agent.llm.keys import key_name, KEY_NAMES
from curiosity_rosa_demo.agent.llm.usage_ledger import UsageLedger
from curiosity_rosa_demo.agent.llm.wire import REFUSAL
from curiosity_rosa_demo.domain.text import clip, printable
from curiosity_rosa_demo.infra.config.agent import LlmConfig, LOCAL
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage

if TYPE_CHECKING:
    from curiosity_rosa_demo.agent.llm.usage_meter import UsageMeter


class ModelSetupError(Exception):
    """The configured model cannot be created. The message names the fix."""


def make_chat_model(llm: LlmConfig, usage: UsageLedger | None = None) -> BaseChatModel | None:
    """Create the configured chat model; None for the rule model, which is none. Raises
    ModelSetupError, whose text never quotes a key. ``usage`` counts its calls and keeps their
    limits.
    """
    if llm.provider == 'routine':
        return None
    meter = None if usage is None else _meter_of(usage)
    model = _local_model(llm) if llm.provider == LOCAL else _provider_model(llm, meter)
    if meter is not None:
        model.callbacks = [meter]
    return model


def _meter_of(usage: UsageLedger) -> UsageMeter:
    from curiosity_rosa_demo.agent.llm.usage_meter import UsageMeter

    usage.open()
    return UsageMeter(usage)


def _provider_model(llm: LlmConfig, meter: UsageMeter | None) -> BaseChatModel:
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

            options['http_client'] = make_http_client(llm.timeout_s, meter)
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
        'max_retries': llm.max_retries,
    }
    if llm.max_tokens:
        options['max_tokens'] = llm.max_tokens
    if llm.extra_body:
        sent = {name: value for name, value in llm.extra_body.items() if value is not None}
        options['extra_body'] = sent
    return options


def _local_model(llm: LlmConfig) -> BaseChatModel:
    """A model that cannot start says so at its first call: until then the rule model decides."""
    from curiosity_rosa_demo.agent.llm.local_model import make_local_model
    from curiosity_rosa_demo.agent.llm.local_server import install_problem, shared_server

    server = shared_server(llm.model, llm.window_tokens)
    if not install_problem(llm.model):
        server.start()
    return make_local_model(server, _options(llm))


def tool_options(llm: LlmConfig) -> dict[str, Any]:
    """Options of ``bind_tools``: whether the model must call a tool, and one call at a time."""
    options: dict[str, Any] = {}
    if llm.tool_choice == 'required':
        options['tool_choice'] = 'any'  # LangChain's name of it, for every provider
    if llm.provider == 'openai' and 'parallel_tool_calls' not in llm.extra_body:
        options['parallel_tool_calls'] = False
    return options


# --- What is wrong with a model's answer before any goal is considered. Pure -------------------


FILTERED_TEXT = "The server withheld the model's answer (content_filter)."
CUT_TEXT = "The model's answer was cut at its limit of tokens (llm.max_tokens of agent.yaml)."
CALL_AS_TEXT = 'The model wrote a tool call as text, so nothing was called.'

_THINKING = re.compile(r'\A.*?</think>\s*', re.DOTALL)  # some templates omit the opening tag
_MARKS = re.compile(
    r'</?tool_calls?>|<function[=_(>]|<[|｜]tool[_▁]|<\|python_tag\|>|\[TOOL_CALLS\]',
    re.IGNORECASE,
)
_NAME = re.compile(r"""["'](?:name|tool|tool_name|function|action)["']\s*:\s*["']([^"']*)["']""")
_ARGUMENTS = re.compile(r"""["'](?:arguments|parameters|args)["']\s*:""")
_BARE_CALL = re.compile(r'\W*(\w+)\s*\(.*\)\W*', re.DOTALL)


def without_thinking(message: AIMessage) -> AIMessage:
    """``message`` without the thoughts that a server left in its text."""
    if not isinstance(message.content, str) or '</think>' not in message.content:
        return message
    return message.model_copy(update={'content': _THINKING.sub('', message.content)})


def answer_problem(message: AIMessage, offered: Collection[str]) -> str:
    """Why this answer is neither a call nor an answer in text; empty if it is one of them.
    ``offered``: the names of the tools.
    """
    metadata = message.response_metadata
    ending = str(metadata.get('finish_reason') or metadata.get('stop_reason') or '')
    if 'content_filter' in ending:
        return FILTERED_TEXT
    if message.tool_calls:
        return ''
    text = message.text().strip()
    if REFUSAL in ending:
        return f'The model refused: {clip(printable(text))}'
    if 'length' in ending or 'max_tokens' in ending:
        return CUT_TEXT
    return CALL_AS_TEXT if holds_tool_call(text, offered) else ''


def holds_tool_call(text: str, offered: Collection[str]) -> bool:
    """Whether ``text`` has a tool call in it, in the form of JSON, of tags or of code."""
    if _MARKS.search(text):
        return True
    bare = _BARE_CALL.fullmatch(text)
    if bare and bare.group(1) in offered:
        return True
    names = _NAME.findall(text)
    return any(name in offered for name in names) or bool(names and _ARGUMENTS.search(text))
