# A function for docs.sh and page.sh: an environment of its own for a tool that the product does not need. Source it in bash.

_cr_tool_env() {  # _cr_tool_env FOLDER REQUIREMENTS TOOL: make the environment, unless it is complete
  local python=.venv/bin/python key script=${0##*/}
  [[ -x $python ]] || python=python3
  key=$({ "$python" -VV; cat "$2"; } | sha256sum)
  [[ $(cat "$1/.complete" 2>/dev/null) != "$key" ]] || return 0
  echo "$script: installing $3 into $1" >&2
  rm -rf "$1"
  "$python" -m venv "$1"
  "$1/bin/python" -m pip install --quiet --disable-pip-version-check -r "$2" ||
    { echo "$script: pip could not install $2; read its message above, then run scripts/$script again" >&2; exit 1; }
  printf '%s\n' "$key" >"$1/.complete"
}
