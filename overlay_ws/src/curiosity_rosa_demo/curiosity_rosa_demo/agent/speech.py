"""What the agent says aloud: on the console and on the speech topic."""

from __future__ import annotations

from collections.abc import Callable

from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.node import Node
from std_msgs.msg import String

from curiosity_rosa_demo.infra.config_models import Config


class Speech:
    """Safe from any thread. ``say`` prints."""

    def __init__(self, node: Node, config: Config, say: Callable[[str], None]) -> None:
        self._publisher = node.create_publisher(String, config.topics.agent.speech, 10)
        self._say = say

    def __call__(self, text: str) -> None:
        self._say(f'Rover: {text}')
        try:
            self._publisher.publish(String(data=text))
        except rclpy_implementation.RCLError as error:  # seen when the transport is saturated
            self._say(f'! Not published: {error}')
