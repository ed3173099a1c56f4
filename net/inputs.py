# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The log of the adapter's inputs of 500 missions, replayed into its rules: the same verdicts.

run/net/inputs keeps the logs; a log that is not there is made by its mission. So a log from before
a change meets the rules after it. expected/verdicts_*.txt has a digest of what the rules said in
each mission, with how many verdicts; a mission that went another way has another one, too.
"""

from __future__ import annotations

from collections.abc import Iterator
import gzip
import hashlib
import json
from pathlib import Path
import random
from typing import Any, TYPE_CHECKING

from missions.happenings import draw_happenings, Happening, START_S

if TYPE_CHECKING:
    from curiosity_rosa_demo.infra.config.topics import Config
    from missions.mission import Mission
    from missions.simulator import Simulator

ROOT = Path(__file__).resolve().parents[1]
LOGS = ROOT / 'run/net/inputs'
ARM = 'curiosity'  # the profile with an arm that must be stowed
SEEDS, ARMED = 500, 100
MINUTES = 0.25
SHOWN = 5  # differences of a mission; the later ones may follow from the first


def logged(mission: Mission) -> None:
    """A change of a mission: its record gets the log of inputs, its rover an arm, if the profile
    has one, and it ends with its minutes.
    """
    sound, topic = mission.graph.watch, mission.config.topics.status.adapter_inputs
    any_mission: Any = mission
    any_mission.record.inputs = []
    any_mission._run_to_the_end = lambda: None

    def watch(kind: str, name: str, sender: str, content: Any) -> None:
        if kind == 'publish' and name == topic:
            any_mission.record.inputs.append(content.data)
        sound(kind, name, sender, content)

    mission.graph.watch = watch
    if mission.config.robot.appendages:
        _add_arm(mission)


def _add_arm(mission: Mission) -> None:
    """The demo's node that moves the arm of the rover's body."""
    from curiosity_stand_in.parts import ARM as PART
    from missions.nodes import WorldNode
    from missions.scheduler import SimulatedProcess
    from std_srvs.srv import Empty

    node = WorldNode('move_arm', process=SimulatedProcess('move_arm'))
    for name, effect in PART.effects(mission.rover.body.move).items():

        def move(_: Any, response: Any, effect: Any = effect) -> Any:
            effect()
            return response

        node.create_service(Empty, f'/{name}', move)


def happenings(seed: int, robot: str) -> list[Happening]:
    drawn = draw_happenings(seed, MINUTES)
    if robot == ARM:
        chance = random.Random(f'{seed}/arm')
        commands = ['arm_close', *chance.choices(['arm_close', 'arm_open'], k=2)]
        times = [START_S + 0.4, *(START_S + chance.uniform(4.0, 14.0) for _ in commands[1:])]
        typed = [f':submit {name} {{}}' for name in commands]
        drawn += [
            Happening(at_s, 'command', text=line) for at_s, line in zip(times, typed, strict=True)
        ]
    return sorted(drawn, key=lambda each: each.at_s)


def folder_of(expected: Path) -> Path:
    """Where the logs are that belong to these verdicts: others do not tell of this code."""
    return LOGS / hashlib.sha256(expected.read_bytes()).hexdigest()[:16]


def log_of(seed: int, simulator: Simulator, folder: Path) -> list[str]:
    """The batches of a mission, kept or made."""
    file = folder / f'{seed}.gz'
    if not file.is_file():
        result = simulator.run(seed, MINUTES, happenings(seed, robot_of(seed)), logged)
        batches: list[str] = result.record.inputs  # type: ignore[attr-defined]
        folder.mkdir(parents=True, exist_ok=True)
        part = file.with_suffix('.part')
        with gzip.open(part, 'wt', encoding='utf-8') as lines:
            lines.writelines(f'{batch}\n' for batch in batches)
        part.rename(file)
    with gzip.open(file, 'rt', encoding='utf-8') as lines:
        return lines.read().splitlines()


def verdicts(batches: list[str], config: Config) -> Iterator[tuple[str, str]]:
    """What the log and what the rules say of each step with a result; and each new status of the
    rules, which the log has not.
    """
    from curiosity_rosa_demo.adapter.report import status_of
    from curiosity_rosa_demo.adapter.steps import decode_batch
    from curiosity_rosa_demo.domain.adapter_status import without_measured
    from curiosity_rosa_demo.recording.rule_run import RuleRun

    run: RuleRun | None = None
    shown: object = None
    for text in batches:
        batch = decode_batch(text)
        assert batch is not None, text[:80]
        for entry in batch.entries:
            if entry.name == 'start':
                run = RuleRun(config, entry)
                continue
            assert run is not None, f'the log begins with {entry.name}'
            said = run.feed(entry)
            step = f'{entry.at:.3f} {entry.name}'
            if said is not None or entry.result is not None:
                yield f'{step} {json.dumps(entry.result)}', f'{step} {json.dumps(said)}'
            status = without_measured(status_of(run.rules))
            if status != shown:
                shown = status
                text_of = f'{step} {json.dumps(status, sort_keys=True)}'
                yield text_of, text_of


def check(seed: int, batches: list[str], config: Config) -> tuple[list[str], str]:
    """Where the rules and the log differ; and the seed, how many verdicts, and their digest."""
    digest, count = hashlib.sha256(), 0
    other = []
    for recorded, said in verdicts(batches, config):
        count += 1
        digest.update(f'{said}\n'.encode())
        if said != recorded:
            other.append(f'mission {seed}: recorded {recorded}; the rules say {said}')
    return other[:SHOWN], f'{seed} {count} {digest.hexdigest()[:16]}'


def robot_of(seed: int) -> str:
    """The last hundred have an arm."""
    return ARM if seed > SEEDS - ARMED else ''
