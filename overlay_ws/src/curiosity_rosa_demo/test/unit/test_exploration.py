# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Every reachable state of the guard, the kernel and the tasks, within the bounds of a test."""

from __future__ import annotations

from collections.abc import Callable
import logging
from typing import Any

from curiosity_rosa_demo.adapter.part import MAST, Mast
from curiosity_rosa_demo.adapter.rules import Rules
from curiosity_rosa_demo.agent.kernel import loop
from curiosity_rosa_demo.agent.kernel.decide import event_arbitrate
from curiosity_rosa_demo.agent.tasks.commits import TaskRecord
from curiosity_rosa_demo.agent.tasks.runs import SkillRuns
from curiosity_rosa_demo.agent.tasks.table import TaskTable
from curiosity_rosa_demo.infra.config.limits import Thresholds
from explorations import arrows, arrows_of_svg, PICTURES, SYSTEMS
from explored_guard import GuardSystem, SCOPES
from harness import ROOT
import pytest
from state_search import explore, System, Violation

# The searches that take longer than seconds; bench/rules.py search finishes them.
BOUNDS = {
    'guard: a rover that dies': 3_000,
    'guard: agent': 3_000,
    'kernel: battery and tasks': 2_000,
    'tasks: two tasks, one base': 600,
}


@pytest.fixture(autouse=True)
def quiet() -> Any:
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


@pytest.mark.slow
@pytest.mark.parametrize('name', sorted(set(SYSTEMS) - {each for each, _ in PICTURES.values()}))
def test_no_reachable_state_breaks_a_rule(name: str) -> None:
    found = explore(SYSTEMS[name](), max_states=BOUNDS.get(name))
    assert found.complete == (name not in BOUNDS)
    assert found.goals or not found.complete


def explored_for(picture: str) -> dict[tuple[str, str], list[str]]:
    """The arrows between the views of a complete search, which are those of its picture."""
    name, view = PICTURES[picture]
    found = explore(SYSTEMS[name](), view=view)
    assert found.complete
    svg = (ROOT / f'docs/images/{picture}.svg').read_text(encoding='utf-8')
    again = 'make the pictures anew: python bench/rules.py --pictures'
    assert arrows_of_svg(svg) == set(arrows(found.views)), again
    return arrows(found.views)


@pytest.mark.slow
def test_only_a_request_with_the_mast_stowed_sets_the_rover_going() -> None:
    ways = {
        before: names
        for (before, after), names in explored_for('explored_guard').items()
        if after.endswith('moving')
    }
    assert ways == {'mast closed\nstill': ['move']}


@pytest.mark.slow
def test_only_a_person_leads_out_of_a_latched_safe() -> None:
    for (before, after), names in explored_for('explored_kernel').items():
        assert before != 'SAFE, latched' or names == ['clear'], after


# --- planted faults ------------------------------------------------------------------------------


class Unseen(Mast):
    def drive_refusal(self) -> str:
        return ''


class BlindToTheMast(Rules):
    def __init__(self, thresholds: Thresholds, **clocks: Any) -> None:
        super().__init__(thresholds, **clocks)
        self.parts[MAST] = Unseen(thresholds.mast)


class StopsOnce(Rules):
    """A stop while another runs is left to that one."""

    def request_stop(self) -> int:
        return self._stop_number if self.stopping else super().request_stop()


class ForgetsTheTimeOut(Rules):
    """Each stop begins its time-out anew."""

    def request_stop(self) -> int:
        self._stop = None
        return super().request_stop()


def _latch_is_forgotten(patch: pytest.MonkeyPatch) -> System[Any]:
    def forgetful(state: Any, rules: Any) -> Any:
        robot = state.robot.model_copy(update={'safety_latch': ''})
        return event_arbitrate(state.model_copy(update={'robot': robot}), rules)

    steps = [forgetful if each is event_arbitrate else each for each in loop.STEPS]
    patch.setattr(loop, 'STEPS', steps)
    return SYSTEMS['kernel: safety']()


def _skill_starts_before_the_commit(patch: pytest.MonkeyPatch) -> System[Any]:
    occupy = SkillRuns.occupy

    def hasty(self: SkillRuns, record: TaskRecord) -> None:
        occupy(self, record)
        record.unsaved, unsaved = 0, record.unsaved
        self.start_if_committed(record)
        record.unsaved = unsaved

    patch.setattr(SkillRuns, 'occupy', hasty)
    return SYSTEMS['tasks: one task']()


def _dependents_are_forgotten(patch: pytest.MonkeyPatch) -> System[Any]:
    patch.setattr(TaskTable, 'settle', lambda self: None)
    return SYSTEMS['tasks: a task that waits for another']()


def _with(guard: type[Rules]) -> Callable[[pytest.MonkeyPatch], System[Any]]:
    return lambda patch: GuardSystem(SCOPES['motion and mast'], guard)


Plant = Callable[[pytest.MonkeyPatch], System[Any]]
FAULTS: list[tuple[Plant, str, int]] = [  # the broken rule, the steps of the shortest way to it
    (_with(BlindToTheMast), 'mast not stowed', 2),
    (_with(StopsOnce), 'a stop was not sent at once', 1),
    (_with(ForgetsTheTimeOut), 'its leash', 13),
    (_latch_is_forgotten, 'without a person', 2),
    (_skill_starts_before_the_commit, 'disk says', 1),
    (_dependents_are_forgotten, 'nothing wakes', 6),
]


@pytest.mark.parametrize(('plant', 'rule', 'steps'), FAULTS)
def test_a_planted_fault_is_found_by_its_shortest_way(
    plant: Plant, rule: str, steps: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(Violation, match=rule) as found:
        explore(plant(monkeypatch), max_states=20_000)
    assert len(found.value.path) == steps
