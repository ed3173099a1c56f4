# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The time of a tool step of this loop, compared with ROSA's AgentExecutor, and its parts.

A model without latency calls a tool without arguments 20 times, then answers; the world has no
latency, and the trace is off. The contenders run alternately, block by block; the figures are
medians. CPU time is that of the process: on a busy machine it is more reliable than wall time.
- ours: CuriosityRosa with TurnExecutor, its checkpoints in a file (WAL, synchronous=FULL): the
  intent of each act is on the disk before the act, its result afterwards
- ours, no disk: the same with the checkpoints in memory
- ROSA: ROSA with its own AgentExecutor, the same model, prompts and tools
- chain: the same calls to the agent alone (prompt, model, parser)
- commit: one bare commit of as many bytes as a checkpoint

Aim: ours / ROSA at most 1.5. The parts come from a separate run with a stopwatch around each;
the time of a part excludes its nested parts.

Must never happen: synchronous below FULL, a journal that is not WAL, an act whose intent another
connection cannot see in the file while the act runs, a result that is missing afterwards.

Run: python bench/react_overhead.py [rounds, default 15]
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
import os
from pathlib import Path
import sqlite3
import sys
import time
from typing import Any
import uuid

from _bench import quantile, report, table
from _peers import disk_folder
from _stopwatch import Stopwatch
from _turns import instant_rosa, InstantModel, InstantWorld, TOOL, turn_of
from curiosity_rosa_demo.agent.react import graph, loop
from curiosity_rosa_demo.agent.react.checkpoint_codec import CheckpointCodec
from curiosity_rosa_demo.agent.react.checkpointer import TurnCheckpointer
from curiosity_rosa_demo.agent.react.nodes import react_decide
from curiosity_rosa_demo.agent.react.turn.decide_tool import decide_tool
from curiosity_rosa_demo.agent.react.turn.messages import call_entry, StepCache
from curiosity_rosa_demo.agent.rosa_agent_factory import CuriosityRosa, robot_prompts
from curiosity_rosa_demo.agent.skills.registry import make_registry
from curiosity_rosa_demo.domain.cancellation import Cancellation
from curiosity_rosa_demo.domain.models import ToolResult
from curiosity_rosa_demo.domain.serde import to_json
from curiosity_rosa_demo.infra.config.contracts import Config
from curiosity_rosa_demo.infra.config_loader import load_config
from curiosity_rosa_demo.tools.tool_impl import make_tools
from langchain_core.agents import AgentAction
from rosa import ROSA

AIM = 1.5
STEPS = 20
FULL = 2
OURS, MEMORY, THEIRS, CHAIN, COMMIT = 'ours', 'ours, no disk', 'ROSA', 'chain', 'commit'
Block = Callable[[], None]


class PlainRosa(ROSA):  # type: ignore[misc]
    """Unmodified ROSA, with this project's tools instead of its own."""

    def __init__(self, model: InstantModel, config: Config, world: InstantWorld) -> None:
        def run(name: str, /, **_: Any) -> ToolResult:
            return world.tool(name, Cancellation())

        self._tools = [*make_tools(make_registry(config), run), decide_tool()]
        super().__init__(
            ros_version=2,
            llm=model,
            prompts=robot_prompts(config.prompts),
            streaming=config.agent.llm.streaming,
        )

    def _get_tools(self, *_: Any, **__: Any) -> Any:
        return self

    def get_tools(self) -> list[Any]:
        return self._tools


def theirs(rosa: PlainRosa) -> Block:
    def block() -> None:
        rosa.clear_chat()
        answer = rosa.invoke('Go on.')
        assert answer == 'done', answer

    return block


def chain(rosa: CuriosityRosa) -> Block:
    """The agent's model calls of one turn."""
    cache, agent = StepCache(), rosa._agent
    messages = []
    for count in range(STEPS):
        action = AgentAction(TOOL, {}, '')
        result = to_json(ToolResult.success(count=count, cost=1.0))
        messages.append({**call_entry(action, '', {str(count)}), 'result': result})
        messages[-1]['call_id'] = f'call_{count}'
    steps = cache.steps(messages)

    def block() -> None:
        for count in range(STEPS + 1):
            question = {'input': 'Go on.', 'chat_history': [], 'intermediate_steps': steps[:count]}
            agent.invoke(question)

    return block


def commits(file: Path, size: int) -> Block:
    connection = sqlite3.connect(file, isolation_level=None)
    connection.execute('PRAGMA journal_mode = WAL')
    connection.execute('PRAGMA synchronous = FULL')
    connection.execute('CREATE TABLE kept (id INTEGER PRIMARY KEY, state BLOB)')

    def block() -> None:
        for _ in range(STEPS):
            connection.execute('REPLACE INTO kept VALUES (1, ?)', (os.urandom(size),))

    return block


def checkpoint_bytes(saver: TurnCheckpointer) -> int:
    """The size of the newest checkpoint."""
    row = saver.conn.execute(
        'SELECT length(checkpoint) + length(metadata) FROM checkpoints ORDER BY checkpoint_id DESC'
    ).fetchone()
    return int(row[0])


def watch_intents(rosa: CuriosityRosa, world: InstantWorld, file: Path, faults: list[str]) -> None:
    """Run a turn in which each act reads its intent through a separate connection."""
    thread = uuid.uuid4().hex
    looked: list[int] = []

    def brain() -> Any:
        with sqlite3.connect(f'file:{file}?mode=ro', uri=True) as connection:
            found = connection.execute(
                'SELECT type, checkpoint FROM checkpoints WHERE thread_id = ? '
                'ORDER BY checkpoint_id DESC LIMIT 1',
                (thread,),
            ).fetchone()
        return CheckpointCodec().loads_typed(found)['channel_values']['brain']

    def look(name: str) -> None:
        state = brain()
        proposed = state.react.proposed_ops
        intended = [op.skill for op in proposed.to_dispatch] if proposed is not None else []
        known = sum(each['result'] is not None for each in state.messages)
        if intended != [name] or known != len(looked):
            faults.append(
                f'act {len(looked)}: the file holds the intent {intended} and {known} results'
            )
        looked.append(known)

    world.seen = look
    turn_of(rosa, thread)
    world.seen = lambda name: None
    results = sum(each['result'] is not None for each in brain().messages)
    if len(looked) != STEPS or results != STEPS:
        faults.append(f'{len(looked)} acts and {results} results of {STEPS} steps in the file')


def check_pragmas(saver: TurnCheckpointer, faults: list[str]) -> None:
    journal = saver.conn.execute('PRAGMA journal_mode').fetchone()[0]
    synchronous = saver.conn.execute('PRAGMA synchronous').fetchone()[0]
    if (journal, synchronous) != ('wal', FULL):
        faults.append(f'journal {journal}, synchronous {synchronous} instead of wal and {FULL}')


def commits_a_step(rosa: CuriosityRosa, saver: TurnCheckpointer) -> float:
    statements: list[str] = []
    saver.conn.set_trace_callback(statements.append)
    turn_of(rosa, uuid.uuid4().hex)
    saver.conn.set_trace_callback(None)
    return statements.count('COMMIT') / STEPS


def where(
    rosa: CuriosityRosa, saver: TurnCheckpointer, world: InstantWorld, rounds: int
) -> tuple[float, dict[str, float]]:
    """Milliseconds per step: in total, and by part."""
    watch = Stopwatch()
    turn = rosa.turn_executor._turn
    with watch.around(
        (saver, 'put', 'checkpoints'),
        (saver, 'put_writes', 'checkpoints'),
        (saver, 'get_tuple', 'checkpoints'),
        (turn, 'agent', 'model and its chain'),
        (react_decide, 'decide', 'model: its thread'),
        (turn.skill_executor, 'dispatch', 'skill: its thread'),
        (turn.skill_executor, 'get_result', 'skill: its thread'),
        (world, 'tool', 'tool'),
        (loop, 'build_graph', 'graph: built'),
        (rosa.turn_executor, '_run', 'graph'),
        stages=graph.STAGES,
    ):
        began = time.perf_counter()
        for _ in range(rounds):
            watch.run('rest', lambda: turn_of(rosa, uuid.uuid4().hex))
        whole = time.perf_counter() - began
    per_step = 1e3 / (rounds * STEPS)
    parts = {name: per_step * seconds for name, seconds in watch.seconds.items()}
    return whole * per_step, parts


def ratios_of(times: dict[str, list[float]]) -> list[float]:
    """The ratio of this loop to ROSA in each round, in ascending order."""
    return sorted(mine / other for mine, other in zip(times[OURS], times[THEIRS], strict=True))


def main() -> int:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 15
    faults: list[str] = []
    config, model = load_config(), InstantModel(steps=STEPS)
    times: dict[str, list[float]] = defaultdict(list)
    cpu: dict[str, list[float]] = defaultdict(list)
    with disk_folder() as folder:
        world = InstantWorld(config)
        rosa, saver = instant_rosa(model, world, folder / 'turns.db')
        in_memory, _ = instant_rosa(model, InstantWorld(config), ':memory:')
        check_pragmas(saver, faults)
        watch_intents(rosa, world, folder / 'turns.db', faults)
        size = checkpoint_bytes(saver)
        field: dict[str, Block] = {
            OURS: lambda: turn_of(rosa, uuid.uuid4().hex),
            MEMORY: lambda: turn_of(in_memory, uuid.uuid4().hex),
            THEIRS: theirs(PlainRosa(model, config, InstantWorld(config))),
            CHAIN: chain(rosa),
            COMMIT: commits(folder / 'floor.db', size),
        }
        names = list(field)
        for round_ in range(-1, rounds):  # the first warms up
            for name in names[round_ % len(names) :] + names[: round_ % len(names)]:
                began, used = time.perf_counter(), time.process_time()
                field[name]()
                if round_ >= 0:
                    times[name].append(1e3 * (time.perf_counter() - began) / STEPS)
                    cpu[name].append(1e3 * (time.process_time() - used) / STEPS)
        per_step = commits_a_step(rosa, saver)
        whole, parts = where(rosa, saver, world, rounds)
        check_pragmas(saver, faults)
    medians = {name: round(quantile(times[name], 0.5), 3) for name in field}
    medians_cpu = {name: round(quantile(cpu[name], 0.5), 3) for name in field}
    table(
        ('ms a tool step', 'median', 'least', 'CPU'),
        [(name, medians[name], min(times[name]), medians_cpu[name]) for name in field],
    )
    ratios = ratios_of(times)
    ratio = round(quantile(ratios, 0.5), 3)
    ratio_cpu = round(quantile(ratios_of(cpu), 0.5), 3)
    spread = [round(ratios[0], 3), round(ratios[-1], 3)]
    print(
        f'ours / ROSA: {ratio} in the median of {rounds} rounds, from {spread[0]} to {spread[1]} '
        f'(aim: at most {AIM}); of CPU time: {ratio_cpu}'
    )
    print(f'{per_step:.2f} commits a step, {size} bytes in the last checkpoint')
    ranked = sorted(parts.items(), key=lambda part: -part[1])
    table((f'where {whole:.2f} ms of a step go', 'ms'), ranked)
    return int(
        report(
            'react_overhead',
            faults,
            ms_per_step=medians,
            cpu_ms_per_step=medians_cpu,
            rounds=rounds,
            ratio=ratio,
            ratio_from_to=spread,
            ratio_cpu=ratio_cpu,
            aim=AIM,
            commits_per_step=round(per_step, 2),
            checkpoint_bytes=size,
            parts_ms={name: round(ms, 3) for name, ms in ranked},
        )
    )


if __name__ == '__main__':
    sys.exit(main())
