#!/usr/bin/env bash
# Runs a command in a terminal of a given size, and keeps what its screen shows: a text file with the rows that have
# changed each time, by their number, and an SVG of one picture. Needs tmux.
#
#   tools/recordings/record.sh 80 24 docs/images/demo-80x24 ./sluice demo
#
# writes docs/images/demo-80x24.txt and docs/images/demo-80x24.svg; ends with the code of the command. The picture of the SVG is
# the one that most rows fill before the command ends, the latest of them.
set -euo pipefail

[ $# -ge 4 ] || { echo "usage: record.sh COLUMNS ROWS NAME COMMAND..." >&2; exit 2; }
columns=$1 rows=$2 name=$3
shift 3
command -v tmux >/dev/null || { echo "record.sh: tmux is needed" >&2; exit 3; }

socket=recording-$$
directory=$(mktemp -d)
trap 'tmux -L "$socket" kill-server 2>/dev/null || true; rm -rf "$directory"' EXIT

printf -v command '%q ' "$@"
tmux -L "$socket" -f /dev/null new-session -d -x "$columns" -y "$rows" \
  "$command; echo \$? >$directory/code; sleep 5"
tmux -L "$socket" set-option -g history-limit 50000

picture() { tmux -L "$socket" capture-pane -p 2>/dev/null || true; }

began=$SECONDS
before=
best=0
: >"$directory/pictures"
while [ ! -s "$directory/code" ]; do
  now=$(picture)
  if [ "$now" != "$before" ]; then
    printf -- '--- %d s\n%s\n' "$((SECONDS - began))" "$now" >>"$directory/pictures"
    before=$now
    filled=$(printf '%s\n' "$now" | grep -c '[^ ]' || true)
    if [ "$filled" -ge "$best" ] && printf '%s\n' "$now" | grep -q '^\[x\]'; then
      best=$filled
      printf '%s\n' "$now" >"$directory/best"
    fi
  fi
  sleep 1
done
now=$(picture)
printf -- '--- the end, after %d s\n%s\n' "$((SECONDS - began))" "$now" >>"$directory/pictures"
awk -f "$(dirname "${BASH_SOURCE[0]}")/changes.awk" "$directory/pictures" | sed 's/ *$//' >"$name.txt"
[ -s "$directory/best" ] || printf '%s\n' "$now" >"$directory/best"

awk -v columns="$columns" -v rows="$rows" '
  function escaped(text) {
    gsub(/&/, "\\&amp;", text); gsub(/</, "\\&lt;", text); gsub(/>/, "\\&gt;", text)
    return text
  }
  BEGIN {
    printf "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" font-family=\"monospace\" font-size=\"14\">\n", columns * 8.43 + 24, rows * 18 + 24
    print "<rect width=\"100%\" height=\"100%\" rx=\"6\" fill=\"#16181d\"/>"
  }
  {
    color = /^\[x\]/ ? "#7ee787" : /^\[!\]/ ? "#ff7b72" : /^(QUOTA|WORKLOADS|EVENTS|CLUSTERS|JOBS)$/ ? "#79c0ff" : "#e6edf3"
    printf "<text x=\"12\" y=\"%d\" fill=\"%s\" xml:space=\"preserve\">%s</text>\n", NR * 18 + 8, color, escaped($0)
  }
  END { print "</svg>" }' "$directory/best" >"$name.svg"
exit "$(cat "$directory/code")"
