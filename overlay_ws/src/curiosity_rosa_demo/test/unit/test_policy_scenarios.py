# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Seed 004's scenarios, with an owned clock: days that nobody instructs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from curiosity_rosa_demo.agent.policy.action import (
    PauseTasks,
    PolicyAction,
    ResumeTasks,
    SubmitTasks,
)
from curiosity_rosa_demo.agent.policy.events import ActionEnded, StateChanged
from curiosity_rosa_demo.agent.policy.suggestion import PromptSituation, SuggestionFailed
from curiosity_rosa_demo.agent.policy.world_state import Source
from policy_doubles import ScriptedModel, suggests, WORK_S
from policy_world import COMPANION, instant, PolicyRun, ROVER, world_of
import pytest

HOME = world_of(COMPANION)
FIELD = world_of(ROVER)


def pupil(when: str, **values: Any) -> PolicyRun:
    """2026-11-23 is a Monday."""
    return PolicyRun(HOME, instant(when, HOME), **values)


def rover(when: str = '2026-11-23 05:00', **values: Any) -> PolicyRun:
    return PolicyRun(FIELD, instant(when, FIELD), **values)


def ended(policy_run: PolicyRun, name: str) -> list[str]:
    return [
        event.how
        for event in policy_run.events
        if isinstance(event, ActionEnded) and event.activity == name
    ]


def by_whom(policy_run: PolicyRun, name: str) -> set[Source]:
    return {by for _, activity, by in policy_run.rules.begun if activity == name}


# --- days ------------------------------------------------------------------------------------


WEEKEND = [
    'Thu 21:30 sleep',
    'Fri 06:30 wake',
    'Fri 07:20 go_to_school',
    'Fri 07:40 study',
    'Fri 11:40 study',
    'Fri 16:00 go_home',
    'Fri 17:00 homework',
    'Fri 21:30 sleep',
    'Sat 06:30 wake',
    'Sat 21:30 sleep',
    'Sun 06:30 wake',
    'Sun 21:30 sleep',
    'Mon 06:30 wake',
    'Mon 07:20 go_to_school',
]


@pytest.mark.parametrize(
    ('begin', 'end', 'began'),
    [
        pytest.param(
            '2026-11-26 21:00', '2026-11-30 07:30', WEEKEND, id='a school day, a weekend'
        ),
        pytest.param(
            '2026-11-24 00:30',
            '2026-11-24 07:00',
            ['Tue 00:31 sleep', 'Tue 06:30 wake'],
            id='it came late',
        ),
        pytest.param('2026-11-23 07:40', '2026-11-23 10:40', [], id='it missed the way to school'),
    ],
)
def test_a_pupil_s_days(begin: str, end: str, began: list[str]) -> None:
    policy_run = pupil(begin)
    policy_run.until(end)
    assert policy_run.began() == began


@pytest.mark.parametrize(
    ('begin', 'began'),
    [  # at 11:40 study waits for its end, at 12:00 lunch does not
        ('2026-11-23 11:04', ['Mon 11:05 library', 'Mon 11:45 study']),
        ('2026-11-23 11:34', ['Mon 11:35 library', 'Mon 12:00 lunch']),
    ],
)
def test_only_a_preemptive_entry_of_the_routine_interrupts(begin: str, began: list[str]) -> None:
    model = ScriptedModel(suggests('library'))
    policy_run = pupil(begin, provider=model.provider)
    policy_run.saved = policy_run.saved.model_copy(update={'place': 'school'})
    policy_run.restart()
    policy_run.run(5)
    model.say = says_nothing_useful(SuggestionFailed('It has no idea.'))
    policy_run.until('2026-11-23 12:10')
    assert policy_run.began() == began


@pytest.mark.parametrize(
    ('zone', 'last', 'hours'),
    [
        ('Europe/Berlin', '2026-03-28', 8),  # 02:00 is 03:00
        ('Europe/Berlin', '2026-10-24', 10),  # 03:00 is 02:00 once more
        ('Australia/Lord_Howe', '2026-10-03', 8.5),
        ('America/New_York', '2026-10-31', 10),
        ('UTC+08:00', '2026-03-28', 9),
    ],
)
def test_the_night_in_which_the_clocks_change(zone: str, last: str, hours: float) -> None:
    world = world_of(COMPANION, zone)
    policy_run = PolicyRun(world, instant(f'{last} 20:00', world))
    policy_run.run(13 * 60)
    times = {name: at for at, name, _ in policy_run.rules.begun}
    assert [each[4:] for each in policy_run.began()] == ['21:30 sleep', '06:30 wake']
    assert times['wake'] - times['sleep'] == hours * 3600.0


def test_a_rover_s_day() -> None:
    policy_run = rover()
    policy_run.until('2026-11-24 06:30')
    assert policy_run.began('sleep')[-1] == 'Mon 21:00'
    assert policy_run.began('wake')[-1] == 'Tue 06:00'
    assert policy_run.began('go_to_work') == ['Mon 07:00']
    assert policy_run.began('survey')[0] == 'Mon 07:02'
    assert policy_run.began('go_home') == ['Mon 17:00']
    assert by_whom(policy_run, 'survey') == {Source.ROUTINE}


# --- interruption and resumption ---------------------------------------------------------------


@pytest.mark.parametrize(
    ('when', 'long', 'activity'),
    [
        ('2026-11-22 21:00', '2026-11-23 03:00', 'sleep'),
        ('2026-11-23 07:00', '2026-11-23 09:00', 'study'),
    ],
)
def test_a_message_interrupts_what_may_not_be_interrupted_and_it_goes_on(
    when: str, long: str, activity: str
) -> None:
    policy_run = pupil(when)
    policy_run.until(long)
    assert policy_run.doing == activity
    before = policy_run.saved.activity
    assert before is not None
    policy_run.tick('hello', cause='message')
    assert policy_run.doing == 'read_message'
    policy_run.run(1)
    assert policy_run.doing == 'read_message'
    policy_run.run(1)
    after = policy_run.saved.activity
    assert after is not None
    assert (after.activity, after.task_ids, after.began_at) == (
        activity,
        before.task_ids,
        before.began_at,
    )
    assert ended(policy_run, 'read_message') == ['done']
    assert ended(policy_run, activity) == []
    commands = [type(c) for tick in policy_run.decisions[-3:] for c in tick.commands]
    assert commands == [PauseTasks, SubmitTasks, ResumeTasks]


def test_what_a_preemptive_idea_put_aside_goes_on_and_is_left_alone() -> None:
    model = ScriptedModel(suggests('homework'))
    policy_run = pupil('2026-11-28 17:30', provider=model.provider)
    policy_run.run(1)
    assert policy_run.doing == 'homework'
    model.say = suggests('rest', preemptive=True)
    policy_run.run(14)
    assert policy_run.doing == 'rest'
    assert [each.activity for each in policy_run.saved.suspended] == ['homework']
    policy_run.run(30)
    assert ended(policy_run, 'rest') == ['done']
    assert policy_run.doing == 'homework', 'the answer that interrupted it does so once'
    assert (
        'model: no (an interruption needs a fresh answer)'
        in policy_run.decisions[-1].decision.path
    )
    policy_run.run(16)
    assert ended(policy_run, 'homework') == ['done']


# --- the model ---------------------------------------------------------------------------------

SAYINGS: dict[str, Callable[[PromptSituation], PolicyAction]] = {
    'an unknown activity': suggests('fly_to_the_moon', preemptive=True),
    'an empty-looking name': suggests(' '),
    'a name with a line in it': suggests('rest\nand more'),
    'what the place forbids': suggests('library', preemptive=True),
    'what the hour forbids': suggests('nap', preemptive=True),
    'what the day forbids': suggests('study', preemptive=True),
    'what only ends something else': suggests('wake'),
    'what is far away': suggests('go_home', preemptive=True),
}


def says_nothing_useful(error: BaseException) -> Callable[[PromptSituation], PolicyAction]:
    def say(situation: PromptSituation) -> PolicyAction:
        raise error

    return say


SAYINGS |= {
    f'it fails with {type(error).__name__}': says_nothing_useful(error)
    for error in (
        SuggestionFailed('The model answered with text.', 'I think I will rest.'),
        ValueError('torn JSON'),
        RecursionError(),
        TimeoutError(),
        SystemExit(1),
    )
}
SAYINGS['it answers something else'] = lambda situation: 'rest'  # type: ignore
SAYINGS['it answers nothing'] = lambda situation: None  # type: ignore[assignment,return-value]


@pytest.mark.parametrize('say', SAYINGS.values(), ids=list(SAYINGS))
def test_whatever_the_model_says_the_routine_s_day_is_lived(
    say: Callable[[PromptSituation], PolicyAction],
) -> None:
    model = ScriptedModel(say)
    policy_run = pupil('2026-11-22 20:30', provider=model.provider)
    policy_run.until('2026-11-23 07:30')
    assert policy_run.began() == [
        'Sun 21:30 sleep',
        'Mon 06:30 wake',
        'Mon 07:20 go_to_school',
    ]
    first = policy_run.decisions[0].decision
    assert model.asked[0].activity == ''
    assert any(line.startswith('model: no (') for line in first.path), first.path
    assert first.activity == ''


# --- restart -----------------------------------------------------------------------------------


# --- the rover: battery and e-stop in the middle of a drive ------------------------------------


def test_an_idea_that_was_refused_is_not_asked_for_again_for_an_hour() -> None:
    model = ScriptedModel(suggests('study'))
    policy_run = pupil('2026-11-28 10:00', provider=model.provider)
    policy_run.run(59)
    refused = [tick.decision for tick in policy_run.decisions if tick.decision.rejected]
    assert len(refused) == len(model.asked) == 1
    policy_run.run(16)
    assert len(model.asked) == 2


def test_a_low_battery_brings_the_rover_home_to_charge() -> None:
    policy_run = rover(work_s=lambda name: 3600.0 if name == 'charge' else WORK_S)
    policy_run.until('2026-11-23 10:00')
    assert policy_run.saved.place == 'bright_zone'
    policy_run.twin.energy = 0.34
    policy_run.run(1)
    assert policy_run.doing == 'go_home'
    policy_run.run(4)
    assert policy_run.saved.place == 'base'
    assert policy_run.began('charge') == ['Mon 10:03']


def test_a_rover_that_does_not_know_where_it_is_does_not_drive() -> None:
    policy_run = rover()
    policy_run.until('2026-11-23 06:59')
    policy_run.twin.place = ''
    policy_run.run(30)
    assert policy_run.began('go_to_work') == []
    policy_run.twin.place = 'base'
    policy_run.run(1)
    assert len(policy_run.began('go_to_work')) == 1
    changes = [str(event) for event in policy_run.events if isinstance(event, StateChanged)]
    assert changes == ['place: base -> ', 'place:  -> base']
