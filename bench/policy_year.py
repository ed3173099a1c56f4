# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""CPU time of a simulated year of minute ticks for both worlds, and where it goes.

A simulated kernel runs the activities that the policy starts, and every tick checks the rules of
the world (test/policy_world.py). A message comes about once a day; once a week no activity may
start for two hours. Each world runs with its rules alone, and again with a model that suggests a
possible activity nine times of ten, else an impossible one.
- CPU: of 525,600 ticks of the policy with the simulation around it
- tick: microseconds of Policy.tick alone
- floor: microseconds of a bare py_trees selector with as many nodes as a tick visits on average,
  ticked as often in the same run

Aim: both years together under 60 s of CPU. Must never happen: a broken rule.

Run: python bench/policy_year.py [days, default 365]
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
import random
import sys
import time
from typing import Any

from _bench import report, table
from curiosity_rosa_demo.agent.policy.action import PolicyAction
from curiosity_rosa_demo.agent.policy.policy import PolicyTick
from curiosity_rosa_demo.agent.policy.suggestion import PromptSituation
from curiosity_rosa_demo.agent.policy.suggestion_provider import Ask, LLMPolicyProvider
from curiosity_rosa_demo.infra.config.world import WorldView
from policy_world import COMPANION, instant, PolicyRun, ROVER, SETTINGS, world_of
from py_trees.behaviours import Failure
from py_trees.composites import Selector

AIM_S = 60.0
BLOCK = 1440  # ticks of the policy, then as many of the floor
HOLDING = ('SAFE: e-stop pressed', 'CHARGE: battery is low')


@dataclass
class Year:
    """``begun``: started activities by decider."""

    cpu_s: float = 0.0
    tick_s: float = 0.0
    floor_s: float = 0.0
    visited: float = 0.0
    asked: int = 0
    begun: dict[str, int] = field(default_factory=dict)


def asked(chance: random.Random, year: Year) -> Ask:
    """A model without latency, which counts its calls in ``year``."""

    def ask(situation: PromptSituation, refusals: str) -> PolicyAction:
        year.asked += 1
        sensible = situation.options and chance.random() < 0.9
        name = chance.choice(situation.options) if sensible else 'fly_to_the_moon'
        return PolicyAction(type=name, preemptive=chance.random() < 0.3, rationale='why not')

    return ask


def simulate(view: WorldView, days: int, *, model: bool) -> Year:
    chance, year = random.Random(5), Year()
    world = world_of(view)
    now = begins = instant('2026-01-01 00:00', world)
    provider = LLMPolicyProvider(
        asked(chance, year), SETTINGS, start=lambda job: job(), steady=lambda: now
    )
    policy_run = PolicyRun(world, begins, provider=provider if model else None, keep=0)
    nodes, visited = [Failure(str(number)) for number in range(50)], 0
    policy_tick = policy_run.policy.tick

    def timed(*arguments: Any, **named: Any) -> PolicyTick:
        began = time.process_time()
        tick = policy_tick(*arguments, **named)
        year.tick_s += time.process_time() - began
        nonlocal visited
        visited += len(tick.decision.path)
        return tick

    policy_run.policy.tick = timed
    for day in range(days):
        began = time.process_time()
        for _ in range(BLOCK):
            now = policy_run.at = policy_run.at + 60.0
            week_min = int(policy_run.at - begins) // 60 % (7 * 1440)
            policy_run.holding = HOLDING[int(policy_run.at) % 2] if week_min < 120 else ''
            policy_run.tick(*(['is anybody there?'] if chance.random() < 1 / 1440 else []))
        year.cpu_s += time.process_time() - began
        policy_run.events.clear()
        year.visited = visited / (BLOCK * (day + 1))
        floor = Selector('floor', memory=False, children=nodes[: round(year.visited) - 1])
        began = time.process_time()
        for _ in range(BLOCK):
            floor.tick_once()
        floor.remove_all_children()
        year.floor_s += time.process_time() - began
    for _, _, by in policy_run.rules.begun:
        year.begun[by.value] = year.begun.get(by.value, 0) + 1
    return year


def main() -> int:
    days = int(sys.argv[1]) if len(sys.argv) > 1 else 365
    years: dict[str, Year] = {}
    faults = []
    for name, view in (('rover', ROVER), ('companion', COMPANION)):
        for model in (False, True):
            row = f'{name}, {"a model" if model else "rules alone"}'
            try:
                years[row] = simulate(view, days, model=model)
            except AssertionError as error:
                faults.append(f'{row}: a rule was broken: {error}')
    ticks = days * BLOCK
    table(
        ['world', 'CPU s', 'tick, us', 'floor, us', 'nodes', 'asked', 'activities begun by'],
        [
            [
                name,
                year.cpu_s,
                year.tick_s / ticks * 1e6,
                year.floor_s / ticks * 1e6,
                year.visited,
                year.asked,
                ', '.join(f'{by} {count}' for by, count in sorted(year.begun.items())),
            ]
            for name, year in years.items()
        ],
    )
    rules, models = (
        sum(year.cpu_s for name, year in years.items() if name.endswith(kind))
        for kind in ('rules alone', 'a model')
    )
    aim = AIM_S * days / 365
    return report(
        'policy_year',
        faults,
        days=days,
        rules_cpu_s=round(rules, 1),
        model_cpu_s=round(models, 1),
        aim_s=round(aim, 1),
        rules_met=rules <= aim,
        model_met=models <= aim,
        worlds={name: asdict(year) for name, year in years.items()},
    )


if __name__ == '__main__':
    sys.exit(main())
