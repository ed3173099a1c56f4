#!/usr/bin/env bash
# Write the report of a recording, one self-contained HTML file:
#   scripts/report.sh FILE [OUT.html]     default: beside FILE
set -euo pipefail
scripts=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$scripts/env.sh"
exec python -m curiosity_rosa_demo.recording.report.main "$@"
