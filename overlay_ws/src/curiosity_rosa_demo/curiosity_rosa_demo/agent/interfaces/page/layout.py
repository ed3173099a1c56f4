# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""One open page: its panels, what they show, and where their buttons lead. In the page's loop."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from curiosity_rosa_demo.agent.interfaces.page import panels
from curiosity_rosa_demo.agent.interfaces.page.controller import Wishes
from curiosity_rosa_demo.agent.interfaces.page.status_rows import is_answer
from curiosity_rosa_demo.agent.interfaces.page.view_model import Look
from curiosity_rosa_demo.drawing.colours import css
from nicegui import Client, ui
from nicegui.events import GenericEventArguments

_STATIC = Path(__file__).parent / 'static'
# Beside what http/cross_site.py says. NiceGUI's scripts are inline, and Vue compiles the panels in
# the browser.
POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; "
    "style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
    "object-src 'none'; base-uri 'none'; form-action 'self'"
)


def _static(name: str) -> str:
    return (_STATIC / name).read_text(encoding='utf-8')


def head_html() -> str:
    """What is there before anything else is loaded: STOP, and the watch over the connection."""
    scripts = ''.join(f'<script>{_static(name)}</script>' for name in ('link.js', 'stop.js'))
    policy = f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
    return f'{policy}<style>{css()}{_static("page.css")}</style>{scripts}'


class Page:
    """For one browser tab."""

    def __init__(self, wishes: Wishes, look: Look, *, camera_hz: float) -> None:
        self._wishes = wishes
        self._client: Client = ui.context.client
        self._count = look.count
        self._shown = dict(look.parts)
        ui.add_head_html(head_html())
        ui.add_body_html(_static('frame.html'))
        self._client.content.classes(replace='page')
        self._panels: list[tuple[str, panels.Panel]] = []  # and the part that each shows
        self._build(look, 1.0 / camera_hz)
        for part, panel in self._panels:
            panel.set(look.parts[part])

    def show(self, look: Look, pages: int) -> None:
        """Send only what is another object than before, and the pulse.

        ``pages``: so many are open anywhere.
        """
        for part, panel in self._panels:
            if self._shown[part] is not look.parts[part]:
                panel.set(look.parts[part])
        self._shown = dict(look.parts)
        if lines := look.since(self._count):
            self._count = look.count
            self._trace.run_method('append', list(lines))
            for line in filter(is_answer, lines):
                self._say.run_method('tell', line['ok'] is not False, line['text'])
        beat = {'clock': look.clock, 'now': look.now, 'ages': dict(look.ages), 'pages': pages}
        self._pulse.run_method('beat', beat)

    def _build(self, look: Look, period_s: float) -> None:
        self._showing('status', panels.Status())
        self._approvals = self._showing('approvals', panels.Approvals())
        self._approvals.on('answer', self._answer)
        with ui.element('div').classes('board'):
            with _section('map', 'Map'):
                drawing = panels.Drawing('Map of the rover and its surroundings')
                self._showing('map', drawing).on('pick', self._pick)
            with _section('camera', 'Camera'):
                self._showing('shots', panels.Camera(period_s))
                self._shots = self._showing('shots', panels.Shots())
            with _section('talk', 'Say'):
                self._say = panels.Say().on('say', self._speak)
            with _section('thought', 'Trace'):
                self._showing('steps', panels.Drawing('Where the time of the last turn went'))
                self._trace = panels.Trace(list(look.lines)).on('raw', self._raw)
            with _section('tasks', 'Tasks'):
                self._showing('progress', panels.Progress())
                self._showing('times', panels.Drawing('Tasks over time'))
                self._showing('tasks', panels.Tasks()).on('cancel', self._cancel)
            with _section('plan', 'Plan'):
                self._showing('plan', panels.Plan())
            with _section('plot', 'Score over position'):
                drawing = panels.Drawing('Score of the captures over position')
                self._showing('plot', drawing).on('pick', self._pick)
        self._pulse = panels.Pulse().on('stop', self._stop)

    def _showing(self, part: str, panel: panels.Panel) -> panels.Panel:
        self._panels.append((part, panel))
        return panel

    async def _stop(self) -> None:
        ok, words = await self._wishes.stop()
        self._pulse.run_method('stopped', ok, words)

    def _pick(self, event: GenericEventArguments) -> None:
        self._shots.run_method('pick', event.args)

    def _raw(self, event: GenericEventArguments) -> None:
        self._trace.run_method('show', event.args, self._wishes.raw(event.args))

    async def _speak(self, event: GenericEventArguments) -> None:
        given = _object(event.args)
        ok, words = await self._wishes.say(given.get('text'))
        self._say.run_method('reply', given.get('number'), ok, words)

    async def _cancel(self, event: GenericEventArguments) -> None:
        ok, words = await self._wishes.cancel(event.args)
        self._say.run_method('tell', ok, words)

    async def _answer(self, event: GenericEventArguments) -> None:
        given = _object(event.args)
        ok, words = await self._wishes.answer(given)
        self._approvals.run_method('answered', given.get('id'), ok, words)


def _object(args: Any) -> dict[str, Any]:
    """What a browser sent, which may be anything."""
    return args if isinstance(args, dict) else {}


@contextmanager
def _section(name: str, heading: str) -> Iterator[None]:
    with ui.element('section').classes(f'panel {name}').props(f'aria-labelledby=heading-{name}'):
        ui.html(heading, tag='h2', sanitize=False).props(f'id=heading-{name}')
        yield
