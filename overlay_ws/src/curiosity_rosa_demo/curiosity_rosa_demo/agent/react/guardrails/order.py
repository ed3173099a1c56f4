# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The order that the current context carries out, from its door to the rover's tool.

A context variable holds it, because a skill's call passes through ROSA, LangGraph and the skill's
own thread. SkillRun copies the context into that thread.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from curiosity_rosa_demo.domain.operation import Operation
from curiosity_rosa_demo.domain.origin import Origin
from curiosity_rosa_demo.domain.rehearsal import Rehearsal


class Approval:
    """A person's yes to one call. One dispatch uses it up. ``leaves_fence``: whether the question
    said that the call may leave the fence. ``rehearsal``: what the call was expected to do at the
    time of the yes.
    """

    def __init__(
        self, op: Operation, leaves_fence: bool, rehearsal: Rehearsal | None = None
    ) -> None:
        self.op, self.leaves_fence, self.rehearsal = op, leaves_fence, rehearsal
        self._used = False

    def covers(self, op: Operation) -> bool:
        """Whether the yes was for this call and is still unused."""
        return not self._used and is_same_call(self.op, op)

    def use_up(self) -> None:
        self._used = True


@dataclass(frozen=True)
class Order:
    """``call``: the skill's call that the order dispatches; None: the dispatched tool itself.
    Without a known origin an order counts as the model's, which is bound by every rule.
    """

    origin: Origin = Origin.MODEL
    call: Operation | None = None
    approval: Approval | None = None


def is_same_call(one: Operation, other: Operation) -> bool:
    return (one.skill, one.arguments) == (other.skill, other.arguments)


UNKNOWN_ORDER = Order()
_current_order: ContextVar[Order] = ContextVar('current_order')


@contextmanager
def under_order(order: Order) -> Iterator[None]:
    """What this context asks of the rover belongs to ``order``."""
    token = _current_order.set(order)
    try:
        yield
    finally:
        _current_order.reset(token)


def current_order() -> Order:
    return _current_order.get(UNKNOWN_ORDER)
