#!/usr/bin/env bash
# Gets a real model for `local_model`: resumes an interrupted download, checks size and SHA-256, and only then gives the
# file its name. The values below are for the default. They were not measured by downloading: size and hash are those that
# many independent projects publish for this file at this revision. A wrong one makes the script refuse a file that is
# right, never accept one that is not.
set -euo pipefail

revision=9217f5db79a29953eb74d5343926648285ec7e67
url=https://huggingface.co/Qwen/Qwen2.5-0.5B-Instruct-GGUF/resolve/$revision/qwen2.5-0.5b-instruct-q4_k_m.gguf
bytes=491400032
sha256=74a4da8c9fdbcd15bd1f6d01d621410d31c6fc00986f5eb687824e7b93d7a9db
folder=$(dirname "$0")/../build/models

usage() {
  cat <<USAGE
usage: deploy/fetch-model.sh [--url URL --sha256 HASH] [--folder FOLDER]
Downloads a GGUF file that brink-model can serve. Default: Qwen2.5-0.5B-Instruct, Q4_K_M, 491 MB, Apache-2.0.
  --url     another GGUF file; needs --sha256
  --sha256  what the file's SHA-256 must be, in hex
  --folder  where it goes (default: build/models of this checkout)
Run it again after an interruption: it goes on where it stopped.
USAGE
}

fail() {
  printf 'error: %s\n' "$1" >&2
  shift
  for line in "$@"; do printf '       %s\n' "$line" >&2; done
  exit 1
}

own_url=no own_sha256=no
while [ $# -gt 0 ]; do
  case $1 in
    --url | --sha256 | --folder) [ -n "${2:-}" ] || { echo "$1 needs a value" >&2; usage >&2; exit 2; } ;;&
    --url) url=$2 own_url=yes bytes=; shift 2 ;;
    --sha256) sha256=${2,,} own_sha256=yes; shift 2 ;;
    --folder) folder=$2; shift 2 ;;
    -h | --help) usage; exit 0 ;;
    *) usage >&2; exit 2 ;;
  esac
done
[ $own_url = no ] || [ $own_sha256 = yes ] ||
  fail "--url needs --sha256" "Take the hash from the page that publishes the file."
[[ $sha256 =~ ^[0-9a-f]{64}$ ]] || fail "--sha256 is 64 hexadecimal digits, this is: $sha256"
name=${url##*/}
name=${name%%[?#]*}
[[ $name =~ ^[A-Za-z0-9._-]+\.gguf$ ]] || fail "the URL does not end in the name of a .gguf file: $url"
for program in curl sha256sum; do
  command -v $program >/dev/null || fail "$program is needed and is not here" "On Debian: apt-get install curl coreutils"
done

mkdir -p "$folder" || fail "the folder $folder cannot be made"
folder=$(cd "$folder" && pwd)
file=$folder/$name
part=$file.part

hash_of() { sha256sum -- "$1" | cut -d' ' -f1; }
size_of() { stat -c %s -- "$1"; }

how_to_use() {
  cat <<USE
$file is there, and its SHA-256 is right. In the configuration:

local_model:
  file: $file

and \`fallback: local_model\` in each cluster that it answers for; then restart Brink.
USE
}

if [ -e "$file" ]; then
  found=$(hash_of "$file")
  [ "$found" = "$sha256" ] || fail "$file is there, but is not the file that was asked for" \
    "its SHA-256 is  $found" "and should be   $sha256" "Remove it or choose another --folder."
  how_to_use
  exit 0
fi

have=0
[ ! -e "$part" ] || have=$(size_of "$part")
if [ -n "$bytes" ] && [ "$have" -gt "$bytes" ]; then
  echo "$part is longer than the file should be, and is begun anew"
  rm -f -- "$part"
  have=0
fi
if [ -n "$bytes" ]; then
  free=$(($(df --output=avail -B1 -- "$folder" | tail -n 1)))
  [ $((bytes - have)) -le $free ] || fail "$folder has $free bytes free, $((bytes - have)) are needed"
fi

progress=--silent
[ ! -t 2 ] || progress=--progress-bar
# Whole already when only the renaming was interrupted; a server answers 416 to a request for what lies behind the end.
if [ "$have" != "${bytes:-none}" ] && ! { [ "$have" -gt 0 ] && [ "$(hash_of "$part")" = "$sha256" ]; }; then
  [ "$have" = 0 ] || echo "going on after $have bytes"
  echo "getting $url"
  status=0
  curl $progress --show-error --fail --location --retry 3 --connect-timeout 15 --speed-limit 1000 \
    --speed-time 60 --continue-at - --output "$part" ${bytes:+--max-filesize "$bytes"} -- "$url" || status=$?
  kept="What came so far is in $part; run this again to go on."
  [ -s "$part" ] || kept="Nothing was downloaded."
  demo="Without a network Brink can serve deploy/demo-model/brink-demo.gguf, which only says that the backends are gone."
  case $status in
    0) ;;
    6 | 7 | 28 | 35 | 52 | 55 | 56)
      fail "the server could not be reached, or the connection broke (curl's status $status)" "$kept" "$demo"
      ;;
    18) fail "the connection ended in the middle of the file" "$kept" ;;
    22) fail "the server does not give out this file (its answer is above)" "Is the URL right? $url" ;;
    23) fail "$part cannot be written" "Is the disk full?" ;;
    63) fail "the server's file is larger than the $bytes bytes it should have: it is not the one asked for" ;;
    *) fail "curl failed with status $status" "$kept" ;;
  esac
fi

found=$(hash_of "$part")
if [ "$found" != "$sha256" ]; then
  size=$(size_of "$part")
  rm -f -- "$part"
  fail "what came is not the file that was asked for, and was removed" "it has $size bytes${bytes:+, should have $bytes}" \
    "its SHA-256 is  $found" "and should be   $sha256"
fi
[ "$(head -c 4 -- "$part")" = GGUF ] || fail "$part has the right SHA-256 but is no GGUF file; is the URL right?"
mv -- "$part" "$file"
how_to_use
