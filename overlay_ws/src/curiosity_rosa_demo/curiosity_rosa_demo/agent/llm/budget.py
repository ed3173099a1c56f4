# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.
"""The limits of llm.budget: whether a call may be made, and the refusal of one that may not. Pure.

A call is refused when the spending so far and its estimated input exceed a limit. What is not
known before a call is its output, so a limit is exceeded by one call at most.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from curiosity_rosa_demo.agent.language.tables import DEFAULT, say
from curiosity_rosa_demo.agent.llm.usage import Spending
from curiosity_rosa_demo.infra.config.agent import LlmConfig

SCOPES = ('turn', 'task', 'day')


@dataclass(frozen=True)
class BudgetRefusal:
    """Why a call is not made. ``unit``: ``tokens`` or a currency. ``needed``: by the estimated
    input; None: the price of the model is unknown.
    """

    scope: str
    unit: str
    used: Decimal
    needed: Decimal | None
    limit: Decimal
    model: str

    @property
    def key(self) -> str:
        return f'llm.budget.{self.scope}_{"tokens" if self.unit == "tokens" else "money"}'

    def text(self, language: str = DEFAULT) -> str:
        if self.needed is None:
            return say('budget.price', language, model=self.model, key=self.key)
        used, needed, limit = (
            amount_text(each, self.unit) for each in (self.used, self.needed, self.limit)
        )
        scope = say(f'budget.{self.scope}', language)
        return say(
            'budget.limit',
            language,
            scope=scope,
            used=used,
            needed=needed,
            limit=limit,
            key=self.key,
        )

    def to_json(self) -> dict[str, Any]:
        return {
            'scope': self.scope,
            'unit': self.unit,
            'used': float(self.used),
            'needed': None if self.needed is None else float(self.needed),
            'limit': float(self.limit),
        }


def limits_of(llm: LlmConfig, scope: str) -> tuple[int, Decimal]:
    """The limits of tokens and of money of a scope; 0: none."""
    tokens = getattr(llm.budget, f'{scope}_tokens')
    return tokens, Decimal(str(getattr(llm.budget, f'{scope}_money')))


def budget_refusal(
    llm: LlmConfig, spent: Mapping[str, Spending], needed: Spending
) -> BudgetRefusal | None:
    """Why a call that needs this much is not made; None: it may be. ``spent``: by scope."""
    for scope, used in spent.items():
        most_tokens, most_money = limits_of(llm, scope)
        if most_tokens and used.tokens + needed.tokens > most_tokens:
            return BudgetRefusal(
                scope,
                'tokens',
                Decimal(used.tokens),
                Decimal(needed.tokens),
                Decimal(most_tokens),
                llm.model,
            )
        if most_money and (needed.unpriced or used.cost + needed.cost > most_money):
            cost = None if needed.unpriced else needed.cost
            unit = llm.prices.currency
            return BudgetRefusal(scope, unit, used.cost, cost, most_money, llm.model)
    return None


def usage_table(llm: LlmConfig, spent: Mapping[str, Spending]) -> list[tuple[str, str, str]]:
    """Rows of scope, tokens and cost, each with its limit, for people."""
    rows = []
    for scope, used in spent.items():
        most_tokens, most_money = limits_of(llm, scope)
        of_tokens = f' of {most_tokens:,}' if most_tokens else ''
        mark = ', partly estimated' if used.estimated else ''
        tokens = f'{used.tokens:,}{of_tokens} ({used.input:,} in, {used.output:,} out{mark})'
        rows.append((f'tokens, {scope}', tokens, cost_text(used, llm.prices.currency, most_money)))
    return rows


def cost_text(used: Spending, currency: str, limit: Decimal = Decimal(0)) -> str:
    """Never 0 for an unknown price."""
    of_limit = f' of {amount_text(limit, currency)}' if limit else ''
    if used.calls and used.unpriced == used.calls:
        return f'cost unknown{of_limit}'
    more = ' and an unknown part' if used.unpriced else ''
    return f'{amount_text(used.cost, currency)}{of_limit}{more}'


def amount_text(amount: Decimal, unit: str) -> str:
    if unit == 'tokens':
        return f'{amount:,.0f} tokens'
    return f'{amount:.6f}'.rstrip('0').rstrip('.') + f' {unit}'


def usage_line(llm: LlmConfig, spent: Mapping[str, Spending]) -> str:
    """The turn and the day in one line; '' for the routine, which calls no model."""
    if llm.provider == 'routine':
        return ''
    parts = []
    for scope in ('turn', 'day'):
        used, (most_tokens, most_money) = spent[scope], limits_of(llm, scope)
        of_tokens = f' of {most_tokens:,}' if most_tokens else ''
        cost = cost_text(used, llm.prices.currency, most_money)
        parts.append(f'{scope} {used.tokens:,}{of_tokens} tokens, {cost}')
    return '; '.join(parts)


def usage_json(llm: LlmConfig, spent: Mapping[str, Spending]) -> dict[str, Any]:
    """Each scope with its sums and limits; a limit of 0 is none."""
    found: dict[str, Any] = {}
    for scope, used in spent.items():
        most_tokens, most_money = limits_of(llm, scope)
        limits = {'max_tokens': most_tokens, 'max_cost': float(most_money)}
        found[scope] = {**used.to_json(llm.prices.currency), **limits}
    return found
