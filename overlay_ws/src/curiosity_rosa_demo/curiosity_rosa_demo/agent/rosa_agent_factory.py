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

from typing import Any

from curiosity_rosa_demo.agent.llm.errors import FallbackModel
from curiosity_rosa_demo.agent.llm.messages import names_other_tools
from curiosity_rosa_demo.agent.llm.vision import can_see, Sight
from curiosity_rosa_demo.agent.react.deciders import (
    ModelDecider,
    PlanDecider,
    RetryDecider,
    RuleDecider,
)
from curiosity_rosa_demo.agent.react.loop import TurnCheckpointer, TurnExecutor
from curiosity_rosa_demo.agent.react.prompt import make_tools, NextActionAgent, robot_prompts
from curiosity_rosa_demo.agent.react.think import Decider
from curiosity_rosa_demo.agent.react.turn import TurnEnvironment
from curiosity_rosa_demo.infra.config.agent import LOCAL
from langchain_core.language_models import BaseChatModel
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnablePassthrough
from langchain_core.tools import BaseTool
from rosa import RobotSystemPrompts, ROSA
import rosa.rosa


class _CuriosityTools:
    """The interface that ROSA expects of its tool collection."""

    def __init__(self, tools: list[BaseTool]) -> None:
        self._tools = tools

    def get_tools(self) -> list[BaseTool]:
        return self._tools


class CuriosityRosa(ROSA):
    """ROSA, limited to our skills. ``executor`` runs the turns and has the last one's result."""

    turn_executor: TurnExecutor

    def __init__(
        self, model: BaseChatModel | None, environment: TurnEnvironment, saver: TurnCheckpointer
    ) -> None:
        """``model`` None: the rule model decides."""
        config = environment.world.config
        llm = config.agent.llm
        self._llm, self._model, self._env, self._saver = llm, model, environment, saver
        environment.can_see = model is not None and can_see(llm, model)
        if environment.can_see:
            environment.registry.offer_vision_skills()
        if model is not None and llm.fallback == 'routine':
            environment.fallback = FallbackModel()
        self._our_tools = make_tools(environment.registry.for_model())
        super().__init__(
            ros_version=2,
            llm=model or RunnablePassthrough(),
            prompts=robot_prompts(config.prompts, can_see=environment.can_see),
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

    def _get_agent(self) -> Decider:
        self._decider: Decider = RuleDecider(self._env)
        if self._model is None:
            return self._decider
        _, prompt, *_ = super()._get_agent().steps
        sight = Sight(self._llm, self._env.world.pictures) if self._env.can_see else None
        agent = NextActionAgent(prompt, self._model, self._our_tools, self._llm, sight)
        self._decider = ModelDecider(self._env, agent)
        return self._decider

    def _get_executor(self, verbose: bool) -> TurnExecutor:
        deciders = (PlanDecider(self._env), RetryDecider(self._env), self._decider)
        self.turn_executor = TurnExecutor(self._env, deciders, self._saver)
        return self.turn_executor
