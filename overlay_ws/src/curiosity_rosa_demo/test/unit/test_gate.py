# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The gate: what binds everybody, who is asked, and what a yes is good for."""

from __future__ import annotations

import dataclasses
from pathlib import Path
import shutil

from curiosity_rosa_demo.agent.react.guardrails.gate import (
    Approval,
    call_refusal,
    Order,
    order_verdict,
)
from curiosity_rosa_demo.agent.react.guardrails.rules import (
    Ask,
    CALL_RULES,
    first_refusal,
    Rule,
    RULES,
    what_to_ask,
)
from curiosity_rosa_demo.agent.react.guardrails.situation import Limits, Proposal, Situation
from curiosity_rosa_demo.agent.runtime.execution.task_origin import task_origin, with_origin
from curiosity_rosa_demo.agent.tasks import LifecycleState, Task
from curiosity_rosa_demo.domain.brain_state import Spent
from curiosity_rosa_demo.domain.operation import Operation
from curiosity_rosa_demo.domain.origin import Origin
from curiosity_rosa_demo.domain.refusal import Refusal, RefusalCode
from curiosity_rosa_demo.infra.config.guardrails import Origins
from curiosity_rosa_demo.infra.config_loader import ConfigError, load_config, shipped_config_dir
from examples import examples
from guardrails_world import (
    all_limits,
    DRIVES,
    FREE,
    MAST,
    OTHERS,
    proposals,
    propose,
    SHIPPED,
    situations,
    STOPS,
    with_fence,
)
from hypothesis import given, settings
from hypothesis import strategies as st
import pytest

some = settings(max_examples=examples(200), deadline=None)
FREE_TO_PASS = ('console', 'page', 'http', 'action')
FACTS = {'mode': 'EXEC', 'mast': 'closed', 'moving': False, 'x': 0.0, 'y': 0.0, 'yaw_rad': 0.0}
FORWARD = Operation('move_forward', {'duration_s': 2.0})

origins = st.sampled_from(Origin)
tables = st.builds(
    Origins,
    **{
        name: st.sampled_from(
            ['ask', 'refuse', 'pass'] if name in FREE_TO_PASS else ['ask', 'refuse']
        )
        for name in Origins.model_fields
    },
)
orders = st.builds(Order, origins)
open_situations = situations() | situations(**{**FREE, 'moving': False})
asking_skills = st.lists(st.sampled_from([*DRIVES, *MAST, *STOPS, *OTHERS]), max_size=6)


@st.composite
def bound_limits(draw: st.DrawFn) -> Limits:
    limits: Limits = draw(all_limits)
    approval = limits.approval.model_copy(update={'skills': draw(asking_skills)})
    return dataclasses.replace(limits, approval=approval, origins=draw(tables))


@some
@given(
    proposals(*DRIVES, *MAST, *OTHERS),
    open_situations,
    bound_limits(),
    orders,
    st.sampled_from([RULES, CALL_RULES]),
)
def test_the_rules_bind_every_origin_and_who_is_bound_never_slips_through(
    proposal: Proposal, situation: Situation, limits: Limits, order: Order, rules: tuple[Rule, ...]
) -> None:
    refused = first_refusal(rules, proposal, situation, limits)
    verdict = order_verdict(proposal, situation, limits, order, rules)
    binding = limits.origins.binding(order.origin)
    if refused is not None:
        assert verdict == refused
    elif isinstance(verdict, Refusal):
        assert binding == 'refuse'
        assert verdict.code in (RefusalCode.NOT_APPROVED, RefusalCode.GEOFENCE)
    elif isinstance(verdict, Ask):
        assert binding != 'refuse'
        assert verdict.reasons
    else:
        ask = what_to_ask(proposal, situation, limits)
        assert binding == 'pass' or not ask.reasons
        assert not ask.fence


@some
@given(proposals(*STOPS), situations(), bound_limits(), orders)
def test_a_stop_passes_from_everywhere(
    proposal: Proposal, situation: Situation, limits: Limits, order: Order
) -> None:
    assert order_verdict(proposal, situation, limits, order) is None


@some
@given(proposals('mast_close'), situations(), bound_limits(), orders)
def test_stowing_asks_nobody(
    proposal: Proposal, situation: Situation, limits: Limits, order: Order
) -> None:
    """Only the rules that keep the mast itself safe may refuse it, the same for every origin."""
    proposal = dataclasses.replace(proposal, skill_resources=frozenset({'mast'}))
    verdict = order_verdict(proposal, situation, limits, order, CALL_RULES)
    assert verdict == first_refusal(CALL_RULES, proposal, situation, limits)


@some
@given(
    st.sampled_from(['move_forward', 'turn_left', 'turn_right', 'mast_open', 'mast_rotate']),
    st.floats(0.1, 20.0),
    st.floats(-10.0, 10.0),
    bound_limits(),
    origins,
    st.sampled_from([None, 'patrol', 'navigate_to_pose']),
)
def test_a_call_without_a_yes_passes_only_where_none_is_needed(
    name: str, seconds: float, x: float, limits: Limits, origin: Origin, within: str | None
) -> None:
    """Also within a longer skill, and for a thread that has lost its order."""
    arguments = {} if name.startswith('mast') else {'duration_s': seconds}
    order = Order(origin, Operation(within, {}) if within else None)
    refused = call_refusal(name, arguments, {**FACTS, 'x': x}, Spent(), limits, order)
    if refused is None:
        proposal = dataclasses.replace(propose(name, **arguments), cost=0.0)
        situation = Situation(mode='EXEC', mast='closed', moving=False, x=x, y=0.0, yaw_rad=0.0)
        listed = name in limits.approval.skills
        assert not listed or limits.origins.binding(origin) == 'pass'
        assert not what_to_ask(proposal, situation, limits).fence


# --- a yes -----------------------------------------------------------------------------------


def asking(*skills: str, limits: Limits = SHIPPED) -> Limits:
    approval = limits.approval.model_copy(update={'skills': list(skills)})
    return dataclasses.replace(limits, approval=approval)


def dispatch(limits: Limits, order: Order, op: Operation = FORWARD) -> str:
    refused = call_refusal(op.skill, op.arguments, FACTS, Spent(), limits, order)
    return refused.code.value if refused else ''


LISTED = asking('move_forward')
FENCED = asking('move_forward', limits=with_fence(leaving='ask', x_max=3.0))


@pytest.mark.parametrize(
    ('limits', 'leaves_fence', 'asked', 'refused'),
    [
        (LISTED, False, 2.0, ['', 'NOT_APPROVED']),  # one dispatch uses it up
        (LISTED, False, 3.0, ['NOT_APPROVED', 'NOT_APPROVED']),  # it is for this call alone
        (FENCED, False, 2.0, ['NOT_APPROVED', 'NOT_APPROVED']),  # the fence was not named
        (FENCED, True, 2.0, ['', 'NOT_APPROVED']),
    ],
)
def test_a_yes_is_for_one_dispatch_of_one_call_for_the_reasons_that_were_told(
    limits: Limits, leaves_fence: bool, asked: float, refused: list[str]
) -> None:
    op = Operation('move_forward', {'duration_s': asked})
    order = Order(Origin.MODEL, op, Approval(FORWARD, leaves_fence))
    assert [dispatch(limits, order, op) for _ in range(2)] == refused


# --- who orders ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ('task', 'origin'),
    [
        (Task('react', metadata={'text': 'go'}), Origin.MODEL),
        (with_origin(Task('react', metadata={'text': 'go'}), Origin.CONSOLE), Origin.MODEL),
        (Task('react', metadata={'text': 'go', 'plan': {'steps': []}}), Origin.PLAN),
        (with_origin(Task('react', metadata={'plan': {}}), Origin.AUTONOMY), Origin.AUTONOMY),
        (with_origin(Task('move_forward'), Origin.CONSOLE), Origin.CONSOLE),
        (with_origin(Task('move_forward'), Origin.HTTP), Origin.HTTP),
        (
            with_origin(Task('mast_open', state=LifecycleState.RECOVERING), Origin.HTTP),
            Origin.RECOVERY,
        ),
        (Task('move_forward'), Origin.RECOVERY),  # of an earlier version
        (Task('move_forward', metadata={'origin': 'me'}), Origin.RECOVERY),
        (with_origin(Task('charge'), Origin.HTTP), Origin.CHARGE),
    ],
)
def test_a_task_says_who_orders(task: Task, origin: Origin) -> None:
    assert task_origin(task) is origin


@pytest.mark.parametrize(
    ('key', 'value', 'ok'),
    [
        *((name, 'refuse', True) for name in Origins.model_fields),
        *((name, 'pass', name in FREE_TO_PASS) for name in Origins.model_fields),
        ('http', 'never', False),
        ('charge', 'pass', False),
    ],
)
def test_the_table_lets_nobody_pass_whom_no_person_has_ordered(
    key: str, value: str, ok: bool, tmp_path: Path
) -> None:
    shutil.copytree(shipped_config_dir(), tmp_path, dirs_exist_ok=True)
    (tmp_path / 'guardrails.yaml').write_text(f'origins: {{{key}: {value}}}')
    if ok:
        assert getattr(load_config(tmp_path).guardrails.origins, key) == value
    else:
        with pytest.raises(ConfigError, match=rf'guardrails.yaml: origins.{key}'):
            load_config(tmp_path)
