package dev.sluice.metrics;

import dev.sluice.core.model.LocalQueueId;
import dev.sluice.workload.CachedWorkload;
import dev.sluice.workload.CachedWorkload.Condition;
import dev.sluice.workload.WorkloadListener;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Counts the existing Workloads that are finished or not admitted, by queue and reason. Updated by
 * the reader's thread; readable from any thread.
 */
public final class WorkloadCounter implements WorkloadListener {

  private final Map<Group, Integer> counts = new ConcurrentHashMap<>();

  /**
   * Key of a count.
   *
   * @param queue their LocalQueue
   * @param clusterQueue the ClusterQueue that admitted them; empty: that of the LocalQueue
   * @param finished whether they are finished; otherwise they are not admitted
   * @param reason why they are not admitted; empty if finished
   * @param cause why they have no quota; empty if they have quota or are finished
   */
  record Group(
      LocalQueueId queue, String clusterQueue, boolean finished, String reason, String cause) {}

  @Override
  public void changed(@Nullable CachedWorkload before, @Nullable CachedWorkload after) {
    Optional<Group> left = before == null ? Optional.empty() : group(before);
    Optional<Group> joined = after == null ? Optional.empty() : group(after);
    if (!left.equals(joined)) {
      left.ifPresent(group -> counts.compute(group, (same, count) -> less(count)));
      joined.ifPresent(group -> counts.merge(group, 1, Integer::sum));
    }
  }

  /** The sizes of all groups that are not empty. */
  Map<Group, Integer> counts() {
    return counts;
  }

  private static @Nullable Integer less(@Nullable Integer count) {
    return count == null || count <= 1 ? null : count - 1;
  }

  private static Optional<Group> group(CachedWorkload workload) {
    LocalQueueId queue = new LocalQueueId(workload.id().namespace(), workload.spec().queueName());
    String admittedBy =
        workload.status().admission().map(CachedWorkload.Admission::clusterQueue).orElse("");
    if (workload.finished()) {
      return Optional.of(new Group(queue, admittedBy, true, "", ""));
    }
    if (workload.admitted()) {
      return Optional.empty();
    }
    String reason = reason(workload, "Admitted", "NoReservation");
    String cause =
        workload.quotaReserved() ? "" : reason(workload, "QuotaReserved", "PendingEvaluation");
    return Optional.of(new Group(queue, admittedBy, false, reason, cause));
  }

  private static String reason(CachedWorkload workload, String type, String otherwise) {
    return workload.status().condition(type).map(Condition::reason).orElse(otherwise);
  }
}
