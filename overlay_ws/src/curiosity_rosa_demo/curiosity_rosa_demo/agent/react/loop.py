# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""ROSA's executor: runs a turn through the graph and resumes an interrupted turn.

Every call is traced as DECIDE, ACT, RESULT or ERROR. The model's free text is traced as
HYPOTHESIZE, or as OBSERVE once the turn has made a call.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
import sqlite3
from typing import Any
import uuid

from curiosity_rosa_demo.agent.llm.usage import turn_scope
from curiosity_rosa_demo.agent.react.checkpointer import TurnCheckpointer
from curiosity_rosa_demo.agent.react.graph import build_graph
from curiosity_rosa_demo.agent.react.nodes.observe_result import (
    observe_result,
    with_interrupted_result,
)
from curiosity_rosa_demo.agent.react.nodes.stop_or_loop import stop_or_loop
from curiosity_rosa_demo.agent.react.plan.steps import trace_plan
from curiosity_rosa_demo.agent.react.turn.approval_queue import ApprovalQueue
from curiosity_rosa_demo.agent.react.turn.context import TurnContext
from curiosity_rosa_demo.agent.react.turn.decide_tool import PROPOSED_KEY
from curiosity_rosa_demo.agent.react.turn.messages import StepCache
from curiosity_rosa_demo.agent.react.turn.request import TurnRequest, TurnResult
from curiosity_rosa_demo.domain.brain_state import BrainState, Json, ReactState
from curiosity_rosa_demo.domain.cancellation import Cancellation
from curiosity_rosa_demo.domain.plan import Plan, PlanError
from curiosity_rosa_demo.trace.events import TurnAnswered, TurnFailed
from langgraph.constants import START
from langgraph.types import Command
from langsmith import tracing_context

TURN_LOST_TEXT = 'The saved turn cannot be read, so it cannot continue; submit the goal again'


class TurnLost(Exception):
    """A turn cannot start or resume; the message gives the reason and the remedy."""


class TurnExecutor:
    """Replaces ROSA's AgentExecutor: ROSA.invoke calls ``invoke``."""

    def __init__(
        self,
        turn: TurnContext,
        *,
        saver: TurnCheckpointer,
        approval_queue: ApprovalQueue,
        shown: Callable[[ReactState], None] = lambda react: None,
    ) -> None:
        self._turn, self._saver, self._approval_queue, self._shown = (
            turn,
            saver,
            approval_queue,
            shown,
        )
        self.request = TurnRequest('', Cancellation())
        self.last_result: TurnResult | None = None

    def invoke(self, inputs: dict[str, Any], *_: Any, **__: Any) -> dict[str, str]:
        """Run one turn and set ``last_result``. Blocks; call it in a thread without an event loop.
        Raises TurnCancelled.
        """
        request, self.request = self.request, TurnRequest('', Cancellation())
        turn = self._turn
        turn.text, turn.history = inputs['input'], inputs.get('chat_history', ())
        turn.cancellation = request.cancellation
        turn.steps = StepCache()
        loop = asyncio.new_event_loop()
        try:
            with turn_scope(request.thread_id):
                react = self._run(request, loop)
        except TurnLost as failure:
            react = ReactState(answer=str(failure))
        except sqlite3.Error as failure:
            # An operation is on the disk before its dispatch, so none was done unsaved.
            file = self._saver.file
            text = (
                f'The turn cannot be saved: {failure}; make room for {file}, or make it writable'
            )
            react = ReactState(answer=text)
        except Exception as failure:  # ROSA would return it as the answer, untraced
            react = ReactState(answer=f'Internal error: {failure!r}', internal_error=True)
        finally:
            turn.step_spans.end()
            loop.close()
        if react.ok:
            turn.trace(**TurnAnswered(True, react.score).trace_fields(react.answer))
        else:
            failed = TurnFailed(False, react.score, react.answer)
            turn.trace(**failed.trace_fields(react.answer))
        self.last_result = TurnResult(
            ok=react.ok,
            answer=react.answer,
            score=react.score,
            is_good=react.is_good,
            steps=react.spent.steps,
            goal=react.answer if react.stop_reason == 'SWITCH_TASK' else '',
            internal_error=react.internal_error,
        )
        return {'output': react.answer}

    def _run(self, request: TurnRequest, loop: asyncio.AbstractEventLoop) -> ReactState:
        """Run the graph until the turn ends; returns the last state."""
        self._turn.recalled = self._turn.memory()
        graph = build_graph(lambda: self._turn, loop, self._saver)
        config: Any = {
            'configurable': {'thread_id': request.thread_id or uuid.uuid4().hex},
            'recursion_limit': 1_000_000,
        }
        # Off, whatever LANGSMITH_* variables are set: no data may leave the machine.
        with tracing_context(enabled=False):
            entry, state = self._entry_point(graph, config, request, loop)
            while not (state.react.stop_reason and state.react.question is None):
                if state.react.question is not None:
                    entry = self._wait_for_answer(state)
                stream = partial(graph.stream, config=config, stream_mode='values')
                for values in stream(entry, output_keys='brain', durability='sync'):
                    if isinstance(values, BrainState):  # otherwise LangGraph's interrupt
                        state = values
                        self._shown(state.react)
                entry = None
        return state.react

    def _entry_point(
        self, graph: Any, config: Any, request: TurnRequest, loop: asyncio.AbstractEventLoop
    ) -> tuple[Any, BrainState]:
        """The graph's input, None to resume, and the state before it. Raises TurnLost."""
        next_nodes, state = _saved_turn(graph, config)
        request.on_start(0 if state is None else len(state.messages))
        if state is None:
            plan = _given_plan(request.plan)
            if plan is not None:
                trace_plan(self._turn.trace, plan)
            given = None if plan is None else plan.to_dict()
            state = BrainState(react=ReactState(goal=self._turn.text, plan=given))
            return {'brain': state}, state
        self._shown(state.react)
        if next_nodes == ('act',):
            # Observe the interrupted operation instead of repeating it.
            for node in (observe_result, stop_or_loop):
                state = loop.run_until_complete(
                    node(
                        with_interrupted_result(state) if node is observe_result else state,
                        self._turn,
                    )
                )
            graph.update_state(config, {'brain': state}, as_node='act')
        return None, state

    def _wait_for_answer(self, state: BrainState) -> Command[Any]:
        question = state.react.question
        assert question is not None
        with self._turn.step_spans.waiting():
            answer = self._approval_queue.ask(question, self._turn.cancellation)
        return Command(
            resume={
                'action': answer.action.value,
                'arguments': answer.arguments,
                'why': answer.why,
                'by': answer.by,
            }
        )


def _saved_turn(graph: Any, config: Any) -> tuple[tuple[str, ...], BrainState | None]:
    """The next stage and the saved state; None for a turn without a completed stage. Raises
    TurnLost, sqlite3.Error.
    """
    try:
        snapshot = graph.get_state(config)
        if snapshot.created_at is None or snapshot.next == (START,):
            return (), None
        state = snapshot.values.get('brain')
        if isinstance(state, BrainState):
            return snapshot.next, state
    except sqlite3.Error:
        raise
    except Exception as error:
        raise TurnLost(f'{TURN_LOST_TEXT} ({type(error).__name__})') from error
    raise TurnLost(TURN_LOST_TEXT)


def _given_plan(plan: Json | None) -> Plan | None:
    """The request's plan without PROPOSED_KEY, so that its end ends the turn. Raises TurnLost."""
    if plan is None:
        return None
    try:
        checked = Plan.from_dict(plan)
    except PlanError as error:
        raise TurnLost(f'That is no plan: {error}') from None
    checked.metadata.pop(PROPOSED_KEY, None)
    return checked
