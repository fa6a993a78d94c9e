package dev.sluice.metrics;

import dev.sluice.core.engine.LocalQueueView;
import dev.sluice.core.engine.SchedulerViews;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.kube.leader.ReplicaRole;
import dev.sluice.metrics.WorkloadMetrics.QueueRef;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.CachedWorkload.Condition;
import dev.sluice.workload.record.CachedWorkload.EvictionCount;
import dev.sluice.workload.record.WorkloadListener;
import dev.sluice.workload.status.PodsReady;
import dev.sluice.workload.status.Variants;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Derives measurements from changes of Workload objects: each transition is counted once, by the
 * leader, whichever process wrote it. Transitions before the first listing are not counted.
 */
public final class WorkloadTransitions implements WorkloadListener {

  private static final String DEACTIVATED = "Deactivated";
  private static final String DEACTIVATED_DUE_TO = "DeactivatedDueTo";

  private final WorkloadMetrics metrics;
  private final SchedulerViews schedulerViews;
  private final Supplier<ReplicaRole> role;
  private final InstantSource clock;
  private final boolean variants;

  /**
   * Creates the listener.
   *
   * @param metrics receives the measurements
   * @param schedulerViews the existing queues
   * @param role the current role of this replica
   * @param clock the current time
   * @param variants whether Workloads are tried in several flavors at once, by variants
   *     (docs/metrics.md#workloads-with-variants)
   */
  public WorkloadTransitions(
      WorkloadMetrics metrics,
      SchedulerViews schedulerViews,
      Supplier<ReplicaRole> role,
      InstantSource clock,
      boolean variants) {
    this.metrics = metrics;
    this.schedulerViews = schedulerViews;
    this.role = role;
    this.clock = clock;
    this.variants = variants;
  }

  @Override
  public void changed(@Nullable CachedWorkload before, @Nullable CachedWorkload after) {
    if (before == null || after == null || !role.get().decides()) {
      return;
    }
    Instant now = clock.instant();
    QueueRef queue = queue(before, after);
    if (!variants || !Variants.isVariant(after)) {
      progressed(before, after, queue, now);
    }
    // a parent is evicted because its variant was, which tells the reason
    if (!variants
        || !Variants.isParent(after)
        || reasonOf(after, "Evicted").equals(Variants.LOST)) {
      evicted(before, after, queue, now);
    }
  }

  private void progressed(
      CachedWorkload before, CachedWorkload after, QueueRef queue, Instant now) {
    Instant queued = before.queuedSince();
    if (turnedTrue(before, after, "QuotaReserved")) {
      metrics.quotaReserved(queue, Duration.between(queued, now));
    }
    if (turnedTrue(before, after, "Admitted")) {
      Duration sinceReserved =
          before.quotaReserved() ? since(before, "QuotaReserved", now) : Duration.ZERO;
      metrics.admitted(queue, Duration.between(queued, now), sinceReserved);
    }
    if (turnedTrue(before, after, "Finished")) {
      boolean ran =
          before.admitted() || after.admitted() || before.status().history().executionSeconds() > 0;
      metrics.finished(queue, ran ? Optional.of(before.executed(now)) : Optional.empty());
      if (reasonOf(after, "Finished").equals("WorkloadSliceReplaced")) {
        metrics.sliceReplaced(queue);
      }
    }
    if (turnedTrue(before, after, PodsReady.TYPE)) {
      if (reasonOf(after, PodsReady.TYPE).equals(PodsReady.STARTED)) {
        metrics.podsReady(queue, Duration.between(queued, now), since(after, "Admitted", now));
      } else {
        metrics.podsRecovered(queue, since(before, PodsReady.TYPE, now));
      }
    }
  }

  private void evicted(CachedWorkload before, CachedWorkload after, QueueRef queue, Instant now) {
    if (turnedEvicted(before, after) && before.status().admission().isPresent()) {
      Optional<EvictionCount> counted = counted(before, after);
      String cause = cause(counted, after);
      metrics.evicted(
          queue, reason(after), cause, counted.filter(each -> each.count() > 1).isEmpty());
      if (before.status().isTrue(PodsReady.TYPE)) {
        metrics.evictedAfterReady(queue, reason(after), cause, since(before, PodsReady.TYPE, now));
      }
    }
    if (before.quotaReserved() && !after.quotaReserved() && after.evicted()) {
      metrics.quotaReleased(queue, reason(after), since(after, "Evicted", now));
    }
  }

  private QueueRef queue(CachedWorkload before, CachedWorkload after) {
    LocalQueueId local = new LocalQueueId(after.id().namespace(), after.spec().queueName());
    String cluster =
        after
            .status()
            .admission()
            .or(() -> before.status().admission())
            .map(CachedWorkload.Admission::clusterQueue)
            .or(() -> schedulerViews.localQueue(local).map(LocalQueueView::clusterQueue))
            .orElse("");
    String priorityClass =
        after.spec().priorityClass().map(CachedWorkload.PriorityClassRef::name).orElse("");
    return new QueueRef(cluster, local, priorityClass, metrics.labelsOf(after));
  }

  /**
   * Whether the Workload was evicted between these states: for the first time since it got quota,
   * or anew while its job stops, of which only the statistics tell.
   */
  static boolean turnedEvicted(CachedWorkload before, CachedWorkload after) {
    return turnedTrue(before, after, "Evicted")
        || (after.evicted() && counted(before, after).isPresent());
  }

  private static boolean turnedTrue(CachedWorkload before, CachedWorkload after, String type) {
    return after.status().isTrue(type)
        && (!before.status().isTrue(type) || !moment(before, type).equals(moment(after, type)));
  }

  private static Optional<Instant> moment(CachedWorkload workload, String type) {
    return workload.status().condition(type).map(Condition::lastTransitionTime);
  }

  private static Duration since(CachedWorkload workload, String type, Instant now) {
    return moment(workload, type).map(at -> Duration.between(at, now)).orElse(Duration.ZERO);
  }

  /**
   * The entry of the Workload's statistics that an eviction was added to: it alone tells causes
   * apart that no condition tells.
   */
  private static Optional<EvictionCount> counted(CachedWorkload before, CachedWorkload evicted) {
    List<EvictionCount> known = before.status().history().evictions();
    return evicted.status().history().evictions().stream()
        .filter(each -> baseReason(each.reason()).equals(reason(evicted)))
        .filter(
            each ->
                known.stream()
                    .noneMatch(
                        old ->
                            old.reason().equals(each.reason())
                                && old.underlyingCause().equals(each.underlyingCause())
                                && old.count() >= each.count()))
        .findFirst();
  }

  /** Why a Workload was evicted, without the cause behind the reason. */
  static String reason(CachedWorkload evicted) {
    return baseReason(reasonOf(evicted, "Evicted"));
  }

  private static String baseReason(String reason) {
    return reason.startsWith(DEACTIVATED) ? DEACTIVATED : reason;
  }

  private static String cause(Optional<EvictionCount> counted, CachedWorkload evicted) {
    return counted
        .map(EvictionCount::underlyingCause)
        .filter(cause -> !cause.isEmpty())
        .orElseGet(() -> causeInConditions(evicted));
  }

  private static String causeInConditions(CachedWorkload evicted) {
    String reason = reasonOf(evicted, "Evicted");
    if (reason.startsWith(DEACTIVATED_DUE_TO)) {
      return reason.substring(DEACTIVATED_DUE_TO.length());
    }
    if (!reason.equals(PodsReady.TIMEOUT)) {
      return "";
    }
    String cause = reasonOf(evicted, PodsReady.TYPE);
    return cause.isEmpty() ? PodsReady.WAIT_FOR_START : cause;
  }

  private static String reasonOf(CachedWorkload workload, String type) {
    return workload.status().condition(type).map(Condition::reason).orElse("");
  }
}
