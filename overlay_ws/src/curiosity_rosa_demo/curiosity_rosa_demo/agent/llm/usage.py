# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What the model's calls have used: by turn, task and day, kept in a SQLite file and summed there.

A call is entered with its estimated input before it is made, and corrected once it has ended: a
crash in between loses no call, and calls at the same time see each other.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timedelta, timezone, tzinfo
import logging
from pathlib import Path
import sqlite3
import threading
from typing import NamedTuple

from curiosity_rosa_demo.agent.llm.budget import (
    budget_refusal,
    BudgetRefusal,
    call_cost,
    SCOPES,
    Spending,
    Tokens,
)
from curiosity_rosa_demo.agent.tasks.origin import current_order
from curiosity_rosa_demo.infra.config.agent import LlmConfig
from curiosity_rosa_demo.infra.files import (
    check_integrity,
    connect,
    FileDamaged,
    make_durable,
    open_or_set_aside,
)
from curiosity_rosa_demo.trace.events import ModelCalled

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


class Scope(NamedTuple):
    """For whom a call is made; '' for neither a turn nor a task, as for the policy."""

    turn: str = ''
    task: str = ''


class Entry(NamedTuple):
    """A call under way: its row, when it began in seconds since the epoch, and for whom."""

    row: int | None
    at: float
    day: str
    scope: Scope


OF_NOBODY = Scope()


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
            self._show(OF_NOBODY)

    def admit(self, input_tokens: int) -> Entry | BudgetRefusal:
        """Enter a call of this estimated input, for the turn of this context; or why it may not be
        made. ``settle`` must follow the call.
        """
        tokens = Tokens(input_tokens, estimated=True)
        cost = call_cost(self.llm, tokens)  # may import: without the lock
        order = current_order()  # a turn that resumes counts anew; its task goes on counting
        scope = Scope(order.turn, order.task_id) if order.turn else OF_NOBODY
        entry = Entry(None, self._now().timestamp(), self._today(), scope)
        with self._lock:
            spent = {kind: each for kind, (_, each) in self._show(entry.scope).items()}
            refusal = budget_refusal(self.llm, spent, input_tokens, cost)
            return refusal or entry._replace(row=self._enter(entry, tokens, cost))

    def settle(self, entry: Entry, tokens: Tokens) -> None:
        """Correct the entry of a call that has ended."""
        llm, cost = self.llm, call_cost(self.llm, tokens)
        with self._lock:
            self._enter(entry, tokens, cost)
        task, currency = entry.scope.task, llm.prices.currency
        self._on_call(ModelCalled(llm.provider, llm.model, *tokens, cost, currency, task))

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

    def _show(self, scope: Scope) -> dict[str, tuple[str, Spending]]:
        """By scope its name and sum. A call of the policy leaves the last turn shown."""
        names = {**scope._asdict(), 'day': self._today()}
        sums = {kind: (name, self._sum(kind, name)) for kind, name in names.items() if name}
        self._shown = {**({} if scope.turn else self._shown), **sums}
        return sums

    def _enter(self, entry: Entry, tokens: Tokens, cost: float | None) -> int | None:
        """The row of the entry."""
        row, at, day, scope = entry
        who = (row, at, day, *scope, self.llm.provider, self.llm.model)
        row = self._run(_ENTER, (*who, *tokens, cost, self.llm.prices.currency)).lastrowid
        self._show(scope)
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
