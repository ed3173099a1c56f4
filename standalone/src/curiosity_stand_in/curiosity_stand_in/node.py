# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What the nodes of both rovers share: parameters and topics.

All names are relative, so that a namespace applies to the whole rover; its frames do not change.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

from curiosity_rosa_demo.infra.config_loader import ConfigError
from curiosity_stand_in.settings import checked, Parameter
from nav_msgs.msg import Odometry
from rcl_interfaces.msg import FloatingPointRange, ParameterDescriptor, SetParametersResult
from rclpy.node import Node
from rclpy.parameter import Parameter as RosParameter
from rclpy.qos import DurabilityPolicy, QoSProfile
from sensor_msgs.msg import CameraInfo, CompressedImage, Image, JointState, LaserScan
from std_msgs.msg import Bool
from tf2_msgs.msg import TFMessage

LATCHED_QOS = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)


class RoverNode(Node):
    """The topics of a rover's body, and its parameters. ``settings``: their checked values."""

    def __init__(self, name: str, parameters: Mapping[str, Parameter]) -> None:
        super().__init__(name)
        self._parameters_of_body = parameters
        self.settings = SimpleNamespace(**declared(self, parameters))
        publish = self.create_publisher
        self._odometry = publish(Odometry, 'model/curiosity_mars_rover/odometry', 10)
        self._tf = publish(TFMessage, 'tf', 100)  # reliable and volatile, as in tf2
        self._tf_static = publish(TFMessage, 'tf_static', LATCHED_QOS)
        self._joints = publish(JointState, 'joint_states', 10)
        self._scan = publish(LaserScan, 'scan', 10)
        self._e_stop = publish(Bool, 'e_stop', LATCHED_QOS)
        self._camera_info = publish(CameraInfo, 'camera_info', 10)
        self._raw = publish(Image, 'image_raw', 10)
        self._compressed = publish(CompressedImage, 'image_raw/compressed', 10)

    def on_change(self, change: Callable[[dict[str, Any]], None]) -> None:
        """Call ``change`` with the checked values of parameters that are set from now on, and are
        in ``settings``.
        """

        def callback(parameters: list[RosParameter]) -> SetParametersResult:
            known = self._parameters_of_body
            try:
                values = checked({p.name: p.value for p in parameters if p.name in known}, known)
            except ValueError as error:
                return SetParametersResult(successful=False, reason=str(error))
            vars(self.settings).update(values)
            change(values)
            return SetParametersResult(successful=True)

        self.add_on_set_parameters_callback(callback)


def declared(node: Node, parameters: Mapping[str, Parameter]) -> dict[str, Any]:
    """Declare the parameters; their checked values. Raises ConfigError."""
    # ``checked`` validates the types: it accepts 1 for 1.0 and explains an error. So the ranges
    # are declared only after it has read the start values.
    untyped = ParameterDescriptor(dynamic_typing=True)
    values = {
        name: node.declare_parameter(name, parameter.default, untyped).value
        for name, parameter in parameters.items()
    }
    try:
        start = checked(values, parameters)
    except ValueError as error:
        raise ConfigError(str(error)) from None
    for name, parameter in parameters.items():
        node.set_descriptor(name, _descriptor(parameter))
    return start


def _descriptor(parameter: Parameter) -> ParameterDescriptor:
    """What ``ros2 param describe`` shows."""
    descriptor = ParameterDescriptor(
        description=parameter.text, dynamic_typing=True, read_only=parameter.fixed
    )
    low, high = parameter.least, parameter.most
    if isinstance(parameter.default, float) and low is not None and high is not None:
        descriptor.floating_point_range = [FloatingPointRange(from_value=low, to_value=high)]
    return descriptor


def wanted(publisher: Any) -> bool:
    return bool(publisher.get_subscription_count() > 0)
