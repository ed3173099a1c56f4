# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Recorded decisions beside those of the rules, counted for each rule."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum


class Verdict(str, Enum):
    SAME = 'same'
    DIFFERENT = 'different'
    UNDECIDABLE = 'not decidable'  # an input that decides is not in the recording


@dataclass(frozen=True)
class Comparison:
    """One decision. ``at_s``: seconds since the first message of the recording. ``inputs``: what
    the rules decided on, or why they could not.
    """

    at_s: float
    rule: str
    verdict: Verdict
    recorded: str
    replayed: str
    inputs: str = ''

    def text(self) -> str:
        return (
            f'{self.at_s:10.3f} s  {self.rule}: recorded {self.recorded or "nothing"!s}; '
            f'the rules decide {self.replayed or "nothing"!s}; inputs: {self.inputs or "-"}'
        )


def compared(at_s: float, rule: str, recorded: str, replayed: str, inputs: str = '') -> Comparison:
    verdict = Verdict.SAME if recorded == replayed else Verdict.DIFFERENT
    return Comparison(at_s, rule, verdict, recorded, replayed, inputs)


def undecidable(at_s: float, rule: str, recorded: str, why: str) -> Comparison:
    return Comparison(at_s, rule, Verdict.UNDECIDABLE, recorded, '', why)


@dataclass
class Report:
    """``notes``: sentences about the recording, such as which inputs it lacks."""

    comparisons: list[Comparison] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, comparisons: Iterable[Comparison]) -> None:
        self.comparisons.extend(comparisons)

    def count(self, verdict: Verdict, rule: str = '') -> int:
        return sum(
            each.verdict is verdict and (not rule or each.rule == rule)
            for each in self.comparisons
        )

    @property
    def decided(self) -> int:
        """The decisions that were compared."""
        return len(self.comparisons) - self.count(Verdict.UNDECIDABLE)

    @property
    def differences(self) -> list[Comparison]:
        return [each for each in self.comparisons if each.verdict is Verdict.DIFFERENT]

    def table(self) -> list[str]:
        """Lines of text: a head, a line for each rule, and the sums."""
        width = max([len('rule'), *(len(each.rule) for each in self.comparisons)])
        lines = [f'{"rule":{width}}  compared  same  different  not decidable']
        for rule in [*sorted({each.rule for each in self.comparisons}), '']:
            same, different, unknown = (self.count(verdict, rule) for verdict in Verdict)
            lines.append(
                f'{rule or "all":{width}}  {same + different:8}  {same:4}  {different:9}  '
                f'{unknown:13}'
            )
        return lines
