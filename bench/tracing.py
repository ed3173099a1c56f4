# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What tracing costs a tool step of the loop.

A model without latency calls a tool 20 times, then answers; checkpoints are in a file, as in
bench/react_overhead.py. The contenders run alternately, one turn each; their order changes.
- removed: the hooks are replaced by nothing, as before there was tracing
- off: the hooks find no span (tracing.exporter: off)
- file: each step makes six spans (step, model call, guard check, skill, and in the skill another
  guard check and a call of the adapter, as a motion does) and notes three trace events; the file
  exporter writes them in its thread. The turn ends when the file has them.

Ratios are those of the CPU time of the process, all threads included: on a busy machine it is more
reliable than wall time, which is given too. A round's ratio compares two turns that ran within a
second; the figure is the median of the rounds. A busy machine spreads it by several percent, more
than tracing costs. Hence the cost itself too: the CPU time of the spans of a step, made and
written without a loop around them, over that of a step with tracing off.

Aim: the spans at most 0.02 of a step; off: the hooks of a step at most 0.002 of it.
Must never happen: a missing span, a span that off makes.

Run: python bench/tracing.py [rounds, default 60]
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
import sys
import time
from typing import Any
import uuid

from _bench import quantile, report, table
from _peers import disk_folder
from _turns import instant_rosa, InstantModel, InstantWorld, TOOL, turn_of
from curiosity_rosa_demo.agent.llm import call
from curiosity_rosa_demo.agent.react.guardrails.guard_span import traced_check
from curiosity_rosa_demo.agent.react.nodes import guardrails_check, react_decide
from curiosity_rosa_demo.agent.react.turn.step_spans import StepSpans
from curiosity_rosa_demo.agent.runtime.execution.task_spans import TaskSpans
from curiosity_rosa_demo.agent.skills.executor import SkillExecutor
from curiosity_rosa_demo.agent.tasks import LifecycleState, Task
from curiosity_rosa_demo.agent.tasks.events import Event, EventType
from curiosity_rosa_demo.infra.config_loader import load_config
from curiosity_rosa_demo.infra.tracing.exporters import make_exporter
from curiosity_rosa_demo.infra.tracing.span import current_span, span
from curiosity_rosa_demo.infra.tracing.span_queue import SpanQueue
from curiosity_rosa_demo.infra.tracing.span_tree import read_spans
from curiosity_rosa_demo.infra.tracing.tracing import resource_attributes
from curiosity_rosa_demo.trace.bus import EventBus

STEPS = 20
SPANS_A_TURN = 2 + 6 * STEPS + 2  # task, turn; the step of the answer has its model call only
HOOKS_A_STEP = 9  # of these, three note an event
AIM_ON, AIM_OFF = 0.02, 0.002
REMOVED, OFF, FILE = 'removed', 'off', 'file'
LOOKS = 100_000  # of one hook that is off
SPAN_STEPS = 2000  # whose spans are made without a loop


def motion_hooks(name: str) -> None:
    """What a motion's tool does besides, in its skill's thread."""
    traced_check(name, lambda: None)
    attributes = {'rpc.system.name': 'ros2', 'rpc.method': '/adapter/move_forward'}
    with span('call /adapter/move_forward', attributes, is_client=True):
        pass
    for _ in range(3):
        current_span().add_event('RESULT', '0123456789abcdef0123456789abcdef')


@contextmanager
def hooks_removed(world: InstantWorld) -> Iterator[None]:
    hooks: list[tuple[Any, str, Any]] = [
        (react_decide, 'decide', call._decide),
        (guardrails_check, 'traced_check', lambda skill, check: check()),
        (SkillExecutor, 'result_of', SkillExecutor._result_of),
        (StepSpans, 'stage', lambda self, name, number: NOTHING),
        (StepSpans, 'end', lambda self: None),
        (world, 'seen', lambda name: None),
    ]
    before = [(owner, name, getattr(owner, name)) for owner, name, _ in hooks]
    for owner, name, instead in hooks:
        setattr(owner, name, instead)
    try:
        yield
    finally:
        for owner, name, was in before:
            setattr(owner, name, was)


NOTHING = nullcontext()


class TracedTurns:
    """Turns within the span of a task, as the agent makes them."""

    def __init__(self, file: Path, faults: list[str]) -> None:
        tracing = load_config().agent.tracing.model_copy(update={'exporter': 'file'})
        exporter = make_exporter(tracing, file, resource_attributes('agent', '/'), print)
        assert exporter is not None
        self._queue = SpanQueue(exporter, lambda count, error: faults.append(f'lost: {error!r}'))
        self._bus, self._task, self._spans = EventBus(), Task('react'), TaskSpans(self._queue)
        self._spans.follow(self._bus, lambda task_id: self._task)

    def run(self, turn: Callable[[], None]) -> None:
        self._task = task = Task('react')
        self._bus.publish(Event(EventType.TASK_SUBMIT, task.id))
        with self._spans.active(task.id), span('turn'):
            turn()
        task.state = LifecycleState.COMPLETED
        self._bus.publish(Event(EventType.TASK_COMPLETE, task.id))
        self._queue.flush(10.0)

    def close(self) -> None:
        self._queue.close()


def spans_of_a_step() -> None:
    """The same six spans, without the work in them."""
    with span('step 1', {'curiosity.step': 1}):
        with span('chat instant', {'gen_ai.operation.name': 'chat'}, is_client=True) as chat:
            chat.set({'gen_ai.provider.name': 'instant', 'gen_ai.request.model': 'instant'})
        traced_check(TOOL, lambda: None)
        attributes = {'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': TOOL}
        with span(f'execute_tool {TOOL}', attributes) as skill:
            motion_hooks(TOOL)
            skill.set({'curiosity.skill.status': 'SUCCESS'})


def spans_us(traced: TracedTurns) -> float:
    """Microseconds of CPU that the spans of a step take, until they are in the file."""

    def turn() -> None:
        for _ in range(STEPS):
            spans_of_a_step()

    used = time.process_time()
    for _ in range(SPAN_STEPS // STEPS):
        traced.run(turn)
    return 1e6 * (time.process_time() - used) / SPAN_STEPS


def look_ns() -> float:
    """Nanoseconds of CPU of one hook that is off."""
    used = time.process_time_ns()
    for _ in range(LOOKS):
        with span('guard', {'curiosity.skill': 'x'}):
            pass
    return (time.process_time_ns() - used) / LOOKS


def ratio(times: dict[str, list[float]], one: str, other: str) -> tuple[float, list[float]]:
    """The median of the rounds' ratios, and their quartiles."""
    ratios = [mine / theirs for mine, theirs in zip(times[one], times[other], strict=True)]
    quartiles = [round(quantile(ratios, part), 4) for part in (0.25, 0.75)]
    return round(quantile(ratios, 0.5), 4), quartiles


def main() -> int:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    faults: list[str] = []
    config, model = load_config(), InstantModel(steps=STEPS)
    times: dict[str, list[float]] = defaultdict(list)
    cpu: dict[str, list[float]] = defaultdict(list)
    with disk_folder() as folder:
        world = InstantWorld(config)
        rosa, _ = instant_rosa(model, world, folder / 'turns.db')
        traced = TracedTurns(folder / 'spans.jsonl', faults)

        def plain() -> None:
            world.seen = motion_hooks
            turn_of(rosa, uuid.uuid4().hex)

        def removed() -> None:
            with hooks_removed(world):
                turn_of(rosa, uuid.uuid4().hex)

        field = {REMOVED: removed, OFF: plain, FILE: lambda: traced.run(plain)}
        names = list(field)
        for round_ in range(-2, rounds):  # the first two warm up
            for name in names[round_ % 3 :] + names[: round_ % 3]:
                began, used = time.perf_counter(), time.process_time()
                field[name]()
                if round_ >= 0:
                    times[name].append(1e3 * (time.perf_counter() - began) / STEPS)
                    cpu[name].append(1e3 * (time.process_time() - used) / STEPS)
        written_us = spans_us(traced)
        traced.close()
        with (folder / 'spans.jsonl').open(encoding='utf-8') as file:
            made = sum(1 for _ in read_spans(file))
        size = (folder / 'spans.jsonl').stat().st_size
    turns = rounds + 2
    made -= SPAN_STEPS // STEPS * (2 + 6 * STEPS)
    if made != turns * SPANS_A_TURN:
        faults.append(f'{made} spans of {turns} traced turns, not {turns * SPANS_A_TURN}')
    look = look_ns()
    medians = {name: round(quantile(times[name], 0.5), 3) for name in names}
    medians_cpu = {name: round(quantile(cpu[name], 0.5), 3) for name in names}
    table(
        ('ms a tool step', 'median', 'least', 'CPU', 'CPU, least'),
        [(n, medians[n], min(times[n]), medians_cpu[n], min(cpu[n])) for n in names],
    )
    on, on_spread = ratio(cpu, FILE, OFF)
    off, off_spread = ratio(cpu, OFF, REMOVED)
    on_wall, off_wall = ratio(times, FILE, OFF)[0], ratio(times, OFF, REMOVED)[0]
    share = written_us / medians_cpu[OFF] / 1e3
    off_share = HOOKS_A_STEP * look / medians_cpu[OFF] / 1e6
    print(f'six spans to a file: {written_us:.0f} us, {share:.4f} of a step (aim: {AIM_ON})')
    print(f'hooks that are off: {off_share:.5f} of a step (aim: {AIM_OFF}), {look:.0f} ns each')
    print(f'file / off: {on} of CPU, {on_wall} of wall time; quartiles {on_spread}')
    print(f'off / removed: {off} of CPU, {off_wall} of wall time; quartiles {off_spread}')
    return int(
        report(
            'tracing',
            faults,
            ms_per_step=medians,
            cpu_ms_per_step=medians_cpu,
            rounds=rounds,
            spans_us=round(written_us, 1),
            on_share=round(share, 4),
            off_share=round(off_share, 5),
            on_ratio_cpu=on,
            on_quartiles=on_spread,
            on_ratio_wall=on_wall,
            off_ratio_cpu=off,
            off_quartiles=off_spread,
            off_ratio_wall=off_wall,
            off_hook_ns=round(look),
            spans=made,
            bytes_per_span=round(size / (made + SPAN_STEPS * 6)),
            aim_on=AIM_ON,
            aim_off=AIM_OFF,
        )
    )


if __name__ == '__main__':
    sys.exit(main())
