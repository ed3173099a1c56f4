# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The net: what the product did is what it does. ``scripts/net.sh`` runs it and says how.

Each part is a process: one that simulates time cannot do anything else. It prints what differs.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
import difflib
from functools import partial
from pathlib import Path
import shutil
import subprocess
import sys
import time

from missions.simulator import fix_the_interpreter, Simulator

EXPECTED = Path(__file__).parent / 'expected'
CORES = 2
PLANT_MINUTES, PLANT_SEEDS = 2.0, range(1, 31)
FENCE_M = 200.0  # of the golden traces: no order of theirs meets it by chance


def compare(name: str, made: str, *, update: bool) -> list[str]:
    """The lines of a diff between a committed file and what was made now."""
    file = EXPECTED / name
    if update:
        EXPECTED.mkdir(exist_ok=True)
        file.write_text(made, encoding='utf-8')
    before = file.read_text(encoding='utf-8') if file.is_file() else ''
    lines = difflib.unified_diff(
        before.splitlines(), made.splitlines(), f'expected/{name}', 'now', lineterm='', n=2
    )
    return list(lines)


def golden_traces(*, update: bool) -> list[str]:
    import traces

    simulator = Simulator(fence_m=FENCE_M)
    try:
        made = traces.traces(simulator)
    finally:
        simulator.close()
    return [
        line
        for name, text in made.items()
        for line in compare(f'{name}.trace', text, update=update)
    ]


def mission_inputs(part: int, *, update: bool) -> list[str]:
    """``part``: 0 to CORES - 1 without an arm, CORES with one."""
    import inputs

    robot = inputs.ARM if part == CORES else ''
    simulator = Simulator(robot=robot)
    from curiosity_rosa_demo.infra.config_loader import load_config

    config = load_config(simulator.config_dir)
    expected = EXPECTED / f'verdicts_{part}.txt'
    made = inputs.LOGS / f'new-{part}'
    shutil.rmtree(made, ignore_errors=True)
    folder = made if update or not expected.is_file() else inputs.folder_of(expected)
    found, text = [], ''
    for seed in range(1, inputs.SEEDS + 1):
        if inputs.robot_of(seed) == robot and (robot or seed % CORES == part):
            differ, digest = inputs.check(seed, inputs.log_of(seed, simulator, folder), config)
            found += differ
            text += f'{digest}\n'
    simulator.close()
    found += compare(expected.name, text, update=update)
    if update:
        shutil.rmtree(inputs.folder_of(expected), ignore_errors=True)
        made.rename(inputs.folder_of(expected))
    return found


def planted_faults(*, update: bool) -> list[str]:
    """Of the missions; those of search and monitor are tests. The file has the seed that found a
    fault last, and the rule that it broke there.
    """
    from missions.planted import PLANTS

    simulator, known = Simulator(), dict[str, int]()
    if (EXPECTED / 'plants.txt').is_file():
        for line in (EXPECTED / 'plants.txt').read_text(encoding='utf-8').splitlines():
            known[line.partition(': ')[0]] = int(line.partition(': ')[2].split()[0])
    found = {}
    for name, plant in PLANTS.items():
        for seed in filter(None, (known.get(name, 0), *PLANT_SEEDS)):
            result = simulator.run(seed, PLANT_MINUTES, None, plant)
            if result.failed:
                broke = result.violations[0].rule if result.violations else 'a crash'
                found[name] = f'{name}: {seed} {broke}\n'
                break
    simulator.close()
    missed = [f'no mission finds: {name}' for name in PLANTS if name not in found]
    return missed or compare('plants.txt', ''.join(found.values()), update=update)


def proofs(*, update: bool) -> list[str]:
    import cases

    return cases.differences(update=update)


def mutation(*, update: bool) -> list[str]:
    import mutants

    if update:
        mutants.update()
        return []
    return mutants.differences()


PARTS: dict[str, Callable[..., list[str]]] = {
    'inputs-0': partial(mission_inputs, 0),
    'inputs-1': partial(mission_inputs, 1),
    'inputs-arm': partial(mission_inputs, CORES),
    'traces': golden_traces,
    'plants': planted_faults,
    'proofs': proofs,
    'mutants': mutation,  # uses all cores
}


def run_part(name: str, options: list[str]) -> bool:
    """Whether the part says that nothing differs."""
    began = time.monotonic()
    command = [sys.executable, __file__, '--part', name, *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    ok = done.returncode == 0 and not done.stdout.strip()
    verdict = 'as expected' if ok else 'DIFFERS'
    error = '' if done.returncode == 0 else done.stderr[-2000:]
    print(f'{name}: {verdict}, {time.monotonic() - began:.0f} s', flush=True)
    print(done.stdout, error, sep='', end='', flush=True)
    return ok


def main() -> int:
    parser = argparse.ArgumentParser(prog='net.sh', description='Run the net.')
    parser.add_argument('parts', nargs='*', metavar='PART', help=f'of {", ".join(PARTS)}')
    parser.add_argument('--update', action='store_true', help='what is now is what is expected')
    parser.add_argument('--part', help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.part:
        print(*PARTS[options.part](update=options.update), sep='\n')
        return 0
    if unknown := set(options.parts) - set(PARTS):
        parser.error(f'no such part: {", ".join(sorted(unknown))}')
    chosen = [name for name in PARTS if name in (options.parts or PARTS)]
    arguments = ['--update'] if options.update else []
    alone = [name for name in chosen if name == 'mutants']
    with ThreadPoolExecutor(CORES) as pool:
        others = [name for name in chosen if name not in alone]
        ends = list(pool.map(lambda name: run_part(name, arguments), others))
    ends += [run_part(name, arguments) for name in alone]
    return 0 if all(ends) else 1


if __name__ == '__main__':
    if '--part' in sys.argv and 'mutants' not in sys.argv and 'proofs' not in sys.argv:
        fix_the_interpreter(sys.argv)
    sys.exit(main())
