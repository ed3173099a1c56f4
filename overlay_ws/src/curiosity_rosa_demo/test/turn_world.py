# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Turns through the real CuriosityRosa and the real ChatOpenAI, with a scripted server behind them
and a simulated rover before them; and the nodes of the loop, one at a time, with a scripted agent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
import itertools
import os
from typing import Any
from unittest import mock

from chat_server import ChatServer, Reply
from curiosity_rosa_demo.agent.language.understand import understand
from curiosity_rosa_demo.agent.llm.chat_model import make_chat_model
from curiosity_rosa_demo.agent.llm.usage import UsageLedger
from curiosity_rosa_demo.agent.llm.vision import SeenPictures
from curiosity_rosa_demo.agent.memory import recall
from curiosity_rosa_demo.agent.react.act import act
from curiosity_rosa_demo.agent.react.answer import apply_answer
from curiosity_rosa_demo.agent.react.ask import ApprovalAnswer, ApprovalQueue
from curiosity_rosa_demo.agent.react.deciders import ModelDecider, PlanDecider, RetryDecider
from curiosity_rosa_demo.agent.react.loop import TurnCheckpointer
from curiosity_rosa_demo.agent.react.think import think
from curiosity_rosa_demo.agent.react.turn import (
    Turn,
    TurnEnvironment,
    TurnRequest,
)
from curiosity_rosa_demo.agent.react.world import RoverWorld
from curiosity_rosa_demo.agent.rosa_agent_factory import CuriosityRosa
from curiosity_rosa_demo.agent.skills.executor import SkillMonitor
from curiosity_rosa_demo.agent.skills.registry import make_registry, SkillRegistry
from curiosity_rosa_demo.agent.tasks.origin import Order, under_order
from curiosity_rosa_demo.domain.brain_state import (
    ApprovalAction,
    BrainState,
    Json,
    Mode,
    Question,
    ReactState,
    RobotState,
    TasksState,
)
from curiosity_rosa_demo.domain.cancellation import Cancellation
from curiosity_rosa_demo.domain.models import ToolResult, TraceEvent, TraceKind
from curiosity_rosa_demo.infra.config.topics import Config
from curiosity_rosa_demo.infra.config_loader import load_config
from curiosity_rosa_demo.trace.events import ModelCalled
from curiosity_rosa_demo.trace.reporter import TraceFunction
from curiosity_rosa_demo.trace.trace_codec import new_event
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, ToolCall
from tool_rover import Hurry, SimulatedRover

KEY = 'sk-Zq7Xv0PpW3Kj9Lm2Nb5Tg8Rf4Hd6Yc1'
LLM: dict[str, Any] = {
    'provider': 'openai',
    'model': 'scripted',
    'temperature': 0.25,
    'timeout_s': 5.0,
}
LLM['max_retries'] = 0
SHIPPED = load_config()
REGISTRY = make_registry(SHIPPED)
_ids = itertools.count()
OFFERED = [*(skill.definition.name for skill in REGISTRY.for_model()), 'decide']
BY_ROUTINE = 'The rule model decides this step: '
NINE = ['capture_and_score', 'mast_open', 'mast_close', 'mast_rotate', 'move_forward', 'turn_left']
NINE += ['turn_right', 'move_stop', 'get_status']


def config_of(
    *, llm: dict[str, Any], turn: dict[str, Any] | None = None, config: Config = SHIPPED
) -> Config:
    """The shipped contracts, or these, with another model."""
    model = type(config.agent.llm).model_validate({**config.agent.llm.model_dump(), **llm})
    return config.changed(agent={'llm': model, 'turn': turn or {}})


def with_rules(config: Config = SHIPPED, *, steps: int | None = None, **sections: Any) -> Config:
    """The shipped contracts with other guardrails, each a dict of changes to its section."""
    agent = {} if steps is None else {'agent': {'turn': {'max_steps': steps}}}
    return config.changed(guardrails=sections, **agent)


def asking(*skills: str, **approval: Any) -> Config:
    """A person is asked before these skills; all of them, when none is named."""
    names = list(skills or (skill.definition.name for skill in REGISTRY.for_model()))
    return with_rules(approval={'skills': names, **approval})


def model_of(config: Config, usage: UsageLedger | None = None) -> Any:
    """The configured model, which reads KEY from the environment."""
    with mock.patch.dict(os.environ, {'OPENAI_API_KEY': KEY}):
        return make_chat_model(config.agent.llm, usage)


def close_model(model: Any) -> None:
    """Close its sockets, if it has any."""
    client = getattr(model, 'http_client', None)
    if client is not None:
        client.close()


class SimulatedRoverWorld(RoverWorld):
    """Its rover's time is owned: whatever waits makes it pass."""

    def __init__(
        self,
        rover: SimulatedRover,
        config: Config,
        pictures: SeenPictures | None = None,
        **more: Any,
    ) -> None:
        clock: Any = rover.clock
        super().__init__(rover, config, clock, pictures=pictures, **more)  # type: ignore[arg-type]
        self._clock = rover.clock

    def tool(self, name: str, cancellation: Cancellation, **arguments: Any) -> ToolResult:
        hurry = Hurry(self._clock)
        with cancellation.call_when_pressed(lambda: hurry.cancel(cancellation.reason)):
            return super().tool(name, hurry, **arguments)


def rosa_of(
    rover: SimulatedRover,
    config: Config,
    *,
    trace: TraceFunction = lambda *_, **__: None,
    memory: Callable[[], str] = lambda: '',
    approval_queue: ApprovalQueue | None = None,
    saver: TurnCheckpointer | None = None,
    shown: Callable[[ReactState], None] = lambda react: None,
    model: BaseChatModel | None = None,
    usage: UsageLedger | None = None,
    pictures: SeenPictures | None = None,
    world: SimulatedRoverWorld | None = None,
    registry: SkillRegistry | None = None,
    monitor: SkillMonitor | None = None,
) -> CuriosityRosa:
    """A ROSA before that rover; no operator answers unless an approval queue is given. Without a
    model it makes the configured one, without a world that of the rover and the pictures, without
    a registry that of the configuration.
    """
    if approval_queue is None:
        approval_queue = ApprovalQueue(timeout_s=config.guardrails.approval.timeout_s)
        approval_queue.is_attended = False
    seen = world or SimulatedRoverWorld(rover, config, pictures)

    def show(react: ReactState) -> None:
        seen.spent = lambda: react.spent
        shown(react)

    environment = TurnEnvironment(
        registry=registry or make_registry(config),
        world=seen,
        approval_queue=approval_queue,
        checkpoints=':memory:',
        trace=trace,
        recall=memory,
        on_react_state=show,
        usage=usage,
        monitor=monitor or SkillMonitor(),
    )
    if model is None:
        model = model_of(config, usage)
    return CuriosityRosa(model, environment, saver or TurnCheckpointer(':memory:'))


class Answering(ApprovalQueue):
    """With a person who gives these answers, one after the other. ``asked``: the questions."""

    def __init__(self, *answers: ApprovalAnswer) -> None:
        super().__init__(timeout_s=20.0)
        self.answers, self.asked = [*answers], list[Question]()
        self.on_change = self.hear

    def hear(self) -> None:
        if self.questions:
            self.asked.append(self.questions[0])
            self.answer(self.answers.pop(0))


class World:
    """One ROSA on one server. A context manager. ``hear`` is told of each event."""

    def __init__(
        self,
        *script: Reply,
        turn: dict[str, Any] | None = None,
        memory: bool | Callable[[], str] = False,
        approval_queue: ApprovalQueue | None = None,
        config: Config = SHIPPED,
        saver: TurnCheckpointer | None = None,
        server: ChatServer | None = None,
        pictures: SeenPictures | None = None,
        rover: SimulatedRover | None = None,
        **llm: Any,
    ) -> None:
        self.server = server or ChatServer(*script)
        llm = {**LLM, 'base_url': self.server.url, **llm}
        self.config = config_of(llm=llm, turn=turn, config=config)
        self.used: list[ModelCalled] = []
        self.usage = UsageLedger(self.config.agent.llm, on_call=self.used.append)
        self.rover = rover or SimulatedRover()
        self.events: list[TraceEvent] = []
        self.hear: Callable[[TraceEvent], None] = lambda event: None
        self.reacts: list[ReactState] = []
        self.approval_queue = approval_queue
        self.monitor, self.saver = SkillMonitor(), saver or TurnCheckpointer(':memory:')
        self.rover_world = SimulatedRoverWorld(self.rover, self.config, pictures)
        self.model = model_of(self.config, self.usage)
        told: dict[str, Any] = {'trace': self.trace, 'shown': self.reacts.append}
        told['memory'] = memory if callable(memory) else lambda: recall(self.events, 10 * memory)
        kept: dict[str, Any] = {'saver': self.saver, 'usage': self.usage, 'monitor': self.monitor}
        made: dict[str, Any] = {'model': self.model, 'world': self.rover_world}
        queue = approval_queue
        self.rosa = rosa_of(self.rover, self.config, approval_queue=queue, **told, **kept, **made)
        self.button = Cancellation()

    def __enter__(self) -> World:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self.server.close()
        self.saver.close()
        close_model(self.model)

    def reset(self, *script: Reply) -> None:
        """As it was made, but for the time and the circuit breaker, with another script."""
        self.server.says(*script)
        self.events.clear()
        self.reacts.clear()
        self.rosa.clear_chat()
        self.button = Cancellation()
        SimulatedRover.__init__(self.rover, self.rover.clock)

    def trace(self, kind: TraceKind, message: str, **fields: Any) -> None:
        self.events.append(new_event(kind, message, **fields))
        self.hear(self.events[-1])

    def turn(self, text: str = 'Go on.', *, plan: Json | None = None, task: str = '') -> Turn:
        """One turn; its result, checked against what ROSA's invoke hands back."""
        self.rosa.turn_executor.last_result = None
        self.rosa.turn_executor.request = TurnRequest(understand(text), self.button, task, plan)
        with under_order(Order(task_id=task)):
            answer = self.rosa.invoke(text)
        last = self.rosa.turn_executor.last_result
        assert last is not None, answer
        assert last.answer == answer
        return last

    @property
    def requests(self) -> list[Any]:
        return self.server.requests

    @property
    def calls(self) -> list[str]:
        """What the rover was asked to do."""
        return [call for call in self.rover.calls if call != 'get_status']

    def errors(self) -> list[str]:
        return [event.error_reason or '' for event in self.events if event.kind == 'ERROR']

    def texts(self) -> Iterable[str]:
        """All that a user, a log or a trace may get to see."""
        yield from (event.model_dump_json() for event in self.events)
        yield from (str(message.content) for message in self.rosa.chat_history)


def action(tool: str, arguments: Json | None = None) -> ToolCall:
    return ToolCall(name=tool, args=arguments or {}, id=f'c{next(_ids)}')


def finish(answer: str = 'Done.') -> AIMessage:
    return AIMessage(answer)


class ScriptedAgent:
    """Answers question n with answer n of the script, the last one again and again. One that is
    an exception is raised, a list is the calls of an answer. ``asked`` are the questions.
    """

    def __init__(self, *script: Any) -> None:
        self.script: Sequence[Any] = script
        self.asked: list[dict[str, Any]] = []

    def invoke(self, inputs: dict[str, Any], _: Any) -> Any:
        answer = self.script[min(len(self.asked), len(self.script) - 1)]
        self.asked.append(inputs)
        if isinstance(answer, BaseException):
            raise answer
        return AIMessage('', tool_calls=answer) if isinstance(answer, list) else answer


class Nodes:
    """A turn whose stages the test calls. ``acts`` are the operations that were carried out."""

    def __init__(self, *script: Any, config: Config = SHIPPED) -> None:
        self.rover, self.agent = SimulatedRover(), ScriptedAgent(*script)
        self.world = SimulatedRoverWorld(self.rover, config)
        self.events: list[TraceEvent] = []
        registry = REGISTRY if config.skills is SHIPPED.skills else make_registry(config)
        self.env = TurnEnvironment(
            registry=registry,
            world=self.world,
            approval_queue=ApprovalQueue(timeout_s=20.0),
            checkpoints=':memory:',
            trace=self._trace,
            recall=str,
            on_react_state=lambda react: None,
        )
        self.world.spent = lambda: self.turn.spent
        self.model = ModelDecider(self.env, self.agent)
        self.begin('Go on.')

    def begin(self, goal: str) -> None:
        """A new turn."""
        self.turn = Turn(goal=goal)
        self.env.hear(understand(goal))

    def _trace(self, kind: TraceKind, message: str, **fields: Any) -> None:
        self.events.append(new_event(kind, message, **fields))

    def now(self, *, mode: str = 'IDLE', latch: str = '') -> None:
        """The kernel's mode and safety latch from now on."""
        brain = BrainState(tasks=TasksState(mode=Mode(mode)), robot=RobotState(safety_latch=latch))
        self.world.brain_state = lambda: brain

    def run(self, stage: Callable[..., None], *more: Any) -> Turn:
        """Run the stage; the turn after it, as a checkpoint gives it back."""
        stage(self.turn, self.env, *more)
        after, self.turn = self.turn, Turn.model_validate_json(self.turn.model_dump_json())
        assert self.turn == after
        return self.turn

    def think(self) -> Turn:
        return self.run(think, (PlanDecider(self.env), RetryDecider(self.env), self.model))

    def answer(self, action: str, **answer: Any) -> Turn:
        """The stage 'ask', once the question has this answer."""
        question, given = self.turn.question, ApprovalAnswer(ApprovalAction(action), **answer)
        assert question is not None
        return self.run(apply_answer, question, given)

    def act(self) -> Turn:
        return self.run(act)

    @property
    def acts(self) -> list[tuple[str, Any]]:
        done = (event for event in self.events if event.kind is TraceKind.ACT)
        return [(str(event.tool_name), (event.data or {})['arguments']) for event in done]

    def told(self) -> list[ToolResult]:
        """What the model reads of its calls so far."""
        return [each.result for each in self.turn.exchanges if each.result is not None]

    def calls(self) -> list[tuple[str, Any]]:
        """The calls as the model is told that it made them."""
        return [(each.tool, each.arguments) for each in self.turn.exchanges]


def handed_over(events: list[TraceEvent]) -> list[str]:
    """Why the routine decided, each time that it did."""
    return [event.error_reason or '' for event in events if event.message.startswith(BY_ROUTINE)]


def parts_of_the_key(text: str) -> list[str]:
    """Every run of five characters of the key that ``text`` holds."""
    parts = (KEY[i : i + 5] for i in range(len(KEY) - 4))
    return [part for part in parts if part in text]
