#!/usr/bin/env bash
# Entry point of the image: run a command in the environment of the overlay.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/ros_env.sh"
exec "$@"
