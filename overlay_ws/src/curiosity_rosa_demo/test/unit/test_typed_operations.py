# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""An operation stays an object from the decision to its dispatch."""

from __future__ import annotations

from collections.abc import Callable
import json
from typing import Any

from chat_server import Call, Say
from curiosity_rosa_demo.agent.react.checkpointer import CheckpointCodec
from curiosity_rosa_demo.agent.react.nodes import react_decide
from curiosity_rosa_demo.domain.brain_state import Json
from curiosity_rosa_demo.domain.models import TraceKind
from curiosity_rosa_demo.domain.operation import RefusedCall, ToolCall
from pydantic import BaseModel
import pytest
from react_world import action, Nodes
from turn_world import KEY, World

STEP: Json = {'step_id': 1, 'action': 'mast_open'}
PLAN: Json = {'plan_id': 'p1', 'goal': 'Look', 'steps': [STEP]}


class MarkedWorld(World):
    """``marks``: the trace's kinds and what the test adds, in the order of time."""

    def __init__(self, *script: Say) -> None:
        super().__init__(*script)
        self.marks: list[str] = []
        self.rover.faults = {'mast_open': lambda: self.marks.append('rover')}

    def trace(self, kind: TraceKind, message: str, **fields: Any) -> None:
        super().trace(kind, message, **fields)
        self.marks.append(kind.value)

    def marking(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """``function``, whose name is a mark after each call."""

        def call(*args: Any, **kwargs: Any) -> Any:
            result = function(*args, **kwargs)
            self.marks.append(function.__qualname__)
            return result

        return call


@pytest.mark.parametrize(('plan', 'decider'), [(None, 'decide'), (PLAN, 'next_step')])
def test_no_json_is_decoded_between_the_decision_and_the_dispatch(
    plan: Json | None, decider: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv('OPENAI_API_KEY', KEY)
    of_model = BaseModel.__dict__['model_validate_json'].__func__
    with MarkedWorld(Say('', (Call('mast_open'),)), Say('Up.')) as world:
        marked: list[tuple[Any, str]] = [
            (json.JSONDecoder, 'decode'),
            (CheckpointCodec, 'loads_typed'),
            (react_decide, decider),
        ]
        for owner, name in marked:
            monkeypatch.setattr(owner, name, world.marking(getattr(owner, name)))
        of_models = classmethod(world.marking(of_model))
        monkeypatch.setattr(BaseModel, 'model_validate_json', of_models)
        assert world.turn(plan=plan).ok
        marks = world.marks
    decided = marks.index(decider)
    assert marks[decided : marks.index('rover') + 1] == [decider, 'DECIDE', 'ACT', 'rover']
    assert 'BaseModel.model_validate_json' in marks[marks.index('rover') :]  # it does count
    if plan is None:
        assert 'JSONDecoder.decode' in marks[:decided]


@pytest.mark.parametrize(
    ('arguments', 'kind'),
    [
        ({'duration_s': 2.0}, ToolCall),
        ({'duration_s': 10**400}, ToolCall),
        ({}, ToolCall),
        ({'duration_s': float('nan')}, RefusedCall),
        ({'duration_s': float('inf')}, RefusedCall),
        ('2.0', RefusedCall),
    ],
)
def test_a_call_without_an_exact_json_form_is_refused(arguments: Any, kind: type) -> None:
    nodes = Nodes([action('move_forward', arguments)])
    state = nodes.think()
    assert isinstance(state.react.decided_op, kind)
    if kind is RefusedCall:
        reason = nodes.told()[0].error_reason
        assert reason.startswith('Wrong arguments for move_forward: ')
        assert state.react.refused_in_a_row == 1
