package dev.sluice.reference;

import dev.sluice.core.model.BackfillRules.RunBound;
import dev.sluice.core.model.BackfillRules.UnknownRunTime;
import dev.sluice.core.model.ClusterQueueSpec;
import dev.sluice.core.model.ClusterQueueSpec.QueueingStrategy;
import dev.sluice.core.model.Flavor;
import dev.sluice.core.model.Flavor.Pace;
import dev.sluice.core.model.FlavorResource;
import dev.sluice.core.model.QueueRules.CostRules;
import dev.sluice.core.model.SchedulerEvent.PendingWorkload;
import dev.sluice.core.model.SchedulerEvent.RequestShape;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** What flavors cost, as the page tells it (docs/prices.md#flavors-by-cost). */
record ReferenceCosts(
    Map<String, Flavor> flavors,
    Map<String, Map<String, Long>> prices,
    Map<String, RunBound> bounds) {

  /** What a run has its quota longer than its bound at most, and what is added if it is over. */
  private static final Duration OVERHEAD = Duration.ofMinutes(1);

  /** Until when a Workload waits for a cheaper flavor; nothing if it doesn't. */
  static Optional<Instant> waitsUntil(ClusterQueueSpec queue, PendingWorkload workload) {
    if (queue.rules().cheapest().isEmpty()
        || queue.strategy() != QueueingStrategy.BEST_EFFORT_FIFO
        || workload.shape().podSets().stream().anyMatch(podSet -> podSet.spare() > 0)) {
      return Optional.empty();
    }
    return workload
        .shape()
        .cost()
        .flatMap(CostRules::maxDelay)
        .or(() -> queue.rules().cheapest().get().maxDelay())
        .map(workload.queuedAt()::plus);
  }

  /** The first time at which so much of the queue's own quota is free, as far as bounds tell. */
  Optional<Instant> expected(
      ReferenceSnapshot world, String queue, Map<FlavorResource, Long> wanted) {
    TreeMap<Instant, List<ReferenceHolder>> ends = new TreeMap<>();
    ends.put(world.now(), List.of());
    for (ReferenceHolder holder : world.holders()) {
      RunBound bound = bounds.getOrDefault(holder.id().uid(), RunBound.UNKNOWN);
      if (world.tree().tree(queue).contains(holder.queue())
          && bound.under(UnknownRunTime.USE_LEARNED).isPresent()) {
        Instant end =
            holder
                .reservedAt()
                .plusSeconds(bound.under(UnknownRunTime.USE_LEARNED).get().toSeconds() + 1)
                .plus(OVERHEAD);
        ends.computeIfAbsent(
                end.isAfter(world.now()) ? end : world.now().plus(OVERHEAD),
                any -> new ArrayList<>())
            .add(holder);
      }
    }
    List<ReferenceHolder> gone = new ArrayList<>();
    for (Map.Entry<Instant, List<ReferenceHolder>> each : ends.entrySet()) {
      gone.addAll(each.getValue());
      ReferenceTree left = world.without(gone).tree();
      if (wanted.entrySet().stream()
          .allMatch(
              pair ->
                  pair.getValue()
                      <= Math.min(
                          left.quotaOfQueue(queue, pair.getKey()).nominal()
                              - left.usageOfQueue(queue, pair.getKey()),
                          left.available(queue, pair.getKey())))) {
        return Optional.of(each.getKey());
      }
    }
    return Optional.empty();
  }

  /** The flavors of a list in the order in which they are tried. */
  List<String> order(
      ClusterQueueSpec queue, List<String> listed, Map<String, Long> part, RequestShape shape) {
    List<String> left = new ArrayList<>(listed);
    if (queue.rules().cheapest().isEmpty()) {
      return left;
    }
    List<String> ordered = new ArrayList<>();
    while (!left.isEmpty()) {
      String next = left.getFirst();
      for (String other : left) {
        if (isCheaper(other, next, part, shape) || (hasPrice(other) && !hasPrice(next))) {
          next = other;
        }
      }
      left.remove(next);
      ordered.add(next);
    }
    return ordered;
  }

  boolean isCheaper(String flavor, String than, Map<String, Long> part, RequestShape shape) {
    return hasPrice(flavor)
        && hasPrice(than)
        && toFinish(flavor, part, shape) < toFinish(than, part, shape);
  }

  private boolean hasPrice(String flavor) {
    return !prices.getOrDefault(flavor, Map.of()).isEmpty();
  }

  long perHour(String flavor, Map<String, Long> part) {
    Map<String, Long> each = prices.getOrDefault(flavor, Map.of());
    return part.entrySet().stream()
        .mapToLong(request -> request.getValue() * each.getOrDefault(request.getKey(), 0L))
        .sum();
  }

  private double toFinish(String flavor, Map<String, Long> part, RequestShape shape) {
    Flavor known = flavors.get(flavor);
    Pace pace = known == null ? Pace.USUAL : known.pace().orElse(Pace.USUAL);
    double speed = pace.speed().doubleValue();
    Optional<Duration> run = shape.cost().flatMap(CostRules::run);
    long perHour = perHour(flavor, part);
    if (perHour == 0) {
      return 0;
    } else if (run.isEmpty()) {
      return perHour * (1 / speed);
    }
    double rate = pace.interruptionsPerHour().doubleValue();
    double hours = run.get().toMillis() / 3_600_000.0 / speed;
    return perHour * (rate == 0 ? hours : StrictMath.expm1(rate * hours) / rate);
  }

  /** Whether a flavor would cost more than allowed, on top of what was taken before. */
  boolean isTooDear(String flavor, Map<String, Long> part, long before, RequestShape shape) {
    return hasPrice(flavor)
        && shape
            .cost()
            .flatMap(CostRules::maxPrice)
            .filter(max -> max.doubleValue() < before + perHour(flavor, part))
            .isPresent();
  }
}
