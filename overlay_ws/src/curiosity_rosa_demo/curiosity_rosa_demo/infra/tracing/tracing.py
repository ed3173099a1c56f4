# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Tracing of this process, as agent.yaml configures it."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
import os
from pathlib import Path

from curiosity_rosa_demo.infra.config.agent import TracingConfig
from curiosity_rosa_demo.infra.tracing.exporters import make_exporter
from curiosity_rosa_demo.infra.tracing.span import Value
from curiosity_rosa_demo.infra.tracing.span_queue import SpanQueue

SERVICE = 'curiosity_rosa'
PACKAGE = 'curiosity_rosa_demo'


def make_span_queue(
    config: TracingConfig,
    *,
    file: Path,
    node: str,
    namespace: str,
    write: Callable[[str], None],
    failed: Callable[[int, Exception], None],
) -> SpanQueue | None:
    """The queue of ended spans; None if tracing is off. Raises OSError."""
    exporter = make_exporter(config, file, resource_attributes(node, namespace), write)
    return None if exporter is None else SpanQueue(exporter, failed)


def resource_attributes(node: str, namespace: str) -> dict[str, Value]:
    """What OpenTelemetry calls the resource: the process that makes the spans."""
    return {
        'service.name': SERVICE,
        'service.version': _version(),
        'process.pid': os.getpid(),
        'ros.domain_id': os.environ.get('ROS_DOMAIN_ID') or '0',
        'ros.node': f'{namespace.rstrip("/")}/{node}',
        'ros.distro': os.environ.get('ROS_DISTRO', ''),
    }


def _version() -> str:
    try:
        return version(PACKAGE)
    except PackageNotFoundError:
        return 'unknown'
