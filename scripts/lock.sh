#!/usr/bin/env bash
# Pin all packages for CPython 3.10 to 3.12. docker/requirements.in gets the versions of standalone/requirements.in.
#   scripts/lock.sh [ARGUMENT OF uv pip compile]...     e.g. scripts/lock.sh --upgrade
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
command -v uv >/dev/null || { echo "lock.sh needs uv: pip install uv" >&2; exit 1; }
lock() { uv pip compile --universal --python-version 3.10 --no-header --no-annotate "$@"; }
lock --output-file standalone/requirements.txt standalone/requirements.in "$@"
lock --output-file docker/requirements.txt docker/requirements.in --constraint standalone/requirements.txt "$@"
lock --output-file standalone/requirements-node.txt standalone/requirements-node.in "$@"
lock --output-file standalone/requirements-docs.txt standalone/requirements-docs.in "$@"
lock --output-file standalone/requirements-net.txt standalone/requirements-net.in "$@"
lock --output-file standalone/requirements-release.txt standalone/requirements-release.in "$@"
