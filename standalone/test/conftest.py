from collections.abc import Iterator

import pytest
from demo_bench import Bench

from harness import Sandbox


@pytest.fixture
def bench(sandbox: Sandbox) -> Iterator[Bench]:
    bench = Bench(sandbox)
    try:
        yield bench
    finally:
        bench.close()
