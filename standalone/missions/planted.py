# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Faults planted into the product, for missions to find. Each changes one mission.

A name says what no longer holds. The change is made in the process of one mission, after all
modules are imported and before anything starts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Plant = Callable[[Any], None]  # of the mission


def _replace(owner: Any, name: str, faulty: Any) -> None:
    setattr(owner, name, faulty)


def _mast_is_ignored(_: Any) -> None:
    from curiosity_rosa_demo.adapter.part import Mast

    _replace(Mast, 'drive_refusal', lambda mast: '')


def _agent_is_not_missed(_: Any) -> None:
    from curiosity_rosa_demo.adapter.agent_link import AgentLink

    _replace(AgentLink, 'stop_reason', lambda link: '')


def _stop_waits(_: Any) -> None:
    import time

    from curiosity_rosa_demo.agent.runtime.session import AgentSession

    sound = AgentSession.stop_rover

    def stop_rover(session: Any) -> Any:
        time.sleep(1.0)  # behind other work
        return sound(session)

    _replace(AgentSession, 'stop_rover', stop_rover)


def _latch_is_forgotten(_: Any) -> None:
    from curiosity_rosa_demo.infra.files import SafetyLatch

    sound = SafetyLatch.__init__

    def init(latch: Any, *args: Any, **named: Any) -> None:
        sound(latch, *args, **named)
        latch.reason, latch.since = '', None

    _replace(SafetyLatch, '__init__', init)


def _commits_are_not_synced(_: Any) -> None:
    from curiosity_rosa_demo.agent.tasks import store
    from curiosity_rosa_demo.infra import files

    sound = files.make_durable

    def make_durable(connection: Any) -> str:
        mode = sound(connection)
        connection.execute('PRAGMA synchronous = NORMAL')
        return mode

    _replace(store, 'make_durable', make_durable)


def _told_before_it_is_stored(_: Any) -> None:
    from curiosity_rosa_demo.agent.tasks.store import TaskStore

    _replace(TaskStore, '_commit', lambda *_: None)


def _dispatched_twice(_: Any) -> None:
    from curiosity_rosa_demo.domain.skills import MOTIONS
    from curiosity_rosa_demo.tools.rover_client import RoverClient

    sound = RoverClient.trigger

    def trigger(client: Any, name: str, *cancellation: Any) -> str:
        sent = sound(client, name, *cancellation)
        try:
            return sound(client, name, *cancellation) if name in MOTIONS else sent
        except Exception:
            return ''

    _replace(RoverClient, 'trigger', trigger)


def _tasks_survive_a_stop(_: Any) -> None:
    from curiosity_rosa_demo.agent.tasks import SkillRunner

    async def cancel_all(*_: Any) -> list[str]:
        return []

    _replace(SkillRunner, 'cancel_all', cancel_all)


def _kernel_lets_tasks_run_at_the_start(_: Any) -> None:
    from curiosity_rosa_demo.agent.startup.startup import Startup

    sound = Startup._start_tasks

    def start_tasks(startup: Any) -> None:
        sound(startup)
        startup._client.trigger('mast_close')
        startup._client.trigger('move_forward')

    _replace(Startup, '_start_tasks', start_tasks)


def _lock_is_kept(_: Any) -> None:
    from curiosity_rosa_demo.agent.skills.executor import SkillRun

    sound = SkillRun.__init__
    kept: list[int] = []

    def init(run: Any, *args: Any, **named: Any) -> None:
        kept.append(1)
        if len(kept) > 3:
            raise RuntimeError('the resource of an earlier skill was not released')
        sound(run, *args, **named)

    _replace(SkillRun, '__init__', init)


def _acts_are_not_traced(_: Any) -> None:
    from curiosity_rosa_demo.domain.models import TraceKind
    from curiosity_rosa_demo.trace.trace_buffer import EventBus

    sound = EventBus.publish

    def publish(bus: Any, event: Any, **named: Any) -> None:
        if getattr(event, 'kind', None) is not TraceKind.ACT:
            sound(bus, event, **named)

    _replace(EventBus, 'publish', publish)


PLANTS: dict[str, Plant] = {
    'a stop waits behind other work': _stop_waits,
    'a restart forgets the SAFE latch': _latch_is_forgotten,
    'a task is confirmed and not stored': _told_before_it_is_stored,
    'a skill keeps its resource': _lock_is_kept,
    'the rover drives at the start': _kernel_lets_tasks_run_at_the_start,
    'no act is traced': _acts_are_not_traced,
    'a motion is dispatched twice': _dispatched_twice,
    'commits are not synced': _commits_are_not_synced,
    'a stop does not end the tasks': _tasks_survive_a_stop,
    'the guard ignores the mast': _mast_is_ignored,
    "the agent's death goes unnoticed": _agent_is_not_missed,
}
