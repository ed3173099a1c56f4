# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The leaves of the tree: continue the ongoing activity, answer a message, ask a model, start a
due activity. A leaf chooses and never acts: the engine starts the chosen activity.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from curiosity_rosa_demo.agent.policy.action import ActionProposal, PolicyAction
from curiosity_rosa_demo.agent.policy.blackboard import (
    ClientRole,
    PolicyBoard,
    PolicyTickInputs,
    reader,
)
from curiosity_rosa_demo.agent.policy.decision_record import Rejection
from curiosity_rosa_demo.agent.policy.safety_filter import SafetyFilter
from curiosity_rosa_demo.agent.policy.suggestion import (
    NoSuggestion,
    PendingSuggestion,
    prompt_situation,
    situation_text,
)
from curiosity_rosa_demo.agent.policy.suggestion_provider import LLMPolicyProvider
from curiosity_rosa_demo.agent.policy.world_state import ExternalMessage, Source
from curiosity_rosa_demo.agent.policy.world_view import WorldModel
from curiosity_rosa_demo.domain.text import printable
from py_trees.behaviour import Behaviour
from py_trees.common import Status


class Leaf(Behaviour):
    """``feedback_message`` is the reason of its last outcome."""

    part = ClientRole.WATCH

    def __init__(self, name: str, board: PolicyBoard) -> None:
        super().__init__(name)
        self.board = board.client(self.part, self)
        self.moment: Callable[[], PolicyTickInputs] = reader(self.board, 'moment')


class ObservingLeaf(Leaf):
    """A leaf that only reads the blackboard: it has nothing to initialise or terminate."""

    def tick(self) -> Iterator[Behaviour]:
        """As Behaviour.tick, without its log calls: they cost ten times as much as update()."""
        self.status = self.update()
        yield self


class ChoosingLeaf(Leaf):
    part = ClientRole.CHOICE

    def choose(self, proposal: ActionProposal, message: ExternalMessage | None = None) -> Status:
        board = self.board
        board.outcome = replace(board.outcome, chosen=proposal, message=message)
        self.feedback_message = proposal.action.rationale
        return Status.SUCCESS

    def reject(self, proposal: ActionProposal, reason: str) -> None:
        board, before = self.board, self.board.outcome
        rejection = Rejection(type=proposal.action.type, by=proposal.source, reason=reason)
        board.outcome = replace(before, rejected=(*before.rejected, rejection))


class IsHeld(ObservingLeaf):
    """RUNNING while no activity may start."""

    def update(self) -> Status:
        self.feedback_message = printable(self.moment().senses.hold_reason)
        return Status.RUNNING if self.feedback_message else Status.FAILURE


class ContinueActivity(ObservingLeaf):
    """RUNNING while an activity continues that was chosen by ``by``; None: by any source."""

    def __init__(self, name: str, board: PolicyBoard, by: Source | None = None) -> None:
        super().__init__(name, board)
        self._by = by

    def update(self) -> Status:
        ongoing = self.moment().state.activity
        if ongoing is None or self._by not in (None, ongoing.by):
            self.feedback_message = ''
            return Status.FAILURE
        self.feedback_message = ongoing.activity
        return Status.RUNNING


class AnswerMessage(ChoosingLeaf):
    """Chooses the activity that the world view names for a message, for the oldest message. After
    a refusal the message waits; the refusal is recorded once for each message and reason.
    """

    def __init__(
        self, name: str, board: PolicyBoard, *, activity: str, safety: SafetyFilter
    ) -> None:
        super().__init__(name, board)
        self._activity, self._safety = activity, safety
        self._reported: tuple[ExternalMessage, str] | None = None

    def update(self) -> Status:
        at, state, senses, waiting = self.moment()
        message = waiting[0]
        action = PolicyAction(type=self._activity, preemptive=True, rationale=message.text)
        proposal = ActionProposal(action, Source.EMERGENCY)
        reason = self._safety.refusal_reason(proposal, state, senses, at)
        if not reason:
            self._reported = None
            return self.choose(proposal, message)
        self.feedback_message = reason
        if self._reported != (message, reason):
            self._reported = message, reason
            self.reject(proposal, f'{reason}; the message waits: {message.text}')
        return Status.FAILURE


class AskModel(ChoosingLeaf):
    """Asks a model for one action and chooses it when it passes the safety filter. RUNNING while
    the call runs. A cached answer interrupts nothing: the resumed activity would make the same
    situation again, and be interrupted again and again.
    """

    def __init__(
        self,
        name: str,
        board: PolicyBoard,
        *,
        world: WorldModel,
        safety: SafetyFilter,
        provider: LLMPolicyProvider | None,
    ) -> None:
        super().__init__(name, board)
        self._world, self._safety, self._provider = world, safety, provider

    def update(self) -> Status:
        if self._provider is None:
            return Status.FAILURE
        at, state, senses, _ = self.moment()
        options = self._safety.options(state, senses, at)
        situation = prompt_situation(self._world, state, at, options)
        if not self._provider.unavailable_reason(situation, at):
            situation = replace(situation, text=situation_text(self._world, state, at))
        answer = self._provider.poll(situation, at)
        if isinstance(answer, PendingSuggestion):
            self.feedback_message = 'it is asked'
            return Status.RUNNING
        if not isinstance(answer, NoSuggestion) and answer.cached and situation.activity:
            self.feedback_message = 'an interruption needs a fresh answer'
            return Status.FAILURE
        if answer.answer_text:
            self.board.outcome = replace(self.board.outcome, answer_text=answer.answer_text)
        if isinstance(answer, NoSuggestion):
            self.feedback_message = answer.reason
            return Status.FAILURE
        proposal = ActionProposal(answer.action, Source.MODEL)
        reason = self._safety.refusal_reason(proposal, state, senses, at)
        if not reason:
            return self.choose(proposal)
        self.feedback_message = reason
        self._provider.record_refusal(situation, answer.action, reason, at)
        self.reject(proposal, reason)
        return Status.FAILURE


class BeginProposal(ChoosingLeaf):
    """Chooses the proposal that its guard has found due."""

    def __init__(self, name: str, board: PolicyBoard, *, proposal: ActionProposal) -> None:
        super().__init__(name, board)
        self._proposal = proposal

    def update(self) -> Status:
        return self.choose(self._proposal)


class StayIdle(ObservingLeaf):
    """Always SUCCESS: there is nothing to do."""

    def update(self) -> Status:
        return Status.SUCCESS
