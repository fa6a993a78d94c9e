package dev.sluice.reference;

import dev.sluice.core.model.Decision.PodSetAssignment;
import dev.sluice.core.model.FlavorResource;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.PreemptionProtection;
import dev.sluice.core.model.PreemptionProtection.PreemptionHistory;
import dev.sluice.core.model.PreemptionRules;
import dev.sluice.core.model.WorkloadId;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * A Workload that holds quota, as preemption sees it; {@code evicted} if it is on its way out,
 * {@code evictable} if somebody stops its pods, {@code guaranteed} if it says that it may not be
 * preempted, {@code placed} its pod sets with places on nodes, {@code shared} those of the slice
 * that it replaces, of which it is charged for what it has more, {@code protection} what protects
 * it from preemption for some time.
 */
record ReferenceHolder(
    WorkloadId id,
    long version,
    LocalQueueId localQueue,
    String queue,
    Map<FlavorResource, Long> usage,
    long priority,
    Instant queuedAt,
    Instant reservedAt,
    boolean evicted,
    boolean evictable,
    boolean guaranteed,
    List<PodSetAssignment> placed,
    List<PodSetAssignment> shared,
    PreemptionProtection protection) {

  /** Since when its work would be lost: since it was last saved, or since it got its quota. */
  Instant lossSince() {
    Instant saved = protection.history().checkpointedAt().orElse(reservedAt);
    return saved.isAfter(reservedAt) ? saved : reservedAt;
  }

  ReferenceHolder thatNobodyEvicts() {
    return new ReferenceHolder(
        id,
        version,
        localQueue,
        queue,
        usage,
        priority,
        queuedAt,
        reservedAt,
        evicted,
        false,
        guaranteed,
        placed,
        shared,
        protection);
  }

  ReferenceHolder withVersion(long another) {
    return new ReferenceHolder(
        id,
        another,
        localQueue,
        queue,
        usage,
        priority,
        queuedAt,
        reservedAt,
        evicted,
        evictable,
        guaranteed,
        placed,
        shared,
        protection);
  }

  /** The same, whatever protects it; since when its work would be lost decides who goes first. */
  ReferenceHolder withoutProtection() {
    return new ReferenceHolder(
        id,
        version,
        localQueue,
        queue,
        usage,
        priority,
        queuedAt,
        reservedAt,
        evicted,
        evictable,
        guaranteed,
        placed,
        shared,
        new PreemptionProtection(
            protection
                .classRules()
                .traits()
                .map(PreemptionRules.NONE::withTraits)
                .orElse(PreemptionRules.NONE),
            new PreemptionHistory(Optional.empty(), List.of(), Optional.of(lossSince()))));
  }

  /**
   * Until when no preemptor takes it; nothing if no rule protects it.
   *
   * @param ofQueue the rules of its queue and of the cohorts above
   * @param exempt whether the preemptor doesn't mind how long it has run
   */
  Optional<Instant> protectedUntil(PreemptionRules ofQueue, boolean exempt) {
    PreemptionRules all = protection.classRules().or(ofQueue);
    List<Instant> ends = new ArrayList<>();
    if (!exempt && all.minRunTime().isPresent()) {
      ends.add(protection.history().since().orElse(reservedAt).plus(all.minRunTime().get()));
    }
    all.maxPreemptions()
        .ifPresent(
            limit -> {
              List<Instant> latest =
                  protection.history().preemptedAt().stream()
                      .sorted(Comparator.reverseOrder())
                      .limit(limit.preemptions())
                      .toList();
              if (latest.size() == limit.preemptions()) {
                ends.add(latest.getLast().plus(limit.window()));
              }
            });
    return ends.stream().max(Comparator.naturalOrder());
  }

  /** Whether a rule protects it in a world; not if it is on its way out. */
  boolean isProtected(ReferenceSnapshot world, boolean exempt) {
    return !evicted
        && protectedUntil(world.tree().preemptionRules(queue), exempt)
            .filter(world.now()::isBefore)
            .isPresent();
  }

  boolean usesAnyOf(Set<FlavorResource> pairs) {
    return pairs.stream().anyMatch(pair -> usage.getOrDefault(pair, 0L) > 0);
  }
}
