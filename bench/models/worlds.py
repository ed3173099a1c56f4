# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The search of the light in random worlds by your model, as a task of Inspect.

Run: inspect eval bench/models/worlds.py -T provider=openai -T model=NAME [-T base_url=URL]
[-T worlds=20] [-T seed=1] [-T config=FOLDER] [-T agent=rosa] [-T workers=1]. The key comes from
the environment, as in the product. Provider perfect and hostile are stubs without a model.
"""

from pathlib import Path
import sys

from inspect_ai import Task, task
from inspect_ai.dataset import Sample

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from models.inspection import contender, NO_MODEL, outcome, turn_of


@task
def worlds(
    provider: str = '',
    model: str = '',
    base_url: str = '',
    worlds: int = 20,
    seed: int = 1,
    config: str = '',
    agent: str = 'product',
    workers: int = 1,
) -> Task:
    samples = [
        Sample(f'world {each}', id=f'seed {each}', metadata={'seed': each})
        for each in range(seed, seed + worlds)
    ]
    who = contender(agent, provider, model, base_url, config)
    return Task(samples, solver=turn_of(who, workers), scorer=outcome(), model=NO_MODEL)
