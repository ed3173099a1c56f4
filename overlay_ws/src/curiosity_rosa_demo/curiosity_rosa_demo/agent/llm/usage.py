# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What the model's calls have used, by turn, task and day, kept in a SQLite file and summed there;
their price, and whether one more may be made.

A call is entered with its estimated input before it is made, and corrected once it has ended: a
crash in between loses no call, and calls at the same time see each other. It is refused when the
spending so far and its estimated input exceed a limit of llm.budget. What is not known before a
call is its output, so a limit is exceeded by one call at most.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta, timezone, tzinfo
import logging
from pathlib import Path
import sqlite3
import threading
from typing import Any, NamedTuple

from curiosity_rosa_demo.agent.language.tables import DEFAULT, say
from curiosity_rosa_demo.agent.tasks.origin import current_order
from curiosity_rosa_demo.infra.config.agent import LlmConfig, LOCAL
from curiosity_rosa_demo.infra.files import (
    check_integrity,
    connect,
    FileDamaged,
    make_durable,
    open_or_set_aside,
)
from curiosity_rosa_demo.trace.events import ModelCalled

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


# --- The ledger --------------------------------------------------------------------------------

IN_MEMORY = ':memory:'
PATIENCE_S = 2.0
_SCHEMA = """
CREATE TABLE IF NOT EXISTS calls (
    id INTEGER PRIMARY KEY, at REAL NOT NULL, day TEXT NOT NULL, turn TEXT NOT NULL,
    task TEXT NOT NULL, provider TEXT NOT NULL, model TEXT NOT NULL,
    input INTEGER NOT NULL, output INTEGER NOT NULL, cached INTEGER NOT NULL,
    reasoning INTEGER NOT NULL, estimated INTEGER NOT NULL, cost TEXT, currency TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS calls_by_day ON calls (day);
CREATE INDEX IF NOT EXISTS calls_by_task ON calls (task);
CREATE INDEX IF NOT EXISTS calls_by_turn ON calls (turn);
"""
_ENTER = f'INSERT OR REPLACE INTO calls VALUES ({", ".join(14 * "?")})'
# A row of Spending. Money of another currency counts as unknown.
_SUM = (
    'SELECT count(*), ifnull(sum(input), 0), ifnull(sum(output), 0), ifnull(sum(cached), 0),'
    ' ifnull(sum(reasoning), 0), ifnull(sum(estimated), 0),'
    ' round(total(cost) FILTER (WHERE currency = ?1), 9),'
    ' count(*) - count(cost) FILTER (WHERE currency = ?1) FROM calls WHERE '
)
_log = logging.getLogger('curiosity_rosa.usage')


class Entry(NamedTuple):
    """A call under way: its row, when it began in seconds since the epoch, and for whom; '' for
    neither a turn nor a task, as for the policy.
    """

    row: int | None
    at: float
    day: str
    turn: str
    task: str


class UsageLedger:
    """Thread-safe. A day begins at midnight in ``zone``. ``on_call`` gets each call that has
    ended, in its thread. A file that cannot be written is said in ``problem``; the sums are then
    kept in memory, until the agent ends.
    """

    def __init__(
        self,
        llm: LlmConfig,
        file: Path | str = IN_MEMORY,
        *,
        zone: tzinfo = timezone.utc,
        kept_days: float = 30.0,
        now: Callable[[], datetime] = lambda: datetime.now(timezone.utc),
        on_call: Callable[[ModelCalled], None] = lambda call: None,
    ) -> None:
        self.llm, self.problem = llm, ''
        self._file, self._zone, self._kept_days = str(file), zone, kept_days
        self._now, self._on_call = now, on_call
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        # By scope its name and sum. Replaced, never changed: its reader needs no lock.
        self._shown: dict[str, tuple[str, Spending]] = {}

    def open(self) -> None:
        """Read the sums of today. Blocks on the disk; ``admit`` does it too."""
        with self._lock:
            self._show()

    def admit(self, input_tokens: int) -> Entry | BudgetRefusal:
        """Enter a call of this estimated input, for the turn of this context; or why it may not be
        made. ``settle`` must follow the call.
        """
        tokens = Tokens(input_tokens, estimated=True)
        cost = call_cost(self.llm, tokens)  # may import: without the lock
        order = current_order()  # a turn that resumes counts anew; its task goes on counting
        turn, task = order.turn, order.task_id if order.turn else ''
        entry = Entry(None, self._now().timestamp(), self._today(), turn, task)
        with self._lock:
            spent = {kind: each for kind, (_, each) in self._show(turn, task).items()}
            refusal = budget_refusal(self.llm, spent, input_tokens, cost)
            return refusal or entry._replace(row=self._enter(entry, tokens, cost))

    def settle(self, entry: Entry, tokens: Tokens) -> None:
        """Correct the entry of a call that has ended."""
        llm, cost = self.llm, call_cost(self.llm, tokens)
        with self._lock:
            self._enter(entry, tokens, cost)
        currency = llm.prices.currency
        self._on_call(ModelCalled(llm.provider, llm.model, *tokens, cost, currency, entry.task))

    def recent_task_spending(self, task: str) -> Spending:
        """Of a task whose turn has ended just now. Never waits."""
        name, spent = self._shown.get('task', ('', Spending()))
        return spent if name == task else Spending()

    def report(self) -> dict[str, Spending]:
        """The spending of the last turn, its task, and of today. Never waits."""
        shown = self._shown
        if shown.get('day', ('', None))[0] != self._today():
            shown = {kind: each for kind, each in shown.items() if kind != 'day'}
        return {scope: shown.get(scope, ('', Spending()))[1] for scope in SCOPES}

    def close(self) -> None:
        """End with the file; a call that has not ended counts in memory."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
            self._connection, self._file = None, IN_MEMORY

    def _today(self) -> str:
        return self._now().astimezone(self._zone).date().isoformat()

    # --- with the lock ------------------------------------------------------------------------

    def _show(self, turn: str = '', task: str = '') -> dict[str, tuple[str, Spending]]:
        """By scope its name and sum. A call of the policy leaves the last turn shown."""
        names = {'turn': turn, 'task': task, 'day': self._today()}
        sums = {kind: (name, self._sum(kind, name)) for kind, name in names.items() if name}
        self._shown = {**({} if turn else self._shown), **sums}
        return sums

    def _enter(self, entry: Entry, tokens: Tokens, cost: float | None) -> int | None:
        """The row of the entry."""
        who = (*entry, self.llm.provider, self.llm.model)
        row = self._run(_ENTER, (*who, *tokens, cost, self.llm.prices.currency)).lastrowid
        self._show(entry.turn, entry.task)
        return row

    def _sum(self, kind: str, name: str) -> Spending:
        values = (self.llm.prices.currency, name)
        return Spending(*self._run(f'{_SUM}{kind} = ?2', values).fetchone())

    def _run(self, statement: str, values: tuple[object, ...]) -> sqlite3.Cursor:
        try:
            if self._connection is None:
                self._connection, _, self.problem = open_or_set_aside(
                    self._file, self._now(), self._prepare, patience_s=PATIENCE_S
                )
            return self._connection.execute(statement, values)
        except (OSError, sqlite3.Error, FileDamaged) as error:
            self.problem = f'The usage cannot be saved in {self._file}: {error}'
            _log.warning('event=usage_not_saved file=%s error=%s', self._file, error)
        failed, self._connection = self._connection, connect(IN_MEMORY, patience_s=PATIENCE_S)
        if failed is not None:
            with suppress(sqlite3.Error):
                failed.backup(self._connection)
                failed.close()
        self._connection.executescript(_SCHEMA)
        return self._connection.execute(statement, values)

    def _prepare(self, connection: sqlite3.Connection) -> None:
        make_durable(connection)
        check_integrity(connection)
        connection.executescript(_SCHEMA)
        oldest = self._now() - timedelta(days=self._kept_days)
        connection.execute('DELETE FROM calls WHERE at < ?', (oldest.timestamp(),))


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
