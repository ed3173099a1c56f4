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
from collections.abc import Awaitable, Callable, Mapping, Sequence
import logging
import os
import ssl
import threading
import time
from typing import Generic, TypeVar

from curiosity_rosa_demo.agent.interfaces.http.models import QuestionView, StateView
from curiosity_rosa_demo.agent.interfaces.page.document import Document, state_shown
from curiosity_rosa_demo.domain.geometry import finite_float
from curiosity_rosa_demo.domain.origin import operator_name
from curiosity_rosa_demo.domain.pictures import Picture
from curiosity_rosa_demo.infra.config.agent import FleetRobot
import httpx
from pydantic import BaseModel, TypeAdapter

CLIENT = 'fleet'
READ_TIMEOUT_S = 2.0
STOP_TIMEOUT_S = 8.0  # a robot confirms its standstill; a page gives up after 10 s
FRAME_PX = 448

T = TypeVar('T')
_QUESTIONS = TypeAdapter(list[QuestionView])
_log = logging.getLogger('curiosity_rosa.page')


class RobotUnavailable(Exception):
    """The robot gave no usable answer. The message says why."""


class RobotStopView(BaseModel):
    """What came of a stop of a robot. ``took_ms``: until the answer, or until it was given up."""

    name: str
    ok: bool
    answer: str
    took_ms: int


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
        token = os.environ.get(robot.token_variable, '').strip()
        self._headers = {'Authorization': f'Bearer {token}'} if token else {}
        self._read_timeout_s, self._stop_timeout_s = read_timeout_s, stop_timeout_s
        self._tls = ssl.create_default_context() if robot.url.startswith('https:') else False

    async def read(self) -> Document:
        """``state`` and ``approvals``, as the robot's page has them. Raises RobotUnavailable."""
        told = await self._ask('GET', '/state', self._read_timeout_s)
        asked = await self._ask('GET', '/approvals', self._read_timeout_s)
        try:
            state = StateView.model_validate_json(told.content)
            questions = _QUESTIONS.validate_json(asked.content)
        except (ValueError, TypeError):
            why = 'its answer is not understood; is it another version?'
            raise RobotUnavailable(why) from None
        approvals = [each.model_dump(mode='json') for each in questions]
        return {'state': state_shown(state), 'approvals': approvals}

    async def frame(self) -> Picture:
        """The newest frame. Raises RobotUnavailable, also where the camera has none."""
        # The first request switches the camera on, for which the server waits as long.
        timeout_s = 2 * self._read_timeout_s
        answer = await self._ask('GET', '/page/frame.jpg', timeout_s, px=FRAME_PX)
        if answer.status_code != 200:
            raise RobotUnavailable('the camera gives no picture')
        at, age_s = (_number(answer.headers.get(each, '')) for each in ('X-Timestamp', 'X-Age'))
        return Picture(answer.content, at, time.monotonic() - age_s)

    async def stop(self, operator: str) -> RobotStopView:
        began = time.monotonic()
        try:
            who = {'client': CLIENT, 'operator': operator_name(operator)}
            answer = await self._ask('POST', '/stop', self._stop_timeout_s, **who)
            ok, words = True, str(answer.json()['answer'])
        except RobotUnavailable as error:
            ok, words = False, str(error)
        took_ms = round(1000 * (time.monotonic() - began))
        return RobotStopView(name=self.name, ok=ok, answer=words, took_ms=took_ms)

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


def _number(text: str) -> float:
    """The finite number in ``text``; 0.0: there is none."""
    try:
        return finite_float(float(text)) or 0.0
    except ValueError:
        return 0.0


class Newest(Generic[T]):
    """The newest answer of the robot ``name``, asked for once in ``period_s`` at most, however
    many want it. Use it in one loop. ``at``: steady seconds of the answer; None: none has come.
    ``failure``: why the newest request failed; '' if it did not.
    """

    def __init__(self, name: str, ask: Callable[[], Awaitable[T]], period_s: float) -> None:
        self._name, self._ask, self._period_s = name, ask, period_s
        self.answer: T | None = None
        self.at: float | None = None
        self.failure = ''
        self._asked = float('-inf')  # steady seconds
        self._request: asyncio.Task[None] | None = None

    def request(self) -> asyncio.Task[None]:
        """The newest request: a new one, if it is time and the last one has ended."""
        last, clock = self._request, time.monotonic()
        if last is not None and not (last.done() and clock - self._asked >= self._period_s):
            return last
        self._asked = clock
        self._request = asyncio.get_running_loop().create_task(self._run())
        return self._request

    async def _run(self) -> None:
        try:
            self.answer = await self._ask()
            self.at, self.failure = time.monotonic(), ''
        except RobotUnavailable as error:
            self.failure = str(error)
        except Exception:  # the next request may succeed
            _log.exception('event=fleet_robot_not_read robot=%s', self._name)
            self.failure = 'it could not be read; the log of this agent says more'


# --- One stop for all robots, in parallel, each through its own POST /stop ---------------------


STOPPED_SHOWN_S = 10.0  # as on the page of a robot; it may drive again


class StopAll:
    """Thread-safe: a stop runs in the loop of its caller. ``results``: of the newest stop, by
    robot; a robot that has not answered yet has none. A failure stays until the next stop.
    """

    def __init__(
        self, robots: Sequence[RobotClient], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._robots, self._clock = robots, clock
        self._lock = threading.Lock()
        self._number = 0
        self._results: dict[str, tuple[RobotStopView, float]] = {}  # and when it came

    def results(self) -> Mapping[str, RobotStopView]:
        oldest_s = self._clock() - STOPPED_SHOWN_S
        with self._lock:
            known = self._results.items()
            return {name: each for name, (each, at) in known if not each.ok or at >= oldest_s}

    async def stop(self, operator: str) -> dict[str, RobotStopView]:
        """The result of each robot. A robot that hangs or fails neither delays nor stops another
        robot's stop.
        """
        with self._lock:
            self._number += 1
            number = self._number
            self._results = {}

        async def stop_one(robot: RobotClient) -> RobotStopView:
            try:
                result = await robot.stop(operator)
            except Exception as error:  # the others are stopped all the same
                _log.exception('event=fleet_stop_failed robot=%s', robot.name)
                why = f'failed inside ({type(error).__name__})'
                result = RobotStopView(name=robot.name, ok=False, answer=why, took_ms=0)
            with self._lock:
                if number == self._number:
                    self._results[robot.name] = result, self._clock()
            return result

        results = await asyncio.gather(*(stop_one(each) for each in self._robots))
        return {each.name: each for each in results}


def summary(results: Mapping[str, RobotStopView]) -> str:
    """Such as ``r1: stopped (84 ms)``; those that are not stopped first."""
    ordered = sorted(results.values(), key=lambda each: each.ok)
    return '; '.join(f'{each.name}: {each.answer} ({each.took_ms} ms)' for each in ordered)
