#!/usr/bin/env bash
# In the container: the process ids of the agents that run in it, whoever started them.
for process in /proc/[0-9]*; do
  mapfile -d '' -t words 2>/dev/null <"$process/cmdline" || continue
  for word in "${words[@]:0:3}"; do  # python, the script
    if [[ $word == /overlay/install/*/agent_node ]]; then echo "${process#/proc/}"; fi
  done
done
