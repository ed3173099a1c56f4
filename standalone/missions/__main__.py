# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.


"""Run missions: ``python -m missions --seed N --minutes M``."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Sequence
import math
from pathlib import Path
import sys
import time
from typing import TYPE_CHECKING

from missions.happenings import (
    as_test,
    draw_happenings,
    from_test,
    Happening,
    shrink,
    story,
)
from missions.simulator import fix_the_interpreter, Simulator

if TYPE_CHECKING:
    from missions.mission import Result

EXIT_VIOLATED, EXIT_USAGE = 1, 2
# The virtual clock replaces all others but this one.
_REAL = time.CLOCK_MONOTONIC


def parse_arguments(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog='simulate.sh',
        description='Run missions of the whole product in one thread, each from one seed.',
    )
    seed, count, minutes = _number(int, 0, 1e15), _number(int, 1, 1e9), _number(float, 0.01, 1440)
    parser.add_argument('--seed', type=seed, default=1, help='the (first) seed; default 1')
    parser.add_argument('--seeds', type=count, default=1, help='number of seeds from there')
    parser.add_argument('--minutes', type=minutes, default=10.0, help='simulated; default 10')
    parser.add_argument('--record', type=Path, help='write the record of the mission to this file')
    parser.add_argument('--mission', type=Path, help='replay this file of missions/kept instead')
    parser.add_argument('--keep', type=Path, help='folder for failing missions, as tests')
    parser.add_argument('--quiet', action='store_true', help='only failures and the last line')
    return parser.parse_args(arguments)


def _number(kind: type[float], least: float, most: float) -> Callable[[str], float]:
    def number(text: str) -> float:
        try:
            value = kind(text)
        except ValueError:
            value = math.nan
        if not least <= value <= most:
            message = f'{text!r} is no {kind.__name__} from {least:g} to {most:g}'
            raise argparse.ArgumentTypeError(message)
        return value

    return number


def main() -> int:
    arguments = parse_arguments(sys.argv[1:])
    fix_the_interpreter(['-m', 'missions', *sys.argv[1:]])
    seeds = range(arguments.seed, arguments.seed + arguments.seeds)
    happenings, minutes = None, arguments.minutes
    if arguments.mission is not None:
        try:
            seed, minutes, happenings = from_test(arguments.mission.read_text(encoding='utf-8'))
        except (OSError, ValueError) as error:
            print(f'simulate.sh: {arguments.mission}: {error}', file=sys.stderr)
            return EXIT_USAGE
        seeds = range(seed, seed + 1)
    simulator = Simulator()
    counts: Counter[str] = Counter()
    failed, began, simulated = 0, time.clock_gettime(_REAL), 0.0
    try:
        for seed in seeds:
            drawn = happenings
            if drawn is None:
                drawn = draw_happenings(seed, minutes)
            result = simulator.run(seed, minutes, drawn)
            simulated += result.simulated_s
            counts.update(result.counts)
            if arguments.record is not None:
                arguments.record.write_text(result.record.text, encoding='utf-8')
            if result.failed:
                failed += 1
                print(told(simulator, seed, minutes, result, arguments.keep), flush=True)
            elif not arguments.quiet:
                print(f'seed {seed}: {len(drawn)} happenings, {result.record.digest}', flush=True)
    except KeyboardInterrupt:
        return 130
    finally:
        simulator.close()
    took = time.clock_gettime(_REAL) - began
    print(
        f'{len(seeds)} missions, {simulated / 60:.0f} simulated minutes in {took:.0f} s: '
        f'{failed} failed; checks: {", ".join(f"{k} {v}" for k, v in sorted(counts.items()))}'
    )
    return EXIT_VIOLATED if failed else 0


def told(
    simulator: Simulator, seed: int, minutes: float, result: Result, folder: Path | None
) -> str:
    """Shrink a failed mission. Returns its story; ``folder`` gets it as a test."""
    rules = {each.rule for each in result.violations}

    def fails(fewer: Sequence[Happening]) -> bool:
        again = simulator.run(seed, minutes, fewer)
        if rules:
            return not rules.isdisjoint(each.rule for each in again.violations)
        return bool(again.defects)

    fewest = shrink(result.happenings, fails)
    last = simulator.run(seed, minutes, fewest)
    found = [*last.violations, *last.defects]
    at_s = last.violations[0].at_s if last.violations else last.simulated_s
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        text = as_test(seed, minutes, fewest, found)
        (folder / f'seed_{seed}.json').write_text(text, encoding='utf-8')
    return story(seed, fewest, last.record.lines, found, at_s)


if __name__ == '__main__':
    sys.exit(main())
