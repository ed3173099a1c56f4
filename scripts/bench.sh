#!/usr/bin/env bash
# Run all benchmarks, or the named ones, one after another.
#
#   scripts/bench.sh [NAME]...            each prints a table, then one line with a JSON object
#   scripts/bench.sh --save [NAME]...     and writes the JSON to bench/results, replacing earlier results
#   scripts/bench.sh --append [NAME]...   and appends the JSON there as another run: the page shows median and spread
#   scripts/bench.sh --smoke [NAME]...    each at its smallest size, without peers: a smoke test; all of them two at a
#                                         time, each with its log in run/bench-smoke
#   scripts/bench.sh --report             make the tables of docs/reference from bench/results
#
# Exits with 1 if a benchmark violates an invariant. A missed performance target is only printed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/env.sh
declare -A smallest=([ground]=3 [image_pipeline]=0.1 [adapter]=3 [capture]=3 [startup]=1 [footprint]=1 [tasks]=1 [crash]=2
  [stop_latency]=1 [react_overhead]=1 [hostile_model]=3 [tracing]=2 [resume]="1 1 1" [policy_year]=1 [page_render]=2
  [exploration]=150 [mutation]=1 [monitor]=4000 [rehearsal]=3 [attacks]="--turns 70 --goals 6"
  [simulation]="--seeds 3 --minutes 0.5 --plants 1 --plant-seeds 20"
  [page_stop]=5 [page_load]="--seconds 1 --stops 2 --robots 1 --pages 1" [page_soak]="--minutes 0.1 --pages 2 --tabs 1"
  [graph_questions]=6 [mcp_fuzz]=200 [stop_under_load]=3 [agent_death]="1 2" [launch_loops]=3 [competence]="2 1" [rovers]="1 1"
  [language_models]="--worlds 2 --sentences 6 --model-worlds 0 --model-sentences 0 --peer-worlds 0")
smoke=
case ${1-} in
  --report) exec python bench/report.py ;;
  --save) export CURIOSITY_BENCH_RESULTS=replace; shift ;;
  --append) export CURIOSITY_BENCH_RESULTS=append; shift ;;
  --smoke) export CURIOSITY_BENCH_SMOKE=1; smoke=1; shift ;;
esac
names=("$@")
all=
((${#names[@]})) || all=1
[[ -z $all ]] || names=(ground image_pipeline adapter capture startup footprint tasks crash stop_latency
  react_overhead tracing rehearsal hostile_model resume policy_year page_render page_stop page_load page_soak stop_under_load competence
  mcp_fuzz agent_death launch_loops language_models graph_questions exploration mutation monitor attacks simulation ${smoke:+rovers})
if [[ -n $smoke && -n $all ]]; then
  rm -rf run/bench-smoke
  mkdir -p run/bench-smoke
  printf '%s\n' "${names[@]}" | xargs -P 2 -I{} bash -c \
    'scripts/bench.sh --smoke {} >run/bench-smoke/{}.log 2>&1 || { cat run/bench-smoke/{}.log; exit 1; }'
  exit
fi
status=0
for name in "${names[@]}"; do
  [[ -f bench/$name.py && -n ${smallest[$name]-} ]] || {
    echo "bench: '$name' is not one of: $(printf '%s\n' "${!smallest[@]}" | sort | tr '\n' ' ')" >&2
    exit 2
  }
  printf '== %s\n' "$name"
  size=()
  [[ -z $smoke ]] || read -ra size <<<"${smallest[$name]}"
  python "bench/$name.py" "${size[@]}" || status=1
  [[ -z $smoke ]] || printf 'took %d s since the start\n' "$SECONDS"
done
exit $status
