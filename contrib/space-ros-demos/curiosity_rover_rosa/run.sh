#!/usr/bin/env bash
# Run the demo. Needs ./build.sh once.
#   ./run.sh            Gazebo and RViz of ../curiosity_rover, with the agent; its page is http://127.0.0.1:8765/
#   ./run.sh --check    no Gazebo, no screen, no key: exit status 0 only if the rover has found the light
#   ./run.sh --console [-c COMMAND]...    attach a console to the agent
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
die() { printf 'run.sh: %s\n' "$*" >&2; exit 1; }
[[ -f curiosity-rosa/compose.override.yaml ]] || die "run ./build.sh first"
command -v docker >/dev/null || die "docker is missing"

case ${1:-} in
  --check)
    exec docker run --rm --init --volume "$PWD/check.sh:/check.sh:ro" osrf/space-ros:curiosity_rover_rosa /check.sh
    ;;
  --console | '')
    demo=${DEMO_DIR:-../curiosity_rover}
    [[ -f $demo/docker-compose.yml ]] || die "no docker-compose.yml in DEMO_DIR=$demo: name the folder curiosity_rover"
    DEMO_DIR=$(cd "$demo" && pwd)
    export DEMO_DIR
    if [[ ${1:-} == --console ]]; then exec curiosity-rosa/scripts/console.sh "${@:2}"; fi
    exec curiosity-rosa/scripts/compose.sh up
    ;;
  *) die "unknown option $1; there are --check and --console" ;;
esac
