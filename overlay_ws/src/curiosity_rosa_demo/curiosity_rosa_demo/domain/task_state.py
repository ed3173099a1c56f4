# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The states of a task and the table of allowed transitions. Pure."""

from __future__ import annotations

from enum import Enum


class LifecycleState(str, Enum):
    PENDING = 'pending'  # submitted; starts as soon as its resources are free
    WAITING = 'waiting'  # for another task, a time, a retry or an approval
    ACTIVE = 'active'  # its skill runs
    PAUSED = 'paused'  # interrupted or held; it will be resumed
    RECOVERING = 'recovering'  # active in a crash; its skill has not measured again yet
    COMPLETED = 'completed'
    FAILED = 'failed'
    CANCELLED = 'cancelled'

    @property
    def terminal(self) -> bool:
        return not TRANSITIONS[self]

    @property
    def running(self) -> bool:
        """Its skill runs, or ran when the agent crashed."""
        return self in (_S.ACTIVE, _S.RECOVERING)

    @property
    def waits_its_turn(self) -> bool:
        """The task runs as soon as the scheduler picks it, unless it is held."""
        return self in (_S.PENDING, _S.PAUSED)


_S = LifecycleState

# A task that never started can be cancelled but cannot fail; a WAITING one can do both.
TRANSITIONS: dict[LifecycleState, frozenset[LifecycleState]] = {
    _S.PENDING: frozenset({_S.ACTIVE, _S.CANCELLED, _S.WAITING}),
    _S.WAITING: frozenset({_S.PENDING, _S.CANCELLED, _S.FAILED}),
    _S.ACTIVE: frozenset(
        {_S.PAUSED, _S.COMPLETED, _S.FAILED, _S.CANCELLED, _S.WAITING, _S.RECOVERING}
    ),
    _S.PAUSED: frozenset({_S.ACTIVE, _S.CANCELLED}),
    _S.RECOVERING: frozenset({_S.ACTIVE, _S.PAUSED, _S.FAILED, _S.CANCELLED}),
    _S.COMPLETED: frozenset(),
    _S.FAILED: frozenset(),
    _S.CANCELLED: frozenset(),
}
