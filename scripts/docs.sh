#!/usr/bin/env bash
# Build the documentation site into run/site. Fails on a dead link, a dead anchor or a page without a menu entry.
#
#   scripts/docs.sh [ARGUMENT OF mkdocs build]...
#
# Tables are made before the site, into run/tables: of configuration.md from the product's schemas, of requirements.md
# from monitor/requirements.yaml, of performance.md and its neighbours from bench/results.
# mkdocs has a separate environment, .venv-docs, because the product does not need it. Open run/site/index.html; the
# search needs a server: "python3 -m http.server -d run/site".
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
scripts/setup.sh
(source scripts/env.sh && python scripts/configuration_tables.py && python scripts/monitor_pages.py --page && python bench/report.py)
source scripts/tool_env.sh
_cr_tool_env .venv-docs standalone/requirements-docs.txt mkdocs
NO_MKDOCS_2_WARNING=1 exec .venv-docs/bin/mkdocs build --strict "$@"
