# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The policy engine. One tick reads the inputs, ticks the tree and starts the chosen activity."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
import logging
from typing import Any

from curiosity_rosa_demo.agent.policy.action import Command, Senses
from curiosity_rosa_demo.agent.policy.action_executor import ActionExecutor
from curiosity_rosa_demo.agent.policy.behaviour_tree import behaviour_tree
from curiosity_rosa_demo.agent.policy.blackboard import (
    ClientRole,
    NO_OUTCOME,
    PolicyBoard,
    PolicyTickInputs,
    reader,
    TickOutcome,
)
from curiosity_rosa_demo.agent.policy.decision_record import Decision
from curiosity_rosa_demo.agent.policy.safety_filter import SafetyFilter
from curiosity_rosa_demo.agent.policy.suggestion_provider import LLMPolicyProvider
from curiosity_rosa_demo.agent.policy.tree_text import node_text, tree_as_dot, tree_as_text
from curiosity_rosa_demo.agent.policy.world_state import (
    ActionEnded,
    ActionStarted,
    Event,
    ExternalMessage,
    StateChanged,
    WorldState,
)
from curiosity_rosa_demo.agent.policy.world_view import energy_now, WorldModel
from curiosity_rosa_demo.domain.text import printable
from curiosity_rosa_demo.infra.config.agent import PolicyConfig
from py_trees.behaviour import Behaviour
from py_trees.common import Status

MAX_WAITING_MESSAGES = 20  # messages in the queue; a further one is dropped
MAX_MESSAGE_CHARS = 500  # characters of a message that are kept

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class PolicyTick:
    """The result of a tick. Save ``state`` and ``decision`` before executing ``commands`` and
    speaking the texts in ``spoken_texts``.
    """

    decision: Decision
    commands: tuple[Command, ...]
    state: WorldState
    spoken_texts: tuple[str, ...] = ()


class Policy:
    """Chooses the activities of one world. For one thread; no call blocks. ``publish`` gets the
    events of a tick before it is saved. ``number``: that of the last saved decision.
    """

    def __init__(
        self,
        world: WorldModel,
        settings: PolicyConfig,
        *,
        state: WorldState,
        provider: LLMPolicyProvider | None,
        publish: Callable[[Event], None],
        number: int = 0,
    ) -> None:
        self._world, self._publish_event, self._number = world, publish, number
        self._executor = ActionExecutor(world, self._publish, state)
        self._board = PolicyBoard()
        self._client = self._board.client(ClientRole.ENGINE)
        self._client.outcome = NO_OUTCOME
        self._outcome = reader(self._client, 'outcome')
        safety = SafetyFilter(world, settings.retry_s)
        self._root = behaviour_tree(self._board, world, safety, provider)
        self._order = _depth_first(self._root)
        self._visited: set[Behaviour] = set()
        self._marks: list[tuple[Behaviour, Status, str]] = []
        self._path: list[str] = []
        self._waiting: tuple[ExternalMessage, ...] = ()
        self._effects: list[str] = []
        self._speech: list[str] = []
        self._hold_reason = ''
        # A decision of an uneventful tick; reused while ``_stable_fields`` stay the same.
        self._uneventful_decision: Decision
        self._stable_fields: dict[str, Any] = {}

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
        self._effects.clear()
        self._hold_reason = senses.hold_reason
        self._executor.observe(senses, at)
        for text in messages:
            self._receive_message(text, at)
        for text in notices:
            self._receive_notice(text, at)
        self._client.moment = PolicyTickInputs(at, self._executor.state, senses, self._waiting)
        outcome = self._run_tree()
        if outcome.message is not None:
            self._waiting = self._waiting[1:]
        if outcome.chosen is not None:
            self._executor.start_activity(outcome.chosen, at)
        if outcome.message is not None and outcome.chosen is not None:
            self._queue_speech(outcome.message)
        if messages and self._waiting:
            self._effects.append(f'messages that wait: {len(self._waiting)}')
        return self._tick_result(at, cause, outcome, missed)

    def switch_off(self, why: str, at: float) -> PolicyTick:
        """End the ongoing and suspended activities; drop the waiting messages."""
        self._effects.clear()
        self._executor.switch_off(why, at)
        for message in self._waiting:
            self._effects.append(f'nobody answered the message: {message}')
        self._waiting = ()
        self._root.stop(Status.INVALID)
        self._record_path([])
        self._effects.append(f'off: {why}')
        return self._tick_result(at, 'off', NO_OUTCOME, 0)

    def ascii(self) -> str:
        """The tree with the outcomes of the last tick."""
        return tree_as_text(self._root, self._visited)

    def dot(self) -> str:
        """The same as a DOT graph."""
        return tree_as_dot(self._root, self._visited)

    def close(self) -> None:
        """Remove the policy from py_trees' storage. It cannot be ticked afterwards."""
        self._board.close()

    def _receive_notice(self, text: str, at: float) -> None:
        self._queue_speech(self._published_message(text, at))

    def _published_message(self, text: str, at: float) -> ExternalMessage:
        message = ExternalMessage(at, printable(text)[:MAX_MESSAGE_CHARS])
        self._publish(message)
        return message

    def _receive_message(self, text: str, at: float) -> None:
        message = self._published_message(text, at)
        if not self._world.view.emergencies:
            self._effects.append('the world view names no activity for a message')
            self._queue_speech(message)
        elif len(self._waiting) == MAX_WAITING_MESSAGES:
            self._effects.append(f'it is dropped: {MAX_WAITING_MESSAGES} messages wait already')
        else:
            self._waiting = (*self._waiting, message)

    def _queue_speech(self, message: ExternalMessage) -> None:
        self._speech.append(f'A message came: {message}')
        self._effects.append('the message is said aloud')

    def _run_tree(self) -> TickOutcome:
        """Tick the tree. When one of its nodes raises, no activity starts in this tick."""
        visited: list[Behaviour] = []
        fault = ''
        try:
            visited.extend(self._root.tick())
        except Exception as error:
            _log.exception('event=policy_node_broke')
            error_text = printable(f'{type(error).__name__}: {error}')
            fault = f'the tree broke ({error_text}), nothing begins'
        outcome: TickOutcome = self._outcome()
        if outcome is not NO_OUTCOME:
            self._client.outcome = NO_OUTCOME
        self._record_path(visited)
        if fault:
            self._effects.append(fault)
            return replace(outcome, chosen=None, message=None)
        return outcome

    def _record_path(self, visited: list[Behaviour]) -> None:
        """Store the visited nodes; format their texts only when a status or reason changed."""
        marks = [(node, node.status, node.feedback_message) for node in visited]
        if marks != self._marks:
            self._marks = marks
            self._visited = set(visited)
            self._path = [node_text(node) for node in self._order if node in self._visited]

    def _tick_result(self, at: float, cause: str, outcome: TickOutcome, missed: int) -> PolicyTick:
        self._number += 1
        state = self._executor.state
        changing: dict[str, Any] = {
            'number': self._number,
            'at': at,
            'cause': cause,
            'missed': missed,
            'energy': energy_now(state, self._world, at),
        }
        stable: dict[str, Any] = {
            'path': self._path,
            'place': state.place,
            'activity': state.activity.activity if state.activity else '',
            'holding': self._hold_reason,
        }
        if self._effects or outcome is not NO_OUTCOME:
            decision = Decision(
                answer_text=outcome.answer_text,
                rejected=list(outcome.rejected),
                done='; '.join(self._effects),
                **stable,
                **changing,
            )
        else:
            if stable != self._stable_fields:
                self._uneventful_decision = Decision(**stable, **changing)
                self._stable_fields = stable
            # A copy costs a third of a new Decision.
            decision = self._uneventful_decision.model_copy(update=changing)
        speech, self._speech = tuple(self._speech), []
        return PolicyTick(decision, self._executor.take_commands(), state, speech)

    def _publish(self, event: Event) -> None:
        self._publish_event(event)
        if not (isinstance(event, StateChanged) and event.what == 'energy'):  # in each entry
            self._effects.append(_event_text(event))


def _event_text(event: Event) -> str:
    if isinstance(event, ActionStarted):
        return f'began {event.activity}, by the {event.by.value}'
    if isinstance(event, ActionEnded):
        return f'{event.activity}: {event.how}'
    if isinstance(event, ExternalMessage):
        return f'a message came: {event.text}'
    return str(event)


def _depth_first(root: Behaviour) -> list[Behaviour]:
    return [root, *(node for child in root.children for node in _depth_first(child))]
