#!/usr/bin/env bash
# One command from a fresh Debian 12 to Brink in front of three backends: installs, builds, starts three simulated GPU
# engines of different speed and Brink with conf/quickstart.yaml, sends real requests and shows where each went, stops the
# engines and shows who answers then. It stays in front until Ctrl-C, which ends all it started.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
. deploy/steps.sh

config=conf/quickstart.yaml
bin=build/release/bin
edge=127.0.0.1:8080
admin=127.0.0.1:9901
model=llama-3-8b-instruct
# name, port and slowness of each engine; the ports are those of conf/quickstart.yaml
engines=("fast 9101 1" "medium 9102 2" "slow 9103 4")
requests=60 at_once=4 shown=10
ready_within=20  # seconds

usage() {
  cat <<USAGE
usage: deploy/quickstart.sh [--once]
Builds Brink, puts it on http://$edge in front of three simulated GPU engines and sends them real requests.
  --once   end after the demonstration instead of waiting for Ctrl-C
USAGE
}

once=no
for option in "$@"; do
  case $option in
    --once) once=yes ;;
    -h | --help) usage; exit 0 ;;
    *) usage >&2; exit 2 ;;
  esac
done

pids=() names=() answers= next_program=0 local_model=yes

# Ends what this script started, Brink first so that it does not see its backends die; kill -9 after 5 s.
stop_all() {
  trap - EXIT INT TERM HUP
  end_step
  local pid i
  for ((i = ${#pids[@]} - 1; i >= 0; i--)); do
    pid=${pids[i]}
    kill -TERM "$pid" 2>/dev/null || continue
    for _ in $(seq 50); do kill -0 "$pid" 2>/dev/null || break; sleep 0.1; done
    kill -KILL "$pid" 2>/dev/null && echo "${names[i]} (pid $pid) did not end within 5 s and was killed" >&2
    wait "$pid" 2>/dev/null
  done
  if [ -n "$answers" ]; then rm -rf "$answers"; fi
}
trap stop_all EXIT
trap 'echo; echo "stopping"; exit 130' INT
trap 'exit 143' TERM HUP

# start NAME COMMAND... : in the background with its output in a log, out of the terminal's reach: Ctrl-C comes to this
# script alone, which then ends its programs in order.
start() {
  local name=$1
  shift
  mkdir -p "$LOG_DIR"
  setsid "$@" >"$LOG_DIR/$name.log" 2>&1 </dev/null &
  pids[next_program]=$!
  names[next_program]=$name
  next_program=$((next_program + 1))
}

# Those of the engines are the first programs, in their order.
start_engines() {
  next_program=0
  local engine name port slowness
  for engine in "${engines[@]}"; do
    read -r name port slowness <<<"$engine"
    start "$name" "$bin/gpu-sim" --listen "127.0.0.1:$port" --name "$name" --slowness "$slowness" --model $model
  done
  for engine in "${engines[@]}"; do
    read -r name port slowness <<<"$engine"
    wait_for "$name" "http://127.0.0.1:$port/health"
  done
}

stop_engines() {
  local i
  for i in "${!engines[@]}"; do kill "${pids[i]}" 2>/dev/null; done
  for i in "${!engines[@]}"; do wait "${pids[i]}" 2>/dev/null; done
}

# Fails when a program that should be running is not.
all_alive() {
  local i
  for i in "${!pids[@]}"; do
    kill -0 "${pids[i]}" 2>/dev/null || ended "$i"
  done
}

ended() {
  local status=0
  wait "${pids[$1]}" || status=$?
  tail -n 15 "$LOG_DIR/${names[$1]}.log" >&2
  fail "${names[$1]} ended with status $status" "its last lines are above, the whole output is in $LOG_DIR/${names[$1]}.log"
}

port_is_open() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

check_ports() {
  local port owner
  for port in "$@"; do
    port_is_open "$port" || continue
    owner=$(command -v ss >/dev/null && ss -Hltnp "sport = :$port" 2>/dev/null | sed -nE 's/.*users:\(\("([^"]+)",pid=([0-9]+).*/\1 (pid \2)/p' | head -n 1)
    fail "port $port on 127.0.0.1 is in use${owner:+ by $owner}" \
      "End that program and start this again. The ports of the quick start are in $config" \
      "(8080 and 9901) and at the top of deploy/quickstart.sh (9101 to 9103)."
  done
}

# wait_for NAME URL : until the URL answers 2xx.
wait_for() {
  local deadline=$((SECONDS + ready_within))
  until curl -fsS --max-time 2 -o /dev/null "$2" 2>/dev/null; do
    all_alive
    [ $SECONDS -lt $deadline ] || {
      tail -n 15 "$LOG_DIR/$1.log" >&2
      fail "$1 is not ready after $ready_within s: no good answer from $2" "its last lines are above, the whole output is in $LOG_DIR/$1.log"
    }
    sleep 0.1
  done
}

body() {  # STREAM PROMPT [TOKENS]
  printf '{"model":"%s","stream":%s,"max_tokens":%d,"messages":[{"role":"user","content":"%s"}]}' "$model" "$1" "${3:-24}" "$2"
}

# One request, number $1: its outcome becomes a line of tab-separated fields in $answers/$1. Chat is streamed; of the last
# ones, which are shown, every other asks for a plain answer.
request() {
  local number=$1 kind=streamed stream=true outcome
  if [ "$number" -gt "$plain_after" ] && [ $((number % 2)) -eq 1 ]; then kind=plain stream=false; fi
  outcome=$(curl -sS -N --max-time 60 -D "$answers/$number.head" -o "$answers/$number.body" \
    -w '%{http_code} %{time_starttransfer} %{time_total}' -H 'content-type: application/json' \
    -d "$(body $stream "Request number $number: tell me about edges.")" "http://$edge/v1/chat/completions" 2>"$answers/$number.err")
  local status first total endpoint complete=no
  read -r status first total <<<"$outcome"
  endpoint=$(tr -d '\r' <"$answers/$number.head" | sed -nE 's/^x-brink-endpoint: *//ip')
  if [ $stream = true ]; then grep -q '^data: \[DONE\]' "$answers/$number.body" && complete=yes
  else grep -q '"usage"' "$answers/$number.body" && complete=yes; fi
  printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$number" "$kind" "$status" "${endpoint:--}" "$first" "$total" $complete >"$answers/$number"
}

# Sends the requests, shows the last ones, and how the shares of the engines moved while Brink learned.
demonstrate() {
  answers=$(mktemp -d)
  export edge model answers plain_after=$((requests - shown))
  export -f request body
  seq $requests | xargs -P $at_once -I{} bash -c 'request {}'
  printf '\n  %-4s %-9s %-7s %-16s %-8s %12s %9s\n' "#" request status endpoint engine "first byte" total
  printf '  %s\n' ...
  outcomes | tail -n $shown | awk -F '\t' -v engines="${engines[*]}" '
    BEGIN {n = split(engines, word, " "); for (i = 1; i < n; i += 3) name["127.0.0.1:" word[i + 1]] = word[i]}
    {printf "  %-4s %-9s %-7s %-16s %-8s %9.0f ms %6.0f ms\n", $1, $2, $3, $4, name[$4], $5 * 1000, $6 * 1000}'
  printf '\n  %-8s %-9s %14s %14s %14s\n' engine slowness "first third" "second third" "last third"
  outcomes | awk -F '\t' -v engines="${engines[*]}" -v all=$requests '
    {count[$4, int(($1 - 1) * 3 / all)]++}
    END {
      n = split(engines, word, " ")
      for (i = 1; i < n; i += 3) {
        printf "  %-8s %-9s", word[i], word[i + 2]
        for (third = 0; third < 3; third++) printf " %14d", count["127.0.0.1:" word[i + 1], third]
        printf "\n"
      }
    }'
  local bad
  bad=$(outcomes | awk -F '\t' -v all=$requests '$3 == 200 && $4 != "-" && $7 == "yes" {good++} END {print all - good}')
  [ "$bad" -eq 0 ] || fail "$bad of $requests requests were not answered in full" \
    "the first answer: $(head -c 300 "$answers/1.body" 2>/dev/null)" "$(cat "$answers"/*.err 2>/dev/null | head -n 3)" \
    "Brink's log is $LOG_DIR/brink.log"
  rm -rf "$answers"
  answers=
}

outcomes() { for number in $(seq $requests); do cat "$answers/$number" 2>/dev/null; done; }

# Without its engines Brink answers with the small model on this machine; when they are back, they do.
demonstrate_fallback() {
  if [ $local_model = no ]; then
    echo "   (no llama.cpp could be had, so there is no local model to show: $LOG_DIR/llama.log)"
    return
  fi
  local outcome
  outcome=$(mktemp -d)
  stop_engines
  printf '\n  The three engines are stopped. The next question goes to the model on this machine (deploy/demo-model):\n\n'
  curl -sS --max-time 60 -D "$outcome/head" -o "$outcome/body" -H 'content-type: application/json' \
    -d "$(body false "Tell me about edges." 200)" "http://$edge/v1/chat/completions" 2>"$outcome/err"
  tr -d '\r' <"$outcome/head" | grep -iE '^(HTTP|x-brink-)' | sed 's/^/    /'
  sed -nE 's/.*"content":"(([^"\\]|\\.)*)".*/    \1/p' "$outcome/body"
  grep -qi '^x-brink-fallback: local_model' "$outcome/head" && grep -q '"finish_reason":"stop"' "$outcome/body" ||
    fail "the local model did not answer" "$(cat "$outcome/err" "$outcome/body" | head -c 300)" "Brink's log is $LOG_DIR/brink.log"
  rm -rf "$outcome"
  start_engines
  printf '\n  The engines run again, and so does the traffic to them.\n'
}

next() {
  cat <<NEXT

Brink is on http://$edge, its admin API on http://$admin. Try, in another terminal:

  curl -N http://$edge/v1/chat/completions -H 'content-type: application/json' \\
    -d '$(body true "Hello")'
  curl http://$admin/clusters        # each endpoint: health, load, what it learned
  curl http://$admin/metrics         # Prometheus
  $bin/brink explain -c $config POST http://$edge/v1/chat/completions
  $(printf '%-42s' "kill ${pids[0]}") # end the engine "${names[0]}" and ask again; or all three
  \$EDITOR $config && curl -X POST http://$admin/reload

NEXT
}

check_ports 8080 9901 9101 9102 9103
step "packages" packages deploy/install-deps.sh --model
run_step "llama.cpp for the local model" llama deploy/get-llama.sh || local_model=no
step "configure (release)" release-configure cmake --preset release
targets="brink gpu-sim"
if [ $local_model = yes ]; then targets="$targets brink-model"; fi
# shellcheck disable=SC2086
step "build (release; minutes the first time)" release-build cmake --build --preset release --target $targets
step "check $config" quickstart-check "$bin/brink" check -c "$config"

start_engines
start brink "$bin/brink" run -c "$config"
wait_for brink "http://$admin/readyz"
printf '== Brink and three engines run; sending %d requests, %d at a time\n' $requests $at_once
demonstrate
demonstrate_fallback
next
if [ $once = yes ]; then
  echo "the demonstration is over, ending what was started"
  exit 0
fi
echo "Ctrl-C ends Brink and the engines."
# An engine may go, that is something to try; Brink may not.
while kill -0 "${pids[-1]}" 2>/dev/null; do  # the last one is Brink
  sleep 1 &
  wait $!
done
ended $((${#pids[@]} - 1))
