#!/usr/bin/env bash
# Build the image of docker/Dockerfile and let a rover in it find the light, without network and capabilities, as two
# users (the check of contrib/space-ros-demos). Gazebo, the demo's images and a key are not needed.
#
#   scripts/check_image.sh                            on Debian and ROS's wheels; needs docker, debootstrap and root
#   BASE=ros:jazzy-ros-base scripts/check_image.sh    on an image with ROS; needs docker
#
# The first run takes about 6 minutes, later ones 2, because the base is kept. Needs 4 GB.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
die() { printf 'check_image: %s\n' "$*" >&2; exit 1; }
docker version >/dev/null 2>&1 || die "no Docker daemon answers; set DOCKER_HOST if it listens elsewhere"
build() { docker build --network host "$@"; } # a daemon may run without a bridge

base_files=(standalone/test/debian_base.Dockerfile standalone/{requirements.in,requirements.txt,mend_wheels.py})
base=${BASE:-curiosity-rosa-test-base:$(cat "${base_files[@]}" | sha256sum | cut -c 1-12)}
if [[ -z ${BASE:-} ]] && ! docker image inspect "$base" >/dev/null 2>&1; then
  [[ $(id -u) == 0 ]] && command -v debootstrap >/dev/null ||
    die "run it as root with debootstrap installed (apt-get install debootstrap), or set BASE to an image with ROS"
  root=$(mktemp -d)
  trap 'rm -rf "$root"' EXIT
  debootstrap --variant=minbase --include=ca-certificates bookworm "$root"
  cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/" # a proxy may have an authority of its own
  tar -C "$root" -c . | docker import - curiosity-rosa-test-debian
  build -f standalone/test/debian_base.Dockerfile --build-arg DEBIAN=curiosity-rosa-test-debian -t "$base" standalone
fi

for user in 1000:1000 1234:2345; do
  build -f docker/Dockerfile --build-arg BASE="$base" --build-arg HOST_UID="${user%:*}" \
    --build-arg HOST_GID="${user#*:}" -t curiosity-rosa-test .
  run=(docker run --rm --init --network none --cap-drop ALL --security-opt no-new-privileges
    --volume "$PWD/contrib/space-ros-demos/curiosity_rover_rosa/check.sh:/check.sh:ro" curiosity-rosa-test)
  found=$("${run[@]}" bash -c 'echo "$(id -u):$(id -g)"')
  [[ $found == "$user" ]] || die "the processes run as $found, not as $user"
  "${run[@]}" /check.sh || die "user $user: the check failed"
  echo "check_image: user $user: passed"
done
