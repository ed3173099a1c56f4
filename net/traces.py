# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Golden traces: what the agent does for 40 orders, in a demo, under ten faults and in a day.

Each order and each fault is a mission of its own, from the same place, with the rule model. A line
of expected/*.trace is an event: kind, tool, arguments, outcome and reason, without its time.
"""

from __future__ import annotations

import json
from pathlib import Path
import re
from typing import Any, TYPE_CHECKING

from missions.happenings import Happening, START_S

if TYPE_CHECKING:
    from missions.mission import Mission
    from missions.simulator import Simulator

SEED = 3
ORDER_S, DEMO_S, FAULT_S = 30.0, 150.0, 45.0
ORDERS = Path(__file__).parent / 'orders.tsv'  # language, line
FAULTS = {  # seconds after the order, for how long, how strong
    'drive node hangs': (4.0, 4.0, 0.0),
    'drive node dies': (4.0, 4.0, 0.0),
    'mast node hangs': (1.0, 6.0, 0.0),
    'odometry silent': (4.0, 6.0, 0.0),
    'joints silent': (4.0, 6.0, 0.0),
    'wheels slip': (4.0, 12.0, 1.0),
    'rock ahead': (3.0, 20.0, 4.0),
    'e-stop pressed': (5.0, 4.0, 0.0),
    'foreign twist': (4.0, 3.0, 1.0),
    'adapter dies': (4.0, 2.0, 0.0),
}
ID = re.compile(r'\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|\b[0-9a-f]{8}\b')
NUMBER = re.compile(r'-?\d+\.\d+')


def heard(mission: Mission) -> None:
    """A change of a mission: its record gets each event, and it ends with its minutes."""
    from curiosity_rosa_demo.trace.trace_codec import decode

    sound, topic = mission.graph.watch, mission.config.topics.trace.events
    any_mission: Any = mission
    any_mission.record.events = []
    any_mission._run_to_the_end = lambda: None

    def watch(kind: str, name: str, sender: str, content: Any) -> None:
        if kind == 'publish' and name == topic:
            any_mission.record.events.append(line_of(decode(content.data)))
        sound(kind, name, sender, content)

    mission.graph.watch = watch


def line_of(event: Any) -> str:
    data = event.data or {}
    arguments = data.get('arguments', data.get('args'))
    told = [event.kind.value, event.tool_name or '-']
    told.append('' if arguments is None else json.dumps(arguments, sort_keys=True))
    told.append({None: '', True: 'ok', False: 'failed'}[event.ok])
    told.append(event.error_reason or '')
    return NUMBER.sub(rounded, ID.sub('ID', ' '.join(' '.join(filter(None, told)).split())))


def rounded(number: re.Match[str]) -> str:
    return f'{float(number[0]):.1f}'


def acted(simulator: Simulator, line: str, seconds: float, *faults: Happening) -> str:
    order = Happening(START_S + 8.0, 'goal', text=line)
    stow = Happening(START_S + 0.5, 'command', text=':mast_close')
    minutes = (8.0 + seconds) / 60.0
    result = simulator.run(SEED, minutes, [stow, order, *faults], heard)
    events: list[str] = result.record.events  # type: ignore[attr-defined]
    broken = [f'VIOLATED {each}' for each in (*result.violations, *result.defects)]
    return '\n'.join([f'## {line}', *events, *broken, ''])


def day_of_autonomy() -> str:
    """A Monday by the shipped world: when each activity began, and who wanted it."""
    from policy_world import instant, PolicyRun, ROVER, world_of

    world = world_of(ROVER)
    life = PolicyRun(world, instant('2026-11-23 00:00', world), keep=0)
    life.run(24 * 60)
    return '\n'.join(
        f'{world.local(at):%H:%M} {activity} {by}' for at, activity, by in life.rules.begun
    )


def traces(simulator: Simulator) -> dict[str, str]:
    """The text of each golden file, by its name."""
    made: dict[str, str] = {}
    for row in ORDERS.read_text(encoding='utf-8').splitlines():
        language, line = row.split('\t')
        name = f'orders_{language}'
        made[name] = made.get(name, '') + acted(simulator, line, ORDER_S) + '\n'
    made['demo'] = acted(simulator, ':demo', DEMO_S)
    made['faults'] = '\n'.join(
        f'# {kind}\n'
        + acted(
            simulator,
            'drive 8 meters forward',
            FAULT_S,
            Happening(START_S + 8.0 + at_s, kind, for_s, value),
        )
        for kind, (at_s, for_s, value) in FAULTS.items()
    )
    made['day'] = day_of_autonomy() + '\n'
    return made
