# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.


"""The resources: what a client may read. Each is bounded."""

from __future__ import annotations

import base64
from collections.abc import Awaitable, Callable
import json
from typing import Any
from urllib.parse import urlsplit

from curiosity_rosa_demo.agent.interfaces.http.models import TaskView
from curiosity_rosa_demo.agent.interfaces.page.drawings import markers_of
from curiosity_rosa_demo.agent.runtime.robot import Robot
from curiosity_rosa_demo.agent.tasks import SkillRunner
from curiosity_rosa_demo.domain.brain_state import Json
from curiosity_rosa_demo.drawing import world_map
from curiosity_rosa_demo.drawing.world_map import Zone
from curiosity_rosa_demo.infra.config.topics import Config
from curiosity_rosa_demo.infra.event_thread import run_in_thread
from curiosity_rosa_demo.trace.trace_codec import encode
import mcp_types as types

SCHEME = 'curiosity://'
MAX_TASKS, MAX_EVENTS, MAX_TEXT_BYTES = 100, 200, 1_000_000
JSON, SVG, JPEG = 'application/json', 'image/svg+xml', 'image/jpeg'
DESCRIPTIONS = {
    'state': (JSON, 'Mode, pose, health of the nodes, open questions and the running turn'),
    'plan': (JSON, 'The plan of the running turn, or of the last one'),
    'tasks': (JSON, f'The last {MAX_TASKS} tasks, the oldest first'),
    'trace': (JSON, f'The last {MAX_EVENTS} trace events, the oldest first'),
    'capture': (JPEG, 'The newest capture'),
    'map': (SVG, "The map: the rover's trail, captures, obstacles, fence and the bright zone"),
    'configuration': (JSON, 'The configuration, without addresses and secrets of the model'),
}
HIDDEN_LLM_KEYS = ('base_url', 'extra_body')  # either may hold a key


class UnknownResource(LookupError):
    pass


class Resources:
    def __init__(self, robot: Robot, runner: SkillRunner, config: Config) -> None:
        self._robot, self._runner, self._config = robot, runner, config
        self._readers: dict[str, Callable[[], Awaitable[str | bytes]]] = {
            'state': self._state,
            'plan': self._plan,
            'tasks': self._tasks,
            'trace': self._trace,
            'capture': self._capture,
            'map': self._map,
            'configuration': self._configuration,
        }

    def listed(self) -> list[types.Resource]:
        return [
            types.Resource(uri=f'{SCHEME}{name}', name=name, mime_type=mime, description=text)
            for name, (mime, text) in DESCRIPTIONS.items()
        ]

    async def read(self, uri: str) -> types.ReadResourceResult:
        """Raises UnknownResource."""
        try:
            parts = urlsplit(uri)
            name = (
                (parts.netloc or parts.path.strip('/')) if f'{parts.scheme}://' == SCHEME else ''
            )
        except ValueError:
            name = ''
        if name not in self._readers:
            raise UnknownResource(f'There is no resource {uri[:200]!r}')
        content = await self._readers[name]()
        mime = DESCRIPTIONS[name][0]
        shown = f'{SCHEME}{name}'
        if isinstance(content, bytes):
            blob = base64.b64encode(content).decode()
            return types.ReadResourceResult(
                contents=[types.BlobResourceContents(uri=shown, mime_type=mime, blob=blob)]
            )
        return types.ReadResourceResult(
            contents=[types.TextResourceContents(uri=shown, mime_type=mime, text=content)]
        )

    async def _state(self) -> str:
        robot, pose = self._robot, self._robot.pose()
        state = robot.state()
        nodes = [
            {'name': each.name, 'ok': each.ok, 'age_s': each.age_s, 'text': each.text}
            for each in robot.node_statuses()
        ]
        return _json_text(
            {
                'mode': state.tasks.mode.value,
                'robot': state.robot.model_dump(mode='json'),
                'world': state.world.model_dump(mode='json'),
                'react': state.react.model_dump(mode='json'),
                'pose': None if pose is None else pose.model_dump(mode='json'),
                'questions': [each.model_dump(mode='json') for each in robot.questions()],
                'nodes': nodes,
                'not_ready': robot.not_ready_reason(),
                'autonomy': robot.autonomy_status(),
            }
        )

    async def _plan(self) -> str:
        react = self._robot.state().react
        rehearsal = react.rehearsal
        return _json_text(
            {
                'goal': react.goal,
                'plan': react.plan,
                'answer': react.answer,
                'ok': react.ok,
                'rehearsal': rehearsal and rehearsal.model_dump(mode='json'),
            }
        )

    async def _tasks(self) -> str:
        async def read() -> list[Json]:
            tasks = self._runner.list_tasks()[-MAX_TASKS:]
            return [TaskView.of(each).model_dump(mode='json') for each in tasks]

        return _newest_as_json([_json_text(each) for each in await self._robot.call(read())])

    async def _trace(self) -> str:
        return _newest_as_json([*map(encode, self._robot.event_bus.trace_events(MAX_EVENTS))])

    async def _capture(self) -> bytes:
        captures = self._robot.captures()
        if not captures:
            raise UnknownResource('There is no capture yet; call capture_and_score first')
        return captures[-1].picture.jpeg

    async def _map(self) -> str:
        viz = self._config.thresholds.viz
        scene = world_map.MapScene(
            zone=Zone(viz.bright_zone_x_min, viz.bright_zone_x_max, viz.bright_zone_half_width),
            fence=self._config.guardrails.geofence,
            pose=self._robot.pose(),
            trail=self._robot.trail(),
            spots=markers_of(self._robot.captures()),
            obstacles=self._robot.state().world.obstacles,
            body=self._config.thresholds.obstacles,
        )
        return str(await run_in_thread('mcp-map', lambda: world_map.render(scene)))

    async def _configuration(self) -> str:
        value: dict[str, Any] = self._config.model_dump(mode='json')
        llm = value['agent']['llm']
        for key in HIDDEN_LLM_KEYS:
            llm[key] = '(hidden)' if llm[key] else llm[key]
        return _json_text(value)


def _json_text(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text.encode('utf-8', 'replace').decode()


def _newest_as_json(texts: list[str]) -> str:
    """A JSON list of the newest ``texts``, at most MAX_TEXT_BYTES."""
    kept: list[str] = []
    size = 0
    for text in reversed(texts):
        size += len(text.encode('utf-8', 'replace'))
        if size > MAX_TEXT_BYTES and kept:
            break
        kept.append(text)
    return f'[{",".join(reversed(kept))}]'
