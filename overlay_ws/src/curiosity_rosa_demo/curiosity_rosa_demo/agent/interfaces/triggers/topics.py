# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The subscriptions of the triggers. A message is data: bounded, and read one field at a time.

The callbacks run in the thread that spins the node.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
import importlib
import time
from typing import Any

from curiosity_rosa_demo.agent.interfaces.triggers.machine import Sample
from curiosity_rosa_demo.infra.config.behaviour import TopicField, TriggerConfig
from curiosity_rosa_demo.infra.config_loader import ConfigError
from curiosity_rosa_demo.infra.ros_io import NEWEST_ONLY, read_message
from rclpy.node import Node

MAX_MESSAGE_BYTES = 65_536
MIN_PERIOD_S = 0.05  # a faster topic is read at this rate


def subscribe(
    node: Node, triggers: list[TriggerConfig], put: Callable[[str, Sample], None]
) -> None:
    """Subscribe to the topic of each trigger that watches one. ``put`` gets each sample. Raises
    ConfigError for a type that is not installed or has no such field.
    """
    for trigger in triggers:
        if trigger.watch is not None:
            kind = message_type(trigger.name, trigger.watch)
            reader = FieldReader(kind, trigger.watch, partial(put, trigger.name))
            node.create_subscription(
                kind, trigger.watch.topic, reader.on_message, NEWEST_ONLY, raw=True
            )


class FieldReader:
    def __init__(self, kind: Any, watch: TopicField, put: Callable[[Sample], None]) -> None:
        self._kind, self._names, self._put = kind, watch.field.split('.'), put
        self._read_s = 0.0

    def on_message(self, data: bytes) -> None:
        """Decoding is expensive: a message that comes too soon is skipped."""
        now_s = time.monotonic()
        if now_s - self._read_s < MIN_PERIOD_S:
            return
        self._read_s = now_s
        self._put(self._sample(data, now_s))

    def _sample(self, data: bytes, now_s: float) -> Sample:
        if len(data) > MAX_MESSAGE_BYTES:
            why = f'a message of {len(data)} bytes; triggers read {MAX_MESSAGE_BYTES} at most'
            return Sample(None, now_s, why)
        try:
            value: Any = read_message(data, self._kind)
            for name in self._names:
                value = getattr(value, name)
        except Exception as error:  # whatever another node has sent
            return Sample(None, now_s, f'the message cannot be read: {error}'[:200])
        return Sample(value, now_s)


def message_type(trigger: str, watch: TopicField) -> Any:
    """The message class. Raises ConfigError."""
    head = f'triggers.yaml: {trigger}.watch'
    try:
        kind = _imported(watch.type)
    except (ImportError, AttributeError) as error:
        raise ConfigError(
            f'{head}.type = {watch.type!r}: this type is not installed ({error}); '
            'ros2 topic info TOPIC shows the right one'
        ) from None
    part = kind
    names = watch.field.split('.')
    for number, name in enumerate(names):
        fields = part.get_fields_and_field_types()
        if name not in fields:
            known = ', '.join(fields)
            why = f'{part.__name__} has no field {name!r}; it has {known}'
            raise ConfigError(f'{head}.field = {watch.field!r}: {why}')
        declared = fields[name]
        is_message = '/' in declared and '[' not in declared and '<' not in declared
        if is_message == (number == len(names) - 1) or '[' in declared or 'sequence<' in declared:
            why = f'{name} is {declared}; name a field that is a number, a text, true or false'
            raise ConfigError(f'{head}.field = {watch.field!r}: {why}')
        if is_message:
            part = _imported(declared)
    return kind


def _imported(type_name: str) -> Any:
    """The class of ``package/msg/Type``. Raises ImportError and AttributeError."""
    package, *_, name = type_name.split('/')
    return getattr(importlib.import_module(f'{package}.msg'), name)
