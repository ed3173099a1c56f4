# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The process that bench/crash.py kills: a SkillRunner under load, which tells what it knows.

Lines on stdout, each one write: ``starting``, ``ready``, ``note TEXT``, then ``ack ID`` (submit()
or interrupt() returned), ``run ID STEP`` (a skill begins, at the step of its metadata),
``kept ID STEP`` (a checkpoint returned), ``cancelled ID``, ``done ID`` (wait() says COMPLETED).

Run by bench/crash.py as: python _crash_child.py FILE SEED load|drain
"""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta, timezone
from itertools import count
import os
import random
import sys

from curiosity_rosa_demo.agent.tasks import LifecycleState, SkillRunner, Task

USERS = 8
STEPS = 4
DRAINED_S = 60.0

path, seed, mode = sys.argv[1:]
chance = random.Random(int(seed))
runner = SkillRunner(path, retry_backoff_s=0.01, cancel_grace_s=1.0)
names = (f'{seed}-{number}' for number in count())


def tell(*words: object) -> None:
    os.write(1, f'{" ".join(map(str, words))}\n'.encode())


@runner.skill('noop', resources=())
async def noop(task: Task) -> None:
    tell('run', task.id, 0)


async def walk(task: Task) -> None:
    """A few steps; what is done is kept."""
    tell('run', task.id, task.metadata.get('step', 0))
    for step in range(task.metadata.get('step', 0), STEPS):
        await asyncio.sleep(chance.random() * 0.004)
        task.metadata['step'] = step + 1
        await runner.checkpoint(task)
        tell('kept', task.id, step + 1)


for name, resources in (('drive', ('base',)), ('look', ('mast', 'camera')), ('all', None)):
    runner.skill(name, resources=resources)(walk)


@runner.skill('flaky', resources=('camera',))
async def flaky(task: Task) -> None:
    tell('run', task.id, 0)
    await asyncio.sleep(0)
    if chance.random() < 0.6:
        raise ValueError('a bad day')


def new(name: str, **fields: object) -> Task:
    return Task(name, chance.randrange(5), id=next(names), **fields)  # type: ignore[arg-type]


async def submit(task: Task) -> Task:
    await runner.submit(task)
    tell('ack', task.id)
    return task


async def await_end(task_id: str) -> None:
    if (await runner.wait(task_id)).state is LifecycleState.COMPLETED:
        tell('done', task_id)


async def use() -> None:
    """One user: asks for something, changes the mind at times, waits for the end of it."""
    while True:
        kind = chance.choice(('noop', 'noop', 'walk', 'chain', 'flaky', 'urgent', 'timed'))
        tasks = [new(chance.choice(('drive', 'look', 'all')))]
        if kind == 'noop':
            tasks = [new('noop') for _ in range(chance.randrange(1, 6))]
            await asyncio.gather(*map(submit, tasks))
        elif kind == 'urgent':
            await runner.interrupt(tasks[0])
            tell('ack', tasks[0].id)
        else:
            if kind == 'flaky':
                tasks = [new('flaky', max_retries=chance.randrange(3))]
            elif kind == 'timed':
                soon = datetime.now(timezone.utc) + timedelta(milliseconds=chance.randrange(30))
                tasks[0].not_before, tasks[0].deadline_s = soon, 0.05 + chance.random()
            await submit(tasks[0])
            while kind == 'chain' and len(tasks) < 4:
                blocker = (tasks[-1].id,)
                tasks.append(new(chance.choice(('noop', 'flaky', 'drive')), blocked_by=blocker))
                await submit(tasks[-1])
        await change_mind(chance.choice(tasks).id)
        await asyncio.gather(*(await_end(task.id) for task in tasks))


async def change_mind(task_id: str) -> None:
    """Which comes too late at times: then it has ended."""
    fancy = chance.random()
    if fancy < 0.15:
        if await runner.cancel(task_id):
            tell('cancelled', task_id)
    elif fancy < 0.25:
        await asyncio.gather(
            *(runner.pause(task_id), asyncio.sleep(0.002), runner.resume(task_id)),
            return_exceptions=True,
        )


async def main() -> None:
    tell('starting')
    await runner.start()
    tell('ready')
    for note in runner.notes:
        tell('note', note)
    running = asyncio.create_task(runner.run_loop())
    left = [task for task in runner.list_tasks() if not task.terminal]
    for task in left:
        if task.held:
            await runner.resume(task.id)
    ends = [asyncio.create_task(await_end(task.id)) for task in left]
    if mode == 'load':
        await asyncio.gather(*(use() for _ in range(USERS)))
    if ends:
        await asyncio.wait(ends, timeout=DRAINED_S)
    await runner.stop()
    await running


asyncio.run(main())
