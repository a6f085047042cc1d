#!/usr/bin/env bash
# Measures Brink, nginx and HAProxy in one interleaved run and writes docs/benchmarks.md; --help lists the options.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

fail() {
  echo "run.sh: $*" >&2
  exit 1
}

for tool in node taskset cmake; do
  command -v "$tool" >/dev/null || fail "$tool is missing: deploy/install-deps.sh --bench installs it"
done
# Ten thousand connections on each side of a proxy; run.mjs says when the limit stays too low.
ulimit -n 65536 2>/dev/null || ulimit -n "$(ulimit -Hn)"

build=yes
for argument in "$@"; do
  case "$argument" in --bin | --bin=* | --help) build=no ;; esac
done
if [[ $build == yes ]]; then
  targets=(bench-origin bench-load brink)
  for argument in "$@"; do
    [[ $argument == --no-brink ]] && targets=(bench-origin bench-load)
  done
  echo "building ${targets[*]} in build/release" >&2
  cmake --preset release >/dev/null || fail "cmake --preset release failed: run it to see why"
  cmake --build --preset release --target "${targets[@]}" >&2 || fail "the build failed"
fi
exec node tests/bench/run.mjs "$@"
