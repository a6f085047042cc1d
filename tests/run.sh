#!/usr/bin/env bash
# Installs what the tests need, builds Brink and runs everything: unit tests, fuzz corpora and the integration suite under
# ASan and UBSan, what crosses threads under TSan, and the quick start on an optimised build. Ends with the total alone on a
# line and status 0 only when something ran and nothing failed. Test output is shown and kept in build/logs/.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
. deploy/steps.sh

usage() {
  cat <<'USAGE'
usage: tests/run.sh [--fast] [--filter TEXT]
  --fast         only the dev build (ASan and UBSan)
  --filter TEXT  only unit tests whose full name contains TEXT and integration files whose name does; implies --fast
USAGE
}

fast=no filter=
while [ $# -gt 0 ]; do
  case $1 in
    --fast) fast=yes ;;
    --filter) [ $# -ge 2 ] || { usage >&2; exit 2; }; filter=$2 fast=yes; shift ;;
    -h | --help) usage; exit 0 ;;
    *) usage >&2; exit 2 ;;
  esac
  shift
done

export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_stack_use_after_return=1:strict_string_checks=1}
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1}
export TSAN_OPTIONS=${TSAN_OPTIONS:-second_deadlock_stack=1}
passed=0 failed=0 skipped=0 failures=()

trap 'end_step; exit 130' INT TERM

# One number out of a log: the sum of what the pattern's last group matches.
count() { sed -nE "s/$2/\\1/p" "$1" | awk '{sum += $1} END {print sum + 0}'; }

# tally NAME LOG STATUS PASSED FAILED SKIPPED : adds a runner's closing numbers to the total. A runner that failed without
# naming a failed test (a crash, a sanitizer's report) or that ran nothing counts as one failure.
tally() {
  local name=$1 log=$2 status=$3 bad=$5
  if [ "$bad" -eq 0 ] && { [ "$status" -ne 0 ] || [ $(($4 + $6)) -eq 0 ]; }; then bad=1; fi
  passed=$((passed + $4)) failed=$((failed + bad)) skipped=$((skipped + $6))
  if [ "$bad" -gt 0 ]; then failures+=("$name ($log, exit status $status)"); fi
}

# runner NAME LOG COMMAND... : runs one test program with its output on the terminal and in the log.
runner() {
  local log=$LOG_DIR/$2.log
  printf '\n== %s\n' "$1"
  mkdir -p "$LOG_DIR"
  "${@:3}" 2>&1 </dev/null | tee "$log"
  return "${PIPESTATUS[0]}"
}

unit_tests() {  # PRESET PROGRAM
  local log=$1-$2 status=0 path=build/$1/bin/$2
  runner "$2 ($1)" "$log" "$path" --gtest_brief=1 --gtest_filter="*$filter*" || status=$?
  log=$LOG_DIR/$log.log
  if [ -n "$filter" ] && grep -q '^\[==========\] 0 tests' "$log"; then return; fi
  tally "$2 ($1)" "$log" $status "$(count "$log" '^\[  PASSED  \] ([0-9]+) tests?\.')" \
    "$(count "$log" '^\[  FAILED  \] ([0-9]+) tests?, listed below:')" \
    "$(count "$log" '^\[  SKIPPED \] ([0-9]+) tests?[.,].*')"
}

corpus() {  # NAME
  local log=dev-corpus-$1 status=0
  runner "fuzz corpus: $1 (dev)" "$log" "build/dev/bin/fuzz_$1_corpus" "tests/fuzz/corpus/$1" || status=$?
  log=$LOG_DIR/$log.log
  tally "fuzz corpus $1" "$log" $status "$(count "$log" '^([0-9]+) passed, [0-9]+ failed$')" \
    "$(count "$log" '^[0-9]+ passed, ([0-9]+) failed$')" 0
}

integration() {  # PRESET FILE...
  local preset=$1 log=$1-integration status=0
  shift
  runner "integration tests ($preset)" "$log" env BRINK_BIN="$PWD/build/$preset/bin/brink" \
    node --test --test-reporter=spec "$@" || status=$?
  log=$LOG_DIR/$log.log
  tally "integration ($preset)" "$log" $status "$(count "$log" '^. pass ([0-9]+)$')" \
    $(($(count "$log" '^. fail ([0-9]+)$') + $(count "$log" '^. cancelled ([0-9]+)$'))) \
    "$(count "$log" '^. skipped ([0-9]+)$')"
}

# The suite behind cache-tests.fyi. A check of it that falls below its floor counts as one failure.
conformance() {  # PRESET
  local log=$1-conformance status=0 passed
  runner "http-cache-tests ($1)" "$log" env BRINK_BIN="$PWD/build/$1/bin/brink" node tests/conformance/run.mjs || status=$?
  passed=$(count "$LOG_DIR/$log.log" '^required: ([0-9]+) of .*')
  tally "http-cache-tests ($1)" "$LOG_DIR/$log.log" $status $((passed + $(count "$LOG_DIR/$log.log" '^optimal: ([0-9]+) of .*'))) \
    $((status != 0)) 0
}

build() {  # PRESET TARGET... (none: all of them)
  local preset=$1
  shift
  [ $# -eq 0 ] || set -- --target "$@"
  step "configure ($preset)" "$preset-configure" cmake --preset "$preset"
  step "build ($preset)" "$preset-build" cmake --build --preset "$preset" "$@"
}

dev() {
  local program file files=()
  build dev
  for program in build/dev/bin/*_test; do unit_tests dev "${program##*/}"; done
  for file in tests/integration/*"$filter"*.test.mjs; do [ -e "$file" ] && files+=("$file"); done
  if [ -z "$filter" ]; then
    corpus head
    corpus chunked
  fi
  if [ ${#files[@]} -gt 0 ]; then integration dev "${files[@]}"; fi
  if [ -z "$filter" ]; then conformance dev; fi
}

# Where threads meet: endpoint counters and the registry, the memory cache, followers on other workers, snapshots handed
# to workers, drain.
tsan() {
  build tsan router_test cache_test proxy_test brink gpu-sim
  unit_tests tsan router_test
  unit_tests tsan cache_test
  unit_tests tsan proxy_test
  integration tsan tests/integration/{reload,drain,cache-coalescing}.test.mjs
}

release() {
  local status=0 readme=build/readme.yaml
  build release brink gpu-sim bench-origin bench-load
  awk '/^```yaml$/ {inside = 1; next} /^```$/ && inside {exit} inside' README.md >$readme
  runner "the README's configuration (release)" release-readme build/release/bin/brink check -c $readme || status=$?
  tally "the README's configuration" "$LOG_DIR/release-readme.log" $status $((status == 0)) 0 0
  status=0
  runner "quick start (release)" release-quickstart deploy/quickstart.sh --once || status=$?
  tally "quick start" "$LOG_DIR/release-quickstart.log" $status $((status == 0)) 0 0
}

begin=$SECONDS
step "packages" packages deploy/install-deps.sh --test
step "llama.cpp" llama deploy/get-llama.sh
step "test clients from npm" npm npm ci --prefix tests --no-fund --no-audit
dev
if [ $fast = no ]; then
  tsan
  release
fi

printf '\n== total after %s\n' "$(elapsed $((SECONDS - begin)))"
for failure in "${failures[@]}"; do printf 'failed: %s\n' "$failure"; done
if [ $skipped -gt 0 ]; then suffix=", $skipped skipped"; else suffix=; fi
if [ $((passed + failed)) -eq 0 ]; then printf 'no test matches "%s"\n' "$filter"; fi
printf '%d passed, %d failed%s\n' $passed $failed "$suffix"
[ $failed -eq 0 ] && [ $passed -gt 0 ]
