#!/usr/bin/env bash
# Write a recording's report, one HTML file without anything from elsewhere:
#   scripts/report.sh FILE [OUT.html]     without OUT it stands beside FILE
set -euo pipefail
scripts=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$scripts/env.sh"
exec python -m curiosity_rosa_demo.recording.report.main "$@"
