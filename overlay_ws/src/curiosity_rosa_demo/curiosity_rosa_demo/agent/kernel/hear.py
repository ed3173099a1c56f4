# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The messages that reach the agent, and the step of a tick that finds out what one means.

A plain yes or no answers the open question. Without one, a no stops the rover and a yes is a goal.
A doubt between question and order: the agent asks back, and a yes of the same speaker within
``DOUBT_MAX_AGE_S`` makes it a goal. Any other message drops it.
"""

from __future__ import annotations

from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from dataclasses import dataclass, field

from curiosity_rosa_demo.agent.language.questions import order_in, Topic
from curiosity_rosa_demo.agent.language.understand import understand, Utterance
from curiosity_rosa_demo.agent.tasks.task import Task
from curiosity_rosa_demo.domain.brain_state import (
    ApprovalAction,
    BrainState,
    Doubt,
    HCIState,
    Json,
    UserInterruptType,
)
from curiosity_rosa_demo.domain.models import json_object
from curiosity_rosa_demo.domain.origin import Origin
from curiosity_rosa_demo.domain.text import valid_unicode
from curiosity_rosa_demo.infra.config.limits import Thresholds

GOAL_PRIORITY = 3
URGENT_PRIORITY = 5
DOUBT_MAX_AGE_S = 60.0
STOP_OVERTOOK_TEXT = 'A stop came first; the request had no effect.'


# --- The messages -------------------------------------------------------------------------------


@dataclass
class Reply:
    """The result of a message: a task, or lines of text."""

    lines: list[str] = field(default_factory=list)
    ok: bool = True
    error: Exception | None = None  # why something was refused
    task: Task | None = None
    dropped: bool = False  # a later stop removed it

    @property
    def text(self) -> str:
        return STOP_OVERTOOK_TEXT if self.dropped else '\n'.join(self.lines)


def _running_future() -> Future[Reply]:
    """Whoever waits for it may stop waiting, but cannot cancel it."""
    future: Future[Reply] = Future()
    future.set_running_or_notify_cancel()
    return future


@dataclass(frozen=True, eq=False, kw_only=True)
class Message:
    """``stops``: the number of stops under which it was made; after a later one it is dropped.
    ``origin``: the door through which it came. ``reply`` gets its result, in the loop.
    """

    stops: int = 0
    origin: Origin | None = None
    reply: Future[Reply] = field(default_factory=_running_future)

    def settle(self, reply: Reply) -> None:
        """Set the result, unless there is one."""
        with suppress(InvalidStateError):
            self.reply.set_result(reply)


@dataclass(frozen=True, eq=False)
class Said(Message):
    """A sentence. ``by`` names its author. ``question``: the ID of the question that he saw; '':
    none; None: the one that is open. A yes to one question never answers another.
    """

    text: str
    by: str = ''
    question: str | None = None


@dataclass(frozen=True, eq=False)
class Asked(Message):
    """A PAUSE, RESUME or CLEAR, by a button or a command. ``task_id``: to resume; '': all."""

    intent: UserInterruptType
    task_id: str = ''


@dataclass(frozen=True, eq=False)
class AskedGraph(Message):
    """A question about the ROS graph. No stop drops it: it moves nothing."""

    text: str


@dataclass(frozen=True, eq=False)
class Answered(Message):
    """An answer to a question, by its ID; '': the oldest. ``arguments``: of an EDIT."""

    action: ApprovalAction
    question: str = ''
    why: str = ''
    by: str = ''
    arguments: Json | None = None


@dataclass(frozen=True, eq=False)
class Ordered(Message):
    """A task to submit; ``reply`` gets the stored task, or the reason why there is none. Who
    cancels ``reply`` withdraws the task. It has no meaning to find. ``interrupts``: as of
    SkillRunner.interrupt.
    """

    task: Task
    interrupts: bool = field(default=False, kw_only=True)
    reply: Future[Reply] = field(default_factory=Future, kw_only=True)


@dataclass(frozen=True, eq=False)
class Stopped(Message):
    """Reports a stop: ``by`` has already halted the skills and stopped the rover. ``number``: of
    the halt, which ends when all tasks have.
    """

    by: str
    number: int


# --- The meaning --------------------------------------------------------------------------------


def hci_ingress(state: BrainState, rules: Thresholds) -> BrainState:
    """Take the message of this tick from the inbox and store its intent in ``state.hci``. A text
    without words, and arguments that are no JSON, have none.
    """
    doubt, now_s = state.hci.doubt, state.telemetry.now_s
    if doubt is not None and now_s - doubt.asked_s > DOUBT_MAX_AGE_S:
        doubt = None
    hci = HCIState(doubt=doubt)
    for message in state.tasks.inbox:
        hci = _meaning(message, state, doubt)
    tasks = state.tasks.model_copy(update={'inbox': []})
    return state.model_copy(update={'hci': hci, 'tasks': tasks})


def _meaning(message: Message, state: BrainState, doubt: Doubt | None) -> HCIState:
    if isinstance(message, Said):
        return _of_sentence(message, state, doubt)
    if isinstance(message, Asked):
        return _hci('', message.intent, {'task_id': message.task_id} if message.task_id else {})
    if isinstance(message, Answered):
        try:
            return _hci('', UserInterruptType.APPROVAL, json_object(_answer(message)))
        except (TypeError, ValueError):
            return HCIState()
    return _hci('', UserInterruptType.STOP, {})


def _of_sentence(message: Said, state: BrainState, doubt: Doubt | None) -> HCIState:
    said, open_question = understand(message.text), _open_question(state)
    text = valid_unicode(said.text)  # lone surrogates are replaced: JSON cannot carry them
    if said.act is UserInterruptType.APPROVAL:
        is_own = doubt is not None and doubt.by == message.by
        state_of = _of_answer_to_doubt(doubt, said, message, state) if doubt and is_own else None
        return state_of or _of_answer(said, message, open_question)
    if said.act is UserInterruptType.NEW_GOAL:
        return _goal(said, _priority(said))
    if said.act is not UserInterruptType.NORMAL:
        return _hci(text, said.act, {})
    hci = _normal(said, *said.topics)
    # A yes must have one meaning: while another question is open, the agent does not ask back.
    if said.topics == (Topic.DOUBT,) and open_question is None:
        new = Doubt(
            text=valid_unicode(order_in(said.text)),
            by=message.by,
            asked_s=state.telemetry.now_s,
            priority=_priority(said),
        )
        hci = hci.model_copy(update={'doubt': new})
    return hci


def _of_answer_to_doubt(
    doubt: Doubt, said: Utterance, message: Said, state: BrainState
) -> HCIState | None:
    """What a yes or a no after a doubt means; None if it does not answer the doubt."""
    other_question = _open_question(state) is not None or bool(message.question)
    if said.answer is ApprovalAction.APPROVE:
        if other_question:
            return _normal(said, Topic.UNCLEAR_YES)
        return _goal(said, doubt.priority, understand(doubt.text))
    # A no to a rover that moves stops it, whatever else it may mean.
    return None if other_question or state.robot.moving else _normal(said, Topic.DROPPED)


def _of_answer(said: Utterance, message: Said, open_question: str | None) -> HCIState:
    """What a yes or a no means. The question may be closed by now: Approve reports that."""
    assert said.answer is not None
    text = valid_unicode(said.text)
    question = open_question if message.question is None else message.question
    is_open = open_question is not None and question == open_question
    if not is_open and said.answer is ApprovalAction.REJECT:
        return _hci(text, UserInterruptType.STOP, {})
    if not is_open and not question:
        return _goal(said, _priority(said))
    answer = Answered(said.answer, question or '', by=message.by)
    return _hci(text, UserInterruptType.APPROVAL, _answer(answer))


def _open_question(state: BrainState) -> str | None:
    """The ID of the question that a plain yes or no answers; None without an open question."""
    return None if state.react.question is None else state.react.question.id


def _priority(said: Utterance) -> int:
    return URGENT_PRIORITY if said.urgent else GOAL_PRIORITY


def _goal(said: Utterance, priority: int, goal: Utterance | None = None) -> HCIState:
    """``goal``: what ``said`` stands for; None: itself."""
    goal = goal or said
    text, meaning = valid_unicode(goal.text).strip(), goal.to_json()
    payload: Json = {'text': text, 'priority': priority, 'said': meaning}
    return _hci(valid_unicode(said.text), UserInterruptType.NEW_GOAL, payload)


def _normal(said: Utterance, *topics: Topic) -> HCIState:
    payload: Json = {**said.to_json(), 'topics': [topic.value for topic in topics]}
    return _hci(valid_unicode(said.text), UserInterruptType.NORMAL, payload)


def _answer(message: Answered) -> Json:
    """The payload of an APPROVAL, without what it leaves open."""
    payload: Json = {
        'action': message.action.value,
        'id': valid_unicode(message.question),
        'why': valid_unicode(message.why),
        'by': valid_unicode(message.by),
        'arguments': message.arguments,
    }
    return {key: value for key, value in payload.items() if value not in ('', None)}


def _hci(text: str, intent: UserInterruptType, payload: Json) -> HCIState:
    return HCIState(
        user_utterance=text,
        user_interrupt=intent,
        interrupt_payload=payload,
        approval_response=payload if intent is UserInterruptType.APPROVAL else None,
    )
