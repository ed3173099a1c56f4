# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""ROSA with our tools and our executor.

ROSA's system prompts, chat history and ``invoke`` stay. Its own 47 tools never reach the model:
some of them run shell text. TurnExecutor replaces ROSA's executor and handles every tool call.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from curiosity_rosa_demo.agent.llm.call import call_attributes, usable_answer
from curiosity_rosa_demo.agent.llm.chat_model import tool_options
from curiosity_rosa_demo.agent.llm.fallback import FallbackModel
from curiosity_rosa_demo.agent.llm.messages import (
    fitting,
    names_other_tools,
    with_one_system_message,
)
from curiosity_rosa_demo.agent.llm.vision import can_see, Sight
from curiosity_rosa_demo.agent.react.checkpointer import TurnCheckpointer
from curiosity_rosa_demo.agent.react.guardrails.situation import Limits
from curiosity_rosa_demo.agent.react.loop import TurnExecutor
from curiosity_rosa_demo.agent.react.turn.context import TurnContext
from curiosity_rosa_demo.agent.react.turn.decide_tool import decide_tool
from curiosity_rosa_demo.agent.react.turn.request import TurnEnvironment
from curiosity_rosa_demo.agent.rule_model.model import read_view, RuleChatModel
from curiosity_rosa_demo.agent.rule_model.turn_view import RoverFigures, TurnView
from curiosity_rosa_demo.agent.skills.executor import SkillExecutor
from curiosity_rosa_demo.domain.models import ToolResult
from curiosity_rosa_demo.infra.config.agent import LlmConfig, LOCAL, Prompts
from curiosity_rosa_demo.infra.spans import current_span
from curiosity_rosa_demo.tools.tool_impl import make_tools
from langchain.agents.format_scratchpad.tools import format_to_tool_messages
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage, SystemMessage
from langchain_core.outputs import ChatGeneration
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from rosa import RobotSystemPrompts, ROSA
import rosa.rosa


class _CuriosityTools:
    """The interface that ROSA expects of its tool collection."""

    def __init__(self, tools: list[BaseTool]) -> None:
        self._tools = tools

    def get_tools(self) -> list[BaseTool]:
        return self._tools


class NextActionAgent:
    """ROSA's agent: its prompt, its model and its parser, called one after the other. As a
    RunnableSequence they would cost twice as much, most of it in thread pools.
    """

    def __init__(
        self,
        prompt: Any,
        model: Any,
        parser: Any,
        tools: list[BaseTool],
        llm: LlmConfig,
        sight: Sight | None = None,
    ) -> None:
        """``llm``: of ``model``. ``sight`` adds the pictures; None: the model cannot see."""
        self._prompt, self._parser, self._llm, self._sight = prompt, parser, llm, sight
        self._model = model.bind_tools(tools, **tool_options(llm))
        self._schemas = [convert_to_openai_tool(tool) for tool in tools]
        self._offered = [tool.name for tool in tools]

    def invoke(self, inputs: dict[str, Any], config: Any = None) -> Any:
        """One decision: AgentFinish or a list of AgentActions. Raises UnusableAnswer. ``rejected``
        of the inputs, if any, are messages that show the model its last answer and why it is asked
        again.
        """
        call, name = current_span(), self._llm.model or self._llm.provider
        call.rename(f'chat {name[:100]}')
        call.set({'gen_ai.provider.name': self._llm.provider, 'gen_ai.request.model': name})
        message = self._model.invoke(self.messages(inputs), config)
        call.set(call_attributes(message))
        # The parser silently drops tool calls that it cannot read, so check them first.
        message = usable_answer(message, self._offered)
        return self._parser.parse_result([ChatGeneration(message=message)])

    def messages(self, inputs: dict[str, Any]) -> list[BaseMessage]:
        """The request: as much of the talk and of the calls as the window holds."""
        scratchpad = format_to_tool_messages(inputs['intermediate_steps'])
        if self._sight is not None:
            scratchpad = self._sight.with_pictures(scratchpad, inputs.get('pictures') or {})
        prompt = self._prompt.format_prompt(**{**inputs, 'agent_scratchpad': scratchpad})
        messages = with_one_system_message([*prompt.to_messages(), *inputs.get('rejected', ())])
        talk = sum(not isinstance(each, SystemMessage) for each in inputs['chat_history'])
        return fitting(messages, talk, self._llm, self._schemas)

    def view(self, rover: RoverFigures, inputs: dict[str, Any]) -> TurnView:
        """The inputs as the rule model reads them."""
        return read_view(rover, self.messages(inputs), self._schemas)


class CuriosityRosa(ROSA):
    """ROSA, limited to our skills. ``executor`` runs the turns and has the last one's result."""

    turn_executor: TurnExecutor

    def __init__(
        self, model: BaseChatModel, environment: TurnEnvironment, saver: TurnCheckpointer
    ) -> None:
        config = environment.world.config
        llm = config.agent.llm
        self._llm, self._model = llm, model
        self._sight = Sight(llm, environment.world.pictures) if can_see(llm, model) else None
        if self._sight is not None:
            environment.registry.offer_vision_skills()
        self._rover = RoverFigures.of(config)
        self._has_fallback = llm.fallback == 'routine' and llm.provider != 'routine'
        self._our_tools = [
            *make_tools(environment.registry.for_model(), _refuse_direct_run),
            decide_tool(),
        ]
        self._make_turn_executor = lambda agent: TurnExecutor(
            TurnContext(
                config=config,
                limits=Limits.of(config),
                registry=environment.registry,
                skill_executor=SkillExecutor(
                    environment.registry, environment.world, monitor=environment.monitor
                ),
                world=environment.world,
                agent=agent,
                fallback=self._fallback,
                can_see=self._sight is not None,
                trace=environment.trace,
                memory=environment.recall,
            ),
            saver=saver,
            approval_queue=environment.approval_queue,
            shown=environment.on_react_state,
        )
        super().__init__(
            ros_version=2,
            llm=model,
            prompts=robot_prompts(config.prompts, can_see=self._sight is not None),
            streaming=llm.streaming,
        )

    def _record_chat_history(self, query: str, response: str) -> None:
        # A model repeats what it reads: the answer of a failed turn is no example.
        last = self.turn_executor.last_result
        if last is not None and last.ok:
            super()._record_chat_history(query, response)

    def _get_tools(self, *_: Any, **__: Any) -> Any:
        return _CuriosityTools(self._our_tools)

    def _get_prompts(self, robot_prompts: RobotSystemPrompts | None = None) -> ChatPromptTemplate:
        # ROSA appends to its module-level list; a second instance must not inherit the first's.
        # Some of its prompts order calls of its own tools, which our model does not have.
        shared = rosa.rosa.system_prompts
        before = list(shared)
        offered = [tool.name for tool in self._our_tools]
        shared[:] = [each for each in before if not names_other_tools(each[1], offered)]
        if self._llm.provider == LOCAL:  # a small model reads slowly: ours alone
            shared.clear()
        try:
            return super()._get_prompts(robot_prompts)
        finally:
            shared[:] = before

    def _get_agent(self) -> Any:
        _, prompt, _, parser = super()._get_agent().steps
        tools, llm = self._our_tools, self._llm
        self._agent: Any = NextActionAgent(prompt, self._model, parser, tools, llm, self._sight)
        self._fallback: FallbackModel | None = None
        if self._has_fallback:
            ours = {'provider': 'routine', 'model': '', 'context_tokens': 0}
            routine = RuleChatModel(rover=self._rover)
            rules = NextActionAgent(prompt, routine, parser, tools, llm.model_copy(update=ours))
            self._fallback = FallbackModel(rules, view=partial(rules.view, self._rover))
        return self._agent

    def _get_executor(self, verbose: bool) -> Any:
        self.turn_executor = self._make_turn_executor(self._agent)
        return self.turn_executor


def _refuse_direct_run(name: str, **_: Any) -> ToolResult:
    """Refuse the call: LangChain needs the schemas only, and the executor runs the skills."""
    raise NotImplementedError(name)


def robot_prompts(prompts: Prompts, *, can_see: bool = False) -> RobotSystemPrompts:
    """prompts.yaml as ROSA's categories. Braces are doubled: ROSA reads prompts as templates."""

    def literal(text: str) -> str | None:
        return text.replace('{', '{{').replace('}', '}}') or None

    ours = prompts.robot_system_prompts
    return RobotSystemPrompts(
        embodiment_and_persona=literal(ours.embodiment_and_persona),
        critical_instructions=literal(ours.critical_instructions),
        about_your_environment=literal(ours.relevant_context),
        nuance_and_assumptions=literal(ours.nuance_and_assumptions),
        constraints_and_guardrails=literal(prompts.vision.text) if can_see else None,
        about_your_capabilities=literal(prompts.bootstrap.text)
        if prompts.bootstrap.enabled
        else None,
    )
