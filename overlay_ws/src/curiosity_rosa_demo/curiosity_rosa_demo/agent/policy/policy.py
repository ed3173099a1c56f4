# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The policy engine. One tick reads the inputs, ticks the tree and starts the chosen activity."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
import logging

from curiosity_rosa_demo.agent.policy.activities import ActionExecutor
from curiosity_rosa_demo.agent.policy.decisions import Decision
from curiosity_rosa_demo.agent.policy.safety_filter import SafetyFilter
from curiosity_rosa_demo.agent.policy.suggestion_provider import LLMPolicyProvider
from curiosity_rosa_demo.agent.policy.tree import BehaviourTree
from curiosity_rosa_demo.agent.policy.world import (
    Blackboard,
    Command,
    Event,
    EventName,
    Senses,
    Source,
    WorldModel,
    WorldState,
)
from curiosity_rosa_demo.domain.text import printable
from curiosity_rosa_demo.infra.config.agent import PolicyConfig

MAX_WAITING_MESSAGES = 20  # messages in the queue; a further one is dropped
MAX_MESSAGE_CHARS = 500  # characters of a message that are kept

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class PolicyTick:
    """The result of a tick. Save ``state`` and ``decision`` before publishing ``events``,
    executing ``commands`` in order and speaking ``spoken_texts``.
    """

    decision: Decision
    state: WorldState
    commands: tuple[Command, ...]
    events: tuple[Event, ...]
    spoken_texts: tuple[str, ...]


class Policy:
    """Chooses the activities of one world. For one thread; no call blocks. ``number``: that of the
    last saved decision. A new policy repeats the commands of its ``state``, as after a crash.
    """

    def __init__(
        self,
        world: WorldModel,
        settings: PolicyConfig,
        *,
        state: WorldState,
        provider: LLMPolicyProvider | None,
        number: int = 0,
    ) -> None:
        self._world, self.number = world, number
        self._executor = ActionExecutor(world, state)
        self.tree = BehaviourTree(world, SafetyFilter(world, settings.retry_s), provider)
        self._waiting: list[str] = []  # messages, the oldest first
        self._spoken: list[str] = []

    @property
    def state(self) -> WorldState:
        return self._executor.state

    def tick(
        self,
        at: float,
        cause: str,
        senses: Senses,
        messages: Sequence[str] = (),
        missed: int = 0,
        notices: Sequence[str] = (),
    ) -> PolicyTick:
        """Run one tick. ``missed``: number of skipped ticks before this one. ``notices``: messages
        that are only said aloud.
        """
        self._executor.observe(senses, at)
        for text in messages:
            self._receive(self._published(text))
        for text in notices:
            self._say(self._published(text))
        board = Blackboard(at, self.state, senses, tuple(self._waiting))
        try:
            self.tree.tick(board)
        except Exception as error:
            _log.exception('event=policy_node_broke')
            error_text = printable(f'{type(error).__name__}: {error}')
            self._tell(f'the tree broke ({error_text}), nothing begins')
            board.chosen = None
        if board.chosen is not None:
            action, by = board.chosen
            self._executor.start(action, by, at)
            if by is Source.EMERGENCY:
                self._say(self._waiting.pop(0))
        if messages and self._waiting:
            self._tell(f'messages that wait: {len(self._waiting)}')
        return self._result(board, cause, missed)

    def switch_off(self, why: str, at: float) -> PolicyTick:
        """End the ongoing and suspended activities; drop the waiting messages."""
        self._executor.switch_off(why, at)
        for message in self._waiting:
            self._tell(f'nobody answered the message: {message}')
        self._waiting = []
        self.tree.stop()
        self._tell(f'off: {why}')
        return self._result(Blackboard(at, self.state, Senses()), 'off', 0)

    def _published(self, message: str) -> str:
        text = printable(message)[:MAX_MESSAGE_CHARS]
        event = Event(EventName.EXTERNAL_MESSAGE, '', text, f'a message came: {text}')
        self._executor.told.append(event)
        return text

    def _receive(self, message: str) -> None:
        if not self._world.view.emergencies:
            self._tell('the world view names no activity for a message')
            self._say(message)
        elif len(self._waiting) == MAX_WAITING_MESSAGES:
            self._tell(f'it is dropped: {MAX_WAITING_MESSAGES} messages wait already')
        else:
            self._waiting.append(message)

    def _say(self, message: str) -> None:
        self._spoken.append(f'A message came: {message}')
        self._tell('the message is said aloud')

    def _tell(self, text: str) -> None:
        self._executor.told.append(text)

    def _result(self, board: Blackboard, cause: str, missed: int) -> PolicyTick:
        self.number += 1
        executor, state = self._executor, self.state
        told, executor.told = executor.told, []
        commands, executor.commands = executor.commands, []
        spoken, self._spoken = self._spoken, []
        entries = [each.entry if isinstance(each, Event) else each for each in told]
        decision = Decision(
            number=self.number,
            at=board.at,
            cause=cause,
            missed=missed,
            path=self.tree.path,
            answer_text=board.answer_text,
            rejected=board.rejected,
            done='; '.join(filter(None, entries)),
            place=state.place,
            energy=self._world.energy(state, board.at),
            activity=state.activity.activity if state.activity else '',
            holding=board.senses.hold_reason,
        )
        events = tuple(each for each in told if isinstance(each, Event))
        return PolicyTick(decision, state, tuple(commands), events, tuple(spoken))
