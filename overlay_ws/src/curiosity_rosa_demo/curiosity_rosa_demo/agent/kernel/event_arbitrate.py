# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Choose the mode from the state: safety first, then the battery, the user and the tasks.

Four causes latch SAFE: the e-stop; an obstacle in the way, if ``telemetry.obstacle_stop_m`` is
set; a rover that moves with the mast or a part of its profile not stowed for longer than the
adapter needs to stop it; a skill that failed with SAFETY_VIOLATION. The latch lasts until the
operator clears it and the cause is gone. While the adapter is silent, the mode is SAFE without a
latch. With ``obstacle_stop_m`` set, the same holds for a scan that had a view ahead.
"""

from __future__ import annotations

from curiosity_rosa_demo.agent.kernel.limits import KernelRules
from curiosity_rosa_demo.agent.kernel.task_queue import wants_to_run
from curiosity_rosa_demo.domain.brain_state import (
    BatteryLevel,
    BrainState,
    Mode,
    unstowed_part,
    UserInterruptType,
)

INTERRUPT_REASONS = {
    UserInterruptType.STOP: 'the user said stop',
    UserInterruptType.PAUSE: 'the user said pause',
}


def event_arbitrate(state: BrainState, rules: KernelRules) -> BrainState:
    causes, silences = _latch_causes(state, rules), _silent_sources(state, rules)
    latch = state.robot.safety_latch or '; '.join(causes)
    events = state.robot.events
    if state.hci.user_interrupt is UserInterruptType.CLEAR:
        events = [*events, _clear_text(latch, causes, silences)]
        if not causes:
            latch = ''
    mode, reason = _mode(state, latch or '; '.join(silences))
    return state.model_copy(
        update={
            'robot': state.robot.model_copy(update={'safety_latch': latch, 'events': events}),
            'tasks': state.tasks.model_copy(update={'mode': mode, 'mode_reason': reason}),
        }
    )


def _latch_causes(state: BrainState, rules: KernelRules) -> list[str]:
    """The causes of a SAFE latch that are present in this tick."""
    robot, causes = state.robot, []
    if robot.estop:
        causes.append('e-stop pressed')
    near = robot.scan_min_m
    if robot.moving and near is not None and near < rules.obstacle_stop_m:
        causes.append(f'obstacle nearer than {rules.obstacle_stop_m:g} m')
    since = robot.exposed_since_s
    if since is not None and state.telemetry.now_s - since >= rules.exposed_s:
        causes.append(f'moving with the {unstowed_part(robot.mast, robot.appendages)}')
    if robot.violation:
        causes.append(robot.violation)
    return causes


def _silent_sources(state: BrainState, rules: KernelRules) -> list[str]:
    """The silent sources without which the rover must not run. They do not latch."""
    scan = state.robot.heard.get('scan')
    saw_ahead = rules.obstacle_stop_m > 0.0 and scan is not None and scan.value.get('view')
    needed = ('adapter', 'scan') if saw_ahead else ('adapter',)
    return [f'{source} is silent' for source in needed if source in state.robot.silent]


def _clear_text(latch: str, causes: list[str], silences: list[str]) -> str:
    if causes:
        return f'not cleared: {"; ".join(causes)}'
    if latch:
        return f'cleared: {latch}'
    return f'nothing to clear: {"; ".join(silences) or "no safety latch"}'


def _mode(state: BrainState, safe_reason: str) -> tuple[Mode, str]:
    if safe_reason:
        return Mode.SAFE, safe_reason
    if state.robot.battery_state is BatteryLevel.LOW:
        return Mode.CHARGE, 'battery is low'
    interrupt_reason = INTERRUPT_REASONS.get(state.hci.user_interrupt)
    if interrupt_reason:
        return Mode.IDLE, interrupt_reason
    if any(wants_to_run(task) for task in state.tasks.queue):
        return Mode.EXEC, 'there are tasks to do'
    return Mode.IDLE, 'nothing to do'
