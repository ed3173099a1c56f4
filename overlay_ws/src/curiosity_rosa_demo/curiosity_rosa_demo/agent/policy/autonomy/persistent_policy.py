# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A policy with the file that keeps its state across restarts."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from curiosity_rosa_demo.agent.policy.decision_record import Decision
from curiosity_rosa_demo.agent.policy.policy import Policy, PolicyTick
from curiosity_rosa_demo.agent.policy.policy_store import PolicyStore, PolicyStoreError
from curiosity_rosa_demo.agent.policy.suggestion_provider import LLMPolicyProvider
from curiosity_rosa_demo.agent.policy.world_state import Event, WorldState
from curiosity_rosa_demo.agent.policy.world_view import WorldModel
from curiosity_rosa_demo.infra.config.topics import Config


class PersistentPolicy:
    """For one thread. The file is opened on first use; each method that uses it raises
    PolicyStoreError. ``notes``: texts about problems in the file.
    """

    def __init__(
        self, config: Config, world: WorldModel, file: Path, provider: LLMPolicyProvider | None
    ) -> None:
        self._config, self._world, self._file, self._provider = config, world, file, provider
        self._store: PolicyStore | None = None
        self._policy: Policy | None = None
        self._events: list[Event] = []
        self._decision_number = 0
        self.decided_at = 0.0  # time of the last decision
        self.notes: list[str] = []

    @property
    def policy(self) -> Policy:
        self._open_store()
        assert self._policy is not None
        return self._policy

    @property
    def was_on(self) -> bool:
        """Whether autonomy was on at the last save."""
        return self._open_store().was_on

    def save_was_on(self, auto: bool) -> None:
        self._open_store().save_was_on(auto)

    def rebuild(self) -> None:
        """Replace the policy by a new one with the same state, which repeats its commands."""
        self._create_policy(self.policy.state)

    def store_tick(self, tick: PolicyTick, *, auto: bool) -> list[Event]:
        """Save the tick and return its events. Publish no event before this returns."""
        self._open_store().save(tick.state, tick.decision, auto)
        self.decided_at, self._decision_number = tick.decision.at, tick.decision.number
        events = list(self._events)
        self._events.clear()
        return events

    def recent_decisions(self, count: int) -> list[Decision]:
        return self._open_store().recent_decisions(count)

    def discard(self) -> None:
        """Drop the state in memory, which may be wrong, and save that autonomy is off. The next
        use reads the file.
        """
        if self._store is not None:
            with suppress(PolicyStoreError):
                self._store.save_was_on(False)
        self.close()

    def close(self) -> None:
        store, self._store = self._store, None
        if store is not None:
            store.close()
        self._close_policy()

    def _open_store(self) -> PolicyStore:
        if self._store is None:
            store = PolicyStore(self._file, self._config.agent.policy.decisions_kept)
            view = self._config.world
            state = store.open(view) or WorldState.first(view)
            self._store = store
            self.notes += store.notes
            self._decision_number = max(
                (each.number for each in store.recent_decisions(1)), default=0
            )
            self.decided_at = state.ticked_at
            self._create_policy(state)
        return self._store

    def _create_policy(self, state: WorldState) -> None:
        self._close_policy()
        self._events.clear()
        self._policy = Policy(
            self._world,
            self._config.agent.policy,
            state=state,
            provider=self._provider,
            publish=self._events.append,
            number=self._decision_number,
        )

    def _close_policy(self) -> None:
        """py_trees stores a policy's blackboard keys until the policy is closed."""
        policy, self._policy = self._policy, None
        if policy is not None:
            policy.close()
