# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What a trigger cannot read of a topic is told at the start; test_doors_e2e.py fires one."""

from __future__ import annotations

import re

from curiosity_rosa_demo.agent.interfaces.triggers import topics
from curiosity_rosa_demo.infra.config.triggers import TopicField
from curiosity_rosa_demo.infra.config_loader import ConfigError
import pytest

KIND = 'sensor_msgs/msg/BatteryState'


def test_what_cannot_be_read_is_told_at_the_start() -> None:
    for kind, field, words in (
        ('no_such_msgs/msg/Thing', 'x', "low.watch.type = 'no_such_msgs/msg/Thing': this type is"),
        (KIND, 'charge_pct', "BatteryState has no field 'charge_pct'; it has header, voltage"),
        (KIND, 'header', 'header is std_msgs/Header; name a field that is a number'),
        (KIND, 'cell_voltage', 'cell_voltage is sequence<float>; name a field'),
    ):
        with pytest.raises(ConfigError, match=re.escape(words)):
            topics.message_type('low', TopicField(topic='/x', type=kind, field=field))
