# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The answers to questions of the user, built from what the agent knows at that moment. Pure.

No answer measures, waits or changes anything. A value that is not known is called unknown, and a
value that is old comes with its age.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
import math

from curiosity_rosa_demo.agent.kernel.actions import Answer
from curiosity_rosa_demo.agent.kernel.hear import DOUBT_MAX_AGE_S
from curiosity_rosa_demo.agent.language.lexicon import lexicon, split_words
from curiosity_rosa_demo.agent.language.questions import order_in, Topic
from curiosity_rosa_demo.agent.language.tables import say
from curiosity_rosa_demo.agent.memory import event_line
from curiosity_rosa_demo.agent.react.plan import plan_text
from curiosity_rosa_demo.agent.rule_model.texts import status_text
from curiosity_rosa_demo.agent.tasks import Task
from curiosity_rosa_demo.agent.tasks.texts import duration, task_summary
from curiosity_rosa_demo.domain.brain_state import (
    BatteryLevel,
    BrainState,
    Mode,
    Question,
    ReactState,
)
from curiosity_rosa_demo.domain.geometry import Place
from curiosity_rosa_demo.domain.models import TraceEvent, TraceKind
from curiosity_rosa_demo.domain.operation import DECIDE_TOOL
from curiosity_rosa_demo.domain.plan import Plan
from curiosity_rosa_demo.domain.skills import Outcome
from curiosity_rosa_demo.domain.text import clip, printable
from curiosity_rosa_demo.trace.events import CaptureTaken

MAX_LINES = 5  # tasks or errors in one answer
MAX_TEXT_CHARS = 120  # of a text that a user or a model determines
_COMMANDS = {  # by the tags of the words that a question of how to do it may have
    ':mast_open, :mast_close, :mast_rotate': ('MAST',),
    ':cap': ('PICTURE', 'SHOOT'),
    ':forward [s], :left [s], :right [s]': ('GO', 'FORWARD', 'TURN', 'LEFT', 'RIGHT'),
}


@dataclass(frozen=True)
class AnswerFacts:
    """``tasks`` in the order of their submission; ``events`` and ``questions`` the oldest first;
    ``now_s`` in seconds since the epoch.
    """

    state: BrainState
    react: ReactState
    tasks: Sequence[Task]
    events: Sequence[TraceEvent]
    questions: Sequence[Question]
    now_s: float
    home: tuple[float, float] | None = None  # where the pose was known first, in metres


def answer_to(answer: Answer, facts: AnswerFacts) -> Outcome:
    """The answer in the language of the question; not ok if the rover has not reported what is
    asked. It leaves out the ROS graph, which takes time to read.
    """
    language = answer.language
    topics = [topic for topic in answer.topics if topic is not Topic.GRAPH]
    text = '\n'.join(_ANSWERS[topic](facts, language, answer.text) for topic in topics)
    return Outcome(all(_is_reported(topic, facts) for topic in topics), text)


def _is_reported(topic: Topic, facts: AnswerFacts) -> bool:
    if topic is Topic.POSITION:
        return _place(facts) is not None
    return topic not in (Topic.STATUS, Topic.MAST) or 'adapter' in facts.state.robot.heard


def _place(facts: AnswerFacts) -> tuple[str, float, float, float] | None:
    """Source, X and Y in metres, and yaw in radians: by TF, as the adapter reports it; otherwise
    by odometry.
    """
    robot = facts.state.robot
    adapter = robot.heard.get('adapter')
    keys = ('rover_x', 'rover_y', 'yaw_rad')
    if adapter and (place := Place.known(*map(adapter.value.get, keys))):
        return 'adapter', place.x, place.y, place.yaw_rad
    pose = robot.pose
    return ('odometry', pose.x, pose.y, pose.yaw_rad) if 'odometry' in robot.heard else None


def _position(facts: AnswerFacts, language: str, text: str) -> str:
    place = _place(facts)
    if place is None:
        return say('reply.position_unknown', language)
    source, x, y, yaw_rad = place
    line = say('reply.position', language, x=x, y=y, yaw=math.degrees(yaw_rad))
    return _with_age(line, facts, language, source)


def _distance(facts: AnswerFacts, language: str, text: str) -> str:
    lines = [say('reply.distance_to_light', language), _picture(facts, language, text)]
    place = _place(facts)
    if place is None or facts.home is None:
        return '\n'.join([*lines, say('reply.home_unknown', language)])
    metres = math.dist(place[1:3], facts.home)
    return '\n'.join([*lines, say('reply.distance_to_home', language, metres=metres)])


def _with_age(line: str, facts: AnswerFacts, language: str, source: str) -> str:
    """``line``, with a note if ``source`` is silent."""
    robot = facts.state.robot
    if source not in robot.silent:
        return line
    age = robot.ages_s.get(source, 0.0)
    return f'{line} {say("reply.old", language, age=age, source=source)}'


def _mode(facts: AnswerFacts, language: str) -> str:
    tasks = facts.state.tasks
    reason = printable(tasks.mode_reason) or 'starting'
    return say('reply.mode', language, mode=tasks.mode.value, reason=reason)


def _status(facts: AnswerFacts, language: str, text: str) -> str:
    reading = facts.state.robot.heard.get('adapter')
    if reading is None:
        rover = say('reply.status_unknown', language)
    else:
        rover = _with_age(status_text(language, reading.value), facts, language, 'adapter')
    return f'{rover}\n{_mode(facts, language)}'


def _battery(facts: AnswerFacts, language: str, text: str) -> str:
    robot = facts.state.robot
    if robot.battery_state is BatteryLevel.UNKNOWN:
        return say('reply.battery_unknown', language)
    level = robot.battery_state.value
    line = say('reply.battery', language, percent=robot.battery_pct, level=level)
    return _with_age(line, facts, language, 'battery')


def _mast(facts: AnswerFacts, language: str, text: str) -> str:
    if facts.state.robot.mast == 'none':
        return say('reply.mast_none', language)
    known = ('closed', 'opening', 'open', 'closing')
    mast = facts.state.robot.mast if facts.state.robot.mast in known else 'unknown'
    line = say('reply.mast', language, mast=say(f'reply.mast_{mast}', language))
    return _with_age(line, facts, language, 'adapter')


def _tasks(facts: AnswerFacts, language: str, text: str) -> str:
    live = [task for task in facts.tasks if not task.terminal]
    questions = [_question(each, language) for each in facts.questions]
    if not live:
        return '\n'.join([say('reply.no_tasks', language), *questions])
    held = sum(task.held for task in live)
    running = sum(task.state.running for task in live)
    waiting = len(live) - running - held
    counts = say('reply.tasks', language, running=running, waiting=waiting, held=held)
    live.sort(key=lambda task: not task.state.running)
    lines = [
        say('reply.task', language, what=_summary(task), state=task.state.name)
        for task in live[:MAX_LINES]
    ]
    if len(live) > MAX_LINES:
        lines.append(say('reply.more', language, count=len(live) - MAX_LINES))
    return '\n'.join([counts, *lines, *questions])


def _summary(task: Task) -> str:
    return clip(printable(task_summary(task)), MAX_TEXT_CHARS)


def _question(question: Question, language: str) -> str:
    text = clip(printable(question.text), MAX_TEXT_CHARS)
    return say('reply.question', language, text=text)


def _picture(facts: AnswerFacts, language: str, text: str) -> str:
    captures = ((event.ts, CaptureTaken.of(event)) for event in facts.events)
    taken = [(ts, each) for ts, each in captures if each and each.score is not None]
    if not taken:
        return say('reply.no_picture', language)
    ts, last = taken[-1]
    key = 'picture_good' if last.judged_good else 'picture_dark'
    return say(f'reply.{key}', language, score=last.score, age=_age(facts, ts))


def _age(facts: AnswerFacts, at_s: float) -> str:
    return duration(facts.now_s - at_s)


def _plan(facts: AnswerFacts, language: str, text: str) -> str:
    if facts.react.plan is not None:
        return plan_text(Plan.from_dict(facts.react.plan))
    lines = [say('reply.no_plan', language)]
    running = [task for task in facts.tasks if task.state.running]
    lines += [say('reply.goal', language, goal=_summary(task)) for task in running[:MAX_LINES]]
    return '\n'.join(lines)


def _ended_tasks(facts: AnswerFacts) -> list[Task]:
    return sorted((t for t in facts.tasks if t.terminal), key=lambda task: task.updated_at)


def _ended(task: Task, facts: AnswerFacts, language: str) -> str:
    why = clip(printable(task.reason), MAX_TEXT_CHARS)
    return say(
        'reply.ended',
        language,
        what=_summary(task),
        state=task.state.name,
        age=_age(facts, task.updated_at.timestamp()),
        why=f' ({why})' if why else '',
    )


def _history(facts: AnswerFacts, language: str, text: str) -> str:
    ended = _ended_tasks(facts)[-MAX_LINES:]
    if not ended and not any(task.state.running for task in facts.tasks):
        return say('reply.no_history', language)
    head = say('reply.history', language, metres=facts.react.spent.metres)
    running = [
        say('reply.task', language, what=_summary(task), state=task.state.name)
        for task in facts.tasks
        if task.state.running
    ]
    return '\n'.join([head, *(_ended(task, facts, language) for task in ended), *running])


def _errors(facts: AnswerFacts, language: str, text: str) -> str:
    errors = [each for each in facts.events if each.kind is TraceKind.ERROR][-MAX_LINES:]
    if not errors:
        return say('reply.no_errors', language)
    lines = [
        say('reply.error', language, age=_age(facts, each.ts), what=event_line(each))
        for each in errors
    ]
    return '\n'.join([say('reply.errors', language), *lines])


def _why(facts: AnswerFacts, language: str, text: str) -> str:
    """What the rover does, what holds it, its last task and its last decision."""
    robot, mode = facts.state.robot, facts.state.tasks.mode
    motion = 'motion_unknown'
    if 'odometry' in robot.heard or 'adapter' in robot.heard:
        motion = 'moves' if robot.moving else 'stands'
    lines = [say(f'reply.{motion}', language)]
    if mode in (Mode.SAFE, Mode.CHARGE):
        lines.append(_mode(facts, language))
    lines += [_question(each, language) for each in facts.questions]
    live = [task for task in facts.tasks if task.state.running or task.held]
    lines += [
        say('reply.task', language, what=_summary(task), state=_state_text(task))
        for task in live[:MAX_LINES]
    ]
    if ended := _ended_tasks(facts)[-1:]:
        lines += [say('reply.last_task', language), _ended(ended[0], facts, language)]
    elif not live:
        lines.append(say('reply.no_tasks', language))
    decided = [
        each.message
        for each in facts.events
        if each.kind is TraceKind.DECIDE and each.tool_name != DECIDE_TOOL
    ]
    if decided:
        what = clip(printable(decided[-1]), MAX_TEXT_CHARS)
        lines.append(say('reply.decision', language, what=what))
    return '\n'.join(lines)


def _state_text(task: Task) -> str:
    why = clip(printable(task.reason), MAX_TEXT_CHARS)
    return f'{task.state.name} ({why})' if why else task.state.name


def _howto(facts: AnswerFacts, language: str, text: str) -> str:
    words = split_words(text, lexicon(language))
    tags = {tag for word in words for meaning in word.meanings for tag in meaning}
    names = ', '.join(each for each, about in _COMMANDS.items() if not tags.isdisjoint(about))
    commands = say('reply.commands', language, names=names or ':demo, :status, :stop')
    return f'{say("answer.help", language)}\n{commands}'


def _doubt(facts: AnswerFacts, language: str, text: str) -> str:
    key = 'doubt' if facts.state.hci.doubt is not None else 'doubt_later'
    order = clip(printable(order_in(text)), MAX_TEXT_CHARS)
    return say(f'reply.{key}', language, order=order, seconds=DOUBT_MAX_AGE_S)


_ANSWERS: dict[Topic, Callable[[AnswerFacts, str, str], str]] = {
    Topic.HELP: _howto,
    Topic.HOWTO: _howto,
    Topic.WHY: _why,
    Topic.ERRORS: _errors,
    Topic.PLAN: _plan,
    Topic.BATTERY: _battery,
    Topic.MAST: _mast,
    Topic.HISTORY: _history,
    Topic.TASKS: _tasks,
    Topic.PICTURE: _picture,
    Topic.POSITION: _position,
    Topic.STATUS: _status,
    Topic.DISTANCE: _distance,
    Topic.DOUBT: _doubt,
    Topic.DROPPED: lambda facts, language, text: say('reply.dropped', language),
    Topic.UNCLEAR_YES: lambda facts, language, text: say('reply.unclear_yes', language),
}
