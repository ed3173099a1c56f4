# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Requests to the model's own process, in the form that llama.cpp's server forces, and its answers
as tool calls.

Chat templates of small models know no tools, and the server then offers none. So the tools become
text of the system message, and a JSON schema over all calls becomes the grammar of the answer: the
model can write nothing but a call whose arguments obey the schema, with its limits and enums.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
import json
from typing import Any

from curiosity_rosa_demo.agent.llm.local_server import LocalServer
import httpx

Json = dict[str, Any]

BASE_URL = 'http://127.0.0.1/v1'  # the transport knows the port, which changes at each start
PATH = '/v1/chat/completions'
MAX_ANSWER_TOKENS = 256  # of a request without a limit: an abandoned answer ends soon
MAX_TEXT_CHARS = 200  # of a text among the arguments
HOW = 'Answer with one call of a tool, as JSON: {"tool": its name, "arguments": {...}}. The tools:'
_NOT_SENT = ('tools', 'tool_choice', 'parallel_tool_calls', 'stream', 'stream_options')


def forced_request(body: Json) -> Json:
    """``body`` of a chat request; its tools, if any, as text and as the grammar of the answer."""
    tools = [tool['function'] for tool in body.get('tools') or ()]
    sent = {
        'max_tokens': MAX_ANSWER_TOKENS,
        'cache_prompt': True,
        **{name: each for name, each in body.items() if name not in _NOT_SENT},
        'messages': _plain_messages(body['messages'], tools),
    }
    if tools:
        calls = [
            _object({'tool': {'const': tool['name']}, 'arguments': _object(_arguments(tool))})
            for tool in tools
        ]
        schema = {'name': 'call', 'schema': {'anyOf': calls}}
        sent['response_format'] = {'type': 'json_schema', 'json_schema': schema}
    return sent


def with_tool_call(answer: Json) -> Json:
    """``answer`` of a forced request, with its text as a tool call; unchanged if it is none. A
    text that fills the grammar's limit was cut: it ends with its last whole word and "…".
    """
    for choice in answer.get('choices') or ():
        try:
            call = json.loads(choice['message']['content'])
        except (ValueError, TypeError, KeyError):
            continue
        arguments = call.get('arguments') if isinstance(call, dict) else None
        if isinstance(arguments, dict) and set(call) == {'tool', 'arguments'}:
            for name, value in arguments.items():
                if isinstance(value, str) and len(value) == MAX_TEXT_CHARS:
                    arguments[name] = f'{value[:-1].rpartition(" ")[0] or value[:-1]}…'
            function = {'name': call['tool'], 'arguments': json.dumps(arguments)}
            calls = [{'id': '', 'type': 'function', 'function': function}]
            choice['message'].update(content=None, tool_calls=calls)
            choice['finish_reason'] = 'tool_calls'
    return answer


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
    parameters = tool['parameters']
    return {
        name: _short(schema)
        for name, schema in parameters['properties'].items()
        if name in parameters.get('required', ()) or schema.get('type') == 'string'
    }


def _short(schema: Json) -> Json:
    if schema.get('type') != 'string' or 'enum' in schema:
        return schema
    return {**schema, 'maxLength': min(schema.get('maxLength', MAX_TEXT_CHARS), MAX_TEXT_CHARS)}


def _plain_messages(messages: Iterable[Json], tools: Sequence[Json]) -> list[Json]:
    """Messages with text alone, user and assistant in turn; the tools stand first, where the
    server's cache keeps them. Of a tool its first sentence: a small model reads slowly.
    """
    offered = [
        f'- {tool["name"]}({", ".join(_arguments(tool))}): '
        + tool['description'].split('. ')[0].rstrip('.')
        for tool in tools
    ]
    plain: list[Json] = []
    if tools:
        plain.append({'role': 'system', 'content': '\n'.join((HOW, *offered))})
    for message in messages:
        role, text = message['role'], message.get('content') or ''
        for function in (call['function'] for call in message.get('tool_calls') or ()):
            call = f'{{"tool": "{function["name"]}", "arguments": {function["arguments"]}}}'
            text = f'{text}\n{call}'.lstrip('\n')
        if role == 'tool':
            role, text = 'user', f'Result: {text}'
        if plain and plain[-1]['role'] == role:
            text = f'{plain.pop()["content"]}\n\n{text}'
        plain.append({'role': role, 'content': text})
    return plain


class LocalTransport(httpx.BaseTransport):
    """Sends each request to the process, in the form that it forces; a new one if it has ended.
    Raises LocalModelFailed.
    """

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
