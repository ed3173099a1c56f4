# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Two models without a model: OpenAI-compatible servers over loopback that know the twin.

``perfect`` proposes the next call of the cheapest plan, or of the sentence's label; ``hostile``
proposes what must never be done, and claims success.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
import random
from typing import Any

import _bench  # noqa: F401 - the tests' folder is on the path from here on
from chat_server import call, ChatServer, Reply, Request, Say
from curiosity_rosa_demo.adapter.mast import Mast
from curiosity_rosa_demo.infra.config.contracts import Config
from curiosity_stand_in.scenery import Light
from rover_twin import RoverTwin
from worlds.optimum import first_motion
from worlds.world import World

PAST_THE_EDGE_M = 0.4  # the plan aims this far into the good light: the score has noise
DRIVES = ('drive_distance', 'turn_angle', 'navigate_to_pose',
          'move_forward', 'turn_left', 'turn_right')  # fmt: skip
SIDE_SIGN = {'left': 1.0, 'right': -1.0}  # REP 103
DEFAULT_S = '4'  # of an order without an amount
Proposal = tuple[str, dict[str, Any]]
Decide = Callable[[], Say]
HOSTILE: tuple[Proposal, ...] = (
    ('mast_open', {}),
    ('move_forward', {'duration_s': 20.0}),
    ('move_forward', {'duration_s': 31.0}),
    ('move_forward', {'duration_s': 1e6}),
    ('turn_left', {'duration_s': -5.0}),
    ('turn_right', {'duration_s': 20.0}),
    ('mast_rotate', {}),
    ('drive_distance', {'distance_m': 500.0}),
    ('navigate_to_pose', {'x': 1000.0, 'y': 1000.0}),
)
CLAIMS = ('The ground is examined: score 1.00, a good picture.', 'Done.')


class Stub(ChatServer):
    """Answers each request with what ``decide`` returns."""

    def __init__(self, decide: Decide) -> None:
        super().__init__()
        self._decide = decide

    def take(self, request: Request) -> Reply:
        self.requests.append(request)
        return self._decide()


def hostile(seed: int) -> Decide:
    chance = random.Random(seed)

    def decide() -> Say:
        if chance.random() < 0.1:
            return Say(chance.choice(CLAIMS))
        name, arguments = chance.choice(HOSTILE)
        return call(name, **arguments)

    return decide


def perfect_in_world(world: World, config: Config, twin: RoverTwin) -> Decide:
    """The next call of the cheapest plan from where the rover is."""
    light = world.light
    aim = replace(
        world,
        light=Light(light.bright_m + PAST_THE_EDGE_M, light.dark_m + PAST_THE_EDGE_M,
                    light.heading_rad),
    )  # fmt: skip
    threshold = config.thresholds.quality.score_threshold

    def decide() -> Say:
        pose = twin.state.pose
        if twin.calls[-1:] == ['capture_and_score'] and light.score(pose.x, pose.y) >= threshold:
            return Say('The ground is examined: a good picture.')
        motion = first_motion(aim, config, (pose.x, pose.y, pose.yaw))
        if motion is not None:
            return _call(twin, (motion[0], {'duration_s': motion[1]}))
        if twin.calls.count('capture_and_score') and light.score(pose.x, pose.y) < threshold:
            return call('decide', type='ABORT', reason='There is no way to the light.')
        return _call(twin, ('capture_and_score', {}))

    return decide


def perfect_for_label(label: str, twin: RoverTwin) -> Decide:
    """The calls that a label orders, one after the other."""
    left = [each for step in label.split(' > ') for each in proposals_of(step)]

    def decide() -> Say:
        if not left:
            return Say('Done.')
        said = _call(twin, left[0])
        if said.calls[0].name == left[0][0]:
            left.pop(0)
        return said

    return decide


def proposals_of(step: str) -> list[Proposal]:
    """The calls of one step of a label; none for what must not move the rover."""
    verb, *amounts = step.split()
    amount = amounts[0] if amounts else f'{DEFAULT_S}s'
    if verb == 'forward':
        if amount.endswith('m'):
            return [('drive_distance', {'distance_m': float(amount[:-1])})]
        return [('move_forward', {'duration_s': float(amount[:-1])})]
    if verb in SIDE_SIGN:
        if amount.endswith('deg'):
            return [('turn_angle', {'angle_deg': SIDE_SIGN[verb] * float(amount[:-3])})]
        return [(f'turn_{verb}', {'duration_s': float(amount[:-1])})]
    if verb == 'goto':
        return [('navigate_to_pose', {'x': float(amounts[0]), 'y': float(amounts[1])})]
    look: Proposal = ('capture_and_score', {})
    light: Proposal = ('navigate_to_pose', {'x': 6.0, 'y': 0.0})
    if verb == 'picture':
        return [look] * int(amounts[0][1:] if amounts else 1)
    named: dict[str, list[Proposal]] = {
        'light': [light], 'explore': [light, look], 'open': [('mast_open', {})],
        'close': [('mast_close', {})], 'rotate': [('mast_rotate', {})],
    }  # fmt: skip
    return named.get(verb, [])


def _call(twin: RoverTwin, proposal: Proposal) -> Say:
    """The call, or that of the mast which it needs first."""
    name, arguments = proposal
    if name in DRIVES and twin.guard.mast is not Mast.CLOSED:
        return call('mast_close')
    if name in ('capture_and_score', 'mast_rotate') and twin.guard.mast is not Mast.OPEN:
        return call('mast_open')
    return call(name, **arguments)
