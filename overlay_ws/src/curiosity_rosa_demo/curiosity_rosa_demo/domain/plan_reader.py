# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The plan that a model or a person wrote, where a deviation has only one meaning."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count
import json
import re
from typing import Any, NoReturn

from curiosity_rosa_demo.domain.models import json_object
from curiosity_rosa_demo.domain.plan import (
    MAX_STEPS,
    new_plan_id,
    Plan,
    PlanError,
    PlanStep,
    ToolCallType,
)
from curiosity_rosa_demo.domain.text import printable_lines, short_repr, valid_unicode
import yaml

MAX_CHARS = 100_000  # of a plan as text
MAX_DEPTH = 32  # nesting levels of lists and objects
EXAMPLE = '{"goal": "...", "steps": [{"action": "..."}]}'
PROGRESS_KEY = 'progress'  # in the metadata: the progress of the plan's execution
LEFT_OUT = 'left_out'  # in a plan's metadata: the paths of omitted remarks
# Unknown fields that are omitted: the plan is the same without them.
REMARKS = (
    *('author', 'comment', 'confidence', 'explanation', 'note', 'rationale', 'reason'),
    *('summary', 'thought', 'title'),
)
KEYS_OF_THE_EXECUTION = ('status', 'created_at', 'source')  # the agent sets them
CHOICE_KEYS = ('risk_level', 'tool_call_type')
NOT_EXECUTED = {kind.value for kind in ToolCallType} - {ToolCallType.EXECUTE.value}


def create_plan_from_llm_response(llm_output: dict[str, Any] | str, source: str = 'llm') -> Plan:
    """Create the plan that a model or a person wrote, as an object or as text that contains one.

    Deviations from JSON and from the schema are accepted if they have only one meaning
    (docs/reference/plans.md). A remark is omitted; the plan's metadata lists it under LEFT_OUT.
    The plan is new: its written status, time and source are ignored. Raises PlanError, whose
    message names the place and what is wrong.
    """
    written = read_plan(llm_output) if isinstance(llm_output, str) else llm_output
    try:
        json_object(written, MAX_DEPTH)
    except ValueError as error:
        raise PlanError(f'the plan {error}') from None
    if len(json.dumps(written)) > MAX_CHARS:
        raise PlanError(f'the plan must have at most {MAX_CHARS} characters as JSON')
    left_out: list[str] = []
    plan = _fields(written, Plan, left_out)
    steps = plan.get('steps', [])
    if not isinstance(steps, list) or len(steps) > MAX_STEPS:
        raise PlanError(f'steps must be a list of at most {MAX_STEPS}, not {short_repr(steps)}')
    plan['steps'] = [
        _fields(step, PlanStep, left_out, f'steps[{index}].') for index, step in enumerate(steps)
    ]
    taken = {str(step.get('step_id')) for step in plan['steps']}
    free = (number for number in count(1) if str(number) not in taken)
    for step in plan['steps']:
        if 'step_id' not in step:
            step['step_id'] = next(free)
        action = str(step.get('action', '')).strip().lower()
        kind = action if action in NOT_EXECUTED else ToolCallType.EXECUTE.value
        step.setdefault('tool_call_type', kind)
    made = Plan.from_dict({'plan_id': new_plan_id(), **plan, 'source': source})
    if left_out:
        made.metadata[LEFT_OUT] = [*left_out]
    return made


def _fields(
    data: Any, cls: type[Plan | PlanStep], left_out: list[str], path: str = ''
) -> dict[str, Any]:
    """The fields of ``data`` that are not null and that a writer may set, under the field names of
    ``cls``. Appends the paths of remarks to ``left_out``. Raises PlanError.
    """
    if not isinstance(data, dict):
        raise PlanError(f'{path[:-1] or "plan"} must be {EXAMPLE}, not {short_repr(data)}')
    names = {_letters(name): name for name in cls.model_fields}
    known: dict[str, Any] = {}
    for key, value in data.items():
        name = names.get(_letters(key), '')
        if name in known:
            raise PlanError(f'{path}{name} must be there once, not twice')
        if name:
            known[name] = value
        elif _letters(key) in REMARKS:
            left_out.append(f'{path}{key}')
        else:
            has = ', '.join(cls.model_fields)
            raise PlanError(
                f'{path}{short_repr(key)} is no field of a {cls.__name__}; it has: {has}'
            )
    for name in CHOICE_KEYS:
        if isinstance(known.get(name), str):
            known[name] = re.sub(r'[\s-]+', '_', known[name].strip().lower())
    if isinstance(known.get('metadata'), dict):
        own = (PROGRESS_KEY, LEFT_OUT)
        known['metadata'] = {k: each for k, each in known['metadata'].items() if k not in own}
    return {
        name: value
        for name, value in known.items()
        if value is not None and name not in KEYS_OF_THE_EXECUTION
    }


def _letters(name: str) -> str:
    """A normal form: equal for ``precondition``, ``Preconditions`` and ``preConditions``."""
    return re.sub(r'[\s_-]+', '', name.lower()).removesuffix('s')


# --- The text: JSON, else the YAML that its braces are -----------------------------------------

# An object: prose in braces has no key. A comment may stand before the first one.
_OBJECT = re.compile(r'\{(\s|#[^\n{]*\n)*("[^"\n]*"|\'[^\'\n]*\'|\w+)\s*:')
_WORDS = {'true': True, 'false': False, 'null': None, 'none': None}


def read_plan(text: str) -> dict[str, Any]:
    """The first object that has a goal or steps, or the first of any kind. Raises PlanError.

    An object that is no JSON is read as YAML, which also has ``#`` comments, trailing commas, and
    single quotes: from its brace to the last one of the text or of its code fence.
    """
    if len(text) > MAX_CHARS:
        raise PlanError(f'text must be at most {MAX_CHARS} characters, not {len(text)}')
    found: list[dict[str, Any]] = []
    end = 0
    for brace in _OBJECT.finditer(text):
        if brace.start() < end:
            continue
        value, end = _read(text, brace.start())
        found.append(value)
        if any(key.lower() in ('goal', 'steps') for key in value):
            return value
    if not found:
        raise PlanError(f'a plan is a JSON object like {EXAMPLE}, not {short_repr(text)}')
    return found[0]


def _read(text: str, start: int) -> tuple[dict[str, Any], int]:
    """The object whose brace is at ``start``, and where it ends."""
    fenced = text[start:].partition('```')[0]
    braces = fenced[: fenced.rfind('}') + 1] or fenced
    # As many lines and columns stand before it as in the text: a mark of YAML is a place there.
    padded = re.sub('[^\n]', ' ', text[:start]) + printable_lines(braces)
    try:
        try:
            value, end = _JSON.raw_decode(text, start)
        except json.JSONDecodeError:
            value, end = yaml.load(padded, _Yaml), len(text)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        assert mark is not None  # each of them has one
        raise PlanError(
            f'line {mark.line + 1}, column {mark.column + 1}: {error.problem}; a plan is a JSON '
            f'object like {EXAMPLE}'
        ) from None
    except (ValueError, RecursionError) as error:  # thousands of digits, or of levels
        raise PlanError(f'text: {error}') from None
    return valid_unicode(value), end


def _object(pairs: Iterable[tuple[Any, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if not isinstance(key, str) or key in found:
            raise PlanError(f'a key must be a text that is there once, not {short_repr(key)}')
        found[key] = value
    return found


def _no_number(text: str) -> NoReturn:
    raise PlanError(f'a number must be finite, not {text}')


_JSON = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_no_number, strict=False)


class _Yaml(yaml.BaseLoader):
    """Reads an unquoted word as JSON and Python do: 010 and yes are texts, and None is null."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):  # some letters of it make gigabytes
            raise yaml.MarkedYAMLError(None, None, 'an alias', self.peek_event().start_mark)
        return super().compose_node(parent, index)

    def construct_scalar(self, node: Any) -> Any:
        word = node.value
        if node.style is not None:
            return word
        if word.lower() in _WORDS:
            return _WORDS[word.lower()]
        try:
            return json.loads(word.removeprefix('+'), parse_constant=_no_number)
        except json.JSONDecodeError:
            return word

    def construct_mapping(self, node: Any, deep: bool = False) -> Any:
        return _object(self.construct_pairs(node, deep=True))
