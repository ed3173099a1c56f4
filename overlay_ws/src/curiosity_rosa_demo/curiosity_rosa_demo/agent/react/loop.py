# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""ROSA's executor: drives a turn through its three stages, saves it, and resumes it.

LangGraph runs the stages. A checkpoint follows each: before an act, after it, and at a question.
A second run of ``think`` or ``ask`` does not move the robot. An interrupted ``act`` is not run
again: its result is unknown. Every call is traced as DECIDE, ACT, RESULT or ERROR. The model's
free text is traced as HYPOTHESIZE, or as OBSERVE once the turn has made a call.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from pathlib import Path
import sqlite3
import time
from typing import Any, TypedDict
import uuid

from curiosity_rosa_demo.agent.react.act import act, observe_interrupted
from curiosity_rosa_demo.agent.react.answer import ask
from curiosity_rosa_demo.agent.react.plan import trace_plan
from curiosity_rosa_demo.agent.react.think import Decider, think
from curiosity_rosa_demo.agent.react.turn import (
    NOTHING_SAID,
    Turn,
    TurnEnvironment,
    TurnRequest,
)
from curiosity_rosa_demo.agent.tasks.origin import current_order, under_order
from curiosity_rosa_demo.domain.cancellation import Cancellation
from curiosity_rosa_demo.domain.plan import Plan, PlanError
from curiosity_rosa_demo.infra.spans import activated, current_span, NO_SPAN, Span
from curiosity_rosa_demo.trace.events import TurnAnswered, TurnFailed
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import MemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.constants import START
from langgraph.graph import END, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Command
from langsmith import tracing_context

TURN_LOST_TEXT = 'The saved turn cannot be read, so it cannot continue; submit the goal again'
THOUGHT_FOLLOWS = 'branch:to:think'  # LangGraph's channel
_DELETE_OLDER_CHECKPOINTS = """
CREATE TRIGGER newest_only AFTER INSERT ON checkpoints BEGIN
  DELETE FROM checkpoints WHERE thread_id = NEW.thread_id
    AND checkpoint_ns = NEW.checkpoint_ns AND checkpoint_id <> NEW.checkpoint_id;
  DELETE FROM writes WHERE thread_id = NEW.thread_id
    AND checkpoint_ns = NEW.checkpoint_ns AND checkpoint_id <> NEW.checkpoint_id;
END
"""


class TurnCheckpointer(SqliteSaver):
    """Keeps the newest checkpoint of each turn; a turn's thread ID is that of session.turn_thread.
    Each is one commit. One that a thought follows is on the disk with the next act, or once the
    model has thought for a while (``settle``); every other at once.
    """

    def __init__(self, file: Path | str) -> None:
        self.file = file
        super().__init__(sqlite3.connect(str(file), check_same_thread=False, timeout=5.0))
        self.setup()
        self.conn.execute('DROP TRIGGER IF EXISTS newest_only')
        self.conn.execute(_DELETE_OLDER_CHECKPOINTS)

    def put(self, config: Any, checkpoint: Any, *more: Any) -> Any:
        level = 'NORMAL' if THOUGHT_FOLLOWS in checkpoint['channel_values'] else 'FULL'
        with self.lock:
            self.conn.rollback()  # of a put that failed, if any
            self.conn.execute(f'PRAGMA synchronous={level}')
        return super().put(config, checkpoint, *more)

    def settle(self) -> None:
        """Let what is committed outlive a loss of power. Raises sqlite3.Error."""
        with self.lock:
            self.conn.execute('PRAGMA wal_checkpoint(PASSIVE)')

    def put_writes(self, *_: Any, **__: Any) -> None:
        """Write nothing: a stage is done once the checkpoint that follows it is written."""

    def delete_others(self, threads: Collection[str]) -> None:
        """Delete the checkpoints of all threads that are not in ``threads``."""
        rows = self.conn.execute('SELECT DISTINCT thread_id FROM checkpoints').fetchall()
        for (thread,) in rows:
            if thread not in threads:
                self.delete_thread(thread)

    def close(self) -> None:
        self.conn.close()


class Channels(TypedDict):
    """The saved turn, as JSON."""

    turn: str


FOLLOWERS = {'think': ('ask', 'act'), 'ask': ('ask', 'act'), 'act': ('think', 'ask', END)}


def compiled(stage: Callable[[str], Any], saver: BaseCheckpointSaver[Any]) -> CompiledStateGraph:
    """The graph. ``stage`` makes each of its nodes, whose Command names the one that follows."""
    graph = StateGraph(Channels)
    for name, followers in FOLLOWERS.items():
        graph.add_node(name, stage(name), destinations=followers)
    graph.add_edge(START, 'think')
    return graph.compile(checkpointer=saver)


class TurnLost(Exception):
    """A turn cannot start or resume; the message gives the reason and the remedy."""


class TurnExecutor:
    """Replaces ROSA's AgentExecutor: ROSA.invoke calls ``invoke``. ``turn``: the running one, or
    the last.
    """

    def __init__(
        self, env: TurnEnvironment, deciders: Sequence[Decider], saver: TurnCheckpointer
    ) -> None:
        self.env, self.deciders, self._saver = env, deciders, saver
        env.settle = saver.settle
        self.request = TurnRequest(NOTHING_SAID, Cancellation())
        self.last_result: Turn | None = None
        self.turn = Turn()
        self._graph = compiled(self._stage, saver)
        self._step: Span | None = None  # of the stages since ``think``, in the turn's thread

    def invoke(self, inputs: dict[str, Any], *_: Any, **__: Any) -> dict[str, str]:
        """Run one turn and set ``last_result``. Blocks; call it in a thread without an event loop.
        Raises TurnCancelled.
        """
        request, self.request = self.request, TurnRequest(NOTHING_SAID, Cancellation())
        env, self.turn = self.env, Turn(goal=inputs['input'])
        env.hear(request.said)
        env.history, env.cancellation = inputs.get('chat_history', ()), request.cancellation
        try:
            with under_order(replace(current_order(), turn=uuid.uuid4().hex)):
                self._run(request)
        except TurnLost as failure:
            self.turn = Turn(answer=str(failure))
        except sqlite3.Error as failure:
            # An operation is on the disk before its dispatch, so none was done unsaved.
            make_room = f'make room for {self._saver.file}, or make it writable'
            self.turn = Turn(answer=f'The turn cannot be saved: {failure}; {make_room}')
        except Exception as failure:  # ROSA would return it as the answer, untraced
            self.turn = Turn(answer=f'Internal error: {failure!r}', internal_error=True)
        finally:
            self._end_step()
        turn = self.turn
        if turn.ok:
            env.trace(**TurnAnswered(True, turn.score).trace_fields(turn.answer))
        else:
            failed = TurnFailed(False, turn.score, turn.answer)
            env.trace(**failed.trace_fields(turn.answer))
        self.last_result = turn
        return {'output': turn.answer}

    def _run(self, request: TurnRequest) -> None:
        """Run the stages until the turn ends. Raises TurnLost."""
        self.env.recalled = self.env.recall()
        config: Any = {
            'configurable': {'thread_id': request.thread_id or uuid.uuid4().hex},
            'recursion_limit': 1_000_000,
        }
        # Off, whatever LANGSMITH_* variables are set: no data may leave the machine.
        with tracing_context(enabled=False):
            entry = self._entry(request, config)
            if not (self.turn.stop_reason and self.turn.question is None):
                self._graph.invoke(entry, config, durability='sync', output_keys=[])

    def _entry(self, request: TurnRequest, config: Any) -> Channels | None:
        """The graph's input; None to resume. Sets the turn. Raises TurnLost, sqlite3.Error."""
        try:
            saved = self._graph.get_state(config)
            is_new = saved.created_at is None or saved.next == (START,)
            if not is_new:
                self.turn = Turn.model_validate_json(saved.values['turn'])
        except sqlite3.Error:
            raise
        except Exception as error:  # of another version
            raise TurnLost(f'{TURN_LOST_TEXT} ({type(error).__name__})') from error
        request.on_start(len(self.turn.exchanges))
        if is_new:
            if request.plan is not None:
                try:
                    self.turn.plan, self.turn.plan_is_given = Plan.from_dict(request.plan), True
                except PlanError as error:
                    raise TurnLost(f'That is no plan: {error}') from None
                trace_plan(self.env.trace, self.turn.plan)
            return {'turn': self.turn.model_dump_json()}
        self.env.on_react_state(self.turn.shown())
        if saved.next == ('act',):  # it may have begun: its result is not known
            observe_interrupted(self.turn, self.env)
            self._graph.update_state(config, self._saved('act'), as_node='act')
        return None

    def _stage(self, name: str) -> Callable[[Channels], Command[str]]:
        run = {'ask': ask, 'act': act}.get(name) or self._think

        def stage(_: Channels) -> Command[str]:
            started_s = time.monotonic()
            if name == 'think' or self._step is None:
                self._end_step()
                self._step = _step_span(self.turn.iter + 1)
            with activated(self._step):
                run(self.turn, self.env)
            self.turn.spend(seconds=time.monotonic() - started_s)
            self.env.on_react_state(self.turn.shown())
            return self._saved(name)

        return stage

    def _think(self, turn: Turn, env: TurnEnvironment) -> None:
        think(turn, env, self.deciders)

    def _saved(self, stage: str) -> Command[str]:
        """The turn after ``stage``, and the stage that follows."""
        if self.turn.question is not None:
            follower = 'ask'
        elif stage != 'act':
            follower = 'act'
        else:
            follower = END if self.turn.stop_reason else 'think'
        return Command(update={'turn': self.turn.model_dump_json()}, goto=follower)

    def _end_step(self) -> None:
        if self._step is not None:
            self._step.end()
            self._step = None


def _step_span(number: int) -> Span:
    turn = current_span()
    return turn if turn is NO_SPAN else turn.child(f'step {number}', {'curiosity.step': number})


def mermaid() -> str:
    """The compiled graph as a Mermaid diagram."""
    graph = compiled(lambda _: lambda saved: saved, MemorySaver())
    return str(graph.get_graph().draw_mermaid())


if __name__ == '__main__':
    print(mermaid(), end='')
