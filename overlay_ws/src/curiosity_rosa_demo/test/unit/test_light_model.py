# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

import math

from curiosity_rosa_demo.infra.config_loader import load_config
from curiosity_rosa_demo.sim.light_model import LightModel
from hypothesis import given
from hypothesis import strategies as st
import pytest

METRES = st.floats(-1e6, 1e6)


@st.composite
def light_models(draw: st.DrawFn) -> LightModel:
    x_min = draw(METRES)
    x_good = draw(METRES.filter(lambda x: x > x_min))
    return LightModel(x_min, x_good, draw(st.floats(0.0, 1.0)))


@given(light_models(), st.floats(0.0, 1e6))
def test_both_ends_are_exact(model: LightModel, beyond: float) -> None:
    assert model.score(model.x_min).score == 0.0
    assert model.score(model.x_min - beyond).score == 0.0
    assert model.score(model.x_good).score == 1.0
    assert model.score(model.x_good + beyond).score == 1.0


@given(light_models(), METRES | st.floats(allow_nan=False, allow_infinity=False))
def test_between_the_ends_it_is_the_formula_of_the_design(model: LightModel, x: float) -> None:
    wanted = min(1.0, max(0.0, (x - model.x_min) / (model.x_good - model.x_min)))
    light = model.score(x)
    assert 0.0 <= light.score <= 1.0
    assert math.isclose(light.score, wanted, rel_tol=1e-12, abs_tol=1e-12)
    assert light.is_good == (light.score >= model.threshold)


@pytest.mark.parametrize(
    ('x', 'score', 'is_good'), [(0, 0, False), (2.5, 0.5, False), (4, 0.8, True)]
)
def test_the_shipped_model_is_bright_from_four_metres_on(
    x: float, score: float, is_good: bool
) -> None:
    light = LightModel.of(load_config().thresholds).score(x)
    assert light.score == pytest.approx(score)
    assert light.is_good == is_good


@pytest.mark.parametrize('x', [math.nan, math.inf, -math.inf])
def test_a_position_that_is_no_number_is_refused(x: float) -> None:
    with pytest.raises(ValueError, match='x must be finite'):
        LightModel(0.0, 5.0, 0.8).score(x)


@pytest.mark.parametrize(
    ('values', 'named'),
    [
        ((0.0, 0.0, 0.8), 'x_good'),
        ((5.0, 0.0, 0.8), 'x_good'),
        ((0.0, math.nan, 0.8), 'x_good'),
        ((-math.inf, 5.0, 0.8), 'x_min'),
        ((0.0, 5.0, 1.5), 'threshold'),
        ((0.0, 5.0, math.nan), 'threshold'),
    ],
)
def test_a_model_that_makes_no_sense_is_refused(
    values: tuple[float, float, float], named: str
) -> None:
    with pytest.raises(ValueError, match=named):
        LightModel(*values)
