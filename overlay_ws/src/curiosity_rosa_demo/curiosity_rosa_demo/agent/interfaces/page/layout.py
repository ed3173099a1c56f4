# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""One open page: its panels, their data and their callbacks. Runs in the page's loop."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from curiosity_rosa_demo.agent.interfaces.page import panels
from curiosity_rosa_demo.agent.interfaces.page.controller import PageController
from curiosity_rosa_demo.agent.interfaces.page.status_rows import is_turn_end
from curiosity_rosa_demo.agent.interfaces.page.view_model import PageSnapshot
from curiosity_rosa_demo.drawing.colours import css
from nicegui import Client, ui
from nicegui.events import GenericEventArguments

_STATIC = Path(__file__).parent / 'static'
# In addition to the headers of http/cross_site.py. NiceGUI's scripts are inline, and Vue compiles
# the panels in the browser.
CONTENT_SECURITY_POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; "
    "style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
    "object-src 'none'; base-uri 'none'; form-action 'self'"
)


def _static(name: str) -> str:
    return (_STATIC / name).read_text(encoding='utf-8')


def head_html() -> str:
    """The part of the page that loads first: STOP, and the check of the connection."""
    scripts = ''.join(f'<script>{_static(name)}</script>' for name in ('link.js', 'stop.js'))
    policy = f'<meta http-equiv="Content-Security-Policy" content="{CONTENT_SECURITY_POLICY}">'
    return f'{policy}<style>{css()}{_static("page.css")}</style>{scripts}'


class Page:
    """The page of one browser tab."""

    def __init__(
        self, controller: PageController, snapshot: PageSnapshot, *, camera_hz: float
    ) -> None:
        self._controller = controller
        self._client: Client = ui.context.client
        self._sent_line_count = snapshot.count
        self._sent_parts = dict(snapshot.parts)
        ui.add_head_html(head_html())
        ui.add_body_html(_static('frame.html'))
        self._client.content.classes(replace='page')
        self._panels: list[tuple[str, panels.Panel]] = []  # each with the part that it shows
        self._build(snapshot, 1.0 / camera_hz)
        for part, panel in self._panels:
            panel.set(snapshot.parts[part])

    def update(self, snapshot: PageSnapshot, pages: int) -> None:
        """Send the parts that have changed (compared by identity), and the heartbeat.

        ``pages``: number of open pages in all browsers.
        """
        for part, panel in self._panels:
            if self._sent_parts[part] is not snapshot.parts[part]:
                panel.set(snapshot.parts[part])
        self._sent_parts = dict(snapshot.parts)
        if lines := snapshot.lines_after(self._sent_line_count):
            self._sent_line_count = snapshot.count
            self._trace.run_method('append', list(lines))
            for line in filter(is_turn_end, lines):
                self._say.run_method('addMessage', line['ok'] is not False, line['text'])
        beat = {
            'clock': snapshot.clock,
            'now': snapshot.now,
            'ages': dict(snapshot.ages),
            'pages': pages,
        }
        self._pulse.run_method('beat', beat)

    def _build(self, snapshot: PageSnapshot, period_s: float) -> None:
        self._is_visible('status', panels.StatusPanel())
        self._approvals = self._is_visible('approvals', panels.ApprovalsPanel())
        self._approvals.on('answer', self._on_answer)
        with ui.element('div').classes('board'):
            with _section('map', 'Map'):
                drawing = panels.DrawingPanel('Map of the rover and its surroundings')
                self._is_visible('map', drawing).on('pick', self._on_event_selected)
            with _section('camera', 'Camera'):
                self._is_visible('captures', panels.CameraPanel(period_s))
                self._captures = self._is_visible('captures', panels.CapturesPanel())
                self._is_visible('ground', panels.GroundPanel())
            with _section('talk', 'Say'):
                self._say = panels.CommandLine().on('say', self._on_line)
            with _section('thought', 'Trace'):
                self._is_visible(
                    'steps', panels.DrawingPanel('Where the time of the last turn went')
                )
                self._trace = panels.TracePanel(list(snapshot.lines)).on(
                    'raw', self._show_event_json
                )
            with _section('tasks', 'Tasks'):
                self._is_visible('progress', panels.Progress())
                self._is_visible('times', panels.DrawingPanel('Tasks over time'))
                self._is_visible('tasks', panels.TasksPanel()).on('cancel', self._on_cancel)
                triggers = panels.TriggersPanel()
                self._is_visible('triggers', triggers).on('switch', self._on_trigger)
            with _section('plan', 'Plan'):
                self._is_visible('plan', panels.PlanPanel())
            with _section('plot', 'Score over position'):
                drawing = panels.DrawingPanel('Score of the captures over position')
                self._is_visible('plot', drawing).on('pick', self._on_event_selected)
        self._pulse = panels.ConnectionMonitor().on('stop', self._on_stop)

    def _is_visible(self, part: str, panel: panels.Panel) -> panels.Panel:
        self._panels.append((part, panel))
        return panel

    async def _on_stop(self) -> None:
        ok, words = await self._controller.stop()
        self._pulse.run_method('stopped', ok, words)

    def _on_event_selected(self, event: GenericEventArguments) -> None:
        self._captures.run_method('pick', event.args)

    def _show_event_json(self, event: GenericEventArguments) -> None:
        self._trace.run_method('show', event.args, self._controller.event_json(event.args))

    async def _on_line(self, event: GenericEventArguments) -> None:
        data = _object(event.args)
        ok, words = await self._controller.say(data.get('text'))
        self._say.run_method('reply', data.get('number'), ok, words)

    async def _on_cancel(self, event: GenericEventArguments) -> None:
        ok, words = await self._controller.cancel(event.args)
        self._say.run_method('addMessage', ok, words)

    def _on_trigger(self, event: GenericEventArguments) -> None:
        ok, words = self._controller.switch_trigger(_object(event.args))
        self._say.run_method('addMessage', ok, words)

    async def _on_answer(self, event: GenericEventArguments) -> None:
        data = _object(event.args)
        ok, words = await self._controller.answer(data)
        self._approvals.run_method('answered', data.get('id'), ok, words)


def _object(args: Any) -> dict[str, Any]:
    """``args`` if it is an object; a browser may send any value."""
    return args if isinstance(args, dict) else {}


@contextmanager
def _section(name: str, heading: str) -> Iterator[None]:
    with ui.element('section').classes(f'panel {name}').props(f'aria-labelledby=heading-{name}'):
        ui.html(heading, tag='h2', sanitize=False).props(f'id=heading-{name}')
        yield
