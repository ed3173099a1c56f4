# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Shrink a failing mission to the fewest happenings; tell it as a story and as a test. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
import json

from missions.happenings import Happening, KINDS

STORY_S = 12.0  # the story shows so much of the record before the violation
STORY_LINES = 40

Fails = Callable[[Sequence[Happening]], bool]


def shrink(happenings: Sequence[Happening], fails: Fails, *, budget: int = 60) -> list[Happening]:
    """The fewest of ``happenings`` with which the mission still ``fails``, by delta debugging
    (Zeller and Hildebrandt, 2002), in at most ``budget`` runs.
    """
    kept, parts = list(happenings), 2
    while kept and budget > 0:
        size = max(1, len(kept) // parts)
        for begin in range(0, len(kept), size):
            fewer = kept[:begin] + kept[begin + size :]
            budget -= 1
            if fails(fewer):
                kept, parts = fewer, max(2, parts - 1)
                break
            if budget <= 0:
                return kept
        else:
            if size == 1:
                return kept
            parts = min(len(kept), 2 * parts)
    return kept


def happening_text(each: Happening) -> str:
    """One sentence, such as ``12.0 s: a person says "stop"``."""
    if KINDS[each.kind].person:
        said = each.text or each.kind
        return f'{each.at_s:.1f} s: a person says {json.dumps(said, ensure_ascii=False)}'
    lasts = f' for {each.for_s:.1f} s' if each.for_s else ''
    strength = f', {each.value:g}' if each.value else ''
    what = f' ({each.text})' if each.text else ''
    return f'{each.at_s:.1f} s: {each.kind}{what}{lasts}{strength}'


def story(
    seed: int,
    happenings: Sequence[Happening],
    lines: Sequence[str],
    violations: Sequence[object],
    at_s: float,
) -> str:
    """What led to the violations. ``lines``: the record of the mission; ``at_s``: their time."""
    before = [line for line in lines if at_s - STORY_S <= float(line.split()[0]) <= at_s]
    told = [f'Seed {seed}. {len(happenings)} happenings are enough:']
    told += [f'  {happening_text(each)}' for each in happenings]
    told += ['The last seconds:', *(f'  {line[:160]}' for line in before[-STORY_LINES:])]
    told += ['Violated:', *(f'  {each}' for each in violations)]
    return '\n'.join(told)


def as_test(
    seed: int, minutes: float, happenings: Sequence[Happening], violations: Sequence[object]
) -> str:
    """A JSON file for ``kept``: the test replays it and expects no violation."""
    value = {
        'seed': seed,
        'minutes': minutes,
        'found': [str(each) for each in violations],
        'happenings': [each.as_json() for each in happenings],
    }
    return json.dumps(value, indent=1, ensure_ascii=False) + '\n'


def from_test(text: str) -> tuple[int, float, list[Happening]]:
    """The seed, the minutes and the happenings of ``as_test``. Raises ValueError."""
    try:
        value = json.loads(text)
        happenings = [Happening(**each) for each in value['happenings']]
        unknown = {each.kind for each in happenings} - KINDS.keys()
        if unknown:
            raise ValueError(f'unknown kinds of happenings: {", ".join(sorted(unknown))}')
        return int(value['seed']), float(value['minutes']), happenings
    except (KeyError, TypeError, json.JSONDecodeError) as error:
        raise ValueError(f'this is no file of a mission: {error!r}') from None
