# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The span of each step of a turn: from one ``think`` to the next, with the saves in between."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

from curiosity_rosa_demo.infra.tracing.span import activated, current_span, NO_SPAN, Span

FIRST_STAGE = 'think'
_OFF: AbstractContextManager[object] = nullcontext()


class StepSpans:
    """Of one turn, in its thread. A question, LangGraph's interrupt, does not end the step."""

    def __init__(self) -> None:
        self._step: Span | None = None

    def stage(self, name: str, number: int) -> AbstractContextManager[object]:
        """For the stage ``name`` of the loop. ``number``: of the step, from 1."""
        turn = current_span()
        if turn is NO_SPAN:
            return _OFF
        if name == FIRST_STAGE or self._step is None:
            self.end()
            self._step = turn.child(f'step {number}', {'curiosity.step': number})
        return activated(self._step)

    def waiting(self) -> AbstractContextManager[object]:
        """For a wait between two stages of the same step."""
        return _OFF if self._step is None else activated(self._step)

    def end(self) -> None:
        if self._step is not None:
            self._step.end()
            self._step = None
