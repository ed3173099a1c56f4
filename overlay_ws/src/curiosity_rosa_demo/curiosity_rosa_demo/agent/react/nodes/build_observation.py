# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Builds the observation for the model: measured facts, budget, plan, results, memory."""

from __future__ import annotations

from collections.abc import Callable
import json
import time

from curiosity_rosa_demo.agent.react.nodes.supervision import last_failure
from curiosity_rosa_demo.agent.react.turn.context import TurnContext
from curiosity_rosa_demo.agent.react.turn.messages import result_of, with_react_fields
from curiosity_rosa_demo.domain.brain_state import BrainState, Json
from curiosity_rosa_demo.domain.text import clip
from curiosity_rosa_demo.trace.reporter import result_summary
from pydantic import JsonValue

MAX_OBSERVATION_CHARS = 6000  # characters of the whole observation as JSON
MAX_RESULTS = 5
MAX_ZONES = 20


async def build_observation(state: BrainState, turn: TurnContext) -> BrainState:
    """Flat facts, then ``budget``, ``plan``, ``results`` and ``memory``; at most
    MAX_OBSERVATION_CHARS as JSON. Each list loses its first items when space runs out.
    """
    react = state.react
    observation: Json = {
        **_within_size(turn.world.facts()),
        'score': react.score,
        'is_good': react.is_good,
        'budget': _budget(state, turn),
    }
    failure = last_failure(state, turn)
    if failure is not None:  # REPLAN: find another way; RETRY: it may work now
        observation['error_map'] = failure[1].value
    plan, steps = _plan(react.plan)
    if plan:
        _add(observation, 'plan', steps, lambda left: {**plan, 'steps': left})
    _add(observation, 'results', _results(state), lambda left: left)
    _add(observation, 'memory', list(turn.recalled.splitlines()), _lines)
    return with_react_fields(state, observation=observation, iter=react.iter + 1)


def _budget(state: BrainState, turn: TurnContext) -> Json:
    """The part of the budget that is left."""
    spent, budget = state.react.spent, turn.config.guardrails.budget
    return {
        'steps': turn.config.agent.turn.max_steps - spent.steps,
        'cost': round(budget.max_cost - spent.cost, 1),
        'metres': round(budget.max_metres - spent.metres, 1),
        'seconds': round(budget.max_seconds - spent.seconds, 1),
    }


def _results(state: BrainState) -> list[JsonValue]:
    lines: list[JsonValue] = []
    now = time.time()
    for message in state.messages[-MAX_RESULTS:]:
        result = result_of(message)
        if result is not None:
            age_s = max(0.0, now - float(str(message['at'])))
            lines.append(
                {
                    'call': clip(str(message['tool'])),
                    'result': clip(result_summary(result)),
                    'age_s': round(age_s, 1),
                }
            )
    return lines


def _plan(plan: Json | None) -> tuple[Json, list[JsonValue]]:
    """The plan without its steps, and one line for each step."""
    if plan is None:
        return {}, []
    steps = plan['steps']
    assert isinstance(steps, list)
    return {'goal': clip(str(plan['goal'])), 'status': plan['status']}, [
        f'{step["step_id"]} {clip(str(step["action"]))}: {step["status"]}'
        for step in steps
        if isinstance(step, dict)
    ]


def _within_size(facts: Json) -> Json:
    """Clip the zones and the latch, which come from outside, so that all facts fit."""
    zones = facts.get('zones')
    names = zones if isinstance(zones, list) else []
    latch = facts.get('safety_latch')
    return {
        **facts,
        'zones': [clip(str(name)) for name in names[:MAX_ZONES]],
        'safety_latch': clip(latch) if isinstance(latch, str) else latch,
    }


def _add(
    observation: Json,
    name: str,
    items: list[JsonValue],
    form: Callable[[list[JsonValue]], JsonValue],
) -> None:
    """Add as many of the last ``items`` as fit, formatted by ``form``."""
    left = MAX_OBSERVATION_CHARS - len(json.dumps(observation))
    for start in range(len(items)):
        value = form(items[start:])
        if len(json.dumps({name: value})) <= left:
            observation[name] = value
            return


def _lines(lines: list[JsonValue]) -> JsonValue:
    return '\n'.join(str(line) for line in lines)
