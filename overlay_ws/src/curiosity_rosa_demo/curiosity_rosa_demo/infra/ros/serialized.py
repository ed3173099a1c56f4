# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Read the serialized bytes of a ROS message, from a raw subscription or a recording."""

from __future__ import annotations

from typing import Any

from rclpy.serialization import deserialize_message

# The representation of the data, before the data itself. Cyclone DDS reads it without looking at
# the length: with fewer bytes it ends the process by a segmentation fault.
HEADER_BYTES = 4


class UnreadableMessage(Exception):
    """The bytes are no message of the type."""


def read_message(data: bytes, message_type: Any) -> Any:
    """Raises UnreadableMessage."""
    if len(data) < HEADER_BYTES:
        raise UnreadableMessage(f'{len(data)} bytes, and the header alone has {HEADER_BYTES}')
    try:
        return deserialize_message(data, message_type)
    except Exception as error:  # the middleware's error type is not exported
        raise UnreadableMessage(str(error)) from error
