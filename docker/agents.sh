#!/usr/bin/env bash
# In the container: print the process IDs of all running agents.
for process in /proc/[0-9]*; do
  mapfile -d '' -t words 2>/dev/null <"$process/cmdline" || continue
  for word in "${words[@]:0:3}"; do  # python and the script are among the first words
    if [[ $word == /overlay/install/*/agent_node ]]; then echo "${process#/proc/}"; fi
  done
done
