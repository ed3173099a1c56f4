# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Every door of the real agent, in one process: each gives the same order in its own way."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
import json
from pathlib import Path
import threading
from types import SimpleNamespace
from typing import Any, TypeVar
import uuid

from chat_server import call, Say
from curiosity_rosa_demo.agent.console import Console
from curiosity_rosa_demo.agent.interfaces.action_server import server as action_server
from curiosity_rosa_demo.agent.interfaces.action_server.ros_server import Goal
from curiosity_rosa_demo.agent.interfaces.http.server import create_app
from curiosity_rosa_demo.agent.interfaces.mcp.calls import ToolCalls
from curiosity_rosa_demo.agent.interfaces.mcp.server import make_server
from curiosity_rosa_demo.agent.interfaces.triggers.door import TriggerBoard, TriggerDoor
from curiosity_rosa_demo.agent.policy.autonomy import Autonomy
from curiosity_rosa_demo.agent.policy.clock import PolicyClock
from curiosity_rosa_demo.agent.policy.port import RuntimePort
from curiosity_rosa_demo.agent.policy.world import Command, Ongoing, Source, WorldModel
from curiosity_rosa_demo.agent.react.answer import NotAdmitted
from curiosity_rosa_demo.agent.tasks import Task
from curiosity_rosa_demo.agent.tasks.origin import Order, under_order
from curiosity_rosa_demo.domain.brain_state import BrainState
from curiosity_rosa_demo.domain.cancellation import Cancellation
from curiosity_rosa_demo.domain.origin import Origin
from curiosity_rosa_demo.domain.plan import Plan, PlanStep
from curiosity_rosa_demo.infra.config.base import time_zone
from curiosity_rosa_demo.infra.config.behaviour import TriggerConfig
from curiosity_rosa_demo.infra.config.topics import Config
from http_world import as_page, client
from mcp import Client
import pytest
from runtime_world import AgentWorld, config_with_world, robot_of

T = TypeVar('T')
WAIT_S = 30.0


def nothing(*_: Any) -> None: ...


class FakeGoalHandles:
    """Stands for the action's side of ROS: a goal comes in by ``begin``."""

    def __init__(self, name: str, *, begin: Callable[[Any], None], **_: Any) -> None:
        self.begin = begin
        self.finish = self.feedback = self.execute = self.refuse = self.close = nothing


class DoorsWorld(AgentWorld):
    """The model proposes the call ``name`` with ``arguments`` in every turn."""

    def __init__(
        self,
        folder: Path,
        config: Config,
        name: str,
        arguments: dict[str, Any],
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        self.name, self.arguments = name, arguments
        self.robot_config = config
        script = (call(name, **arguments), Say('Done.'), Say('Done.'), Say('Done.'))
        super().__init__(folder, *script, config=config)
        self.rover.clock.ros_time_is_active = False  # no wait makes this clock pass
        self.autonomy = Autonomy(
            self.runtime,
            config,
            trace=self.session.trace,
            file=folder / 'policy',
            clock=PolicyClock(),
            provider=lambda on_answer: None,
            speak=self.said.append,
        )
        self.robot = robot_of(self)
        self.console = Console(self.robot, self.said.append)
        self.console.run_queued_lines()
        monkeypatch.setattr(action_server, 'GoalHandles', FakeGoalHandles)
        self.action = action_server.RunTaskServer(config, self.robot)

    def close(self) -> None:
        self.action.end_goals()
        self.action.handles.close()
        self.autonomy.close()
        super().close()

    def run(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        async def bounded() -> T:
            return await asyncio.wait_for(work(), WAIT_S)

        return asyncio.run(bounded())

    def newest(self, known: set[str]) -> Task:
        """The task that the door has made."""
        self.until(lambda: any(each.id not in known for each in self.list_tasks()), 'a task')
        return next(each for each in self.list_tasks() if each.id not in known)

    def order(self, origin: Origin) -> Task | None:
        """Give the order at this door. The task that it became; None: it becomes none."""
        known = {each.id for each in self.list_tasks()}
        task: Task | None = DOORS[origin](self)
        return task if task is not None or origin is Origin.CHARGE else self.newest(known)

    def ended(self, task: Task | None) -> None:
        if task is not None:
            self.until(lambda: task.terminal, f'{task.name} to end')


def model(world: DoorsWorld) -> Task:
    return world.submit('react', text='Do it.')


def plan(world: DoorsWorld) -> Task:
    step = PlanStep(1, world.name, parameters=world.arguments)
    return world.submit('react', text='Do it.', plan=Plan('p', 'Do it.', steps=[step]).to_dict())


def autonomy(world: DoorsWorld) -> None:
    step = {'skill': world.name, 'arguments': world.arguments}
    activities = {'x': {'says': 'does it', 'does': [step]}}
    view = config_with_world({'activities': activities, 'routine': [], 'emergencies': []}).world
    ongoing = Ongoing(
        activity='x', by=Source.ROUTINE, began_at=5.0, energy_at=5.0, task_ids=[uuid.uuid4().hex]
    )
    port = RuntimePort(world.runtime, WorldModel(view, time_zone('UTC')))
    submit = Command('submit', tuple(ongoing.task_ids), ongoing=ongoing)
    port.execute([submit], world.runtime.halt.stops)


def trigger(world: DoorsWorld) -> None:
    """A fact that changes, as the kernel's tick reads it."""
    config = TriggerConfig(
        name='x', fact='mode', changes=True, skill=world.name, arguments=world.arguments
    )
    board = TriggerBoard([config])
    facts = iter(({'mode': 'IDLE'}, {'mode': 'EXEC'}))

    async def fire() -> None:
        trace = world.session.trace
        door = TriggerDoor(board, world.robot, facts=lambda: next(facts), trace=trace)
        door.on_tick(BrainState())  # arms
        door.on_tick(BrainState())  # fires

    # In SAFE the door keeps the trigger from firing; here the gate is tried.
    world.robot.state = BrainState  # type: ignore[method-assign]
    world.runtime.call(fire())


def recovery(world: DoorsWorld) -> Task:
    """A stored task that says no origin, as one of an earlier version."""
    return world.submit(world.name, **world.arguments)


def charge(world: DoorsWorld) -> None:
    """Whatever the charging task would order besides stop and stow."""
    with under_order(Order(Origin.CHARGE)), pytest.raises(NotAdmitted):
        world.session.admit(world.name, Cancellation(), **world.arguments)


def console(world: DoorsWorld) -> None:
    assert world.console.handle_line(f':submit {world.name} {json.dumps(world.arguments)}')


def page(world: DoorsWorld) -> None:
    line = f':submit {world.name} {json.dumps(world.arguments)}'

    async def say() -> None:
        app = create_app(world.robot)
        async with client(app) as api:
            response = await as_page(api, app).post('/say', json={'text': line})
            assert response.json()['ok'], response.text

    world.run(say)


def http(world: DoorsWorld) -> None:
    body = {'name': world.name, 'metadata': world.arguments}

    async def post() -> None:
        app = create_app(world.robot)
        async with client(app) as api:
            response = await api.post('/tasks', json=body)
            assert response.status_code == 201, response.text

    world.run(post)


def action(world: DoorsWorld) -> None:
    arguments = json.dumps(world.arguments)
    request = SimpleNamespace(text='', skill=world.name, arguments_json=arguments)
    handles = world.action.handles
    ros = SimpleNamespace(request=request, goal_id=SimpleNamespace(uuid=uuid.uuid4().bytes))
    handles.begin(Goal(ros))  # type: ignore[attr-defined]


def mcp(world: DoorsWorld) -> None:
    """The client waits for the end of its call; it has no elicitation."""

    async def call() -> None:
        calls = ToolCalls(world.robot)
        async with Client(make_server(world.robot, world.robot_config, calls)) as session:
            await session.call_tool(world.name, world.arguments)

    threading.Thread(target=lambda: world.run(call), name='mcp client', daemon=True).start()


def said_over_mcp(world: DoorsWorld, text: str) -> dict[str, Any]:
    """What ``say`` over MCP gives, at the end of its call."""

    async def call() -> dict[str, Any]:
        calls = ToolCalls(world.robot)
        async with Client(make_server(world.robot, world.robot_config, calls)) as session:
            given: Any = (await session.call_tool('say', {'text': text})).structured_content
            return dict(given)

    return world.run(call)


ORDERS = (model, plan, autonomy, trigger, recovery, charge, console, page, http, action, mcp)
DOORS: dict[Origin, Callable[[DoorsWorld], Any]] = {
    Origin[each.__name__.upper()]: each for each in ORDERS
}
