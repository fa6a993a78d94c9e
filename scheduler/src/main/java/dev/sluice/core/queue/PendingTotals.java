package dev.sluice.core.queue;

import dev.sluice.core.model.Instants;
import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.core.model.SchedulerEvent.PodSetRequest;
import dev.sluice.core.model.SchedulerEvent.RequestShape;
import dev.sluice.core.queue.EquivalenceClass.SchedulingHash;
import java.time.Instant;
import java.util.Collection;
import java.util.Collections;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The pending Workloads of a ClusterQueue, in sums.
 *
 * @param activeHashes number of different requests that the next cycles will evaluate
 * @param inadmissibleHashes number of different requests that wait for a change; one may have
 *     Workloads of both, and count in both numbers
 * @param requests the requests of all pending Workloads, by resource
 * @param oldest the time since which the longest waiting Workload waits: since it was queued, or
 *     since the quota of its last run went back; empty if none waits
 */
public record PendingTotals(
    int activeHashes,
    int inadmissibleHashes,
    SortedMap<String, Long> requests,
    Optional<Instant> oldest) {

  /** Makes the map unmodifiable. */
  public PendingTotals {
    requests = Collections.unmodifiableSortedMap(new TreeMap<>(requests));
  }

  /**
   * Sums up classes.
   *
   * @param held Workloads of the classes that are held alone
   * @param queue the queue of the classes; null if it can't be used, which makes all inadmissible
   * @param names whether requests with other names of pod sets are different ones
   */
  static PendingTotals of(
      Collection<EquivalenceClass> classes,
      Collection<QueuedWorkload> held,
      @Nullable ClusterQueueCache queue,
      boolean names) {
    Set<SchedulingHash> active = new HashSet<>();
    Set<SchedulingHash> inadmissible = new HashSet<>();
    SortedMap<String, Long> requests = new TreeMap<>();
    long oldest = Long.MAX_VALUE;
    for (EquivalenceClass each : classes) {
      boolean evaluated = queue != null && !each.isEmpty() && each.explanation() == null;
      boolean waits = each.heldMembers() > 0 || !evaluated && !each.isEmpty();
      if (evaluated) {
        active.add(each.schedulingHash(names));
      }
      if (waits) {
        inadmissible.add(each.schedulingHash(names));
      }
      add(requests, each, queue);
      oldest = Math.min(oldest, each.waitsSinceMicros());
    }
    for (QueuedWorkload each : held) {
      oldest = Math.min(oldest, each.waitsSinceMicros());
    }
    return new PendingTotals(
        active.size(),
        inadmissible.size(),
        requests,
        oldest == Long.MAX_VALUE ? Optional.empty() : Optional.of(Instants.ofMicros(oldest)));
  }

  private static void add(
      SortedMap<String, Long> requests,
      EquivalenceClass equivalenceClass,
      @Nullable ClusterQueueCache queue) {
    int members = equivalenceClass.size() + equivalenceClass.heldMembers();
    RequestShape shape = equivalenceClass.shape();
    for (int i = 0; i < shape.podSets().size(); i++) {
      PodSetRequest podSet = shape.podSets().get(i);
      if (queue == null) {
        int pods = podSet.count();
        podSet.perPod().forEach((name, each) -> add(requests, name, each, (long) pods * members));
      } else {
        Map<String, Long> total = equivalenceClass.demand(queue).total(i);
        total.forEach((name, amount) -> add(requests, name, amount, members));
      }
    }
  }

  private static void add(
      SortedMap<String, Long> requests, String resource, long amount, long times) {
    requests.merge(resource, ResourceAmounts.multiply(amount, times), ResourceAmounts::add);
  }
}
