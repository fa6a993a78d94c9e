# Makes of pictures of a screen what has changed from each to the next: rows with their number. A picture begins with "--- ".
function told(   row, last) {
  last = rows > before ? rows : before
  for (row = 1; row <= last; row++)
    if (now[row] != was[row]) printf "%2d %s\n", row, now[row]
  for (row = 1; row <= last; row++) was[row] = now[row]
  before = rows
  split("", now)
  rows = 0
}
/^--- / { told(); print; next }
{ now[++rows] = $0 }
END { told() }
