# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The policy's behaviour tree: emergencies first, then the filtered model, then the routine; and
the tree with the outcomes of its last tick, as text or SVG.

A node decides and never acts: the engine starts the chosen activity.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
import re

from curiosity_rosa_demo.agent.policy.safety_filter import SafetyFilter
from curiosity_rosa_demo.agent.policy.suggestion_provider import LLMPolicyProvider
from curiosity_rosa_demo.agent.policy.world import (
    Blackboard,
    PolicyAction,
    Rejection,
    situation_of,
    Source,
    WorldModel,
)
from curiosity_rosa_demo.domain.text import printable
from curiosity_rosa_demo.drawing.svg import element, label, label_width
from curiosity_rosa_demo.infra.config.behaviour import RoutineConfig
from py_trees.behaviour import Behaviour
from py_trees.common import Status
from py_trees.composites import Selector
from py_trees.decorators import Decorator
from py_trees.display import ascii_tree

Outcome = tuple[Status, str]  # of a leaf, and why
STATUSES = {  # in words, and the colour in a drawing
    Status.SUCCESS: ('yes', 'palegreen'),
    Status.FAILURE: ('no', 'mistyrose'),
    Status.RUNNING: ('goes on', 'lightblue'),
    Status.INVALID: ('not asked', 'white'),
}
ANSI_COLOUR = re.compile('\x1b\\[[0-9;]*m')
ROW, INDENT, GAP = 24.0, 24.0, 8.0  # of the drawing


class Leaf(Behaviour):
    """``feedback_message`` is the reason of its last outcome."""

    def __init__(self, name: str, decide: Callable[[], Outcome]) -> None:
        super().__init__(name)
        self._decide = decide

    def update(self) -> Status:
        status, self.feedback_message = self._decide()
        return status


class Guard(Decorator):
    """Ticks its child unless ``refuses`` gives a reason against it, its ``feedback_message``."""

    def __init__(self, name: str, refuses: Callable[[], str], child: Behaviour) -> None:
        super().__init__(name, child)
        self._refuses = refuses

    def tick(self) -> Iterator[Behaviour]:
        self.feedback_message = self._refuses()
        if not self.feedback_message:
            yield from super().tick()
            return
        self.stop(Status.FAILURE)
        yield self

    def update(self) -> Status:
        return self.decorated.status


class BehaviourTree:
    """Node names are unique. ``board`` is that of the tick."""

    def __init__(
        self, world: WorldModel, safety: SafetyFilter, provider: LLMPolicyProvider | None
    ) -> None:
        self._world, self._safety, self._provider = world, safety, provider
        self._board: Blackboard
        self._visited: list[Behaviour] = []
        self._reported: tuple[str, str] | None = None  # a message that waits, and why
        messages = [
            Guard(
                f'message {number}',
                self._no_message,
                Leaf(f'{each.activity} answers {number}', partial(self._answer, each.activity)),
            )
            for number, each in enumerate(world.view.emergencies, 1)
        ]
        routine = [
            Guard(
                f'{number} {each.activity} due',  # one activity may have several entries
                partial(self._not_due, each),
                Leaf(f'{number} {each.activity} begins', partial(self._begin, each)),
            )
            for number, each in enumerate(world.view.routine, 1)
        ]
        emergency = partial(self._continues, Source.EMERGENCY)
        self._root = _selector(
            'Root',
            _selector(
                'EmergencyBranch',
                Leaf('held', self._is_held),
                *messages,
                Leaf('emergency continues', emergency),
            ),
            Guard('LLMDrivenBranch', self._may_not_ask, Leaf('model', self._ask_model)),
            _selector(
                'RoutineFallback',
                *routine,
                Leaf('continue', self._continues),
                Leaf('rest', lambda: (Status.SUCCESS, '')),
            ),
        )

    def tick(self, board: Blackboard) -> None:
        """Write the decision on ``board``. Raises what a node raises."""
        self._board, self._visited = board, []
        self._visited.extend(self._root.tick())

    def stop(self) -> None:
        """Forget the last tick."""
        self._root.stop(Status.INVALID)
        self._visited, self._reported = [], None

    @property
    def path(self) -> list[str]:
        """Each visited node that did not fail, with its status and reason, from the root down."""
        visited = (node for _, node in _nodes(self._root) if node in self._visited)
        return [_node_text(node) for node in visited if node.status is not Status.FAILURE]

    def text(self) -> str:
        """With a mark for each visited node: o success, x failure, * running, and why."""
        drawn = ascii_tree(self._root, visited={node.id: node.status for node in self._visited})
        return ANSI_COLOUR.sub('', drawn).rstrip('\n')

    def svg(self) -> str:
        """Green success, red failure, blue running, white not visited; with the reasons."""
        parts, right = [], 0.0
        for row, (depth, node) in enumerate(_nodes(self._root)):
            visited = node in self._visited
            why = node.feedback_message if visited else ''
            x, y, width = INDENT * depth + GAP, ROW * row + GAP, label_width(node.name) + 2 * GAP
            fill = STATUSES[node.status if visited else Status.INVALID][1]
            parts += [
                element('rect', x=x, y=y, width=width, height=ROW - 4.0, fill=fill, stroke='gray'),
                label(node.name, x + GAP, y + 15.0),
                label(why, x + width + GAP, y + 15.0),
            ]
            right = max(right, x + width + label_width(why) + 2 * GAP)
        height = y + ROW + GAP
        return element(
            'svg',
            element('rect', width=right, height=height, fill='white'),
            *parts,
            xmlns='http://www.w3.org/2000/svg',
            viewBox=f'0 0 {right:g} {height:g}',
            font_size=12.0,
            font_family='sans-serif',
        )

    # --- conditions: why a branch may not be ticked now; '': it may -----------------------------

    def _no_message(self) -> str:
        return '' if self._board.waiting else 'no message waits'

    def _may_not_ask(self) -> str:
        """An interruptible activity passes only while the model may be asked afresh, because a
        cached answer interrupts nothing.
        """
        if self._provider is None:
            return 'no model is asked (policy.provider: routine)'
        ongoing, hold_reason = self._board.state.activity, self._board.senses.hold_reason
        if ongoing is None or hold_reason:
            return hold_reason
        if not self._world.view.activities[ongoing.activity].interruptible:
            return f'{ongoing.activity} may not be interrupted'
        return self._provider.resting_reason(self._board.at)

    def _not_due(self, entry: RoutineConfig) -> str:
        """An entry without a window or days has those of its activity."""
        board, activity = self._board, self._world.view.activities[entry.activity]
        window, days = entry.window or activity.window, entry.days or activity.days
        if not self._world.within(window, days, board.at):
            return f'due {window or "at any time"}' + (f' on {", ".join(days)}' if days else '')
        below = entry.energy_below
        if below <= 1.0 and self._world.energy(board.state, board.at) >= below:
            return f'due below {below:.0%} of the charge'
        return self._safety.refusal_reason(_action_of(entry), Source.ROUTINE, board)

    # --- leaves ---------------------------------------------------------------------------------

    def _is_held(self) -> Outcome:
        why = printable(self._board.senses.hold_reason)
        return (Status.RUNNING if why else Status.FAILURE), why

    def _continues(self, by: Source | None = None) -> Outcome:
        """Whether an activity continues that was chosen by ``by``; None: by any source."""
        ongoing = self._board.state.activity
        if ongoing is None or by not in (None, ongoing.by):
            return Status.FAILURE, ''
        return Status.RUNNING, ongoing.activity

    def _answer(self, activity: str) -> Outcome:
        """Start ``activity`` for the oldest message. After a refusal the message waits; the
        refusal is recorded once for each message and reason.
        """
        message = self._board.waiting[0]
        action = PolicyAction(type=activity, preemptive=True, rationale=message)
        reason = self._safety.refusal_reason(action, Source.EMERGENCY, self._board)
        if not reason:
            self._reported = None
            return self._choose(action, Source.EMERGENCY)
        if self._reported != (message, reason):
            self._reported = message, reason
            self._reject(action, Source.EMERGENCY, f'{reason}; the message waits: {message}')
        return Status.FAILURE, reason

    def _ask_model(self) -> Outcome:
        """Choose the model's answer when it passes the safety filter; RUNNING while it is asked. A
        cached answer interrupts nothing: the resumed activity would make the same situation again,
        and be interrupted again and again.
        """
        board, provider = self._board, self._provider
        assert provider is not None  # _may_not_ask guards
        situation = situation_of(self._world, board, self._safety.options(board))
        answer = provider.poll(situation, board.at)
        if answer is None:
            return Status.RUNNING, 'it is asked'
        if answer.cached and situation.activity:
            return Status.FAILURE, 'an interruption needs a fresh answer'
        board.answer_text = answer.answer_text
        if answer.action is None:
            return Status.FAILURE, answer.reason
        reason = self._safety.refusal_reason(answer.action, Source.MODEL, board)
        if not reason:
            return self._choose(answer.action, Source.MODEL)
        provider.record_refusal(situation, answer.action, reason, board.at)
        self._reject(answer.action, Source.MODEL, reason)
        return Status.FAILURE, reason

    def _begin(self, entry: RoutineConfig) -> Outcome:
        return self._choose(_action_of(entry), Source.ROUTINE)

    def _choose(self, action: PolicyAction, by: Source) -> Outcome:
        self._board.chosen = action, by
        return Status.SUCCESS, action.rationale

    def _reject(self, action: PolicyAction, by: Source, reason: str) -> None:
        self._board.rejected.append(Rejection(type=action.type, by=by, reason=reason))


def _node_text(node: Behaviour) -> str:
    """The node's name, status and reason; the name alone of a success without a reason."""
    why = f' ({node.feedback_message})' if node.feedback_message else ''
    if node.status is Status.SUCCESS and not why:
        return node.name
    return f'{node.name}: {STATUSES[node.status][0]}{why}'


def _selector(name: str, *children: Behaviour) -> Selector:
    return Selector(name, memory=False, children=list(children))


def _nodes(root: Behaviour, depth: int = 0) -> Iterator[tuple[int, Behaviour]]:
    """``root`` and the nodes below it, from top to bottom, with their depths."""
    yield depth, root
    for child in root.children:
        yield from _nodes(child, depth + 1)


def _action_of(entry: RoutineConfig) -> PolicyAction:
    return PolicyAction(type=entry.activity, preemptive=entry.preemptive)
