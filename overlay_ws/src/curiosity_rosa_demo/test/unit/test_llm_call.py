# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""One question to the model: whatever it does, the turn goes on or ends in words."""

from __future__ import annotations

import re
from typing import Any

from chat_server import Call, Fault, Say
from curiosity_rosa_demo.agent.llm.call import decide, ModelCallFailed, readable_actions
from curiosity_rosa_demo.agent.react.turn.messages import call_entry
from curiosity_rosa_demo.domain.cancellation import Cancellation
from langchain.agents.output_parsers.tools import ToolAgentAction
from langchain_core.messages import AIMessage, ToolCall
import pytest
from turn_world import KEY, SHIPPED, World


def action_with(call_id: str) -> ToolAgentAction:
    return ToolAgentAction(
        tool='get_status', tool_input={}, log='', tool_call_id=call_id, message_log=[]
    )


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


def test_a_made_up_id_is_one_that_every_server_takes_and_the_servers_own_is_kept() -> None:
    made: set[str] = set()
    for number, given in enumerate(['', 'call_x', 'call_x', '', 'rosa00004', '']):
        call_id = str(call_entry(action_with(given), '', made)['call_id'])
        assert call_id == given or re.fullmatch('[A-Za-z0-9]{9}', call_id)
        assert (call_id == given) is (bool(given) and given not in made)
        made.add(call_id)
        assert len(made) == number + 1


def test_the_routines_calls_have_such_ids_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv('OPENAI_API_KEY', KEY)
    with World(Fault(500), Say('A picture.')) as world:
        world.turn('Take a picture.')
        messages = world.requests[-1].messages('assistant')
        sent = [c['id'] for m in messages for c in m.get('tool_calls') or ()]
    assert sent
    assert all(re.fullmatch('[A-Za-z0-9]{9}', each) for each in sent)
