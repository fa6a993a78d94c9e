package dev.sluice.core.engine;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.PriorityQueue;
import java.util.function.Predicate;

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

  /**
   * The timers that may have an effect, as values.
   *
   * @param known whether the engine still knows the Workload of an entry by that entry
   */
  List<EngineState.TimerExport> export(Predicate<WorkloadEntry> known) {
    return timers.stream()
        .filter(timer -> timer.entry.version == timer.version && known.test(timer.entry))
        .sorted()
        .map(timer -> new EngineState.TimerExport(timer.at, timer.entry.id.uid(), timer.version))
        .toList();
  }

  /** Takes over a timer of a Workload that has the version of the timer. */
  void restore(EngineState.TimerExport exported, WorkloadEntry entry) {
    timers.add(new Timer(exported.at(), entry, exported.version()));
  }

  void set(Instant at, WorkloadEntry entry) {
    timers.add(new Timer(at, entry, entry.version));
  }

  /** When the first timer expires; {@link Instant#MAX} if there is none. */
  Instant next() {
    Timer first = timers.peek();
    return first == null ? Instant.MAX : first.at;
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
