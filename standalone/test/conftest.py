from collections.abc import Iterator

import pytest
from demo_bench import Bench
from hypothesis import HealthCheck, settings

from harness import Sandbox

settings.register_profile(
    'default', deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=100
)
settings.load_profile('default')


@pytest.fixture
def bench() -> Iterator[Bench]:
    with Sandbox() as box:
        bench = Bench(box)
        try:
            yield bench
        finally:
            bench.close()
