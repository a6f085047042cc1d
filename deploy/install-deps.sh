#!/usr/bin/env bash
# Installs the Debian 12 packages that Brink needs, only those that are missing. The one list of them: the quick start, the
# tests and the benchmark all call this script.
set -euo pipefail

build="g++ cmake ninja-build ccache pkg-config ca-certificates curl procps
  libboost1.81-dev libssl-dev libyaml-cpp-dev nlohmann-json3-dev libspdlog-dev libcli11-dev libc-ares-dev
  libhiredis-dev libzstd-dev zlib1g-dev libxxhash-dev libgtest-dev libgmock-dev"
test="python3-minimal redis-server zstd openssl chromium-headless-shell"
bench="nginx-light haproxy varnish wrk python3-minimal"
tools="clang clang-format clang-tidy libclang-rt-14-dev"
node_major=18  # the oldest Node.js that runs the integration tests; Debian 12 has it

usage() {
  cat <<USAGE
usage: deploy/install-deps.sh [--model] [--test] [--bench] [--tools] [--list]
Installs what is missing of the packages for building Brink, and with
  --model   for getting llama.cpp, which the local model runs on (npm, git)
  --test    for the integration tests (Node.js $node_major or newer, npm)
  --bench   for the benchmark (nginx, HAProxy, Varnish, wrk). Debian starts them as services when it installs
            them; the benchmark does not need those: systemctl disable --now nginx haproxy varnish
  --tools   for fuzzing and code style (clang)
  --list    prints the packages and installs nothing
USAGE
}

packages=$build list=no want_node=no
for option in "$@"; do
  case $option in
    --model) packages="$packages git" want_node=yes ;;
    --test) packages="$packages $test git" want_node=yes ;;
    --bench) packages="$packages $bench" ;;
    --tools) packages="$packages $tools" ;;
    --list) list=yes ;;
    -h | --help) usage; exit 0 ;;
    *) usage >&2; exit 2 ;;
  esac
done

has_node() {
  command -v node >/dev/null && [ "$(node -p 'process.versions.node.split(".")[0]' 2>/dev/null || echo 0)" -ge $node_major ]
}
installed() {
  [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ] && return 0
  # Any nginx will do: Debian's variants conflict with each other and other sources name it differently.
  [ "$1" = nginx-light ] && command -v nginx >/dev/null
}

# A Node.js from elsewhere (nodesource, nvm) is left alone: Debian's packages would replace it or stand in its way.
if [ $want_node = yes ]; then
  has_node || packages="$packages nodejs"
  command -v npm >/dev/null || packages="$packages npm"
fi
if [ $list = yes ]; then
  printf '%s\n' $packages | sort -u
  exit 0
fi

command -v dpkg-query >/dev/null && command -v apt-get >/dev/null || {
  echo "error: this script needs Debian's apt-get, which is not here." >&2
  echo "       Install by hand what \`deploy/install-deps.sh --list\` names (Boost 1.81, GCC 12 or newer, CMake 3.25)." >&2
  exit 1
}
missing=
for package in $(printf '%s\n' $packages | sort -u); do installed "$package" || missing="$missing $package"; done
if [ -z "$missing" ]; then
  echo "every package is there already"
  exit 0
fi

as_root=
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || {
    echo "error: these packages are missing and installing them needs root, but there is no sudo:" >&2
    echo "      $missing" >&2
    echo "       Run this as root: apt-get install$missing" >&2
    exit 1
  }
  as_root=sudo
fi

install() {
  $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $missing
}
echo "installing:$missing"
# The package index may be empty or old: then the first try fails, and a fresh index mends it.
install || {
  echo "refreshing the package index and trying again"
  $as_root apt-get update
  install
} || {
  echo "error: apt-get could not install:$missing" >&2
  echo "       Its messages are above. Brink needs Debian 12 (bookworm) with its \"main\" section." >&2
  exit 1
}
