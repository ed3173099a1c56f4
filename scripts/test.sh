#!/usr/bin/env bash
# Set up, lint, type-check, build the documentation and run the tests. Fails if no test ran.
#
#   scripts/test.sh                          every check; the same random examples in each run
#   scripts/test.sh --quick                  what starts no node and no browser and is not slow, with fewer examples; of the checks only ruff
#   scripts/test.sh --thorough               what a release asks for besides, some hours: new examples and three times as many,
#                                            10,000 missions, coverage floors, the net, each benchmark at its smallest size,
#                                            physics; once interrupted it goes on, while the commit is the same
#   scripts/test.sh PYTEST ARGUMENT...       the checks and these tests, e.g. scripts/test.sh -k motion_guard
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
unset PYTHONDONTWRITEBYTECODE  # without bytecode files each of several hundred processes compiles its modules
depth=
case ${1-} in
  --quick | --thorough)
    depth=${1#--}
    (($# == 1)) || { echo "test.sh: $1 takes no further argument, not '${*:2}'" >&2; exit 2; } ;;
esac

# Tests of the camera in physics and of the page need these packages, which a fresh Debian lacks.
missing=()
if [[ $depth != quick ]]; then
  ldconfig -p | grep -q libEGL_mesa.so.0 || missing+=(libegl1 libegl-mesa0 libgl1-mesa-dri)
  command -v chromium >/dev/null || missing+=(chromium fonts-dejavu-core)
fi
if ((${#missing[@]})); then
  if [[ $(id -u) != 0 ]] || ! command -v apt-get >/dev/null; then
    echo "test.sh: missing: apt-get install ${missing[*]}" >&2
    exit 1
  fi
  apt-get update -qq && apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
fi

model=(--model)
[[ $depth != quick ]] || model=()  # only a test with nodes needs it
scripts/setup.sh "${model[@]}"
source scripts/env.sh
# MuJoCo has no wheel for Python 3.10, where the tests of the physics are not collected.
python -c 'import sys; sys.exit(sys.version_info < (3, 11))' && scripts/setup.sh --physics

tests=overlay_ws/src/curiosity_rosa_demo/test
package=overlay_ws/src/curiosity_rosa_demo/curiosity_rosa_demo
with_nodes=("$tests" --ignore "$tests/unit" standalone)  # to collect all tests takes long
without_nodes='not ros and not e2e and not browser'
by_file=(--dist loadfile)  # each in domains of its own; the tests of a file share nodes
static_checks() {
  mypy "$package" standalone/src/curiosity_stand_in/curiosity_stand_in standalone/src/curiosity_physics/curiosity_physics \
    standalone/runner standalone/release standalone/missions & types=$!  # as long as the others, each on one core
  ruff check .
  ruff format --check .
  lint-imports
  scripts/page.sh
  scripts/docs.sh
  wait "$types"
}

if [[ $depth == quick ]]; then
  ruff check .
  HYPOTHESIS_PROFILE=quick exec python -m pytest -n 3 --dist worksteal -m "$without_nodes and not slow" --timeout 1200
fi
static_checks
if [[ -z $depth ]] && (($#)); then exec python -m pytest "$@"; fi

# Three unit tests at a time keep both cores busy, two with nodes: a watchdog that a busy machine misses stops the rover.
# Pytest's status 5, "no tests found", is a failure.
limit_s=1200
unit() { python -m pytest -n 3 --dist worksteal -m "$without_nodes" --timeout "$limit_s" --durations 15 "$@"; }
nodes() { python -m pytest "${with_nodes[@]}" -m 'ros or browser' -n 2 "${by_file[@]}" --durations 15 "$@"; }
end_to_end() { python -m pytest standalone/test -m e2e -n 2 "${by_file[@]}" --durations 15; }

if [[ -z $depth ]]; then
  status=0
  for each in unit nodes end_to_end; do
    "$each" || status=$?
  done
  exit "$status"
fi

# The parts of --thorough. One that has passed at this commit does not run again: an interrupted run goes on.
passed=run/thorough/$(git describe --always --abbrev=40 --dirty)
[[ $passed != *-dirty ]] || rm -rf "$passed"
mkdir -p "$passed"
status=0
part() {
  [[ ! -e $passed/$1 ]] || { echo "test.sh: $1 has passed before"; return; }
  echo "test.sh: $1, $(date +%T)"
  if "${@:2}"; then touch "$passed/$1"; else status=1; fi
}
limit_s=3600 HYPOTHESIS_PROFILE=thorough part examples unit --verbosity 1

# That of the unit tests and of the tests of single nodes, in the packages with a floor.
floored=(domain adapter sim trace viz agent/policy)
covered() {
  local each sources=("${floored[@]/#/--cov=$package/}")
  rm -rf .coverage .coverage.* run/coverage && mkdir -p run/coverage || return
  COVERAGE_FILE=$PWD/run/coverage/unit unit --cov-report= "${sources[@]}" || return
  COVERAGE_FILE=$PWD/run/coverage/nodes nodes --cov-report= "${sources[@]}" || return
  coverage combine run/coverage/unit run/coverage/nodes && coverage report || return
  for each in "${floored[@]}"; do
    coverage report --include="*/curiosity_rosa_demo/$each/*" --fail-under=90 >/dev/null ||
      { echo "test.sh: coverage of $each is below 90 %" >&2; return 1; }
  done
}
part coverage covered
part net scripts/net.sh
part benchmarks scripts/bench.sh --smoke
[[ ! -e .venv/.physics ]] || part physics scripts/physics.sh

missions() {  # 1,000 from this seed
  printf '%s\n' "$1" "$(($1 + 500))" |
    xargs -P 2 -I{} scripts/simulate.sh --seed {} --seeds 500 --minutes 0.25 --quiet
}
for first in {1..9001..1000}; do part "missions-$first" missions "$first"; done
exit "$status"
