package dev.sluice.forecast.feed;

import dev.sluice.core.model.WorkloadId;
import java.time.Duration;
import java.time.Instant;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Which runs were counted, so that none is counted twice after a restart: all that ended before a
 * time, and those after it one by one. Not thread-safe.
 */
final class CountedRuns {

  /**
   * How much later than another one a run may be told that ended before it: clocks of two leaders
   * differ, and a condition has the time at which it was decided.
   */
  static final Duration MARGIN = Duration.ofMinutes(2);

  /** The most runs that are remembered one by one. */
  static final int MOST = 16_384;

  private Instant until;
  private Instant newest;
  private final LinkedHashMap<Long, Instant> later = new LinkedHashMap<>();

  /** No run was counted. */
  CountedRuns() {
    this(new Saved(Instant.EPOCH, Map.of()));
  }

  /** The runs were counted that were saved. */
  CountedRuns(Saved saved) {
    until = saved.until();
    newest = saved.until();
    saved.later().entrySet().stream()
        .sorted(Map.Entry.comparingByValue())
        .forEach(each -> remember(each.getKey(), each.getValue()));
  }

  /**
   * What is saved.
   *
   * @param until all runs that ended before it were counted, or are not to be
   * @param later the runs that were counted and ended at that time or later, each with its end
   */
  record Saved(Instant until, Map<Long, Instant> later) {
    Saved {
      later = Map.copyOf(later);
    }
  }

  /** Whether a run that ended then is too old to be told from the others: it counts as counted. */
  boolean isPast(Instant endedAt) {
    return endedAt.isBefore(until);
  }

  /** Counts a run; false if it was counted before. */
  boolean add(WorkloadId workload, Instant endedAt) {
    long key = key(workload, endedAt);
    if (later.containsKey(key)) {
      return false;
    }
    remember(key, endedAt);
    Instant forgotten = newest.minus(MARGIN);
    Iterator<Instant> oldest = later.values().iterator();
    while (oldest.hasNext()) {
      Instant each = oldest.next();
      if (!each.isBefore(forgotten) && later.size() <= MOST) {
        break;
      }
      oldest.remove();
      Instant after = each.plusMillis(1);
      until = after.isAfter(until) ? after : until;
    }
    return true;
  }

  private void remember(long key, Instant endedAt) {
    later.put(key, endedAt);
    newest = endedAt.isAfter(newest) ? endedAt : newest;
  }

  Saved saved() {
    return new Saved(until, later);
  }

  /** A number that tells the run from all others, by FNV-1a. */
  private static long key(WorkloadId workload, Instant endedAt) {
    long hash = 0xcbf29ce484222325L;
    String text = workload.uid() + "/" + endedAt.getEpochSecond();
    for (int i = 0; i < text.length(); i++) {
      hash = (hash ^ text.charAt(i)) * 0x100000001b3L;
    }
    return hash;
  }
}
