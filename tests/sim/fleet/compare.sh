#!/usr/bin/env bash
# Runs brink-sim over all scenarios on the traces and writes the tables into docs/balancing.md.
set -euo pipefail
here=$(pwd)
cd "$(dirname "${BASH_SOURCE[0]}")/../../.."

usage() {
  echo "usage: compare.sh --azure FILE --mooncake FILE [--seconds N]"
  echo "  docs/balancing.md says where the traces come from"
}
fail() {
  echo "compare.sh: $*" >&2
  usage >&2
  exit 2
}

azure='' mooncake='' seconds=300
while (($#)); do
  [[ $1 == --help ]] && { usage && exit 0; }
  (($# > 1)) || fail "$1 needs a value, or is unknown"
  case "$1" in
    --azure) azure=$2 ;;
    --mooncake) mooncake=$2 ;;
    --seconds) seconds=$2 ;;
    *) fail "unknown option $1" ;;
  esac
  shift 2
done
[[ $azure == /* || -z $azure ]] || azure=$here/$azure
[[ $mooncake == /* || -z $mooncake ]] || mooncake=$here/$mooncake
[[ -f $azure ]] || fail "--azure: no file '$azure'"
[[ -f $mooncake ]] || fail "--mooncake: no file '$mooncake'"

cmake --preset release >/dev/null
cmake --build --preset release --target brink-sim >&2
sim=build/release/bin/brink-sim
tables=$(mktemp)
trap 'rm -f "$tables"' EXIT

section() {  # TITLE, arguments of brink-sim
  echo -e "\n## $1\n\n\`brink-sim ${*:2}\`" | sed "s|$azure|AZURE.csv|; s|$mooncake|MOONCAKE.jsonl|" >>"$tables"
  "$sim" "${@:2}" >>"$tables"
}
section "Azure's requests, Poisson arrivals, four small engines" --trace azure-poisson --file "$azure" --shape small \
  --seconds "$seconds"
section "Azure's requests, Poisson arrivals, four big engines" --trace azure-poisson --file "$azure" --shape big \
  --seconds "$seconds"
section "Azure's requests with their own bursts, four small engines" --trace azure --file "$azure" --shape small \
  --seconds "$seconds"
section "Mooncake's conversations, eight big engines with prefix caches" --trace mooncake --file "$mooncake" \
  --shape big --engines 8 --slo-ms 5000 --seconds $((4 * seconds))
"$sim" --trace azure-poisson --file "$azure" --shape small --seconds "$seconds" --scenario "brown-out" \
  --policy weighted_round_robin --policy least_requests --policy score --svg docs/balancing.svg >/dev/null

marker='<!-- written by tests/sim/fleet/compare.sh; what stands below is replaced -->'
page=docs/balancing.md
grep -qF "$marker" "$page" || fail "$page lacks the line: $marker"
{ sed "/${marker//\//\\/}/q" "$page"; cat "$tables"; } >"$page.new"
mv "$page.new" "$page"
echo "wrote $page and docs/balancing.svg" >&2
