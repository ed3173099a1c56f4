# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What refuses a move that the table of a task's states does not have. Pure."""

from __future__ import annotations

from curiosity_rosa_demo.domain.task_state import LifecycleState, TRANSITIONS


class IllegalTransition(ValueError):
    """A task was asked to go where its state does not lead; the message names both."""

    def __init__(self, before: LifecycleState, after: LifecycleState) -> None:
        ways = ', '.join(sorted(state.name for state in TRANSITIONS[before])) or 'nowhere'
        super().__init__(
            f'A task cannot go from {before.name} to {after.name}; {before.name} leads to {ways}'
        )
        self.before, self.after = before, after


def check_transition(before: LifecycleState, after: LifecycleState) -> None:
    """Raises IllegalTransition."""
    if after not in TRANSITIONS[before]:
        raise IllegalTransition(before, after)
