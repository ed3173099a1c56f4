# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The command line of agent_node."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

# printed with --together, before the agent waits for a line
READY_MESSAGE = 'Ready; it waits for the other rovers.'


def parse_arguments(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog='agent_node', description='The agent and its console.')
    lines = parser.add_mutually_exclusive_group()
    lines.add_argument(
        '-c', '--command', action='append', default=[], help='run this command and exit'
    )
    lines.add_argument(
        '--headless',
        action='store_true',
        help='read no standard input: HTTP and the action only, until SIGINT or SIGTERM',
    )
    parser.add_argument(
        '--artifacts',
        default='',
        help='folder for capture.jpg, analysis.* and trace.jsonl',
    )
    parser.add_argument(
        '--record', metavar='DIR', default='', help='record the run into this folder'
    )
    parser.add_argument('--together', action='store_true', help=argparse.SUPPRESS)
    parser.add_argument('--after-crash', default='', help=argparse.SUPPRESS)
    parser.add_argument('--process-events-fd', type=int, help=argparse.SUPPRESS)
    return parser.parse_args(arguments)
