# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The chat model of llm.provider local: ChatOpenAI, before the model's own process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import json
from typing import Any

from curiosity_rosa_demo.agent.llm.local_server import LocalServer
import httpx
from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.messages import BaseMessage
from langchain_core.outputs import ChatResult
from langchain_openai import ChatOpenAI
from pydantic import Field, SkipValidation

# -----------------------------------------------------------------------------------------------
# Requests with tools as llama.cpp's server forces them, and its answers as tool calls. Pure
#
# Chat templates of small models know no tools, and the server then offers none. So the tools
# become text of the system message, and a JSON schema over all calls becomes the grammar of the
# answer: the model can write nothing but a call whose arguments obey the schema, with its limits
# and enums.


Json = dict[str, Any]

MAX_ANSWER_TOKENS = 256  # of a request without a limit: an abandoned answer ends soon
MAX_TEXT_CHARS = 200  # of a text among the arguments
HOW = 'Answer with one call of a tool, as JSON: {"tool": its name, "arguments": {...}}. The tools:'
_NOT_SENT = ('tools', 'tool_choice', 'parallel_tool_calls', 'stream', 'stream_options')


def forced_request(body: Json) -> Json:
    """``body`` of a chat request; its tools, if any, as text and as the grammar of the answer."""
    limits = {'max_tokens': MAX_ANSWER_TOKENS, 'cache_prompt': True}
    tools = [tool['function'] for tool in body.get('tools') or ()]
    sent = {**limits, **{name: each for name, each in body.items() if name not in _NOT_SENT}}
    sent['messages'] = _plain_messages(body['messages'], _tools_text(tools))
    if tools:
        schema = {'name': 'call', 'schema': calls_schema(tools)}
        sent['response_format'] = {'type': 'json_schema', 'json_schema': schema}
    return sent


def with_tool_call(answer: Json) -> Json:
    """``answer`` of a forced request, with its text as a tool call; unchanged if it is none."""
    for choice in answer.get('choices') or ():
        message = choice.get('message') or {}
        call = _call_in(message.get('content'))
        if call is None:
            continue
        function = {'name': call['tool'], 'arguments': json.dumps(call['arguments'])}
        message['content'] = None
        message['tool_calls'] = [{'id': '', 'type': 'function', 'function': function}]
        choice['finish_reason'] = 'tool_calls'
    return answer


def calls_schema(tools: Sequence[Json]) -> Json:
    """The JSON schema of one call of one of these tools."""
    return {'anyOf': [_call_schema(tool) for tool in tools]}


def _call_schema(tool: Json) -> Json:
    return _object({'tool': {'const': tool['name']}, 'arguments': _object(_arguments(tool))})


def _object(properties: Json) -> Json:
    """All ``properties``, in their order: a grammar with fewer ways is faster and safer."""
    return {
        'type': 'object',
        'properties': properties,
        'required': list(properties),
        'additionalProperties': False,
    }


def _arguments(tool: Json) -> Json:
    """The arguments that a call needs, and the texts that it may have."""
    parameters = tool.get('parameters') or {}
    required = parameters.get('required') or ()
    return {
        name: _short(schema)
        for name, schema in (parameters.get('properties') or {}).items()
        if name in required or schema.get('type') == 'string'
    }


def _short(schema: Json) -> Json:
    if schema.get('type') != 'string' or 'enum' in schema:
        return schema
    return {**schema, 'maxLength': min(schema.get('maxLength', MAX_TEXT_CHARS), MAX_TEXT_CHARS)}


def _tools_text(tools: Sequence[Json]) -> str:
    return '\n'.join((HOW, *map(_tool_text, tools))) if tools else ''


def _tool_text(tool: Json) -> str:
    return f'- {tool["name"]}({", ".join(_arguments(tool))}): {_purpose(tool)}'


def _purpose(tool: Json) -> str:
    """The first sentence of its description: a small model reads slowly, and little of it."""
    return str(tool.get('description') or '').split('. ')[0].rstrip('.')


def _plain_messages(messages: Sequence[Json], tools: str) -> list[Json]:
    """Messages with text alone, user and assistant in turn; the tools stand first, where the
    server's cache keeps them.
    """
    plain: list[Json] = [{'role': 'system', 'content': tools}] if tools else []
    for message in messages:
        role, text = _plain(message)
        if plain and plain[-1]['role'] == role:
            text = f'{plain.pop()["content"]}\n\n{text}'
        plain.append({'role': role, 'content': text})
    return plain


def _plain(message: Json) -> tuple[str, str]:
    role, text = message['role'], _text(message.get('content'))
    calls = [_call_text(call['function']) for call in message.get('tool_calls') or ()]
    if role == 'tool':
        return 'user', f'Result: {text}'
    return role, '\n'.join(filter(None, (text, *calls)))


def _text(content: Any) -> str:
    if isinstance(content, list):
        return ''.join(str(part.get('text', '')) for part in content)
    return content or ''


def _call_text(function: Mapping[str, Any]) -> str:
    return f'{{"tool": {json.dumps(function["name"])}, "arguments": {function["arguments"]}}}'


def _call_in(text: Any) -> Json | None:
    try:
        call = json.loads(text)
    except (ValueError, TypeError):
        return None
    is_call = isinstance(call, dict) and set(call) == {'tool', 'arguments'}
    return call if is_call else None


BASE_URL = 'http://127.0.0.1/v1'  # the transport knows the port, which changes at each start
PATH = '/v1/chat/completions'


class LocalChatModel(ChatOpenAI):
    """Starts the process before a request: a failed start is no lost connection, so no retry."""

    server: SkipValidation[LocalServer] = Field(exclude=True)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        """Raises LocalModelFailed, and what ChatOpenAI raises."""
        self.server.address()
        return super()._generate(messages, stop, run_manager, **kwargs)


def make_local_model(server: LocalServer, options: dict[str, Any]) -> LocalChatModel:
    """``options`` of ChatOpenAI."""
    return LocalChatModel(
        server=server,
        model='local',
        base_url=BASE_URL,
        api_key='unused',
        http_client=httpx.Client(transport=LocalTransport(server)),
        **{**options, 'streaming': False},
    )


class LocalTransport(httpx.BaseTransport):
    """Sends each request to the process, in the form that it forces; a new one if it has ended."""

    def __init__(self, server: LocalServer) -> None:
        self._server, self._http = server, httpx.HTTPTransport()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        address = self._server.address()
        sent = httpx.Request(
            'POST',
            f'{address.url}{PATH}',
            headers={'Authorization': f'Bearer {address.key}'},
            json=forced_request(json.loads(request.content)),
            extensions=request.extensions,
        )
        response = self._http.handle_request(sent)
        response.read()
        if response.status_code != httpx.codes.OK:
            return response
        self._server.record_answer()
        return httpx.Response(200, json=with_tool_call(response.json()))

    def close(self) -> None:
        self._http.close()
