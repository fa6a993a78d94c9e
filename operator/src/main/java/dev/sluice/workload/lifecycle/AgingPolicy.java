package dev.sluice.workload.lifecycle;

import dev.sluice.api.KueueConstants;
import dev.sluice.api.queueing.PriorityAging;
import dev.sluice.workload.lifecycle.LifecycleAction.Annotate;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.CachedWorkload.Condition;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;

/**
 * The priority of a Workload that waits grows (docs/queueing-policies.md#ageing). What was added is
 * its priority boost; a boost of somebody else stays as it is.
 */
final class AgingPolicy {

  private AgingPolicy() {}

  /** The next step of a Workload without quota, or the time of it. */
  static LifecycleAction decide(CachedWorkload workload, PriorityAging aging, Instant now) {
    String boost = workload.annotations().getOrDefault(KueueConstants.PRIORITY_BOOST, "");
    String own = workload.annotations().getOrDefault(KueueConstants.AGED_BY, "");
    if (!boost.equals(own)) {
      return LifecycleAction.NOTHING;
    }
    Instant begin = waitsSince(workload);
    int due = aging.boost(Duration.between(begin, now));
    String text = due == 0 && own.isEmpty() ? "" : Integer.toString(due);
    if (!text.equals(own)) {
      return LifecycleAction.of(
          new Annotate(
              Map.of(KueueConstants.PRIORITY_BOOST, text, KueueConstants.AGED_BY, text),
              "boost=" + text + ", waits since " + begin));
    }
    return due == aging.limit()
        ? LifecycleAction.NOTHING
        : new LifecycleAction(Optional.empty(), Optional.of(aging.next(begin, now)));
  }

  /** Since its creation, or since it lost its quota. */
  private static Instant waitsSince(CachedWorkload workload) {
    return workload
        .status()
        .condition("Evicted")
        .map(Condition::lastTransitionTime)
        .filter(workload.createdAt()::isBefore)
        .orElse(workload.createdAt());
  }
}
