# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The panels of the page as NiceGUI elements. ``components`` has their templates, which bind text
as text, never as markup; only the drawings of ``drawings.py`` are markup.
"""

from __future__ import annotations

from curiosity_rosa_demo.agent.interfaces.page.status_rows import PanelData
from nicegui import ui


class Panel(ui.element):
    """Shows ``facts``; ``set`` replaces them."""

    def set(self, facts: PanelData) -> None:
        self.props['facts'] = facts
        self.update()


class StatusPanel(Panel, component='components/status.js'): ...


class ApprovalsPanel(Panel, component='components/approvals.js'): ...


class DrawingPanel(Panel, component='components/drawing.js'):
    def __init__(self, label: str) -> None:
        super().__init__()
        self.props['label'] = label


class CameraPanel(Panel, component='components/camera.js'):
    """Requests a frame every ``period_s`` while the panel is visible."""

    def __init__(self, period_s: float) -> None:
        super().__init__()
        self.props['period'] = period_s


class CapturesPanel(Panel, component='components/captures.js'): ...


class GroundPanel(Panel, component='components/ground.js'): ...


class TasksPanel(Panel, component='components/tasks.js'): ...


class TriggersPanel(Panel, component='components/triggers.js'): ...


class PlanPanel(Panel, component='components/plan.js'): ...


class Progress(Panel, component='components/progress.js'): ...


class TracePanel(ui.element, component='components/trace.js'):
    """Starts with ``lines``; its method ``append`` adds more."""

    def __init__(self, lines: list[PanelData]) -> None:
        super().__init__()
        self.props['lines'] = lines


class CommandLine(ui.element, component='components/command_line.js'): ...


class ConnectionMonitor(ui.element, component='components/connection_monitor.js'): ...
