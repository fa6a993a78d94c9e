package dev.sluice.reference;

import dev.sluice.core.model.FlavorResource;
import dev.sluice.core.model.PodSetAssignment;
import dev.sluice.core.model.WorkloadId;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A Workload that holds quota, as preemption sees it; {@code evicted} if it is on its way out,
 * {@code evictable} if somebody stops its pods, {@code guaranteed} if it says that it may not be
 * preempted, {@code placed} its pod sets with places on nodes, {@code shared} those of the slice
 * that it replaces, of which it is charged for what it has more.
 */
record ReferenceHolder(
    WorkloadId id,
    long version,
    String queue,
    Map<FlavorResource, Long> usage,
    long priority,
    Instant queuedAt,
    Instant reservedAt,
    boolean evicted,
    boolean evictable,
    boolean guaranteed,
    List<PodSetAssignment> placed,
    List<PodSetAssignment> shared) {

  ReferenceHolder thatNobodyEvicts() {
    return new ReferenceHolder(
        id,
        version,
        queue,
        usage,
        priority,
        queuedAt,
        reservedAt,
        evicted,
        false,
        guaranteed,
        placed,
        shared);
  }

  ReferenceHolder withVersion(long another) {
    return new ReferenceHolder(
        id,
        another,
        queue,
        usage,
        priority,
        queuedAt,
        reservedAt,
        evicted,
        evictable,
        guaranteed,
        placed,
        shared);
  }

  boolean usesAnyOf(Set<FlavorResource> pairs) {
    return pairs.stream().anyMatch(pair -> usage.getOrDefault(pair, 0L) > 0);
  }
}
