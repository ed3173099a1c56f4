# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The order that a context carries out, from its door to the rover's tool, and what the metadata
of a task say of it: who ordered it, and what its text means.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from curiosity_rosa_demo.agent.language.understand import understand, Utterance
from curiosity_rosa_demo.agent.tasks.task import Task
from curiosity_rosa_demo.domain.operation import Operation
from curiosity_rosa_demo.domain.origin import Origin
from curiosity_rosa_demo.domain.rehearsal import Rehearsal
from curiosity_rosa_demo.domain.task_state import LifecycleState
from curiosity_rosa_demo.domain.text import printable, valid_unicode
from curiosity_rosa_demo.infra.spans import is_traceparent, TRACEPARENT

ORIGIN_KEY, ASKED_BY_KEY, SAID_KEY = 'origin', 'asked_by', 'said'  # in a task's metadata
ORIGIN_KEYS = (ORIGIN_KEY, ASKED_BY_KEY)  # who ordered it
MAX_ASKED_BY_CHARS = 80
TURN_SKILL, CHARGE_SKILL = 'react', 'charge'
UNASKED = (Origin.AUTONOMY, Origin.TRIGGER)
_KNOWN = {origin.value: origin for origin in Origin}


def with_origin(task: Task, origin: Origin, asked_by: str = '') -> Task:
    """The task, with the door that made it. ``asked_by``: the person, for others to see."""
    task.metadata[ORIGIN_KEY] = origin.value
    if asked_by:
        task.metadata[ASKED_BY_KEY] = asked_by
    return task


def with_traceparent(task: Task, traceparent: object) -> Task:
    """The task, as part of its caller's trace. An invalid ``traceparent`` counts as none."""
    if is_traceparent(traceparent):
        task.metadata[TRACEPARENT] = traceparent
    return task


def door_of(task: Task) -> str:
    """The door that made the task, such as 'action'; '' if the task does not say so."""
    value = str(task.metadata.get(ORIGIN_KEY, ''))
    return value if value in _KNOWN else ''


def asked_by(task: Task) -> str:
    """Who asked for the task, for people: a person's name if it is known, else the door."""
    name = task.metadata.get(ASKED_BY_KEY)
    shown = printable(name[:MAX_ASKED_BY_CHARS]) if isinstance(name, str) else ''
    return shown or door_of(task)


def task_origin(task: Task) -> Origin:
    """Who gives the orders of this task: in a turn, the model or its plan. A stored task that does
    not say so counts as recovered, and so does a skill that runs again after a crash. A turn that
    nobody asked for counts as its door: that of an activity or of a trigger.
    """
    known = _KNOWN.get(str(task.metadata.get(ORIGIN_KEY)), Origin.RECOVERY)
    if task.name == CHARGE_SKILL:
        return Origin.CHARGE
    if task.name == TURN_SKILL and known not in UNASKED:
        return Origin.PLAN if task.metadata.get('plan') else Origin.MODEL
    return Origin.RECOVERY if task.state is LifecycleState.RECOVERING else known


def said_of(task: Task) -> Utterance:
    """What its text means, as its door has understood it. A task whose door has not keeps from now
    on what it means.
    """
    text, known = valid_unicode(task.metadata['text']), task.metadata.get(SAID_KEY)
    said = understand(text) if known is None else Utterance.of(text, known)
    task.metadata[SAID_KEY] = said.to_json()
    return said


# --- The order of this context -----------------------------------------------------------------
# A context variable holds it, because a skill's call passes through ROSA, LangGraph and the
# skill's own thread. SkillRun copies the context into that thread.


@dataclass
class Approval:
    """A person's yes to one call. One dispatch uses it up. ``leaves_fence``: whether the question
    said that the call may leave the fence. ``rehearsal``: what the call was expected to do at the
    time of the yes.
    """

    op: Operation
    leaves_fence: bool
    rehearsal: Rehearsal | None = None
    used: bool = False

    def covers(self, op: Operation) -> bool:
        """Whether the yes was for this call and is still unused."""
        return not self.used and is_same_call(self.op, op)


@dataclass(frozen=True)
class Order:
    """``call``: the skill's call that the order dispatches; None: the dispatched tool itself.
    Without a known origin an order counts as the model's, which is bound by every rule.
    ``task_id``: of the task to which it belongs, ``turn`` names its turn; '' for none.
    """

    origin: Origin = Origin.MODEL
    call: Operation | None = None
    approval: Approval | None = None
    task_id: str = ''
    turn: str = ''

    @classmethod
    def of(cls, task: Task) -> Order:
        """What the task orders, before its call is known."""
        return cls(task_origin(task), task_id=task.id)

    def is_within(self, op: Operation) -> bool:
        """Whether ``op`` is a call within the ordered skill, not the skill itself."""
        return self.call is not None and not is_same_call(self.call, op)


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
