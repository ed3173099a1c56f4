# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What the adapter publishes while a stop is not confirmed: zeros for the robot's wheels.

A zero Twist asks the node that drives the wheels. When that node is dead, the controller of the
wheels keeps its last command. So the zeros go to the topic of that controller too.
"""

from __future__ import annotations

from dataclasses import dataclass

from curiosity_rosa_demo.infra.config.topics import RoverTopics
from curiosity_rosa_demo.infra.loss_counter import LossCounter
from curiosity_rosa_demo.infra.ros.publishers import GuardedPublisher
from geometry_msgs.msg import Twist
from rclpy.node import Node
from std_msgs.msg import Float64MultiArray

DEPTH = 10


@dataclass(frozen=True)
class StandstillCommand:
    """``wheel_commands``: None for a robot without that topic. ``wheels``: how many values its
    controller takes; it rejects any other number.
    """

    cmd_vel: GuardedPublisher[Twist]
    wheel_commands: GuardedPublisher[Float64MultiArray] | None
    wheels: int

    @classmethod
    def create(
        cls, node: Node, topics: RoverTopics, *, wheels: int, losses: LossCounter
    ) -> StandstillCommand:
        cmd_vel = GuardedPublisher.create(node, Twist, topics.cmd_vel, DEPTH, losses)
        if not (wheels and topics.wheel_commands):
            return cls(cmd_vel, None, 0)
        wheel_commands = GuardedPublisher.create(
            node, Float64MultiArray, topics.wheel_commands, DEPTH, losses
        )
        return cls(cmd_vel, wheel_commands, wheels)

    def publish(self) -> bool:
        """Returns whether the transport accepted all of it."""
        sent = self.cmd_vel.publish(Twist())
        if self.wheel_commands is None:
            return sent
        zeros = Float64MultiArray(data=[0.0] * self.wheels)
        return self.wheel_commands.publish(zeros) and sent
