# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Values of the domain for property tests."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any, get_type_hints, Literal

from curiosity_rosa_demo.domain.brain_state import SkillDef
from curiosity_rosa_demo.domain.models import (
    CaptureResult,
    LightScore,
    MastState,
    Model,
    RoverPose,
    Stamp,
    ToolResult,
    TraceEvent,
    TraceKind,
)
from hypothesis import strategies as st

text = st.text(st.characters(exclude_categories=['Cs']), max_size=30)
names = st.text(st.characters(exclude_categories=['Cs']), min_size=1, max_size=30)
finite = st.floats(allow_nan=False, allow_infinity=False)
fraction = st.floats(0.0, 1.0)
huge_ints = st.integers() | st.integers(0, 4200).map(lambda digits: 10**digits)

json_values = st.recursive(
    st.none() | st.booleans() | huge_ints | finite | text,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(text, inner, max_size=4),
    max_leaves=12,
)
json_objects = st.dictionaries(text, json_values, max_size=4)

stamps = st.builds(Stamp, sec=st.integers(-(2**31), 2**31 - 1), nanosec=st.integers(0, 10**9 - 1))
poses = st.builds(RoverPose, x=finite, y=finite, yaw_rad=finite, frame_id=text, stamp=stamps)
events = st.builds(
    TraceEvent,
    event_id=names,
    ts=st.floats(0.0, allow_nan=False, allow_infinity=False),
    kind=st.sampled_from(TraceKind),
    message=text,
    tool_name=st.none() | text | st.just('capture_and_score'),
    ok=st.none() | st.booleans(),
    error_reason=st.none() | text,
    score=st.none() | finite | fraction,
    data=st.none() | json_objects,
)
models: st.SearchStrategy[Model] = st.one_of(
    stamps,
    poses,
    events,
    st.builds(MastState, is_open=st.none() | st.booleans(), yaw_rad=st.none() | finite),
    st.builds(LightScore, score=fraction, is_good=st.booleans()),
    st.builds(
        CaptureResult, score=fraction, is_good=st.booleans(), image_topic=text, stamp=stamps
    ),
    st.builds(ToolResult, ok=st.just(True), data=json_objects),
    st.builds(
        ToolResult, ok=st.just(False), error_reason=names.filter(str.strip), data=json_objects
    ),
)

LIMITED = {SkillDef: {'timeout_s': st.floats(1e-9, 1e9)}}


def whole_model(cls: type[Model]) -> st.SearchStrategy[Any]:
    """Every field of a model drawn, from what its annotation allows."""
    drawn = {name: _values_of(field.annotation) for name, field in cls.model_fields.items()}
    return st.builds(cls, **{**drawn, **LIMITED.get(cls, {})})


def _values_of(annotation: Any) -> st.SearchStrategy[Any]:
    origin, args = getattr(annotation, '__origin__', None), getattr(annotation, '__args__', ())
    if isinstance(annotation, type) and issubclass(annotation, Model):
        return whole_model(annotation)
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return st.sampled_from(annotation)
    if is_dataclass(annotation) and isinstance(annotation, type):
        hints = get_type_hints(annotation, include_extras=True)
        return st.builds(
            annotation, **{each.name: _values_of(hints[each.name]) for each in fields(annotation)}
        )
    if origin is Literal:
        return st.sampled_from(args)
    if hasattr(annotation, '__metadata__'):
        return _values_of(origin)
    if origin is list:
        return st.lists(_values_of(args[0]), max_size=1)
    if origin is tuple:
        return st.tuples(*(_values_of(arg) for arg in args))
    if origin is dict:
        is_json = getattr(args[1], '__name__', '') == 'JsonValue' or 'JsonValue' in str(args[1])
        return json_objects if is_json else st.dictionaries(text, _values_of(args[1]), max_size=1)
    if args:  # X | None
        return st.one_of(*(st.none() if arg is type(None) else _values_of(arg) for arg in args))
    return {
        str: text,
        int: st.integers(-(2**63), 2**63 - 1),
        bool: st.booleans(),
        float: finite | st.sampled_from([-0.0, 5e-324, 1.7976931348623157e308]),
    }[annotation]
