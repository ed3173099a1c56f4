# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What the tasks of Inspect share: workers in the product's environment, solver, scorer, metric.

The product's own provider path is what is measured: its client, wire dialects, gate and loop. So
Inspect's model is not asked, and the key stays in the environment that the worker inherits.
"""

from __future__ import annotations

from functools import partial
import json
from pathlib import Path
import queue
import subprocess
from typing import Any

import anyio.to_thread
from inspect_ai.model import ModelOutput
from inspect_ai.scorer import Metric, metric, SampleScore, Score, Scorer, scorer, Target
from inspect_ai.solver import Generate, Solver, solver, TaskState

from models.outcome import figures, Record

ROOT = Path(__file__).resolve().parents[2]
COMMAND = (
    f'source {ROOT}/scripts/env.sh && cd {ROOT}/bench && exec python -W ignore -m models.worker'
)
NO_MODEL = 'mockllm/model'  # Inspect wants one; nobody calls it
RECORD = 'record'


class Workers:
    """At most ``count`` processes of models/worker.py, each started when it is needed first."""

    def __init__(self, count: int) -> None:
        self._idle: queue.Queue[subprocess.Popen[str] | None] = queue.Queue()
        for _ in range(count):
            self._idle.put(None)

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """The record of a request; blocks. Raises RuntimeError with the worker's reason."""
        worker = self._idle.get()
        try:
            if worker is None or worker.poll() is not None:
                worker = subprocess.Popen(
                    ['bash', '-c', COMMAND],
                    cwd=ROOT,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    text=True,
                )  # it ends with its input, so with this process
            assert worker.stdin is not None
            assert worker.stdout is not None
            worker.stdin.write(json.dumps(request) + '\n')
            worker.stdin.flush()
            line = worker.stdout.readline()
        finally:
            self._idle.put(worker)
        said: dict[str, Any] = json.loads(line) if line else {'error': 'the worker ended'}
        if 'error' in said:
            raise RuntimeError(said['error'])
        record: dict[str, Any] = said[RECORD]
        return record


def contender(agent: str, provider: str, model: str, base_url: str, config: str) -> dict[str, Any]:
    """models.turns.Contender as JSON. An empty value leaves the configuration's."""
    given = {'provider': provider, 'model': model, 'base_url': base_url}
    llm = {name: value for name, value in given.items() if value}
    folder = str(Path(config).absolute()) if config else ''
    return {'agent': agent, 'llm': llm, 'config': folder}


@solver
def turn_of(who: dict[str, Any], workers: int) -> Solver:
    """The contender's turn in the world, or before the sentence, of a sample's metadata."""
    pool = Workers(workers)
    limiter = anyio.CapacityLimiter(workers)

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        request = {'contender': who, **state.metadata}
        record = await anyio.to_thread.run_sync(partial(pool.ask, request), limiter=limiter)
        state.metadata[RECORD] = record
        state.output = ModelOutput.from_content('product', str(record['answer']))
        return state

    return solve


@metric
def row() -> Metric:
    """The figures of models.outcome.figures; those that nobody reports are left out."""

    def compute(scores: list[SampleScore]) -> dict[str, float | int]:
        records = [Record(**(each.score.metadata or {})[RECORD]) for each in scores]
        return {name: value for name, value in figures(records).items() if value is not None}

    return compute  # type: ignore[return-value]


@scorer(metrics=[row()])
def outcome() -> Scorer:
    async def score(state: TaskState, target: Target) -> Score:
        record = state.metadata[RECORD]
        return Score(
            value=int(record['success']), answer=record['answer'], metadata={RECORD: record}
        )

    return score
