# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Read sensor_msgs/LaserScan into the values of ``infra/obstacles.py``."""

from __future__ import annotations

from curiosity_rosa_demo.infra.obstacles import Scan
from sensor_msgs.msg import LaserScan


def scan_of(message: LaserScan) -> Scan:
    return Scan(
        angle_min=message.angle_min,
        angle_increment=message.angle_increment,
        range_min=message.range_min,
        range_max=message.range_max,
        ranges=message.ranges,
    )


def stamp_ns(message: LaserScan) -> int:
    stamp = message.header.stamp
    return int(stamp.sec) * 1_000_000_000 + int(stamp.nanosec)
