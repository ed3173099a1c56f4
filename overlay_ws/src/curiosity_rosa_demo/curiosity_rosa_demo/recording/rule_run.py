# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The adapter's rules, driven by the entries of a log of inputs, at the log's own times."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from curiosity_rosa_demo.adapter.part import MAST, Mast
from curiosity_rosa_demo.adapter.rules import Rules
from curiosity_rosa_demo.adapter.steps import Due, LogEntry, MotionRefused, REFUSED, STEPS
from curiosity_rosa_demo.domain.adapter_status import Status
from curiosity_rosa_demo.infra.config.topics import Config

SEED_S = 0.5  # less than joint_max_age_s: the mast that a status shows must not be lost
# The steps whose first argument is a number that another step gave: by which.
NUMBERED = {
    **dict.fromkeys(('motion_started', 'motion_failed'), 'start_motion'),
    **dict.fromkeys(('stop_answered', 'stop_failed', 'end_stop'), 'request_stop'),
}


class BadEntry(Exception):
    """The entry is no call of the rules. The message says which."""


@dataclass
class ReplayClock:
    """Both clocks of the rules, as the last entry shows them."""

    steady_s: float = 0.0
    ros_ns: int | None = None

    def __call__(self) -> float:
        return self.steady_s

    @property
    def ros_time_is_active(self) -> bool:
        return self.ros_ns is not None

    def now(self) -> ReplayClock:
        return self

    @property
    def nanoseconds(self) -> int:
        return self.ros_ns or 0


class RuleRun:
    """The rules of one adapter, at the time of ``start``. ``begins_late``: after the adapter, so
    that its numbers of motions and stops are others here.
    """

    def __init__(self, config: Config, start: LogEntry) -> None:
        self.clock = ReplayClock(start.at, start.ros_ns)
        self.rules = Rules(
            config.thresholds,
            stop_name=config.topics.curiosity.move_stop.name,
            steady=self.clock,
            ros_clock=self.clock,
            robot=config.robot,
        )
        self.begins_late = False
        self._numbers: dict[tuple[str, int], int] = {}  # by kind and recorded number: that here

    def feed(self, entry: LogEntry) -> Any:
        """Make the call of the entry, and return its result as a log holds it. Raises BadEntry."""
        self.clock.steady_s, self.clock.ros_ns = entry.at, entry.ros_ns
        arguments = list(entry.arguments)
        try:
            if entry.name not in STEPS:
                raise ValueError('the rules have no such call')
            if kind := NUMBERED.get(entry.name):
                recorded = arguments[0]
                if self.begins_late and (kind, recorded) not in self._numbers:
                    raise ValueError('the call came before the first status of a rover at rest')
                arguments[0] = self._numbers.get((kind, recorded), recorded)
            result = getattr(self.rules, entry.name)(*arguments)
        except MotionRefused as refusal:
            return {REFUSED: str(refusal)}
        except (TypeError, ValueError, LookupError, AttributeError, OverflowError) as error:
            raise BadEntry(f'{entry.name}{tuple(entry.arguments)}: {error}') from error
        if not isinstance(result, Due):
            self._remember(entry.name, entry.result, result)
            return result
        due = result.to_json()
        if isinstance(entry.result, dict):
            self._remember('request_stop', entry.result.get('stop_call'), result.stop_call)
        return due

    def _remember(self, kind: str, recorded: Any, own: Any) -> None:
        if type(recorded) is int and type(own) is int:
            self._numbers[kind, recorded] = own


def seeded_run(config: Config, status: Status, first: LogEntry) -> RuleRun:
    """The rules in the state of ``status``, whose rover stands, before the entry ``first``. What a
    status does not show is as after a start: the learned speeds, the obstacles, the agents.
    """
    command = {'closed': 'mast_close', 'open': 'mast_open'}.get(str(status.get('mast')), '')
    end = Mast(config.thresholds.mast).commands.get(command)
    mast_s = 1.0 + (0.0 if end is None else end.duration_s)
    began = first.at - mast_s - SEED_S
    run = RuleRun(config, LogEntry(began, first.ros_ns, 'start'))
    rules, run.begins_late = run.rules, True

    def stop(after_s: float) -> None:
        run.clock.steady_s = began + after_s
        rules.stop_answered(rules.due().stop_call or 0)
        run.clock.steady_s += 0.1
        rules.due()

    stop(0.1)
    if end is not None:
        run.clock.steady_s = began + 0.4
        rules.start_part(MAST, command)
        rules.part_started(MAST)
        run.clock.steady_s = began + mast_s
        rules.joints(MAST, end.target_rad)
        rules.due()
    run.clock.steady_s = began + mast_s
    if status.get('agent_safe_reason'):
        rules.heartbeat(0, status['agent_safe_reason'])
        rules.agent_gone()
    rules.adapters(list(status.get('other_adapters') or []))
    if status.get('e_stop') is True:
        rules.set_e_stop(True)
        stop(mast_s + 0.1)
    rules.refuse(str(status.get('last_error_reason') or ''))
    return run
