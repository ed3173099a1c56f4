# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The messages of the runtime's inbox, which is the kernel's. Each has its reply."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from curiosity_rosa_demo.agent.kernel.hci_ingress import InboxMessage
from curiosity_rosa_demo.agent.runtime.action_dispatcher import ReplyCallback
from curiosity_rosa_demo.agent.tasks import Task
from curiosity_rosa_demo.domain.origin import Origin


@dataclass(frozen=True, eq=False)
class UserMessage(InboxMessage):
    """A message of an operator or a client. ``on_reply`` gets its result. ``origin``: the door
    through which it came.
    """

    on_reply: ReplyCallback
    stop_count: int  # stops requested before it; a later stop drops it
    origin: Origin | None = None


@dataclass(frozen=True, eq=False)
class TaskMessage(InboxMessage):
    """A task to submit. ``on_reply`` gets the stored task, or the reason why there is none. It is
    not submitted if it is no longer ``wanted`` when its turn comes.
    """

    task: Task
    on_reply: ReplyCallback
    stop_count: int
    wanted: Callable[[], bool]


@dataclass(frozen=True, eq=False)
class StopMessage(InboxMessage):
    """Reports a stop: ``stopped_by`` has already halted the skills and stopped the rover."""

    stopped_by: str
