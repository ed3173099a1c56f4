# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The panels of the page as NiceGUI elements. ``components`` has their templates, which bind text
as text, never as markup; only the drawings of ``drawings.py`` are markup. ``modules`` has what
several components share, which they import as ``curiosity/NAME.js``.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from curiosity_rosa_demo.agent.interfaces.page.drawings import DEFAULT_LOOK, Drawing, Look
from curiosity_rosa_demo.agent.interfaces.page.status_rows import PanelData
from curiosity_rosa_demo.agent.interfaces.terminal.commands import CommandSpec
from curiosity_rosa_demo.drawing.svg import is_drawable
from curiosity_rosa_demo.trace.reporter import finite_float
from nicegui import ui
from nicegui.dependencies import register_esm

MIN_LOOK_PX, MAX_LOOK_PX, LOOK_STEP_PX = 120.0, 2560.0, 8.0
MIN_SCALE, MAX_SCALE = 0.2, 400.0  # pixels a metre of the map
_MODULES = Path(__file__).parent / 'modules'

# The time of the newest becomes a part of their address: no browser uses old ones after an update.
register_esm(
    'curiosity', _MODULES, max_time=max(each.stat().st_mtime for each in _MODULES.glob('*.js'))
)


class Panel(ui.element):
    """Shows ``facts``; ``set`` replaces them."""

    def set(self, facts: PanelData | None) -> None:
        self.props['facts'] = facts
        self.update()


class StatusPanel(Panel, component='components/status.js'): ...


class AlarmsPanel(Panel, component='components/alarms.js'): ...


class QuestionAlert(Panel, component='components/question_alert.js'): ...


class DrawingPanel(Panel, component='components/drawing.js'):
    """Shows a drawing in the size that its browser reports by the event ``look``."""

    def __init__(self, label: str) -> None:
        super().__init__()
        self.props['label'] = label
        self.look: Look | None = None  # None: not reported yet
        self._shown: tuple[Drawing, Look | None] | None = None

    def show(self, drawing: Drawing) -> None:
        """Send the drawing, unless it is shown already."""
        if self._shown is not None and self._shown[0] is drawing and self._shown[1] == self.look:
            return
        self._shown = (drawing, self.look)
        picture = drawing.picture(self.look or DEFAULT_LOOK)
        view = picture.view
        box = None if view is None else [view.x_min, view.x_max, view.y_min, view.y_max]
        self.set({'svg': picture.svg, 'view': box})


class MapPanel(DrawingPanel, component='components/map.js'):
    """The map, which a person moves and zooms, and on which a person points at a goal."""


def read_look(args: object) -> Look | None:
    """What a browser asked for; None: it is no look. Sizes are in whole steps, so that pages of
    about the same size share a drawing.
    """
    if not isinstance(args, dict):
        return None
    width, height = finite_float(args.get('width')), finite_float(args.get('height'))
    if width is None or height is None:
        return None
    x, y = finite_float(args.get('x')), finite_float(args.get('y'))
    scale = finite_float(args.get('scale'))
    known = None not in (x, y, scale) and is_drawable(x, y)
    return Look(
        _stepped(width, MIN_LOOK_PX, MAX_LOOK_PX),
        _stepped(height, MIN_LOOK_PX, MAX_LOOK_PX),
        centre=(x, y) if known and x is not None and y is not None else None,
        scale=min(MAX_SCALE, max(MIN_SCALE, scale)) if known and scale is not None else 0.0,
        follows=known and args.get('follows') is True,
    )


def _stepped(value: float, low: float, high: float) -> float:
    return min(high, max(low, value // LOOK_STEP_PX * LOOK_STEP_PX))


class CameraPanel(Panel, component='components/camera.js'):
    """Requests a frame every ``period_s`` while the panel is visible."""

    def __init__(self, period_s: float) -> None:
        super().__init__()
        self.props['period'] = period_s


class CapturesPanel(Panel, component='components/captures.js'): ...


class GroundPanel(Panel, component='components/ground.js'): ...


class TasksPanel(Panel, component='components/tasks.js'): ...


class TaskDrawer(Panel, component='components/task_drawer.js'):
    """Shows one task, or, without facts, nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.props['facts'] = None


class TriggersPanel(Panel, component='components/triggers.js'): ...


class PlanPanel(Panel, component='components/plan.js'): ...


class Progress(Panel, component='components/progress.js'): ...


class TracePanel(ui.element, component='components/trace.js'):
    """Starts with ``lines``; its method ``append`` adds more."""

    def __init__(self, lines: list[PanelData]) -> None:
        super().__init__()
        self.props['lines'] = lines


class Conversation(Panel, component='components/conversation.js'):
    """Shows the lines, captures and open questions of its facts among the lines of the trace,
    which TracePanel adds. Its event ``answer`` tells the answer to a question.
    """


class TimeBar(Panel, component='components/time_bar.js'):
    """The scrubber."""


class CommandLine(ui.element, component='components/command_line.js'):
    """Completes the names of ``commands``."""

    def __init__(self, commands: Iterable[CommandSpec]) -> None:
        super().__init__()
        self.props['commands'] = [[each.name, each.argument, each.help] for each in commands]


class ConnectionMonitor(ui.element, component='components/connection_monitor.js'): ...
