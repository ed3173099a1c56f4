# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A name for a texture, by thresholds. The names describe the picture at its own scale."""

from __future__ import annotations

from curiosity_rosa_demo.domain.ground import TextureClass
from curiosity_rosa_demo.imaging.ground.texture import Texture

SMOOTH_BELOW = 3.0  # deviation in grey levels
JOINTED_FROM = 0.18  # energy: even faces between joints
RIPPLED_FROM = 0.45  # coherence
COARSE_FROM = 0.28  # homogeneity: grains are several pixels wide


def class_of(texture: Texture) -> tuple[TextureClass, float]:
    """The class and how sure it is: by the distance of each measure from its threshold."""
    rules = (
        (TextureClass.SMOOTH, SMOOTH_BELOW / max(texture.deviation, 1e-6)),
        (TextureClass.JOINTED, texture.energy / JOINTED_FROM),
        (TextureClass.RIPPLED, texture.coherence / RIPPLED_FROM),
        (TextureClass.COARSE_GRAINED, texture.homogeneity / COARSE_FROM),
    )
    sure = 0.95
    for name, ratio in rules:
        sure = min(sure, 0.5 + abs(ratio - 1.0))
        if ratio >= 1.0:
            return name, sure
    return TextureClass.FINE_GRAINED, sure
