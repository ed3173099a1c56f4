# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The colours of the page and of reports, light and dark, and the style sheet of the drawings.

Each pair keeps WCAG's contrast on every ground: 4.5 for text, 3 for shapes. No state is told by
its colour alone: shapes, signs and words tell it too.
"""

from __future__ import annotations

Pair = tuple[str, str]  # on light, on dark

BACKGROUND_COLOURS: dict[str, Pair] = {
    'page': ('#ffffff', '#11151b'),
    'panel': ('#f5f6f8', '#1a2029'),
    'zone': ('#fff3c4', '#3a3314'),
}
TEXT_COLOURS: dict[str, Pair] = {
    'ink': ('#1b1f24', '#e8ebef'),
    'soft': ('#535b66', '#a9b3c0'),
    'alarm-ink': ('#a3161b', '#ff9a94'),
}
SHAPE_COLOURS: dict[str, Pair] = {
    'axis': ('#6d7580', '#8a94a3'),
    'zone-edge': ('#8a6d00', '#d9b93b'),
    'rover': ('#9a3412', '#ff9d5c'),
    'trail': ('#1d5fbf', '#6fb1ff'),
    'good': ('#0b6e4f', '#3fd09b'),
    'dark': ('#5b3f99', '#c3a6ff'),
    'goal': ('#8f1d76', '#ff8fdc'),
    'obstacle': ('#a3161b', '#ff8078'),
    'fence': ('#a3161b', '#ff8078'),
    'thinking': ('#5b3f99', '#c3a6ff'),
    'checking': ('#535b66', '#a9b3c0'),
    'acting': ('#1d5fbf', '#6fb1ff'),
    'asking': ('#8f1d76', '#ff8fdc'),
    'pending': ('#535b66', '#a9b3c0'),
    'waiting': ('#76600a', '#d9b93b'),
    'active': ('#1d5fbf', '#6fb1ff'),
    'paused': ('#9a3412', '#ff9d5c'),
    'recovering': ('#5b3f99', '#c3a6ff'),
    'completed': ('#0b6e4f', '#3fd09b'),
    'failed': ('#a3161b', '#ff8078'),
    'cancelled': ('#3d444d', '#c5ccd6'),
}
ON_SHAPE_COLOUR: Pair = ('#ffffff', '#11151b')  # text upon a shape
FAINT_COLOUR: Pair = ('#dfe3e8', '#2a323d')  # the grid: for the eye to rest on, tells nothing

PHASES = ('thinking', 'checking', 'acting', 'asking')  # of a turn
STATES = (  # of a task
    *('pending', 'waiting', 'active', 'paused', 'recovering'),
    *('completed', 'failed', 'cancelled'),
)

_RULES = """
.cr-drawing { display: block; width: 100%; height: auto; }
.cr-drawing text { fill: var(--cr-ink); font: 12px system-ui, 'DejaVu Sans', sans-serif;
  font-variant-numeric: tabular-nums; }
.cr-drawing .cr-numbers text { fill: var(--cr-soft); font-size: 12px; }
.cr-map text, .cr-plot text { paint-order: stroke; stroke: var(--cr-page); stroke-width: 3px;
  stroke-linejoin: round; }
.cr-drawing .cr-alarm { fill: var(--cr-alarm-ink); }
.cr-ground { fill: var(--cr-page); }
.cr-grid line { stroke: var(--cr-faint); }
.cr-grid .cr-axis { stroke: var(--cr-axis); }
.cr-zone { fill: var(--cr-zone); stroke: var(--cr-zone-edge); stroke-dasharray: 2 3; }
.cr-fence { stroke: var(--cr-fence); stroke-width: 2.5; stroke-dasharray: 9 5; }
.cr-trail { fill: none; stroke: var(--cr-trail); stroke-width: 2; stroke-linejoin: round; }
.cr-begin { fill: var(--cr-page); stroke: var(--cr-trail); stroke-width: 2; }
.cr-way { stroke: var(--cr-goal); stroke-dasharray: 4 4; }
.cr-forecast { fill: none; stroke: var(--cr-goal); stroke-width: 2; stroke-dasharray: 2 5;
  stroke-linecap: round; }
.cr-goal { fill: none; stroke: var(--cr-goal); stroke-width: 2; }
.cr-obstacle line { stroke: var(--cr-obstacle); stroke-width: 4; stroke-linecap: round; }
.cr-rover polygon { fill: var(--cr-rover); stroke: var(--cr-page); }
.cr-wheels line { stroke: var(--cr-ink); stroke-linecap: round; }
.cr-rover .cr-mast { fill: var(--cr-page); }
.cr-unknown rect { fill: var(--cr-panel); stroke: var(--cr-alarm-ink); stroke-width: 2; }
.cr-drawing .cr-unknown text { fill: var(--cr-alarm-ink); font-weight: 600; }
.cr-hit { fill: transparent; stroke: none; }
.cr-spot { cursor: pointer; }
.cr-good > circle:not(.cr-hit) { fill: var(--cr-good); stroke: var(--cr-page); }
.cr-good .cr-tick { fill: none; stroke: var(--cr-on-shapes); stroke-width: 1.6; }
.cr-dark rect { fill: var(--cr-dark); stroke: var(--cr-dark); stroke-width: 2; }
.cr-spot.cr-failed line { stroke: var(--cr-failed); stroke-width: 2.5; }
.cr-spot:focus { outline: none; }
.cr-spot:focus-visible .cr-hit, .cr-spot:hover .cr-hit { stroke: var(--cr-ink); stroke-width: 2; }
.cr-scale polyline, .cr-ticks polyline { fill: none; stroke: var(--cr-axis); }
.cr-threshold { stroke: var(--cr-good); stroke-width: 1.5; stroke-dasharray: 6 4; }
.cr-light { fill: none; stroke: var(--cr-zone-edge); stroke-width: 1.5; stroke-dasharray: 2 3; }
.cr-now { stroke: var(--cr-axis); stroke-dasharray: 3 3; }
.cr-drawing .cr-bar text { fill: var(--cr-on-shapes); font-size: 12px; }
.cr-drawing .cr-soft { fill: var(--cr-soft); }
"""


def css() -> str:
    """Once a page: the colours as custom properties, and how the drawings use them. Dark on a
    screen, not on paper, where the browser says so; NiceGUI's body--light and body--dark overrule
    it.
    """
    light, dark = (_properties(side) for side in (0, 1))
    bars = ''.join(
        f'.cr-{name} {{ --cr-own: var(--cr-{name}); }}\n' for name in (*STATES, *PHASES)
    )
    return (
        f':root, .body--light {{ {light} }}\n'
        f'@media screen and (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}\n'
        f'.body--dark {{ {dark} }}\n{_RULES}{bars}'
        '.cr-bar rect { fill: var(--cr-own); stroke: var(--cr-page); }\n'
        '.cr-drawing .cr-sign { fill: var(--cr-own); font-weight: 600; }\n'
    )


def _properties(side: int) -> str:
    pairs = {
        **BACKGROUND_COLOURS,
        **TEXT_COLOURS,
        **SHAPE_COLOURS,
        'on-shapes': ON_SHAPE_COLOUR,
        'faint': FAINT_COLOUR,
    }
    return ' '.join(f'--cr-{name}: {pair[side]};' for name, pair in pairs.items())
