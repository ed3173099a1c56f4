# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The engine: one tick looks at the world, lets the tree choose, and begins what was chosen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
import logging
from typing import Any

from curiosity_rosa_demo.agent.policy.action import Command, Senses
from curiosity_rosa_demo.agent.policy.action_executor import ActionExecutor
from curiosity_rosa_demo.agent.policy.behaviour_tree import behaviour_tree
from curiosity_rosa_demo.agent.policy.blackboard import (
    Board,
    Moment,
    NOTHING,
    Outcome,
    Part,
    reader,
)
from curiosity_rosa_demo.agent.policy.decision_record import Decision
from curiosity_rosa_demo.agent.policy.events import (
    ActionEnded,
    ActionStarted,
    Event,
    EventBus,
    ExternalMessage,
    StateChanged,
)
from curiosity_rosa_demo.agent.policy.safety_filter import SafetyFilter
from curiosity_rosa_demo.agent.policy.suggestion_provider import LLMPolicyProvider
from curiosity_rosa_demo.agent.policy.tree_text import as_graph, as_text, in_words
from curiosity_rosa_demo.agent.policy.world_state import WorldState
from curiosity_rosa_demo.agent.policy.world_view import energy_now, World
from curiosity_rosa_demo.domain.text import printable
from curiosity_rosa_demo.infra.config.agent import PolicyConfig
from py_trees.behaviour import Behaviour
from py_trees.common import Status

WAITING_MAX = 20  # messages that wait; one that comes then is dropped
MESSAGE = 500  # characters of a message that are kept

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Tick:
    """What a tick came to: ``state`` and ``decision`` are to be kept before ``commands`` are
    carried out and ``said`` is said aloud.
    """

    decision: Decision
    commands: tuple[Command, ...]
    state: WorldState
    said: tuple[str, ...] = ()


class Policy:
    """Who decides when, for one world. In one thread; no call blocks. ``number``: of the last
    decision that was kept.
    """

    def __init__(
        self,
        world: World,
        settings: PolicyConfig,
        *,
        state: WorldState,
        provider: LLMPolicyProvider | None,
        bus: EventBus,
        number: int = 0,
    ) -> None:
        self._world, self._bus, self._number = world, bus, number
        self._executor = ActionExecutor(world, bus, state)
        self._board = Board()
        self._client = self._board.client(Part.ENGINE)
        self._client.outcome = NOTHING
        self._outcome = reader(self._client, 'outcome')
        safety = SafetyFilter(world, settings.retry_s)
        self._root = behaviour_tree(self._board, world, safety, provider)
        self._order = _from_the_root(self._root)
        self._visited: set[Behaviour] = set()
        self._marks: list[tuple[Behaviour, Status, str]] = []
        self._path: list[str] = []
        self._waiting: tuple[ExternalMessage, ...] = ()
        self._done: list[str] = []
        self._said: list[str] = []
        self._holding = ''
        self._quiet: Decision  # in which nothing happened; it lasts as long as ``_lasting``
        self._lasting: dict[str, Any] = {}
        bus.subscribe(self._hear)

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
    ) -> Tick:
        """``missed``: ticks that were slept through before this one."""
        self._done.clear()
        self._holding = senses.holding
        self._executor.observe(senses, at)
        for text in messages:
            self._receive(text, at)
        self._client.moment = Moment(at, self._executor.state, senses, self._waiting)
        outcome = self._choose()
        if outcome.message is not None:
            self._waiting = self._waiting[1:]
        if outcome.chosen is not None:
            self._executor.begin(outcome.chosen, at)
        if outcome.message is not None and outcome.chosen is not None:
            self._say(outcome.message)
        if messages and self._waiting:
            self._done.append(f'messages that wait: {len(self._waiting)}')
        return self._result(at, cause, outcome, missed)

    def off(self, why: str, at: float) -> Tick:
        """End everything, what was put aside and the waiting messages too."""
        self._done.clear()
        self._executor.off(why, at)
        for message in self._waiting:
            self._done.append(f'nobody answered the message: {message}')
        self._waiting = ()
        self._root.stop(Status.INVALID)
        self._mark([])
        self._done.append(f'off: {why}')
        return self._result(at, 'off', NOTHING, 0)

    def ascii(self) -> str:
        """The tree with the outcomes of the last tick."""
        return as_text(self._root, self._visited)

    def dot(self) -> str:
        """The same in graphviz's language."""
        return as_graph(self._root, self._visited)

    def close(self) -> None:
        """Take it out of py_trees' storage; it cannot be ticked after that."""
        self._board.close()

    def _receive(self, text: str, at: float) -> None:
        message = ExternalMessage(at, printable(text)[:MESSAGE])
        self._bus.publish(message)
        if not self._world.view.emergencies:
            self._done.append('the world view names no activity for a message')
            self._say(message)
        elif len(self._waiting) == WAITING_MAX:
            self._done.append(f'it is dropped: {WAITING_MAX} messages wait already')
        else:
            self._waiting = (*self._waiting, message)

    def _say(self, message: ExternalMessage) -> None:
        self._said.append(f'A message came: {message}')
        self._done.append('the message is said aloud')

    def _choose(self) -> Outcome:
        """What the tree says. When a node of it breaks, nothing begins in this tick."""
        visited: list[Behaviour] = []
        broke = ''
        try:
            visited.extend(self._root.tick())
        except Exception as error:
            _log.exception('event=policy_node_broke')
            what = printable(f'{type(error).__name__}: {error}')
            broke = f'the tree broke ({what}), nothing begins'
        outcome: Outcome = self._outcome()
        if outcome is not NOTHING:
            self._client.outcome = NOTHING
        self._mark(visited)
        if broke:
            self._done.append(broke)
            return replace(outcome, chosen=None, message=None)
        return outcome

    def _mark(self, visited: list[Behaviour]) -> None:
        """Keep the way through the tree, and write it down anew only where it differs."""
        marks = [(node, node.status, node.feedback_message) for node in visited]
        if marks != self._marks:
            self._marks = marks
            self._visited = set(visited)
            self._path = [in_words(node) for node in self._order if node in self._visited]

    def _result(self, at: float, cause: str, outcome: Outcome, missed: int) -> Tick:
        self._number += 1
        state = self._executor.state
        changing: dict[str, Any] = {
            'number': self._number,
            'at': at,
            'cause': cause,
            'missed': missed,
            'energy': energy_now(state, self._world, at),
        }
        lasting: dict[str, Any] = {
            'path': self._path,
            'place': state.place,
            'activity': state.activity.activity if state.activity else '',
            'holding': self._holding,
        }
        if self._done or outcome is not NOTHING:
            decision = Decision(
                words=outcome.words,
                rejected=list(outcome.rejected),
                done='; '.join(self._done),
                **lasting,
                **changing,
            )
        else:
            if lasting != self._lasting:
                self._quiet, self._lasting = Decision(**lasting, **changing), lasting
            decision = self._quiet.model_copy(update=changing)  # a third of what a new one costs
        said, self._said = tuple(self._said), []
        return Tick(decision, self._executor.take_commands(), state, said)

    def _hear(self, event: Event) -> None:
        if not (isinstance(event, StateChanged) and event.what == 'energy'):  # told by each entry
            self._done.append(_told(event))


def _told(event: Event) -> str:
    if isinstance(event, ActionStarted):
        return f'began {event.activity}, by the {event.by.value}'
    if isinstance(event, ActionEnded):
        return f'{event.activity}: {event.how}'
    if isinstance(event, ExternalMessage):
        return f'a message came: {event.text}'
    return str(event)


def _from_the_root(root: Behaviour) -> list[Behaviour]:
    return [root, *(node for child in root.children for node in _from_the_root(child))]
