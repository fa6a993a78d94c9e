# Runs "$@" (after a log file) and prints its process id. The program lives until it ends or until
# our standard input does, that is, at the latest until the process ends that holds the other end.
trap '' INT HUP
log=$1
shift
exec 3<&0 </dev/null
"$@" >>"$log" 2>&1 3<&- &
child=$!
echo "$child"
exec >/dev/null 2>&1
(
  while read -r _ <&3; do :; done
  kill -KILL "$child"
) &
watcher=$!
exec 3<&-
wait "$child"
code=$?
kill -KILL "$watcher"
exit "$code"
