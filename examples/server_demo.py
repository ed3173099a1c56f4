"""Tasks over HTTP, without a rover and without ROS. The page /docs of the server lists its routes.

python examples/server_demo.py [PORT]
curl http://127.0.0.1:8000/tasks -H 'Content-Type: application/json' -d '{"name": "pour_water"}'
"""

import asyncio
import sys

from curiosity_rosa_demo.agent.interfaces.http.server import create_app
from curiosity_rosa_demo.agent.tasks import SkillRunner, Task
import uvicorn

runner = SkillRunner('server_demo.db')


@runner.skill('pour_water', resources=('base',))
async def pour_water(task: Task) -> None:
    await asyncio.sleep(5.0)


@runner.skill('avoid_obstacle', resources=('base',))
async def avoid_obstacle(task: Task) -> None:
    await asyncio.sleep(1.0)


if __name__ == '__main__':
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 8000
    uvicorn.run(create_app(runner), host='127.0.0.1', port=port, log_level='warning')
