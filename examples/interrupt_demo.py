"""A task is interrupted by a more urgent one, then goes on where it was. Without ROS.

python examples/interrupt_demo.py
"""

import asyncio

from curiosity_rosa_demo.agent.tasks import SkillRunner, Task

CUPS = 4
runner = SkillRunner(':memory:')
poured = asyncio.Event()


@runner.skill('pour_water', resources=('base',))
async def pour_water(task: Task) -> None:
    for cup in range(task.metadata.get('cups', 0) + 1, CUPS + 1):
        await asyncio.sleep(0.1)
        task.metadata['cups'] = cup  # kept when it is interrupted
        print(f'pour_water: cup {cup} of {CUPS}', flush=True)
        poured.set()


@runner.skill('avoid_obstacle', resources=('base',))
async def avoid_obstacle(task: Task) -> None:
    print('avoid_obstacle: the rover waits', flush=True)
    await asyncio.sleep(0.1)
    print('avoid_obstacle: the way is free', flush=True)


async def main() -> None:
    await runner.start()
    loop = asyncio.create_task(runner.run_loop())
    water = await runner.submit(Task('pour_water', 3))
    await poured.wait()
    obstacle = await runner.interrupt(Task('avoid_obstacle', 10))
    print(f'pour_water: {water.state.name}', flush=True)
    for task in (obstacle, water):
        while not task.state.terminal:
            await asyncio.sleep(0.01)
        print(f'{task.name}: {task.state.name}', flush=True)
    await runner.stop()
    await loop


if __name__ == '__main__':
    asyncio.run(main())
