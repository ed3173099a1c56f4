# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What the model's calls have used: by turn, task and day, kept in a SQLite file.

A call is entered with its estimated input before it is made, and corrected once it has ended: a
crash in between loses no call, and calls at the same time see each other.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta, timezone, tzinfo
from decimal import Decimal
import logging
from pathlib import Path
import sqlite3
import threading

from curiosity_rosa_demo.agent.llm.budget import budget_refusal, BudgetRefusal, SCOPES
from curiosity_rosa_demo.agent.llm.usage import CallUsage, current_scope, Scope, Spending, Tokens
from curiosity_rosa_demo.infra.config.agent import LlmConfig, LOCAL
from curiosity_rosa_demo.infra.files import (
    check_integrity,
    FileDamaged,
    make_durable,
    open_or_set_aside,
)

# -----------------------------------------------------------------------------------------------
# The price of a call: llm.prices of agent.yaml, or the offline data of genai-prices.


FREE_PROVIDERS = ('routine', LOCAL)
MILLION = Decimal(1_000_000)
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


def call_cost(llm: LlmConfig, tokens: Tokens) -> Decimal | None:
    """The cost of a call in ``llm.prices.currency``; None: the price of the model is unknown."""
    if llm.provider in FREE_PROVIDERS:
        return Decimal(0)
    prices = llm.prices
    if prices.input is None or prices.output is None:
        return _published_cost(llm, tokens)
    cached = prices.input if prices.cached is None else prices.cached
    parts = (
        (tokens.input - tokens.cached, prices.input),
        (tokens.cached, cached),
        (tokens.output, prices.output),
    )
    return sum((number * Decimal(str(price)) for number, price in parts), Decimal(0)) / MILLION


def _published_cost(llm: LlmConfig, tokens: Tokens) -> Decimal | None:
    """At a server of its own a model has no published price, whatever its name. The data comes
    with the package: nothing is fetched.
    """
    try:
        from genai_prices import calc_price, Usage
    except ImportError:
        return None
    usage = Usage(
        input_tokens=tokens.input,
        output_tokens=tokens.output,
        cache_read_tokens=tokens.cached or None,
    )
    try:
        if llm.base_url:
            return calc_price(usage, llm.model, provider_api_url=llm.base_url).total_price
        provider = _PROVIDER_IDS.get(llm.provider, llm.provider)
        return calc_price(usage, llm.model, provider_id=provider).total_price
    except (LookupError, ValueError):
        return None


IN_MEMORY = ':memory:'
PATIENCE_S = 2.0
MAX_SUMS = 512  # turns, tasks and days in memory; the others are read again from the file
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
_INSERT = (
    'INSERT INTO calls (at, day, turn, task, provider, model, input, output, cached, reasoning,'
    ' estimated, cost, currency) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)'
)
_UPDATE = (
    'UPDATE calls SET input = ?, output = ?, cached = ?, reasoning = ?, estimated = ?, cost = ?'
    ' WHERE id = ?'
)
_SELECT = 'SELECT input, output, cached, reasoning, estimated, cost, currency FROM calls WHERE '

Key = tuple[str, str]  # a scope and its name
_log = logging.getLogger('curiosity_rosa.usage')


def _utc_now() -> datetime:
    return datetime.now(timezone.utc)


class CallEntry:
    """A call under way."""

    def __init__(self, row: int | None, scope: Scope, keys: list[Key], held: Spending) -> None:
        self.row, self.scope, self.keys, self.held = row, scope, keys, held


class UsageLedger:
    """Thread-safe. A day begins at midnight in ``zone``. ``on_call`` gets each call that has
    ended, in its thread. A file that cannot be written is said in ``problem``; the sums then last
    until the agent ends.
    """

    def __init__(
        self,
        llm: LlmConfig,
        file: Path | str = IN_MEMORY,
        *,
        zone: tzinfo = timezone.utc,
        kept_days: float = 30.0,
        now: Callable[[], datetime] = _utc_now,
        on_call: Callable[[CallUsage], None] = lambda call: None,
    ) -> None:
        self.llm, self.problem = llm, ''
        self._file, self._zone, self._kept_days = str(file), zone, kept_days
        self._now, self._on_call = now, on_call
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._opened = False
        self._sums: dict[Key, Spending] = {}
        self._shown: dict[Key, Spending] = {}  # replaced, never changed: its reader needs no lock

    def open(self) -> None:
        """Read the sums of today. Blocks on the disk; ``admit`` does it too."""
        with self._lock:
            self._open()
            self._show(Scope())

    def admit(self, input_tokens: int) -> CallEntry | BudgetRefusal:
        """Enter a call of this estimated input, for the turn of this context; or why it may not be
        made. ``settle`` must follow the call.
        """
        scope, tokens = current_scope(), Tokens(input_tokens, estimated=True)
        cost = call_cost(self.llm, tokens)  # may import: without the lock
        needed = Spending.of(tokens, cost)
        with self._lock:
            self._open()
            keys = self._keys(scope)
            sums = {key[0]: self._sum(key) for key in keys}
            refusal = budget_refusal(self.llm, sums, needed)
            if refusal is None:
                row = self._insert(scope, keys[-1][1], tokens, cost)
                self._add(keys, needed)
            self._show(scope)
        return CallEntry(row, scope, keys, needed) if refusal is None else refusal

    def settle(self, entry: CallEntry, tokens: Tokens) -> None:
        """Correct the entry of a call that has ended."""
        cost = call_cost(self.llm, tokens)
        with self._lock:
            self._add(entry.keys, Spending.of(tokens, cost) - entry.held)
            if entry.row is not None:
                self._write(_UPDATE, (*_columns(tokens, cost), entry.row))
            self._show(entry.scope)
        llm = self.llm
        self._on_call(
            CallUsage(llm.provider, llm.model, tokens, cost, llm.prices.currency, entry.scope)
        )

    def recent_task_spending(self, task: str) -> Spending:
        """Of a task whose turn has ended just now. Never waits."""
        return self._shown.get(('task', task), Spending())

    def close(self) -> None:
        with self._lock:
            if self._connection is not None:
                self._connection.close()
            self._connection, self._opened = None, True

    def report(self) -> dict[str, Spending]:
        """The spending of the last turn, its task, and of today. Never waits."""
        today, shown = self._today(), self._shown
        found = {scope: (name, sum_) for (scope, name), sum_ in shown.items()}
        return {
            scope: found[scope][1]
            if scope in found and (scope != 'day' or found[scope][0] == today)
            else Spending()
            for scope in SCOPES
        }

    # --- with the lock ------------------------------------------------------------------------

    def _today(self) -> str:
        return self._now().astimezone(self._zone).date().isoformat()

    def _keys(self, scope: Scope) -> list[Key]:
        names = {'turn': scope.turn, 'task': scope.task, 'day': self._today()}
        return [(kind, name) for kind, name in names.items() if name]

    def _show(self, scope: Scope) -> None:
        keys = self._keys(scope)
        last = {key: each for key, each in self._shown.items() if key[0] != 'day'}
        kept = {} if scope.turn else last  # a call of the policy leaves the last turn shown
        self._shown = {**kept, **{key: self._sum(key) for key in keys}}

    def _sum(self, key: Key) -> Spending:
        if key not in self._sums:
            self._sums[key] = self._read(key)
        return self._sums[key]

    def _add(self, keys: list[Key], more: Spending) -> None:
        for key in keys:
            so_far = self._sums.pop(key) if key in self._sums else self._read(key)
            self._sums[key] = so_far + more  # the newest of the dictionary
        while len(self._sums) > MAX_SUMS:
            self._sums.pop(next(iter(self._sums)))

    def _read(self, key: Key) -> Spending:
        """The sum of the file. Money of another currency counts as unknown."""
        total = Spending()
        if self._connection is None:
            return total
        try:
            rows = self._connection.execute(f'{_SELECT}{key[0]} = ?', (key[1],)).fetchall()
        except sqlite3.Error as error:
            self._failed(error)
            return total
        for given, made, cached, reasoning, estimated, cost, currency in rows:
            known = cost is not None and currency == self.llm.prices.currency
            tokens = Tokens(given, made, cached, reasoning, bool(estimated))
            total += Spending.of(tokens, Decimal(cost) if known else None)
        return total

    def _insert(self, scope: Scope, day: str, tokens: Tokens, cost: Decimal | None) -> int | None:
        llm, at = self.llm, self._now().timestamp()
        who = (at, day, scope.turn, scope.task, llm.provider, llm.model)
        return self._write(_INSERT, (*who, *_columns(tokens, cost), llm.prices.currency))

    def _write(self, statement: str, values: tuple[object, ...]) -> int | None:
        """The number of the inserted row; None: it could not be saved."""
        if self._connection is None:
            return None
        try:
            return self._connection.execute(statement, values).lastrowid
        except sqlite3.Error as error:
            self._failed(error)
            return None

    def _open(self) -> None:
        if self._opened:
            return
        self._opened = True
        try:
            self._connection, _, self.problem = open_or_set_aside(
                self._file, self._now(), self._prepare, patience_s=PATIENCE_S
            )
        except (OSError, sqlite3.Error, FileDamaged) as error:
            self._failed(error)

    def _prepare(self, connection: sqlite3.Connection) -> None:
        make_durable(connection)
        check_integrity(connection)
        connection.executescript(_SCHEMA)
        oldest = self._now() - timedelta(days=self._kept_days)
        connection.execute('DELETE FROM calls WHERE at < ?', (oldest.timestamp(),))

    def _failed(self, error: Exception) -> None:
        self.problem = f'The usage cannot be saved in {self._file}: {error}'
        _log.warning('event=usage_not_saved file=%s error=%s', self._file, error)


def _columns(tokens: Tokens, cost: Decimal | None) -> tuple[object, ...]:
    counts = (tokens.input, tokens.output, tokens.cached, tokens.reasoning, tokens.estimated)
    return (*counts, None if cost is None else str(cost))
