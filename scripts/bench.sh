#!/usr/bin/env bash
# Run all benchmarks, or the named ones, one after another.
#
#   scripts/bench.sh [NAME]...            each prints a table for each of its parts; python bench/NAME.py --help has more
#   scripts/bench.sh --save [NAME]...     and writes its results to bench/results
#   scripts/bench.sh --smoke [NAME]...    each at its smallest size, without peers: a smoke test, each with its log in
#                                         run/bench-smoke
#
# Exits with 1 if a benchmark violates an invariant. A missed aim is only printed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/env.sh
option=
case ${1-} in
  --save | --smoke) option=$1; shift ;;
esac
all=()
for file in bench/[a-z]*.py; do
  name=$(basename "$file" .py)
  [[ $name == report ]] || all+=("$name")
done
for name in "$@"; do
  [[ " ${all[*]} " == *" $name "* ]] || { echo "bench: '$name' is not one of: ${all[*]}" >&2; exit 2; }
done
(($#)) || set -- "${all[@]}"
status=0
for name in "$@"; do
  if [[ $option == --smoke ]]; then
    mkdir -p run/bench-smoke
    log=run/bench-smoke/$name.log
    python "bench/$name.py" --smoke >"$log" 2>&1 || { cat "$log"; status=1; }
  else
    python "bench/$name.py" $option || status=1
  fi
done
exit $status
