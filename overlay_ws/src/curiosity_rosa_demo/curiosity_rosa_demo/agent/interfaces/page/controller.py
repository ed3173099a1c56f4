# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The requests of a page to the robot. Validates them: a browser may send any value."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
import json
import logging
from typing import Any

from curiosity_rosa_demo.agent.interfaces.page import map_goals
from curiosity_rosa_demo.agent.interfaces.page.status_rows import behind_text, PanelData
from curiosity_rosa_demo.agent.react.ask import QuestionNotFound
from curiosity_rosa_demo.agent.runtime.robot import Robot
from curiosity_rosa_demo.agent.tasks import SkillRunner, Task
from curiosity_rosa_demo.agent.tasks.task import TaskError
from curiosity_rosa_demo.domain.adapter_status import UnknownTrigger
from curiosity_rosa_demo.domain.brain_state import ApprovalAction, Json
from curiosity_rosa_demo.domain.models import json_object, TraceEvent
from curiosity_rosa_demo.domain.origin import caller_text, Origin, PAGE_CLIENT

MAX_LINE_CHARS = 10_000  # characters
MAX_REASON_CHARS = 500
UNNAMED = caller_text(PAGE_CLIENT)

ActionResult = tuple[bool, str]

_log = logging.getLogger('curiosity_rosa.page')


class PageController:
    """Each method returns whether it has succeeded, and a text for the operator. ``by``: who acts,
    as others see it.
    """

    def __init__(self, robot: Robot, runner: SkillRunner) -> None:
        self._robot, self._runner = robot, runner

    async def stop(self, by: str = UNNAMED) -> ActionResult:
        """Stop the rover through the socket; the page first tries POST /stop."""

        async def stop() -> ActionResult:
            outcome = await self._robot.stop(by)
            return outcome.ok, outcome.answer

        return await _run_action(stop)

    async def say(self, text: object, operator: str = '') -> tuple[bool, str, str]:
        """The third: the ID of the task that the line became; '': of none."""
        task_id = ''
        if not isinstance(text, str) or not text.strip():
            return False, 'The line is empty.', task_id
        if len(text) > MAX_LINE_CHARS:
            return False, f'{len(text)} characters; a line may have {MAX_LINE_CHARS}.', task_id

        async def say() -> ActionResult:
            nonlocal task_id
            result = await self._robot.say(text, Origin.PAGE, operator=operator)
            task = result.task
            task_id = '' if task is None else task.id
            words = result.text or (await self._task_text(task) if task else 'done')
            return result.ok, words

        ok, words = await _run_action(say)
        return ok, words, task_id

    async def propose(self, given: dict[str, Any]) -> PanelData:
        """What a goal on the map would do: ``ok``, ``lines``, and ``path`` in metres."""
        try:
            return await map_goals.propose(self._robot, given)
        except Exception as error:
            _log.exception('event=page_request_failed')
            return {'ok': False, 'lines': [_inside_text(error)], 'path': []}

    async def order(self, given: dict[str, Any], by: str = UNNAMED) -> ActionResult:
        """Submit a goal on the map."""

        async def order() -> ActionResult:
            return True, await self._task_text(await map_goals.order(self._robot, given, by))

        return await _run_action(order)

    async def _task_text(self, task: Task) -> str:
        """The accepted task, and what it waits for its turn behind."""

        async def behind() -> str:
            return behind_text(task, self._runner.list_tasks())

        return ', '.join(filter(None, (f'task {task.id[:8]}', await self._robot.call(behind()))))

    async def cancel(self, task_id: object, by: str = UNNAMED) -> ActionResult:
        if not isinstance(task_id, str):
            return False, 'No task was named.'

        async def cancel() -> ActionResult:
            ended = await self._robot.call(self._runner.cancel(task_id, f'cancelled by {by}'))
            return (
                ended,
                f'{task_id[:8]} cancelled' if ended else f'{task_id[:8]} had ended before',
            )

        return await _run_action(cancel)

    async def change_task(self, given: dict[str, Any], by: str = UNNAMED) -> ActionResult:
        """``given``: id, act (pause, resume, cancel or priority), priority for the last."""
        task_id, act, priority = (given.get(key) for key in ('id', 'act', 'priority'))
        if act == 'cancel' or not isinstance(task_id, str):
            return await self.cancel(task_id, by)
        short, runner = task_id[:8], self._runner

        async def change() -> ActionResult:
            if act == 'pause':
                held = await self._robot.call(runner.pause(task_id, f'paused by {by}'))
                return held, f'{short} paused' if held else f'{short} runs to its end first'
            if act == 'resume':
                if why := self._robot.order_refusal(''):
                    return False, why
                await self._robot.call(runner.resume(task_id))
                return True, f'{short} resumed'
            if act != 'priority' or not isinstance(priority, int):
                return False, 'No change of the task was named.'
            await self._robot.call(runner.reprioritise(task_id, priority))
            return True, f'{short} has priority {priority}'

        return await _run_action(change)

    async def answer(self, given: dict[str, Any], by: str = UNNAMED) -> ActionResult:
        """``given``: id, action, arguments as JSON text (for EDIT), why."""
        try:
            question_id, action = str(given['id']), ApprovalAction(given.get('action'))
            arguments = None
            if action is ApprovalAction.EDIT:
                arguments = read_arguments(given.get('arguments'))
        except (KeyError, ValueError) as error:
            return False, f'Not sent: {error}'
        why = str(given.get('why', ''))[:MAX_REASON_CHARS]

        async def answer() -> ActionResult:
            outcome = await self._robot.answer(question_id, action, arguments, why, by=by)
            return outcome.ok, outcome.answer

        return await _run_action(answer)

    def switch_trigger(self, given: dict[str, Any], by: str = UNNAMED) -> ActionResult:
        """``given``: name, on."""
        name, on = str(given.get('name')), given.get('on') is True
        try:
            status = self._robot.switch_trigger(name, on, by=by)
        except UnknownTrigger as error:
            return False, str(error)
        return True, f'trigger {status.name}: {status.state.value}'


def event_json(events: Sequence[TraceEvent], event_id: object) -> str:
    """The event with this ID as indented JSON, or a text if it is no longer stored."""
    for event in reversed(events):
        if event.event_id == event_id:
            return json.dumps(event.model_dump(mode='json'), ensure_ascii=False, indent=2)
    return 'This event is no longer kept.'


def read_arguments(text: object) -> Json:
    """The JSON object in ``text``. Raises ValueError with the error and its position."""
    if not isinstance(text, str):
        raise ValueError('the arguments must be text that holds a JSON object')
    try:
        value = json.loads(text, parse_constant=_reject_constant)
    except json.JSONDecodeError as error:
        where = f'line {error.lineno}, column {error.colno}'
        raise ValueError(f'the arguments are not JSON: {error.msg} at {where}') from None
    except RecursionError:
        raise ValueError('the arguments are nested too deep') from None
    if not isinstance(value, dict):
        raise ValueError('the arguments must be an object, such as {"x": 6.5}')
    json_object(value)
    return value


def _reject_constant(name: str) -> None:
    raise ValueError(f'the arguments hold {name}, which is no JSON')


async def _run_action(work: Callable[[], Awaitable[ActionResult]]) -> ActionResult:
    try:
        return await work()
    except (TaskError, QuestionNotFound) as error:
        return False, str(error)
    except Exception as error:
        _log.exception('event=page_request_failed')
        return False, _inside_text(error)


def _inside_text(error: Exception) -> str:
    return f'It failed inside ({type(error).__name__}); the log of the agent says more.'
