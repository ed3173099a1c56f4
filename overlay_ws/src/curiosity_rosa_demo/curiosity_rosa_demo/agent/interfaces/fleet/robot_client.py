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
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
import logging
import os
import ssl
import threading
import time

from curiosity_rosa_demo.agent.interfaces.http.models import QuestionView, StateView
from curiosity_rosa_demo.agent.interfaces.page.document import Document, state_shown
from curiosity_rosa_demo.domain.geometry import finite_float
from curiosity_rosa_demo.domain.origin import operator_name
from curiosity_rosa_demo.infra.config.agent import FleetRobot
import httpx
from pydantic import TypeAdapter

CLIENT = 'fleet'
READ_TIMEOUT_S = 2.0
STOP_TIMEOUT_S = 8.0  # a robot confirms its standstill; a page gives up after 10 s


_QUESTIONS = TypeAdapter(list[QuestionView])


class RobotUnavailable(Exception):
    """The robot gave no usable answer. The message says why."""


@dataclass(frozen=True)
class Frame:
    """A frame of the camera; ``at``: when it came, seconds since the epoch."""

    jpeg: bytes
    at: float


@dataclass(frozen=True)
class RobotState:
    """``shown``: ``state`` and ``approvals``, as the robot's page has them. ``at``: steady seconds
    of the answer.
    """

    shown: Document
    at: float


@dataclass(frozen=True)
class StopResult:
    """``took_s``: until the answer, or until it was given up."""

    ok: bool
    answer: str
    took_s: float


class RobotClient:
    """Through the HTTP API of the robot's agent, a connection for each request."""

    def __init__(
        self,
        robot: FleetRobot,
        *,
        read_timeout_s: float = READ_TIMEOUT_S,
        stop_timeout_s: float = STOP_TIMEOUT_S,
    ) -> None:
        self.name, self.url = robot.name, robot.url
        token = os.environ.get(robot.token_variable, '')
        self._headers = {'Authorization': f'Bearer {token}'} if token else {}
        self._read_timeout_s, self._stop_timeout_s = read_timeout_s, stop_timeout_s
        self._tls = ssl.create_default_context() if robot.url.startswith('https:') else False

    async def read(self) -> RobotState:
        """Raises RobotUnavailable."""
        told = await self._ask('GET', '/state', self._read_timeout_s)
        asked = await self._ask('GET', '/approvals', self._read_timeout_s)
        try:
            state = StateView.model_validate_json(told.content)
            questions = _QUESTIONS.validate_json(asked.content)
        except (ValueError, TypeError):
            why = 'its answer is not understood; is it another version?'
            raise RobotUnavailable(why) from None
        approvals = [each.model_dump(mode='json') for each in questions]
        shown = {'state': state_shown(state), 'approvals': approvals}
        return RobotState(shown, time.monotonic())

    async def frame(self, longest_px: int) -> Frame | None:
        """The newest frame; None: the robot has none. Raises RobotUnavailable."""
        # The first request switches the camera on, for which the server waits as long.
        timeout_s = 2 * self._read_timeout_s
        answer = await self._ask('GET', '/page/frame.jpg', timeout_s, px=longest_px)
        if answer.status_code != 200:
            return None
        return Frame(answer.content, finite_float(answer.headers.get('X-Timestamp')) or 0.0)

    async def stop(self, operator: str) -> StopResult:
        began = time.monotonic()
        try:
            who = {'client': CLIENT, 'operator': operator_name(operator)}
            answer = await self._ask('POST', '/stop', self._stop_timeout_s, **who)
            ok, words = True, str(answer.json()['answer'])
        except RobotUnavailable as error:
            ok, words = False, str(error)
        return StopResult(ok, words, time.monotonic() - began)

    async def _ask(
        self, method: str, path: str, timeout_s: float, **query: str | int
    ) -> httpx.Response:
        try:
            async with httpx.AsyncClient(verify=self._tls, timeout=None, trust_env=False) as http:
                url, headers = f'{self.url}{path}', self._headers
                asking = http.request(method, url, params=query, headers=headers)
                answer = await asyncio.wait_for(asking, timeout_s)
        except asyncio.TimeoutError:
            raise RobotUnavailable(f'did not answer within {timeout_s:g} s') from None
        except (httpx.HTTPError, OSError):
            raise RobotUnavailable(f'no agent answers at {self.url}') from None
        if not answer.is_error:
            return answer
        if answer.status_code == 401:
            raise RobotUnavailable('the agent refuses the token')
        try:
            detail = str(answer.json()['detail'])
        except (ValueError, TypeError, KeyError):
            detail = f'the agent answers with HTTP status {answer.status_code}'
        raise RobotUnavailable(detail)


FRAME_PX = 448
FRAME_PERIOD_S = 1.0
WAIT_S = 1.0  # a page does not wait longer; the next request finds what has come
MAX_AGE_S = 10.0  # an older frame is not shown at all


class NewestFrame:
    """Of one robot. Use it in one loop."""

    def __init__(self, robot: RobotClient) -> None:
        self._robot = robot
        self._frame: Frame | None = None
        self._asked = float('-inf')  # steady seconds of the last request
        self._came = float('-inf')
        self._why = 'no picture yet'
        self._request: asyncio.Task[None] | None = None

    async def get(self) -> tuple[Frame | None, str]:
        """The frame, or why there is none. Waits at most WAIT_S."""
        request = self._request
        is_idle = request is None or request.done()
        if is_idle and time.monotonic() - self._asked >= FRAME_PERIOD_S:
            self._asked = time.monotonic()
            request = asyncio.get_running_loop().create_task(self._ask())
            self._request = request
        if request is not None:
            await asyncio.wait([request], timeout=WAIT_S)
        if self._frame is not None and time.monotonic() - self._came <= MAX_AGE_S:
            return self._frame, ''
        return None, self._why

    async def _ask(self) -> None:
        try:
            frame = await self._robot.frame(FRAME_PX)
        except RobotUnavailable as error:
            self._why = str(error)
            return
        if frame is None:
            self._why = 'the camera gives no picture'
            return
        self._frame, self._came = frame, time.monotonic()


# --- One stop for all robots, in parallel, each through its own POST /stop ---------------------


_log = logging.getLogger('curiosity_rosa.page')


class StopAll:
    """Thread-safe: a stop runs in the loop of its caller. ``results``: of the newest stop, by
    robot; a robot that has not answered yet has none.
    """

    def __init__(self, robots: Sequence[RobotClient]) -> None:
        self._robots = robots
        self._lock = threading.Lock()
        self._number = 0
        self._results: dict[str, StopResult] = {}

    def results(self) -> Mapping[str, StopResult]:
        with self._lock:
            return dict(self._results)

    async def stop(self, operator: str) -> dict[str, StopResult]:
        """The result of each robot. A robot that hangs or fails neither delays nor stops another
        robot's stop.
        """
        with self._lock:
            self._number += 1
            number = self._number
            self._results = {}

        async def stop_one(robot: RobotClient) -> StopResult:
            try:
                result = await robot.stop(operator)
            except Exception as error:  # the others are stopped all the same
                _log.exception('event=fleet_stop_failed robot=%s', robot.name)
                result = StopResult(False, f'failed inside ({type(error).__name__})', 0.0)
            with self._lock:
                if number == self._number:
                    self._results[robot.name] = result
            return result

        results = await asyncio.gather(*(stop_one(each) for each in self._robots))
        return {each.name: result for each, result in zip(self._robots, results, strict=True)}


def summary(results: Mapping[str, StopResult]) -> str:
    """Such as ``r1: stopped (84 ms)``; those that are not stopped first."""
    ordered = sorted(results.items(), key=lambda item: item[1].ok)
    return '; '.join(
        f'{name}: {result.answer} ({round(1000 * result.took_s)} ms)' for name, result in ordered
    )
