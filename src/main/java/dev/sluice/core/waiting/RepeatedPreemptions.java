package dev.sluice.core.waiting;

import dev.sluice.core.model.Instants;
import dev.sluice.core.model.PreemptionProtection;
import dev.sluice.core.model.PreemptionRules.PreemptionLimit;
import dev.sluice.core.waiting.WaitingExport.PreemptionExport;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

/**
 * Who preempted whom lately, so that no two Workloads evict each other for ever
 * (docs/preemption.md#preemption-that-goes-on-for-ever). A Workload that preempted another one as
 * often as the limit says, within its window, doesn't preempt it again; one short of that, it comes
 * first in a cycle. Empty while nobody is preempted.
 */
public final class RepeatedPreemptions {

  /** So many are remembered: of more, the earliest are forgotten before their time. */
  private static final int MOST = 10_000;

  private final PreemptionLimit limit;

  /** All that count, the earliest first. */
  private final Deque<PreemptionExport> preemptions = new ArrayDeque<>();

  /** When each preemptor evicted each target, the earliest first. */
  private final Map<String, Map<String, Deque<Long>>> byPreemptor = new HashMap<>();

  RepeatedPreemptions(PreemptionLimit limit) {
    this.limit = limit;
  }

  /** Records that a Workload of a queue preempts another one. */
  void add(String preemptor, String target, String clusterQueue, Instant now) {
    add(new PreemptionExport(preemptor, target, clusterQueue, Instants.micros(now)));
  }

  private void add(PreemptionExport preemption) {
    if (preemptions.size() == MOST) {
      forgetFirst();
    }
    preemptions.add(preemption);
    byPreemptor
        .computeIfAbsent(preemption.preemptor(), any -> new HashMap<>())
        .computeIfAbsent(preemption.target(), any -> new ArrayDeque<>())
        .add(preemption.atMicros());
  }

  /**
   * Records that the last eviction of a Workload could not be written, so that it never was.
   *
   * @return whose preemption that was; empty if it is too long ago
   */
  Optional<PreemptionExport> refused(String target) {
    for (Iterator<PreemptionExport> latest = preemptions.descendingIterator(); latest.hasNext(); ) {
      PreemptionExport preemption = latest.next();
      if (preemption.target().equals(target)) {
        latest.remove();
        timesOf(preemption).removeLast();
        forgetIfNone(preemption);
        return Optional.of(preemption);
      }
    }
    return Optional.empty();
  }

  /** Records that a Workload is gone. */
  void forget(String uid) {
    if (byPreemptor.remove(uid) != null) {
      preemptions.removeIf(preemption -> preemption.preemptor().equals(uid));
    }
  }

  /**
   * Forgets what is too long ago.
   *
   * @return the names of the queues whose Workloads may preempt again, or come first no more
   */
  Set<String> expire(Instant now) {
    if (preemptions.isEmpty()) {
      return Set.of();
    }
    Set<String> queues = new LinkedHashSet<>();
    while (!preemptions.isEmpty()
        && end(preemptions.getFirst().atMicros()) <= Instants.micros(now)) {
      PreemptionExport earliest = preemptions.getFirst();
      if (timesOf(earliest).size() >= first()) {
        queues.add(earliest.clusterQueue());
      }
      forgetFirst();
    }
    return queues;
  }

  private void forgetFirst() {
    PreemptionExport earliest = preemptions.removeFirst();
    timesOf(earliest).removeFirst();
    forgetIfNone(earliest);
  }

  private Deque<Long> timesOf(PreemptionExport preemption) {
    return Objects.requireNonNull(targetsOf(preemption).get(preemption.target()));
  }

  private Map<String, Deque<Long>> targetsOf(PreemptionExport preemption) {
    return Objects.requireNonNull(byPreemptor.get(preemption.preemptor()));
  }

  private void forgetIfNone(PreemptionExport preemption) {
    Map<String, Deque<Long>> targets = targetsOf(preemption);
    targets.computeIfPresent(
        preemption.target(), (target, times) -> times.isEmpty() ? null : times);
    if (targets.isEmpty()) {
      byPreemptor.remove(preemption.preemptor());
    }
  }

  private long end(long atMicros) {
    return PreemptionProtection.after(atMicros, limit.window());
  }

  /** How often somebody has to preempt the same Workload to come first. */
  private int first() {
    return Math.max(1, limit.preemptions() - 1);
  }

  /** Whether a Workload comes before others in a cycle. */
  public boolean comesFirst(String preemptor) {
    return !byPreemptor.isEmpty()
        && byPreemptor.getOrDefault(preemptor, Map.of()).values().stream()
            .anyMatch(times -> times.size() >= first());
  }

  /**
   * The Workloads that a Workload may not preempt again so far: until when, in microseconds since
   * the epoch, by UID.
   */
  public Map<String, Long> sparedBy(String preemptor) {
    Map<String, Deque<Long>> targets = byPreemptor.isEmpty() ? null : byPreemptor.get(preemptor);
    if (targets == null) {
      return Map.of();
    }
    Map<String, Long> spared = new HashMap<>();
    targets.forEach(
        (target, times) -> {
          if (times.size() >= limit.preemptions()) {
            List<Long> inOrder = new ArrayList<>(times);
            spared.put(target, end(inOrder.get(times.size() - limit.preemptions())));
          }
        });
    return spared;
  }

  List<PreemptionExport> export() {
    return List.copyOf(preemptions);
  }

  void restore(List<PreemptionExport> exported) {
    exported.forEach(this::add);
  }
}
