# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A policy, and the file in which its state outlives it."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from curiosity_rosa_demo.agent.policy.decision_record import Decision
from curiosity_rosa_demo.agent.policy.events import Event, EventBus
from curiosity_rosa_demo.agent.policy.policy import Policy, Tick
from curiosity_rosa_demo.agent.policy.policy_store import PolicyStore, PolicyStoreError
from curiosity_rosa_demo.agent.policy.suggestion_provider import LLMPolicyProvider
from curiosity_rosa_demo.agent.policy.world_state import WorldState
from curiosity_rosa_demo.agent.policy.world_view import World
from curiosity_rosa_demo.infra.config.contracts import Config


class KeptPolicy:
    """In one thread. The file is opened when it is first needed; each method that needs it raises
    PolicyStoreError. ``notes``: what was wrong with it.
    """

    def __init__(
        self, config: Config, world: World, file: Path, provider: LLMPolicyProvider | None
    ) -> None:
        self._config, self._world, self._file, self._provider = config, world, file, provider
        self._store: PolicyStore | None = None
        self._policy: Policy | None = None
        self._events: list[Event] = []
        self._number = 0
        self.at = 0.0  # of the last decision
        self.notes: list[str] = []

    @property
    def policy(self) -> Policy:
        self._opened()
        assert self._policy is not None
        return self._policy

    @property
    def auto(self) -> bool:
        """Whether it acted unasked when the last decision was kept."""
        return self._opened().auto

    def save_auto(self, auto: bool) -> None:
        self._opened().save_auto(auto)

    def anew(self) -> None:
        """Another policy with the same state, which looks at its tasks afresh."""
        self._make(self.policy.state)

    def keep(self, tick: Tick, *, auto: bool) -> list[Event]:
        """Nothing of the tick may be seen before; what happened in it."""
        self._opened().save(tick.state, tick.decision, auto)
        self.at, self._number = tick.decision.at, tick.decision.number
        events = list(self._events)
        self._events.clear()
        return events

    def last(self, count: int) -> list[Decision]:
        return self._opened().last(count)

    def forget(self) -> None:
        """What is in memory may be wrong; whoever asks next reads the file, and it is off."""
        if self._store is not None:
            with suppress(PolicyStoreError):
                self._store.save_auto(False)
        self.close()

    def close(self) -> None:
        store, self._store = self._store, None
        if store is not None:
            store.close()
        self._drop()

    def _opened(self) -> PolicyStore:
        if self._store is None:
            store = PolicyStore(self._file, self._config.agent.policy.decisions_kept)
            view = self._config.world
            state = store.open(view) or WorldState.first(view)
            self._store = store
            self.notes += store.notes
            self._number = max((each.number for each in store.last(1)), default=0)
            self.at = state.ticked_at
            self._make(state)
        return self._store

    def _make(self, state: WorldState) -> None:
        self._drop()
        bus = EventBus()
        bus.subscribe(self._events.append)
        self._events.clear()
        self._policy = Policy(
            self._world,
            self._config.agent.policy,
            state=state,
            provider=self._provider,
            bus=bus,
            number=self._number,
        )

    def _drop(self) -> None:
        """py_trees keeps what belongs to a policy until it is closed."""
        policy, self._policy = self._policy, None
        if policy is not None:
            policy.close()
