#!/usr/bin/env bash
# Gets llama.cpp for brink-model: nothing to do when the system has one that CMake finds, otherwise prebuilt libraries and
# the headers that match them, from npm into build/llama. Versions and hashes are those of deploy/llama/package-lock.json.
set -euo pipefail
cd "$(dirname "$0")/.."

target=build/llama

usage() {
  cat <<USAGE
usage: deploy/get-llama.sh [--prebuilt] [--force]
Puts llama.cpp for brink-model into $target, unless CMake or pkg-config already finds one on this system.
  --prebuilt   take the prebuilt libraries even if the system has a llama.cpp
  --force      fetch again what is there already
Afterwards configure again: cmake --preset release
USAGE
}

prebuilt=no force=no
for option in "$@"; do
  case $option in
    --prebuilt) prebuilt=yes ;;
    --force) force=yes ;;
    -h | --help) usage; exit 0 ;;
    *) usage >&2; exit 2 ;;
  esac
done

fail() {
  printf 'error: %s\n' "$1" >&2
  shift
  for line in "$@"; do printf '       %s\n' "$line" >&2; done
  exit 1
}

own_build='Build llama.cpp yourself, install it, and configure Brink with -DCMAKE_PREFIX_PATH=<where>.'

# CMake's own search, so that this script and the build agree; it honours CMAKE_PREFIX_PATH from the environment.
system_has_llama() {
  command -v pkg-config >/dev/null && pkg-config --exists llama && return 0
  command -v cmake >/dev/null || return 1
  local folder
  folder=$(mktemp -d)
  printf 'cmake_minimum_required(VERSION 3.25)\nproject(find LANGUAGES C CXX)\nfind_package(llama REQUIRED)\n' >"$folder/CMakeLists.txt"
  local status=0
  cmake -S "$folder" -B "$folder/build" >/dev/null 2>&1 || status=1
  rm -rf "$folder"
  return $status
}

lock=$(sha256sum deploy/llama/package-lock.json | cut -d' ' -f1)
if [ $force = no ] && [ "$(cat $target/lock 2>/dev/null)" = "$lock" ]; then
  echo "llama.cpp $(cat $target/release) is in $target already"
  exit 0
fi
if [ $prebuilt = no ] && system_has_llama; then
  echo "this system has a llama.cpp of its own, which the build takes (--prebuilt takes another)"
  exit 0
fi

[ "$(uname -s) $(uname -m)" = "Linux x86_64" ] ||
  fail "the prebuilt llama.cpp is for Linux on x86-64, this is $(uname -s) on $(uname -m)" "$own_build"
for program in npm git tar; do
  command -v $program >/dev/null || fail "$program is needed to get llama.cpp and is not here" \
    "deploy/install-deps.sh --test installs npm; git and tar are Debian packages of these names." "$own_build"
done

mkdir -p build
work=$(mktemp -d build/llama.XXXXXX)
trap 'rm -rf "$work"' EXIT

cp deploy/llama/package.json deploy/llama/package-lock.json "$work"
echo "getting llama.cpp from npm (40 MB, once; from npm's cache if it is there)"
npm ci --prefix "$work" --ignore-scripts --prefer-offline --no-audit --no-fund --loglevel=error >"$work/npm.log" 2>&1 || {
  cat "$work/npm.log" >&2
  fail "npm could not install the two packages of deploy/llama/package.json; its messages are above" \
    "Without the network they must be in npm's cache: run this once with it." "$own_build"
}

libraries=$work/node_modules/@node-llama-cpp/linux-x64/bins/linux-x64
source=$work/node_modules/node-llama-cpp/llama
mkdir -p "$work/out/lib" "$work/out/include"
cp "$libraries"/libllama.*.so "$libraries"/libggml*.so "$work/out/lib/"
cp "$work/node_modules/@node-llama-cpp/linux-x64/LICENSE" "$work/out/"
git clone --quiet --bare "$source/gitRelease.bundle" "$work/git"
git -C "$work/git" archive HEAD include | tar -x -C "$work/out/include" --strip-components=1
git -C "$work/git" archive HEAD ggml/include | tar -x -C "$work/out/include" --strip-components=2
sed -nE 's/.*"tag": *"([^"]+)".*/\1/p' "$source/llama.cpp.info.json" >"$work/out/release"
[ -s "$work/out/include/llama.h" ] && [ -s "$work/out/include/ggml.h" ] && [ -s "$work/out/release" ] ||
  fail "the packages hold no llama.cpp where it was expected; their versions are those of deploy/llama/package.json"
# Last, and then moved into place whole: an interrupted run leaves nothing that looks complete.
echo "$lock" >"$work/out/lock"
rm -rf $target
mv "$work/out" $target
echo "llama.cpp $(cat $target/release) is in $target; configure again: cmake --preset release"
