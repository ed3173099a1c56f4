# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""One open page: its panels, their data and their callbacks. Runs in the page's loop."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from curiosity_rosa_demo.agent.interfaces.page import panels
from curiosity_rosa_demo.agent.interfaces.page.controller import (
    ActionResult,
    event_json,
    PageController,
)
from curiosity_rosa_demo.agent.interfaces.page.open_pages import BrowserSettings
from curiosity_rosa_demo.agent.interfaces.page.status_rows import PanelData
from curiosity_rosa_demo.agent.interfaces.page.time_view import TimeView
from curiosity_rosa_demo.agent.interfaces.page.timeline import TalkLines
from curiosity_rosa_demo.agent.interfaces.page.view_model import MAX_LINES, PageSnapshot
from curiosity_rosa_demo.agent.interfaces.terminal.commands import CommandSpec, is_stop_line
from curiosity_rosa_demo.domain.origin import caller_text, operator_name, PAGE_CLIENT
from curiosity_rosa_demo.drawing.svg import css
from nicegui import Client, ui
from nicegui.events import GenericEventArguments

_STATIC = Path(__file__).parent / 'static'
HEAD_SCRIPTS = (
    'link.js',
    'browser_settings.js',
    'stop.js',
    'alert.js',
    'attention.js',
    'panels.js',
)
# In addition to the headers of http/cross_site.py. NiceGUI's scripts are inline, and Vue compiles
# the panels in the browser.
CONTENT_SECURITY_POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; "
    "style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
    "object-src 'none'; base-uri 'none'; form-action 'self'"
)


def _static(name: str) -> str:
    return (_STATIC / name).read_text(encoding='utf-8')


def head_html(scripts_first: Sequence[str] = HEAD_SCRIPTS, further_css: str = '') -> str:
    """The part of the page that loads first: STOP, and the check of the connection."""
    scripts = ''.join(f'<script>{_static(name)}</script>' for name in scripts_first)
    policy = f'<meta http-equiv="Content-Security-Policy" content="{CONTENT_SECURITY_POLICY}">'
    return f'{policy}<style>{css()}{_static("page.css")}{further_css}</style>{scripts}'


class Page:
    """The page of one browser tab. ``time_view``: the time that it shows."""

    def __init__(
        self,
        controller: PageController,
        talk_lines: TalkLines,
        snapshot: PageSnapshot,
        time_view: TimeView,
        *,
        camera_hz: float,
        commands: Iterable[CommandSpec],
    ) -> None:
        self._controller, self._talk_lines, self._operator = controller, talk_lines, ''
        self._time_view, self._commands = time_view, commands
        self._client: Client = ui.context.client
        self._sent_lines = (time_view.story_name, snapshot.count)
        self._sent_parts = dict(snapshot.parts)
        ui.add_head_html(head_html())
        ui.add_body_html(_static('frame.html'))
        self._client.content.classes(replace='page')
        self._panels: list[tuple[str, panels.Panel]] = []  # each with the part that it shows
        self._drawings: dict[str, panels.DrawingPanel] = {}
        self._live = self._shown = snapshot
        self._sent_time = time_view.facts()
        self._open_task = ''
        self._sent_detail: PanelData | None = None
        self._build(snapshot, 1.0 / camera_hz)
        for part, panel in self._panels:
            panel.set(snapshot.parts[part])
        for name, drawing in self._drawings.items():
            drawing.show(snapshot.drawings[name])

    def update(self, snapshot: PageSnapshot, pages: int) -> None:
        """Send the parts that have changed (compared by identity), and the heartbeat.

        ``pages``: number of open pages in all browsers.
        """
        self._live = snapshot
        self._show()
        beat = {
            'clock': snapshot.clock,
            'now': snapshot.now,
            'ages': dict(snapshot.ages),
            'pages': pages,
        }
        self._pulse.run_method('beat', beat)

    def _show(self) -> None:
        """Send what has changed, of now or of the time that the page looks at."""
        shown = self._time_view.shown(self._live)
        for part, panel in self._panels:
            sent, facts = self._sent_parts[part], shown.parts[part]
            if sent is not facts and sent != facts:
                panel.set(facts)
        self._sent_parts, self._shown = dict(shown.parts), shown
        for name, drawing in self._drawings.items():
            drawing.show(shown.drawings[name])
        self._send_lines(shown)
        self._update_drawer()
        if (facts := self._time_view.facts()) != self._sent_time:
            self._sent_time = facts
            self._time_bar.set(facts)

    def _send_lines(self, shown: PageSnapshot) -> None:
        """Send the lines of the trace that are new, or, after a step in time, all."""
        story, count = self._sent_lines
        self._sent_lines = (self._time_view.story_name, shown.count)
        if self._sent_lines == (story, count):
            return
        if story == self._time_view.story_name and count < shown.count <= count + MAX_LINES:
            self._trace.run_method('append', list(shown.lines_after(count)))
        else:
            self._trace.run_method('replace', list(shown.lines))

    def _build(self, snapshot: PageSnapshot, period_s: float) -> None:
        self._is_visible('status', panels.StatusPanel())
        self._is_visible('alarms', panels.AlarmsPanel())
        self._is_visible('approvals', panels.QuestionAlert())
        self._time_bar = panels.TimeBar()
        self._time_bar.set(self._sent_time)
        self._time_bar.on('act', self._on_time)
        ui.element('div').classes('hidden-panels')
        with ui.element('div').classes('board'):
            with ui.element('div').classes('column place'):
                self._build_place()
            with ui.element('div').classes('column look'):
                self._build_look(period_s)
            with ui.element('div').classes('column talking'):
                self._build_talk(snapshot)
        self._drawer = panels.TaskDrawer()
        self._drawer.on('act', self._on_task_act).on('open', self._on_task_opened)
        BrowserSettings().on('operator', self._on_operator)
        self._pulse = panels.ConnectionMonitor()
        self._pulse.on('stop', self._on_stop).on('echo', self._on_echo)

    def _build_place(self) -> None:
        with _section('map', 'Map'):
            self._map = panels.MapPanel('Map of the rover and its surroundings')
            self._draws('map', self._map).on('pick', self._on_event_selected)
            self._map.on('propose', self._on_propose).on('order', self._on_order)
        with _section('tasks', 'Tasks'):
            self._is_visible('progress', panels.Progress())
            tasks = self._is_visible('tasks', panels.TasksPanel())
            tasks.on('act', self._on_task_act).on('open', self._on_task_opened)
            self._draws('times', panels.DrawingPanel('Tasks over time'))
            triggers = panels.TriggersPanel()
            self._is_visible('triggers', triggers).on('switch', self._on_trigger)

    def _build_look(self, period_s: float) -> None:
        with _section('camera', 'Camera'):
            self._is_visible('captures', panels.CameraPanel(period_s))
            self._captures = self._is_visible('captures', panels.CapturesPanel())
            self._is_visible('ground', panels.GroundPanel())
        with _section('plan', 'Plan'):
            self._is_visible('plan', panels.PlanPanel())
        with _section('plot', 'Score over position'):
            drawing = panels.DrawingPanel('Score of the captures over position')
            self._draws('plot', drawing).on('pick', self._on_event_selected)

    def _build_talk(self, snapshot: PageSnapshot) -> None:
        with _section('talk', 'Conversation'):
            self._talk = self._is_visible('talk', panels.Conversation()).on(
                'answer', self._on_answer
            )
            panels.CommandLine(self._commands).on('say', self._on_line)
        with _section('thought', 'Trace'):
            self._draws('steps', panels.DrawingPanel('Where the time of the last turn went'))
            self._trace = panels.TracePanel(list(snapshot.lines))
            self._trace.on('raw', self._show_event_json)

    def _draws(self, name: str, panel: panels.DrawingPanel) -> panels.DrawingPanel:
        self._drawings[name] = panel

        def on_look(event: GenericEventArguments) -> None:
            if look := panels.read_look(event.args):
                panel.look = look
                panel.show(self._shown.drawings[name])

        panel.on('look', on_look)
        return panel

    def _is_visible(self, part: str, panel: panels.Panel) -> panels.Panel:
        self._panels.append((part, panel))
        return panel

    def _refused(self) -> ActionResult | None:
        """The answer to any act but a stop, while the page does not show the live rover."""
        refusal = self._time_view.refusal()
        return (False, refusal) if refusal else None

    @property
    def _by(self) -> str:
        return caller_text(PAGE_CLIENT, self._operator)

    def _on_operator(self, event: GenericEventArguments) -> None:
        self._operator = operator_name(event.args)

    async def _on_stop(self) -> None:
        ok, words = await self._controller.stop(self._by)
        self._pulse.run_method('stopped', ok, words)

    def _on_echo(self, event: GenericEventArguments) -> None:
        """The page measures the round trip."""
        self._pulse.run_method('echoed', event.args if isinstance(event.args, float | int) else 0)

    async def _on_time(self, event: GenericEventArguments) -> None:
        await self._time_view.act(_object(event.args), self._live)
        self._show()

    def _on_event_selected(self, event: GenericEventArguments) -> None:
        self._captures.run_method('pick', event.args)

    async def _on_propose(self, event: GenericEventArguments) -> None:
        data = _object(event.args)
        if refusal := self._time_view.refusal():
            proposal: PanelData = {'ok': False, 'lines': [refusal], 'path': []}
        else:
            proposal = await self._controller.propose(data)
        self._map.run_method('proposed', data.get('number'), proposal)

    async def _on_order(self, event: GenericEventArguments) -> None:
        ok, words = self._refused() or await self._controller.order(_object(event.args), self._by)
        self._map.run_method('ordered', ok)
        self._talk_lines.add_result(ok, words)

    def _show_event_json(self, event: GenericEventArguments) -> None:
        shown = event_json(self._time_view.events(), event.args)
        self._trace.run_method('show', event.args, shown)

    async def _on_line(self, event: GenericEventArguments) -> None:
        """The conversation shows the reply; the page that sent the line is also told at once."""
        data = _object(event.args)
        text, token, refused = data.get('text'), data.get('token'), self._refused()
        if refused and not (isinstance(text, str) and is_stop_line(text)):
            self._talk.run_method('reply', token, *refused)  # it concerns no other page
            return
        line = self._talk_lines.add(text if isinstance(text, str) else '', self._operator, token)
        ok, words, task_id = await self._controller.say(text, self._operator)
        self._talk_lines.reply(line, ok, words, task_id)
        self._talk.run_method('reply', token, ok, words)

    async def _on_task_act(self, event: GenericEventArguments) -> None:
        given = _object(event.args)
        ok, words = self._refused() or await self._controller.change_task(given, self._by)
        self._talk_lines.add_result(ok, words)
        self._drawer.run_method('told', ok, words)  # it may cover the conversation

    def _on_task_opened(self, event: GenericEventArguments) -> None:
        """The ID of the task whose drawer is open; '' closes it."""
        self._open_task = event.args if isinstance(event.args, str) else ''
        self._update_drawer()

    def _update_drawer(self) -> None:
        """Send the open task, if it has changed; a page without a drawer costs nothing."""
        detail = self._live.detail(self._open_task) if self._open_task else None
        if detail != self._sent_detail:
            self._sent_detail = detail
            self._drawer.set(detail)

    def _on_trigger(self, event: GenericEventArguments) -> None:
        given = _object(event.args)
        ok, words = self._refused() or self._controller.switch_trigger(given, self._by)
        self._talk_lines.add_result(ok, words)

    async def _on_answer(self, event: GenericEventArguments) -> None:
        data = _object(event.args)
        ok, words = self._refused() or await self._controller.answer(data, self._by)
        self._talk.run_method('answered', data.get('id'), ok, words)


def _object(args: Any) -> dict[str, Any]:
    """``args`` if it is an object; a browser may send any value."""
    return args if isinstance(args, dict) else {}


@contextmanager
def _section(name: str, heading: str) -> Iterator[None]:
    """A panel with its heading and its buttons, for which static/panels.js is."""
    section = ui.element('section').classes(f'panel {name}')
    with section.props(f'aria-labelledby=heading-{name} data-panel={name}'):
        with ui.element('div').classes('bar'):
            ui.html(heading, tag='h2', sanitize=False).props(f'id=heading-{name}')
            for act, sign in (('enlarge', '⤢'), ('hide', '–')):
                button = ui.html(sign, tag='button', sanitize=False)
                label = f'"{act.capitalize()} {heading}"'
                button.props(f'type=button data-act={act} aria-label={label} title={label}')
        with ui.element('div').classes('body'):
            yield
