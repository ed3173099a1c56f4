# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""One question to the model: whatever it does, the turn goes on or ends in words."""

from __future__ import annotations

from typing import Any

from chat_server import Call, Say
from curiosity_rosa_demo.agent.llm.call import decide, ModelCallFailed, readable_actions
from curiosity_rosa_demo.domain.cancellation import Cancellation
from langchain_core.messages import AIMessage, ToolCall
import pytest
from turn_world import KEY, SHIPPED, World


class Raising:
    def __init__(self, error: BaseException) -> None:
        self._error = error

    def invoke(self, *_: Any) -> Any:
        raise self._error


@pytest.mark.parametrize('error', [SystemExit(3), KeyboardInterrupt(), GeneratorExit(), OSError()])
def test_a_model_that_fails_ends_the_turn_in_words(error: BaseException) -> None:
    with pytest.raises(ModelCallFailed, match=type(error).__name__):
        decide(Raising(error), {}, SHIPPED.agent.llm, Cancellation())


def test_a_call_without_an_id_is_a_call() -> None:
    message = AIMessage(content='', tool_calls=[ToolCall(name='mast_open', args={}, id=None)])
    read = readable_actions(message)
    assert isinstance(read, AIMessage)
    assert read.tool_calls[0]['id'] == ''


@pytest.mark.parametrize(
    'call',
    [
        Call('wait_until', '{"condition": {"x_above": 18446744073709551616}, "timeout_s": 0.1}'),
        Call(
            'decide',
            '{"type": "REPLAN", "plan_patch": {"action": "propose", "plan": {"goal": "g", '
            '"steps": [{"action": "speak", "parameters": {"text": "x"}, '
            '"metadata": {"n": 18446744073709551616}}]}}}',
        ),
    ],
    ids=['argument', 'plan'],
)
def test_an_integer_of_more_than_64_bits_can_be_kept(
    monkeypatch: pytest.MonkeyPatch, call: Call
) -> None:
    monkeypatch.setenv('OPENAI_API_KEY', KEY)
    with World(Say('', (call,)), Say('Done.')) as world:
        assert world.turn().answer == 'Done.'
