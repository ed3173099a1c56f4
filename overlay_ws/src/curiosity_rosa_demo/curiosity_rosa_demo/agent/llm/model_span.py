# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The span of a model call, by OpenTelemetry's conventions for generative AI. It has names and
counts, never a prompt or an answer.
"""

from __future__ import annotations

from typing import Any

from curiosity_rosa_demo.infra.config.agent import LlmConfig
from curiosity_rosa_demo.infra.spans import Attributes, Span, span
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import BaseMessage
from langchain_core.outputs import LLMResult

OPERATION = {'gen_ai.operation.name': 'chat'}
RULES = 'rulechatmodel'  # LangSmith's name of the rule model
FINISH_KEYS = ('finish_reason', 'stop_reason', 'done_reason')  # by provider
MODEL_KEYS = ('model_name', 'model')


def model_span(llm: LlmConfig) -> Any:
    """The span of one call; its callbacks learn which model it was."""
    return span(f'chat {llm.model or llm.provider}', OPERATION, is_client=True)


def span_listeners(call: Span) -> tuple[BaseCallbackHandler, ...]:
    """What fills the span in; nothing where there is none."""
    return (SpanListener(call),) if call.recording else ()


class SpanListener(BaseCallbackHandler):
    """LangChain calls it in the thread of the model call, which may outlive the span."""

    def __init__(self, call: Span) -> None:
        self._call = call

    @property
    def ignore_chain(self) -> bool:
        """Prompt and parser are not of interest; LangChain then spares their calls."""
        return True

    def on_chat_model_start(
        self, serialized: Any, messages: Any, *, metadata: Any = None, **_: Any
    ) -> None:
        known = metadata if isinstance(metadata, dict) else {}
        provider, model = known.get('ls_provider'), known.get('ls_model_name')
        if isinstance(provider, str) and provider:
            is_rules = provider.replace('_', '') in (RULES, RULES.removesuffix('chatmodel'))
            provider = 'routine' if is_rules else provider
            self._call.set({'gen_ai.provider.name': provider})
            model = model or provider
        if isinstance(model, str) and model:
            self._call.rename(f'chat {model[:100]}')
            self._call.set({'gen_ai.request.model': model})

    def on_llm_end(self, response: LLMResult, **_: Any) -> None:
        for generations in response.generations[:1]:
            message = getattr(generations[0], 'message', None) if generations else None
            if isinstance(message, BaseMessage):
                self._call.set(response_attributes(message))


def response_attributes(message: BaseMessage) -> Attributes:
    """Tokens, finish reason and model of an answer, as far as the provider says them."""
    found: dict[str, Any] = {}
    usage = getattr(message, 'usage_metadata', None) or {}
    for kind in ('input_tokens', 'output_tokens'):
        if type(usage.get(kind)) is int:
            found[f'gen_ai.usage.{kind}'] = usage[kind]
    said = message.response_metadata
    for key in FINISH_KEYS:
        if isinstance(said.get(key), str):
            found['gen_ai.response.finish_reasons'] = [said[key][:50]]
            break
    for key in MODEL_KEYS:
        if isinstance(said.get(key), str):
            found['gen_ai.response.model'] = said[key]
            break
    return found
