# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""POST /fleet/stop, and the pictures of the page /fleet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from curiosity_rosa_demo.agent.interfaces.fleet.frames import NewestFrame
from curiosity_rosa_demo.agent.interfaces.fleet.robot_client import RobotClient, StopResult
from curiosity_rosa_demo.agent.interfaces.fleet.stop_all import StopAll, summary
from curiosity_rosa_demo.agent.interfaces.http.caller import Operator
from curiosity_rosa_demo.agent.interfaces.http.limits import FLEET_STOP_PATH
from curiosity_rosa_demo.agent.interfaces.http.openapi import problems
from curiosity_rosa_demo.agent.interfaces.http.problems import Problem
from fastapi import APIRouter, Response
from pydantic import BaseModel


class RobotStopView(BaseModel):
    name: str
    ok: bool
    answer: str
    took_ms: int

    @classmethod
    def of(cls, name: str, result: StopResult) -> RobotStopView:
        took_ms = round(1000 * result.took_s)
        return cls(name=name, ok=result.ok, answer=result.answer, took_ms=took_ms)


class FleetStopView(BaseModel):
    ok: bool
    answer: str
    robots: list[RobotStopView]


def fleet_routes(robots: Sequence[RobotClient], stops: StopAll) -> APIRouter:
    router = APIRouter(tags=['fleet'])
    frames = {each.name: NewestFrame(each) for each in robots}

    @router.post(FLEET_STOP_PATH, responses=problems())
    async def stop(operator: Operator) -> FleetStopView:
        """Stop all robots of the fleet at once. The response comes when each has answered or its
        time is over. 503: not all have confirmed; ``robots`` has the result of each.
        """
        results = await stops.stop(operator)
        views = _views(results)
        if not all(each.ok for each in views):
            raise Problem(503, summary(results), robots=[each.model_dump() for each in views])
        return FleetStopView(ok=True, answer=summary(results), robots=views)

    @router.get('/fleet/{name}/frame.jpg', include_in_schema=False)
    async def frame(name: str) -> Response:
        """The newest frame of the robot. 204 if there is none, which is no error of the page."""
        if (newest := frames.get(name)) is None:
            raise Problem(404, f'No robot {name[:100]!r}; the fleet has {", ".join(frames)}')
        found, why = await newest.get()
        if found is None:
            return Response(status_code=204, headers={'X-Problem': why})
        headers = {'Cache-Control': 'no-store', 'X-Timestamp': f'{found.at:.3f}'}
        return Response(found.jpeg, media_type='image/jpeg', headers=headers)

    return router


def _views(results: Mapping[str, StopResult]) -> list[RobotStopView]:
    return [RobotStopView.of(name, result) for name, result in results.items()]
