# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The light model: brightness as a function of the rover's X, dark at ``x_min``, bright from
``x_good`` on.

score = clamp((x - x_min) / (x_good - x_min), 0, 1); a score is good when score >= threshold
(design of the light simulator, section 5.2).
"""

from __future__ import annotations

from dataclasses import dataclass

from curiosity_rosa_demo.domain.models import LightScore
from curiosity_rosa_demo.infra.config.limits import Thresholds


@dataclass(frozen=True)
class LightModel:
    """``x_min`` and, beyond it, ``x_good`` are metres in the world frame."""

    x_min: float
    x_good: float
    threshold: float

    @classmethod
    def of(cls, thresholds: Thresholds) -> LightModel:
        light = thresholds.light_model
        return cls(light.x_min, light.x_good, thresholds.quality.score_threshold)

    def score(self, x: float) -> LightScore:
        """The light score at ``x`` metres.

        ``is_good`` is computed from this double. CaptureAndScore carries the score as float32,
        which can round across the threshold: read ``is_good`` instead of comparing the score.
        """
        part = (x - self.x_min) / (self.x_good - self.x_min)  # exact at both ends
        value = min(1.0, max(0.0, part))
        return LightScore(score=value, is_good=value >= self.threshold)
