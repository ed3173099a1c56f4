# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Seed 004's parts by their names and its branches in their order.

It is a plan for TypeScript without code to run. Its blackboard is ``PolicyBoard``, its tree what
``behaviour_tree`` makes; its scenarios are in test_policy_scenarios.py.
"""

from __future__ import annotations

from curiosity_rosa_demo.agent.policy.action import ActionProposal, PolicyAction
from curiosity_rosa_demo.agent.policy.action_executor import ActionExecutor
from curiosity_rosa_demo.agent.policy.behaviour_tree import behaviour_tree
from curiosity_rosa_demo.agent.policy.blackboard import PolicyBoard
from curiosity_rosa_demo.agent.policy.events import (
    ActionEnded,
    ActionStarted,
    ExternalMessage,
    StateChanged,
)
from curiosity_rosa_demo.agent.policy.guards import Guard
from curiosity_rosa_demo.agent.policy.leaves import AskModel
from curiosity_rosa_demo.agent.policy.safety_filter import SafetyFilter
from curiosity_rosa_demo.agent.policy.suggestion_provider import LLMPolicyProvider
from curiosity_rosa_demo.agent.policy.tick_scheduler import TickScheduler
from curiosity_rosa_demo.agent.policy.world_state import Source, WorldState
from curiosity_rosa_demo.trace.bus import EventBus
from policy_doubles import ScriptedModel, SETTINGS, suggests
from policy_world import COMPANION, instant, PolicyRun, world_of
from py_trees.composites import Selector
from py_trees.decorators import Decorator
import pytest

HOME = world_of(COMPANION)


def test_the_root_selects_emergency_then_the_model_then_the_routine() -> None:
    twin = ScriptedModel(suggests('read'))
    board = PolicyBoard()
    root = behaviour_tree(board, HOME, SafetyFilter(HOME, 0.0), twin.provider)
    try:
        assert isinstance(root, Selector)
        names = [child.name for child in root.children]
        assert names == ['EmergencyBranch', 'LLMDrivenBranch', 'RoutineFallback']
        guard = root.children[1]
        assert isinstance(guard, Guard)
        assert isinstance(guard, Decorator)
        assert isinstance(guard.decorated, AskModel)
    finally:
        board.close()


def test_the_policy_decides_once_a_minute_of_utc_plus_8() -> None:
    scheduler = TickScheduler(SETTINGS.tick_s, HOME.zone)
    at = instant('2026-11-23 07:20', HOME)
    assert scheduler.take_due(at + 59.9) is not None
    assert scheduler.take_due(at + 59.99) is None
    due = scheduler.take_due(at + 60.0)
    assert due is not None
    assert (due.at, SETTINGS.timezone) == (at + 60.0, 'UTC+08:00')


def test_the_model_answers_with_one_action_of_which_only_the_type_is_needed() -> None:
    action = PolicyAction(type='read')
    assert (action.preemptive, action.rationale) == (False, '')
    assert PolicyAction('read', True, 'it is quiet').rationale == 'it is quiet'
    assert set(PolicyAction.model_fields) == {'type', 'preemptive', 'rationale'}
    assert isinstance(ScriptedModel(suggests('read')).provider, LLMPolicyProvider)


def test_the_events_have_the_published_names() -> None:
    names = [kind.name for kind in (StateChanged, ActionStarted, ActionEnded, ExternalMessage)]
    assert names == ['state.changed', 'action.started', 'action.ended', 'external.message']


def test_the_executor_begins_an_action_and_publishes_it() -> None:
    bus, heard = EventBus(), []
    bus.listen('a', heard.append, ActionStarted)
    executor = ActionExecutor(HOME, bus.publish, WorldState.first(COMPANION))
    executor.start_activity(ActionProposal(PolicyAction(type='read'), Source.MODEL), at=1000.0)
    assert [event.name for event in heard] == ['action.started']
    assert executor.state.activity is not None
    assert executor.state.activity.activity == 'read'


@pytest.mark.parametrize(
    ('suggested', 'refused'),
    [
        ('go_to_moon', 'there is no activity go_to_moon'),
        ('study', 'it is at home, not at school'),
        ('wake', 'wake begins only during sleep'),
    ],
)
def test_an_action_that_the_world_forbids_is_refused_and_the_routine_decides(
    suggested: str, refused: str
) -> None:
    policy_run = PolicyRun(HOME, instant('2026-11-23 07:19', HOME))
    policy_run.provider = ScriptedModel(suggests(suggested)).provider
    policy_run.restart()
    policy_run.run(1)
    [rejection] = policy_run.decisions[-1].decision.rejected
    assert rejection.reason.startswith(refused)
    assert policy_run.began() == ['Mon 07:20 go_to_school']


def test_a_message_goes_before_everything_else() -> None:
    policy_run = PolicyRun(HOME, instant('2026-11-23 07:19', HOME))
    policy_run.at += 60.0
    tick = policy_run.tick('come home', cause='external.message')
    assert tick.state.activity is not None
    assert (tick.state.activity.activity, tick.state.activity.by) == (
        'read_message',
        Source.EMERGENCY,
    )
