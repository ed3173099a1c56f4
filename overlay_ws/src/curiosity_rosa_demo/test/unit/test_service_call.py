# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""infra.ros_io.call: a request, its response, and what is done when none comes."""

from __future__ import annotations

from contextlib import AbstractContextManager
import threading
from typing import Any

from curiosity_rosa_demo.domain.cancellation import Cancellation, TurnCancelled
from curiosity_rosa_demo.infra.ros_io import call, ServiceFailed
import pytest
from rclpy._rclpy_pybind11 import RCLError
from rclpy.task import Future


class Client:
    """Answers the request number ``answers`` (from 1) with its number; 0: none. The transport does
    not take the first ``refuses``.
    """

    srv_name = '/capture_and_score'

    def __init__(self, answers: int, refuses: int = 0) -> None:
        self.answers, self.sent, self.removed, self.refuses = answers, 0, 0, refuses

    def service_is_ready(self) -> bool:
        return True

    def call_async(self, _: Any) -> Any:
        self.sent += 1
        if self.sent <= self.refuses:
            raise RCLError('Failed to send request: cannot publish data')
        future: Any = Future()
        if self.sent == self.answers:
            future.set_result(self.sent)
        return future

    def remove_pending_request(self, _: Any) -> None:
        self.removed += 1


def ask(client: Client, **options: Any) -> Any:
    return call(client, None, **options)  # type: ignore[arg-type]


def test_a_request_that_a_killed_server_took_with_it_is_sent_again() -> None:
    client = Client(answers=3)
    assert ask(client, timeout_s=30.0, again_s=0.01) == 3
    assert (client.sent, client.removed) == (3, 2)


def test_unless_asked_for_a_request_is_sent_once() -> None:
    client = Client(answers=2)
    with pytest.raises(ServiceFailed, match='Service timeout: /capture_and_score'):
        ask(client, timeout_s=0.05)
    assert (client.sent, client.removed) == (1, 1)


def test_who_ends_the_wait_ends_the_sending() -> None:
    client, done = Client(answers=0), threading.Event()
    done.set()
    with pytest.raises(ServiceFailed):
        ask(client, timeout_s=30.0, done=done, again_s=0.01)
    assert client.sent <= 1


def test_a_request_that_the_transport_has_not_taken_is_sent_again() -> None:
    client = Client(answers=3, refuses=2)
    assert ask(client, timeout_s=30.0) == 3
    assert client.sent == 3


def test_a_stop_between_two_tries_keeps_the_second_from_being_sent() -> None:
    client, button, tries = Client(answers=2, refuses=1), Cancellation(), []

    def sending() -> AbstractContextManager[None]:
        if tries:
            button.cancel('Stopped by the operator')
        tries.append('try')
        return button.hold_back()

    with pytest.raises(TurnCancelled, match='Stopped by the operator'):
        ask(client, timeout_s=30.0, sending=sending)
    assert (len(tries), client.sent) == (2, 1)
