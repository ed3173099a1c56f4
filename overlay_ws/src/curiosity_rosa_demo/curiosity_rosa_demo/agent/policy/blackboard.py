# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The blackboard that the nodes of a policy's tree share. One table grants read and write access.

py_trees stores the blackboards of a whole process in one place. Each PolicyBoard has a namespace
of its own there, so two policies share no key. Access that the table does not grant raises
AttributeError.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from functools import partial
from typing import Any, NamedTuple
import uuid

from curiosity_rosa_demo.agent.policy.action import ActionProposal, Senses
from curiosity_rosa_demo.agent.policy.decision_record import Rejection
from curiosity_rosa_demo.agent.policy.world_state import ExternalMessage, WorldState
from py_trees.behaviour import Behaviour
from py_trees.blackboard import Blackboard, Client
from py_trees.common import Access


class PolicyTickInputs(NamedTuple):
    """The constants of one tick. ``waiting``: unhandled messages, the oldest first."""

    at: float
    state: WorldState
    senses: Senses
    waiting: tuple[ExternalMessage, ...] = ()


@dataclass(frozen=True)
class TickOutcome:
    """The leaves' decision in one tick. ``message``: the message that ``chosen`` answers."""

    chosen: ActionProposal | None = None
    message: ExternalMessage | None = None
    rejected: tuple[Rejection, ...] = ()
    answer_text: str = ''  # the model's text


NO_OUTCOME = TickOutcome()


class ClientRole(Enum):
    """The role of a blackboard client, which decides its access."""

    ENGINE = 'engine'
    GUARD = 'guard'
    WATCH = 'watch'  # a leaf that only reads
    CHOICE = 'choice'  # a leaf that chooses


class KeyAccess(NamedTuple):
    reads: frozenset[ClientRole]
    writes: frozenset[ClientRole]


KEYS = {
    'moment': KeyAccess(
        reads=frozenset({ClientRole.GUARD, ClientRole.WATCH, ClientRole.CHOICE}),
        writes=frozenset({ClientRole.ENGINE}),
    ),
    'outcome': KeyAccess(
        reads=frozenset({ClientRole.ENGINE, ClientRole.CHOICE}),
        writes=frozenset({ClientRole.ENGINE, ClientRole.CHOICE}),
    ),
}


def reader(client: Client, key: str) -> Callable[[], Any]:
    """A function that reads ``key``. Access is checked here once, not at each of the many reads
    in a tick. Raises AttributeError when ``client`` has no read access.
    """
    if not client.is_registered(key, Access.READ):
        raise AttributeError(f'{client.name} may not read {key}')
    return partial(Blackboard.storage.__getitem__, client.absolute_name(key))


class PolicyBoard:
    """The blackboard of one policy."""

    def __init__(self) -> None:
        self.namespace = f'policy_{uuid.uuid4().hex}'
        self._clients: list[Client] = []

    def client(self, part: ClientRole, node: Behaviour | None = None) -> Client:
        """A client with the access of the role ``part``. py_trees shows it with ``node``."""
        name = part.value if node is None else node.name
        client = Client(name=name, namespace=self.namespace)
        for key, (reads, writes) in KEYS.items():
            if part in reads:
                client.register_key(key, Access.READ)
            if part in writes:
                only = len(writes) == 1
                client.register_key(key, Access.EXCLUSIVE_WRITE if only else Access.WRITE)
        if node is not None:
            node.blackboards.append(client)
        self._clients.append(client)
        return client

    def close(self) -> None:
        """Remove all keys of this policy from py_trees' storage."""
        while self._clients:
            client = self._clients.pop()
            for key in client.read | client.write | client.exclusive:
                # One by one: unregister() fails for a key with read and write access.
                client.unregister_key(key)
            client.unregister()
