#!/usr/bin/env bash
# Write the tables of docs/reference/contracts.md from a system that this script runs for half a minute. A test fails
# when they are out of date.
set -euo pipefail
scripts=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
"$scripts/setup.sh"
source "$scripts/env.sh"
package=$scripts/../overlay_ws/src/curiosity_rosa_demo
export PYTHONPATH="$package:$package/test:$scripts${PYTHONPATH:+:$PYTHONPATH}"
exec python "$scripts/contract_pages.py"
