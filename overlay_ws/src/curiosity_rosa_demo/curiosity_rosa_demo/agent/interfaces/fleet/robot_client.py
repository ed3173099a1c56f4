# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The server of one robot of the fleet. Each wait for it is bounded, so it delays no other."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
import json
import os
import time
from typing import Protocol, TypeVar

from curiosity_rosa_demo.agent.interfaces.console_client.agent_api import (
    AgentApi,
    AgentRefused,
    AgentUnavailable,
    Frame,
)
from curiosity_rosa_demo.domain.brain_state import BrainState
from curiosity_rosa_demo.infra.config.fleet import FleetRobot
from curiosity_rosa_demo.infra.run_in_thread import run_in_thread
from pydantic import BaseModel, ValidationError

CLIENT = 'fleet'
READ_TIMEOUT_S = 2.0
SOCKET_MARGIN_S = 1.0  # the thread of a request that was given up ends so much later
STOP_TIMEOUT_S = 8.0  # a robot confirms its standstill; a page gives up after 10 s

T = TypeVar('T')


class RobotUnavailable(Exception):
    """The robot gave no usable answer. The message says why."""


class AskedQuestion(BaseModel):
    """What the fleet shows of a question."""

    id: str
    text: str


@dataclass(frozen=True)
class RobotState:
    """``not_ready``: why no task can run; '' if one can. ``at``: steady seconds of the answer."""

    brain: BrainState
    not_ready: str
    questions: tuple[AskedQuestion, ...]
    at: float


@dataclass(frozen=True)
class StopResult:
    """``took_s``: until the answer, or until it was given up."""

    ok: bool
    answer: str
    took_s: float


class RobotClient(Protocol):
    name: str
    url: str

    async def read(self) -> RobotState:
        """Raises RobotUnavailable."""

    async def frame(self, longest_px: int) -> Frame | None:
        """The newest frame; None: the robot has none. Raises RobotUnavailable."""

    async def stop(self, operator: str) -> StopResult: ...


class HttpRobotClient:
    """Through the HTTP API of the robot's agent. Each request has a thread and a connection of its
    own; it ends with the time-out of its connection.
    """

    def __init__(
        self,
        robot: FleetRobot,
        *,
        read_timeout_s: float = READ_TIMEOUT_S,
        stop_timeout_s: float = STOP_TIMEOUT_S,
    ) -> None:
        self.name, self.url = robot.name, robot.url
        self._token = os.environ.get(robot.token_variable, '')
        self._read_timeout_s, self._stop_timeout_s = read_timeout_s, stop_timeout_s
        self._reader = self._api(read_timeout_s)

    def _api(self, timeout_s: float, operator: str = '') -> AgentApi:
        return AgentApi(
            self.url,
            client=CLIENT,
            operator=operator,
            token=self._token,
            timeout_s=timeout_s + SOCKET_MARGIN_S,
        )

    async def read(self) -> RobotState:
        def read() -> RobotState:
            state, questions = self._reader.state(), self._reader.questions()
            return RobotState(
                brain=BrainState.model_validate_json(_json(state.get('brain_state'))),
                not_ready=str(state.get('ready') or ''),
                questions=tuple(AskedQuestion.model_validate(each) for each in questions),
                at=time.monotonic(),
            )

        return await self._in_time('read', read, self._read_timeout_s)

    async def frame(self, longest_px: int) -> Frame | None:
        # The first request switches the camera on, for which the server waits as long.
        timeout_s = 2 * self._read_timeout_s
        return await self._in_time('frame', lambda: self._reader.frame(longest_px), timeout_s)

    async def stop(self, operator: str) -> StopResult:
        began = time.monotonic()
        api = self._api(self._stop_timeout_s, operator)
        try:
            ok, answer = True, await self._in_time('stop', api.stop, self._stop_timeout_s)
        except RobotUnavailable as error:
            ok, answer = False, str(error)
        return StopResult(ok, answer, time.monotonic() - began)

    async def _in_time(self, what: str, work: Callable[[], T], timeout_s: float) -> T:
        try:
            return await asyncio.wait_for(
                run_in_thread(f'fleet-{what}-{self.name}', work), timeout_s
            )
        except asyncio.TimeoutError:
            raise RobotUnavailable(f'did not answer within {timeout_s:g} s') from None
        except AgentUnavailable:
            raise RobotUnavailable(f'no agent answers at {self.url}') from None
        except AgentRefused as error:
            raise RobotUnavailable(str(error)) from None
        except ValidationError:
            raise RobotUnavailable(
                'its answer is not understood; is it another version?'
            ) from None


def _json(value: object) -> str:
    return json.dumps(value)
