# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Each rule is proved twice: as a property of the rule alone, and once through real processes or
the real agent. The lists of rules are the product's: a new one fails here until both tests exist.
"""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

from curiosity_rosa_demo.agent.react.guardrails.gate import APPROVAL_RULE
from curiosity_rosa_demo.agent.react.guardrails.rules import RULES
from curiosity_rosa_demo.domain import models
import pytest

TESTS = Path(__file__).parents[1]
ROOT = TESTS.parents[3]
ADAPTER_DIR = TESTS.parent / 'curiosity_rosa_demo' / 'adapter'
DOORS = 'unit/test_doors.py::test_a_rule_refuses_at_every_door_in_the_same_words'
REACHED = 'unit/test_guardrails_reached.py::test_a_call_of_the_model_runs_into_the_rule'
RULE = 'unit/test_guardrails.py::test_'
BUDGET = f'{RULE}a_turn_never_exceeds_its_budget'
MACHINE = 'unit/test_motion_guard_machine.py::'
NODE = 'integration/test_adapter_'

# rule: (property, end-to-end test)
GUARDRAILS = {
    'safety': (f'{RULE}nothing_moves_under_a_latch_in_safe_mode_or_in_an_unknown_one', DOORS),
    'charging': (f'{RULE}nothing_moves_under_a_latch_in_safe_mode_or_in_an_unknown_one', DOORS),
    'mast_closed': (f'{RULE}no_motion_passes_with_a_mast_that_is_not_known_closed', DOORS),
    'still_for_mast': (f'{RULE}the_mast_stays_where_it_is_while_the_rover_moves', DOORS),
    'resource_conflict': (
        f'{RULE}a_proposal_whose_resources_are_in_use_is_refused',
        'unit/test_guardrails_reached.py::'
        'test_what_a_skill_holds_that_did_not_react_to_its_stop_is_refused',
    ),
    'same_refused': (f'{RULE}each_rule_refuses_what_it_is_for_and_nothing_else', REACHED),
    'steps_left': (BUDGET, REACHED),
    'cost_left': (BUDGET, REACHED),
    'metres_left': (BUDGET, DOORS),
    'seconds_left': (BUDGET, DOORS),
    'geofence': (
        'unit/test_geofence.py::test_a_motion_that_passes_never_leads_outside',
        'standalone/test/test_doors_e2e.py::test_the_fence_binds_every_door',
    ),
    'energy_home': (
        'unit/test_geofence.py::test_what_passes_leaves_the_charge_for_the_way_home_or_leads_home',
        DOORS,
    ),
    APPROVAL_RULE: (
        'unit/test_gate.py::test_a_call_without_a_yes_passes_only_where_none_is_needed',
        'standalone/test/test_run_task_e2e.py::test_a_listed_motion_asks_at_every_door',
    ),
}
# first words of the adapter's text, a constant of domain.models: (property, test of the node)
ADAPTER = {
    'NEED_TO_CLOSE_MAST': (
        f'{MACHINE}the_rover_never_moves_with_the_mast_up',
        f'{NODE}node.py::test_no_motion_while_the_mast_is_on_its_way_or_up',
    ),
    'STOPPED_FOR_MAST': (
        f'{MACHINE}motion_without_a_closed_mast_is_being_stopped',
        f'{NODE}node.py::test_a_mast_that_opens_by_itself_stops_the_rover',
    ),
    'MOVE_IN_PROGRESS': (
        f'{MACHINE}the_rover_never_moves_with_the_mast_up',
        f'{NODE}node.py::test_the_mast_stays_closed_while_the_rover_moves',
    ),
    'NEED_TO_OPEN_MAST': (
        f'{MACHINE}the_rover_never_moves_with_the_mast_up',
        f'{NODE}node.py::test_a_closed_mast_is_not_rotated',
    ),
    'NEED_TO_STOW': (
        'unit/test_robot_profiles.py::test_no_robot_drives_with_a_part_that_is_not_stowed',
        'integration/test_adapter_appendages.py::test_the_rover_drives_only_with_its_arm_stowed',
    ),
    'E_STOP_PRESSED': (
        f'{MACHINE}no_motion_outlives_the_e_stop',
        f'{NODE}stop.py::test_the_e_stop_holds_rover_and_mast',
    ),
    'AGENT_IS_SAFE': (
        f'{MACHINE}no_motion_outlives_safe',
        f'{NODE}heartbeat.py::'
        'test_while_the_agent_is_in_safe_the_adapter_moves_only_the_mast_and_only_down',
    ),
    'AGENT_IS_SILENT': (
        f'{MACHINE}no_motion_outlives_the_agents_silence',
        f'{NODE}heartbeat.py::test_a_rover_whose_agent_freezes_is_stopped',
    ),
    'AGENT_IS_GONE': (
        f'{MACHINE}no_motion_outlives_the_agents_silence',
        f'{NODE}heartbeat.py::test_a_rover_whose_agent_freezes_is_stopped',
    ),
    'AGENT_FELL_SILENT': (
        f'{MACHINE}no_motion_outlives_the_agents_silence',
        f'{NODE}heartbeat.py::test_a_rover_whose_agent_freezes_is_stopped',
    ),
    'TWO_AGENTS': (
        'unit/test_adapter_rules.py::test_nothing_but_a_beat_of_a_single_agent_lifts_the_latch',
        f'{NODE}heartbeat.py::test_a_forged_heartbeat_does_not_keep_the_motion_of_a_frozen_agent',
    ),
    'OTHER_ADAPTER': (
        'unit/test_adapter_rules.py::test_it_names_exactly_the_living_others_of_its_own_rover',
        f'{NODE}twins.py::test_the_adapter_of_a_second_overlay_stops_the_rover_until_it_leaves',
    ),
    'OBSTACLE_AHEAD': (
        'unit/test_adapter_rules.py::'
        'test_a_motion_is_blocked_below_the_stop_distance_until_a_view_shows_the_clear_distance',
        f'{NODE}obstacles.py::test_the_rover_stops_before_a_rock_and_may_only_turn_away_from_it',
    ),
    'VIEW_LOST': (
        'unit/test_adapter_rules.py::'
        'test_a_lost_view_stops_a_motion_and_forbids_the_next_until_it_is_back',
        f'{NODE}obstacles.py::test_a_rover_that_loses_its_view_is_stopped_until_it_sees_again',
    ),
    'STUCK': (
        'unit/test_drive_watch.py::test_a_rover_that_does_not_move_is_stuck',
        f'{NODE}drive.py::test_wheels_that_turn_in_vain_are_stopped',
    ),
    'SLIPPING': (
        'unit/test_drive_watch.py::test_slip_beyond_the_limit_is_found_within_two_windows',
        f'{NODE}drive.py::test_slip_of_30_percent_is_noticed_and_stopped',
    ),
    'TILTED': (
        'unit/test_drive_watch.py::'
        'test_a_tilted_rover_neither_goes_on_nor_starts_until_it_stands_more_level',
        f'{NODE}drive.py::test_a_tilted_rover_is_stopped_and_does_not_start',
    ),
    'STOPPED_UNASKED': (
        'unit/test_adapter_rules.py::test_it_must_stop_when_it_has_moved_for_the_time_to_settle',
        f'{NODE}node.py::test_a_rover_that_moves_unasked_is_stopped_unless_told_otherwise',
    ),
    'ODOMETRY_SILENT': (
        'unit/test_adapter_rules.py::test_each_silence_is_warned_of_once_and_stopped_in_time',
        f'{NODE}node.py::test_a_rover_whose_odometry_falls_silent_is_warned_of_and_stopped',
    ),
    'STOP_NOT_CONFIRMED': (
        'unit/test_motion_guard.py::test_a_stop_without_odometry_is_not_confirmed',
        f'{NODE}heartbeat.py::test_without_odometry_a_stop_is_not_confirmed',
    ),
}
# Rules of the adapter whose texts other modules make.
OTHERS = {
    'leash': (
        f'{MACHINE}the_leash_holds',
        f'{NODE}stop.py::test_a_motion_that_nobody_ends_is_ended_by_the_leash',
    ),
    'NO_CLOCK': (
        'unit/test_adapter_rules.py::test_time_that_stands_is_a_problem_however_it_went_before',
        'integration/test_no_clock_ros.py::test_without_a_clock_agent_and_adapter_refuse_to_drive',
    ),
}
PROOFS = {**GUARDRAILS, **ADAPTER, **OTHERS}


def words_of_the_adapter() -> set[str]:
    """The constants that its modules import, themselves or as the function of the same name."""
    imported = {
        name.name.upper()
        for file in ADAPTER_DIR.glob('*.py')
        for node in ast.walk(ast.parse(file.read_text(encoding='utf-8')))
        if isinstance(node, ast.ImportFrom) and node.module == models.__name__
        for name in node.names
    }
    return {name for name in imported if isinstance(getattr(models, name, None), str)}


@cache
def names_in(file: Path) -> frozenset[str]:
    """The names of its tests and of its state machines' invariants."""
    tree = ast.parse(file.read_text(encoding='utf-8'))
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


def test_every_rule_of_the_product_has_an_entry() -> None:
    assert set(GUARDRAILS) == {rule.__name__ for rule in RULES} | {APPROVAL_RULE}
    assert set(ADAPTER) == words_of_the_adapter()


@pytest.mark.parametrize('rule', PROOFS)
def test_both_proofs_of_a_rule_exist(rule: str) -> None:
    for place in PROOFS[rule]:
        file, name = place.split('::')
        path = ROOT / file if file.startswith('standalone') else TESTS / file
        assert name in names_in(path), place
