# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""MotionGuard of any robot in random histories: callers at once, dying services, silence."""

from __future__ import annotations

from action_profile import action_profile, profiles
from curiosity_rosa_demo.adapter.appendage import Mast, MastAction
from curiosity_rosa_demo.adapter.motion_guard import Motion
from curiosity_rosa_demo.infra.config.robot import RobotProfile
from curiosity_rosa_demo.infra.config_loader import load_config
from examples import examples
from guard_world import CONFIG, drive_off, FAULTS, recover, RESTS_S, SHIPPED, World
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, rule, RuleBasedStateMachine

# From the leash's end, or the agent's silence, to still wheels: the stop's time-out, then a few
# zero Twists.
STOP_TAKES_S = CONFIG.motion.stop_timeout_s + 0.5
CHANCES = {
    'a part hangs': lambda world: setattr(world.parts, 'hanging', True),
    'parts recover': lambda world: setattr(world.parts, 'hanging', False),
    'parts vanish': lambda world: setattr(world.parts, 'absent', True),
    'parts return': lambda world: setattr(world.parts, 'absent', False),
    'a goal is aborted': lambda world: [world.abort_goal(name) for name in world.appendages],
    **FAULTS,
}
REQUESTS = ['move', 'move', 'stop', *(action.value for action in MastAction)]
PARTS = [
    'stow',
    *range(6),
]  # the stowing command of the first appendage, or the command of a number
ENDS = ('e-stop pressed', 'agent freezes', 'agent enters SAFE', 'joints lost')
ROVER, STATION = (load_config(robot=name).robot for name in ('curiosity', 'canadarm2'))
ACTIONS = RobotProfile.model_validate(action_profile())


class GuardedRover(RuleBasedStateMachine):
    """Nobody else touches this robot: what it does, the guard allowed."""

    robots = st.sampled_from([SHIPPED, ROVER]) | profiles().map(RobotProfile.model_validate)

    @initialize(data=st.data())
    def begins(self, data: st.DataObject) -> None:
        robot = data.draw(self.robots)
        self.world = World(robot)
        self.has_base = robot.mobile_base
        self.safe_since: float | None = None  # the adapter knows the latch

    @rule(
        chance=st.sampled_from(['none', 'none', 'drive hangs', *sorted(CHANCES)]),
        requests=st.lists(st.sampled_from([*REQUESTS, *PARTS]), max_size=3),
        seconds=st.sampled_from([0.05, 0.1, 0.3, 1.0, 2.5, 2.5, 7.0, 31.0]),
    )
    def callers_come(self, chance: str, requests: list[str | int], seconds: float) -> None:
        """Up to three requests within one step: what concurrent callers amount to."""
        CHANCES.get(chance, lambda world: None)(self.world)
        for request in requests:
            self._ask(request)
        self.world.step(seconds)

    def _ask(self, request: str | int) -> None:
        world, guard = self.world, self.world.guard
        mast, moving, latch = guard.mast, guard.motion is Motion.MOVING, guard.agent_latch
        if request == 'stop':
            world.ask_stop()
        elif request in PARTS:
            self._ask_part(request)
        elif not self.has_base:
            return
        elif request == 'move':
            silent = world.silence_since() is not None
            assert world.ask_move() or (mast.is_stowed and not silent and not latch)
        elif world.has_mast:
            refusal = world.ask_mast(MastAction(str(request)))
            if (moving or latch) and request != 'mast_close':
                assert refusal
            if mast is Mast.CLOSED and request == 'mast_rotate':
                assert refusal

    def _ask_part(self, request: str | int) -> None:
        guard = self.world.guard
        named = [(name, each) for name, part in guard.appendages.items()
                 for each in part.config.commands]  # fmt: skip
        if not named:
            return
        name, command = named[request % len(named)] if isinstance(request, int) else named[0]
        config = guard.appendages[name].config
        command = command if isinstance(request, int) else config.stow_command
        after = config.commands[command].only_after
        allowed = not after or any(map(guard.appendages[name].reached, after))
        stows, moving = config.stows(command), guard.motion is Motion.MOVING
        refusal = self.world.ask_appendage(name, command)
        if guard.e_stop or not allowed or ((guard.agent_latch or moving) and not stows):
            assert refusal

    @rule(
        begins=st.just('move') | st.sampled_from(PARTS[1:]),
        agent=st.sampled_from(['agent speaks', 'agent leaves']),
        stows=st.booleans(),
        chance=st.sampled_from(ENDS) | st.sampled_from(sorted(CHANCES)),
        seconds=st.sampled_from([0.4, 7.0]),
    )
    def a_motion_that_was_well_prepared_meets_a_chance(
        self, begins: str | int, agent: str, stows: bool, chance: str, seconds: float
    ) -> None:
        """Without one, random histories would rarely drive at all."""
        world = self.world
        recover(world)
        FAULTS[agent](world)
        world.step(4.0)
        world.ask_stop()
        world.step(1.5)
        if world.has_mast:
            world.ask_mast(MastAction.CLOSE)
        for name, part in world.appendages.items():
            if stows:
                world.ask_appendage(name, part.stow_command)
        world.step(4.5)
        self._ask(begins)
        world.step(0.5)
        CHANCES[chance](world)
        world.step(seconds)

    @rule(seconds=st.sampled_from([0.05, 0.5, 1.5]))
    def everything_recovers(self, seconds: float) -> None:
        recover(self.world)
        self.world.step(seconds)

    @rule()
    def the_adapter_dies_and_restarts(self) -> None:
        self.world.restart_adapter(self.world.new_guard())

    def _moves_for(self, since: float | None) -> float:
        """The seconds of a motion that has lasted since this time, or began later."""
        began = self.world.moving_since
        return 0.0 if began is None or since is None else self.world.now - max(began, since)

    @invariant()
    def the_rover_never_moves_with_the_mast_up(self) -> None:
        assert not self.world.moved_with_the_mast_up

    @invariant()
    def the_rover_never_moves_with_a_part_that_is_not_stowed(self) -> None:
        assert not self.world.moved_unstowed

    @invariant()
    def the_leash_holds(self) -> None:
        assert self._moves_for(0.0) <= CONFIG.motion.max_duration_s + STOP_TAKES_S

    @invariant()
    def no_motion_outlives_the_agents_silence(self) -> None:
        assert self._moves_for(self.world.silence_since()) <= STOP_TAKES_S

    @invariant()
    def no_motion_outlives_safe(self) -> None:
        if not self.world.guard.agent_latch:
            self.safe_since = None
        elif self.safe_since is None:
            self.safe_since = self.world.now
        assert self._moves_for(self.safe_since) <= STOP_TAKES_S

    @invariant()
    def no_motion_outlives_the_e_stop(self) -> None:
        assert self._moves_for(self.world.pressed_at) <= STOP_TAKES_S

    @invariant()
    def no_arm_that_must_rest_moves_on(self) -> None:
        assert all(seconds < RESTS_S for seconds in self.world.must_rest_s.values())

    @invariant()
    def what_was_due_has_been_done(self) -> None:
        wakeup = self.world.guard.next_wakeup()
        assert wakeup is None or wakeup >= self.world.now

    @invariant()
    def motion_without_a_closed_mast_is_being_stopped(self) -> None:
        guard = self.world.guard
        if guard.motion is Motion.MOVING and not guard.mast.is_stowed:
            guard_will_stop = guard.stopping or guard.next_wakeup() is not None
            assert guard_will_stop

    def teardown(self) -> None:
        """Left alone with healthy services, the rover comes to rest and everybody knows it."""
        world = self.world
        recover(world)
        world.agent_lives = True
        world.ask_stop()
        world.step(15.0)  # a node that hung has a queue of stops to work off
        assert not world.moving
        assert world.guard.motion is Motion.STILL
        assert not world.guard.mast_busy or world.guard.next_wakeup() is not None
        if self.has_base:
            drive_off(world)
            assert not world.moved_unstowed


class GuardedArm(GuardedRover):
    """An arm without a base, by topics and by actions."""

    robots = st.sampled_from([STATION, ACTIONS])


TestGuardedRover, TestGuardedArm = GuardedRover.TestCase, GuardedArm.TestCase
TestGuardedRover.settings = TestGuardedArm.settings = settings(
    max_examples=examples(60), stateful_step_count=30, deadline=None
)
