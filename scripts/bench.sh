#!/usr/bin/env bash
# Run every benchmark in turn, or those that are named: scripts/bench.sh [NAME]...
# Each prints a table and, as its last line, one JSON object; writes no files. The exit status tells
# whether something happened that must never happen; a missed aim is only printed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/env.sh
names=("$@")
((${#names[@]})) || names=(image_pipeline adapter capture startup footprint tasks crash stop_latency
  react_overhead hostile_model resume policy_year page_render page_stop)
status=0
for name in "${names[@]}"; do
  [[ -f bench/$name.py && $name != _* ]] || {
    echo "bench: '$name' is not one of: $(cd bench && ls | grep -v '^_' | sed -n 's/\.py$//p' | tr '\n' ' ')" >&2
    exit 2
  }
  printf '== %s\n' "$name"
  python "bench/$name.py" || status=1
done
exit $status
