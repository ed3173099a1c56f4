# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A hundred sentences in three languages to your model, as a task of Inspect.

Run: inspect eval bench/models/sentences.py -T provider=openai -T model=NAME [-T base_url=URL]
[-T config=FOLDER] [-T agent=rosa] [-T workers=1], and --limit N for the first N. See worlds.py.
"""

from pathlib import Path
import sys

from inspect_ai import Task, task
from inspect_ai.dataset import Sample

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from models.inspection import contender, NO_MODEL, outcome, turn_of
from models.outcome import sentences as rows


@task
def sentences(
    provider: str = '',
    model: str = '',
    base_url: str = '',
    config: str = '',
    agent: str = 'product',
    workers: int = 1,
) -> Task:
    samples = [
        Sample(row.text, target=row.label, metadata={'label': row.label, 'text': row.text})
        for row in rows()
    ]
    who = contender(agent, provider, model, base_url, config)
    return Task(samples, solver=turn_of(who, workers), scorer=outcome(), model=NO_MODEL)
