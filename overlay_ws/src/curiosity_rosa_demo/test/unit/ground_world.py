# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""An analysis of the ground, with its picture and its trace event."""

from __future__ import annotations

from curiosity_rosa_demo.domain.models import TraceEvent, TraceKind
from curiosity_rosa_demo.domain.pictures import AnalyzedGround, Picture
from fake_robot import jpeg
from tool_rover import ANALYSIS, ANALYSIS_TOPIC

FIGURES = [  # of ANALYSIS: name, value, how sure it is
    ('Class', 'coarse grained', '83 %'),
    ('Grain', 'about 3.1 cm (12 px)', '83 %'),
    ('Rocks', '5 within 20 m', '60 %'),
    ('Coverage', '1.3 % of the ground', '60 %'),
    ('Largest rock', 'about 0.8 m wide, 6.2 m away, 12 deg right', '30 %'),
    ('Sharpness', '0.77 of 1', 'measured'),
    ('Exposure', '120 of 255, 0.0 % clipped', 'measured'),
]


def analyzed(event_id: str = 'g1') -> AnalyzedGround:
    return AnalyzedGround(event_id, 1000.0, ANALYSIS, Picture(jpeg(5.0), 1000.0, 0.0))


def analysis_event(event_id: str, ts: float, stamp_s: float) -> TraceEvent:
    """As analyze_ground reports its result."""
    return TraceEvent(
        event_id=event_id,
        ts=ts,
        kind=TraceKind.RESULT,
        message='analyze_ground: done',
        tool_name='analyze_ground',
        ok=True,
        data={
            **ANALYSIS.model_dump(mode='json'),
            'image_topic': ANALYSIS_TOPIC,
            'image_stamp_s': stamp_s,
        },
    )
