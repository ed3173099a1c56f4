#!/usr/bin/env bash
# Write the report of a recording, one self-contained HTML file, or those of a folder with an index:
#   scripts/report.sh FILE [OUT.html]     default: beside FILE
#   scripts/report.sh DIR [OUT_DIR]       default: into DIR; OUT_DIR/index.html links to the reports
set -euo pipefail
scripts=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$scripts/env.sh"
exec python -m curiosity_rosa_demo.recording.report "$@"
