# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Runs the policy in a thread of its own and executes its decisions through the runtime.

Off until an operator switches it on. Every stop switches it off; a pause holds it until a resume.
Each decision is saved before it is executed.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
import logging
from pathlib import Path

from curiosity_rosa_demo.agent.kernel.decide import INTERRUPT_REASONS
from curiosity_rosa_demo.agent.policy.clock import PolicyClock, TickScheduler, WakeReasons
from curiosity_rosa_demo.agent.policy.policy import Policy, PolicyTick
from curiosity_rosa_demo.agent.policy.port import RuntimePort
from curiosity_rosa_demo.agent.policy.store import (
    decision_log,
    PolicyStore,
    PolicyStoreError,
    state_text,
)
from curiosity_rosa_demo.agent.policy.suggestion_provider import (
    LLMPolicyProvider,
    missing_model_note,
)
from curiosity_rosa_demo.agent.policy.world import EventName, WorldModel, WorldState
from curiosity_rosa_demo.agent.runtime.runtime import Runtime
from curiosity_rosa_demo.agent.runtime.threads import CALL_TIMEOUT_S, PeriodicWorker
from curiosity_rosa_demo.agent.tasks.task import TaskError
from curiosity_rosa_demo.domain.brain_state import BrainState, UserInterruptType
from curiosity_rosa_demo.domain.models import TraceKind
from curiosity_rosa_demo.domain.skills import Outcome
from curiosity_rosa_demo.infra.config.base import time_zone
from curiosity_rosa_demo.infra.config.topics import Config
from curiosity_rosa_demo.trace.reporter import TraceFunction

POLL_PERIOD_S = 0.1  # wall time; the policy's clock may run faster
SAVE_PERIOD_S = 1.0  # between two attempts to save that it is off
MAX_DECISIONS_READ = 5000  # decisions read for the log: a night has hundreds of uneventful ones
HOW_TO_SWITCH_ON = ':auto on switches it on'
OFF_TEXT = f'auto is off; {HOW_TO_SWITCH_ON}'

_log = logging.getLogger('curiosity_rosa.autonomy')


class Autonomy:
    """``file``: the policy's state. ``provider`` makes the LLMPolicyProvider, or None, of a
    function to call after each answer. ``speak`` says a text aloud, in the worker's thread.
    """

    def __init__(
        self,
        runtime: Runtime,
        config: Config,
        *,
        trace: TraceFunction,
        file: Path,
        clock: PolicyClock,
        provider: Callable[[Callable[[], None]], LLMPolicyProvider | None],
        speak: Callable[[str], None],
    ) -> None:
        self._runtime, self._config, self._trace, self._clock = runtime, config, trace, clock
        self._file, self._speak = file, speak
        self._settings = config.agent.policy
        self._world = WorldModel(config.world, time_zone(self._settings.timezone))
        self._runtime_port = RuntimePort(runtime, self._world)
        self._wake_reasons = WakeReasons(lambda: self._worker.wake())
        self._provider = provider(partial(self._wake_reasons.add, 'the model answered'))
        self._on = self._on_requested = self._tasks_may_run = False
        # Below: written by the worker's thread only.
        self._store: PolicyStore | None = None
        self._policy: Policy | None = None
        self._decided_at = 0.0  # time of the last decision
        self._devices: dict[str, bool] = {}  # switched by an operator since the start
        self._scheduler = TickScheduler(self._settings.tick_s)
        self._own_task_ids: set[str] = set()  # tasks that may be active
        self._is_live = False  # switched on, and not yet off in the worker's thread
        self._off_unsaved = False  # it is off, and on in the file: a crash would switch it on
        # At switch-on: after a later stop the runtime takes none of the policy's tasks.
        self._stop_count = runtime.halt.stops
        self._hold_reason = self._last_text = ''
        self._worker = PeriodicWorker(
            'autonomy',
            poll=self._poll,
            every_s=self._poll_period_s,
            on_error=self._on_worker_error,
        )
        runtime.subscribe_to_ticks(self._on_kernel_tick)
        runtime.subscribe_to_stops(self._on_stop)

    # --- from any thread --------------------------------------------------------------------

    def start(self, *, go_on: bool) -> None:
        """Call first. With ``go_on``, after a crash, a policy that was on resumes; otherwise it is
        off, though this run may crash before tasks may run.
        """
        self._worker.post(partial(self._start, go_on))

    def enable(self) -> None:
        """Call once tasks may run."""
        self._worker.post(self._enable)

    def switch_on(self) -> Outcome:
        stops = self._runtime.halt.stops
        return self._call_worker(lambda: self._switch_on(stops))

    def switch_off(self, why: str) -> Outcome:
        """The policy's tasks are cancelled when this returns."""
        self._on = self._on_requested = False
        return self._call_worker(lambda: self._switch_off(why))

    def post_message(self, text: str, *, interrupts: bool = True) -> Outcome:
        """Queue a message that the policy may react to. A message is never a command.
        ``interrupts`` false: it is said aloud and starts no activity.
        """
        problem = OFF_TEXT
        if self._on:
            problem = self._wake_reasons.add_message(text, interrupts=interrupts)
        if problem:
            _log.info('event=message_ignored why=%r', problem)
            return Outcome(False, f'The message was ignored: {problem}')
        return Outcome(True, 'The message was handed on.')

    def set_device(self, name: str, usable: bool) -> Outcome:
        """Mark a device as usable or not, and trigger a tick."""
        devices = self._world.view.devices
        if name not in devices:
            known = ', '.join(devices) or 'none'
            return Outcome(False, f'The world view has no device {name!r}; it has {known}')
        if usable and not devices[name].available:
            file = f'{self._settings.world_view}.yaml'
            return Outcome(False, f'{file} says that {name} is not available; change it there')

        def switch() -> Outcome:
            self._devices[name] = usable
            self._wake_reasons.add('a device')
            return Outcome(True, f'{name} is {"usable" if usable else "not usable"}')

        return self._call_worker(switch)

    def decision_log(self, count: int) -> Outcome:
        """The last ``count`` entries of the decision log."""

        def read() -> Outcome:
            decisions = self.store.recent_decisions(max(MAX_DECISIONS_READ, count))
            text = decision_log(decisions, self._world, count)
            return Outcome(True, text or 'it has decided nothing yet')

        return self._call_worker(read)

    def status(self) -> Outcome:
        return self._call_worker(
            lambda: Outcome(True, self._describe_state() if self._on else OFF_TEXT)
        )

    @property
    def is_on(self) -> bool:
        return self._on

    def status_text(self) -> str:
        """As ``status``, but of the last tick and without waiting for the worker."""
        return self._last_text or 'auto is on' if self._on else OFF_TEXT

    def tree_text(self) -> Outcome:
        """The tree with the outcomes of the last tick."""
        return self._call_worker(lambda: Outcome(True, self.policy.tree.text()))

    def write_tree(self, name: str) -> Outcome:
        """Draw the same in the SVG file ``name``."""
        if not name.lower().endswith('.svg'):
            return Outcome(False, f'{name}: must end in .svg')
        drawn = self._call_worker(lambda: Outcome(True, self.policy.tree.svg()))
        if not drawn.ok:
            return drawn
        try:
            Path(name).expanduser().write_text(drawn.answer, encoding='utf-8')
        except (OSError, RuntimeError, ValueError) as error:  # RuntimeError: no such home
            why = getattr(error, 'strerror', None) or error
            return Outcome(False, f'{name}: cannot be written: {why}; name another file')
        return Outcome(True, f'wrote {name}')

    def close(self) -> None:
        """Stop the worker. The ongoing activity stays in the file for the next run."""
        self._on = self._on_requested = False
        self._worker.close()
        if self._store is not None:
            self._store.close()

    def _call_worker(self, work: Callable[[], Outcome]) -> Outcome:
        try:
            return self._worker.call(work, CALL_TIMEOUT_S)
        except (TaskError, PolicyStoreError, TimeoutError) as error:
            return Outcome(False, str(error))
        except Exception as error:  # the worker has reported and logged it
            return Outcome(False, f'an internal error: {error!r}')

    def _on_kernel_tick(self, state: BrainState) -> None:
        """In the runtime's loop, after each tick of the kernel."""
        if not self._on:
            return
        if state.hci.user_interrupt is UserInterruptType.STOP:
            self._on_stop('the user')
        before = self._wake_reasons.paused
        self._wake_reasons.update_from_kernel(state, self._own_task_ids)
        if self._wake_reasons.paused is not before:
            effect = 'goes on' if before else 'is held until you say resume'
            self._worker.post(lambda: self._trace_notice(f'auto {effect}'))

    def _on_stop(self, by: str) -> None:
        """From any thread. Autonomy is off at once; the worker then cancels its tasks."""
        if self._on or self._on_requested:
            self._on = self._on_requested = False
            self._worker.post(lambda: self._switch_off(f'stopped by {by}'))

    # --- in the worker's thread: the file and its policy ------------------------------------

    @property
    def store(self) -> PolicyStore:
        """Opened at the first use. Raises PolicyStoreError."""
        return self._store or self._load()[0]

    @property
    def policy(self) -> Policy:
        """Of the state in the file. Raises PolicyStoreError."""
        return self._policy or self._load()[1]

    def _load(self) -> tuple[PolicyStore, Policy]:
        """Take over the state of an earlier run."""
        store = PolicyStore(self._file, self._settings.decisions_kept, self._config.world)
        state = store.state or WorldState.first(self._config.world)
        number = max((each.number for each in store.recent_decisions(1)), default=0)
        policy = self._new_policy(state, number)
        self._store, self._policy, self._decided_at = store, policy, state.ticked_at
        self._own_task_ids.update(state.task_ids)
        self._runtime.dispatcher.resumed_by_name_only = frozenset(state.task_ids)
        self._clock.resume(state.ticked_at)
        for note in store.notes:
            self._trace_error(note)
        return store, policy

    def _new_policy(self, state: WorldState, number: int) -> Policy:
        return Policy(
            self._world, self._settings, state=state, provider=self._provider, number=number
        )

    def _save(self, tick: PolicyTick, *, auto: bool) -> None:
        ids = tick.state.task_ids
        self._own_task_ids.update(ids)
        self.store.save(tick.state, tick.decision, auto)
        self._decided_at = tick.decision.at
        self._runtime.dispatcher.resumed_by_name_only = frozenset(ids)
        for event in tick.events:
            begins = event.name is EventName.ACTION_STARTED
            kind = TraceKind.DECIDE if begins else TraceKind.OBSERVE
            self._trace(kind, f'{event.name.value}: {event.text}')

    # --- in the worker's thread: on and off -------------------------------------------------

    def _start(self, go_on: bool) -> None:
        try:
            was_on = self.store.was_on
        except PolicyStoreError as error:
            self._trace_error(f'auto cannot be switched on: {error}')
            self._off_unsaved = not go_on  # it may be on in the file
            return
        if was_on and go_on:
            self._on_requested = True
        elif was_on:
            self.store.save_was_on(False)
            last = self.policy.state.activity
            during = f' during {last.activity}' if last else ''
            self._trace_notice(f'auto was on when the agent ended{during}; :auto on resumes it')

    def _enable(self) -> None:
        self._tasks_may_run = True
        if self._on_requested:
            self._trace_notice(self._switch_on(self._stop_count, slept=True).answer)

    def _switch_on(self, stops: int, *, slept: bool = False) -> Outcome:
        """``stops``: the runtime's stop count at the request. ``slept``: the ticks since the last
        decision count as missed.
        """
        if self._runtime.failure:
            return Outcome(False, f'auto stays off: {self._runtime.failure}')
        if self._on:
            return Outcome(True, 'auto is on already')
        if not self._tasks_may_run:
            self._on_requested, self._stop_count = True, stops
            return Outcome(True, 'auto goes on as soon as the other nodes are up')
        self._policy = self._new_policy(self.policy.state, self.policy.number)
        self._scheduler = TickScheduler(self._settings.tick_s)
        if slept and self._decided_at:
            self._scheduler.resume(self._decided_at)
        self._wake_reasons.take_all()
        self._wake_reasons.paused = self._on_requested = False
        self._stop_count = stops
        self._last_text = ''
        self._on = self._is_live = True
        if stops != self._runtime.halt.stops:  # _on_stop ignores a stop while off
            self._on = self._is_live = False
            self.store.save_was_on(False)
            return Outcome(False, 'auto stays off: a stop was asked for')
        self._wake_reasons.add('it was switched on')
        decider = 'the model, within the rules' if self._provider else 'the rules'
        text = f'auto is on: {decider} of {self._settings.world_view}.yaml decide'
        return Outcome(True, ' '.join(filter(None, (text, missing_model_note(self._config)))))

    def _switch_off(self, why: str) -> Outcome:
        self._on = self._on_requested = False  # again: it may have been switched on meanwhile
        ids = self.policy.state.task_ids
        if self._is_live or ids or self.store.was_on:
            self._own_task_ids.update(ids)
            tick = self.policy.switch_off(why, self._clock.now())
            self._save(tick, auto=False)
            self._runtime_port.execute(tick.commands, self._stop_count)
            self._is_live = False
            self._trace_notice(f'auto is off: {why}; {HOW_TO_SWITCH_ON}')
        return Outcome(True, 'auto is off')

    def _on_worker_error(self, error: Exception) -> None:
        """Switch off, cancel the policy's tasks and discard its state in memory, which may be
        wrong. The next use reads the file.
        """
        was_on, self._is_live = self._is_live, False
        self._on = self._on_requested = False
        known = isinstance(error, (TaskError, PolicyStoreError))
        why = str(error) if known else f'an internal error: {error!r}'
        try:
            self._runtime_port.cancel_tasks(sorted(self._own_task_ids), f'auto: {why}')
        except Exception:
            self._runtime.halt.stop(f'auto, which has lost its tasks: {why}').result()
        store, self._store, self._policy = self._store, None, None
        if store is not None:
            with suppress(PolicyStoreError):
                store.save_was_on(False)
            self._off_unsaved = store.was_on
            store.close()
        if was_on:
            self._trace_error(f'auto is off: {why}; {HOW_TO_SWITCH_ON}')

    # --- in the worker's thread: ticks ------------------------------------------------------

    def _poll_period_s(self) -> float | None:
        return POLL_PERIOD_S if self._on else SAVE_PERIOD_S if self._off_unsaved else None

    def _poll(self) -> None:
        """Tick the policy when a tick is due or there is a wake reason."""
        if not self._on:
            if self._off_unsaved:
                with suppress(PolicyStoreError):  # the disk is still full
                    self.store.save_was_on(False)
                    self._off_unsaved = False
            return
        now = self._clock.now()
        due = self._scheduler.take_due(now)
        paused = self._wake_reasons.paused
        cause, messages, notices = self._wake_reasons.take_all()
        if due is None and not cause:
            return
        self._own_task_ids = set(self.policy.state.task_ids)
        held = INTERRUPT_REASONS[UserInterruptType.PAUSE] if paused else ''
        view = self._runtime_port.observe(self._own_task_ids, held, self._devices)
        self._hold_reason = view.senses.hold_reason
        tick = self.policy.tick(
            now if due is None else max(self._decided_at, due.at),
            cause or 'the clock',
            view.senses,
            messages,
            0 if due is None else due.missed,
            notices,
        )
        # After a crash autonomy resumes, unless an operator had paused it.
        self._save(tick, auto=not paused)
        if self._on:
            self._runtime_port.execute(tick.commands, self._stop_count)
            self._runtime_port.resume_stuck_tasks(tick.state, view, self._stop_count)
            for text in tick.spoken_texts:
                self._speak(text)
        self._last_text = self._describe_state()

    def _describe_state(self) -> str:
        state = self.policy.state
        text = state_text(state, self._world, self._clock.now(), self._hold_reason)
        return f'auto is on; {text}'

    def _trace_notice(self, text: str) -> None:
        self._trace(TraceKind.OBSERVE, text)

    def _trace_error(self, text: str) -> None:
        self._trace(TraceKind.ERROR, text, ok=False, error_reason=text)
