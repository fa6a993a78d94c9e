package dev.sluice.core.waiting;

import dev.sluice.core.model.Instants;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * When Workloads become preemption targets, or may preempt, because the time of a rule is over
 * (docs/preemption.md#rules-that-protect): the trees of their queues are looked at then. All timers
 * follow from Workloads, rules and the time, so they are no part of an exported state. Empty while
 * no rule is in use.
 */
final class PreemptionTimers {

  /** Whose timer it is; {@code exempt} if it matters to exempt preemptors only. */
  private record Key(String uid, boolean exempt) {}

  private record Timer(long atMicros, Key key, String clusterQueue) implements Comparable<Timer> {

    @Override
    public int compareTo(Timer other) {
      int byTime = Long.compare(atMicros, other.atMicros);
      int byUid = byTime != 0 ? byTime : key.uid.compareTo(other.key.uid);
      return byUid != 0 ? byUid : Boolean.compare(key.exempt, other.key.exempt);
    }
  }

  private final Map<Key, Timer> byWorkload = new HashMap<>();
  private final TreeSet<Timer> timers = new TreeSet<>();

  /** How many timers each ClusterQueue has. */
  private final Map<String, Integer> byQueue = new HashMap<>();

  /**
   * Sets a timer of a Workload.
   *
   * @param exempt whether it is the timer for exempt preemptors
   * @param atMicros the time, in microseconds since the epoch; what isn't later than {@code now}
   *     needs no timer
   */
  void set(String uid, boolean exempt, String clusterQueue, long atMicros, Instant now) {
    boolean later = atMicros != Long.MIN_VALUE && atMicros > Instants.micros(now);
    if (!later && byWorkload.isEmpty()) {
      return;
    }
    Key key = new Key(uid, exempt);
    Timer before = byWorkload.remove(key);
    if (before != null) {
      timers.remove(before);
      uncount(before);
    }
    if (later) {
      Timer timer = new Timer(atMicros, key, clusterQueue);
      byWorkload.put(key, timer);
      timers.add(timer);
      byQueue.merge(clusterQueue, 1, Integer::sum);
    }
  }

  private void uncount(Timer timer) {
    byQueue.computeIfPresent(
        timer.clusterQueue, (name, count) -> count == 1 ? null : Integer.valueOf(count - 1));
  }

  /** Names of the ClusterQueues of which a rule protects or delays a Workload at the moment. */
  Set<String> clusterQueues() {
    return byQueue.keySet();
  }

  /** When the first timer is due; {@link Instant#MAX} if there is none. */
  Instant next() {
    return timers.isEmpty() ? Instant.MAX : Instants.ofMicros(timers.getFirst().atMicros);
  }

  /**
   * Removes the timers that are due; returns the names of their ClusterQueues, the earliest first.
   */
  List<String> due(Instant now) {
    if (timers.isEmpty()) {
      return List.of();
    }
    long micros = Instants.micros(now);
    List<String> due = new ArrayList<>();
    while (!timers.isEmpty() && timers.getFirst().atMicros <= micros) {
      Timer first = timers.removeFirst();
      byWorkload.remove(first.key);
      uncount(first);
      due.add(first.clusterQueue);
    }
    return due;
  }
}
