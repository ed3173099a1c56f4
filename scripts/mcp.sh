#!/usr/bin/env bash
# Connect an MCP client on stdin and stdout, such as a desktop client, to the running agent:
#   scripts/mcp.sh [--url http://127.0.0.1:8765/mcp]
# The agent needs http.mcp: true in agent.yaml. The token is read from CURIOSITY_HTTP_TOKEN.
set -euo pipefail
scripts=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$scripts/env.sh" >&2
exec python -m curiosity_rosa_demo.agent.interfaces.mcp.bridge "$@"
