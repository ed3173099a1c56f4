# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.


"""The messages of the demo's Gazebo: odometry and joint states."""

from __future__ import annotations

import math

from builtin_interfaces.msg import Time
from curiosity_physics.controllers import STEER, SUSPENSION
from curiosity_physics.simulation import State
from curiosity_stand_in.parts import ARM, MAST
from curiosity_stand_in.sensors import BASE_FRAME, WORLD_FRAME
from geometry_msgs.msg import TransformStamped
from nav_msgs.msg import Odometry
from sensor_msgs.msg import JointState
from std_msgs.msg import Header

# The URDF declares a velocity state for these joints only; of the others, the
# joint_state_broadcaster publishes NaN.
WITH_VELOCITY = frozenset((*STEER, *MAST.joints, *ARM.joints, *SUSPENSION))


def odometry(state: State, stamp: Time, *, true: bool = False) -> Odometry:
    """As Gazebo's OdometryPublisher of 2 dimensions: z is 0, but roll and pitch are there.

    ``true``: the true pose and velocity, all of it.
    """
    header = Header(stamp=stamp, frame_id=WORLD_FRAME)
    message = Odometry(header=header, child_frame_id=BASE_FRAME)
    place, turn = message.pose.pose.position, message.pose.pose.orientation
    place.x, place.y, z = state.place
    turn.w, turn.x, turn.y, turn.z = state.attitude
    linear, angular = message.twist.twist.linear, message.twist.twist.angular
    c, s = math.cos(state.yaw), math.sin(state.yaw)
    linear.x = c * state.velocity[0] + s * state.velocity[1]
    linear.y = c * state.velocity[1] - s * state.velocity[0]
    angular.z = state.spin[2]
    if true:
        place.z, linear.z = z, state.velocity[2]
        angular.x, angular.y = state.spin[:2]
    return message


def base_transform(odometry: Odometry) -> TransformStamped:
    """The transform that the demo's odom_tf_publisher makes of an odometry."""
    transform = TransformStamped(child_frame_id=odometry.child_frame_id, header=odometry.header)
    place, pose = transform.transform.translation, odometry.pose.pose
    place.x, place.y, place.z = pose.position.x, pose.position.y, pose.position.z
    transform.transform.rotation = pose.orientation
    return transform


def joint_states(state: State, stamp: Time) -> JointState:
    names = list(state.angles)
    return JointState(
        header=Header(stamp=stamp),
        name=names,
        position=[state.angles[name] for name in names],
        velocity=[state.rates[name] if name in WITH_VELOCITY else math.nan for name in names],
    )
