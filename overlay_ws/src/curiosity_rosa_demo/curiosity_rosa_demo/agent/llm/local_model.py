# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.
"""The chat model of llm.provider local: ChatOpenAI, before the model's own process."""

from __future__ import annotations

import json
from typing import Any

from curiosity_rosa_demo.agent.llm.local_server import LocalServer
from curiosity_rosa_demo.agent.llm.local_wire import forced_request, with_tool_call
import httpx
from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.messages import BaseMessage
from langchain_core.outputs import ChatResult
from langchain_openai import ChatOpenAI
from pydantic import Field, SkipValidation

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
