#!/usr/bin/env bash
# Does what the README tells somebody to do who has neither a cluster nor Sluice: clones this checkout into an empty
# directory, types ./sluice try, and then what that prints to type. Tells how long it took to the first Job that runs, to the
# first explanation and to the dashboard, and how long ./sluice --version takes after a checkout. Fails if anything that is typed fails. Needs git, kubectl and curl.
#
#   tools/newcomer/first-minutes.sh             what is committed; builds in the clone, with the caches of this machine
#   tools/newcomer/first-minutes.sh --cold      also without the cached binaries of the control plane
#   tools/newcomer/first-minutes.sh --program FILE     this program in place of ./sluice: nothing is built
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cold= program=
while [ $# -gt 0 ]; do
  case $1 in
    --cold) cold=yes; shift ;;
    --program) program=$(readlink -f "${2:?--program needs a file}"); shift 2 ;;
    *) echo "usage: first-minutes.sh [--cold] [--program FILE]" >&2; exit 2 ;;
  esac
done
for needed in git kubectl curl; do
  command -v "$needed" >/dev/null || { echo "first-minutes.sh: $needed is needed" >&2; exit 3; }
done

# It takes this long at most, a cold build and the fetching of binaries included.
limit=${NEWCOMER_LIMIT:-3000}
directory=$(mktemp -d)
trying=
finish() {
  [ -z "$trying" ] || kill -INT -- "-$trying" 2>/dev/null || true
  [ -z "$trying" ] || wait "$trying" 2>/dev/null || true
  rm -rf "$directory"
}
trap finish EXIT

failed() {
  printf 'first-minutes.sh: %s\n' "$*" >&2
  [ ! -f "$directory/out" ] || tail -n 30 "$directory/out" >&2
  exit 1
}

unset KUBECONFIG
export XDG_STATE_HOME=$directory/state
[ -z "$cold" ] || export XDG_CACHE_HOME=$directory/cache
git clone -q "$here" "$directory/sluice"
cd "$directory/sluice"
[ -z "$program" ] || ln -sf "$program" sluice
grep -qF '$ ./sluice try' README.md || failed "the README doesn't say ./sluice try"

began=$SECONDS
told() { printf '%-42s %3d min %02d s\n' "$1" "$(((SECONDS - began) / 60))" "$(((SECONDS - began) % 60))"; }

# Waits until a command succeeds.
until_it_does() {
  local what=$1
  shift
  while ! "$@" >/dev/null 2>&1; do
    kill -0 "$trying" 2>/dev/null || failed "./sluice try ended before $what"
    [ $((SECONDS - began)) -lt "$limit" ] || failed "no $what after $limit s"
    sleep 0.5
  done
}

# With job control it is a group of its own, which Ctrl-C reaches as a whole.
set -m
./sluice try >"$directory/out" 2>&1 </dev/null &
trying=$!
set +m
until_it_does "what to type" grep -q 'Ctrl-C takes all of it away' "$directory/out"
told "what to look at and to type is printed"

address=$(grep -o 'https://127[^ ]*' "$directory/out")
token=$(sed -n '/and paste this token/{n;s/^ *//;p}' "$directory/out")
mapfile -t typed < <(sed -n '/In another terminal/,/^$/{/^  /s/^  //p}' "$directory/out")
[ "${#typed[@]}" -ge 4 ] || failed "commands to type are missing"
eval "$(printf '%s\n' "${typed[@]}" | grep '^export KUBECONFIG=')"

runs() { kubectl get pods -A -l batch.kubernetes.io/job-name --field-selector=status.phase=Running -o name | grep -q .; }
until_it_does "Job that runs" runs
told "the first Job runs"
until_it_does "explanation" ./sluice explain job too-large -n blue
told "the first explanation is read"
dashboard() { curl -sfk -H "Authorization: Bearer $token" "${address}api/v1/overview" | grep -q '"blue"'; }
until_it_does "dashboard" dashboard
told "the dashboard shows the teams' queues"

for command in "${typed[@]}"; do
  code=0
  text=$(eval "$command" 2>&1) || code=$?
  [ "$code" = 0 ] && [ -n "$text$(printf '%s' "$command" | grep '^export')" ] ||
    failed "\$ $command ends with $code and says: $text"
done
told "all of it is typed (${#typed[@]} commands)"

kill -INT -- "-$trying"
code=0
wait "$trying" || code=$?
trying=
[ "$code" = 130 ] || failed "./sluice try ends with $code on Ctrl-C, not with 130"
left=$(ls "$directory/state/sluice/control-planes" 2>/dev/null | grep . || true)
[ -z "$left" ] || failed "left behind: $left"
told "Ctrl-C took all of it away"

# A checkout gives directories new times; nothing is built for that.
touch operator/src/main/java operator/src/main
most=0 sum=0
for _ in 1 2 3 4 5 6 7 8 9 10; do
  before=$(date +%s%3N)
  ./sluice --version >"$directory/out" 2>&1 || failed "./sluice --version fails"
  took=$(($(date +%s%3N) - before)) sum=$((sum + took))
  [ "$took" -le "$most" ] || most=$took
done
printf '%-42s %d ms in the mean, %d ms at most\n' "./sluice --version, ten times" "$((sum / 10))" "$most"
[ "$most" -lt "${NEWCOMER_VERSION_LIMIT:-1000}" ] || failed "./sluice --version takes a second or more"
