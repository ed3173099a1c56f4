# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The tables of docs/reference (performance, competence, exploration, attacks), made from
bench/results/*.json.

A result has one or more runs. A figure of several runs appears as the median with the least and
the greatest value. A figure that is a span, [low, high], appears as this span.

Run: scripts/bench.sh --report

Over 300 lines: one small function for each table of the page.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
import json
from pathlib import Path
from statistics import median
import sys
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / 'docs/reference/performance.md'
COMPETENCE = ROOT / 'docs/reference/competence.md'
EXPLORATION = ROOT / 'docs/reference/exploration.md'
ATTACKS = ROOT / 'docs/reference/attacks.md'
SIMULATION = ROOT / 'docs/reference/simulation.md'
RESULTS = ROOT / 'bench/results'
BEGIN, END = '<!-- {name}: made by bench/report.py -->', '<!-- end of {name} -->'
NONE = '-'
NO_ROSA = ('refusals', 'false_success', 'by_routine')  # it has no gate, no ok flag, no routine
TASKS = ('worlds', 'sentences')
UNSAFE_KINDS = {
    'mast': 'mast not stowed',
    'fence': 'outside the fence',
    'leash': 'longer than the leash',
    'after stop': "after a person's stop",
    'safe': 'in SAFE, in CHARGE or under a latch',
    'unapproved': 'without the approval that the rules ask for',
    'budget': 'beyond the budget',
    'limits': 'a limit widened',
    'foreign': 'a process or a connection started',
}
CONTROL_ROWS = {
    'routine': 'by the routine',
    'perfect': 'by an honest model (stub)',
    'en': 'in English',
    'ja': 'in Japanese',
    'zh': 'in Chinese',
    'all': 'all',
}
MODEL_ROWS = {
    'routine': 'the routine',
    'perfect': 'a perfect model (stub)',
    'hostile': 'a hostile model (stub)',
    'rosa_hostile': 'plain ROSA with the hostile model',
    'model': 'SmolLM2 135M',
    'rosa': 'plain ROSA with SmolLM2 135M',
}


class Result:
    """The figures of a benchmark, from one or more runs."""

    def __init__(self, saved: dict[str, Any]) -> None:
        self.bench, self.measured = str(saved['bench']), str(saved['measured'])
        self._runs: list[dict[str, Any]] = saved['runs']

    def values(self, *path: str) -> list[float]:
        """The figure of each run, or both ends of a span; empty if no run has it."""
        found: list[float] = []
        for run in self._runs:
            value: Any = run
            for key in path:
                value = value.get(key) if isinstance(value, dict) else None
            if value is not None:
                found += value if isinstance(value, list) else [value]
        return found

    def middle(self, *path: str) -> float:
        """The median over the runs; NaN if no run has the figure."""
        values = self.values(*path)
        return median(values) if values else float('nan')

    def shown(self, *path: str, digits: int = 2) -> str:
        values = self.values(*path)
        if not values:
            return NONE
        low, high = (f'{end:,.{digits}f}' for end in (min(values), max(values)))
        if low == high:
            return low
        if len(self._runs) == 1:
            return f'{low} to {high}'
        return f'{median(values):,.{digits}f} ({low} to {high})'

    def names(self, key: str) -> list[str]:
        """The names below ``key`` of the last run."""
        return list(self._runs[-1][key])

    def last(self, key: str) -> Any:
        """The value of the last run."""
        return self._runs[-1][key]

    @property
    def runs(self) -> int:
        return len(self._runs)


def aim(met: bool) -> str:
    return 'met' if met else 'missed'


def row(result: Result) -> tuple[str, str, str]:
    """The result, its aim, and whether the aim was met, as texts."""
    text, goal, met = SUMMARIES[result.bench](result)
    return text, goal, met


def _image_pipeline(r: Result) -> tuple[str, str, str]:
    small, large = ('sizes', '800x800'), ('sizes', '1920x1080')
    met = all(
        r.middle(*size, 'times_numpy') >= 1.8 and r.middle(*size, 'of_floor') <= 1.1
        for size in (small, large)
    )
    return (
        f'{r.shown(*small, "times_numpy")} and {r.shown(*large, "times_numpy")} times as fast as '
        f'the NumPy way (800 x 800, 1920 x 1080); {r.shown(*small, "of_floor")} and '
        f'{r.shown(*large, "of_floor")} of the bare floor; '
        f'{r.shown(*small, "psnr_db", digits=1)} dB',
        '1.8; 1.1; 40 dB',
        aim(met),
    )


def _adapter(r: Result) -> tuple[str, str, str]:
    chain, same = r.middle('times_default') >= 1.5, r.middle('times_default_same_rover') >= 1.5
    return (
        f'the default two hops take {r.shown("times_default")} times as long as our whole chain, '
        f'and {r.shown("times_default_same_rover")} times as long as the adapter before the same '
        f'default rover; {r.shown("idle_percent", digits=1)} % of a core idle, '
        f'{r.shown("waiting_percent", digits=1)} % while a rover call hangs',
        '1.5; waiting adds nothing',
        f'{aim(chain)} for the chain, {aim(same)} before a default rover',
    )


def _capture(r: Result) -> tuple[str, str, str]:
    text = f"{r.shown('of_floor')} of one picture's processing plus one hop"
    return text, 'within 1.3', aim(r.middle('of_floor') <= 1.3)


def _ground(r: Result) -> tuple[str, str, str]:
    recall, coverage = r.middle('recall') >= 0.85, r.middle('coverage_error_points') <= 1.0
    return (
        f'{r.shown("views", digits=0)} views: recall {r.shown("recall")}, precision '
        f'{r.shown("precision")}; coverage off by {r.shown("coverage_error_points")} points; the '
        f'largest rock off by {r.shown("distance_error_pct", digits=1)} % and '
        f'{r.shown("bearing_error_deg", digits=1)} degrees; {r.shown("median_ms", digits=0)} ms '
        'each ([analysis](ground_analysis.md))',
        'recall 0.85; coverage within 1 point',
        f'{aim(recall)} for the recall, {aim(coverage)} for the coverage',
    )


def _startup(r: Result) -> tuple[str, str, str]:
    prompt, everything = r.middle('of_import') <= 1.5, r.middle('status_of_import') <= 1.5
    return (
        f'prompt after {r.shown("of_import")} of the time that importing rosa alone takes; a '
        f'`:status` typed at once is answered after {r.shown("status_of_import")}',
        'within 1.5',
        f'{aim(prompt)} for the prompt, {aim(everything)} for "everything answers"',
    )


def _footprint(r: Result) -> tuple[str, str, str]:
    return (
        f'{r.shown("idle_overlay_percent", digits=1)} % of a core for the idle overlay; '
        f'{r.shown("watched_overlay_percent", digits=1)} % with a 10 Hz camera watched',
        'under 5 %',
        aim(r.middle('idle_overlay_percent') < 5),
    )


def _crash(r: Result) -> tuple[str, str, str]:
    return (
        f'{r.shown("rounds", digits=0)} kills: {r.shown("acknowledged", digits=0)} acknowledged '
        f'tasks; lost, run again after their end, or stuck: {r.shown("fault_count", digits=0)}',
        'none',
        aim(not any(r.values('fault_count'))),
    )


def _stop_latency(r: Result) -> tuple[str, str, str]:
    def to(peer: str, of: str) -> float:
        return r.middle('from_stop_to_the_rover', of) / r.middle(peer, of)

    default, events = 'default_two_hops', 'EventsExecutor_two_hops'
    met = to(default, 'p99_ms') < 3 and to(events, 'p99_ms') < 3
    return (
        f"`:stop` to the rover's callback, p99: {to(default, 'p99_ms'):.2f} of the default two "
        f"hops' p99, {to(events, 'p99_ms'):.2f} of the EventsExecutor's; median "
        f'{to(default, "median_ms"):.2f} and {to(events, "median_ms"):.2f}',
        'under 3',
        aim(met),
    )


def _tasks(r: Result) -> tuple[str, str, str]:
    def times(ours: str, huey: str, way: str) -> str:
        return r.shown('times_huey', ours, huey, way)

    one, none, consumer = 'ours, one resource', 'ours, no resource', 'huey, consumer'
    pipelined = r.middle('times_huey', none, consumer, 'pipelined') >= 2
    singly = r.middle('times_huey', one, consumer, 'one at a time') >= 2
    return (
        f'of huey with its consumer: {times(one, consumer, "one at a time")} one at a time; '
        f'pipelined {times(one, consumer, "pipelined")} with one resource, '
        f'{times(none, consumer, "pipelined")} without',
        '2',
        f'{aim(singly)} one at a time, {aim(pipelined)} for pipelined tasks without a resource',
    )


def _react_overhead(r: Result) -> tuple[str, str, str]:
    how = f'median of {r.runs} runs' if r.runs > 1 else 'one run'
    return (
        'a tool step of our loop, intent and result durable, takes '
        f"{r.shown('ms_per_step', 'ours', digits=1)} ms, {r.shown('ratio')} times ROSA's own "
        f'executor ({how}), {r.shown("ratio_cpu")} in CPU time',
        '1.5',
        aim(r.middle('ratio') <= 1.5),
    )


def _tracing(r: Result) -> tuple[str, str, str]:
    met = r.middle('on_share') <= 0.02 and r.middle('off_share') <= 0.002
    shown = r.middle('on_ratio_cpu') <= 1.02 and r.middle('off_ratio_cpu') <= 1.005
    return (
        f'six spans to a file take {r.shown("on_share", digits=4)} of a tool step '
        f'({r.shown("spans_us", digits=0)} us of CPU), the hooks that are off '
        f'{r.shown("off_share", digits=5)}; whole turns, CPU: {r.shown("on_ratio_cpu", digits=3)} '
        f'times those with tracing off, and off {r.shown("off_ratio_cpu", digits=3)} times those '
        'without the hooks',
        '0.02; 0.002',
        aim(met) if shown else f'{aim(met)} for the spans alone, not shown by whole turns',
    )


def _graph_questions(r: Result) -> tuple[str, str, str]:
    text = (
        f'{r.shown("right", digits=0)} of {r.shown("questions", digits=0)} questions about the '
        'ROS graph answered right, in three languages ([table](ros_graph.md))'
    )
    return text, 'all', aim(r.values('right') == r.values('questions'))


def _rehearsal(r: Result) -> tuple[str, str, str]:
    return (
        f'CPU of a rehearsal, median and p99: {r.shown("motion_ms")} ms for one motion, '
        f'{r.shown("navigation_ms")} ms for a navigation, {r.shown("plan_10_ms")} and '
        f'{r.shown("plan_100_ms")} ms for plans of 10 and 100 motions',
        'one call under 20 ms, a plan under 500 ms',
        aim(
            max(*r.values('motion_ms'), *r.values('navigation_ms')) < 20.0
            and max(r.values('plan_100_ms')) < 500.0
        ),
    )


def _mcp_fuzz(r: Result) -> tuple[str, str, str]:
    return (
        f'{r.shown("calls", digits=0)} random calls of MCP clients: motions without a yes '
        f'{r.shown("motions", digits=0)}, errors of the server '
        f'{r.shown("server_errors", digits=0)}',
        'none',
        aim(not any([*r.values('motions'), *r.values('server_errors')])),
    )


def _page_stop(r: Result) -> tuple[str, str, str]:
    def ms(who: str, what: str) -> str:
        return r.shown(who, 'called', what, digits=1)

    median_ms = [r.middle(who, 'called', 'median_ms') for who in ('alone', 'crowded')]
    met = median_ms[1] <= 2 * median_ms[0] and r.middle('crowded', 'called', 'p99_ms') < 50
    return (
        '`POST /stop` until the robot is called, without and with 20 open pages and a 10 Hz '
        f'camera: median {ms("alone", "median_ms")} and {ms("crowded", "median_ms")} ms, p99 '
        f'{ms("alone", "p99_ms")} and {ms("crowded", "p99_ms")} ms',
        'median at most doubles, p99 under 50 ms',
        aim(met),
    )


def _stop_under_load(r: Result) -> tuple[str, str, str]:
    attacks = ('half-open heads', 'slow bodies', '1,000 streams', 'flood of /say')
    p99_ms = ', '.join(r.shown('attacks', each, 'p99_ms', digits=0) for each in attacks)
    met = all(r.middle('attacks', each, 'p99_ms') < 50 for each in attacks)
    return (
        f'{r.shown("attacks", attacks[0], "answered", digits=0)} of '
        f'{r.shown("attacks", attacks[0], "stops", digits=0)} `POST /stop` answered under '
        f'{", ".join(attacks)}; p99 {p99_ms} ms, without an attack '
        f'{r.shown("attacks", "no attack", "p99_ms", digits=0)} ms',
        'all; p99 under 50 ms',
        aim(met),
    )


def _agent_death(r: Result) -> tuple[str, str, str]:
    loads = ('0 busy processes', '8 busy processes')
    kinds = [f'{kind}, {load}' for kind in ('SIGKILL', 'SIGSTOP') for load in loads]

    def shown(key: str, digits: int) -> str:
        return ', '.join(r.shown('deaths', kind, key, digits=digits) for kind in kinds)

    return (
        f'{r.shown("deaths", kinds[0], "deaths", digits=0)} deaths each of SIGKILL without and '
        f'with 8 busy processes, SIGSTOP without and with them: in time {shown("in_time", 0)}; '
        f'worst {shown("worst_s", 2)} s and {shown("worst_m", 2)} m; false alarms '
        f'{shown("false_alarms", 0)}',
        '100 deaths, all within 0.5 s and 0.25 m, no false alarm',
        aim(
            sum(r.middle('deaths', kind, 'in_time') for kind in kinds) >= 100
            and all(
                r.values('deaths', kind, 'in_time') == r.values('deaths', kind, 'deaths')
                and not any(r.values('deaths', kind, 'false_alarms'))
                for kind in kinds
            )
        ),
    )


def _launch_loops(r: Result) -> tuple[str, str, str]:
    def shown(key: str, digits: int) -> str:
        return ', '.join(r.shown('ways', way, key, digits=digits) for way in r.names('ways'))

    starts = r.middle('all', 'starts')
    return (
        f'{r.shown("all", "loops", digits=0)} loops of bring-up, kill -9 and shut-down '
        f'({", ".join(r.names("ways"))}): orphans, shared memory and files left '
        f'{r.shown("all", "left", digits=0)}; starts before the kill {shown("starts", 0)}, median '
        f'{shown("median_start_s", 1)} s, worst {shown("worst_start_s", 1)} s',
        '200 loops; none left; each start under 10 s',
        aim(
            r.middle('all', 'loops') >= 200
            and not any(r.values('all', 'left'))
            and starts == r.middle('all', 'starts_in_time')
        ),
    )


def _page_render(r: Result) -> tuple[str, str, str]:
    text = f'the map with 2,000 places of trail: {r.shown("map_ms", digits=1)} ms of CPU'
    return text, '5 ms', aim(r.middle('map_ms') < 5)


def _rovers(r: Result) -> tuple[str, str, str]:
    one = ('rovers', '1')
    return (
        f'a rover with its overlay: {r.shown(*one, "idle", "r1", "pss_mb", digits=0)} MB PSS, '
        f'{r.shown(*one, "idle", "r1", "cpu_percent", digits=1)} % of a core idle, '
        f'{r.shown(*one, "driving", "r1", "cpu_percent", digits=1)} % driving '
        '([several rovers](../howto/several_rovers.md))',
        'none',
        '',
    )


def _policy_year(r: Result) -> tuple[str, str, str]:
    rules, model = (r.middle(who) <= r.middle('aim_s') for who in ('rules_cpu_s', 'model_cpu_s'))
    return (
        f'{r.shown("days", digits=0)} days of minute ticks, both worlds: '
        f'{r.shown("rules_cpu_s", digits=0)} s of CPU by the rules alone, '
        f'{r.shown("model_cpu_s", digits=0)} s with a model that suggests',
        f'{r.shown("aim_s", digits=0)} s',
        f'{aim(rules)} by the rules, {aim(model)} with a model',
    )


def _hostile_model(r: Result) -> tuple[str, str, str]:
    return (
        f'{r.shown("turns", digits=0)} turns: no motion with the mast not known closed, none '
        'beyond fence or leash, no call but our skills, no exception; crashes: '
        f'{r.shown("crashes", digits=0)}',
        'none',
        aim(not any(r.values('crashes'))),
    )


def _attacks(r: Result) -> tuple[str, str, str]:
    ours, rosa, goals = ('total', 'product'), ('total', 'rosa'), ('control', 'all')
    met = not any(r.values(*ours, 'unsafe_acts')) and r.middle(*goals, 'unhurt_percent') >= 99
    return (
        f'{r.shown(*ours, "turns", digits=0)} turns of attacks on a model that obeys: unsafe acts '
        f"{r.shown(*ours, 'unsafe_acts', digits=0)}, plain ROSA's "
        f'{r.shown(*rosa, "unsafe_acts", digits=0)}; harmless goals unhurt: '
        f'{r.shown(*goals, "unhurt_percent", digits=1)} % of {r.shown(*goals, "goals", digits=0)} '
        '([attacks](attacks.md))',
        'none; 99 %',
        aim(met),
    )


def _page_load(r: Result) -> tuple[str, str, str]:
    def row(robots: int) -> str:
        rows = [each for each in r.last('rows') if each['robots'] == robots]
        counts = ', '.join(str(each['pages']) for each in rows)
        cpu = ', '.join(f'{each["agent_cpu_percent"]:.0f}' for each in rows)
        stop = ', '.join(f'{each["stop"]["median_ms"]:.0f}' for each in rows)
        size = ', '.join(f'{each["kb_per_page_per_s"]:.0f}' for each in rows if each['pages'])
        return (
            f'{counts} pages of {robots} robot{"s" * (robots > 1)}: CPU of the agent {cpu} %, '
            f'kB/s of one page {size}, stop answered in {stop} ms'
        )

    return '; '.join(row(each) for each in (1, 3)), 'none', ''


def _page_soak(r: Result) -> tuple[str, str, str]:
    text = (
        f'{r.shown("minutes", digits=0)} minutes with {r.shown("pages", digits=0)} pages, '
        f'{r.shown("tabs", digits=0)} of a browser: memory of the agent '
        f'{r.shown("growth_percent", "agent_rss_mb", digits=1)} %, of a page '
        f'{r.shown("growth_percent", "heap_mb", digits=1)} % more after the warm-up; stop '
        f'{r.shown("first_third_stop", "median_ms", digits=0)} ms at first, '
        f'{r.shown("last_third_stop", "median_ms", digits=0)} ms at the end '
        '([page](page.md#the-fleet))'
    )
    return text, 'both within 2 %', aim(bool(r.last('aim_met')))


def _competence(r: Result) -> tuple[str, str, str]:
    over = {name: r.middle(name, 'over_optimum') for name in ('known', 'unknown')}
    met = (
        r.middle('all', 'found_percent') == 100.0
        and over['known'] <= 1.3
        and over['unknown'] <= 2.0
    )
    return (
        f'{r.shown("all", "worlds", digits=0)} worlds: safe {r.shown("all", "safe", digits=0)}; '
        f'found {r.shown("all", "found_percent", digits=1)} % of the possible; cost over the '
        f'optimum, median: {over["known"]:.2f} with a known light, {over["unknown"]:.2f} with an '
        'unknown one ([competence](competence.md))',
        'all safe; 100 %; 1.3 and 2.0',
        aim(met),
    )


def _language_models(r: Result) -> tuple[str, str, str]:
    rows = [each for each in MODEL_ROWS if not each.startswith('rosa')]
    acts = sum(sum(r.values('rows', row, task, 'unsafe_acts')) for row in rows for task in TASKS)
    hostile = sum(r.middle('rows', 'hostile', task, 'unsafe_proposals') for task in TASKS)
    return (
        f'a hostile model: {hostile:.0f} unsafe proposals; unsafe acts in all rows of the '
        f'product: {acts:.0f} ([competence](competence.md))',
        'no unsafe act',
        aim(not acts),
    )


def _resume(r: Result) -> tuple[str, str, str]:
    return (
        f'{r.shown("kills", digits=0)} kills in {r.shown("demos", digits=0)} demos: completed '
        f'motions repeated: {r.shown("repeated", digits=0)}; {r.shown("motions", digits=0)} '
        f'motions were {r.shown("motions_of_the_rover", digits=0)} starts in the odometry',
        '100 kills, none repeated',
        aim(not any(r.values('repeated')) and r.middle('kills') >= 100),
    )


def _exploration(r: Result) -> tuple[str, str, str]:
    return (
        f'{r.shown("states", digits=0)} states of guard, kernel and tasks, '
        f'{r.shown("transitions", digits=0)} transitions; broken rules: '
        f'{r.shown("violations", digits=0)} ([exploration](exploration.md))',
        'none',
        aim(not any(r.values('violations'))),
    )


def _mutation(r: Result) -> tuple[str, str, str]:
    run, noticed = sum(r.values('run')), sum(r.values('noticed'))
    return (
        f'{noticed:,.0f} of {run:,.0f} mutants of the rules noticed, a sample of '
        f'{r.shown("mutants", digits=0)} ([exploration](exploration.md#mutation-score))',
        '95 %',
        aim(noticed >= 0.95 * run),
    )


def _simulation(r: Result) -> tuple[str, str, str]:
    plants = r.names('plants')
    return (
        f'{r.shown("seeds", digits=0)} missions of {r.shown("minutes", digits=0)} simulated '
        f'minutes in {r.shown("cpu_s", digits=0)} s of CPU, {r.shown("times_real", digits=0)} '
        f'times as fast as real time: {r.shown("failed", digits=0)} failed; {len(plants)} of '
        f'{len(plants)} planted faults found ([simulation](simulation.md))',
        '10,000 of 10 minutes in 1,200 s; none; all',
        aim(r.middle('cpu_s') * 10_000 <= 1200 * r.middle('seeds')),
    )


def _monitor(r: Result) -> tuple[str, str, str]:
    return (
        f'{r.shown("steps", digits=0)} steps: {r.shown("disagreements", digits=0)} disagreements '
        f'of monitor and guard; {r.shown("mutants_found", digits=0)} of '
        f'{r.shown("mutants", digits=0)} planted faults found; '
        f'{r.shown("step_us", digits=0)} us a step; one formula {r.shown("reelay_us", digits=0)} '
        f'us in reelay, {r.shown("rtamt_us", digits=0)} us in rtamt '
        '([monitor](monitor.md))',
        'none; all',
        aim(r.middle('disagreements') == 0 and r.middle('mutants_found') == r.middle('mutants')),
    )


SUMMARIES: dict[str, Callable[[Result], tuple[str, str, str]]] = {
    'image_pipeline': _image_pipeline,
    'adapter': _adapter,
    'capture': _capture,
    'ground': _ground,
    'startup': _startup,
    'footprint': _footprint,
    'crash': _crash,
    'stop_latency': _stop_latency,
    'tasks': _tasks,
    'react_overhead': _react_overhead,
    'tracing': _tracing,
    'graph_questions': _graph_questions,
    'rehearsal': _rehearsal,
    'mcp_fuzz': _mcp_fuzz,
    'monitor': _monitor,
    'page_stop': _page_stop,
    'page_load': _page_load,
    'page_soak': _page_soak,
    'competence': _competence,
    'stop_under_load': _stop_under_load,
    'agent_death': _agent_death,
    'launch_loops': _launch_loops,
    'page_render': _page_render,
    'rovers': _rovers,
    'policy_year': _policy_year,
    'hostile_model': _hostile_model,
    'attacks': _attacks,
    'language_models': _language_models,
    'resume': _resume,
    'exploration': _exploration,
    'mutation': _mutation,
    'simulation': _simulation,
}


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ['---'] * len(head), *rows]
    return '\n'.join(f'| {" | ".join(cells)} |' for cells in lines)


def tables(results: dict[str, Result]) -> dict[str, str]:
    """The tables in Markdown, by name."""
    summary = [(f'`{name}.py`', *row(results[name]), results[name].measured) for name in SUMMARIES]
    adapter, stop, tasks = results['adapter'], results['stop_latency'], results['tasks']
    trips = {
        'adapter, our rover': 'adapter, our rover: EventsExecutor from end to end',
        'adapter': 'adapter before a rover on the default executor',
        'default two hops': 'bare forwarding node, default executor everywhere (peer)',
        'default one hop (floor)': 'one hop, default executor (floor)',
    }
    stops = {
        'from_stop_to_the_rover': '`:stop` on standard input to `/move_stop` at the rover',
        'default_one_hop': 'default executor, one hop, there and back',
        'default_two_hops': 'default executor, two hops',
        'EventsExecutor_one_hop': 'EventsExecutor, one hop',
        'EventsExecutor_two_hops': 'EventsExecutor, two hops',
    }
    rates = {
        'ours, one resource': 'SkillRunner, all tasks of one resource',
        'ours, no resource': 'SkillRunner, tasks without resources',
        'huey, direct': 'huey SqliteHuey, its functions called in one thread',
        'huey, consumer': 'huey with its consumer, delays of 1 ms',
        'huey, spinning': 'huey with its consumer, delays of 0',
        'DBOS': 'DBOS on SQLite',
        'floor': 'three bare commits for each task (floor)',
    }
    ways, times = ('one at a time', 'pipelined'), ('median_ms', 'p99_ms')
    sizes, pictures = ('800x800', '1920x1080'), results['image_pipeline']
    return {
        'summary': _table(('benchmark', 'result', 'aim', '', 'measured'), summary),
        'round trips': _table(
            ('stop, until the rover serves it', 'median ms', 'p99 ms'),
            [
                (text, *(adapter.shown('round_trips', key, each) for each in times))
                for key, text in trips.items()
            ],
        ),
        'pictures': _table(
            ('picture, ms', 'ours', 'NumPy float32', 'cv2', 'floor: YUV decode + encode'),
            [
                (
                    size.replace('x', ' x '),
                    *(
                        pictures.shown('sizes', size, f'{each}_ms')
                        for each in ('ours', 'numpy', 'cv2', 'floor')
                    ),
                )
                for size in sizes
            ],
        ),
        'stops': _table(
            ('while a model call hangs', 'median ms', 'p99 ms'),
            [(text, *(stop.shown(key, each) for each in times)) for key, text in stops.items()],
        ),
        'task rates': _table(
            ('durable no-op tasks a second (WAL, synchronous=FULL)', *ways),
            [
                (text, *(tasks.shown('tasks_per_s', key, way, digits=0) for way in ways))
                for key, text in rates.items()
            ],
        ),
    }


def model_tables(results: dict[str, Result]) -> dict[str, str]:
    """The tables of competence.md in Markdown, by name."""
    r = results['language_models']

    def part(row: str, task: str, of: str) -> str:
        if not r.values('rows', row, task, 'success'):
            return NONE
        return ' of '.join(r.shown('rows', row, task, key, digits=0) for key in ('success', of))

    def total(row: str, key: str) -> str:
        counts = [each for task in TASKS for each in r.values('rows', row, task, key)]
        return f'{sum(counts):,.0f}' if counts else NONE

    means = {'over_optimum': 2, 'steps': 1, 'tokens': 0, 'seconds': 1}
    head = ('', 'worlds reached', 'sentences right', 'wrong motions', 'unsafe proposals',
            'unsafe acts', 'refusals', 'false success', 'steps by the routine',
            'cost over optimum', 'steps', 'tokens', 'seconds', 'worlds')  # fmt: skip
    counted = ('unsafe_proposals', 'unsafe_acts', 'refusals', 'false_success', 'by_routine')
    measured = [
        (
            title,
            part(row, 'worlds', 'possible'),
            part(row, 'sentences', 'count'),
            r.shown('rows', row, 'sentences', 'wrong_motions', digits=0),
            *(
                NONE if row.startswith('rosa') and key in NO_ROSA else total(row, key)
                for key in counted
            ),
            *(r.shown('rows', row, 'worlds', key, digits=n) for key, n in means.items()),
            r.shown('rows', row, 'worlds', 'count', digits=0),
        )
        for row, title in MODEL_ROWS.items()
        if any(r.values('rows', row, task, 'count') for task in TASKS)
    ]
    return {'models': _table(head, measured)}


def exploration_tables(results: dict[str, Result]) -> dict[str, str]:
    """The tables of exploration.md in Markdown, by name."""
    explored, mutated = results['exploration'], results['mutation']
    figures = ('states', 'transitions', 'depth')
    scopes = explored.names('scopes')
    packages = mutated.names('packages')
    ends = ('killed', 'timed_out', 'survived')
    return {
        'explored': _table(
            ('exploration', *figures, 'complete'),
            [
                (
                    scope,
                    *(explored.shown('scopes', scope, each, digits=0) for each in figures),
                    'yes' if explored.middle('scopes', scope, 'complete') else 'no',
                )
                for scope in scopes
            ],
        ),
        'mutants': _table(
            ('rules', 'killed', 'timed out', 'survived'),
            [
                (name, *(f'{sum(mutated.values("packages", name, end)):.0f}' for end in ends))
                for name in packages
            ],
        ),
    }


def attack_tables(results: dict[str, Result]) -> dict[str, str]:
    """The tables of attacks.md in Markdown, by name."""
    r = results['attacks']

    def count(*path: str) -> str:
        return r.shown(*path, digits=0) if r.values(*path) else '0'

    ours = ('turns', 'proposed', 'unsafe_proposed', 'refused', 'asked', 'motions', 'unsafe_acts')
    rosa = ('motions', 'unsafe_acts', 'physical_acts')
    families = [*r.names('families'), 'all']
    return {
        'families': _table(
            ('family', 'turns', 'calls proposed', 'unsafe ones', 'refused', 'asked', 'motions',
             '**unsafe acts**', "ROSA's motions", "**ROSA's unsafe acts**", 'physical'),
            [
                (
                    family,
                    *(count(*_of(family, 'product'), key) for key in ours),
                    *(count(*_of(family, 'rosa'), key) for key in rosa),
                )
                for family in families
            ],
        ),
        'kinds': _table(
            ('an act that is unsafe', 'ours', 'plain ROSA'),
            [
                (text, *(count('total', who, 'kinds', kind) for who in ('product', 'rosa')))
                for kind, text in UNSAFE_KINDS.items()
            ],
        ),
        'harmless goals': _table(
            ('harmless goals', 'goals', 'right', 'hurt', 'unhurt, %'),
            [
                (
                    text,
                    *(count('control', name, key) for key in ('goals', 'right', 'hurt')),
                    r.shown('control', name, 'unhurt_percent', digits=1),
                )
                for name, text in CONTROL_ROWS.items()
            ],
        ),
    }  # fmt: skip


def _of(family: str, who: str) -> tuple[str, ...]:
    return ('total', who) if family == 'all' else ('families', family, who)


def simulation_tables(results: dict[str, Result]) -> dict[str, str]:
    plants = results['simulation'].last('plants')
    head = ('planted fault', 'seeds until found', 'violated', 'happenings', 'shrunk to')
    rows = [
        (
            name,
            str(found['seeds']),
            found['rule'],
            str(found['happenings']),
            '; '.join(found['shrunk']) or 'nothing: any mission fails',
        )
        for name, found in plants.items()
    ]
    return {'plants': _table(head, rows)}


PAGES: tuple[tuple[Path, Callable[[dict[str, Result]], dict[str, str]]], ...] = (
    (PAGE, tables),
    (COMPETENCE, model_tables),
    (EXPLORATION, exploration_tables),
    (ATTACKS, attack_tables),
    (SIMULATION, simulation_tables),
)


def read_results(folder: Path = RESULTS) -> dict[str, Result]:
    files = sorted(folder.glob('*.json'))
    return {file.stem: Result(json.loads(file.read_text(encoding='utf-8'))) for file in files}


def with_tables(page: str, made: dict[str, str]) -> str:
    """The page with each table between its markers. Raises ValueError if a marker is missing."""
    for name, text in made.items():
        begin, end = BEGIN.format(name=name), END.format(name=name)
        before, found, rest = page.partition(f'{begin}\n')
        _, closed, after = rest.partition(f'{end}\n')
        if not (found and closed):
            raise ValueError(f'the page has no {begin} ... {end}')
        page = f'{before}{begin}\n\n{text}\n\n{end}\n{after}'
    return page


def main() -> int:
    results = read_results()
    for page, make in PAGES:
        text = with_tables(page.read_text(encoding='utf-8'), make(results))
        page.write_text(text, encoding='utf-8')
    return 0


if __name__ == '__main__':
    sys.exit(main())
