# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.
"""The process that runs llm.provider local: llama.cpp's own server, on the loopback alone.

Run: python -m curiosity_rosa_demo.agent.llm.local_child MODEL CONTEXT_TOKENS

The key of the server comes in KEY_VARIABLE. Standard output takes one line of JSON: the address,
or the error. The process ends with the one that holds the other end of its standard input.
"""

from __future__ import annotations

import fcntl
import json
import os
import select
import sys
from typing import Any

KEY_VARIABLE = 'CURIOSITY_LOCAL_MODEL_KEY'
THREADS = 2  # at most
NICENESS = 10  # of the process: adapter and kernel go first


def end_with_the_parent() -> None:
    """Let the kernel end this process when the pipe on standard input is closed: also on SIGKILL
    of the parent, and while C++ code holds the interpreter.
    """
    fcntl.fcntl(0, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(0, fcntl.F_SETFL, fcntl.fcntl(0, fcntl.F_GETFL) | os.O_ASYNC)  # SIGIO
    if select.select([0], [], [], 0.0)[0]:  # it was closed before
        os._exit(0)


def make_server(model: str, context_tokens: int, key: str) -> Any:
    """llama.cpp's server, which runs in threads of this process. Raises RuntimeError."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = model
    params.n_ctx = context_tokens
    params.n_parallel = 1
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = _threads()
    params.api_keys = [key]
    params.endpoint_slots = params.ui = False
    params.verbosity = 0
    return xllamacpp.Server(params)


def _threads() -> int:
    return min(THREADS, len(os.sched_getaffinity(0)))


def main() -> int:
    end_with_the_parent()
    os.nice(NICENESS)
    try:
        server = make_server(sys.argv[1], int(sys.argv[2]), os.environ.pop(KEY_VARIABLE))
    except Exception as error:  # what the library raises for a file that is no model
        print(json.dumps({'error': f'{type(error).__name__}: {error}'}), flush=True)
        return 1
    print(json.dumps({'url': server.listening_address}), flush=True)
    while sys.stdin.buffer.read(1):
        pass
    return 0


if __name__ == '__main__':
    sys.exit(main())
