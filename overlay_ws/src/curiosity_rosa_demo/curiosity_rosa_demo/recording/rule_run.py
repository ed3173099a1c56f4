# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The adapter's rules, driven by the entries of a log of inputs, at the log's own times."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from curiosity_rosa_demo.adapter.part import MAST, Mast
from curiosity_rosa_demo.adapter.rules import Rules
from curiosity_rosa_demo.adapter.steps import Due, LogEntry, MotionRefused, REFUSED, STEPS
from curiosity_rosa_demo.domain.adapter_status import Status
from curiosity_rosa_demo.infra.config.topics import Config

MakeRules = Callable[..., Rules]
SEED_S = 0.5  # less than joint_max_age_s: the mast that a status shows must not be lost


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
    """The rules of one adapter. ``make_rules``: Rules, or a subclass. ``from_start``: the
    entries begin with the adapter, so its numbers of motions and stops are those of these rules.
    """

    def __init__(
        self,
        config: Config,
        start: LogEntry,
        make_rules: MakeRules = Rules,
        *,
        from_start: bool = True,
    ) -> None:
        self._from_start = from_start
        self._clock = ReplayClock(start.at, start.ros_ns)
        self.rules = make_rules(
            config.thresholds,
            stop_name=config.topics.curiosity.move_stop.name,
            steady=self._clock,
            ros_clock=self._clock,
            robot=config.robot,
        )
        self._tokens: dict[int, int] = {}  # of motions: recorded, and here
        self._stops: dict[int, int] = {}

    def feed(self, entry: LogEntry) -> Any:
        """Make the call of the entry, and return its result as a log holds it. Raises BadEntry."""
        self._clock.steady_s, self._clock.ros_ns = entry.at, entry.ros_ns
        try:
            result = self._call(entry.name, list(entry.arguments))
        except MotionRefused as refusal:
            return {REFUSED: str(refusal)}
        except (TypeError, ValueError, KeyError, AttributeError, OverflowError) as error:
            raise BadEntry(f'{entry.name}{tuple(entry.arguments)}: {error}') from error
        self._remember(entry, result)
        return result.to_json() if isinstance(result, Due) else result

    def _call(self, name: str, arguments: list[Any]) -> Any:
        if name not in STEPS:
            raise ValueError('the rules have no such call')
        if name in ('motion_started', 'motion_failed'):
            arguments[0] = self._own_number(self._tokens, arguments[0])
        elif name in ('stop_answered', 'stop_failed', 'end_stop'):
            arguments[0] = self._own_number(self._stops, arguments[0])
        return getattr(self.rules, name)(*arguments)

    def _own_number(self, known: dict[int, int], recorded: int) -> int:
        """Raises ValueError for an answer about a call from before the run."""
        if self._from_start:
            return recorded
        if recorded not in known:
            raise ValueError('the call came before the first status of a rover at rest')
        return known[recorded]

    def _remember(self, entry: LogEntry, result: Any) -> None:
        """Which numbers here stand for the recorded ones: a run may begin after the adapter."""
        if entry.name == 'start_motion' and type(entry.result) is int:
            self._tokens[entry.result] = result
        elif entry.name == 'request_stop' and type(entry.result) is int:
            self._stops[entry.result] = result
        elif isinstance(result, Due) and isinstance(entry.result, dict):
            recorded = entry.result.get('stop_call')
            if type(recorded) is int and result.stop_call is not None:
                self._stops[recorded] = result.stop_call


def seeded_run(
    config: Config,
    status: Status,
    at: float,
    ros_ns: int | None = None,
    make_rules: MakeRules = Rules,
) -> RuleRun:
    """The rules in the state of ``status``, whose rover stands, at ``at``. What a status does not
    show is as after a start: the learned speeds, the obstacles, the agents.
    """
    ends = {'closed': 'mast_close', 'open': 'mast_open'}
    command = ends.get(str(status.get('mast')), '')
    end = Mast(config.thresholds.mast).commands.get(command)
    mast_s = 1.0 + (0.0 if end is None else end.duration_s)
    began = at - mast_s - SEED_S
    start = LogEntry(began, ros_ns, 'start')
    run = RuleRun(config, start, make_rules, from_start=False)

    def feed(after_s: float, name: str, *arguments: Any, result: Any = None) -> None:
        run.feed(LogEntry(began + after_s, ros_ns, name, arguments, result))

    feed(0.0, 'due', result={'stop_call': 1})
    feed(0.1, 'stop_answered', 1)
    feed(0.2, 'due')
    if end is not None:
        feed(0.3, 'start_part', MAST, command)
        feed(0.4, 'part_started', MAST)
        feed(mast_s, 'joints', MAST, end.target_rad)
        feed(mast_s, 'due')
    if status.get('agent_safe_reason'):
        feed(mast_s, 'heartbeat', 0, status['agent_safe_reason'])
        feed(mast_s, 'agent_gone')
    feed(mast_s, 'adapters', list(status.get('other_adapters') or []))
    if status.get('e_stop') is True:
        feed(mast_s + 0.1, 'set_e_stop', True)
        feed(mast_s + 0.1, 'due', result={'stop_call': 2})
        feed(mast_s + 0.2, 'stop_answered', 2)
        feed(mast_s + 0.3, 'due')
    feed(mast_s + 0.4, 'refuse', str(status.get('last_error_reason') or ''))
    return run
