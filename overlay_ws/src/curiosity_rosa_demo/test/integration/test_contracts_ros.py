# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""docs/reference/contracts.md, the SROS2 policies and the answers about the ROS graph against the
graph of the running product.
"""

from __future__ import annotations

from collections.abc import Callable
import json
import re
from typing import Any
import urllib.request

from contract_pages import ContractRun, CONTRACTS, contracts, ROVER, with_parts
from curiosity_rosa_demo.infra.config.topics import Topics
from curiosity_rosa_demo.infra.config_loader import load_config
from examples import fields
from harness import ROOT, Sandbox, wait_until
import pytest
from rclpy.node import Node
from rclpy.qos import qos_check_compatible, QoSCompatibility
from sros2_policy import Grant, OVERLAY, read
from sros2_policy import ROVER as STAND_IN

pytestmark = [pytest.mark.ros, pytest.mark.timeout(300)]
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
ROWS = fields('graph_questions.tsv')
YAML = ROOT / 'config/topics.yaml'
COMPARED = ('topics', 'nodes', 'without_subscribers', 'without_publishers', 'publishers',
            'subscribers', 'type', 'qos', 'qos_mismatches')  # fmt: skip
TRIES = 3  # the graph changes while captures and recorders come and go
NODE_NAMES = {'adapter': '/adapter', 'visualizer': '/visualizer'}


@pytest.fixture(scope='module')
def topics() -> Topics:
    return load_config().topics


@pytest.fixture(scope='module')
def facts(shared: Sandbox, topics: Topics) -> Facts:
    return Facts(shared.node, topics)


@pytest.fixture(scope='module')
def run(shared: Sandbox, topics: Topics) -> ContractRun:
    run = ContractRun(shared, topics)
    try:
        run.show_all()
    except AssertionError:
        shared.show_logs()
        raise
    return run


def test_the_page_is_what_the_running_system_shows(run: ContractRun, topics: Topics) -> None:
    page = CONTRACTS.read_text(encoding='utf-8')

    def now() -> str:
        return with_parts(page, contracts(run.look(), topics))

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


def test_the_questions_about_the_graph_are_answered_with_the_facts(
    run: ContractRun, facts: Facts
) -> None:
    """One of each kind; unit/test_orders.py has the other ways and languages to ask."""
    rows = {(kind, name): text for _, kind, name, _, text in reversed(ROWS) if kind in COMPARED}
    assert {kind for kind, _ in rows} == set(COMPARED)
    wrong = {}
    for (kind, name), text in rows.items():
        for _ in range(TRIES):
            answer = ask(run.url, text)
            if is_right(kind, name, answer, facts):
                break
        else:
            wrong[text] = answer
    assert wrong == {}


class Facts:
    """What is so, found without the product's reader."""

    def __init__(self, node: Node, topics: Any) -> None:
        self._node, self._topics = node, topics
        self.declared = dict(
            re.findall(r'"(/[^"]+)" +# (\w+/msg/\w+)', YAML.read_text(encoding='utf-8'))
        )

    def full(self, name: str) -> str:
        names = {'odometry': self._topics.rover.odometry, 'joint_states': '/joint_states'}
        return NODE_NAMES.get(name) or names.get(name, name)

    def nodes(self) -> set[str]:
        named = self._node.get_node_names_and_namespaces()
        return {f'{space.rstrip("/")}/{name}' for name, space in named}

    def shown_topics(self) -> set[str]:
        return {n for n, _ in self._node.get_topic_names_and_types() if '/_' not in n}

    def ends(self, name: str, kind: str) -> set[str]:
        """By asking each node, not the topic."""
        of_node = getattr(self._node, f'get_{kind}_names_and_types_by_node')
        found = set()
        for full in self.nodes():
            space, _, node = full.rpartition('/')
            if any(topic == name for topic, _ in of_node(node, space or '/')):
                found.add(full)
        return found

    def one_sided(self, publishers: bool) -> set[str]:
        counts = {
            name: (self._node.count_publishers(name), self._node.count_subscribers(name))
            for name in self.shown_topics()
        }
        return {n for n, (p, s) in counts.items() if (p and not s if publishers else s and not p)}

    def mismatched(self, only: str) -> set[str]:
        found = set()
        for name in [only] if only != '-' else self.shown_topics():
            fits: dict[tuple[str, str], bool] = {}
            for one in self._node.get_publishers_info_by_topic(name):
                for other in self._node.get_subscriptions_info_by_topic(name):
                    verdict, _ = qos_check_compatible(one.qos_profile, other.qos_profile)
                    pair = (one.node_name, other.node_name)
                    good = verdict != QoSCompatibility.ERROR
                    fits[pair] = fits.get(pair, False) or good
            if not all(fits.values()):
                found.add(name)
        return found


def names_in(answer: str) -> set[str]:
    """The names that start the rows of an answer."""
    return {row.split()[0].rstrip(':') for row in answer.split('\n- ')[1:]}


def is_right(kind: str, name: str, answer: str, facts: Facts) -> bool:
    full = facts.full(name)
    checks: dict[str, Callable[[], bool]] = {
        'topics': lambda: names_in(answer) == facts.shown_topics(),
        'nodes': lambda: names_in(answer) == facts.nodes(),
        'without_subscribers': lambda: names_in(answer) == facts.one_sided(True),
        'without_publishers': lambda: names_in(answer) == facts.one_sided(False),
        'publishers': lambda: names_in(answer) == facts.ends(full, 'publisher'),
        'subscribers': lambda: names_in(answer) == facts.ends(full, 'subscriber'),
        'type': lambda: facts.declared[full] in answer and full in answer,
        'qos': lambda: full in answer and 'reliable, transient local' in answer,
        'qos_mismatches': lambda: names_in(answer) == facts.mismatched(full),
    }
    return checks[kind]()


def ask(url: str, text: str) -> str:
    request = urllib.request.Request(
        f'{url}/say', json.dumps({'text': text}).encode(), {'Content-Type': 'application/json'}
    )
    with urllib.request.urlopen(request, timeout=20.0) as answer:
        return str(json.loads(answer.read())['words'])


def _words(text: str) -> set[str]:
    return set(re.findall(r'`(\w+)`', text))


def _await(condition: Callable[[], bool]) -> None:
    """Give it time; whoever asked compares once more, and shows the difference."""
    try:
        wait_until(condition, 'the graph', LATE_S)
    except AssertionError:
        return
