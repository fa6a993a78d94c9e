# Runs "$@" (after a log file), prints its process id, and leaves it alone.
trap '' INT HUP
log=$1
shift
"$@" </dev/null >>"$log" 2>&1 &
echo "$!"
