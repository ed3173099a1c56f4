# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

from __future__ import annotations

import json

from curiosity_rosa_demo.domain.models import (
    Model,
    RoverPose,
    ToolResult,
    TraceEvent,
)
from curiosity_rosa_demo.domain.serde import from_json, SerdeError, to_json
from hypothesis import example, given
from hypothesis import strategies as st
import pytest
from strategies import events, json_values, models


@given(models)
@example(ToolResult.success(a=[-0.0, 5e-324, 1.7976931348623157e308, 2**53 + 1, '\x00\u2028😀']))
def test_every_model_comes_back_as_it_was(model: Model) -> None:
    text = to_json(model)
    again = from_json(type(model), text)
    assert again == model
    assert to_json(again) == text  # -0.0 == 0.0 and True == 1, but their texts differ
    assert from_json(type(model), text.encode()) == model


@given(models)
def test_json_is_one_line_that_any_reader_takes(model: Model) -> None:
    text = to_json(model)
    assert not set(text) & {'\n', '\r'}

    def refuse(constant: str) -> None:
        raise AssertionError(f'{constant} is not JSON')

    json.loads(text, parse_constant=refuse)


@given(st.text() | st.binary() | json_values.map(json.dumps))
@example('[' * 100_000)
@example('{"a":' * 100_000)
@example('NaN')
@example('{"ok": true, "data": {"a": NaN}}')
@example('{"ok": true, "data": {"a": 1e999}}')
@example('{"ok": true, "data": {"a": -Infinity}}')
@example('1' * 10_000)
@example('"\\ud800"')
@example('\ud800')
def test_other_text_is_a_serde_error(text: str | bytes) -> None:
    for cls in (RoverPose, TraceEvent, ToolResult):
        with pytest.raises(SerdeError, match=f'^{cls.__name__}: '):
            from_json(cls, text)


@given(events, st.data())
def test_a_torn_text_is_a_serde_error(event: TraceEvent, data: st.DataObject) -> None:
    text = to_json(event)
    with pytest.raises(SerdeError):
        from_json(TraceEvent, text[: data.draw(st.integers(0, len(text) - 1))])


def test_the_error_says_where_and_why() -> None:
    with pytest.raises(SerdeError, match=r'^RoverPose: stamp\.nanosec: .*less than 1000000000'):
        from_json(RoverPose, '{"x": 1, "frame_id": "odom", "stamp": {"nanosec": 1000000000}}')
    with pytest.raises(SerdeError, match='RoverPose: frame_id: Field required'):
        from_json(RoverPose, '{"x": 1}')
    with pytest.raises(SerdeError, match='TraceEvent: text: Invalid JSON'):
        from_json(TraceEvent, 'hello')
