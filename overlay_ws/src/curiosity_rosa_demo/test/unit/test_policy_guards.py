# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Guards, and the leaves they guard, one at a time."""

from __future__ import annotations

from datetime import datetime, timedelta
from itertools import product

from curiosity_rosa_demo.agent.policy.action import ActionProposal, PolicyAction, Senses
from curiosity_rosa_demo.agent.policy.blackboard import (
    ClientRole,
    NO_OUTCOME,
    PolicyBoard,
    PolicyTickInputs,
    TickOutcome,
)
from curiosity_rosa_demo.agent.policy.decision_record import Rejection
from curiosity_rosa_demo.agent.policy.events import ExternalMessage
from curiosity_rosa_demo.agent.policy.guards import (
    Guard,
    IsDue,
    MayAsk,
    NO_MODEL,
)
from curiosity_rosa_demo.agent.policy.leaves import (
    AnswerMessage,
    BeginProposal,
    ContinueActivity,
)
from curiosity_rosa_demo.agent.policy.safety_filter import SafetyFilter
from curiosity_rosa_demo.agent.policy.suggestion import PromptSituation, Suggestion
from curiosity_rosa_demo.agent.policy.suggestion_provider import LLMPolicyProvider
from curiosity_rosa_demo.agent.policy.world_state import Ongoing, Source, WorldState
from curiosity_rosa_demo.infra.config.world import ActivityConfig, RoutineConfig
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from policy_doubles import SETTINGS
from policy_rules import open_at
from policy_world import COMPANION, instant, world_of
from py_trees.behaviour import Behaviour
from py_trees.common import Status
import pytest

WORLD = world_of(COMPANION)
FILTER = SafetyFilter(WORLD, 900.0)
MONDAY = instant('2026-11-23 07:30', WORLD)
FIRST = WorldState.first(COMPANION)


def rest(situation: PromptSituation, refusals: str) -> PolicyAction:
    return PolicyAction(type='rest')


def ongoing(name: str, by: Source = Source.ROUTINE) -> WorldState:
    began = Ongoing(activity=name, by=by, began_at=MONDAY - 60.0, energy_at=MONDAY - 60.0)
    return FIRST.model_copy(update={'activity': began})


def proposal(name: str, by: Source = Source.ROUTINE, *, preemptive: bool = True) -> ActionProposal:
    return ActionProposal(PolicyAction(type=name, preemptive=preemptive), by)


class Scripted(Behaviour):
    """A child that says what a test tells it to, and counts."""

    def __init__(self, says: Status = Status.SUCCESS) -> None:
        super().__init__('child')
        self.says, self.ticks, self.ends = says, 0, 0

    def update(self) -> Status:
        self.ticks += 1
        return self.says

    def terminate(self, new_status: Status) -> None:
        self.ends += 1


class Told(Guard):
    """A guard whose reason a test gives."""

    reason = ''

    def refuses(self, moment: PolicyTickInputs) -> str:
        return self.reason


class Table:
    """A blackboard with one moment on it."""

    def __init__(self) -> None:
        self.board = PolicyBoard()
        self.engine = self.board.client(ClientRole.ENGINE)
        self.engine.outcome = NO_OUTCOME
        self.put()

    def put(
        self,
        state: WorldState = FIRST,
        at: float = MONDAY,
        *messages: str,
        holding: str = '',
    ) -> None:
        waiting = tuple(ExternalMessage(at, text) for text in messages)
        self.engine.moment = PolicyTickInputs(at, state, Senses(hold_reason=holding), waiting)

    @property
    def outcome(self) -> TickOutcome:
        found = self.engine.outcome
        assert isinstance(found, TickOutcome)
        return found


@pytest.fixture
def table() -> Table:
    return Table()


def tick(node: Behaviour) -> Status:
    node.tick_once()
    return node.status


# --- any guard -------------------------------------------------------------------------------


def test_a_guard_that_refuses_ends_a_child_that_was_running(table: Table) -> None:
    child = Scripted(Status.RUNNING)
    guard = Told('guard', child, table.board)
    tick(guard)
    guard.reason = 'it rains'
    assert tick(guard) is Status.FAILURE
    assert child.status is Status.INVALID
    assert child.ends == 1
    tick(guard)
    assert child.ends == 1, 'it was ended already'


@settings(deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(['', 'no']), st.sampled_from([*Status][:3])), max_size=12
    ).filter(bool)
)
def test_a_guard_is_its_child_wherever_it_does_not_refuse(
    script: list[tuple[str, Status]],
) -> None:
    child = Scripted()
    guard = Told('guard', child, Table().board)
    ticks = 0
    for guard.reason, says in script:
        child.says = says
        ticks += not guard.reason
        assert tick(guard) is (Status.FAILURE if guard.reason else says)
        assert child.ticks == ticks
        assert guard.feedback_message == guard.reason


# --- the guards of the tree ------------------------------------------------------------------


@pytest.mark.parametrize(
    ('state', 'holding', 'asked', 'refusal'),
    [
        (FIRST, '', True, ''),
        (ongoing('read'), '', True, ''),
        (ongoing('study'), '', True, 'study may not be interrupted'),
        (ongoing('sleep', Source.MODEL), '', True, 'sleep may not be interrupted'),
        (FIRST, 'SAFE: e-stop', True, 'SAFE: e-stop'),
        (FIRST, '', False, NO_MODEL),
    ],
)
def test_a_model_may_be_asked_while_it_could_begin_something(
    table: Table, state: WorldState, holding: str, asked: bool, refusal: str
) -> None:
    child = Scripted(Status.RUNNING)
    provider = LLMPolicyProvider(rest, SETTINGS) if asked else None
    guard = MayAsk('may ask', child, table.board, world=WORLD, provider=provider)
    table.put(state, holding=holding)
    assert tick(guard) is (Status.FAILURE if refusal else Status.RUNNING)
    assert guard.feedback_message == refusal
    assert child.ticks == (not refusal)


def test_an_activity_is_interrupted_by_a_fresh_answer_only(table: Table) -> None:
    now = MONDAY
    provider = LLMPolicyProvider(rest, SETTINGS, start=lambda job: job(), steady=lambda: now)
    guard = MayAsk('may ask', Scripted(), table.board, world=WORLD, provider=provider)
    situation = PromptSituation(
        place='home', activity='read', energy=0.5, options=('rest',), text=''
    )
    assert isinstance(provider.poll(situation, now), Suggestion)
    for state, refusal in (
        (ongoing('read'), 'it was asked already in this window of 900 s (policy.window_s)'),
        (FIRST, ''),  # what it said before may begin now
    ):
        table.put(state)
        tick(guard)
        assert guard.feedback_message == refusal
    table.put(ongoing('read'), MONDAY + SETTINGS.window_s)
    assert tick(guard) is Status.SUCCESS


def due(entry: RoutineConfig, table: Table) -> IsDue:
    wish = proposal(entry.activity, preemptive=entry.preemptive)
    child = BeginProposal('begins', table.board, proposal=wish)
    return IsDue('due', child, table.board, entry=entry, proposal=wish, world=WORLD, safety=FILTER)


def test_an_entry_without_a_window_is_due_in_that_of_its_activity(table: Table) -> None:
    guard = due(RoutineConfig(activity='go_to_school'), table)
    table.put(at=instant('2026-11-23 07:19', WORLD))
    assert tick(guard) is Status.FAILURE
    assert guard.feedback_message == 'due 07:20-07:40 on mon, tue, wed, thu, fri'
    table.put(at=instant('2026-11-23 07:20', WORLD))
    assert tick(guard) is Status.SUCCESS
    assert table.outcome.chosen == proposal('go_to_school')


def test_what_is_due_does_not_begin_when_the_filter_refuses_it(table: Table) -> None:
    guard = due(RoutineConfig(activity='study', preemptive=False), table)
    table.put()
    assert tick(guard) is Status.FAILURE
    assert guard.feedback_message == 'it is at home, not at school'
    assert table.outcome is NO_OUTCOME


WINDOWS = ['', '07:20-07:40', '21:30-04:00', '00:00-12:00', '12:00-00:00', '23:59-00:01']
DAYS_OF = st.lists(st.sampled_from(['mon', 'fri', 'sat', 'sun']), unique=True)


@settings(deadline=None, max_examples=examples(300))
@given(
    window=st.sampled_from(WINDOWS),
    days=DAYS_OF,
    below=st.sampled_from([2.0, 0.3, 1.0]),
    energy=st.sampled_from([0.0, 0.29, 0.3, 0.99, 1.0]),
    minutes=st.integers(0, 7 * 1440),
)
def test_an_entry_is_due_in_its_window_on_its_days_below_its_energy(
    window: str, days: list[str], below: float, energy: float, minutes: int
) -> None:
    table = Table()
    entry = RoutineConfig.model_validate(
        {'activity': 'rest', 'window': window, 'days': days, 'energy_below': below}
    )
    at = MONDAY + minutes * 60.0
    table.put(FIRST.model_copy(update={'energy': energy}), at)
    local = datetime(2026, 11, 23, 7, 30) + timedelta(minutes=minutes)
    rule = ActivityConfig.model_validate(
        {'says': 'x', 'minutes': 1.0, 'window': window, 'days': days}
    )
    expected = open_at(rule, local) and (below == 2.0 or energy < below)
    guard = due(entry, table)
    assert tick(guard) is (Status.SUCCESS if expected else Status.FAILURE)
    assert bool(guard.feedback_message) is not expected
    table.board.close()


# --- leaves ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ('by', 'begun_by'), list(product([None, Source.EMERGENCY], [None, *Source])), ids=str
)
def test_continue_runs_while_something_goes_on(
    table: Table, by: Source | None, begun_by: Source | None
) -> None:
    leaf = ContinueActivity('continue', table.board, by)
    table.put(ongoing('read', begun_by) if begun_by else FIRST)
    runs = begun_by is not None and by in (None, begun_by)
    assert tick(leaf) is (Status.RUNNING if runs else Status.FAILURE)
    assert leaf.feedback_message == ('read' if runs else '')


def test_a_message_that_is_refused_is_told_once_for_each_reason(table: Table) -> None:
    leaf = AnswerMessage('answer', table.board, activity='read_message', safety=FILTER)
    broken = FIRST.model_copy(update={'devices': {'phone': False}})
    busy = ongoing('rest', Source.EMERGENCY)
    told = []
    for state in (broken, broken, busy, busy, broken):
        table.engine.outcome = NO_OUTCOME
        table.put(state, MONDAY, 'hello')
        assert tick(leaf) is Status.FAILURE
        assert table.outcome.chosen is None
        told.append([each.reason for each in table.outcome.rejected])
    phone = 'phone cannot be used; the message waits: hello'
    rest = 'rest goes on, an emergency; the message waits: hello'
    assert told == [[phone], [], [rest], [], [phone]]


def test_what_was_rejected_before_in_a_tick_is_not_forgotten(table: Table) -> None:
    earlier = Rejection(type='read_message', by=Source.EMERGENCY, reason='why not')
    table.engine.outcome = TickOutcome(rejected=(earlier,), answer_text='the model said so')
    tick(BeginProposal('begins', table.board, proposal=proposal('rest')))
    assert table.outcome == TickOutcome(
        chosen=proposal('rest'), rejected=(earlier,), answer_text='the model said so'
    )
