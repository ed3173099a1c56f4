# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What a run leaves behind in a folder: the last captured picture and the trace."""

from __future__ import annotations

from pathlib import Path
import threading

from curiosity_rosa_demo.domain.models import TraceEvent
from curiosity_rosa_demo.domain.pictures import is_capture
from curiosity_rosa_demo.infra.config.contracts import Config
from curiosity_rosa_demo.infra.ros_io import NEWEST_ONLY
from rclpy.node import Node
from sensor_msgs.msg import CompressedImage

PICTURE_WAIT_S = 1.0


class Artifacts:
    """Keeps capture.jpg and names trace.jsonl below ``folder``, which is made. Raises OSError.

    ``fresh``: those of an earlier run are removed; a restarted agent goes on with them.
    """

    def __init__(self, node: Node, config: Config, folder: str, *, fresh: bool) -> None:
        self._folder = Path(folder)
        self._folder.mkdir(parents=True, exist_ok=True)
        self.picture = self._folder / 'capture.jpg'
        self.trace = self._folder / 'trace.jsonl'
        if fresh:
            for stale in (self.picture, self.trace):
                stale.unlink(missing_ok=True)
        self._arrived = threading.Condition()
        self._newest: bytes | None = None
        topic = config.topics.images.output_capture_compressed
        node.create_subscription(CompressedImage, topic, self._on_picture, NEWEST_ONLY)

    def _on_picture(self, message: CompressedImage) -> None:
        with self._arrived:
            self._newest = bytes(message.data)
            self._arrived.notify_all()

    def hear(self, event: TraceEvent) -> None:
        """Keep the picture of a capture that succeeded. Raises OSError."""
        if is_capture(event) and event.ok:
            self.save_capture()

    def save_capture(self) -> None:
        """Write the newest processed picture: the rover has not moved since it was taken."""
        with self._arrived:
            if self._arrived.wait_for(lambda: self._newest is not None, PICTURE_WAIT_S):
                self.picture.write_bytes(self._newest or b'')
