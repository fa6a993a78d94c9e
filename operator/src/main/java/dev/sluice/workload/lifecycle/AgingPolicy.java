package dev.sluice.workload.lifecycle;

import dev.sluice.api.KueueConstants;
import dev.sluice.api.queueing.PriorityAging;
import dev.sluice.workload.lifecycle.LifecycleAction.Annotate;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.CachedWorkload.Condition;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The priority of a Workload that waits grows (docs/queueing-policies.md#ageing). What was added is
 * its priority boost; a boost of somebody else stays as it is.
 */
final class AgingPolicy {

  private AgingPolicy() {}

  /**
   * The next step of a Workload without quota, or the time of it.
   *
   * @param competes whether it is in the queue as far as its own fields say; one that isn't has no
   *     boost
   */
  static LifecycleAction decide(
      CachedWorkload workload, PriorityAging aging, boolean competes, Instant now) {
    String boost = workload.annotations().getOrDefault(KueueConstants.PRIORITY_BOOST, "");
    String own = workload.annotations().getOrDefault(KueueConstants.AGED_BY, "");
    if (!boost.equals(own)) {
      return LifecycleAction.NOTHING;
    }
    Instant begin = waitsSince(workload);
    int due = competes ? aging.boost(Duration.between(begin, now)) : 0;
    String text = due == 0 && own.isEmpty() ? "" : Integer.toString(due);
    if (!text.equals(own)) {
      return LifecycleAction.of(
          new Annotate(
              Map.of(KueueConstants.PRIORITY_BOOST, text, KueueConstants.AGED_BY, text),
              "boost=" + text + (competes ? ", waits since " + begin : ", kept out")));
    }
    return !competes || due == aging.limit()
        ? LifecycleAction.NOTHING
        : new LifecycleAction(Optional.empty(), Optional.of(aging.next(begin, now)));
  }

  /** Since its creation, since it lost its quota, or since it was let into its queue again. */
  private static Instant waitsSince(CachedWorkload workload) {
    return Stream.concat(
            workload.status().condition("Evicted").stream(),
            workload.status().trueCondition("Requeued").stream())
        .map(Condition::lastTransitionTime)
        .filter(workload.createdAt()::isBefore)
        .max(Comparator.naturalOrder())
        .orElse(workload.createdAt());
  }
}
