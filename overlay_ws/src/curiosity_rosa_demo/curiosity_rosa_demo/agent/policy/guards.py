# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Decorators that tick their child only when a condition holds, and otherwise give a reason."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from curiosity_rosa_demo.agent.policy.action import ActionProposal
from curiosity_rosa_demo.agent.policy.blackboard import (
    ClientRole,
    PolicyBoard,
    PolicyTickInputs,
    reader,
)
from curiosity_rosa_demo.agent.policy.safety_filter import SafetyFilter
from curiosity_rosa_demo.agent.policy.suggestion_provider import LLMPolicyProvider
from curiosity_rosa_demo.agent.policy.world_view import energy_now, WorldModel
from curiosity_rosa_demo.infra.config.behaviour import RoutineConfig
from py_trees.behaviour import Behaviour
from py_trees.common import Status
from py_trees.decorators import Decorator

NO_MODEL = 'no model is asked (policy.provider: routine)'
NO_MESSAGE = 'no message waits'


class Guard(Decorator):
    """``feedback_message``: why the last tick failed; '' when the guard ticked its child."""

    def __init__(self, name: str, child: Behaviour, board: PolicyBoard) -> None:
        super().__init__(name=name, child=child)
        self._moment: Callable[[], PolicyTickInputs] = reader(
            board.client(ClientRole.GUARD, self), 'moment'
        )

    def refuses(self, moment: PolicyTickInputs) -> str:
        """Why the child may not be ticked now; '': it may."""
        raise NotImplementedError

    def tick(self) -> Iterator[Behaviour]:
        self.feedback_message = self.refuses(self._moment())
        if not self.feedback_message:
            yield from super().tick()
            return
        if self.status is not Status.FAILURE:
            self.stop(Status.FAILURE)
        yield self

    def update(self) -> Status:
        return self.decorated.status


class MessageWaits(Guard):
    def refuses(self, moment: PolicyTickInputs) -> str:
        return '' if moment.waiting else NO_MESSAGE


class MayAsk(Guard):
    """Passes when there is a model and no ongoing activity. An interruptible activity passes only
    while the model may be asked afresh, because a cached answer interrupts nothing.
    """

    def __init__(
        self,
        name: str,
        child: Behaviour,
        board: PolicyBoard,
        *,
        world: WorldModel,
        provider: LLMPolicyProvider | None,
    ) -> None:
        super().__init__(name, child, board)
        self._world, self._provider = world, provider

    def refuses(self, moment: PolicyTickInputs) -> str:
        if self._provider is None:
            return NO_MODEL
        ongoing = moment.state.activity
        if ongoing is None or moment.senses.hold_reason:
            return moment.senses.hold_reason
        if not self._world.view.activities[ongoing.activity].interruptible:
            return f'{ongoing.activity} may not be interrupted'
        return self._provider.resting_reason(moment.at)


class IsDue(Guard):
    """Passes when an entry of the routine is due and the safety filter accepts it. An entry
    without a window or days has those of its activity.
    """

    def __init__(
        self,
        name: str,
        child: Behaviour,
        board: PolicyBoard,
        *,
        entry: RoutineConfig,
        proposal: ActionProposal,
        world: WorldModel,
        safety: SafetyFilter,
    ) -> None:
        super().__init__(name, child, board)
        activity = world.view.activities[entry.activity]
        self._window, self._days = entry.window or activity.window, entry.days or activity.days
        self._below = entry.energy_below
        self._proposal, self._world, self._safety = proposal, world, safety
        on = f' on {", ".join(self._days)}' if self._days else ''
        self._early = f'due {self._window or "at any time"}{on}'
        self._charged = f'due below {self._below:.0%} of the charge'

    def refuses(self, moment: PolicyTickInputs) -> str:
        at, state, senses, _ = moment
        if not self._world.within(self._window, self._days, at):
            return self._early
        if self._below <= 1.0 and energy_now(state, self._world, at) >= self._below:
            return self._charged
        return self._safety.refusal_reason(self._proposal, state, senses, at)
