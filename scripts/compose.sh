#!/usr/bin/env bash
# Run docker compose with the Curiosity demo's file and our override file:
#
#   scripts/compose.sh build | up | ps | logs -f curiosity_demo | down | ...
#
# DEMO_DIR is the demo's folder, from the environment or .env. Default: ../demos/curiosity_rover.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
die() { printf 'compose: %s\n' "$*" >&2; exit 1; }

files=()
if [[ -f .env ]]; then
  files+=(--env-file "$PWD/.env")
  demo=$(sed -n 's/^DEMO_DIR=//p' .env | tail -n 1)
fi
demo=${DEMO_DIR:-${demo:-../demos/curiosity_rover}}
[[ -f $demo/docker-compose.yml ]] ||
  die "no docker-compose.yml in DEMO_DIR=$demo: set it in .env to curiosity_rover of a checkout of github.com/space-ros/demos"
version=$(docker compose version --short 2>/dev/null) ||
  die "'docker compose' is missing: install Docker's compose plugin, 2.24 or newer"
[[ $(printf '%s\n' 2.24 "${version#v}" | sort -V | head -n 1) == 2.24 ]] ||
  die "docker compose is $version; 2.24 or newer is needed"

export CURIOSITY_ROSA_DIR=$PWD
# The user in the container gets your user and group ID, but never root's.
export HOST_UID=${HOST_UID:-$(id -u)} HOST_GID=${HOST_GID:-$(id -g)}
if [[ $HOST_UID == 0 ]]; then HOST_UID=1000 HOST_GID=1000; fi
export XAUTHORITY=${XAUTHORITY-} # the demo's file uses it; Compose warns if it is unset
# Compose warns at each call that the demo's file has the obsolete attribute "version".
compose=(docker --log-level error compose "${files[@]}" -f "$demo/docker-compose.yml" -f compose.override.yaml)
case ${1:-} in
  down | stop | kill | rm) export COMPOSE_PROFILES=${COMPOSE_PROFILES:-headless} ;; # they leave curiosity_headless without
esac
# Compose stops all services at once; without Gazebo's odometry the adapter cannot confirm that the rover stands.
if [[ ${1:-} == @(down|stop) && " $* " != *' -h '* && " $* " != *' --help '* ]] &&
  [[ " $* " != *' curiosity_'* || " $* " == *' curiosity_demo '* ]]; then # no service is named, or this one
  "${compose[@]}" stop curiosity_demo
fi
exec "${compose[@]}" "$@"
