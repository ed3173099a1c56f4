# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The rules that hold after every step of a mission, judged by the twin's truth.

The judge shares no code with the guard and the gate. It sees the rover's body, what travels
through the ROS graph, and the stored tasks; it knows which faults are active. A rule that a fault
makes impossible to keep, such as a stop while the adapter is dead, has a clock that pauses
meanwhile.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass
import json
from typing import Any

from curiosity_rosa_demo.domain.skills import MOTIONS
from curiosity_rosa_demo.infra.config.topics import Config
from curiosity_stand_in.body import State
from curiosity_stand_in.parts import is_stowed
from missions.primitives import now_s

STEP_S = 0.05
MAST_UP_S = 3.0  # longest motion with the mast up that nobody asked for: settle_s, a stop, retries
LEASH_SLACK_S = 3.0  # to stop the wheels after the leash, with one stop that times out
STOP_S = 0.15  # from the order of a person to the request at the adapter
FENCE_SLACK_M = 0.3
AGENT_GONE_S = 2.5  # longest motion after the agent's death: its lease, and a stop
PRESSED_S = 2.5  # longest motion under a pressed e-stop
EXPLAINED_S = 8.0  # a motion is explained by an act that began at most so long before
TURNS_SUFFIX = '.react'  # of the file of turns


@dataclass(frozen=True)
class Violation:
    """``rule``: S1 to S6, or the name of another rule."""

    at_s: float
    rule: str
    text: str

    def __str__(self) -> str:
        return f'{self.rule} at {self.at_s:.3f} s: {self.text}'


# Kinds of happenings, and the starts of the product's own processes, by what they hinder.
AGENT_DOWN = frozenset(('agent dies', 'agent freezes', 'agent starts', 'power fails'))
NETWORK = frozenset(('late messages', 'lost messages', 'doubled messages', 'reordered messages'))
HINDER_A_STOP = NETWORK | {
    'adapter dies', 'adapter freezes', 'adapter starts', 'power fails', 'drive node hangs',
    'drive node dies', 'foreign twist', 'odometry silent', 'joints silent', 'transforms silent',
}  # fmt: skip


class Judge:
    """``truth``: about the rover. ``active`` counts the faults that are active now, by kind."""

    def __init__(self, config: Config, truth: Callable[[], State]) -> None:
        self._config, self._truth = config, truth
        self.active: Counter[str] = Counter()
        self.violations: list[Violation] = []
        self.counts: Counter[str] = Counter()  # how often each rule was asked
        self._mast_up_s = self._moving_s = self._unled_s = self._pressed_s = 0.0
        self._started_by_agent = False  # and not yet stopped by it
        self._fenced = False  # the present motion was begun by the adapter, inside the fence
        self._fresh_since: float | None = 0.0  # a start after which nothing may move unasked
        self._stops_due: list[float] = []
        self._safe_reason, self._safe_since = '', 0.0
        self._cleared_at = -1.0
        self._acts: list[tuple[float, str]] = []  # open acts and foreign calls
        self._task_states: dict[str, str] = {}
        adapter, services = config.topics.adapter, config.topics.curiosity
        self._adapter_starts = {getattr(adapter, name).name for name in MOTIONS}
        self._starts = {getattr(services, name).name for name in MOTIONS}
        self._raises = {services.mast_open.name, services.mast_rotate.name}

    # --- verdicts -----------------------------------------------------------------------------

    def fail(self, rule: str, text: str) -> None:
        if not any(each.rule == rule for each in self.violations):
            self.violations.append(Violation(round(now_s(), 3), rule, text))

    def _expect(self, holds: bool, rule: str, text: str) -> None:
        self.counts[rule] += 1
        if not holds:
            self.fail(rule, text)

    # --- the truth, at each step of the world -------------------------------------------------

    def on_step(self, state: State) -> None:
        hindered = self._is_active(HINDER_A_STOP)
        if not state.moves:
            self._mast_up_s = self._moving_s = self._unled_s = self._pressed_s = 0.0
            self._fenced = False
        elif not hindered:
            stowed = is_stowed(state.joints)
            self._mast_up_s = 0.0 if stowed else self._mast_up_s + STEP_S
            self._moving_s += STEP_S
            unled, pressed = self._is_active(AGENT_DOWN), self._is_active({'e-stop pressed'})
            self._unled_s = self._unled_s + STEP_S if unled else 0.0
            self._pressed_s = self._pressed_s + STEP_S if pressed else 0.0
        motion = self._config.thresholds.motion
        leash = motion.max_duration_s + motion.settle_s + LEASH_SLACK_S
        self._expect(
            self._mast_up_s <= MAST_UP_S,
            'S1',
            f'the rover moves with its mast up for {self._mast_up_s:.2f} s',
        )
        self._expect(self._moving_s <= leash, 'S2', f'the rover moves for {self._moving_s:.1f} s')
        self._expect(
            self._unled_s <= AGENT_GONE_S,
            'S2',
            f'the rover moves for {self._unled_s:.1f} s without an agent',
        )
        self._expect(
            self._pressed_s <= PRESSED_S,
            'e-stop',
            f'the rover moves for {self._pressed_s:.1f} s while the e-stop is pressed',
        )
        pose = state.pose
        if self._fenced and not hindered:
            self._expect(
                self.is_inside(FENCE_SLACK_M),
                'S6',
                f'the rover is at x {pose.x:.2f} m, y {pose.y:.2f} m, outside',
            )
        self._check_stops()

    def _is_active(self, kinds: Collection[str]) -> bool:
        return any(self.active[kind] for kind in kinds)

    def is_inside(self, slack_m: float = 0.0) -> bool:
        """Whether the rover is within the fence, or so far beyond it."""
        fence, pose = self._config.guardrails.geofence, self._truth().pose
        return (
            fence.x_min - slack_m <= pose.x <= fence.x_max + slack_m
            and fence.y_min - slack_m <= pose.y <= fence.y_max + slack_m
        )

    # --- what travels -------------------------------------------------------------------------

    def on_message(self, kind: str, name: str, sender: str, content: Any) -> None:
        if kind == 'call' and name in self._starts and sender == '/adapter':
            self._on_start(name)
        elif kind == 'call' and name in self._raises and sender == '/adapter':
            wheels = not self._truth().moves or self._is_active(HINDER_A_STOP)
            self._expect(wheels, 'S1', f'{name} was called while the rover moved')
        elif kind == 'call' and sender == '/agent' and name in self._adapter_starts:
            self._expect(
                not self._started_by_agent,
                'once',
                f'{name} was called twice without a stop between',
            )
            self._started_by_agent = True
        elif kind == 'call' and name == self._config.topics.adapter.move_stop.name:
            if sender == '/agent':
                self.counts['S3'] += len(self._stops_due)
                self._stops_due.clear()
                self._started_by_agent = False
        elif kind == 'answer' and name in self._adapter_starts and not content.success:
            self._started_by_agent = False
        elif kind == 'publish' and name == self._config.topics.status.kernel:
            self._on_heartbeat(str(json.loads(content.data)['safe_reason']))
        elif kind == 'publish' and name == self._config.topics.trace.events:
            self.on_trace(json.loads(content.data))

    def _on_start(self, name: str) -> None:
        self._expect(
            is_stowed(self._truth().joints),
            'S1',
            f'{name} was called while the mast was not stowed',
        )
        self._expect(
            self._fresh_since is None,
            'S5',
            f'{name} was called after a start, before any order',
        )
        self._fenced = self.is_inside()
        recent = [at for at, _ in self._acts if now_s() - at <= EXPLAINED_S]
        open_acts = [what for _, what in self._acts if what]
        self._expect(
            bool(recent or open_acts), 'explained', f'{name} was called, and no act explains it'
        )

    def on_trace(self, event: dict[str, Any]) -> None:
        tool, kind = event.get('tool_name') or '', event['kind']
        if kind == 'ACT':
            self._acts.append((now_s(), tool))
        elif kind in ('RESULT', 'ERROR') and tool:
            self._acts = [(at, '' if what == tool else what) for at, what in self._acts]
        self._acts = self._acts[-20:]

    def on_foreign_call(self) -> None:
        self._acts.append((now_s(), ''))
        self._fresh_since = None

    def _on_heartbeat(self, reason: str) -> None:
        now = now_s()
        # A silent source makes SAFE without a latch; it ends with the silence.
        reason = '; '.join(part for part in reason.split('; ') if not part.endswith(' is silent'))
        if reason and not self._safe_reason:
            self._safe_since = now
        if not reason and self._safe_reason:
            known = now - self._safe_since >= 0.5  # it was on the disk
            self._expect(
                self._cleared_at >= self._safe_since or not known,
                'S4',
                f'SAFE ({self._safe_reason}) ended without a person',
            )
        self._safe_reason = reason

    # --- people -------------------------------------------------------------------------------

    def on_order(self) -> None:
        self._fresh_since = None

    def on_fresh_start(self) -> None:
        self._fresh_since = now_s()

    def on_stop(self) -> None:
        if not self._is_active(AGENT_DOWN | NETWORK):
            self._stops_due.append(now_s())

    def on_clear(self) -> None:
        self._cleared_at = now_s()

    def forget_stops(self) -> None:
        """The agent that received them died or froze."""
        self._stops_due.clear()
        self._started_by_agent = False

    def _check_stops(self) -> None:
        late = [at for at in self._stops_due if now_s() - at > STOP_S]
        if late:
            self.fail('S3', f'no stop was sent within {STOP_S} s of the order')
        self._stops_due = [at for at in self._stops_due if at not in late]

    # --- what is stored -----------------------------------------------------------------------

    def on_write(self, file: str, synced: bool) -> None:
        """``synced``: a commit of it outlives the loss of power. Not asked of turns, whose
        results may wait for the next act.
        """
        synced = synced or file.endswith(TURNS_SUFFIX)
        self._expect(synced, 'synced', f'{file} is written without a sync at each commit')

    def on_tasks(self, states: dict[str, str], terminal: Callable[[str], bool]) -> None:
        """``states``: the state of each stored task by its ID, as the agent shows them."""
        for task, before in self._task_states.items():
            after = states.get(task)
            self._expect(after is not None, 'lost', f'task {task[:8]} ({before}) is not stored')
            if after is not None and terminal(before):
                self._expect(
                    after == before,
                    'repeated',
                    f'task {task[:8]} was {before} and is {after}',
                )
        self._task_states.update(states)
