# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The policy alive: a thread that decides when it is time to, and has the mission do it.

Off until somebody says ``on``. A stop, whoever asks for it, switches it off; a pause holds it
until somebody says resume. What it decides is kept before it is done.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
import logging
from pathlib import Path

from curiosity_rosa_demo.agent.kernel.event_arbitrate import SAID
from curiosity_rosa_demo.agent.policy.autonomy.persistent_policy import KeptPolicy
from curiosity_rosa_demo.agent.policy.autonomy.ros_clock import SharedClock
from curiosity_rosa_demo.agent.policy.autonomy.runtime_port import ids_of, KernelLink
from curiosity_rosa_demo.agent.policy.autonomy.suggestion_model import MakeProvider, no_model_note
from curiosity_rosa_demo.agent.policy.autonomy.wake_reasons import News
from curiosity_rosa_demo.agent.policy.decision_record import diary
from curiosity_rosa_demo.agent.policy.events import ActionStarted
from curiosity_rosa_demo.agent.policy.policy import Tick
from curiosity_rosa_demo.agent.policy.policy_store import PolicyStoreError
from curiosity_rosa_demo.agent.policy.state_text import state_text
from curiosity_rosa_demo.agent.policy.tick_scheduler import TickScheduler
from curiosity_rosa_demo.agent.policy.world_view import World
from curiosity_rosa_demo.agent.runtime.runtime import Mission
from curiosity_rosa_demo.agent.runtime.threads.event_loop_thread import CALL_WAIT_S
from curiosity_rosa_demo.agent.runtime.threads.periodic_worker import Worker
from curiosity_rosa_demo.agent.tasks.errors import TaskError
from curiosity_rosa_demo.domain.brain_state import BrainState, UserInterruptType
from curiosity_rosa_demo.domain.models import TraceKind
from curiosity_rosa_demo.domain.outcome import Outcome
from curiosity_rosa_demo.infra.config.contracts import Config
from curiosity_rosa_demo.infra.config.time_zone import time_zone
from curiosity_rosa_demo.trace.reporter import Trace

LOOK_S = 0.1  # of the wall's time; the policy's may pass faster, or be set
DEPTH = 5000  # decisions that are read for a diary: a night is hundreds of quiet ones
HOW_ON = ':auto on switches it on'
OFF = f'auto is off; {HOW_ON}'

_log = logging.getLogger('curiosity_rosa.autonomy')


class Autonomy:
    """``file``: where the policy's state is kept. ``provider`` makes who asks the model. ``speak``
    says a text to the people around; in the policy's thread.
    """

    def __init__(
        self,
        mission: Mission,
        config: Config,
        *,
        trace: Trace,
        file: Path,
        clock: SharedClock,
        provider: MakeProvider,
        speak: Callable[[str], None],
    ) -> None:
        self._speak = speak
        self._mission, self._config, self._trace, self._clock = mission, config, trace, clock
        self._settings = config.agent.policy
        self._zone = time_zone(self._settings.timezone)
        self._world = World(config.world, self._zone)
        self._link = KernelLink(mission, self._world)
        self._news = News(lambda: self._worker.wake())
        model = provider(partial(self._news.tell, 'the model answered'))
        self._decider = 'the rules' if model is None else 'the model, within the rules'
        self._on = self._wanted = self._begun = False
        # From here on: of the thread.
        self._kept = KeptPolicy(config, self._world, file, model)
        self._known = False  # the tasks of an earlier run
        self._devices: dict[str, bool] = {}  # that a person has switched since the start
        self._scheduler = TickScheduler(self._settings.tick_s, self._zone)
        self._ours: set[str] = set()  # tasks that may be under way
        self._live = False  # from on to off
        self._stops = mission.stops  # when it was switched on: a later stop drops all it wants
        self._holding = self._words = ''
        self._worker = Worker(
            'autonomy',
            look=self._look,
            every_s=lambda: LOOK_S if self._on else None,
            on_error=self._broke,
        )
        mission.watch, mission.stopped = self._watch, self._stopped

    # --- from any thread --------------------------------------------------------------------

    def begin(self, *, go_on: bool) -> None:
        """Once tasks may run. With ``go_on``, after a crash, it is on again if it was."""
        self._worker.post(partial(self._begin, go_on))

    def on(self) -> Outcome:
        stops = self._mission.stops
        return self._ask(lambda: self._switch_on(stops))

    def off(self, why: str) -> Outcome:
        """What it had begun is cancelled when this returns."""
        self._on = self._wanted = False
        return self._ask(lambda: self._switch_off(why))

    def message(self, text: str) -> Outcome:
        """For the policy to react to; never an order."""
        problem = self._news.message(text) if self._on else f'auto is off; {HOW_ON}'
        if problem:
            _log.info('event=message_ignored why=%r', problem)
            return Outcome(False, f'The message was ignored: {problem}')
        return Outcome(True, 'The message was handed on.')

    def set_device(self, name: str, usable: bool) -> Outcome:
        """From the next tick on, which is now, the device can be used or not."""
        devices = self._world.view.devices
        if name not in devices:
            known = ', '.join(devices) or 'none'
            return Outcome(False, f'The world view has no device {name!r}; it has {known}')
        if usable and not devices[name].available:
            file = f'{self._settings.world_view}.yaml'
            return Outcome(False, f'{file} says that {name} is not available; change it there')

        def switch() -> Outcome:
            self._devices = {**self._devices, name: usable}
            self._news.tell('a device')
            return Outcome(True, f'{name} is {"usable" if usable else "not usable"}')

        return self._ask(switch)

    def why(self, count: int) -> Outcome:
        """The last ``count`` entries of its diary."""

        def read() -> Outcome:
            decisions = self._kept.last(max(DEPTH, count))
            told = diary(decisions, self._world, count)
            return Outcome(True, told or 'it has decided nothing yet')

        return self._ask(read)

    def text(self) -> Outcome:
        return self._ask(lambda: Outcome(True, self._tell() if self._on else OFF))

    def glance(self) -> str:
        """As ``text``, of the last tick; waits for nothing."""
        return self._words or 'auto is on' if self._on else OFF

    def tree(self) -> Outcome:
        """As the last tick left it."""
        return self._ask(lambda: Outcome(True, self._kept.policy.ascii()))

    def dot(self) -> Outcome:
        """The same in graphviz's language."""
        return self._ask(lambda: Outcome(True, self._kept.policy.dot()))

    def close(self) -> None:
        """What goes on is kept for another run."""
        self._on = self._wanted = False
        self._worker.close()
        self._kept.close()

    def _ask(self, work: Callable[[], Outcome]) -> Outcome:
        try:
            return self._worker.ask(work, CALL_WAIT_S)
        except (TaskError, PolicyStoreError, TimeoutError) as error:
            return Outcome(False, str(error))
        except Exception as error:  # it was told, and is in the log
            return Outcome(False, f'an internal error: {error!r}')

    def _watch(self, state: BrainState) -> None:
        """In the mission's loop, after each tick of the kernel."""
        if not self._on:
            return
        if state.hci.user_interrupt is UserInterruptType.STOP:
            self._stopped('the user')
        before = self._news.paused
        self._news.look_at(state, self._ours)
        if self._news.paused is not before:
            told = 'goes on' if before else 'is held until you say resume'
            self._worker.post(lambda: self._say(f'auto {told}'))

    def _stopped(self, by: str) -> None:
        """From any thread: at once."""
        if self._on or self._wanted:
            self._on = self._wanted = False
            self._worker.post(lambda: self._switch_off(f'stopped by {by}'))

    # --- in its thread: on and off ----------------------------------------------------------

    def _begin(self, go_on: bool) -> None:
        self._begun = True
        try:
            self._load()
            auto = self._kept.auto
        except PolicyStoreError as error:
            self._complain(f'auto cannot be switched on: {error}')
            return
        if auto and not (go_on or self._wanted):
            self._kept.save_auto(False)
            left = self._kept.policy.state.activity
            what = f' during {left.activity}' if left else ''
            self._say(f'auto was on when the agent ended{what}; :auto on resumes it')
        elif auto or self._wanted:
            self._say(self._switch_on(self._stops, slept=True).answer)

    def _switch_on(self, stops: int, *, slept: bool = False) -> Outcome:
        """``stops``: of the mission, when it was asked for. ``slept``: the ticks since the last
        one count as missed.
        """
        if self._mission.lost:
            return Outcome(False, f'auto stays off: {self._mission.lost}')
        if self._on:
            return Outcome(True, 'auto is on already')
        if not self._begun:
            self._wanted, self._stops = True, stops
            return Outcome(True, 'auto goes on as soon as the other nodes are up')
        self._load()
        self._kept.anew()
        self._scheduler = TickScheduler(self._settings.tick_s, self._zone)
        if slept and self._kept.at:
            self._scheduler.resume(self._kept.at)
        self._news.forget()
        self._wanted = False
        self._stops = stops
        self._words = ''
        self._on = self._live = True
        if stops != self._mission.stops:  # before it was on nobody was told of that
            self._on = self._live = False
            self._kept.save_auto(False)
            return Outcome(False, 'auto stays off: a stop was asked for')
        self._news.tell('it was switched on')
        words = f'auto is on: {self._decider} of {self._settings.world_view}.yaml decide'
        return Outcome(True, ' '.join(filter(None, (words, no_model_note(self._config)))))

    def _switch_off(self, why: str) -> Outcome:
        policy = self._kept.policy
        if self._live or ids_of(policy.state):
            self._ours.update(ids_of(policy.state))
            tick = policy.off(why, self._now())
            self._keep(tick, auto=False)
            self._link.carry_out(tick.commands, self._stops)
            self._live = False
            self._say(f'auto is off: {why}; {HOW_ON}')
        return Outcome(True, 'auto is off')

    def _broke(self, error: Exception) -> None:
        """It goes no further, and nothing that it had begun does."""
        was_on, self._live = self._live, False
        self._on = self._wanted = False
        known = isinstance(error, (TaskError, PolicyStoreError))
        why = str(error) if known else f'an internal error: {error!r}'
        try:
            self._link.cancel(sorted(self._ours), f'auto: {why}')
        except Exception:
            self._mission.stop(f'auto, which has lost its tasks: {why}')
        self._kept.forget()
        self._known = False
        if was_on:
            self._complain(f'auto is off: {why}; {HOW_ON}')

    # --- in its thread: ticks ---------------------------------------------------------------

    def _look(self) -> None:
        """Decide, when the time has come or something has happened."""
        if not self._on:
            return
        due = self._scheduler.due(self._clock.now())
        paused = self._news.paused
        cause, messages = self._news.take()
        if due is None and not cause:
            return
        policy = self._kept.policy
        self._ours = set(ids_of(policy.state))
        held = SAID[UserInterruptType.PAUSE] if paused else ''
        look = self._link.look(self._ours, held, self._devices)
        self._holding = look.senses.holding
        tick = policy.tick(
            self._now() if due is None else max(self._kept.at, due.at),
            cause or 'the clock',
            look.senses,
            messages,
            0 if due is None else due.missed,
        )
        self._keep(tick, auto=not paused)  # after a crash it goes on; what a person held does not
        if self._on:
            self._link.carry_out(tick.commands, self._stops)
            self._link.go_on(tick.state, look, self._stops)
            for text in tick.said:
                self._speak(text)
        self._words = self._tell()

    def _keep(self, tick: Tick, *, auto: bool) -> None:
        ids = ids_of(tick.state)
        self._ours.update(ids)
        events = self._kept.keep(tick, auto=auto)
        self._mission.set_aside(ids)
        for event in events:
            kind = TraceKind.DECIDE if isinstance(event, ActionStarted) else TraceKind.OBSERVE
            self._trace(kind, f'{event.name}: {event}')

    def _load(self) -> None:
        """Take over what an earlier run has left. Raises PolicyStoreError."""
        if self._known:
            return
        ids = ids_of(self._kept.policy.state)
        self._known = True
        self._ours.update(ids)
        self._mission.set_aside(ids)
        self._clock.resume(self._kept.at)
        for note in self._kept.notes:
            self._complain(note)
        self._kept.notes.clear()

    def _tell(self) -> str:
        state = self._kept.policy.state
        words = state_text(state, self._world, self._clock.now(), self._holding)
        return f'auto is on; {words}'

    def _now(self) -> float:
        return max(self._kept.at, self._clock.now())

    def _say(self, text: str) -> None:
        self._trace(TraceKind.OBSERVE, text)

    def _complain(self, text: str) -> None:
        self._trace(TraceKind.ERROR, text, ok=False, error_reason=text)
