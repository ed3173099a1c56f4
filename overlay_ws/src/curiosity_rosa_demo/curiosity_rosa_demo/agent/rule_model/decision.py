# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What a decision of the rules is, and the view of a turn that each rule decides from. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import takewhile
from typing import Any

from curiosity_rosa_demo.agent.language.sentence import Intent
from curiosity_rosa_demo.agent.language.tables import say
from curiosity_rosa_demo.agent.language.understand import Utterance
from curiosity_rosa_demo.agent.rule_model.beliefs import Beliefs, Mast, RoverFigures
from curiosity_rosa_demo.domain.models import Json
from curiosity_rosa_demo.domain.operation import Exchange
from curiosity_rosa_demo.domain.plan import Plan
from curiosity_rosa_demo.domain.refusal import RefusalCode
from curiosity_rosa_demo.domain.skills import MAST_SKILLS

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


Decision = ToolCall | FinalAnswer | Plan
Rule = Callable[['TurnView'], Decision | None]


@dataclass(frozen=True)
class TurnView:
    """The whole input of a decision. ``bright_x`` is the hint: the x in metres at which the light
    begins. ``stows`` are the tools that stow an appendage, which every drive needs. ``facts``: as
    last observed. ``plan``: of the order, once it is over. ``wanted``: by default, what was said.
    ``by`` marks the calls of the rules beside those of a language model.
    """

    rover: RoverFigures
    said: Utterance
    steps: tuple[Exchange, ...] = ()
    tools: frozenset[str] = frozenset()
    costs: Mapping[str, float] = field(default_factory=dict)
    bright_x: float | None = None
    longest_s: float = 10.0
    stows: tuple[str, ...] = ()
    facts: Json = field(default_factory=dict)
    plan: Plan | None = None
    wanted: Intent | None = None
    by: str = ''

    @cached_property
    def intent(self) -> Intent:
        """A motion that is shorter or longer than one call drives is carried out as a plan."""
        intent = self.wanted or self.said.intent
        one_call = intent.duration_s is None or 1.0 <= intent.duration_s <= self.longest_s
        return intent if one_call else replace(intent, kind='orders')

    @cached_property
    def beliefs(self) -> Beliefs:
        """After the steps of this turn."""
        beliefs = Beliefs(self.rover, mast=Mast.UNASKED if self.has_mast else Mast.NONE)
        for step in self.steps:
            beliefs.add_step(step)
        return beliefs

    @property
    def language(self) -> str:
        return self.said.language

    @property
    def has_mast(self) -> bool:
        """Whether the robot has a mast: skills of another one do without."""
        return not self.tools or bool(self.tools & MAST_SKILLS)

    def cost(self, *tools: str) -> float:
        """The total cost of these calls; a tool without a stated cost counts as 1."""
        return sum(self.costs.get(tool, 1.0) for tool in tools)

    def seconds(self, wanted: float) -> float:
        """``wanted`` limited to a duration that the motion tools accept."""
        return min(self.longest_s, max(1.0, round(wanted, 1)))

    def failures(self, *tools: str, refused: bool = False) -> int:
        """The number of faults (or refusals) of these tools since their last success. A refusal of
        the language model's call is none: it has asked for what could not be done then.
        """
        calls = self._since_success(tools)
        own = (step for step in calls if not step.refused or step.by == self.by)
        return sum(step.refused == refused for step in own)

    def interruptions(self, *tools: str) -> int:
        """The number of calls of these tools since their last success during which the agent
        ended.
        """
        stopped = RefusalCode.INTERRUPTED
        return sum(step.code == stopped for step in self._since_success(tools))

    def _since_success(self, tools: tuple[str, ...]) -> Iterator[Exchange]:
        calls = (step for step in reversed(self.steps) if step.tool in tools)
        return takewhile(lambda step: not step.ok, calls)

    def last(self, *tools: str) -> Exchange | None:
        """The newest step of one of these tools."""
        return next((step for step in reversed(self.steps) if step.tool in tools), None)

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
            'moves': len(self.beliefs.moves) + self.beliefs.legs,
            'metres': f'{self.beliefs.driven_m():.1f}',
        }
        return {**figures, 'summary': self.say('summary', **figures)}
