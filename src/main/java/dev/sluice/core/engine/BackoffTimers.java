package dev.sluice.core.engine;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.PriorityQueue;

/**
 * Timers for the end of Workloads' backoffs. A timer of a Workload that changed after the timer was
 * set has no effect.
 */
final class BackoffTimers {

  private record Timer(Instant at, WorkloadEntry entry, long version) implements Comparable<Timer> {
    @Override
    public int compareTo(Timer other) {
      int byTime = at.compareTo(other.at);
      return byTime != 0 ? byTime : entry.id.uid().compareTo(other.entry.id.uid());
    }
  }

  private final PriorityQueue<Timer> timers = new PriorityQueue<>();

  void set(Instant at, WorkloadEntry entry) {
    timers.add(new Timer(at, entry, entry.version));
  }

  /**
   * Removes the timers that have expired, and returns their entries that still have the version for
   * which the timer was set.
   */
  List<WorkloadEntry> due(Instant now) {
    List<WorkloadEntry> due = new ArrayList<>();
    for (Timer first = timers.peek();
        first != null && !first.at.isAfter(now);
        first = timers.peek()) {
      timers.remove();
      if (first.entry.version == first.version) {
        due.add(first.entry);
      }
    }
    return due;
  }
}
