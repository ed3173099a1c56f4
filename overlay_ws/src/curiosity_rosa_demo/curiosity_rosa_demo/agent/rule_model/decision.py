# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What a decision of the rules is, and what each rule decides from. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from curiosity_rosa_demo.agent.language.sentence import Intent
from curiosity_rosa_demo.agent.language.tables import say
from curiosity_rosa_demo.agent.rule_model.beliefs import Beliefs, Mast, TurnView

MAX_ATTEMPTS = 3  # calls of a failing tool
_GOOD_ENDS = ('greeting', 'help')  # every other answer without a result is a failure


@dataclass(frozen=True)
class ToolCall:
    """Call this tool next. ``thought`` is the reason, in the language of the user."""

    tool: str
    thought: str
    args: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class FinalAnswer:
    """End the turn. ``text`` is the answer, in the language of the user. ``ok``: the user has got
    what was asked for.
    """

    text: str
    ok: bool = True


Decision = ToolCall | FinalAnswer
Rule = Callable[['RuleContext'], Decision | None]


@dataclass(frozen=True)
class RuleContext:
    """The view of a turn, with the beliefs, the intent and the language derived from it."""

    view: TurnView
    beliefs: Beliefs
    intent: Intent
    language: str
    explore_rules: tuple[Rule, ...] = ()  # for a drive to the light within an order

    def say(self, key: str, **values: Any) -> str:
        return say(f'answer.{key}', self.language, **values)

    def why(self, key: str, **values: Any) -> str:
        """The reason ``key`` of a call. A value may be a reason itself."""
        return say(f'reason.{key}', self.language, **values)

    def answer(self, key: str, **values: Any) -> FinalAnswer:
        return FinalAnswer(self.say(key, **values), ok=key in _GOOD_ENDS)

    def call(
        self, tool: str, key: str, arguments: Mapping[str, Any] | None = None, /, **values: Any
    ) -> ToolCall:
        """The call of ``tool`` for the reason ``key``."""
        return ToolCall(tool, self.why(key, **values), arguments or {})

    def capture(self, key: str, **values: Any) -> ToolCall:
        """The next call towards a capture: open a closed or unknown mast first, then capture."""
        if self.beliefs.mast in (Mast.UNKNOWN, Mast.CLOSED):
            return self.call('mast_open', 'open_to_capture', why=self.why(key, **values))
        return self.call('capture_and_score', key, **values)

    def figures(self) -> dict[str, Any]:
        """The counts and values of the turn so far, for the texts of answers, and their
        ``summary``.
        """
        captures = self.beliefs.captures
        figures = {
            'score': f'{captures[-1].score:.2f}' if captures else '-',
            'captures': len(captures),
            'moves': len(self.beliefs.moves),
            'metres': f'{self.beliefs.driven_m():.1f}',
        }
        return {**figures, 'summary': self.say('summary', **figures)}
