package dev.sluice.core.queue;

import dev.sluice.core.topology.TopologyExport;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * A {@link QuotaHolder} as a value (docs/engine-state.md), without the Workload.
 *
 * @param priority the effective priority
 * @param queuedAt the position in the queue, as for a pending Workload
 * @param reservedAt the time of the reservation
 * @param reserved the reserved amounts
 * @param evicted whether the Workload is being evicted, or its eviction is decided
 * @param evictable whether the Workload may be a preemption target
 * @param guaranteed whether the Workload is marked as not preemptible
 * @param places what the Workload uses of nodes; empty without places
 */
public record QuotaHolderExport(
    long priority,
    Instant queuedAt,
    Instant reservedAt,
    List<Reserved> reserved,
    boolean evicted,
    boolean evictable,
    boolean guaranteed,
    Optional<TopologyExport.Usage> places) {

  public QuotaHolderExport {
    reserved = List.copyOf(reserved);
  }

  /** The amount of a pair, by the number of the pair. */
  public record Reserved(int pair, long amount) {}
}
