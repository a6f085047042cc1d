# shellcheck shell=bash
# Sourced by the scripts a person starts: runs named steps, with progress on the terminal, everything else in a log file
# each, and on failure a message that names the step, its log and its last lines. Needs bash.

LOG_DIR=${LOG_DIR:-build/logs}

fail() {
  printf '\nerror: %s\n' "$1" >&2
  shift
  for line in "$@"; do printf '       %s\n' "$line" >&2; done
  exit 1
}

elapsed() { printf '%d:%02d' $(($1 / 60)) $(($1 % 60)); }

# The newest line of a log, made fit for one line of a terminal.
last_line() { tail -c 400 "$1" 2>/dev/null | tr '\r' '\n' | grep -av '^[[:space:]]*$' | tail -n 1 | tr -cd '[:print:]' | cut -c1-60; }

# step NAME LOG COMMAND... : runs the command with its output in LOG_DIR/LOG.log. On a terminal the line shows what it is
# doing. Returns the command's status and never ends the script, so that the caller decides what a failure means.
run_step() {
  local name=$1 log=$LOG_DIR/$2.log begin=$SECONDS status=0
  shift 2
  mkdir -p "$LOG_DIR"
  printf '== %s ' "$name"
  "$@" >"$log" 2>&1 </dev/null &
  local pid=$!
  STEP_PID=$pid
  if [ -t 1 ]; then
    while kill -0 "$pid" 2>/dev/null; do
      printf '\r== %s  %s  %-60s' "$name" "$(elapsed $((SECONDS - begin)))" "$(last_line "$log")"
      sleep 0.5
    done
    printf '\r%*s\r== %s ' $((${#name} + 72)) '' "$name"
  fi
  wait "$pid" || status=$?
  STEP_PID=
  if [ $status -eq 0 ]; then
    printf 'ok (%s)\n' "$(elapsed $((SECONDS - begin)))"
  else
    printf 'FAILED (%s)\n' "$(elapsed $((SECONDS - begin)))"
  fi
  return $status
}

# The same, but a failure shows the end of the log and ends the script with status 1.
step() {
  run_step "$@" && return 0
  local log=$LOG_DIR/$2.log
  printf -- '-- the last lines of %s:\n' "$log" >&2
  tail -n 25 "$log" >&2
  fail "step \"$1\" failed" "the whole output is in $log"
}

# Ends a step that still runs when the script is interrupted, with what it started (it leads no group of its own, so by
# parent): call it from the trap.
end_step() {
  [ -n "${STEP_PID:-}" ] || return 0
  end_tree "$STEP_PID"
  STEP_PID=
}

end_tree() {
  local child
  for child in $(ps -o pid= --ppid "$1" 2>/dev/null); do end_tree "$child"; done
  kill "$1" 2>/dev/null || true
}
