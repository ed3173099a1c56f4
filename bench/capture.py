# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The latency of /capture_and_score, compared with the processing of a picture plus one hop.

Interleaved, medians in milliseconds. Another process publishes pictures of 800 x 800 and TF at
10 Hz:
- capture: the whole call
- picture: ImagePipeline.compressed of the same JPEG, in this process
- hop: the same service of a bare node with an empty response, all on EventsExecutors

Aim: capture within 1.3 of picture + hop. Must never happen: a capture that fails.

Run: python bench/capture.py [captures, default 300]
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
import sys
import time
from typing import Any

from _bench import milliseconds, report, Sandbox, script, table, wait_until
from curiosity_rosa_demo.domain.models import LightScore
from curiosity_rosa_demo.infra.ros_io import call
from curiosity_rosa_demo.sim.image_pipeline import ImagePipeline
from curiosity_rosa_interfaces.srv import CaptureAndScore
import cv2
from image_pipeline import ground, MIN_BRIGHTNESS, QUALITY

AIM = 1.3
LIGHT = LightScore(score=0.5, is_good=False)

CAMERA = """
import array, sys, threading
import rclpy
from geometry_msgs.msg import TransformStamped
from pathlib import Path
from sensor_msgs.msg import CompressedImage
from tf2_msgs.msg import TFMessage
rclpy.init()
node = rclpy.create_node('camera')
images = node.create_publisher(CompressedImage, '/image_raw/compressed', 10)
tf = node.create_publisher(TFMessage, '/tf', 100)
picture = CompressedImage(format='jpeg', data=array.array('B', Path(sys.argv[1]).read_bytes()))
link = TransformStamped(child_frame_id='/base_footprint')
link.header.frame_id = '/odom'
link.transform.translation.x = 2.5
link.transform.rotation.w = 1.0
while True:
    stamp = node.get_clock().now().to_msg()
    picture.header.stamp = link.header.stamp = stamp
    tf.publish(TFMessage(transforms=[link]))
    images.publish(picture)
    threading.Event().wait(0.1)
"""

BARE = """
import rclpy
from curiosity_rosa_demo.infra.ros_io import SpinThread
from curiosity_rosa_interfaces.srv import CaptureAndScore
import threading
rclpy.init()
node = rclpy.create_node('bare')
node.create_service(CaptureAndScore, '/bare_capture', lambda request, response: response)
SpinThread('bare', node, on_crash=print)
threading.Event().wait()
"""


def timed(work: Callable[[], Any]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def main() -> int:
    captures = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    jpeg = bytes(cv2.imencode('.jpg', ground(800, 800), [cv2.IMWRITE_JPEG_QUALITY, QUALITY])[1])
    pipeline = ImagePipeline(jpeg_quality=QUALITY, min_brightness=MIN_BRIGHTNESS)
    failures: list[str] = []
    times: dict[str, list[float]] = {'capture': [], 'picture': [], 'hop': []}
    with Sandbox() as box:
        file = Path(box.folder, 'picture.jpg')
        file.write_bytes(jpeg)
        script(box, CAMERA, 'camera', str(file))
        script(box, BARE, 'bare')
        box.overlay('simulator_node')
        capture_client = box.node.create_client(CaptureAndScore, '/capture_and_score')
        bare_client = box.node.create_client(CaptureAndScore, '/bare_capture')

        def capture() -> None:
            response = call(capture_client, CaptureAndScore.Request(), timeout_s=20.0)
            if not response.ok:
                failures.append(response.error_reason)

        def hop() -> None:
            call(bare_client, CaptureAndScore.Request(), timeout_s=20.0)

        def first() -> bool:
            failures.clear()
            capture()
            return not failures

        wait_until(first, 'the first capture')
        ways = {
            'capture': capture,
            'picture': lambda: pipeline.compressed(jpeg, LIGHT),
            'hop': hop,
        }
        for way in ways.values():
            for _ in range(20):
                way()
        for _ in range(captures):
            for name, way in ways.items():
                times[name].append(timed(way))
    figures = {name: milliseconds(values) for name, values in times.items()}
    table(
        (f'{len(jpeg) / 1e3:.0f} kB', 'median ms', 'p99 ms'),
        [(name, *values.values()) for name, values in figures.items()],
    )
    floor = figures['picture']['median_ms'] + figures['hop']['median_ms']
    ratio = figures['capture']['median_ms'] / floor
    print(f'capture takes {ratio:.2f} of picture + hop, {floor:.2f} ms (aim {AIM})')
    faults = [f'{len(failures)} captures failed: {failures[0]}'] if failures else []
    status: int = report('capture', faults, **figures, of_floor=round(ratio, 3), aim_of_floor=AIM)
    return status


if __name__ == '__main__':
    sys.exit(main())
