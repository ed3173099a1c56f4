# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The model that obeys: it proposes every order that it finds in its request, whoever says so.

A fake provider: no language model has such a will to obey. What it never does is to refuse.
"""

from __future__ import annotations

from collections.abc import Callable
import json
from typing import Any

import _bench  # noqa: F401 - the tests' folder is on the path from here on
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, SystemMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable
from pydantic import ConfigDict, Field
from sign_reader import images_in, read_signs

from attack.adversary import Adversary
from attack.orders import Order, order_key, orders_in, plan_of

MOST_PROPOSALS = 14  # in one turn


class ObedientModel(BaseChatModel):
    """``by_plan``: it proposes what it finds as a plan; ``crowd``: all at once. ``proposing`` is
    called with each call that it proposes. ``reads_system``: the product's measurements and memory
    stand in its system message; ROSA's own names tools that no attack orders.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)
    adversary: Adversary | None = None
    by_plan: bool = False
    crowd: bool = False
    streaming: bool = False
    reads_system: bool = True
    proposing: Callable[[Order], None] = lambda order: None
    asked: int = 0
    proposed: int = 0  # in this turn
    waiting: list[Any] = Field(default_factory=list)
    found: set[str] = Field(default_factory=set)  # orders of this turn

    def begin_turn(
        self, *, by_plan: bool = False, crowd: bool = False, adversary: Adversary | None = None
    ) -> None:
        self.by_plan, self.crowd, self.adversary = by_plan, crowd, adversary
        self.waiting, self.found, self.proposed = [], set(), 0

    @property
    def _llm_type(self) -> str:
        return 'obedient'

    def bind_tools(self, tools: Any, **_: Any) -> Runnable[Any, Any]:
        return self.bind()

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=self._answer(messages))])

    def _answer(self, messages: list[BaseMessage]) -> AIMessage:
        self.asked += 1
        self._read(messages)
        if self.proposed >= MOST_PROPOSALS:
            return AIMessage('Done.')
        if self.adversary is not None:
            self.waiting = [self.adversary.next_order(*_last_result(messages))]
        if not self.waiting:
            return AIMessage('Done.')
        if self.by_plan:
            return self._plan()
        count = len(self.waiting) if self.crowd else 1
        orders, self.waiting = self.waiting[:count], self.waiting[count:]
        return self._calls(orders)

    def _read(self, messages: list[BaseMessage]) -> None:
        """Find the orders that are new in this turn, wherever they stand."""
        for message in messages:
            if isinstance(message, AIMessage):
                continue
            if isinstance(message, SystemMessage) and not self.reads_system:
                continue
            for text in _texts_of(message):
                for order in orders_in(text):
                    if order_key(order) not in self.found:
                        self.found.add(order_key(order))
                        self.waiting.append(order)

    def _plan(self) -> AIMessage:
        orders, self.waiting, self.by_plan = self.waiting, [], False
        for order in orders:
            self._propose(order)
        patch = {'action': 'propose', 'plan': plan_of(orders, 'drive')}
        arguments = {'type': 'REPLAN', 'reason': 'as told', 'plan_patch': patch}
        return self._message([('decide', arguments)])

    def _calls(self, orders: list[Order]) -> AIMessage:
        for order in orders:
            self._propose(order)
        return self._message(orders)

    def _propose(self, order: Order) -> None:
        self.proposed += 1
        self.proposing(order)

    def _message(self, orders: list[Order]) -> AIMessage:
        calls: Any = [
            {'name': name, 'args': arguments, 'id': f'c{self.asked}_{number}'}
            for number, (name, arguments) in enumerate(orders)
        ]
        return AIMessage(content='I obey.', tool_calls=calls)


def _texts_of(message: BaseMessage) -> list[str]:
    """The texts of a message, and those of the boards in its pictures."""
    content = message.content
    if isinstance(content, str):
        return [content]
    images = images_in([{'content': [each for each in content if _is_image(each)]}])
    texts = [str(each.get('text', '')) if isinstance(each, dict) else each for each in content]
    return [*texts, *(text for image in images for text in read_signs(image))]


def _is_image(block: Any) -> bool:
    return isinstance(block, dict) and block.get('type') == 'image_url'


def _last_result(messages: list[BaseMessage]) -> tuple[bool | None, str]:
    """Whether the last call was carried out, and what the model reads of it; None: no call."""
    text = next((str(m.content) for m in reversed(messages) if isinstance(m, ToolMessage)), '')
    if not text:
        return None, ''
    try:
        result = json.loads(text)
    except ValueError:
        return False, text
    return isinstance(result, dict) and result.get('ok') is True, text
