# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""docs/reference/contracts.md and the SROS2 policies against the graph of the running product."""

from __future__ import annotations

from collections.abc import Callable, Iterator
import re

from contract_pages import CONTRACTS, with_parts
from contract_run import ContractRun, ROVER
from contract_tables import contracts
from curiosity_rosa_demo.infra.config.topics import Topics
from curiosity_rosa_demo.infra.config_loader import load_config
from harness import Sandbox, wait_until
import pytest
from sros2_policy import Grant, OVERLAY, read
from sros2_policy import ROVER as STAND_IN

pytestmark = [pytest.mark.ros, pytest.mark.timeout(180)]
# what the agent listens to and asks for only while it answers a question about the ROS graph
READ_WHEN_ASKED = {
    grant
    for grant in read(OVERLAY)
    if grant.node == '/agent'
    and (grant.kind == 'subscribe' or grant.name.endswith(('/get_parameters', '/list_parameters')))
    and grant.kind in ('subscribe', 'request')
}
# of the profile with an arm, which the running system does not have
ARM = load_config(robot='curiosity')
OF_THE_ARM = {
    *(command.service for _, command in ARM.robot.commands.values()),
    *map(ARM.appendage_service, ARM.robot.commands),
}
LATE_S = 15.0  # for what a busy machine discovers last


@pytest.fixture(scope='module')
def topics() -> Topics:
    return load_config().topics


@pytest.fixture(scope='module')
def run(topics: Topics) -> Iterator[ContractRun]:
    with Sandbox() as box:
        run = ContractRun(box, topics)
        try:
            run.show_all()
        except AssertionError:
            box.show_logs()
            raise
        yield run


def test_the_page_is_what_the_running_system_shows(run: ContractRun, topics: Topics) -> None:
    page = CONTRACTS.read_text(encoding='utf-8')
    parameters = run.parameters()

    def now() -> str:
        parts = contracts(run.look(), run.overlay(), parameters, topics)
        return with_parts(page, parts, CONTRACTS.name)

    _await(lambda: now() == page)
    assert page.splitlines() == now().splitlines(), 'run scripts/contracts.sh and read the change'


def test_the_policies_allow_what_is_used_and_nothing_else(run: ContractRun) -> None:
    allowed = {*read(OVERLAY), *read(STAND_IN)}

    def used() -> set[Grant]:
        graph = run.look()
        return {
            Grant(graph.enclaves[use.node], use.node, use.kind, use.name) for use in graph.uses
        }

    with_an_arm = {grant for grant in allowed if grant.name in OF_THE_ARM}
    may_be_idle = READ_WHEN_ASKED | with_an_arm
    _await(lambda: used() <= allowed <= used() | may_be_idle)
    missing, idle = sorted(used() - allowed), sorted(allowed - used() - may_be_idle)
    assert {'used, not allowed': missing, 'allowed, not used': idle} == {
        'used, not allowed': [],
        'allowed, not used': [],
    }


def test_each_process_runs_in_the_enclave_that_it_was_given(run: ContractRun) -> None:
    """Else the policy would be compared with nothing."""
    enclaves = {grant.enclave for grant in (*read(OVERLAY), *read(STAND_IN))}
    assert set(run.look().enclaves.values()) == enclaves
    assert ROVER in enclaves


def test_every_node_answers_for_its_parameters(run: ContractRun) -> None:
    """A tool that lists the parameters of all nodes waits 5 s for each that does not."""
    graph = run.look()
    served = {use.name for use in graph.uses if use.kind == 'reply'}
    assert [node for node in graph.enclaves if f'{node}/list_parameters' not in served] == []


def test_the_figures_of_the_diagnostics_are_those_of_the_page(run: ContractRun) -> None:
    wait_until(lambda: len(run.figures()) == 5, 'the diagnostics of five nodes')
    page = CONTRACTS.read_text(encoding='utf-8')
    rows = re.findall(r'^\| `(\w+: \w+)` \|.*\|([^|]+)\|$', page, re.MULTILINE)
    assert {name: _words(values) for name, values in rows} == run.figures()


def test_the_status_has_what_the_page_says(run: ContractRun) -> None:
    (said,) = re.findall(r'^`get_status`: (.*?)\n\n', CONTRACTS.read_text('utf-8'), re.S | re.M)
    assert _words(said) - {'mast_02_joint'} == set(run.status())


def _words(text: str) -> set[str]:
    return set(re.findall(r'`(\w+)`', text))


def _await(condition: Callable[[], bool]) -> None:
    """Give it time; whoever asked compares once more, and shows the difference."""
    try:
        wait_until(condition, 'the graph', LATE_S)
    except AssertionError:
        return
