# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The panels of the page as elements of NiceGUI. What they look like is in ``components``: text is
bound there as text, never as markup; only the drawings of ``pictures.py`` are markup.
"""

from __future__ import annotations

from curiosity_rosa_demo.agent.interfaces.page.status_rows import Facts
from nicegui import ui


class Panel(ui.element):
    """Shows ``facts``; ``set`` sends others."""

    def set(self, facts: Facts) -> None:
        self.props['facts'] = facts
        self.update()


class Status(Panel, component='components/status.js'): ...


class Approvals(Panel, component='components/approvals.js'): ...


class Drawing(Panel, component='components/drawing.js'):
    def __init__(self, label: str) -> None:
        super().__init__()
        self.props['label'] = label


class Camera(Panel, component='components/camera.js'):
    """Asks for a frame every ``period_s`` while somebody can see it."""

    def __init__(self, period_s: float) -> None:
        super().__init__()
        self.props['period'] = period_s


class Shots(Panel, component='components/shots.js'): ...


class Tasks(Panel, component='components/tasks.js'): ...


class Plan(Panel, component='components/plan.js'): ...


class Progress(Panel, component='components/progress.js'): ...


class Trace(ui.element, component='components/trace.js'):
    """Begins with ``lines``; more are sent by its method ``append``."""

    def __init__(self, lines: list[Facts]) -> None:
        super().__init__()
        self.props['lines'] = lines


class Say(ui.element, component='components/say.js'): ...


class Pulse(ui.element, component='components/pulse.js'): ...
