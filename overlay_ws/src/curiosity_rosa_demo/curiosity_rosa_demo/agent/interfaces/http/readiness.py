# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Whether the robot can carry out a task, for /readyz."""

from __future__ import annotations

from curiosity_rosa_demo.agent.runtime.robot import Robot
from curiosity_rosa_demo.domain.brain_state import Mode

NEEDED_NODES = ('adapter', 'simulator', 'kernel', 'tasks')  # RViz alone needs the visualizer


def not_ready_reasons(robot: Robot) -> list[str]:
    """Why a task cannot be carried out now; empty: it can. The adapter reports a missing rover."""
    state = robot.state()
    reasons = [robot.not_ready_reason()]
    if replay := robot.replay_text():
        reasons.append(f'a recording is played: {replay}')
    if state.tasks.mode is Mode.SAFE:
        reasons.append(f'SAFE: {state.tasks.mode_reason or "no reason is known"}')
    if state.robot.safety_latch:
        reasons.append(f'latched until :clear: {state.robot.safety_latch}')
    if state.robot.silent:
        reasons.append(f'silent: {", ".join(state.robot.silent)}')
    for node in robot.node_statuses():
        # not_ready_reason() tells of a kernel that has not begun.
        has_begun = node.name != 'kernel' or node.age_s is not None
        if node.name in NEEDED_NODES and has_begun and not node.ok:
            unheard = 'was never heard' if node.age_s is None else 'is not ok'
            reasons.append(f'{node.name}: {node.text or unheard}')
    return list(dict.fromkeys(filter(None, reasons)))
