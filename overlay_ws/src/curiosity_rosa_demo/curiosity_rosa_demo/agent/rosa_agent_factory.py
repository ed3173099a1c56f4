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

from collections.abc import Collection, Sequence
from typing import Any

from curiosity_rosa_demo.agent.llm.call import readable_actions, UnusableAnswer
from curiosity_rosa_demo.agent.llm.chat_model import answer_problem, tool_options, without_thinking
from curiosity_rosa_demo.agent.llm.fallback import FallbackModel
from curiosity_rosa_demo.agent.llm.vision import can_see, Sight
from curiosity_rosa_demo.agent.llm.wire import (
    estimated_tokens,
    fitting,
    message_tokens,
    names_other_tools,
    with_one_system_message,
)
from curiosity_rosa_demo.agent.react.checkpointer import TurnCheckpointer
from curiosity_rosa_demo.agent.react.guardrails.situation import Limits
from curiosity_rosa_demo.agent.react.loop import TurnExecutor
from curiosity_rosa_demo.agent.react.turn.context import TurnContext
from curiosity_rosa_demo.agent.react.turn.decide_tool import decide_tool
from curiosity_rosa_demo.agent.react.turn.request import TurnEnvironment
from curiosity_rosa_demo.agent.rule_model.model import read_view, RuleChatModel
from curiosity_rosa_demo.agent.rule_model.turn_view import RoverFigures
from curiosity_rosa_demo.agent.skills.executor import SkillExecutor
from curiosity_rosa_demo.domain.models import ToolResult
from curiosity_rosa_demo.infra.config.agent import LOCAL, Prompts
from curiosity_rosa_demo.tools.tool_impl import make_tools
from langchain.agents.format_scratchpad.tools import format_to_tool_messages
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
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
        offered: Collection[str],
        most_tokens: int = 0,
        *,
        image_px: int = 0,
        sight: Sight | None = None,
    ) -> None:
        """``most_tokens``: of the messages of a request, as estimated; 0: no limit. ``sight`` adds
        the pictures, of ``image_px``; None: the model cannot see.
        """
        self._image_px, self._sight = image_px, sight
        self._prompt, self._model, self._parser = prompt, model, parser
        self._offered, self._most_tokens = offered, most_tokens

    def invoke(self, inputs: dict[str, Any], config: Any = None) -> Any:
        """One decision: AgentFinish or a list of AgentActions. Raises UnusableAnswer. ``rejected``
        of the inputs, if any, are messages that show the model its last answer and why it is asked
        again.
        """
        message = self._model.invoke(self.messages(inputs), config)
        # The parser silently drops tool calls that it cannot read, so check them first.
        message = readable_actions(message)
        if isinstance(message, AIMessage):
            message = without_thinking(message)
            problem = answer_problem(message, self._offered)
            if problem:
                raise UnusableAnswer(problem, message.text())
        return self._parser.parse_result([ChatGeneration(message=message)])

    def messages(self, inputs: dict[str, Any]) -> list[BaseMessage]:
        """The request: as much of the talk and of the calls as the window holds."""

        def filled(history: Sequence[BaseMessage], steps: Sequence[Any]) -> list[BaseMessage]:
            scratchpad = format_to_tool_messages(steps)
            if self._sight is not None:
                seen = inputs.get('pictures') or {}
                scratchpad = self._sight.with_pictures(scratchpad, seen)
            changed = {'chat_history': history, 'agent_scratchpad': scratchpad}
            prompt = self._prompt.format_prompt(**{**inputs, **changed})
            return with_one_system_message([*prompt.to_messages(), *inputs.get('rejected', ())])

        history, steps = inputs['chat_history'], inputs['intermediate_steps']
        return filled(*fitting(history, steps, lambda *kept: self._fits(filled(*kept))))

    def _fits(self, messages: list[BaseMessage]) -> bool:
        if not self._most_tokens:
            return True
        return estimated_tokens(messages, self._image_px) <= self._most_tokens


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
        offered = [tool.name for tool in self._our_tools]
        model = self._model.bind_tools(self._our_tools, **tool_options(self._llm))
        tokens = message_tokens(self._llm, map(convert_to_openai_tool, self._our_tools))
        self._agent: Any = NextActionAgent(
            prompt,
            model,
            parser,
            offered,
            tokens,
            image_px=self._llm.image_px,
            sight=self._sight,
        )
        self._fallback: FallbackModel | None = None
        if self._has_fallback:
            routine = RuleChatModel(rover=self._rover).bind_tools(self._our_tools)
            rules = NextActionAgent(prompt, routine, parser, offered)
            tools = [convert_to_openai_tool(tool) for tool in self._our_tools]
            self._fallback = FallbackModel(
                rules, view=lambda inputs: read_view(self._rover, rules.messages(inputs), tools)
            )
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
