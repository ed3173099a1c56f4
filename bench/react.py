# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.


"""The time of a tool step of the loop, compared with ROSA's own AgentExecutor.

A model without latency calls a tool 20 times, then answers; the world has no latency either. The
contenders run alternately, turn by turn; the figures are medians. CPU time is that of the process:
on a busy machine it is more reliable than wall time.

Run: python bench/react.py [--size ROUNDS] [--smoke]
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Callable
from functools import partial
from pathlib import Path
import sys
import time
from typing import Any
import uuid

from _bench import disk_folder, main, Part, quantile, Result
from curiosity_rosa_demo.agent.language.understand import understand
from curiosity_rosa_demo.agent.llm.vision import SeenPictures
from curiosity_rosa_demo.agent.react.ask import ApprovalQueue
from curiosity_rosa_demo.agent.react.loop import TurnCheckpointer
from curiosity_rosa_demo.agent.react.prompt import make_tools, robot_prompts
from curiosity_rosa_demo.agent.react.turn import TurnEnvironment, TurnRequest
from curiosity_rosa_demo.agent.rosa_agent_factory import CuriosityRosa
from curiosity_rosa_demo.agent.runtime.task_spans import TaskSpans
from curiosity_rosa_demo.agent.skills.registry import make_registry
from curiosity_rosa_demo.agent.tasks import Event, EventType, LifecycleState, Task
from curiosity_rosa_demo.domain.brain_state import Json
from curiosity_rosa_demo.domain.cancellation import Cancellation
from curiosity_rosa_demo.domain.models import RoverPose, ToolResult
from curiosity_rosa_demo.infra.config_loader import load_config
from curiosity_rosa_demo.infra.tracing import make_task_tracer, TaskTracer
from curiosity_rosa_demo.trace.trace_buffer import EventBus
from langchain_core.language_models.fake_chat_models import FakeMessagesListChatModel
from langchain_core.messages import AIMessage
from langchain_core.tools import StructuredTool
import rosa

CONFIG = load_config()
STEPS, TOOL = 20, 'get_status'
OURS, ROSA = 'ours, intents and results on the disk', 'ROSA'
TRACED, MEMORY = 'ours, with spans to a file', 'ours, in memory'
AIM = 1.2


class PlainRosa(rosa.ROSA):  # type: ignore[misc]
    """Unmodified ROSA, with this project's tools instead of its own."""

    def __init__(self, tools: list[Any], **options: Any) -> None:
        self._plain_tools = tools
        super().__init__(ros_version=2, **options)

    def _get_tools(self, *_: Any, **__: Any) -> Any:
        return self

    def get_tools(self) -> list[Any]:
        return self._plain_tools


class InstantModel(FakeMessagesListChatModel):
    def bind_tools(self, tools: Any, **_: Any) -> Any:
        return self.bind()


class InstantWorld:
    """A SkillWorld with constant facts and tools without latency. No two results are equal, or a
    turn would end for lack of progress.
    """

    def __init__(self) -> None:
        self.config, self.pictures, self.count = CONFIG, SeenPictures(), 0
        self.driven_m = 0.0

    def tool(self, name: str, cancellation: Cancellation, **_: Any) -> ToolResult:
        self.count += 1
        return ToolResult.success(count=self.count, mast_is_open=False, moving=False, cost=1.0)

    def pose(self) -> RoverPose:
        return RoverPose(x=1.0, y=2.0, yaw_rad=0.5, frame_id='odom')

    def facts(self) -> Json:
        return {
            'x': 1.0, 'y': 2.0, 'yaw_rad': 0.5, 'mast': 'closed', 'moving': False,
            'battery_pct': 80.0, 'battery_state': 'OK', 'mode': 'EXEC', 'zones': [],
            'safety_latch': '', 'distance_to_target': 3.0,
        }  # fmt: skip

    def say(self, text: str) -> None: ...

    def may_drive(self, name: str, duration_s: float) -> str:
        return ''


def model() -> InstantModel:
    calls = [
        AIMessage('', tool_calls=[{'name': TOOL, 'args': {}, 'id': f'call_{number}'}])
        for number in range(STEPS)
    ]
    return InstantModel(responses=[*calls, AIMessage('done')])


def ours(checkpoints: Path | str) -> Callable[[], None]:
    """One turn of our loop, without an operator and without a trace."""
    queue = ApprovalQueue(timeout_s=1.0)
    queue.is_attended = False
    environment = TurnEnvironment(
        registry=make_registry(CONFIG),
        world=InstantWorld(),
        approval_queue=queue,
        checkpoints=checkpoints,
        trace=lambda *_, **__: None,
        recall=lambda: '',
        on_react_state=lambda react: None,
    )
    agent = CuriosityRosa(model(), environment, TurnCheckpointer(checkpoints))

    def turn() -> None:
        agent.clear_chat()
        agent.turn_executor.request = TurnRequest(
            understand('Go on.'), Cancellation(), uuid.uuid4().hex
        )
        assert agent.invoke('Go on.') == 'done'

    return turn


def theirs() -> Callable[[], None]:
    world = InstantWorld()

    def run(name: str, /, **_: Any) -> ToolResult:
        return world.tool(name, Cancellation())

    tools = [
        StructuredTool.from_function(
            func=partial(run, each.name),
            name=each.name,
            description=each.description,
            args_schema=each.args_schema,
        )
        for each in make_tools(make_registry(CONFIG).for_model())
    ]
    prompts = robot_prompts(CONFIG.prompts)
    peer = PlainRosa(tools, llm=model(), prompts=prompts, streaming=CONFIG.agent.llm.streaming)

    def turn() -> None:
        peer.clear_chat()
        assert peer.invoke('Go on.') == 'done'

    return turn


def traced(turn: Callable[[], None], tracer: TaskTracer) -> Callable[[], None]:
    """The turn within the span of a task, as the agent makes it; its spans are in the file."""
    bus, spans, tasks = EventBus(), TaskSpans(tracer), dict[str, Task]()
    spans.follow(bus, tasks.get)

    def run() -> None:
        task = Task('react')
        tasks[task.id] = task
        bus.publish(Event(EventType.TASK_SUBMIT, task.id))
        with spans.active(task.id):
            turn()
        task.state = LifecycleState.COMPLETED
        bus.publish(Event(EventType.TASK_COMPLETE, task.id))
        tracer.flush(10.0)

    return run


def step(options: argparse.Namespace) -> Result:
    wall: dict[str, list[float]] = defaultdict(list)
    cpu: dict[str, list[float]] = defaultdict(list)
    lost: list[str] = []
    with disk_folder() as folder:
        settings = CONFIG.agent.tracing.model_copy(update={'exporter': 'file'})
        tracer = make_task_tracer(
            settings,
            file=folder / 'spans.jsonl',
            node='agent',
            namespace='/',
            write=print,
            failed=lambda count, error: lost.append(f'lost spans: {error!r}'),
        )
        field = {
            OURS: ours(folder / 'turns.db'),
            TRACED: traced(ours(folder / 'traced.db'), tracer),
            MEMORY: ours(':memory:'),
            ROSA: theirs(),
        }
        for round_ in range(-1, options.size):  # the first warms up
            for name, turn in field.items():
                began, used = time.perf_counter(), time.process_time()
                turn()
                if round_ >= 0:
                    wall[name].append(1e3 * (time.perf_counter() - began) / STEPS)
                    cpu[name].append(1e3 * (time.process_time() - used) / STEPS)
        tracer.close()

    def ratio(times: dict[str, list[float]], name: str) -> float:
        pairs = zip(times[name], times[ROSA], strict=True)
        return round(quantile([mine / peer for mine, peer in pairs], 0.5), 2)

    return Result(
        'A tool step of the loop',
        "Model, tool and world take no time; the peer is ROSA's own AgentExecutor.",
        ('loop', 'ms', 'CPU ms', 'of ROSA', 'CPU, of ROSA'),
        [
            (
                name,
                *(round(quantile(times[name], 0.5), 3) for times in (wall, cpu)),
                *(ratio(times, name) for times in (wall, cpu)),
            )
            for name in field
        ],
        f'at most {AIM:g} of ROSA',
        ratio(wall, OURS) <= AIM,
        lost,
    )


if __name__ == '__main__':
    sys.exit(main(Part('step', step, 'rounds', 15, 1)))
