# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

from __future__ import annotations

from collections.abc import Callable
import json
import math
from typing import Any

from curiosity_rosa_demo.domain.models import (
    CaptureResult,
    LightScore,
    MastState,
    MAX_DEPTH,
    Model,
    RoverPose,
    Stamp,
    ToolResult,
    TraceEvent,
    TraceKind,
)
from curiosity_rosa_demo.domain.serde import from_json, SerdeError, to_json
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import ValidationError
import pytest
from strategies import json_values, models, names


def event(**fields: object) -> TraceEvent:
    return TraceEvent(
        **{'event_id': 'e', 'ts': 1.0, 'kind': TraceKind.ACT, 'message': '', **fields}
    )


def nested(levels: int) -> dict:
    """An object with ``levels`` lists and objects inside one another, itself included."""
    value: object = 'core'
    for _ in range(levels - 1):
        value = [value]
    return {'key': value}


BAD_VALUES = {
    'no number': [math.nan, math.inf, -math.inf],
    'no unicode': [chr(0xD800), f'a{chr(0xDFFF)}b'],
    'no json': [(1, 2), {1, 2}, b'raw', object(), {1: 'a'}, 1j],
    'no reason': ['', ' \t', '\n\r'],
    'no fraction': [-0.1, 1.1],
}
MAKERS: list[tuple[str, str, Callable[[Any], object]]] = [
    ('no number', 'x', lambda bad: RoverPose(x=bad, frame_id='odom')),
    ('no number', 'y', lambda bad: RoverPose(x=0.0, y=bad, frame_id='odom')),
    ('no number', 'yaw_rad', lambda bad: RoverPose(x=0.0, yaw_rad=bad, frame_id='odom')),
    ('no number', 'yaw_rad', lambda bad: MastState(is_open=True, yaw_rad=bad)),
    ('no fraction', 'score', lambda bad: LightScore(score=bad, is_good=False)),
    ('no fraction', 'score', lambda bad: CaptureResult(score=bad, is_good=True, image_topic='')),
    ('no number', 'ts', lambda bad: event(ts=bad)),
    ('no number', 'score', lambda bad: event(score=bad)),
    ('no unicode', 'message', lambda bad: event(message=bad)),
    ('no reason', 'must say why', lambda bad: ToolResult.failure(bad)),
    *(
        (kind, 'data', make)
        for kind in ('no number', 'no unicode', 'no json')
        for make in (
            lambda bad: event(data={'a': bad}),
            lambda bad: event(data={'a': [{'b': bad}]}),
            lambda bad: ToolResult.success(a=bad),
            lambda bad: ToolResult.failure('no', a=[{'b': bad}]),
        )
    ),
    ('no unicode', 'data', lambda bad: event(data={bad: 1})),
]


def test_what_json_cannot_carry_is_refused() -> None:
    for kind, field, make in MAKERS:
        for bad in BAD_VALUES[kind]:
            with pytest.raises(ValidationError, match=field):
                make(bad)


@given(
    st.text().filter(str.strip),
    st.dictionaries(names.filter(lambda name: name != 'reason'), st.integers(-9, 9)),
)
def test_a_failure_has_a_reason_and_a_success_has_none(reason: str, data: dict[str, int]) -> None:
    assert ToolResult.success(**data) == ToolResult(ok=True, data=data)
    failure = ToolResult.failure(reason, **data)
    assert (failure.ok, failure.error_reason, failure.data) == (False, reason, data)
    with pytest.raises(ValidationError, match='must be empty'):
        ToolResult(ok=True, error_reason=reason)


@given(st.integers(), st.integers())
def test_a_stamp_is_that_of_ros(sec: int, nanosec: int) -> None:
    fits = -(2**31) <= sec < 2**31 and 0 <= nanosec < 10**9
    try:
        stamp = Stamp(sec=sec, nanosec=nanosec)
    except ValidationError:
        assert not fits
    else:
        assert fits
        assert (stamp.sec, stamp.nanosec) == (sec, nanosec)


# --- as JSON ---------------------------------------------------------------------------------


@given(models)
@example(ToolResult.success(a=[-0.0, 5e-324, 1.7976931348623157e308, 2**53 + 1, '\x00\u2028😀']))
def test_every_model_comes_back_as_it_was(model: Model) -> None:
    text = to_json(model)
    again = from_json(type(model), text)
    assert again == model
    assert to_json(again) == text  # -0.0 == 0.0 and True == 1, but their texts differ
    assert from_json(type(model), text.encode()) == model


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


def test_the_error_says_where_and_why() -> None:
    with pytest.raises(SerdeError, match=r'^RoverPose: stamp\.nanosec: .*less than 1000000000'):
        from_json(RoverPose, '{"x": 1, "frame_id": "odom", "stamp": {"nanosec": 1000000000}}')
    assert event(data=nested(MAX_DEPTH)).data == nested(MAX_DEPTH)
    for levels in (MAX_DEPTH + 1, 100_000):
        with pytest.raises(ValidationError):
            event(data=nested(levels))
