#!/usr/bin/env bash
# The image's entry point: a command in the overlay's environment.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/ros_env.sh"
exec "$@"
