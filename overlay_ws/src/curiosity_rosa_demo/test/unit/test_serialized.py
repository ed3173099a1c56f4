# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Bytes that a node or a file gives for a message."""

from __future__ import annotations

from curiosity_rosa_demo.infra.ros.serialized import read_message, UnreadableMessage
from nav_msgs.msg import Odometry
from our_sources import imports, PACKAGE, trees
import pytest
from rclpy.serialization import serialize_message
from std_msgs.msg import String


@pytest.mark.parametrize('size', range(4))
def test_less_than_a_header_never_reaches_the_middleware(size: int) -> None:
    """Cyclone DDS would read behind the end of it."""
    data = bytes(serialize_message(String(data='words')))[:size]
    with pytest.raises(UnreadableMessage, match=f'^{size} bytes, and the header alone has 4'):
        read_message(data, String)


def test_a_message_is_read_and_a_torn_one_refused() -> None:
    data = bytes(serialize_message(Odometry(child_frame_id='base')))
    assert read_message(data, Odometry).child_frame_id == 'base'
    with pytest.raises(UnreadableMessage):
        read_message(data[:20], Odometry)


def test_all_of_the_product_reads_serialized_bytes_there() -> None:
    readers = {
        file.relative_to(PACKAGE).as_posix()
        for file, tree in trees().items()
        if file.is_relative_to(PACKAGE / 'curiosity_rosa_demo')
        if any(name == 'rclpy.serialization.deserialize_message' for _, name in imports(tree))
    }
    assert readers == {'curiosity_rosa_demo/infra/ros/serialized.py'}
