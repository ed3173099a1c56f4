#!/usr/bin/env bash
# Build the documentation site into run/site. Fails on a dead link, a dead anchor or a page without a menu entry.
#
#   scripts/docs.sh [ARGUMENT OF mkdocs build]...
#
# mkdocs has a separate environment, .venv-docs, because the product does not need it. Open run/site/index.html; the
# search needs a server: "python3 -m http.server -d run/site".
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
requirements=standalone/requirements-docs.txt
python=.venv/bin/python
[[ -x $python ]] || python=python3
key=$({ "$python" -VV; cat "$requirements"; } | sha256sum)
if [[ $(cat .venv-docs/.complete 2>/dev/null) != "$key" ]]; then
  echo "docs.sh: installing mkdocs into .venv-docs" >&2
  rm -rf .venv-docs
  "$python" -m venv .venv-docs
  .venv-docs/bin/python -m pip install --quiet --disable-pip-version-check -r "$requirements" ||
    { echo "docs.sh: pip could not install $requirements; read its message above, then run scripts/docs.sh again" >&2; exit 1; }
  printf '%s\n' "$key" >.venv-docs/.complete
fi
NO_MKDOCS_2_WARNING=1 exec .venv-docs/bin/mkdocs build --strict "$@"
