# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""MotionGuard in random histories: concurrent callers, dying services, lost telemetry."""

from __future__ import annotations

from collections.abc import Callable

from curiosity_rosa_demo.adapter.mast import Mast, MastAction
from curiosity_rosa_demo.adapter.motion_guard import Motion
from examples import examples
from guard_world import CONFIG, World
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import invariant, rule, RuleBasedStateMachine

# From the leash's end, or the agent's silence, to still wheels: the stop's time-out, then a few
# zero Twists.
STOP_TAKES_S = CONFIG.motion.stop_timeout_s + 0.5


def _vanish(world: World) -> None:
    """The demo's run_node dies: its queue with it, the wheels keep the last Twist."""
    world.drive.absent = True
    world.drive.queue.clear()
    world.driving = False


def _hang(world: World) -> None:
    """Not a deaf one: frozen and thawed, it would drive on unasked, which no rule can foresee.

    The guard stops such a rover once odometry shows it; test_motion_guard has that case.
    """
    world.drive.hanging = not (world.drive.absent and world.driving)


FAULTS: dict[str, Callable[[World], None]] = {
    'drive hangs': _hang,
    'drive recovers': lambda world: setattr(world.drive, 'hanging', False),
    'drive vanishes': _vanish,
    'drive goes deaf': lambda world: setattr(world.drive, 'absent', not world.drive.hanging),
    'drive returns': lambda world: setattr(world.drive, 'absent', False),
    'masts hang': lambda world: setattr(world.masts, 'hanging', True),
    'masts recover': lambda world: setattr(world.masts, 'hanging', False),
    'joints lost': lambda world: setattr(world, 'joints_on', False),
    'joints back': lambda world: setattr(world, 'joints_on', True),
    'odometry lost': lambda world: setattr(world, 'odometry_on', False),
    'odometry back': lambda world: setattr(world, 'odometry_on', True),
    'agent speaks': lambda world: setattr(world, 'agent_lives', True),
    'agent freezes': lambda world: setattr(world, 'agent_lives', False),
    'agent leaves': World.agent_leaves,
    'agent enters SAFE': lambda world: setattr(world, 'latch', 'a reason'),
    'agent clears SAFE': lambda world: setattr(world, 'latch', ''),
    'a second agent appears': lambda world: world.guard.set_agents(2, ['/agent', '/other']),
    'the agent is alone': lambda world: world.guard.set_agents(1, ['/agent']),
    'every second Twist is lost': lambda world: setattr(world, 'lose_twists', 2),
    'no Twist is lost': lambda world: setattr(world, 'lose_twists', 0),
    'e-stop pressed': lambda world: world.press(True),
    'e-stop released': lambda world: world.press(False),
}

REQUESTS = ['move', 'move', 'stop', *(action.value for action in MastAction)]


class GuardedRover(RuleBasedStateMachine):
    """Nobody else touches this rover: what it does, the guard allowed."""

    def __init__(self) -> None:
        super().__init__()
        self.world = World()
        self.safe_since: float | None = None  # the adapter knows the latch

    @rule(
        fault=st.sampled_from(['none', 'none', 'drive hangs', *sorted(FAULTS)]),
        requests=st.lists(st.sampled_from(REQUESTS), max_size=3),
        seconds=st.sampled_from([0.05, 0.1, 0.3, 1.0, 2.5, 2.5, 7.0, 31.0]),
    )
    def callers_come(self, fault: str, requests: list[str], seconds: float) -> None:
        """Up to three requests within one step: what concurrent callers amount to."""
        FAULTS.get(fault, lambda world: None)(self.world)
        for request in requests:
            self._ask(request)
        self.world.step(seconds)

    def _ask(self, request: str) -> None:
        world, guard = self.world, self.world.guard
        mast, moving, latch = guard.mast, guard.motion is Motion.MOVING, guard.agent_latch
        if request == 'move':
            silent = world.silence_since() is not None
            assert world.ask_move() or (mast is Mast.CLOSED and not silent and not latch)
        elif request == 'stop':
            world.ask_stop()
        else:
            refusal = world.ask_mast(MastAction(request))
            if (moving or latch) and request != 'mast_close':
                assert refusal
            if mast is Mast.CLOSED and request == 'mast_rotate':
                assert refusal

    @rule(
        then_move=st.booleans(),
        agent=st.sampled_from(['agent speaks', 'agent leaves']),
        seconds=st.sampled_from([0.05, 0.4]),
    )
    def a_careful_operator(self, then_move: bool, agent: str, seconds: float) -> None:
        """Without one, random histories would rarely drive at all."""
        self.everything_recovers(1.5)
        self.world.ask_stop()
        self.world.step(1.5)
        self.world.ask_mast(MastAction.CLOSE)
        self.world.latch = ''
        self.world.guard.set_agents(1, ['/agent'])
        FAULTS[agent](self.world)
        self.world.step(2.5)
        if then_move:
            self.world.ask_move()
        self.world.step(seconds)

    @rule(seconds=st.sampled_from([0.05, 0.5, 1.5]))
    def everything_recovers(self, seconds: float) -> None:
        world = self.world
        for node in (world.drive, world.masts):
            node.hanging = node.absent = False
        world.odometry_on = world.joints_on = True
        world.step(seconds)

    @rule()
    def the_adapter_dies_and_restarts(self) -> None:
        world = self.world
        fresh = World()
        world.guard = type(fresh.guard)(CONFIG.motion, CONFIG.mast, clock=lambda: world.now)
        world.heard_at = None
        if world.pressed_at is not None:
            world.guard.set_e_stop(True)  # the button is latched
        world.waiting.clear()
        for node in (world.drive, world.masts):
            for request in node.queue:  # their answers go to a process that is no more
                request.answer = lambda: None
        world.carry()

    @invariant()
    def the_rover_never_moves_with_the_mast_up(self) -> None:
        assert not self.world.moved_with_the_mast_up

    @invariant()
    def the_leash_holds(self) -> None:
        since = self.world.moving_since
        if since is not None:
            assert self.world.now - since <= CONFIG.motion.max_duration_s + STOP_TAKES_S

    @invariant()
    def no_motion_outlives_the_agents_silence(self) -> None:
        moving_since, silent_since = self.world.moving_since, self.world.silence_since()
        if moving_since is not None and silent_since is not None:
            assert self.world.now - max(moving_since, silent_since) <= STOP_TAKES_S

    @invariant()
    def no_motion_outlives_safe(self) -> None:
        world = self.world
        if not world.guard.agent_latch:
            self.safe_since = None
        elif self.safe_since is None:
            self.safe_since = world.now
        if world.moving_since is not None and self.safe_since is not None:
            assert world.now - max(world.moving_since, self.safe_since) <= STOP_TAKES_S

    @invariant()
    def no_motion_outlives_the_e_stop(self) -> None:
        moving_since, pressed_at = self.world.moving_since, self.world.pressed_at
        if moving_since is not None and pressed_at is not None:
            assert self.world.now - max(moving_since, pressed_at) <= STOP_TAKES_S

    @invariant()
    def motion_without_a_closed_mast_is_being_stopped(self) -> None:
        guard = self.world.guard
        if guard.motion is Motion.MOVING and guard.mast is not Mast.CLOSED:
            guard_will_stop = guard.stopping or guard.next_wakeup() is not None
            assert guard_will_stop

    def teardown(self) -> None:
        """Left alone with healthy services, the rover comes to rest and everybody knows it."""
        world = self.world
        self.everything_recovers(0.05)
        world.ask_stop()
        world.step(15.0)  # a node that hung has a queue of stops to work off
        assert not world.moving
        assert world.guard.motion is Motion.STILL
        assert not world.guard.mast_busy or world.guard.next_wakeup() is not None


TestGuardedRover = GuardedRover.TestCase
TestGuardedRover.settings = settings(
    max_examples=examples(500), stateful_step_count=20, deadline=None
)
