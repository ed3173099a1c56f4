# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""How far a skill is, from the skill to all who show it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from agent_world import AgentWorld
from chat_server import call, Say
from curiosity_rosa_demo.agent.interfaces.page.status_rows import progress_facts
from curiosity_rosa_demo.agent.skills.monitor import running_task, SHOWN_EVERY_S, SkillMonitor
from curiosity_rosa_demo.agent.skills.progress import (
    fraction_of,
    part_done,
    progress_text,
    ProgressThrottle,
    STEP,
    TOLD_EVERY_S,
)
from curiosity_rosa_demo.agent.skills.skill import SkillCall
from curiosity_rosa_demo.domain.brain_state import RunningSkill
from curiosity_rosa_demo.domain.cancellation import Cancellation
from curiosity_rosa_demo.domain.models import ToolResult, TraceKind
from hypothesis import given
from hypothesis import strategies as st
import pytest
from skill_calls import skill_named
from tool_rover import OwnedClock
from turn_world import KEY

fractions = st.floats(0.0, 1.0)


def run_of(goal_id: str = 'r1', **fields: Any) -> RunningSkill:
    return RunningSkill(
        goal_id=goal_id, skill_name='drive', start_time=0.0, timeout_s=9.0, **fields
    )


# --- what is worth telling -----------------------------------------------------------------------


@given(st.lists(st.tuples(st.floats(0.0, 3.0), fractions), max_size=60))
def test_a_run_tells_at_most_once_a_second_and_a_tenth_at_a_time(
    reports: list[tuple[float, float]],
) -> None:
    throttle, now_s, told = ProgressThrottle(0.0), 0.0, [(0.0, 0.0)]
    for seconds, fraction in reports:
        now_s += seconds
        due = now_s - told[-1][0] >= TOLD_EVERY_S and abs(fraction - told[-1][1]) >= STEP
        assert throttle.admits({'fraction': fraction}, now_s) is due
        if due:
            told.append((now_s, fraction))


def test_a_loop_is_told_at_once_and_once() -> None:
    throttle = ProgressThrottle(0.0)
    loop = {'fraction': 0.0, 'distance_m': 46.0, 'loop_m': 46.0, 'straight_m': 5.0}
    assert throttle.admits({**loop, 'legs': 0}, 0.0)
    assert not throttle.admits({**loop, 'legs': 1}, 0.1)


def test_a_run_without_an_end_in_sight_tells_every_ten_seconds() -> None:
    throttle = ProgressThrottle(0.0)
    assert [second for second in range(35) if throttle.admits({}, second)] == [10, 20, 30]


@given(st.floats(0.0, 1e4), st.floats(0.0, 1e4))
def test_the_part_that_is_done_is_a_fraction(before: float, left: float) -> None:
    assert fraction_of({'fraction': part_done(before, left)}) is not None


@pytest.mark.parametrize(
    ('progress', 'text'),
    [
        ({'fraction': 0.4, 'distance_m': 6.06}, 'drive: 40 %, 6.1 m left'),
        (
            {'fraction': 0.2, 'legs': 1, 'distance_m': 8.0},
            'drive: 20 %, 1 leg driven, 8.0 m left',
        ),
        ({'fraction': 0.5, 'waited_s': 30.0, 'why': 'x'}, 'drive: 50 %, waited 30 s'),
        ({'fraction': 'half', 'n': 3}, 'drive: under way'),
        ({'fraction': 7.0}, 'drive: under way'),
    ],
)
def test_progress_in_words(progress: dict[str, Any], text: str) -> None:
    assert progress_text('drive', progress) == text


# --- the monitor ---------------------------------------------------------------------------------


def test_the_monitor_shows_the_last_report_and_survives_its_listener() -> None:
    clock, heard = OwnedClock(0.0), list[RunningSkill]()

    def listen(run: RunningSkill) -> None:
        heard.append(run)
        raise RuntimeError('a listener that fails')

    monitor = SkillMonitor(listen, lambda: clock.seconds)
    monitor.claim(run_of())
    monitor.report('r1', {'fraction': 0.1})
    assert monitor.running()[0].progress == {'fraction': 0.1}
    monitor.report('r1', {'fraction': 0.2})  # too soon
    assert monitor.running()[0].progress == {'fraction': 0.1}
    clock.seconds += SHOWN_EVERY_S
    monitor.report('r1', {'fraction': 0.3})
    assert monitor.running()[0].progress == {'fraction': 0.3}
    assert heard == []
    clock.seconds += TOLD_EVERY_S
    monitor.report('r1', {'fraction': 0.4})
    assert [run.progress for run in heard] == [{'fraction': 0.4}]
    monitor.release('r1')
    monitor.report('r1', {'fraction': 1.0})
    assert (monitor.running(), len(heard)) == ([], 1)


# --- the real agent ------------------------------------------------------------------------------


def test_a_skill_of_a_turn_is_seen_in_the_state_and_in_the_trace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The trace goes to the console, the action, the topic, the page and GET /events alike."""
    monkeypatch.setenv('OPENAI_API_KEY', KEY)
    release = Cancellation()
    clock = OwnedClock(0.0)

    def reports(call: SkillCall) -> ToolResult:
        for tenths in (1, 2, 3, 4, 5):
            call.progress({'fraction': tenths / 10, 'distance_m': 10.0 - tenths})
            clock.seconds += 0.7
        while not release.requested:
            call.cancellation.sleep(0.01)
        return ToolResult.success()

    drive = skill_named('drive', reports, resources_required=['base'])
    with AgentWorld(tmp_path, call('drive'), Say('There.'), skills=(drive,)) as world:
        world.session.monitor._clock = lambda: clock.seconds
        task = world.submit('react', text='Drive.')
        world.until(
            lambda: any(run.progress.get('fraction') == 0.5 for run in world.state.skills.running),
            '/state to show it',
        )
        told = [event for event in world.events if 'progress' in (event.data or {})]
        assert [event.message for event in told] == [
            'drive: 30 %, 7.0 m left',
            'drive: 50 %, 5.0 m left',
        ]
        assert {event.kind for event in told} == {TraceKind.OBSERVE}
        assert {str((event.data or {})['task_id']) for event in told} == {task.id}
        assert not any(
            'progress' in (event.data or {}) for event in world.session.trace_buffer.last()
        )
        assert world.session.current_activity is not None
        assert world.session.current_activity.description == 'drive()'
        (row,) = progress_facts(world.state.skills.running)['rows']
        assert (row['fraction'], row['text']) == (0.5, 'drive: 50 %, 5.0 m left')
        release.cancel('enough')
        world.until(lambda: not world.state.skills.running, 'its end')


def test_a_skill_of_a_task_belongs_to_the_task() -> None:
    monitor = SkillMonitor()
    with running_task('t1'):
        monitor.enter(run_of('t1', task_id='t1', resources_occupied=['base']))
        assert monitor.holder_of(['base']) is None
        assert monitor.competing() == []
    assert monitor.holder_of(['base']) is not None
    with running_task('t2'):
        assert [run.goal_id for run in monitor.competing()] == ['t1']
