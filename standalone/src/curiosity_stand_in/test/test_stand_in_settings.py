# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

from __future__ import annotations

import dataclasses
import math
from pathlib import Path
from typing import Any

from curiosity_stand_in.settings import checked, PARAMETERS, Settings
from hypothesis import given
from hypothesis import strategies as st
import pytest

PAGE = Path(__file__).resolve().parents[4] / 'docs/reference/stand_in.md'
anything = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.lists(st.text())
)


def test_the_parameters_are_the_settings_and_agree_on_the_defaults() -> None:
    names = [field.name for field in dataclasses.fields(Settings)]
    assert list(PARAMETERS) == names
    defaults = {name: parameter.default for name, parameter in PARAMETERS.items()}
    assert Settings(**checked(defaults)) == Settings()


def test_the_page_has_every_parameter() -> None:
    page = PAGE.read_text(encoding='utf-8')
    assert [name for name in PARAMETERS if f'`{name}`' not in page] == []


@given(st.sampled_from(sorted(PARAMETERS)), anything)
def test_every_value_is_taken_or_refused_by_name(name: str, value: Any) -> None:
    try:
        assert list(checked({name: value})) == [name]
    except ValueError as error:
        refusal = str(error)
    else:
        return
    assert refusal.startswith(f'parameter {name} is {value!r}: ')


@given(st.data())
def test_the_range_of_a_number_is_what_its_check_takes(data: st.DataObject) -> None:
    ranges = {name: each.range for name, each in PARAMETERS.items() if each.range}
    assert set(ranges) == {n for n, each in PARAMETERS.items() if isinstance(each.default, float)}
    name = data.draw(st.sampled_from(sorted(ranges)))
    low, high = ranges[name]
    value = data.draw(st.floats(allow_nan=False))
    try:
        assert checked({name: value}) == {name: value}
    except ValueError:
        assert not low <= value <= high
    else:
        assert low <= value <= high


@pytest.mark.parametrize(
    ('name', 'value', 'reason'),
    [
        ('time_scale', 0.0, 'from 0.1 to 100'),
        ('time_scale', math.nan, 'from 0.1 to 100'),
        ('battery', 1.5, 'from 0 to 1'),
        ('battery', True, 'must be a number'),
        ('battery_drain_per_s', -0.1, 'from 0 to 1'),
        ('e_stop', 1, 'true or false'),
        ('publish_clock', 'yes', 'true or false'),
        ('initial_mast', 'shut', 'zero, open, closed'),
        ('lidar', 'roof', 'mast, body'),
        ('fault_image', 'black', 'none, stopped, corrupt'),
        ('fault_services', [1, 2], 'list of strings'),
        ('fault_services', ['fly:hang'], "'fly:hang'"),
    ],
)
def test_the_error_says_what_would_be_right(name: str, value: Any, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        checked({name: value})
