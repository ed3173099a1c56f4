# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What a message asks the kernel for: stop, pause, resume, clear, an answer, a question or a new
goal. Pure.

A plain "no" without an open question is a stop: the user objects to the
rover's behaviour. A question about the rover or its work is NORMAL: the agent answers it at once.
So is a doubt between question and order: the agent asks back. A yes of the same speaker within
``DOUBT_MAX_AGE_S`` makes it a goal. Any other message drops it.
"""

from __future__ import annotations

from dataclasses import dataclass

from curiosity_rosa_demo.agent.language.questions import order_in, Topic
from curiosity_rosa_demo.agent.language.understand import understand, Utterance
from curiosity_rosa_demo.domain.brain_state import (
    ApprovalAction,
    BrainState,
    Doubt,
    HCIState,
    Json,
    TraceState,
    UserInterruptType,
)
from curiosity_rosa_demo.domain.models import json_object
from curiosity_rosa_demo.domain.text import valid_unicode
from pydantic import JsonValue

# --- The messages of the kernel's inbox --------------------------------------------------------


@dataclass(frozen=True, eq=False)
class InboxMessage:
    """A message of a user or a program, in the format that ``hci_ingress`` reads. Messages compare
    by identity, not by body. A subclass may add fields that the loop's ``act`` callback reads.

    ``body`` None: the kernel has nothing to decide; in its turn the message goes to ``act``.
    """

    body: Json | None


GOAL_PRIORITY = 3
URGENT_PRIORITY = 5
LOG_LINES = 50
DOUBT_MAX_AGE_S = 60.0
_MESSAGE_SHAPES = '{"text": ...} or {"intent": ..., "payload": {...}}'
# A program sends no NORMAL: the rules find the topics of a text.
_INTENTS = {intent.value for intent in UserInterruptType} - {
    UserInterruptType.NONE.value,
    UserInterruptType.NORMAL.value,
}


def hci_ingress(state: BrainState) -> BrainState:
    """Take one message from the inbox and store its intent in ``state.hci``.

    The first stop in the inbox is taken and all other messages are dropped. Without a stop, the
    oldest message is taken. Messages without an intent are dropped with a line in the trace.
    """
    question = state.react.question
    open_question = None if question is None else question.id
    context = _Context(open_question, _fresh_doubt(state), state.robot.moving)
    readable: list[tuple[dict[str, JsonValue], HCIState]] = []
    log: list[str] = []
    for message in state.tasks.inbox:
        hci, problem = _read_message(message, context)
        if hci is None:
            log.append(f'inbox: message dropped: {problem}')
        else:
            readable.append((message, hci))
    stop = next(
        (hci for _, hci in readable if hci.user_interrupt is UserInterruptType.STOP),
        None,
    )
    if stop is not None:
        if len(readable) > 1:
            log.append(f'inbox: stop; {len(readable) - 1} other messages dropped')
        taken, rest = stop, []
    else:
        taken = readable[0][1] if readable else HCIState(doubt=context.doubt)
        rest = [message for message, _ in readable[1:]]
    if taken.doubt is not None and taken.doubt is not context.doubt:
        asked = taken.doubt.model_copy(update={'asked_s': state.telemetry.now_s})
        taken = taken.model_copy(update={'doubt': asked})
    return state.model_copy(
        update={
            'hci': taken,
            'tasks': state.tasks.model_copy(update={'inbox': rest}),
            'trace': _logged(state, log),
        }
    )


@dataclass(frozen=True)
class _Context:
    """What the meaning of a message depends on. ``open_question``: its ID, None without one."""

    open_question: str | None
    doubt: Doubt | None
    moving: bool


def _fresh_doubt(state: BrainState) -> Doubt | None:
    doubt = state.hci.doubt
    if doubt is None or state.telemetry.now_s - doubt.asked_s > DOUBT_MAX_AGE_S:
        return None
    return doubt


def _logged(state: BrainState, lines: list[str]) -> TraceState:
    if not lines:
        return state.trace
    return state.trace.model_copy(update={'log': [*state.trace.log, *lines][-LOG_LINES:]})


def _read_message(message: object, context: _Context) -> tuple[HCIState | None, str]:
    """Return the intent of an inbox message, or None and the reason for dropping it.

    ``question`` in a message is the ID of the question that its author saw, if any. A yes to one
    question never answers another. ``by`` names the author.
    """
    if not isinstance(message, dict):
        return None, f'it is no object but {type(message).__name__}; send {_MESSAGE_SHAPES}'
    text, name = message.get('text'), message.get('intent')
    if isinstance(text, str):
        said = understand(text)
        if said.act is UserInterruptType.STOP or name is None:
            question_id = message.get('question', context.open_question)
            by = message.get('by', '')
            by = valid_unicode(by) if isinstance(by, str) else ''
            return _state_of_text(said, question_id, by, context)
    if isinstance(name, str):
        return _state_of_intent(name.upper(), message.get('payload', {}))
    return None, f'neither text nor intent is a string; send {_MESSAGE_SHAPES}'


def _state_of_text(
    said: Utterance, question_id: object, by: str, context: _Context
) -> tuple[HCIState | None, str]:
    if said.act is UserInterruptType.NONE:
        return None, 'its text is empty'
    text = valid_unicode(said.text)
    if said.act is UserInterruptType.APPROVAL:
        doubt = context.doubt if context.doubt is not None and context.doubt.by == by else None
        state = None if doubt is None else _answer_to_doubt(doubt, said, question_id, context)
        return state or _as_answer(said, question_id, by, context.open_question), ''
    if said.act is UserInterruptType.NEW_GOAL:
        return _goal(said), ''
    if said.act is not UserInterruptType.NORMAL:
        return _hci_state(text, said.act, {}), ''
    state = _normal(text, *said.topics)
    # A yes must have one meaning: while another question is open, the agent does not ask back.
    if said.topics == (Topic.DOUBT,) and context.open_question is None:
        order = valid_unicode(order_in(said.text))
        doubt = Doubt(text=order, by=by, priority=_priority(said))
        state = state.model_copy(update={'doubt': doubt})
    return state, ''


def _normal(text: str, *topics: Topic) -> HCIState:
    return _hci_state(
        text, UserInterruptType.NORMAL, {'topics': [topic.value for topic in topics]}
    )


def _goal(said: Utterance) -> HCIState:
    """A new goal. Lone surrogates are replaced: JSON cannot carry them."""
    text = valid_unicode(said.text)
    payload: dict[str, JsonValue] = {'text': text.strip(), 'priority': _priority(said)}
    return _hci_state(text, UserInterruptType.NEW_GOAL, payload)


def _priority(said: Utterance) -> int:
    return URGENT_PRIORITY if said.urgent else GOAL_PRIORITY


def _answer_to_doubt(
    doubt: Doubt, said: Utterance, question_id: object, context: _Context
) -> HCIState | None:
    """What a yes or a no after a doubt means; None if it does not answer the doubt."""
    text = valid_unicode(said.text)
    other_question = context.open_question is not None or bool(question_id)
    if said.answer is ApprovalAction.APPROVE:
        if other_question:
            return _normal(text, Topic.UNCLEAR_YES)
        payload: dict[str, JsonValue] = {'text': doubt.text, 'priority': doubt.priority}
        return _hci_state(text, UserInterruptType.NEW_GOAL, payload)
    # A no to a rover that moves stops it, whatever else it may mean.
    return None if other_question or context.moving else _normal(text, Topic.DROPPED)


def _as_answer(
    said: Utterance, question_id: object, by: str, open_question: str | None
) -> HCIState:
    """What a yes or a no means. ``question_id`` is the ID of the question that it answers."""
    assert said.answer is not None
    text = valid_unicode(said.text)
    is_open = open_question is not None and question_id == open_question
    if not is_open and said.answer is ApprovalAction.REJECT:
        return _hci_state(text, UserInterruptType.STOP, {})
    payload: dict[str, JsonValue] = {'action': said.answer.value}
    if isinstance(question_id, str) and question_id:
        # The question may be closed by now; the executor of Approve reports that.
        payload['id'] = valid_unicode(question_id)
    elif not is_open:
        return _goal(said)
    if by:
        payload['by'] = by
    return _hci_state(text, UserInterruptType.APPROVAL, payload)


def _state_of_intent(name: str, payload: object) -> tuple[HCIState | None, str]:
    """Validate an intent that a program sends: a button or a console command."""
    if name == UserInterruptType.STOP.value:  # a malformed payload must not block a stop
        return _hci_state('', UserInterruptType.STOP, {}), ''
    if name not in _INTENTS:
        return None, f'no intent {name[:40]!r}; there are {", ".join(sorted(_INTENTS))}'
    intent = UserInterruptType(name)
    problem = _payload_problem(intent, payload)
    if problem or not isinstance(payload, dict):
        return None, f'{name}: {problem}'
    if intent is UserInterruptType.NEW_GOAL:
        payload = {'priority': GOAL_PRIORITY, **payload}
    return _hci_state('', intent, payload), ''


def _payload_problem(intent: UserInterruptType, payload: object) -> str:
    """The reason why ``payload`` does not fit the intent; empty if it fits."""
    if not isinstance(payload, dict):
        return f'payload must be an object, not {type(payload).__name__}'
    try:
        json_object(payload)
    except (TypeError, ValueError) as error:
        return f'payload is no JSON: {error}'
    if intent is UserInterruptType.NEW_GOAL:
        text, priority = payload.get('text'), payload.get('priority', GOAL_PRIORITY)
        if not isinstance(text, str) or not text.strip():
            return 'payload.text must say what is to be done'
        if isinstance(priority, bool) or not isinstance(priority, int):
            return 'payload.priority must be a whole number'
    if intent is UserInterruptType.APPROVAL:
        actions = [action.value for action in ApprovalAction]
        if payload.get('action') not in actions:
            return f'payload.action must be one of {", ".join(actions)}'
    return ''


def _hci_state(text: str, intent: UserInterruptType, payload: dict[str, JsonValue]) -> HCIState:
    return HCIState(
        user_utterance=text,
        user_interrupt=intent,
        interrupt_payload=payload,
        approval_response=payload if intent is UserInterruptType.APPROVAL else None,
    )
