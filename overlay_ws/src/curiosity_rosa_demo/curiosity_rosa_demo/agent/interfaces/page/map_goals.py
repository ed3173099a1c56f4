# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A goal that a person points at on the map: proposed with its rehearsal, then ordered. Pure but
for the port. A proposal orders nothing.
"""

from __future__ import annotations

import math
from typing import Any

from curiosity_rosa_demo.agent.interfaces.page.status_rows import PanelData, rehearsal_lines
from curiosity_rosa_demo.agent.react.situation import NAVIGATE_SKILL
from curiosity_rosa_demo.agent.runtime.execution.task_origin import with_origin
from curiosity_rosa_demo.agent.runtime.robot import Robot
from curiosity_rosa_demo.agent.tasks import Task
from curiosity_rosa_demo.agent.tasks.task import BadTask
from curiosity_rosa_demo.domain.origin import Origin
from curiosity_rosa_demo.trace.reporter import finite_float

FACE_TURN_M = 6.0  # ahead of the rover in the new heading: it has to drive to turn
NO_POSE = 'The position of the rover is unknown.'


async def propose(robot: Robot, given: dict[str, Any]) -> PanelData:
    """What the goal of ``given`` (``what``: drive or face; x, y in metres) would do."""
    task, problem = _task_of(robot, given)
    if task is None:
        return {'ok': False, 'lines': [problem], 'path': []}
    rehearsal = await robot.rehearse(task)
    lines = rehearsal_lines(rehearsal) or ['Nothing can be predicted now.']
    path = [] if rehearsal is None else [list(place) for place in rehearsal.path]
    refusal = robot.order_refusal(task.name)
    return {
        'ok': not refusal,
        'lines': [*([refusal] if refusal else []), *lines],
        'path': path,
    }


async def order(robot: Robot, given: dict[str, Any], by: str = '') -> Task:
    """Submit the goal of ``given``. Raises TaskError, as BadTask for a goal that is none. ``by``:
    who acts, for the others.
    """
    stops = robot.stop_count
    task, problem = _task_of(robot, given)
    if task is None:
        raise BadTask(problem)
    return await robot.submit(task, stops=stops, by=by)


def _task_of(robot: Robot, given: dict[str, Any]) -> tuple[Task | None, str]:
    """The task of a goal, or why there is none."""
    x, y, what = finite_float(given.get('x')), finite_float(given.get('y')), given.get('what')
    if x is None or y is None or what not in ('drive', 'face'):
        return None, 'A goal is a place in metres, and drive or face.'
    arguments = {'x': round(x, 2), 'y': round(y, 2)}
    if what == 'face':
        pose = robot.pose()
        if pose is None:
            return None, NO_POSE
        yaw = math.atan2(y - pose.y, x - pose.x)
        arguments = {
            'x': round(pose.x + FACE_TURN_M * math.cos(yaw), 2),
            'y': round(pose.y + FACE_TURN_M * math.sin(yaw), 2),
            'yaw_rad': round(yaw, 3),
        }
    try:
        return with_origin(robot.make_task(NAVIGATE_SKILL, arguments), Origin.PAGE), ''
    except BadTask as error:
        return None, str(error)
