# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Proposals, situations and limits for the tests of the guardrails."""

from __future__ import annotations

import dataclasses
from typing import Any

from curiosity_rosa_demo.agent.react.situation import Limits, Proposal, Situation
from curiosity_rosa_demo.domain.brain_state import RunningSkill, Spent
from curiosity_rosa_demo.domain.operation import Operation
from curiosity_rosa_demo.domain.plan import RiskLevel
from curiosity_rosa_demo.infra.config.limits import ApprovalRules, Budget, EnergyRules, Geofence
from curiosity_rosa_demo.infra.config_loader import load_config
from hypothesis import strategies as st

CONFIG = load_config()
SHIPPED = Limits.of(CONFIG)
DRIVES = ('move_forward', 'turn_left', 'turn_right', 'navigate_to_pose')
MAST = ('mast_open', 'mast_close', 'mast_rotate')
STOPS = ('move_stop', 'stop_base')
OTHERS = ('get_status', 'capture_and_score', 'speak', 'wait_until', 'query_world', 'wiggle')
RESOURCES = ('base', 'mast', 'camera')
READY = Situation(mode='EXEC', mast='closed', moving=False, x=0.0, y=0.0, yaw_rad=0.0, battery=1.0)


def skill_facts(name: str) -> tuple[frozenset[str], RiskLevel, float]:
    """Resources, risk and cost as configured."""
    skill = CONFIG.skills.skills[name]
    return frozenset(skill.resources_required), skill.risk, CONFIG.tool_costs.of(name)


def propose(name: str, **arguments: Any) -> Proposal:
    return Proposal(Operation(name, arguments, 'c1'), *skill_facts(name))


def with_fence(limits: Limits = SHIPPED, **changes: Any) -> Limits:
    fence = Geofence.model_validate({**limits.geofence.model_dump(), **changes})
    return dataclasses.replace(limits, geofence=fence)


def running(*resources: str, name: str = 'other') -> RunningSkill:
    return RunningSkill(
        goal_id='g', skill_name=name, start_time=0.0, timeout_s=9.0, resources_occupied=resources
    )


odd: st.SearchStrategy[Any] = st.sampled_from(
    [None, True, '3', [], {}, float('nan'), float('inf'), 10**400, -1.0, 1e308]
)
metres = st.floats(-120.0, 120.0)
arguments = st.fixed_dictionaries(
    {},
    optional={
        'duration_s': st.floats(0.01, 30.0) | odd,
        'x': metres | odd,
        'y': metres | odd,
        'text': st.text(max_size=8),
    },
)
resources = st.frozensets(st.sampled_from(RESOURCES))


def proposals(*names: str) -> st.SearchStrategy[Proposal]:
    """Of the skills of these names, with whatever definition."""
    ops = st.builds(Operation, st.sampled_from(names), arguments, st.just('c1'))
    return st.builds(Proposal, ops, resources, st.sampled_from(RiskLevel), st.floats(0.0, 1000.0))


Case = tuple[Proposal, Situation, Limits]


anything = proposals(*DRIVES, *MAST, *STOPS, *OTHERS)
spendings = st.builds(
    Spent,
    steps=st.integers(0, 50),
    cost=st.floats(0.0, 1200.0),
    metres=st.floats(0.0, 250.0),
    seconds=st.floats(0.0, 4000.0),
)
modes = st.sampled_from(['SAFE', 'CHARGE', 'EXEC', 'IDLE', '', 'exec'])
latches = st.sampled_from(['', 'e-stop pressed', 'a\nb', 'x' * 500])
masts = st.sampled_from(['closed', 'opening', 'open', 'closing', 'unknown', ''])
skills_running = st.lists(resources.map(lambda held: running(*sorted(held))), max_size=3).map(
    tuple
)


def situations(**fixed: Any) -> st.SearchStrategy[Situation]:
    """Every situation in which these facts are as given."""
    parts: dict[str, st.SearchStrategy[Any]] = {
        'mode': modes,
        'mast': masts,
        'moving': st.sampled_from([None, True, False]),
        'x': st.none() | metres,
        'y': st.none() | metres,
        'yaw_rad': st.none() | st.floats(-10.0, 10.0),
        'battery': st.none() | st.floats(0.0, 1.0),
        'running': skills_running,
        'spent': spendings,
        'refused': st.dictionaries(st.text(max_size=5), st.integers(0, 5), max_size=2),
        'safety_latch': latches,
    }
    parts |= {key: st.just(value) for key, value in fixed.items()}
    return st.builds(Situation, **parts)


# Nothing but the pose, and what a test adds, can be the reason of a refusal.
FREE: dict[str, Any] = {
    'mode': 'EXEC',
    'mast': 'closed',
    'running': (),
    'spent': Spent(),
    'refused': {},
    'safety_latch': '',
}
exposed = st.one_of(
    *(
        situations(**facts, mast=mast)
        for mast in ('opening', 'open', 'closing', 'unknown', '')
        for facts in ({}, {key: value for key, value in FREE.items() if key != 'mast'})
    )
)


@st.composite
def fences(draw: st.DrawFn, /, **fixed: Any) -> Geofence:
    margin = draw(st.floats(0.0, 3.0))
    drawn: dict[str, Any] = {
        'enabled': draw(st.booleans()),
        'margin_m': margin,
        'max_speed_mps': draw(st.floats(0.05, 3.0)),
        'leaving': draw(st.sampled_from(['refuse', 'ask'])),
    }
    for axis in 'xy':
        low = draw(st.floats(-60.0, 40.0))
        drawn[f'{axis}_min'] = low
        drawn[f'{axis}_max'] = low + 2 * margin + draw(st.floats(0.1, 100.0))
    return Geofence.model_validate({**drawn, **fixed})


all_limits = st.builds(
    Limits,
    budget=st.builds(
        Budget,
        max_cost=st.floats(0.1, 1200.0),
        max_metres=st.floats(0.1, 250.0),
        max_seconds=st.floats(0.1, 4000.0),
    ),
    patience=st.just(SHIPPED.patience),
    geofence=fences(),
    energy=st.builds(
        EnergyRules,
        enabled=st.booleans(),
        home_x=metres,
        home_y=metres,
        charge_per_m=st.floats(0.0, 0.02),
        reserve=st.floats(0.0, 0.5),
    ),
    battery_low=st.floats(0.0, 0.5),
    approval=st.builds(
        ApprovalRules,
        timeout_s=st.just(300.0),
        skills=st.lists(st.sampled_from([*DRIVES, *STOPS, *OTHERS]), max_size=3),
        risk_levels=st.lists(st.sampled_from(RiskLevel), max_size=3),
        battery_below=st.floats(0.0, 1.0),
    ),
    max_steps=st.integers(1, 60),
    leash_s=st.floats(1.0, 60.0),
    reaction_s=st.floats(0.0, 8.0),
    turn_radius_m=st.floats(0.0, 1000.0, exclude_min=True),
    max_detour=st.none() | st.floats(1.0, 10.0),
)


def cases(*names: str, **facts: Any) -> st.SearchStrategy[Case]:
    """Every proposal of these skills in every situation with these facts, under any limits."""
    return st.tuples(proposals(*names), situations(**facts), all_limits)


def free_cases(*names: str, **facts: Any) -> st.SearchStrategy[Case]:
    """The same; half of them in a situation in which nothing else refuses."""
    return cases(*names, **facts) | cases(*names, **{**FREE, **facts})


def with_approval(limits: Limits = SHIPPED, **rules: Any) -> Limits:
    return dataclasses.replace(limits, approval=limits.approval.model_copy(update=rules))


def changed(part: Any, **changes: Any) -> Any:
    return dataclasses.replace(part, **changes)
