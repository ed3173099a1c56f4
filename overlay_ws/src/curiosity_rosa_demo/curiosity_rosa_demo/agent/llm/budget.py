# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Tokens, their price and the limits of llm.budget: whether a call may be made, and the refusal of
one that may not. Pure.

A call is refused when the spending so far and its estimated input exceed a limit. What is not
known before a call is its output, so a limit is exceeded by one call at most.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from curiosity_rosa_demo.agent.language.tables import DEFAULT, say
from curiosity_rosa_demo.infra.config.agent import LlmConfig, LOCAL

SCOPES = ('turn', 'task', 'day')
FREE_PROVIDERS = ('routine', LOCAL)
DIGITS = 9  # of money, after the point: the rest is rounding
# LangChain's names of providers that genai-prices calls otherwise.
_PROVIDER_IDS = {
    'azure_openai': 'azure',
    'bedrock': 'aws',
    'bedrock_converse': 'aws',
    'google_genai': 'google',
    'google_vertexai': 'google',
    'mistralai': 'mistral',
    'xai': 'x-ai',
}


class Tokens(NamedTuple):
    """Of one call. ``cached`` is a part of ``input``, ``reasoning`` one of ``output``.
    ``estimated``: the provider reported none.
    """

    input: int = 0
    output: int = 0
    cached: int = 0
    reasoning: int = 0
    estimated: bool = False


class Spending(NamedTuple):
    """The sum of some calls. ``cost``: of those with a known price; ``unpriced``: the number of
    the others.
    """

    calls: int = 0
    input: int = 0
    output: int = 0
    cached: int = 0
    reasoning: int = 0
    estimated: int = 0  # calls with estimated tokens
    cost: float = 0.0
    unpriced: int = 0

    @property
    def tokens(self) -> int:
        return self.input + self.output

    def to_json(self, currency: str) -> dict[str, Any]:
        """``cost`` is None while no price is known."""
        is_known = self.unpriced < self.calls or not self.calls
        return {**self._asdict(), 'cost': self.cost if is_known else None, 'currency': currency}


def call_cost(llm: LlmConfig, tokens: Tokens) -> float | None:
    """The cost of a call in ``llm.prices.currency``, by ``llm.prices`` or else by the offline data
    of genai-prices; None: the price of the model is unknown.
    """
    if llm.provider in FREE_PROVIDERS:
        return 0.0
    prices = llm.prices
    if prices.input is None or prices.output is None:
        return _published_cost(llm, tokens)
    cached = prices.input if prices.cached is None else prices.cached
    fresh = tokens.input - tokens.cached
    millionths = fresh * prices.input + tokens.cached * cached + tokens.output * prices.output
    return round(millionths / 1e6, DIGITS)


def _published_cost(llm: LlmConfig, tokens: Tokens) -> float | None:
    """At a server of its own a model has no published price, whatever its name. The data comes
    with the package: nothing is fetched.
    """
    try:
        from genai_prices import calc_price, Usage

        usage = Usage(
            input_tokens=tokens.input,
            output_tokens=tokens.output,
            cache_read_tokens=tokens.cached or None,
        )
        provider = _PROVIDER_IDS.get(llm.provider, llm.provider)
        if llm.base_url:
            price = calc_price(usage, llm.model, provider_api_url=llm.base_url)
        else:
            price = calc_price(usage, llm.model, provider_id=provider)
        return round(float(price.total_price), DIGITS)
    except (ImportError, LookupError, ValueError):
        return None


@dataclass(frozen=True)
class BudgetRefusal:
    """Why a call is not made. ``unit``: ``tokens`` or a currency. ``needed``: by the estimated
    input; None: the price of the model is unknown.
    """

    scope: str
    unit: str
    used: float
    needed: float | None
    limit: float
    model: str

    def text(self, language: str = DEFAULT) -> str:
        key = f'llm.budget.{self.scope}_{"tokens" if self.unit == "tokens" else "money"}'
        if self.needed is None:
            return say('budget.price', language, model=self.model, key=key)
        amounts = {
            name: amount_text(getattr(self, name), self.unit)
            for name in ('used', 'needed', 'limit')
        }
        scope = say(f'budget.{self.scope}', language)
        return say('budget.limit', language, scope=scope, key=key, **amounts)

    def to_json(self) -> dict[str, Any]:
        return {name: each for name, each in asdict(self).items() if name != 'model'}


def limits_of(llm: LlmConfig, scope: str) -> tuple[int, float]:
    """The limits of tokens and of money of a scope; 0: none."""
    return getattr(llm.budget, f'{scope}_tokens'), getattr(llm.budget, f'{scope}_money')


def budget_refusal(
    llm: LlmConfig, spent: Mapping[str, Spending], tokens: int, cost: float | None
) -> BudgetRefusal | None:
    """Why a call that needs this much is not made; None: it may be. ``spent``: by scope. ``cost``
    None: its price is unknown.
    """
    for scope, used in spent.items():
        most_tokens, most_money = limits_of(llm, scope)
        if most_tokens and used.tokens + tokens > most_tokens:
            return BudgetRefusal(scope, 'tokens', used.tokens, tokens, most_tokens, llm.model)
        if most_money and (cost is None or round(used.cost + cost, DIGITS) > most_money):
            unit = llm.prices.currency
            return BudgetRefusal(scope, unit, used.cost, cost, most_money, llm.model)
    return None


# --- The spending by scope, as it is shown -----------------------------------------------------


def usage_table(llm: LlmConfig, spent: Mapping[str, Spending]) -> list[tuple[str, str, str]]:
    """Rows of scope, tokens and cost, each with its limit, for people."""
    rows = []
    for scope, used in spent.items():
        tokens, cost = _shown(llm, scope, used)
        mark = ', partly estimated' if used.estimated else ''
        parts = f'({used.input:,} in, {used.output:,} out{mark})'
        rows.append((f'tokens, {scope}', f'{tokens} {parts}', cost))
    return rows


def usage_line(llm: LlmConfig, spent: Mapping[str, Spending]) -> str:
    """The turn and the day in one line; '' for the routine, which calls no model."""
    if llm.provider == 'routine':
        return ''
    shown = {scope: _shown(llm, scope, spent[scope]) for scope in ('turn', 'day')}
    return '; '.join(f'{scope} {tokens} tokens, {cost}' for scope, (tokens, cost) in shown.items())


def usage_json(llm: LlmConfig, spent: Mapping[str, Spending]) -> dict[str, Any]:
    """Each scope with its sums and limits; a limit of 0 is none."""
    return {
        scope: {
            **used.to_json(llm.prices.currency),
            **dict(zip(('max_tokens', 'max_cost'), limits_of(llm, scope), strict=True)),
        }
        for scope, used in spent.items()
    }


def _shown(llm: LlmConfig, scope: str, used: Spending) -> tuple[str, str]:
    """Tokens and cost, each with its limit. An unknown price is never shown as 0."""
    (most_tokens, most_money), currency = limits_of(llm, scope), llm.prices.currency
    tokens = f'{used.tokens:,} of {most_tokens:,}' if most_tokens else f'{used.tokens:,}'
    of_limit = f' of {amount_text(most_money, currency)}' if most_money else ''
    if used.calls and used.unpriced == used.calls:
        return tokens, f'cost unknown{of_limit}'
    more = ' and an unknown part' if used.unpriced else ''
    return tokens, f'{amount_text(used.cost, currency)}{of_limit}{more}'


def amount_text(amount: float, unit: str) -> str:
    if unit == 'tokens':
        return f'{amount:,.0f} tokens'
    return f'{amount:.6f}'.rstrip('0').rstrip('.') + f' {unit}'
