#!/usr/bin/env bash
# Build the image osrf/space-ros:curiosity_rover_rosa on osrf/space-ros:latest. Run it again after a change of source.env.
#   CURIOSITY_ROSA=<git address or checkout> ./build.sh
# Within the repository of Curiosity ROSA nothing needs to be set: its last commit is taken.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
die() { printf 'build.sh: %s\n' "$*" >&2; exit 1; }
source ./source.env

if [[ -z $CURIOSITY_ROSA && -e ../../../.git && -f ../../../docker/Dockerfile ]]; then
  CURIOSITY_ROSA=$(cd ../../.. && pwd) CURIOSITY_ROSA_TAG=HEAD
fi
[[ -n $CURIOSITY_ROSA ]] || die "set CURIOSITY_ROSA, here or in source.env, to the git address of Curiosity ROSA"
rm -rf curiosity-rosa
git clone --quiet "$CURIOSITY_ROSA" curiosity-rosa || die "git cannot clone CURIOSITY_ROSA=$CURIOSITY_ROSA"
git -C curiosity-rosa checkout --quiet --detach "$CURIOSITY_ROSA_TAG" ||
  die "$CURIOSITY_ROSA has no CURIOSITY_ROSA_TAG=$CURIOSITY_ROSA_TAG"
[[ ${1:-} != --sources ]] || exit 0 # for run.sh in the Gazebo demo's images, which compose.override.yaml builds

command -v docker >/dev/null || die "docker is missing"
docker build --tag osrf/space-ros:curiosity_rover_rosa --file curiosity-rosa/docker/Dockerfile \
  --build-arg BASE="${BASE:-osrf/space-ros:latest}" curiosity-rosa
