# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Values of the domain and states of the kernel for property tests; readings good and bad."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from enum import Enum
import math
from typing import Any, get_type_hints, Literal

from curiosity_rosa_demo.agent.kernel.sense import MAST_STATES, PATHS, SECTOR_BEARINGS
from curiosity_rosa_demo.agent.language.questions import Topic
from curiosity_rosa_demo.agent.language.understand import understand
from curiosity_rosa_demo.domain.brain_state import (
    ApprovalAction,
    BatteryLevel,
    BrainState,
    HCIState,
    Mode,
    QueuedTask,
    Reading,
    RobotState,
    SkillDef,
    TasksState,
    Telemetry,
    UserInterruptType,
)
from curiosity_rosa_demo.domain.models import (
    LightScore,
    Model,
    RoverPose,
    Stamp,
    ToolResult,
    TraceEvent,
    TraceKind,
)
from curiosity_rosa_demo.infra.config_loader import load_config
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
    st.builds(LightScore, score=fraction, is_good=st.booleans()),
    st.builds(ToolResult, ok=st.just(True), data=json_objects),
    st.builds(
        ToolResult, ok=st.just(False), error_reason=names.filter(str.strip), data=json_objects
    ),
)

LIMITED = {SkillDef: {'timeout_s': st.floats(1e-9, 1e9)}}


def whole_model(cls: type[Model], **given: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Every other field of a model drawn, from what its annotation allows."""
    drawn = {name: _values_of(field.annotation) for name, field in cls.model_fields.items()}
    return st.builds(cls, **{**drawn, **LIMITED.get(cls, {}), **given})


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
        Any: json_objects,
        float: finite | st.sampled_from([-0.0, 5e-324, 1.7976931348623157e308]),
    }[annotation]


CONFIG = load_config()
RULES = CONFIG.thresholds
UNWARY = RULES.changed(telemetry={'obstacle_stop_m': 0.0})

STATUSES = ('PENDING', 'WAITING', 'ACTIVE', 'PAUSED', 'RECOVERING', 'COMPLETED', 'CANCELLED')
metres = st.floats(-100.0, 100.0)
unit = st.floats(-1.0, 1.0)
good_values = {
    'odometry': st.fixed_dictionaries({
        **dict.fromkeys(('x', 'y', 'z'), metres),
        **dict.fromkeys(('orientation_z', 'orientation_w'), unit),
        **dict.fromkeys(('linear_x', 'angular_z'), st.just(0.0) | unit),
    }),
    'battery': st.fixed_dictionaries({'fraction': st.floats(0.0, 1.0)}),
    'adapter': st.fixed_dictionaries(
        {'mast': st.sampled_from(MAST_STATES), 'moving': st.booleans()},
        optional={'rover_x': metres},
    ),
    'scan': st.fixed_dictionaries({
        'view': st.booleans(),
        **dict.fromkeys((*SECTOR_BEARINGS, *PATHS), st.none() | st.floats(0.0, 30.0)),
    }),
    'estop': st.fixed_dictionaries({'pressed': st.booleans()}),
}  # fmt: skip
SOURCES = tuple(good_values)
TOPICS = [topic.value for topic in Topic]
NOT_NUMBERS = (True, False, None, 'x', [1.0], {}, math.nan, math.inf, -math.inf, 10**4000)


@st.composite
def bad_values(draw: st.DrawFn, source: str) -> dict[str, Any]:
    """A reading with one field that is wrong or missing, NaN and infinity included."""
    value = dict(draw(good_values[source]))
    key = draw(st.sampled_from(sorted(set(value) - {'rover_x'})))
    if draw(st.booleans()):
        del value[key]
        return value
    wrong = [bad for bad in NOT_NUMBERS if not _fits(source, key, bad)]
    if source == 'battery':
        wrong += [-0.01, 1.01]
    value[key] = draw(st.sampled_from(wrong))
    return value


def _fits(source: str, key: str, bad: object) -> bool:
    return (source == 'scan' and key != 'view' and bad is None) or (
        (source in ('estop', 'adapter') or key == 'view') and isinstance(bad, bool)
    )


anything = json_objects | st.sampled_from([{'fraction': math.nan}, None, [], 3])


def reading(value: Any, received_s: float) -> Reading:
    """Without validation: a sensor's values are what they are."""
    return Reading.model_construct(value=value, received_s=received_s)


@st.composite
def readings(draw: st.DrawFn, now_s: float) -> dict[str, Reading]:
    chosen = draw(st.sets(st.sampled_from((*SOURCES, 'nonsense'))))
    result = {}
    for source in sorted(chosen):
        good = good_values.get(source, anything)
        value = draw(good | good | anything)
        result[source] = reading(value, now_s - draw(st.sampled_from([0.0, 0.5, 5.0, 60.0])))
    return result


tasks = st.builds(
    QueuedTask,
    task_id=st.uuids().map(str),
    goal=text,
    priority=st.integers(-5, 5),
    preemptible=st.booleans(),
    status=st.sampled_from(STATUSES),
    skill=st.sampled_from(['react', 'charge', 'move_forward']),
    held=st.booleans(),
)
intents = st.sampled_from(UserInterruptType)


@st.composite
def hci_states(draw: st.DrawFn) -> HCIState:
    """As hci_ingress leaves them."""
    intent = draw(intents)
    answer = {'action': draw(st.sampled_from(ApprovalAction)).value}
    payload = {
        UserInterruptType.NEW_GOAL: {
            'text': draw(text | st.just('find the light')),
            'priority': draw(st.integers(-5, 5)),
            'said': understand(draw(text)).to_json(),
        },
        UserInterruptType.RESUME: draw(st.fixed_dictionaries({}, optional={'task_id': text})),
        UserInterruptType.APPROVAL: answer,
        UserInterruptType.NORMAL: {
            'topics': draw(st.lists(st.sampled_from(TOPICS), max_size=2)),
            'language': draw(st.sampled_from(['en', 'ja'])),
        },
    }.get(intent, {})
    asked = answer if intent is UserInterruptType.APPROVAL else None
    return HCIState(draw(text), intent, payload, asked)


robots = st.builds(
    RobotState,
    battery_pct=st.floats(0.0, 100.0),
    battery_state=st.sampled_from(BatteryLevel),
    mast=st.sampled_from(MAST_STATES),
    appendages=st.dictionaries(st.just('arm'), st.sampled_from(['stowed', 'deployed', 'unknown'])),
    moving=st.booleans(),
    scan_min_m=st.none() | st.floats(0.0, 5.0),
    exposed_since_s=st.none() | st.floats(0.0, 100.0),
    estop=st.sampled_from([False, False, True]),
    safety_latch=st.sampled_from(['', '', 'e-stop pressed']),
    silent=st.sampled_from([[], [], ['adapter'], ['scan'], ['battery', 'odometry']]),
)


@st.composite
def states(draw: st.DrawFn) -> BrainState:
    """As they may stand before event_arbitrate."""
    queue = draw(st.lists(tasks, max_size=5, unique_by=lambda task: task.task_id))
    ids = [task.task_id for task in queue]
    return BrainState(
        hci=draw(hci_states()),
        robot=draw(robots),
        telemetry=Telemetry(now_s=100.0),
        tasks=TasksState(
            queue=queue,
            active_task_id=draw(st.sampled_from([None, *ids, 'gone'])),
            mode=draw(st.sampled_from(Mode)),
        ),
    )
