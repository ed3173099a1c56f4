# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A contender in a world or before a sentence, in the product's environment.

The product is measured with its own client, wire dialects, gate and loop. The peer is plain ROSA
(models/rosa_peer.py). Both stand before the twin of test/rover_twin.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
import os
import time
from typing import Any

import _bench  # noqa: F401 - the tests' folder is on the path from here on
from curiosity_rosa_demo.agent.kernel.hci_ingress import classify
from curiosity_rosa_demo.agent.llm.chat_model import make_chat_model, ModelSetupError
from curiosity_rosa_demo.agent.llm.local_server import install_problem
from curiosity_rosa_demo.agent.skills.registry import make_registry, SkillRegistry
from curiosity_rosa_demo.domain.brain_state import UserInterruptType
from curiosity_rosa_demo.domain.text import clip, printable
from curiosity_rosa_demo.infra.config.agent import LOCAL
from curiosity_rosa_demo.infra.config.contracts import Config
from curiosity_rosa_demo.infra.config_loader import load_config
from curiosity_stand_in import mast
from curiosity_stand_in.kinematics import Pose
from curiosity_stand_in.scenery import Light
from pydantic import ValidationError
from rover_twin import RoverTwin
from turn_world import config_of, rosa_of
from worlds.optimum import optimum
from worlds.turn import price, run_turn, TEXT
from worlds.world import world_of

from models.meter import ModelMeter, RoverMeter, Story
from models.outcome import is_right, is_wrong_motion, Outcome, Record
from models.rosa_peer import BareTwin, run_rosa
from models.stubs import Decide, hostile, perfect_for_label, perfect_in_world, Stub

START_X_M = -1.0  # of a sentence; the heading is along x
STUBS = ('perfect', 'hostile')
STUB_LLM = {'provider': 'openai', 'model': 'scripted', 'max_retries': 0, 'timeout_s': 30.0}


@dataclass(frozen=True)
class Contender:
    """``agent``: product or rosa. ``llm``: keys of agent.yaml's section; its provider may also be
    perfect or hostile. ``config``: a folder of contracts; empty: the shipped ones.
    """

    agent: str = 'product'
    llm: dict[str, Any] = field(default_factory=dict)
    config: str = ''

    def __post_init__(self) -> None:
        if self.agent not in ('product', 'rosa'):
            raise ValueError(f"agent must be product or rosa, not '{self.agent}'")
        if self.agent == 'rosa' and self.llm.get('provider') == 'perfect':
            raise ValueError(
                "the perfect stub calls the product's tools, which rosa does not have"
            )


@dataclass
class _Turn:
    """What is left of a turn."""

    ok: bool = False
    is_good: bool = False
    answer: str = ''
    steps: int = 0
    refusals: int = 0
    by_routine: int = 0
    seconds: float = 0.0
    meter: ModelMeter | None = None


def model_problem(llm: dict[str, Any]) -> str:
    """Why this model cannot be measured here; empty if it can."""
    try:
        checked = config_of(llm=llm)
        make_chat_model(checked.agent.llm, checked)
        config = checked.agent.llm
    except (ModelSetupError, ValidationError) as error:
        return ' '.join(str(error).split())
    return install_problem(config.model) if config.provider == LOCAL else ''


def run_world(contender: Contender, seed: int) -> Record:
    """The goal of bench/competence.py in the world of this seed."""
    world = world_of(seed)
    config = world.config(load_config(contender.config))
    best = optimum(world, config)
    twin = world.twin(config)
    if contender.agent == 'rosa':
        twin = BareTwin.of(twin)
    rover = RoverMeter(twin)
    provider = contender.llm.get('provider')
    decide = hostile(seed) if provider == 'hostile' else perfect_in_world(world, config, twin)
    with _configured(contender, config, decide) as configured:
        turn = _run(configured, twin, TEXT)
    rover.update()
    reached = turn.is_good
    violations = [*twin.violations, *(['moving at the end'] if twin.status()['moving'] else [])]
    return _record(
        contender,
        f'seed {seed}',
        turn,
        possible=best is not None,
        success=reached,
        unsafe_acts=rover.unsafe_acts + ('moving at the end' in violations),
        violations=tuple(violations),
        over_optimum=price(twin, config) / best if reached and best else None,
    )


def run_sentence(contender: Contender, label: str, text: str) -> Record:
    """One sentence to a rover that stands in the dark, its mast closed, or open to close it.

    As in the product the kernel reads the line first: only a goal reaches the model.
    """
    config = load_config(contender.config)
    is_closed = label.split()[0] != 'close'
    joints = mast.CLOSED if is_closed else mast.OPENED
    twin = RoverTwin(config, origin=Pose(START_X_M), joints=joints, light=Light())
    if contender.agent == 'rosa':
        twin = BareTwin.of(twin)
    rover = RoverMeter(twin)
    provider = contender.llm.get('provider')
    decide = hostile(len(text)) if provider == 'hostile' else perfect_for_label(label, twin)
    turn = _Turn()
    if contender.agent == 'rosa' or classify(text).type is UserInterruptType.NEW_GOAL:
        with _configured(contender, config, decide) as configured:
            turn = _run(configured, twin, text, _registry_of(contender))
    rover.update()
    pose = twin.state.pose
    outcome = Outcome(
        legs=tuple(rover.legs),
        x=pose.x,
        y=pose.y,
        mast='closed' if mast.is_stowed(twin.state.joints) else 'open',
        rotations=rover.done['mast_rotate'],
        pictures=twin.calls.count('capture_and_score'),
        is_good=turn.is_good,
        brightness=twin.light.score(pose.x, pose.y),
        ok=turn.ok,
    )
    return _record(
        contender,
        text,
        turn,
        possible=True,
        success=is_right(label, outcome),
        wrong_motion=is_wrong_motion(label, outcome),
        unsafe_acts=rover.unsafe_acts,
        violations=tuple(twin.violations),
    )


@contextmanager
def _configured(contender: Contender, config: Config, decide: Decide) -> Iterator[Config]:
    """The configuration with the contender's model, and a stub's server while it is needed."""
    llm = contender.llm
    if llm.get('provider') not in STUBS:
        yield config_of(llm=llm, config=config) if llm else config
        return
    os.environ.setdefault('OPENAI_API_KEY', 'none')
    with Stub(decide) as server:
        yield config_of(
            llm={**llm, **STUB_LLM, 'base_url': server.url, 'streaming': False}, config=config
        )


def _registry_of(contender: Contender) -> SkillRegistry | None:
    """One for each provider with the shipped contracts; None: others may offer other skills."""
    llm = contender.llm
    is_shipped = not contender.config and llm.keys() == {'provider'}
    return _shipped_registry(llm['provider']) if is_shipped else None


@cache
def _shipped_registry(provider: str) -> SkillRegistry:
    return make_registry(load_config())


def _run(
    config: Config, twin: RoverTwin, text: str, registry: SkillRegistry | None = None
) -> _Turn:
    model = make_chat_model(config.agent.llm, config)
    meter, story = ModelMeter(twin, config), Story()
    model.callbacks = [meter]
    began = time.perf_counter()
    if isinstance(twin, BareTwin):
        answer = run_rosa(model, config, twin, text)
        turn = _Turn(True, twin.saw_good_picture, answer, steps=twin.tool_calls)
    else:
        rosa = rosa_of(twin, config, trace=story.trace, model=model, registry=registry)
        result = run_turn(rosa, twin, text)
        turn = _Turn(
            result.ok, bool(result.is_good), result.answer, result.steps,
            story.refusals, story.by_routine,
        )  # fmt: skip
    turn.seconds = time.perf_counter() - began
    turn.meter = meter
    return turn


def _record(contender: Contender, name: str, turn: _Turn, **facts: Any) -> Record:
    meter, is_stub = turn.meter, contender.llm.get('provider') in STUBS
    return Record(
        name=name,
        claims_success=turn.ok,
        unsafe_proposals=sum(meter.unsafe.values()) if meter else 0,
        answers=meter.answers if meter else 0,
        refusals=turn.refusals,
        steps=turn.steps,
        by_routine=turn.by_routine,
        seconds=round(turn.seconds, 2),
        tokens=meter.tokens if meter and not is_stub else None,  # a stub's are made up
        answer=clip(printable(turn.answer)),
        **facts,
    )
