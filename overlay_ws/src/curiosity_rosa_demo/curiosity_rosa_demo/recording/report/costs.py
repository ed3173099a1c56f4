# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What the calls of language models used. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from curiosity_rosa_demo.domain.text import count_text
from curiosity_rosa_demo.trace.events import ModelCalled


@dataclass(frozen=True)
class Costs:
    """Tokens and money of some calls. ``cached`` is a part of ``input``. ``money``: amounts by
    currency. ``unpriced``: calls whose price is unknown. ``estimated``: some tokens are.
    """

    calls: int
    input: int
    cached: int
    output: int
    money: tuple[tuple[str, float], ...]
    unpriced: int
    estimated: bool

    @property
    def tokens(self) -> int:
        return self.input + self.output

    @property
    def money_text(self) -> str:
        parts = [f'{amount:.6g} {currency}' for currency, amount in self.money]
        parts += [f'{count_text(self.unpriced, "call")} unknown'] if self.unpriced else []
        return ', '.join(parts)


def costs_of(calls: Sequence[ModelCalled]) -> Costs:
    money: dict[str, float] = {}
    for call in calls:
        if call.cost is not None:
            money[call.currency] = money.get(call.currency, 0.0) + call.cost
    return Costs(
        calls=len(calls),
        input=sum(call.input for call in calls),
        cached=sum(call.cached for call in calls),
        output=sum(call.output for call in calls),
        money=tuple(money.items()),
        unpriced=sum(call.cost is None for call in calls),
        estimated=any(call.estimated for call in calls),
    )


def costs_by_model(calls: Iterable[ModelCalled]) -> list[tuple[str, Costs]]:
    """By the name of the model, in the order of its first call."""
    found: dict[str, list[ModelCalled]] = {}
    for call in calls:
        found.setdefault(call.model or call.provider, []).append(call)
    return [(model, costs_of(each)) for model, each in found.items()]
