# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

from __future__ import annotations

import math

from curiosity_rosa_demo.domain.models import (
    CaptureResult,
    LightScore,
    MastState,
    MAX_DEPTH,
    RoverPose,
    service_timeout,
    service_unavailable,
    Stamp,
    tf_unavailable,
    ToolResult,
    TraceEvent,
    TraceKind,
)
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
import pytest

not_finite = st.sampled_from([math.nan, math.inf, -math.inf])
blank = st.text(alphabet=' \t\n\r')


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


@given(not_finite, st.sampled_from(['x', 'y', 'yaw_rad']))
def test_a_pose_is_finite(bad: float, field: str) -> None:
    with pytest.raises(ValidationError, match=field):
        RoverPose(**{'x': 0.0, 'frame_id': 'odom', field: bad})


@given(not_finite)
def test_no_model_takes_nan_or_infinity(bad: float) -> None:
    with pytest.raises(ValidationError):
        MastState(is_open=True, yaw_rad=bad)
    with pytest.raises(ValidationError):
        LightScore(score=bad, is_good=False)
    with pytest.raises(ValidationError):
        event(ts=bad)
    with pytest.raises(ValidationError):
        event(score=bad)


@given(not_finite, st.sampled_from([ToolResult.success, event]))
def test_data_holds_no_nan_or_infinity_at_any_depth(bad: float, make: object) -> None:
    for data in ({'a': bad}, {'a': [{'b': bad}]}):
        with pytest.raises(ValidationError):
            make(**data) if make == ToolResult.success else event(data=data)


@given(st.floats(allow_nan=False, allow_infinity=False).filter(lambda s: not 0.0 <= s <= 1.0))
def test_a_light_score_lies_between_0_and_1(score: float) -> None:
    with pytest.raises(ValidationError, match='score'):
        LightScore(score=score, is_good=True)
    with pytest.raises(ValidationError, match='score'):
        CaptureResult(score=score, is_good=True, image_topic='/i')


@given(blank)
def test_a_failure_says_why(reason: str) -> None:
    with pytest.raises(ValidationError, match='must say why'):
        ToolResult.failure(reason)


@given(st.text().filter(str.strip))
def test_a_success_has_no_reason(reason: str) -> None:
    with pytest.raises(ValidationError, match='must be empty'):
        ToolResult(ok=True, error_reason=reason)
    assert ToolResult.failure(reason).error_reason == reason


@given(st.dictionaries(st.text(min_size=1).filter(str.isidentifier), st.integers(-9, 9)))
def test_success_and_failure_carry_data(data: dict[str, int]) -> None:
    data.pop('reason', None)
    assert ToolResult.success(**data) == ToolResult(ok=True, data=data)
    assert ToolResult.failure('no', **data).data == data


@pytest.mark.parametrize('value', [(1, 2), {1, 2}, b'raw', object(), {1: 'a'}, 1j])
def test_data_is_json(value: object) -> None:
    with pytest.raises(ValidationError):
        ToolResult.success(a=value)


@given(st.integers(0xD800, 0xDFFF).map(chr))
def test_text_is_unicode(surrogate: str) -> None:
    with pytest.raises(ValidationError, match='message'):
        event(message=f'a{surrogate}b')
    for data in ({surrogate: 1}, {'a': [surrogate]}):
        with pytest.raises(ValidationError, match='data'):
            event(data=data)


def test_data_is_nested_to_a_limit() -> None:
    assert event(data=nested(MAX_DEPTH)).data == nested(MAX_DEPTH)
    for levels in (MAX_DEPTH + 1, 1000, 100_000):
        with pytest.raises(ValidationError):
            event(data=nested(levels))


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


def test_models_are_frozen_and_closed() -> None:
    pose = RoverPose(x=1.0, frame_id='odom')
    with pytest.raises(ValidationError, match='frozen'):
        pose.x = 2.0  # type: ignore[misc]
    with pytest.raises(ValidationError, match='Extra inputs'):
        RoverPose(x=1.0, frame_id='odom', z=0.0)  # type: ignore[call-arg]


@pytest.mark.parametrize(
    ('missing', 'values'),
    [
        ('event_id', {'event_id': ''}),
        ('ts', {'ts': -1.0}),
        ('kind', {'kind': 'act'}),
        ('message', {'message': None}),
    ],
)
def test_an_event_needs_its_four_fields(missing: str, values: dict) -> None:
    with pytest.raises(ValidationError, match=missing):
        event(**values)


def test_reasons_name_what_failed() -> None:
    assert service_unavailable('/move_stop') == 'Service unavailable: /move_stop'
    assert service_timeout('/move_stop') == 'Service timeout: /move_stop'
    assert tf_unavailable('odom', 'base_footprint') == 'TF unavailable: odom -> base_footprint'
