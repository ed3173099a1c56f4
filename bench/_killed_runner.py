# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.


"""The process that bench/kill.py kills: a SkillRunner under load, which reports on stdout.

Each line is a single write: ``starting``, ``ready``, ``note TEXT``, then ``ack ID`` (submit() or
interrupt() returned), ``run ID STEP`` (a skill starts, at the step of its metadata), ``kept ID
STEP`` (a checkpoint returned), ``cancelled ID``, ``done ID`` (wait() returned COMPLETED).

Run by bench/kill.py as: python _killed_runner.py FILE SEED load|drain
"""

from __future__ import annotations

import asyncio
import contextlib
from datetime import datetime, timedelta, timezone
from itertools import count
import os
import random
import sys

from curiosity_rosa_demo.agent.tasks import LifecycleState, SkillRunner, Task
from curiosity_rosa_demo.agent.tasks.task import TaskError

USERS = 8
STEPS = 4
DRAINED_S = 60.0

path, seed, mode = sys.argv[1:]
chance = random.Random(int(seed))
runner = SkillRunner(path, retry_backoff_s=0.01, cancel_grace_s=1.0)
names = (f'{seed}-{number}' for number in count())


def write_line(*words: object) -> None:
    os.write(1, f'{" ".join(map(str, words))}\n'.encode())


@runner.skill('noop', resources=())
async def noop(task: Task) -> None:
    write_line('run', task.id, 0)


async def walk(task: Task) -> None:
    """A skill of a few steps, with a checkpoint after each."""
    write_line('run', task.id, task.metadata.get('step', 0))
    for step in range(task.metadata.get('step', 0), STEPS):
        await asyncio.sleep(chance.random() * 0.004)
        task.metadata['step'] = step + 1
        await runner.checkpoint(task)
        write_line('kept', task.id, step + 1)


for name, resources in (('drive', ('base',)), ('look', ('mast', 'camera')), ('all', None)):
    runner.skill(name, resources=resources)(walk)


@runner.skill('flaky', resources=('camera',))
async def flaky(task: Task) -> None:
    write_line('run', task.id, 0)
    await asyncio.sleep(0)
    if chance.random() < 0.6:
        raise ValueError('a bad day')


def new(name: str, **fields: object) -> Task:
    return Task(name, chance.randrange(5), id=next(names), **fields)  # type: ignore[arg-type]


async def submit(task: Task) -> Task:
    await runner.submit(task)
    write_line('ack', task.id)
    return task


async def await_end(task_id: str) -> None:
    if (await runner.wait(task_id)).state is LifecycleState.COMPLETED:
        write_line('done', task_id)


async def run_client() -> None:
    """One client: submits tasks, at times cancels or pauses one, and waits for their ends."""
    while True:
        kind = chance.choice(('noop', 'noop', 'walk', 'chain', 'flaky', 'urgent', 'timed'))
        tasks = [new(chance.choice(('drive', 'look', 'all')))]
        if kind == 'noop':
            tasks = [new('noop') for _ in range(chance.randrange(1, 6))]
            await asyncio.gather(*map(submit, tasks))
        elif kind == 'urgent':
            await runner.interrupt(tasks[0])
            write_line('ack', tasks[0].id)
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
        await cancel_or_pause(chance.choice(tasks).id)
        await asyncio.gather(*(await_end(task.id) for task in tasks))


async def cancel_or_pause(task_id: str) -> None:
    """Cancel or pause a task at random. The task may have ended already."""
    draw = chance.random()
    if draw < 0.15:
        if await runner.cancel(task_id):
            write_line('cancelled', task_id)
    elif draw < 0.25:
        await asyncio.gather(
            *(runner.pause(task_id), asyncio.sleep(0.002), runner.resume(task_id)),
            return_exceptions=True,
        )


async def main() -> None:
    write_line('starting')
    await runner.start()
    write_line('ready')
    for note in runner.notes:
        write_line('note', note)
    running = asyncio.create_task(runner.run_loop())
    left = [task for task in runner.list_tasks() if not task.terminal]
    for task in left:
        if task.held:
            with contextlib.suppress(TaskError):  # its deadline has passed meanwhile
                await runner.resume(task.id)
    ends = [asyncio.create_task(await_end(task.id)) for task in left]
    if mode == 'load':
        await asyncio.gather(*(run_client() for _ in range(USERS)))
    if ends:
        await asyncio.wait(ends, timeout=DRAINED_S)
    await runner.stop()
    await running


asyncio.run(main())
