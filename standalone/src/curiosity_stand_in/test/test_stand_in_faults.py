# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

from __future__ import annotations

from collections.abc import Callable
import threading

from curiosity_stand_in.faults import MAX_DELAY_S, parse, ServiceFault, ServiceFaults, SERVICES
from harness import wait_until
from hypothesis import given
from hypothesis import strategies as st
import pytest

faults = st.one_of(
    st.just(ServiceFault('hang')),
    st.just(ServiceFault('absent')),
    st.builds(ServiceFault, st.just('late'), st.floats(1e-3, MAX_DELAY_S)),
)


def refusal_of(text: str) -> str | None:
    try:
        parse([text])
    except ValueError as error:
        return str(error)
    return None


def text_of(service: str, fault: ServiceFault) -> str:
    delay = f':{fault.delay_s!r}' if fault.kind == 'late' else ''
    return f'{service}:{fault.kind}{delay}'


@given(st.dictionaries(st.sampled_from(SERVICES), faults))
def test_what_is_written_is_read(wanted: dict[str, ServiceFault]) -> None:
    assert parse([text_of(*item) for item in wanted.items()]) == wanted


@given(st.text(max_size=40))
def test_any_other_text_is_refused_and_named(text: str) -> None:
    refusal = refusal_of(text)
    assert refusal is None or repr(text) in refusal
    assert refusal is not None or text.partition(':')[0] in SERVICES


@pytest.mark.parametrize(
    ('texts', 'reason'),
    [
        (['move_up:hang'], 'move_forward'),
        (['/move_stop:hang'], 'the service must be one of'),
        (['move_stop'], 'hang, late, absent'),
        (['move_stop:stuck'], 'hang, late, absent'),
        (['move_stop:hang:3'], 'takes no seconds'),
        (['mast_open:late'], 'needs seconds'),
        (['mast_open:late:0'], 'needs seconds'),
        (['mast_open:late:nan'], 'needs seconds'),
        (['mast_open:late:1e9'], 'needs seconds'),
        (['move_stop:hang', 'move_stop:absent'], 'has a fault already'),
    ],
)
def test_the_error_says_what_would_be_right(texts: list[str], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        parse(texts)


def held(faults: ServiceFaults, service: str) -> Callable[[], list[bool]]:
    """A service callback's thread that waits in ``hold``; what it got, once it got it."""
    results: list[bool] = []
    threading.Thread(target=lambda: results.append(faults.hold(service)), daemon=True).start()
    return lambda: results


def test_a_hanging_service_waits_until_the_fault_is_cleared() -> None:
    faults = ServiceFaults()
    faults.set(parse(['move_stop:hang']))
    result = held(faults, 'move_stop')
    faults.set(parse(['move_stop:hang', 'mast_open:hang']))  # still hangs
    assert faults.hold('move_forward')
    assert result() == []
    faults.set({})
    assert wait_until(result, 'the service to go on') == [True]
