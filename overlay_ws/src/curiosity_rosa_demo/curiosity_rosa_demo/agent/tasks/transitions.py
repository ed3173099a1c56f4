# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Check changes of a task's state against the table of transitions. Pure."""

from __future__ import annotations

from curiosity_rosa_demo.domain.task_state import LifecycleState, TRANSITIONS


class IllegalTransition(ValueError):
    """The table has no such transition. The message names both states."""

    def __init__(self, before: LifecycleState, after: LifecycleState) -> None:
        targets = ', '.join(sorted(state.name for state in TRANSITIONS[before])) or 'nowhere'
        super().__init__(
            f'A task cannot go from {before.name} to {after.name}; '
            f'{before.name} leads to {targets}'
        )
        self.before, self.after = before, after


def check_transition(before: LifecycleState, after: LifecycleState) -> None:
    """Raises IllegalTransition unless TRANSITIONS lists the change."""
    if after not in TRANSITIONS[before]:
        raise IllegalTransition(before, after)
