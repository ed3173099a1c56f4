# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The fleet without a browser: rows, the parallel stop, reading, pictures and the door."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
import time
from typing import Any

from curiosity_rosa_demo.agent.interfaces.fleet import fleet_page
from curiosity_rosa_demo.agent.interfaces.fleet.fleet_page import (
    age_s,
    document_of,
    fleet_routes,
    FleetFeed,
    Link,
    link_of,
    LOST_S,
)
from curiosity_rosa_demo.agent.interfaces.fleet.robot_client import (
    Newest,
    RobotClient,
    RobotStopView,
    RobotUnavailable,
    StopAll,
    summary,
)
from curiosity_rosa_demo.agent.interfaces.http.server import create_app
from curiosity_rosa_demo.agent.interfaces.page.routes import image_routes
from curiosity_rosa_demo.domain.brain_state import BrainState, Mode, TasksState
from curiosity_rosa_demo.domain.pictures import Picture
from curiosity_rosa_demo.domain.rehearsal import Rehearsal
from curiosity_rosa_demo.infra.config.agent import fleet_text, FleetRobot, read_fleet
from fake_robot import CONFIG, FakeRobot
from fastapi import FastAPI
from http_world import client, served, settings, until
import httpx
from hypothesis import given, strategies
import pytest
from skill_world import in_loop

NOW = 100.0
BOUND_S = 0.3  # of a stop in these tests
TOKEN = 'a long token of this robot'


SHOWN = {'state': {'brain_state': {'tasks': {'mode': 'IDLE'}}}, 'approvals': []}


def came_of(name: str, answer: str, *, ok: bool) -> RobotStopView:
    return RobotStopView(name=name, ok=ok, answer=answer, took_ms=10)


class Robot:
    """Answers at once, unless ``hangs``; then at the end of its bound."""

    def __init__(self, name: str, *, hangs: bool = False, refuses: str = '') -> None:
        self.name, self.url = name, f'http://{name}:8765'
        self.hangs, self.refuses = hangs, refuses
        self.stopped_by: list[str] = []
        self.reads = self.frames = 0

    async def read(self) -> dict[str, Any]:
        self.reads += 1
        if self.hangs:
            await asyncio.Event().wait()
        if self.refuses:
            raise RobotUnavailable(self.refuses)
        return SHOWN

    async def frame(self) -> Picture:
        self.frames += 1
        if self.hangs:
            await asyncio.Event().wait()
        if self.refuses:
            raise RobotUnavailable(self.refuses)
        return Picture(b'jpeg', 5.0, time.monotonic())

    async def stop(self, operator: str) -> RobotStopView:
        self.stopped_by.append(operator)
        if self.hangs:
            await asyncio.wait([asyncio.create_task(asyncio.Event().wait())], timeout=BOUND_S)
            return came_of(self.name, 'did not answer', ok=False)
        return came_of(self.name, self.refuses or 'stopped', ok=not self.refuses)


def known(at: float | None = None, failure: str = '') -> Newest[dict[str, Any]]:
    """What is known of a robot that answered ``at``."""
    newest = Newest('r1', Robot('r1').read, 1.0)
    newest.answer, newest.at, newest.failure = None if at is None else SHOWN, at, failure
    return newest


def test_a_lost_robot_keeps_its_last_state_with_its_age() -> None:
    stopped = came_of('r1', 'stopped', ok=True)
    seen = document_of(Robot('r1'), known(NOW - 1), stopped, NOW)
    assert (seen['link'], seen['state']) == ('live', SHOWN['state'])
    assert seen['stop'] == {'name': 'r1', 'ok': True, 'answer': 'stopped', 'took_ms': 10}
    lost = known(NOW - 60, 'no agent answers')
    shown = document_of(Robot('r1'), lost, None, NOW)
    assert (shown['link'], shown['failure']) == ('lost', 'no agent answers')
    assert (shown['state'], age_s(lost, NOW)) == (seen['state'], 60.0)
    assert document_of(Robot('r3'), known(), None, NOW)['link'] == 'waiting'


@given(
    age=strategies.none() | strategies.floats(0.0, 1000.0),
    failure=strategies.sampled_from(['', 'no agent answers']),
)
def test_only_a_fresh_answer_without_a_failure_is_live(age: float | None, failure: str) -> None:
    link = link_of(known(None if age is None else NOW - age, failure), NOW)
    assert (link is Link.LIVE) == (age is not None and NOW - (NOW - age) <= LOST_S and not failure)
    assert (link is Link.WAITING) == (age is None and not failure)


class Broken(Robot):
    async def stop(self, operator: str) -> RobotStopView:
        raise OSError('broken')


@in_loop
async def test_a_stop_reaches_all_and_one_that_hangs_or_breaks_delays_none() -> None:
    hangs, refuses, answers = Robot('r1', hangs=True), Robot('r2', refuses='no'), Robot('r3')
    stops = StopAll([hangs, refuses, answers, Broken('r4')])
    stopping = asyncio.create_task(stops.stop('Anna'))
    await until(lambda: len(stops.results()) == 3, 'the results of the three that answer')
    assert set(stops.results()) == {'r2', 'r3', 'r4'}
    assert not stopping.done()
    results = await stopping
    assert [results[f'r{number}'].ok for number in range(1, 5)] == [False, False, True, False]
    assert [each.stopped_by for each in (hangs, refuses, answers)] == [['Anna']] * 3
    assert summary(results).startswith('r1: did not answer')
    assert 'r3: stopped (10 ms)' in summary(results)


@in_loop
async def test_a_success_is_shown_for_a_while_and_a_failure_until_the_next_stop() -> None:
    times, robot = [100.0], Robot('r2', refuses='sent and not confirmed')
    stops = StopAll([Robot('r1'), robot], clock=lambda: times[-1])
    await stops.stop('Anna')
    for now_s, shown in ((110.0, {'r1', 'r2'}), (110.1, {'r2'}), (1000.0, {'r2'})):
        times.append(now_s)
        assert set(stops.results()) == shown
    robot.refuses = ''
    await stops.stop('Anna')
    times.append(1010.1)
    assert not stops.results()


@contextmanager
def serving(robot: FakeRobot, token: str = '') -> Iterator[str]:
    http = CONFIG.agent.http

    def make() -> FastAPI:
        app = create_app(robot, settings=http, token=token)
        app.include_router(image_routes(robot))
        return app

    with served(make, http) as url:
        yield url


@in_loop
async def test_state_and_questions_come_through_the_api_with_the_token_of_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with FakeRobot() as robot, serving(robot, TOKEN) as url:
        robot.brain_state = BrainState(tasks=TasksState(mode=Mode.SAFE, mode_reason='latched'))
        path = [(0.0, 0.0), (4.0, 0.0)]
        robot.ask('May I drive?', rehearsal=Rehearsal(path=path, metres=4.0))
        robot.not_ready = 'the adapter is missing'
        monkeypatch.delenv('CURIOSITY_HTTP_TOKEN', raising=False)
        with pytest.raises(RobotUnavailable, match='refuses the token'):
            await RobotClient(FleetRobot(name='r1', url=url)).read()
        monkeypatch.setenv('MARS_TOKEN', TOKEN)
        mars = RobotClient(FleetRobot(name='mars', url=url, token_variable='MARS_TOKEN'))
        read = await mars.read()
        assert (await mars.stop('')).ok
        robot.picture_age_s = 1.5
        frame = await mars.frame()
        assert time.monotonic() - frame.received_s >= 1.5
    assert read['state']['brain_state']['tasks']['mode_reason'] == 'latched'
    assert [each['text'] for each in read['approvals']] == ['May I drive?']
    assert read['state']['ready'] == 'the adapter is missing'
    absent = await mars.stop('')
    assert (absent.ok, absent.answer[:16]) == (False, 'no agent answers')


@in_loop
async def test_a_robot_that_hangs_or_refuses_leaves_the_others_live() -> None:
    robots = [Robot('r1', hangs=True), Robot('r2', refuses='no agent answers'), Robot('r3')]
    feed = FleetFeed(robots, StopAll(robots), read_period_s=0.05)

    def shows(link: str, name: str) -> bool:
        return bool(feed.snapshot().document['robots'][name]['link'] == link)

    await until(lambda: shows('live', 'r3'), 'the third robot')
    await until(lambda: shows('lost', 'r2'), 'the second robot to be lost')
    assert shows('waiting', 'r1')
    robots[1].refuses = ''
    await until(lambda: shows('live', 'r2'), 'the second robot to be back')
    assert (robots[0].reads, robots[2].reads > 1) == (1, True)


def app_of(robots: list[Robot], robot: FakeRobot, token: str = '', **changes: Any) -> FastAPI:
    app = create_app(robot, settings=settings(**changes), token=token)
    app.include_router(fleet_routes(robots, StopAll(robots)))
    return app


@in_loop
async def test_pages_share_a_picture_and_one_that_hangs_is_asked_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(fleet_page, 'FRAME_PERIOD_S', 1000.0)
    robots = [Robot('r1'), Robot('r2', hangs=True), Robot('r3', refuses='no picture')]
    with FakeRobot() as robot:
        async with client(app_of(robots, robot)) as http:

            async def pictures(name: str) -> list[httpx.Response]:
                paths = [f'/fleet/{name}/frame.jpg'] * 20
                return await asyncio.gather(*map(http.get, paths))

            for answer in await pictures('r1'):
                assert (answer.content, answer.headers['X-Timestamp']) == (b'jpeg', '5.000')
            for name, why in (('r2', 'no picture yet'), ('r3', 'no picture')):
                for answer in await pictures(name):
                    assert (answer.status_code, answer.headers['X-Problem']) == (204, why)
    assert [each.frames for each in robots] == [1, 1, 1]


@in_loop
async def test_the_door_tells_the_result_of_each() -> None:
    robots = [Robot('r1'), Robot('r2')]
    with FakeRobot() as robot:
        async with client(app_of(robots, robot)) as http:
            both = await http.post('/fleet/stop?operator=Anna')
            robots[1].refuses = 'sent and not confirmed'
            one = await http.post('/fleet/stop')
            unknown = await http.get('/fleet/r9/frame.jpg')
    stopped = {'ok': True, 'answer': 'stopped', 'took_ms': 10}
    each_one = [{'name': 'r1', **stopped}, {'name': 'r2', **stopped}]
    said = 'r1: stopped (10 ms); r2: stopped (10 ms)'
    assert both.json() == {'ok': True, 'answer': said, 'robots': each_one}
    assert (one.status_code, [each['ok'] for each in one.json()['robots']]) == (503, [True, False])
    assert robots[0].stopped_by == ['Anna', '']
    assert unknown.status_code == 404


BEARER = {'Authorization': f'Bearer {TOKEN}'}


@in_loop
async def test_the_door_is_behind_the_checks_of_all_doors_but_a_stop_is_never_limited() -> None:
    robots = [Robot('r1')]
    own = {'Origin': 'http://127.0.0.1:8765', 'Sec-Fetch-Site': 'same-origin'}
    with FakeRobot() as robot:
        async with client(app_of(robots, robot, TOKEN)) as http:
            for headers, status in (
                ({}, 401),
                ({**BEARER, 'Origin': 'http://evil.example'}, 403),
                ({**BEARER, 'Host': 'evil.example'}, 421),
                (BEARER, 200),
            ):
                answer = await http.post('/fleet/stop', headers=headers)
                assert answer.status_code == status
                assert len(robots[0].stopped_by) == (status == 200)
        async with client(app_of(robots, robot, requests_per_s=0.1)) as http:
            statuses = {(await http.post('/fleet/stop', headers=own)).status_code for _ in 'x' * 9}
            limited = [(await http.get('/state')).status_code for _ in 'xx']
    assert (statuses, limited) == ({200}, [200, 429])


def test_a_fleet_is_read_as_the_runner_writes_it_or_refused_with_the_reason() -> None:
    urls = {'r1': 'http://127.0.0.1:8765', 'r2': 'http://127.0.0.1:8766'}
    assert {each.name: each.url for each in read_fleet(fleet_text(urls))} == urls
    for text, why in (
        ('r1', 'must be an address'),
        ('r1=ftp://host', 'must be an address'),
        ('r1=http://host:99999', 'Port out of range'),
        ('r1=http://host/path', 'must be an address'),
        ('r1=http://me:secret@host', 'must not contain a user'),
        ('r 1=http://host', 'must be an address'),
        ('r1=http://a,r1=http://b', "'r1' is taken twice"),
    ):
        with pytest.raises(ValueError, match=why):
            read_fleet(text)
