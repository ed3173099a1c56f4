from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from harness import Sandbox

settings.register_profile(
    'default', deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=100
)
settings.load_profile('default')


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    with Sandbox() as box:
        yield box
        box.show_logs()
