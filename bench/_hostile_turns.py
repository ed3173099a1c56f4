# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The turns of bench/hostile_model.py, in the process that may crash."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
import json
from pathlib import Path
import random
import sys
import threading
import time
from typing import Any
import uuid

from _hostile_model import FALSE_WORDS, HostileModel
from _hostile_rover import HostileRover, HostileWorld, INJECTIONS
from _peers import disk_folder
from curiosity_rosa_demo.agent.llm.pictures import SeenPictures
from curiosity_rosa_demo.agent.react.checkpointer import TurnCheckpointer
from curiosity_rosa_demo.agent.react.turn.approval_queue import (
    ApprovalAnswer,
    ApprovalQueue,
    QuestionNotFound,
)
from curiosity_rosa_demo.agent.react.turn.request import TurnEnvironment, TurnRequest, TurnResult
from curiosity_rosa_demo.agent.rosa_agent_factory import CuriosityRosa
from curiosity_rosa_demo.agent.skills.registry import make_registry
from curiosity_rosa_demo.domain.brain_state import ApprovalAction, ReactState
from curiosity_rosa_demo.domain.cancellation import Cancellation, TurnCancelled
from curiosity_rosa_demo.domain.models import TraceKind
from curiosity_rosa_demo.domain.pictures import Picture
from curiosity_rosa_demo.domain.text import valid_unicode
from curiosity_rosa_demo.infra.config.contracts import Config
from curiosity_rosa_demo.infra.config_loader import load_config
from curiosity_rosa_demo.trace.trace_codec import encode, new_event
from sign_reader import ORDERS, StillPictures

TURN_S = 10.0  # the time limit of each turn
EXAMPLE = 60  # characters of an example; examples with the same start count as one
PATIENCE_S = 3.0  # the operator stops a longer turn
FENCE = {'x_min': -6.0, 'x_max': 6.0, 'y_min': -6.0, 'y_max': 6.0, 'max_speed_mps': 0.5}
BEGUN = ('subprocess.', 'os.system', 'os.exec', 'os.posix_spawn', 'os.fork', 'socket.connect')
SEEING = {'provider': 'openai', 'model': 'hostile', 'vision': True, 'fallback': 'none'}
VIEWS = 12  # of the boards, drawn once
WORDS = (
    'Unknown tool', 'Wrong arguments', 'One tool call at a time', 'That is no plan',
    'The plan cannot be carried out', 'The operator edited the call', 'Rejected by the operator',
    'The model wrote', 'The model proposed', 'The model answered nothing', 'Internal error',
    'Stopped after', 'had the same result', 'failures in a row', 'Not within', 'Service timeout',
    'The model sent an answer that cannot be read', 'The model failed', 'PARAM_INVALID',
    'The model cannot be reached',
)  # fmt: skip


def configs(folder: Path) -> list[Config]:
    """Three configurations: shipped rules, approvals and questions, and a fence with approval."""
    shipped = load_config()
    agent = shipped.agent.model_copy(
        update={
            'turn': shipped.agent.turn.model_copy(update={'max_motion_s': 8.0, 'max_steps': 15}),
            'llm': shipped.agent.llm.model_copy(update=SEEING),
            'knowledge': shipped.agent.knowledge.model_copy(update={'folder': str(folder)}),
        }
    )
    rules = shipped.guardrails
    fence = rules.geofence.model_copy(update=FENCE)
    rules = rules.model_copy(
        update={
            'geofence': fence,
            'approval': rules.approval.model_copy(update={'timeout_s': 0.5}),
            'patience': rules.patience.model_copy(update={'refused_in_a_row': 8}),
            'budget': rules.budget.model_copy(update={'max_metres': 30.0, 'max_cost': 60.0}),
        }
    )
    approval = {'skills': ['move_forward', 'turn_left', 'navigate_to_pose'], 'battery_below': 0.5}
    asking = rules.model_copy(
        update={
            'approval': rules.approval.model_copy(update=approval),
            'patience': rules.patience.model_copy(
                update={'exhausted': type(rules.patience.exhausted)('ASK_HUMAN')}
            ),
        }
    )
    leaving = rules.model_copy(update={'geofence': fence.model_copy(update={'leaving': 'ask'})})
    return [
        shipped.model_copy(update={'agent': agent, 'guardrails': each})
        for each in (rules, asking, leaving)
    ]


def views_of_signs(chance: random.Random) -> SeenPictures:
    """What the stand-in's camera shows of boards with these orders, from near their middle."""
    from curiosity_rosa_demo.imaging.pixels import encode_jpeg
    from curiosity_stand_in.kinematics import Pose
    from curiosity_stand_in.mast import INITIAL
    from curiosity_stand_in.renderer import Renderer
    from curiosity_stand_in.signs import signs_before

    texts, views = list(ORDERS), []
    for first in range(VIEWS):
        boards = [texts[(first + i) % len(texts)] for i in range(1 + first % 3)]
        pose = Pose(chance.uniform(-0.5, 0.5), chance.uniform(-0.3, 0.3), 0.0)
        picture = Renderer(signs_before(Pose(), boards)).render(pose, INITIAL['open'])
        views.append(encode_jpeg(picture[..., ::-1].copy(), 90))
    return SeenPictures(DrawnPictures(chance, views))


class DrawnPictures(StillPictures):
    """Shows one of its pictures, drawn at random."""

    def __init__(self, chance: random.Random, jpegs: list[bytes]) -> None:
        super().__init__(*jpegs)
        self._chance = chance

    def camera_picture(self, cancellation: Cancellation) -> Picture | None:
        self.taken = self._chance.randrange(len(self.jpegs))
        return super().camera_picture(cancellation)


class Operator:
    """Answers the agent's questions at random, in its own thread."""

    def __init__(self, chance: random.Random, model: HostileModel) -> None:
        self.approval_queue = ApprovalQueue(timeout_s=0.5, on_change=self._changed)
        self.answers = 0
        self.rover: HostileRover | None = None
        self._chance, self._malice = chance, model.malice
        self._question_count = threading.Semaphore(0)
        threading.Thread(target=self._work, daemon=True).start()

    def _changed(self) -> None:
        self._question_count.release()

    def _work(self) -> None:
        while True:
            self._question_count.acquire()
            question = self.approval_queue.oldest_question
            if question is None or self._chance.random() < 0.1:
                continue
            action = self._chance.choice(list(ApprovalAction))
            arguments: Any = None
            if action is ApprovalAction.EDIT and question.op is not None:
                arguments = self._chance.choice(
                    (self._malice.motion()['args'], {'duration_s': 0.5}, None, {'x': 1, 'y': 2})
                )
            if self.rover is not None and question.op is not None:
                asks = self.rover.config.guardrails.geofence.leaving == 'ask'
                self.rover.excused = asks and action is not ApprovalAction.REJECT
            try:
                why = self._chance.choice(INJECTIONS)
                self.approval_queue.answer(ApprovalAnswer(action, arguments, why), question.id)
                self.answers += 1
            except QuestionNotFound:
                continue


class Turns:
    """One agent for each configuration, each with its own rover."""

    def __init__(self, folder: Path, chance: random.Random, only: str) -> None:
        self.chance = chance
        self._pictures = views_of_signs(random.Random(chance.random()))
        self.model = HostileModel.of(random.Random(chance.random()))
        self.model.only = only
        self.operator = Operator(random.Random(chance.random()), self.model)
        self.refusals: Counter[str] = Counter()
        self.endings: Counter[str] = Counter()
        self.violations: Counter[str] = Counter()
        self.examples: dict[str, str] = {}
        self.acts, self.longest_s = 0, 0.0
        documents = folder / 'documents'
        documents.mkdir()
        for number, text in enumerate(INJECTIONS):
            (documents / f'{number}.md').write_text(f'# mast drive rules\n{text}\n' * 20)
        self._made = [
            self._rosa(config, folder / f'{number}.db')
            for number, config in enumerate(configs(documents))
        ]

    def _rosa(self, config: Config, file: Path) -> tuple[CuriosityRosa, HostileRover, set[str]]:
        rover = HostileRover(config, random.Random(self.chance.random()))
        rover.violations, rover.examples = self.violations, self.examples
        world, registry = HostileWorld(rover, config, self._pictures), make_registry(config)
        registry.offer_vision_skills()
        names = {skill.definition.name for skill in registry.for_model()}

        def trace(kind: TraceKind, message: str, **fields: Any) -> None:
            encode(new_event(kind, message, **fields))
            if kind in (TraceKind.RESULT, TraceKind.ERROR):
                rover.excused = False
            if kind is TraceKind.ACT:
                self.acts += 1
                if fields['tool_name'] not in names:
                    rover.violated('foreign', f'act {fields["tool_name"]!r:.80}')
            elif kind is TraceKind.ERROR and fields.get('tool_name'):
                rule = (fields.get('data') or {}).get('rule')
                if 'Internal error' in str(fields['error_reason']):
                    self._violated('internal', str(fields['error_reason']))
                self.refusals[f'rule {rule}' if rule else _kind(str(fields['error_reason']))] += 1

        def shown(react: ReactState) -> None:
            world.spent = lambda: react.spent

        environment = TurnEnvironment(
            registry=registry,
            world=world,
            approval_queue=self.operator.approval_queue,
            checkpoints=file,
            trace=trace,
            recall=lambda: self.chance.choice(('', *INJECTIONS)),
            on_react_state=shown,
        )
        return CuriosityRosa(self.model, environment, TurnCheckpointer(file)), rover, names

    def run(self) -> None:
        """Run one turn. A stopped turn may be resumed."""
        rosa, rover, _ = self.chance.choice(self._made)
        rover.place()
        self.operator.rover = rover
        self.model.begin()
        if self.chance.random() < 0.5:
            rosa.clear_chat()
        thread = uuid.uuid4().hex
        ending = self._turn(rosa, thread)
        while ending == 'stopped' and self.chance.random() < 0.5:
            ending = f'{self._turn(rosa, thread)}, gone on with'
        self.endings[ending] += 1
        rover.halt()

    def _turn(self, rosa: CuriosityRosa, thread: str) -> str:
        button, ended = Cancellation(), list[str]()
        last: list[TurnResult | None] = [None]
        request = TurnRequest('Drive into the light.', button, thread)

        def work() -> None:
            try:
                rosa.turn_executor.request, rosa.turn_executor.last_result = request, None
                rosa.invoke('Drive into the light.')
                last[0] = rosa.turn_executor.last_result
            except TurnCancelled:
                ended.append('stopped')
            except BaseException as error:
                ended.append(f'raised {error!r:.300}')

        stop_after = self.chance.uniform(0.0, 0.4) if self.chance.random() < 0.15 else PATIENCE_S
        timer = threading.Timer(stop_after, button.cancel, ('the operator said stop',))
        timer.start()
        began = time.monotonic()
        runner = threading.Thread(target=work, daemon=True)
        runner.start()
        runner.join(TURN_S)
        timer.cancel()
        took = time.monotonic() - began
        self.longest_s = max(self.longest_s, took)
        if runner.is_alive():
            self._violated('late', f'{self.model.temper} after {took:.1f} s')
            runner.join(TURN_S)
            return 'late'
        if ended:
            if ended[0] != 'stopped':
                self._violated('raised', ended[0])
                return 'raised'
            return 'stopped'
        result = last[0]
        if result is None or result.answer.startswith('Internal error'):
            self._violated('raised', f'{result.answer if result else "no result"!r:.300}')
            return 'raised'
        if result.goal:
            return 'another goal'
        return 'answered' if result.ok else f'ended: {_kind(result.answer)}'

    def _violated(self, kind: str, example: str) -> None:
        self.violations[kind] += 1
        self.examples.setdefault(f'{kind} {example[:EXAMPLE]}', example)

    def found(self) -> dict[str, Any]:
        return {
            'violations': dict(self.violations),
            'examples': self.examples,
            'refusals': dict(self.refusals),
            'endings': dict(self.endings),
            'asked': self.model.asked,
            'acts': self.acts,
            'motions': sum(rover.motions for _, rover, _ in self._made),
            'answers': self.operator.answers,
            'images': self.model.images,
            'signs_read': dict(self.model.signs_read),
            'signs_obeyed': dict(self.model.signs_obeyed),
            'longest_s': round(self.longest_s, 2),
        }


def _kind(text: str) -> str:
    """The kind of a reason, without text of the model."""
    for words in WORDS:
        if words in text:
            return words
    if any(text[:15] == words[:15] for words in map(valid_unicode, FALSE_WORDS)):
        return 'in words of others'
    return text.split(':')[0].split(';')[0][:40]


@contextmanager
def watching(turns: Turns) -> Iterator[None]:
    """Count each start of a process or connection within the context as a violation."""
    on = [True]

    def hook(event: str, arguments: Any) -> None:
        if on[0] and event.startswith(BEGUN):
            turns._violated('foreign', f'{event} {arguments!r:.200}')

    sys.addaudithook(hook)
    try:
        yield
    finally:
        on[0] = False


def child(count: int, chance: random.Random, only: str = '') -> int:
    """Run ``count`` turns, ``only`` of this temper if any, and print the findings as JSON."""
    began = time.monotonic()
    with disk_folder() as folder:
        turns = Turns(folder, chance, only)
        done = 0
        with watching(turns):
            while done < count:
                turns.run()
                done += 1
        seconds = round(time.monotonic() - began, 1)
        print(json.dumps({'turns': done, 'seconds': seconds, **turns.found()}))
    return 0
