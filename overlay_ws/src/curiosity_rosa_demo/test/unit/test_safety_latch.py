# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The safety latch in its file."""

from __future__ import annotations

from datetime import datetime, timezone
from pathlib import Path
import tempfile
import threading

from curiosity_rosa_demo.infra.storage.safety_latch import SafetyLatch
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st
import pytest

reasons = st.text(
    st.characters(exclude_categories=['Cs', 'Cc', 'Zl', 'Zp']), min_size=1, max_size=80
).map(str.strip)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / 'tasks.db.safety'


@given(st.lists(reasons | st.just(''), max_size=6))
@settings(max_examples=examples(50), deadline=None)
def test_what_was_saved_last_is_read(changes: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, 'safety')
        latch = SafetyLatch(path)
        for reason in changes:
            latch.set(reason)
            latch.save()
            assert SafetyLatch(path).reason == reason
        assert [each.name for each in path.parent.iterdir()] == ['safety'] * bool(latch.reason)


@pytest.mark.parametrize('content', [b'', b' \n', b'\xff\xfe'])
def test_a_file_that_tells_nothing_latches(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    latch = SafetyLatch(path)
    assert str(path) in latch.reason
    assert 'clear' in latch.reason
    latch.set('')
    latch.save()
    assert SafetyLatch(path).reason == ''


def test_a_file_that_cannot_be_read_latches(path: Path) -> None:
    path.mkdir()
    assert str(path) in SafetyLatch(path).reason


def test_a_file_that_cannot_be_written_is_an_error_and_the_latch_holds(path: Path) -> None:
    latch = SafetyLatch(path)
    latch.set('e-stop pressed')
    path.with_name(f'{path.name}.new').mkdir()
    with pytest.raises(OSError, match='new'):
        latch.save()
    assert latch.reason == 'e-stop pressed'


def test_of_two_that_save_at_once_the_last_word_counts(path: Path) -> None:
    latch = SafetyLatch(path)
    for number in range(20):
        threads = []
        for reason in (f'reason {number}', ''):
            latch.set(reason)
            threads.append(threading.Thread(target=latch.save))
            threads[-1].start()
        for thread in threads:
            thread.join()
        assert SafetyLatch(path).reason == ''


def test_the_time_of_a_latch_outlives_the_process_and_a_new_reason(path: Path) -> None:
    began = datetime(2026, 1, 2, 3, 4, 5, tzinfo=timezone.utc)
    times = iter([began, datetime(2026, 2, 2, tzinfo=timezone.utc)])
    latch = SafetyLatch(path, now=lambda: next(times))
    for reason in ('e-stop pressed', 'e-stop pressed; tilt'):
        latch.set(reason)
        latch.save()
        again = SafetyLatch(path)
        assert (again.reason, again.since) == (reason, began)
        again.save()  # as an agent does that ends while the latch holds
        assert SafetyLatch(path).since == began


@pytest.mark.parametrize('text', ['e-stop pressed', 'e-stop pressed\nsince the flood'])
def test_a_latch_without_a_readable_time_holds(path: Path, text: str) -> None:
    path.write_text(text)
    latch = SafetyLatch(path)
    assert (latch.reason, latch.since) == (text, None)
