# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.
"""Each rule and requirement has two proofs and a monitor, which agrees with the guard over random
histories and finds its mutants. A new rule of the product fails here until both tests exist.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Sequence
from functools import cache
import math
from pathlib import Path
import random

import curiosity_rosa_demo
from curiosity_rosa_demo.adapter.part import MAST
from curiosity_rosa_demo.adapter.rules import Rules
from curiosity_rosa_demo.agent.react.gate import APPROVAL_RULE
from curiosity_rosa_demo.agent.react.guardrails import RULES
from curiosity_rosa_demo.domain import models
from curiosity_rosa_demo.domain.refusal import RefusalCode
from curiosity_rosa_demo.infra.config.robot import RobotProfile
from curiosity_rosa_demo.infra.config_loader import load_config
from curiosity_rosa_demo.monitor.__main__ import run
from curiosity_rosa_demo.monitor.monitor import limits_of, load_requirements, Monitor
from curiosity_rosa_demo.monitor.signals import SIGNALS
from examples import examples
from guard_world import CONFIG, World
from harness import ROOT
from hypothesis import given, settings
from hypothesis import strategies as st
from mcap_world import a_string, INFO, write_run
from monitor_pages import copilot, files, OGMA, page
from monitored_world import begin_to_drive, drive, hunt, LIMITS, mutant, MUTANTS, Watched
from nav_msgs.msg import Odometry
import pytest
from rclpy.serialization import serialize_message
from test_architecture import parsed

# By file and test: the rules that it proves. Those of the adapter are codes of a refusal, and
# first words that are constants of domain.models; LEASH and NO_CLOCK come from other modules.
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
    the_rover_never_moves_with_a_part_that_is_not_stowed: NOT_STOWED
    motion_without_a_closed_mast_is_being_stopped: STOPPED
    no_motion_outlives_the_e_stop: E_STOP_PRESSED
    no_motion_outlives_safe: AGENT_IS_SAFE
    no_motion_outlives_the_agents_silence: AGENT_IS_SILENT AGENT_IS_GONE AGENT_FELL_SILENT
    the_leash_holds: LEASH
unit/test_adapter_rules.py
    test_nothing_but_a_beat_of_a_single_agent_lifts_the_latch: TWO_AGENTS
    test_it_names_exactly_the_living_others_of_its_own_rover: OTHER_ADAPTER
    test_a_motion_is_blocked_below_the_stop_distance_until_the_clear_distance: OBSTACLE
    test_a_lost_view_stops_a_motion_and_forbids_the_next_until_it_is_back: VIEW_LOST
    test_it_must_stop_when_it_has_moved_for_the_time_to_settle: STOPPED_UNASKED
    test_each_silence_is_warned_of_once_and_stopped_in_time: ODOMETRY_SILENT
    test_a_driver_is_found_silent_beyond_its_bound_alone: DRIVER_FELL_SILENT
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
unit/test_guardrails.py
    test_a_call_of_the_model_runs_into_the_rule: same_refused steps_left cost_left
    test_what_a_skill_holds_that_did_not_react_to_its_stop_is_refused: resource_conflict
integration/test_adapter_node.py
    test_no_motion_while_the_mast_is_on_its_way_or_up: NEED_TO_CLOSE_MAST
    test_a_mast_that_opens_by_itself_stops_the_rover: STOPPED
    test_the_mast_stays_closed_while_the_rover_moves: MOVE_IN_PROGRESS NEED_TO_OPEN_MAST
    test_a_rover_that_moves_unasked_is_stopped_unless_told_otherwise: STOPPED_UNASKED
    test_a_rover_whose_odometry_falls_silent_is_warned_of_and_stopped: ODOMETRY_SILENT
    test_a_drive_ends_with_the_node_that_drives: DRIVER_FELL_SILENT
    test_the_e_stop_holds_rover_and_mast: E_STOP_PRESSED
    test_a_motion_that_nobody_ends_is_ended_by_the_leash: LEASH
    test_a_rover_whose_agent_freezes_is_stopped: AGENT_IS_SILENT AGENT_IS_GONE AGENT_FELL_SILENT
    test_a_forged_heartbeat_does_not_keep_the_motion_of_a_frozen_agent: TWO_AGENTS
    test_a_stop_that_a_foreign_driver_undoes_is_not_done: STOP_NOT_CONFIRMED
integration/test_adapter_appendages.py
    test_the_rover_drives_only_with_its_arm_stowed: NOT_STOWED
standalone/test/test_doors_e2e.py
    test_a_stop_that_somebody_undoes_is_not_done_and_latches_safe: AGENT_IS_SAFE
integration/test_adapter_drive.py
    test_the_adapter_of_a_second_overlay_stops_the_rover_until_it_leaves: OTHER_ADAPTER
    test_the_rover_stops_before_a_rock_and_may_only_turn_away_from_it: OBSTACLE
    test_a_rover_that_loses_its_view_is_stopped_until_it_sees_again: VIEW_LOST
    test_wheels_that_turn_in_vain_are_stopped: STUCK
    test_slip_of_30_percent_is_noticed_and_stopped: SLIPPING
    test_a_tilted_rover_is_stopped_and_does_not_start: TILTED
    test_without_a_clock_agent_and_adapter_refuse_to_drive: NO_CLOCK
"""


def words_of_the_adapter() -> set[str]:
    """The constants, or functions of their names, and the codes that its modules name, but for
    those of a call that fails.
    """
    files = (PACKAGE / 'adapter').glob('*.py')
    nodes = [node for each in files for node in ast.walk(parsed(each.read_text('utf-8')))]
    imported = {
        name.name.upper()
        for node in nodes
        if isinstance(node, ast.ImportFrom) and node.module == models.__name__
        for name in node.names
    }
    named = {ast.unparse(node) for node in nodes if isinstance(node, ast.Attribute)}
    codes = {code.name for code in RefusalCode if str(code) in named} - {'NO_SERVICE', 'NO_ANSWER'}
    return codes | {name for name in imported if isinstance(getattr(models, name, None), str)}


@cache
def names_in(file: str) -> frozenset[str]:
    """The names of its tests and of its state machines' invariants."""
    path = (ROOT if file.startswith('standalone') else TESTS) / file
    tree = parsed(path.read_text(encoding='utf-8'))
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


def proved_in(table: str) -> tuple[Counter[str], list[str]]:
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
        assert proved_in(table) == (wanted, [])


PACKAGE = Path(curiosity_rosa_demo.__file__).parent
TESTS = Path(__file__).parents[1]
TABLE = load_requirements()
SHIPPED = load_config()
ALL = [*(f'S{n}' for n in range(1, 7)), *(f'FR-{n:02d}' for n in range(1, 23))]


def has(path: Path, dotted: str) -> bool:
    """Whether the file defines this function, class or constant, by its syntax tree."""
    body = parsed(path.read_text(encoding='utf-8')).body
    for name in dotted.split('.'):
        named = {getattr(each, 'name', ''): each for each in body}
        if name not in named:
            return False
        body = getattr(named[name], 'body', [])
    return True


def test_each_requirement_is_there_once_in_order_with_its_rule_and_both_proofs() -> None:
    assert [each.id for each in TABLE] == ALL
    wrong = []
    for each in TABLE:
        module, name = each.rule.split(':')
        if not has(PACKAGE / f'{module.replace(".", "/")}.py', name):
            wrong.append(each.rule)
        for place in (each.property_test, each.ros_test):
            file, test = place.split('::')
            wrong += [] if test in names_in(file) else [place]
    assert wrong == []


def test_the_formulas_use_each_signal_and_no_other() -> None:
    used = {name for each in TABLE for name in each.signals}
    assert used == set(SIGNALS)
    limits = limits_of(SHIPPED.thresholds)
    assert all(bool(each.formula_with(limits)) != bool(each.no_monitor) for each in TABLE)


def test_the_files_for_ogma_are_what_the_table_says() -> None:
    for name, text in files(SHIPPED).items():
        again = f'{name}: run python scripts/monitor_pages.py'
        assert (OGMA / name).read_text(encoding='utf-8') == text, again


def test_the_page_has_each_requirement_with_its_proofs() -> None:
    text = page(TABLE, SHIPPED.thresholds)
    for each in TABLE:
        assert f'## {each.id} {each.title}' in text
        assert f'| `{each.rule}` | `{each.property_test}` | `{each.ros_test}` |' in text


def test_a_formula_becomes_a_copilot_expression_and_nothing_else_does() -> None:
    expressions = {
        '!{moving}': '(not ((signals .&. 1) /= 0))',
        'historically[0:2.5]({moving} && !{straight})': '(MTL.alwaysBeen 0 25 clock 1 '
        '(((signals .&. 1) /= 0) && (not ((signals .&. 2) /= 0))))',
        'once[0:1]{moving} -> {moving} since {straight}': '((MTL.eventuallyPrev 0 10 clock 1 '
        '((signals .&. 1) /= 0)) ==> (((signals .&. 1) /= 0) `since` ((signals .&. 2) /= 0)))',
    }
    assert {formula: copilot(formula) for formula in expressions} == expressions
    for formula in ('', '(', '{moving', 'once{moving}', '{moving} {moving}'):
        with pytest.raises(ValueError):
            copilot(formula)


STEPS = 4000  # of 50 ms


@settings(max_examples=examples(8), deadline=None)
@given(seed=st.integers(0, 2**32))
def test_it_agrees_with_a_sound_guard_in_any_history(seed: int) -> None:
    watched = Watched()
    drive(watched, random.Random(seed), STEPS)
    assert watched.disagreements == []


@pytest.mark.parametrize('name', MUTANTS)
def test_it_finds_each_planted_fault(name: str) -> None:
    verdict, after_s = hunt(name)
    assert verdict is not None, name
    assert verdict.severity == 'critical'
    assert 0.0 < after_s < 60.0


def steps(monitor: Monitor, *parts: tuple[float, str], begin_s: float = 0.0) -> list[str]:
    """Each part lasts its seconds, with these signals. What was found: +S2 holds, -S2 does not."""
    found, now_s = [], begin_s
    for seconds, names in parts:
        signals = dict.fromkeys(SIGNALS, False) | dict.fromkeys(names.split(), True)
        for _ in range(round(seconds / 0.05)):
            now_s += 0.05
            verdicts = monitor.step(now_s, signals)
            found += [f'{"+" if each.ok else "-"}{each.requirement}' for each in verdicts]
    return found


@pytest.mark.parametrize(
    ('parts', 'found'),
    [
        ([(60.0, '')], []),
        ([(LIMITS['leash_s'] - 0.2, 'moving')], []),
        ([(LIMITS['leash_s'] + 0.5, 'moving'), (1.0, '')], ['-S2', '+S2']),
        ([(20.0, 'moving'), (0.1, ''), (20.0, 'moving')], []),
        ([(1.0, 'moving'), (LIMITS['stop_s'] + 0.5, 'moving mast_up')], ['-S1']),
        ([(1.0, 'moving'), (2.5, 'moving mast_up'), (1.0, 'moving')], []),
        ([(1.0, 'mast_up'), (0.4, 'moving mast_up')], ['-S1']),
        ([(2.0, 'moving e_stop')], []),
        ([(4.0, 'moving e_stop')], ['-FR-09']),
        ([(0.1, 'stop_asked moving'), (4.0, 'moving')], ['-S3']),
        ([(0.1, 'stop_asked moving'), (0.1, 'move_asked'), (4.0, 'moving')], []),
        ([(1.0, 'violation')], ['-FR-14']),
        ([(1.0, 'safe'), (0.4, 'agent_started')], ['-S4']),
    ],
)
def test_a_window_is_counted_from_the_change_of_its_signal(
    parts: list[tuple[float, str]], found: list[str]
) -> None:
    chosen = [each for each in load_requirements() if each.formula]
    assert steps(Monitor(chosen, LIMITS), *parts) == found


@pytest.mark.parametrize('deaf', [False, True])
def test_an_arm_that_the_guard_does_not_watch_is_found(deaf: bool) -> None:
    def deaf_to_arms(rules: Rules, name: str, angles: Sequence[float]) -> None:
        if name == MAST:
            Rules.joints(rules, name, angles)

    changes = {'joints': deaf_to_arms} if deaf else {}
    arm = load_config(robot='curiosity').robot.appendages
    watched = Watched(mutant(**changes), World(RobotProfile(appendages=arm)))
    begin_to_drive(watched, moves=False)
    assert watched.world.ask_appendage('arm', 'arm_close') == ''
    watched.run(8.0)
    watched.ask('move')
    watched.run(1.0)
    assert watched.world.moving
    watched.world.move_appendage('arm', 'arm_open')
    watched.run(8.0)
    assert watched.world.moving is deaf
    assert {verdict.requirement for verdict in watched.found} == ({'FR-21'} if deaf else set())


@pytest.mark.parametrize(
    ('sag_mps', 'sag_s', 'shown', 'found'),
    [
        (0.28, 2.5, True, set()),  # measured: a free bogie folds
        (0.08, LIMITS['stop_s'] + 4.0, True, set()),  # longer than wheels may turn after a stop
        (0.08, LIMITS['stop_s'] + 4.0, False, {'S3', 'FR-14'}),
        (0.28, CONFIG.motion.settling_max_s, True, {'S3', 'FR-14'}),  # it goes too far
        (0.05, CONFIG.motion.settling_max_s + LIMITS['stop_s'] + 1.0, True, {'S3', 'FR-14'}),
    ],
)
def test_a_body_that_settles_is_judged_as_the_guard_judges_it(
    sag_mps: float, sag_s: float, shown: bool, found: set[str]
) -> None:
    watched = Watched()
    watched.world.wheels_shown = shown
    begin_to_drive(watched)
    watched.run(1.0)
    watched.world.sag = sag_mps
    watched.ask('stop')
    watched.run(sag_s)
    watched.world.sag = 0.0
    watched.run(2.0)
    assert {verdict.requirement for verdict in watched.found} == found
    assert watched.disagreements == []


def test_odometry_whose_speed_is_no_number_shows_neither_motion_nor_standstill() -> None:
    signals, message = Watched().signals, Odometry()
    message.twist.twist.linear.x = 0.5
    for tick in range(30):
        signals.odometry(tick / 10, message)
        message.twist.twist.linear.x = math.nan
    assert signals.at(2.9)['odometry_stale']


@pytest.mark.parametrize(
    ('seconds', 'status', 'says'),
    [(10, 0, 'no violation'), (40, 1, 'S2     VIOLATED (critical): Every motion ends within')],
)
def test_a_recording_is_checked_with_an_exit_status(
    seconds: int, status: int, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    odometry = Odometry()
    odometry.twist.twist.linear.x = 0.5
    moving = bytes(serialize_message(odometry))
    said = [('odometry', at / 10, moving) for at in range(seconds * 10)]
    file = write_run(tmp_path / 'run.mcap', said)
    assert run([str(file)]) == status
    output = capsys.readouterr().out
    assert says in output
    assert '/kernel/heartbeat' in output.splitlines()[-1]
    file.write_text('no MCAP')
    assert run([str(file)]) == 2
    assert f'monitor: {file} is no MCAP file' in capsys.readouterr().err


@pytest.mark.parametrize('named', [True, False])
def test_a_recording_is_judged_as_that_of_its_own_robot(
    named: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status = a_string('{"mast": "closed", "moving": true, "appendages": {"arm": "deployed"}}')
    odometry = Odometry()
    odometry.twist.twist.linear.x = 0.5
    moving = bytes(serialize_message(odometry))
    said = [('odometry', at / 10, moving) for at in range(100)]
    said = sorted(
        [*said, *(('adapter', at / 2, status) for at in range(20))], key=lambda each: each[1]
    )
    info = {**INFO, 'robot': 'curiosity'} if named else INFO
    file = write_run(tmp_path / 'run.mcap', said, info=info)
    assert run([str(file)]) == int(named)
    assert run([str(file), '--robot', 'curiosity']) == 1
    assert 'FR-21' in capsys.readouterr().out
