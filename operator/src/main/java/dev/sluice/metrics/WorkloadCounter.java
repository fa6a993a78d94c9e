package dev.sluice.metrics;

import dev.sluice.core.model.LocalQueueId;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.CachedWorkload.Condition;
import dev.sluice.workload.record.WorkloadListener;
import dev.sluice.workload.status.Variants;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Counts the existing Workloads that are finished or not admitted, by queue and reason; of those
 * that have variants, the parents. Updated by the reader's thread; readable from any thread.
 */
public final class WorkloadCounter implements WorkloadListener {

  private final Map<Group, Integer> counts = new ConcurrentHashMap<>();
  private final Map<Admitted, Integer> admitted = new ConcurrentHashMap<>();
  private final CustomLabels customLabels;
  private final boolean variants;

  /** A counter for metrics that take no labels from Workloads, where none has variants. */
  public WorkloadCounter() {
    this(CustomLabels.NONE, false);
  }

  /**
   * A counter that also counts the admitted Workloads by the labels that come from them, if any.
   *
   * @param variants whether Workloads are tried in several flavors at once, by variants
   */
  public WorkloadCounter(CustomLabels customLabels, boolean variants) {
    this.customLabels = customLabels;
    this.variants = variants;
  }

  /**
   * Key of a count of admitted Workloads.
   *
   * @param queue their LocalQueue
   * @param clusterQueue the ClusterQueue that admitted them
   * @param labels the values of the labels that come from Workloads
   */
  record Admitted(LocalQueueId queue, String clusterQueue, List<String> labels) {}

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
    change(counts(before) ? before : null, counts(after) ? after : null);
  }

  private boolean counts(@Nullable CachedWorkload workload) {
    return workload != null && !(variants && Variants.isVariant(workload));
  }

  private void change(@Nullable CachedWorkload before, @Nullable CachedWorkload after) {
    Optional<Group> left = before == null ? Optional.empty() : group(before);
    Optional<Group> joined = after == null ? Optional.empty() : group(after);
    if (!left.equals(joined)) {
      left.ifPresent(group -> counts.compute(group, (same, count) -> less(count)));
      joined.ifPresent(group -> counts.merge(group, 1, Integer::sum));
    }
    if (customLabels.hasWorkloadLabels()) {
      if (before != null && holds(before)) {
        admitted.compute(admitted(before), (same, count) -> less(count));
      }
      if (after != null && holds(after)) {
        admitted.merge(admitted(after), 1, Integer::sum);
      }
    }
  }

  private static boolean holds(CachedWorkload workload) {
    return workload.admitted() && !workload.finished();
  }

  private Admitted admitted(CachedWorkload workload) {
    return new Admitted(
        new LocalQueueId(workload.id().namespace(), workload.spec().queueName()),
        workload.status().admission().map(CachedWorkload.Admission::clusterQueue).orElse(""),
        customLabels.workloadValues(workload));
  }

  /** The numbers of admitted Workloads; none if no label comes from Workloads. */
  Map<Admitted, Integer> admitted() {
    return admitted;
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
