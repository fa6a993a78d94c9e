package dev.sluice.workload.reading;

import java.time.Duration;

/**
 * Options of the reflector.
 *
 * @param pageSize objects per page of a listing
 * @param watchSeconds about how long the server keeps a watch; the actual time is scattered
 * @param hurriedWatchSeconds how long a watch lasts that was opened to get a bookmark soon (the
 *     server sends one two seconds before the end)
 * @param silence the longest time without an event before a watch is replaced; bookmarks arrive
 *     each minute
 * @param relistBelow with fewer Workloads than this, catching up is done by listing them
 * @param firstPause the first pause after a failure
 * @param longestPause the longest pause between attempts
 */
public record ReflectorOptions(
    int pageSize,
    int watchSeconds,
    int hurriedWatchSeconds,
    Duration silence,
    int relistBelow,
    Duration firstPause,
    Duration longestPause) {

  /** The options for production. */
  public static final ReflectorOptions DEFAULT =
      new ReflectorOptions(
          500, 400, 3, Duration.ofMinutes(3), 2000, Duration.ofMillis(200), Duration.ofSeconds(15));
}
