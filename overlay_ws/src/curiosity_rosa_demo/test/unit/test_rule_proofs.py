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
from collections import Counter
from functools import cache
from pathlib import Path

from curiosity_rosa_demo.agent.react.guardrails.gate import APPROVAL_RULE
from curiosity_rosa_demo.agent.react.guardrails.rules import RULES
from curiosity_rosa_demo.domain import models

TESTS = Path(__file__).parents[1]
ROOT = TESTS.parents[3]
ADAPTER_DIR = TESTS.parent / 'curiosity_rosa_demo' / 'adapter'
# By file and test: the rules that it proves. Those of the adapter are the first words of a text, a
# constant of domain.models; LEASH and NO_CLOCK come from other modules.
PROPERTIES = """
unit/test_guardrails.py
    test_nothing_moves_under_a_latch_in_safe_mode_or_in_an_unknown_one: safety charging
    test_no_motion_passes_with_a_mast_that_is_not_known_closed: mast_closed
    test_the_mast_stays_where_it_is_while_the_rover_moves: still_for_mast
    test_a_proposal_whose_resources_are_in_use_is_refused: resource_conflict
    test_each_rule_refuses_what_it_is_for_and_nothing_else: same_refused
    test_a_turn_never_exceeds_its_budget: steps_left cost_left metres_left seconds_left
unit/test_gate.py
    test_a_motion_that_passes_never_leads_outside: geofence
    test_what_passes_leaves_the_charge_for_the_way_home_or_leads_home: energy_home
    test_a_call_without_a_yes_passes_only_where_none_is_needed: approval
unit/test_motion_guard.py
    the_rover_never_moves_with_the_mast_up: NEED_TO_CLOSE_MAST MOVE_IN_PROGRESS NEED_TO_OPEN_MAST
    the_rover_never_moves_with_a_part_that_is_not_stowed: NEED_TO_STOW
    motion_without_a_closed_mast_is_being_stopped: STOPPED_FOR_MAST
    no_motion_outlives_the_e_stop: E_STOP_PRESSED
    no_motion_outlives_safe: AGENT_IS_SAFE
    no_motion_outlives_the_agents_silence: AGENT_IS_SILENT AGENT_IS_GONE AGENT_FELL_SILENT
    the_leash_holds: LEASH
unit/test_adapter_rules.py
    test_nothing_but_a_beat_of_a_single_agent_lifts_the_latch: TWO_AGENTS
    test_it_names_exactly_the_living_others_of_its_own_rover: OTHER_ADAPTER
    test_a_motion_is_blocked_below_the_stop_distance_until_the_clear_distance: OBSTACLE_AHEAD
    test_a_lost_view_stops_a_motion_and_forbids_the_next_until_it_is_back: VIEW_LOST
    test_it_must_stop_when_it_has_moved_for_the_time_to_settle: STOPPED_UNASKED
    test_each_silence_is_warned_of_once_and_stopped_in_time: ODOMETRY_SILENT
    test_time_that_stands_is_a_problem_however_it_went_before: NO_CLOCK
    test_no_stop_is_confirmed_and_no_drive_begins_while_the_body_moves: STOP_NOT_CONFIRMED
    test_a_rover_that_does_not_move_is_stuck: STUCK
    test_slip_beyond_the_limit_is_found_within_two_windows: SLIPPING
    test_a_tilted_rover_neither_goes_on_nor_starts_until_it_stands_more_level: TILTED
"""
THROUGH_THE_AGENT = """
unit/test_doors.py
    test_a_rule_refuses_at_every_door_in_the_same_words: safety charging mast_closed still_for_mast
    test_a_rule_refuses_at_every_door_in_the_same_words: metres_left seconds_left geofence
    test_a_rule_refuses_at_every_door_in_the_same_words: energy_home approval
unit/test_guardrails_reached.py
    test_a_call_of_the_model_runs_into_the_rule: same_refused steps_left cost_left
    test_what_a_skill_holds_that_did_not_react_to_its_stop_is_refused: resource_conflict
integration/test_adapter_node.py
    test_no_motion_while_the_mast_is_on_its_way_or_up: NEED_TO_CLOSE_MAST
    test_a_mast_that_opens_by_itself_stops_the_rover: STOPPED_FOR_MAST
    test_the_mast_stays_closed_while_the_rover_moves: MOVE_IN_PROGRESS NEED_TO_OPEN_MAST
    test_a_rover_that_moves_unasked_is_stopped_unless_told_otherwise: STOPPED_UNASKED
    test_a_rover_whose_odometry_falls_silent_is_warned_of_and_stopped: ODOMETRY_SILENT
    test_the_e_stop_holds_rover_and_mast: E_STOP_PRESSED
    test_a_motion_that_nobody_ends_is_ended_by_the_leash: LEASH
    test_a_rover_whose_agent_freezes_is_stopped: AGENT_IS_SILENT AGENT_IS_GONE AGENT_FELL_SILENT
    test_a_forged_heartbeat_does_not_keep_the_motion_of_a_frozen_agent: TWO_AGENTS
    test_a_stop_that_a_foreign_driver_undoes_is_not_done: STOP_NOT_CONFIRMED
integration/test_adapter_appendages.py
    test_the_rover_drives_only_with_its_arm_stowed: NEED_TO_STOW
standalone/test/test_doors_e2e.py
    test_a_stop_that_somebody_undoes_is_not_done_and_latches_safe: AGENT_IS_SAFE
integration/test_adapter_drive.py
    test_the_adapter_of_a_second_overlay_stops_the_rover_until_it_leaves: OTHER_ADAPTER
    test_the_rover_stops_before_a_rock_and_may_only_turn_away_from_it: OBSTACLE_AHEAD
    test_a_rover_that_loses_its_view_is_stopped_until_it_sees_again: VIEW_LOST
    test_wheels_that_turn_in_vain_are_stopped: STUCK
    test_slip_of_30_percent_is_noticed_and_stopped: SLIPPING
    test_a_tilted_rover_is_stopped_and_does_not_start: TILTED
    test_without_a_clock_agent_and_adapter_refuse_to_drive: NO_CLOCK
"""


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
def names_in(file: str) -> frozenset[str]:
    """The names of its tests and of its state machines' invariants."""
    path = (ROOT if file.startswith('standalone') else TESTS) / file
    tree = ast.parse(path.read_text(encoding='utf-8'))
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


def proofs(table: str) -> tuple[Counter[str], list[str]]:
    """How often each rule is named, and the tests that do not exist."""
    rules, missing, file = Counter[str](), [], ''
    for line in table.strip().splitlines():
        if not line.startswith(' '):
            file = line
            continue
        test, _, named = line.strip().partition(': ')
        rules.update(named.split())
        missing += [] if test in names_in(file) else [f'{file}::{test}']
    return rules, missing


def test_every_rule_of_the_product_has_both_proofs() -> None:
    rules = {rule.__name__ for rule in RULES} | words_of_the_adapter()
    wanted = Counter({*rules, APPROVAL_RULE, 'LEASH', 'NO_CLOCK'})
    for table in (PROPERTIES, THROUGH_THE_AGENT):
        assert proofs(table) == (wanted, [])
