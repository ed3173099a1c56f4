# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The real agent before a simulated rover: kernel, tasks, session, ROSA and its loop, skills.

The model is a scripted server. The rover's time does not pass by itself, so it does not drive.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from chat_server import ChatServer, Reply
from curiosity_rosa_demo.agent.react.turn.approval_queue import ApprovalQueue
from curiosity_rosa_demo.agent.runtime.action_dispatcher import MessageReply as KernelReply
from curiosity_rosa_demo.agent.runtime.execution.context import TaskSpans
from curiosity_rosa_demo.agent.runtime.execution.session import AgentSession
from curiosity_rosa_demo.agent.skills.registry import make_registry
from curiosity_rosa_demo.agent.skills.skill import Skill
from curiosity_rosa_demo.agent.tasks import Task
from curiosity_rosa_demo.domain.brain_state import BrainState
from curiosity_rosa_demo.domain.models import TraceEvent
from curiosity_rosa_demo.infra.config.topics import Config
from runtime_world import PATIENT_S, RuntimeHarness, with_watchdog
from tool_rover import SimulatedRover
from turn_world import config_of, LLM, SHIPPED


class AgentWorld(RuntimeHarness):
    """A context manager. The key of the model must be in the environment."""

    wait_s = 30.0

    def __init__(
        self,
        folder: Path,
        *script: Reply,
        skills: tuple[Skill, ...] = (),
        config: Config = SHIPPED,
        spans: TaskSpans | None = None,
    ) -> None:
        self.server = ChatServer(*script)
        config = config_of(llm={**LLM, 'base_url': self.server.url}, config=config)
        config = with_watchdog(config, PATIENT_S)
        registry = make_registry(config)
        for skill in skills:
            registry.register(skill)
        self.rover = SimulatedRover()
        self.events: list[TraceEvent] = []
        self.session = AgentSession(
            self.rover,  # type: ignore[arg-type]
            config,
            self.rover.clock,
            self.events.append,
            registry=registry,
            approval_queue=ApprovalQueue(timeout_s=config.guardrails.approval.timeout_s),
            checkpoints=':memory:',
        )
        super().__init__(folder, self.session, config, registry, spans=spans)
        self.runtime.start()
        self.runtime.run_tasks(go_on=False, ended=lambda task: None)

    def close(self) -> None:
        super().close()
        self.server.close()

    @property
    def state(self) -> BrainState:
        """As /state has it."""
        return self.runtime.state.model_copy(update={'react': self.session.react_state})

    def submit(self, name: str, **arguments: Any) -> Task:
        """A task that the kernel has taken."""
        replies: list[KernelReply] = []
        task = self.runtime.make_task(name, arguments)
        self.runtime.submit_task(task, replies.append, self.runtime.stop_count)
        self.until(lambda: replies, 'the task to be taken')
        assert replies[0].task is not None, replies[0].lines
        return replies[0].task

    def refused_by(self) -> list[str]:
        """The rules that refused something, in order."""
        rules = ((event.data or {}).get('rule') for event in self.events)
        return [str(rule) for rule in rules if rule is not None]
