#!/usr/bin/env bash
# Check the page's JavaScript: Biome lints it and checks its format, TypeScript checks the types of its JSDoc, and
# Node.js tests its pure modules.
#
#   scripts/page.sh          check
#   scripts/page.sh --fix    first apply Biome's format and its safe fixes
#
# The product needs no Node.js. This installs one into .venv-node, and into node_modules what package-lock.json pins.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
case ${1-} in
  '') biome=(check) ;;
  --fix) biome=(check --write) ;;
  *) echo "page.sh: unknown argument '$1'; usage: scripts/page.sh [--fix]" >&2; exit 2 ;;
esac
source scripts/tool_env.sh
_cr_tool_env .venv-node standalone/requirements-node.txt Node.js
PATH=$PWD/.venv-node/bin:$PATH
key=$(cat package.json package-lock.json .npmrc | sha256sum)
if [[ $(cat node_modules/.complete 2>/dev/null) != "$key" ]]; then
  echo "page.sh: installing Biome and TypeScript into node_modules" >&2
  npm ci --ignore-scripts --silent ||
    { echo "page.sh: npm could not install package-lock.json; 'npm ci --ignore-scripts' shows why" >&2; exit 1; }
  printf '%s\n' "$key" >node_modules/.complete
fi
node_modules/.bin/biome "${biome[@]}" --error-on-warnings
node_modules/.bin/tsc --noEmit
node --no-warnings --test --test-reporter=dot standalone/test/*.test.mjs
