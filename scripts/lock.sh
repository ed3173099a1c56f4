#!/usr/bin/env bash
# Pin every package of standalone/requirements.in, for CPython 3.10 to 3.12, into requirements.txt.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../standalone"
command -v uv >/dev/null || { echo "lock.sh needs uv: pip install uv" >&2; exit 1; }
exec uv pip compile --universal --python-version 3.10 --no-header --no-annotate \
  --output-file requirements.txt requirements.in "$@"
