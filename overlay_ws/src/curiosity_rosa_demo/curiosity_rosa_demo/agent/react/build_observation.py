"""What the model is shown before it decides: the world as measured, results, the budget."""

from __future__ import annotations

import json
import time

from curiosity_rosa_demo.agent.react.record import result_of, with_react
from curiosity_rosa_demo.agent.react.turn import Turn
from curiosity_rosa_demo.agent.reporting import summary
from curiosity_rosa_demo.domain.brain import BrainState, Json, JsonValue
from curiosity_rosa_demo.tools.arguments import shown

MAX_SIZE = 6000  # characters of the whole observation as JSON
LAST_RESULTS = 5


async def build_observation(state: BrainState, turn: Turn) -> BrainState:
    """Flat facts, then ``results``, ``budget``, ``plan`` and ``memory``; at most MAX_SIZE as JSON:
    the oldest are left out first."""
    react = state.react
    observation: Json = {
        **turn.world.facts(),
        'score': react.score,
        'is_good': react.is_good,
        'budget': _budget(state, turn),
    }
    extras: list[tuple[str, JsonValue]] = [
        ('plan', _plan(react.plan)),
        ('results', _results(state)),
        ('memory', turn.recalled),
    ]
    for name, value in extras:
        if value and len(json.dumps({**observation, name: value})) <= MAX_SIZE:
            observation[name] = value
    return with_react(state, observation=observation, iter=react.iter + 1)


def _budget(state: BrainState, turn: Turn) -> Json:
    """What is left of it."""
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
    for message in state.messages[-LAST_RESULTS:]:
        result = result_of(message)
        if result is not None:
            age_s = max(0.0, now - float(str(message['at'])))
            lines.append(
                {
                    'call': shown(str(message['tool'])),
                    'result': shown(summary(result)),
                    'age_s': round(age_s, 1),
                }
            )
    return lines


def _plan(plan: Json | None) -> JsonValue:
    if plan is None:
        return None
    steps = plan['steps']
    assert isinstance(steps, list)
    return {
        'goal': shown(str(plan['goal'])),
        'status': plan['status'],
        'steps': [
            f'{step["step_id"]} {shown(str(step["action"]))}: {step["status"]}'
            for step in steps
            if isinstance(step, dict)
        ],
    }
