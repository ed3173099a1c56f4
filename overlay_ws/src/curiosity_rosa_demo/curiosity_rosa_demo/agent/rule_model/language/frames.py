# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Steps of a sentence, and the frames that make them of tags: the same for every language. Data.

A frame matches a clause whose tags contain all that it ``needs`` and nothing but what it ``may``
have. ``A|B`` stands for one of both. A tag with a star may occur more than once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
import math

# Beyond these a number is absurd.
MOST = {'s': 7200.0, 'm': 20000.0, 'deg': 3600.0}
MOST_REPETITIONS = 20
TOOLS = {  # of the verbs that are one call of a skill
    'forward': 'move_forward',
    'left': 'turn_left',
    'right': 'turn_right',
    'open': 'mast_open',
    'close': 'mast_close',
    'rotate': 'mast_rotate',
    'picture': 'capture_and_score',
    'status': 'get_status',
    'wait': 'wait',
    'say': 'speak',
}
MOTIONS = ('forward', 'left', 'right', 'goto', 'light', 'explore', 'home', 'back', 'skill')


@dataclass(frozen=True)
class Step:
    """One thing to do. ``amount`` in ``unit`` (s, m, deg; '' without an amount), ``count`` of
    pictures (0: not said), ``x`` and ``y`` in metres of the world frame, ``text`` to speak, or the
    name of a skill. ``condition``: when it is to be done, '' for always.
    """

    verb: str
    amount: float = 0.0
    unit: str = ''
    count: int = 0
    x: float = 0.0
    y: float = 0.0
    text: str = ''
    condition: str = ''

    @property
    def label(self) -> str:
        """The step in one line, such as ``forward 2m`` or ``if dark: light``."""
        words = self.verb
        if self.unit:
            words += f' {self.amount:g}{self.unit}'
        if self.verb == 'goto':
            words += f' {self.x:g} {self.y:g}'
        if self.count:
            words += f' x{self.count}'
        if self.text:
            words += f' {self.text}'
        return f'if {self.condition}: {words}' if self.condition else words

    @property
    def problem(self) -> str:
        """'' or ``number``: the number is absurd."""
        if self.unit and not (0.0 < self.amount <= MOST[self.unit] and math.isfinite(self.amount)):
            return 'number'
        return 'number' if not 0 <= self.count <= MOST_REPETITIONS else ''


@dataclass(frozen=True)
class Frame:
    verb: str
    needs: tuple[str, ...]
    may: tuple[str, ...] = ()


# Tags that mean nothing more when they are repeated.
REPEATABLE = frozenset(
    {
        'GO',
        'FORWARD',
        'TURN',
        'LEFT',
        'RIGHT',
        'PICTURE',
        'SHOOT',
        'TAKE',
        'MAST',
        'PLACE',
        'LIGHT',
        'BRIGHT',
        'GROUND',
        'EXPLORE',
        'VIEW',
        'BASE',
        'BACK',
        'WAIT',
        'FIND',
        'AROUND',
        'OPEN',
        'CLOSE',
        'END',
        'IF',
        'CAMERA',
        'EACH',
        'REPORT',
        'STATUS',
        'START',
        'SHADE',
        'UTURN',
        'REPEAT',
        'WH',
        'BE',
        'FACE',
        'DARK',
        'LOOK',
    }
)
_ALWAYS = ('END', 'ING', 'TIMES', 'REPEAT', 'START', 'COMMA', 'AND')
_OF_PICTURES = (
    'TAKE',
    'COUNT|NUM',
    'GROUND',
    'PLACE',
    'CAMERA',
    'SHOOT',
    'PICTURE',
    'EACH',
    'VIEW',
)
FRAMES = (
    Frame('forward', ('FORWARD',), ('GO', 'DUR|DIST', 'PLACE')),
    Frame('forward', ('GO', 'DUR|DIST'), ('ONWARD',)),
    Frame('forward', ('DIST', 'ONWARD')),
    Frame('left', ('LEFT',), ('TURN', 'GO', 'DUR|ANGLE|NUM', 'PLACE', 'FACE')),
    Frame('right', ('RIGHT',), ('TURN', 'GO', 'DUR|ANGLE|NUM', 'PLACE', 'FACE')),
    Frame('left spin', ('LEFT', 'SPIN'), ('TURN',)),
    Frame('right spin', ('RIGHT', 'SPIN'), ('TURN',)),
    Frame('around turn', ('UTURN',), ('TURN', 'GO', 'PLACE')),
    Frame('around turn', ('UTURN', 'ANGLE'), ('TURN',)),
    Frame('around turn', ('TURN', 'AROUND'), ('ANGLE', 'BACKWARD')),
    Frame('around turn', ('TURN', 'ANGLE')),
    Frame('left spin', ('SPIN', 'TURN')),
    Frame(
        'light',
        ('LIGHT|BRIGHT', 'GO|FIND|VIEW'),
        (
            *('LIGHT', 'BRIGHT', 'PLACE', 'GO', 'FIND', 'SHADE', 'GROUND', 'FORWARD'),
            *('WH', 'AROUND', 'BE', 'DARK', 'TAKE'),
        ),
    ),
    Frame('light', ('SHADE', 'GO|FIND'), ('PLACE', 'DARK')),
    Frame(
        'light',
        ('UNTIL', 'LIGHT|BRIGHT', 'GO|FORWARD'),
        ('PLACE', 'BRIGHT', 'LIGHT', 'GO', 'FORWARD', 'FIND', 'BE'),
    ),
    Frame('goto', ('XY', 'GO|PLACE|FIND'), ('PLACE', 'GO', 'FIND', 'FORWARD')),
    Frame('goto', ('XY', 'KNOWNGOTO')),
    Frame('home', ('BASE', 'GO|BACK|FIND'), ('PLACE', 'GO', 'BACK', 'HOMEWARD')),
    Frame('home', ('BASE', 'KNOWNGOTO')),
    Frame('home', ('HOMEBASE',)),
    Frame('home', ('HOMEWARD',), ('BASE', 'GO', 'BACK')),
    Frame('back', ('BACK',), ('SAMEPLACE', 'GO', 'PLACE')),
    Frame('back', ('SAMEPLACE', 'GO|BACK'), ('PLACE', 'BACK')),
    Frame('picture', ('PICTURE|SHOOT',), (*_OF_PICTURES, 'FORWARD')),
    Frame('picture', ('TAKE', 'COUNT|NUM'), ('CAMERA',)),
    Frame('picture', ('COUNT', 'KNOWNPICTURE')),
    Frame('picture', ('TAKE', 'CAMERA')),
    Frame(
        'around',
        ('PICTURE|SHOOT|TAKE', 'AROUND|WAYS'),
        (*_OF_PICTURES, 'AROUND', 'WAYS', 'SPIN', 'WH', 'FACE', 'BE', 'TURN'),
    ),
    Frame('around', ('PICTURE|SHOOT', 'SPIN'), (*_OF_PICTURES, 'AROUND')),
    Frame('open', ('OPEN', 'MAST'), ('CAMERA', 'GO', 'PLACE')),
    Frame('close', ('CLOSE', 'MAST'), ('CAMERA', 'GO', 'PLACE')),
    Frame('open', ('OPEN', 'KNOWNMAST')),
    Frame('close', ('CLOSE', 'KNOWNMAST')),
    Frame('open close', ('OPENCLOSE', 'MAST')),
    Frame('rotate', ('TURN', 'MAST|CAMERA'), ('SPIN', 'AROUND', 'TIMES')),
    Frame('rotate', ('TURN', 'KNOWNMAST'), ('SPIN',)),
    Frame('rotate', ('LOOK',), ('MAST', 'AROUND', 'GROUND', 'CAMERA')),
    Frame('rotate', ('VIEW', 'AROUND')),
    Frame(
        'explore',
        ('EXPLORE',),
        ('GROUND', 'PLACE', 'AROUND', 'GO', 'VIEW', 'TAKE', 'FIND', 'WH', 'BE', 'LOOK'),
    ),
    Frame(
        'explore',
        ('VIEW', 'GROUND'),
        ('PLACE', 'AROUND', 'GO', 'EXPLORE', 'TAKE', 'FORWARD', 'WH', 'BE'),
    ),
    Frame('wait', ('WAIT', 'DUR|NUM'), ('WITHIN', 'GO')),
    Frame('wait', ('LATER', 'DUR'), ('WAIT',)),
    Frame('say', ('SAYING',)),
    Frame('status', ('STATUS', 'REPORT'), ('GROUND', 'BATTERY')),
    Frame('skill', ('SKILL',), ('DUR', 'DIST', 'ANGLE', 'NUM', 'COUNT')),
)
CONDITIONS = (
    ('dark', ('IF', 'DARK'), ('BE',)),
    ('bright', ('IF', 'BRIGHT'), ('BE',)),
    ('bright', ('UNLESS', 'DARK'), ('BE',)),
    ('dark', ('UNLESS', 'BRIGHT'), ('BE',)),
    ('battery>', ('BATTERY', 'ABOVE', 'PCT|NUM'), ('IF', 'BATTERY', 'BE')),
    ('battery<', ('BATTERY', 'BELOW', 'PCT|NUM'), ('IF', 'BATTERY', 'BE')),
    ('mast open', ('IF', 'MAST', 'OPEN'), ('BE',)),
    ('mast closed', ('IF', 'MAST', 'CLOSE'), ('BE',)),
    ('mast closed', ('UNLESS', 'MAST', 'OPEN'), ('BE',)),
    ('mast open', ('UNLESS', 'MAST', 'CLOSE'), ('BE',)),
    ('mast open', ('IF', 'OPEN', 'KNOWNMAST'), ('BE',)),
    ('mast closed', ('IF', 'CLOSE', 'KNOWNMAST'), ('BE',)),
    ('mast closed', ('UNLESS', 'OPEN', 'KNOWNMAST'), ('BE',)),
    ('mast open', ('UNLESS', 'CLOSE', 'KNOWNMAST'), ('BE',)),
)


def fits(needs: tuple[str, ...], may: tuple[str, ...], tags: Counter[str]) -> bool:
    """Whether ``tags`` have all that is needed, and nothing else than what may be."""
    allowed: set[str] = set(_ALWAYS)
    for slot in (*needs, *may):
        allowed.update(slot.split('|'))
    if not allowed.issuperset(tags):
        return False
    if not all(any(tag in tags for tag in slot.split('|')) for slot in needs):
        return False
    if any(
        count > 1 and tag not in REPEATABLE and tag not in ('COMMA', 'AND')
        for tag, count in tags.items()
    ):
        return False
    return sum(tags[tag] for tag in ('DUR', 'DIST', 'ANGLE', 'NUM', 'COUNT')) <= 1


def frame_of(tags: Counter[str], known: frozenset[str]) -> Frame | None:
    """The first frame that fits. ``known``: what the sentence has named before: KNOWNMAST..."""
    for frame in FRAMES:
        more = [tag for tag in frame.needs if tag.startswith('KNOWN')]
        if all(tag in known for tag in more):
            needs = tuple(tag for tag in frame.needs if tag not in more)
            if fits(needs, frame.may, tags):
                return frame
    return None


def condition_of(
    tags: Counter[str], values: Mapping[str, float], known: frozenset[str] = frozenset()
) -> str:
    """The condition that ``tags`` state, such as ``battery>50``; '' for none."""
    for name, needs, may in CONDITIONS:
        if 'KNOWNMAST' in needs and 'KNOWNMAST' not in known:
            continue
        if fits(tuple(tag for tag in needs if tag != 'KNOWNMAST'), may, tags):
            number = values.get('PCT', values.get('NUM', 0.0))
            return f'{name}{number:g}' if name.startswith('battery') else name
    return ''


def steps_of(
    frame: Frame, tags: Counter[str], values: Mapping[str, float], name: str
) -> list[Step]:
    """The steps of a clause. ``name``: of the skill. Empty: it is not clear which."""
    amount, unit = 0.0, ''
    for kind, each in (('DUR', 's'), ('DIST', 'm'), ('ANGLE', 'deg')):
        if kind in tags:
            amount, unit = values[kind], each
    count = int(values.get('COUNT', values.get('NUM', 0)))
    verb = frame.verb
    if verb.endswith(' spin'):
        return [Step(verb.split()[0], 360.0, 'deg')]
    if verb == 'around turn':
        return [Step('left', 180.0, 'deg')] if amount in (0.0, 180.0) else []
    if verb == 'open close':
        return [Step('open'), Step('close')]
    if verb == 'goto':
        return [Step('goto', x=values['X'], y=values['Y'])]
    if verb == 'wait':
        return [Step('wait', values['DUR'] if 'DUR' in tags else values['NUM'], 's')]
    if verb == 'picture':
        said = 'COUNT' in tags or 'NUM' in tags
        return (
            [Step('picture', count=count if said and count != 1 else 0)]
            if not said or count > 0
            else []
        )
    if verb == 'around':
        count = 0 if count == 360 else count  # degrees of a panorama
        return [Step('around', count=count or int(values.get('WAYS', 0)))]
    if verb in ('left', 'right') and 'NUM' in tags:  # "left 90"
        return [Step(verb, values['NUM'], 'deg')] if 10 <= values['NUM'] <= 360 else []
    if verb == 'skill':
        return [Step('skill', amount, unit, count=count, text=name)]
    return [Step(verb, amount, unit)] if verb in ('forward', 'left', 'right') else [Step(verb)]
