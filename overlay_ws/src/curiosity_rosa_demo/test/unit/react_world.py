# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The nodes of the ReAct loop, one at a time, with a scripted agent and a simulated rover."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
import itertools
import json
from typing import Any

from curiosity_rosa_demo.agent.react.graph import STAGES
from curiosity_rosa_demo.agent.react.guardrails.situation import Limits
from curiosity_rosa_demo.agent.react.turn.context import TurnContext
from curiosity_rosa_demo.agent.skills.executor import SkillExecutor
from curiosity_rosa_demo.agent.skills.registry import make_registry
from curiosity_rosa_demo.domain.brain_state import BrainState, Mode, RobotState, TasksState
from curiosity_rosa_demo.domain.models import ToolResult, TraceEvent, TraceKind
from curiosity_rosa_demo.domain.serde import from_json
from curiosity_rosa_demo.infra.config.topics import Config
from curiosity_rosa_demo.trace.trace_codec import new_event
from langchain.agents.output_parsers.tools import ToolAgentAction
from langchain_core.agents import AgentFinish
from langchain_core.messages import AIMessage
from tool_rover import SimulatedRover
from turn_world import SHIPPED, SimulatedRoverWorld

REGISTRY = make_registry(SHIPPED)
_ids = itertools.count()


def with_rules(config: Config = SHIPPED, *, steps: int | None = None, **sections: Any) -> Config:
    """The shipped contracts with other guardrails, each a dict of changes to its section."""
    rules = config.guardrails
    changes = {
        name: getattr(rules, name).model_copy(update=update) for name, update in sections.items()
    }
    changed = {'guardrails': rules.model_copy(update=changes)}
    if steps is not None:
        turn = config.agent.turn.model_copy(update={'max_steps': steps})
        changed['agent'] = config.agent.model_copy(update={'turn': turn})
    return config.model_copy(update=changed)


def asking(*skills: str, **approval: Any) -> Config:
    """A person is asked before these skills; all of them, when none is named."""
    names = list(skills or (skill.definition.name for skill in REGISTRY.for_model()))
    return with_rules(approval={'skills': names, **approval})


def action(tool: str, arguments: Any = None, *, text: str = '') -> ToolAgentAction:
    call: Any = {'tool': tool, 'tool_input': {} if arguments is None else arguments, 'log': ''}
    return ToolAgentAction(**call, tool_call_id=f'c{next(_ids)}', message_log=[AIMessage(text)])


def finish(answer: Any = 'Done.') -> AgentFinish:
    return AgentFinish({'output': answer}, '')


class ScriptedAgent:
    """Answers question n with answer n of the script, the last one again and again. One that is
    an exception is raised. ``asked`` are the questions.
    """

    def __init__(self, *script: Any) -> None:
        self.script: Sequence[Any] = script
        self.asked: list[dict[str, Any]] = []

    def invoke(self, inputs: dict[str, Any], _: Any) -> Any:
        answer = self.script[min(len(self.asked), len(self.script) - 1)]
        self.asked.append(inputs)
        if isinstance(answer, BaseException):
            raise answer
        return answer


class Nodes:
    """A turn whose nodes the test calls. ``acts`` are the operations that were carried out."""

    def __init__(self, *script: Any, config: Config = SHIPPED) -> None:
        self.rover, self.agent = SimulatedRover(), ScriptedAgent(*script)
        self.world = SimulatedRoverWorld(self.rover, config)
        self.events: list[TraceEvent] = []
        registry = REGISTRY if config.skills is SHIPPED.skills else make_registry(config)
        self.turn = TurnContext(
            config=config,
            limits=Limits.of(config),
            registry=registry,
            skill_executor=SkillExecutor(registry, self.world),
            world=self.world,
            agent=self.agent,
            trace=self._trace,
            text='Go on.',
        )
        self.state = BrainState()

    def _trace(self, kind: TraceKind, message: str, **fields: Any) -> None:
        self.events.append(new_event(kind, message, **fields))

    def now(self, *, mode: str = 'IDLE', latch: str = '') -> None:
        """The kernel's mode and safety latch from now on."""
        brain = BrainState(tasks=TasksState(mode=Mode(mode)), robot=RobotState(safety_latch=latch))
        self.world.brain_state = lambda: brain

    def run(self, *nodes: Any) -> BrainState:
        """Run these nodes; the state after them, as a checkpoint gives it back."""

        async def all_of_them() -> BrainState:
            state = self.state
            for node in nodes:
                state = await node(state, self.turn)
            return state

        after = asyncio.run(all_of_them())
        self.state = BrainState.model_validate_json(after.model_dump_json())
        assert self.state == after
        return self.state

    def think(self) -> BrainState:
        return self.run(*STAGES['think'])

    def answer(self, monkeypatch: Any, action: str, **answer: Any) -> BrainState:
        """The stage 'ask', in which LangGraph's interrupt hands back this answer."""
        given = {'action': action, 'arguments': None, 'why': '', **answer}
        module = 'curiosity_rosa_demo.agent.react.nodes.human_approval.interrupt'
        with monkeypatch.context() as patch:
            patch.setattr(module, lambda question: given)
            return self.run(*STAGES['ask'])

    def act(self) -> BrainState:
        return self.run(*STAGES['act'])

    @property
    def acts(self) -> list[tuple[str, Any]]:
        done = (event for event in self.events if event.kind is TraceKind.ACT)
        return [(str(event.tool_name), (event.data or {})['arguments']) for event in done]

    def told(self) -> list[ToolResult]:
        """What the model reads of its calls so far."""
        return [from_json(ToolResult, str(each['result'])) for each in self.state.messages]

    def calls(self) -> list[tuple[str, Any]]:
        """The calls as the model is told that it made them."""
        return [(str(m['tool']), json.loads(str(m['input']))) for m in self.state.messages]
