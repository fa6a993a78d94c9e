package dev.sluice.queues;

import dev.sluice.api.v1beta2.ClusterQueue;
import dev.sluice.api.v1beta2.Cohort;
import dev.sluice.api.v1beta2.LocalQueue;
import dev.sluice.core.engine.SchedulerThread.ViewListener;
import dev.sluice.core.engine.SchedulerViews;
import dev.sluice.core.model.ClusterQueueSpec.InactiveReason;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.kube.controller.ReconcileTrigger;
import dev.sluice.kube.controller.WorkQueue;
import dev.sluice.kube.controller.WorkQueueSettings;
import dev.sluice.queues.status.StatusRateLimiter;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * Triggers reconciliation of queues when the scheduler published new views, limited by the rate of
 * status updates.
 */
final class ViewEventSource implements ViewListener, AutoCloseable {

  /**
   * The engine publishes views after each cycle; a look at all that wait is for several of them.
   */
  private static final Duration PAUSE = Duration.ofMillis(20);

  /** The only key of the queue: all that changed is looked at together. */
  private static final String STATUSES = "statuses of queues";

  private final SchedulerViews schedulerViews;
  private final StatusRateLimiter<Target> statusRateLimiter;
  private final ReconcileTrigger<ClusterQueue> clusterQueues;
  private final ReconcileTrigger<LocalQueue> localQueues;
  private final ReconcileTrigger<Cohort> cohorts;
  private final Queue<Target> changed = new ConcurrentLinkedQueue<>();
  private final Map<Target, List<InactiveReason>> lastProblems = new HashMap<>();
  private final InstantSource clock;
  private final WorkQueue<String> queue;
  private volatile Instant lastRun = Instant.EPOCH;

  ViewEventSource(
      SchedulerViews schedulerViews,
      StatusRateLimiter<Target> statusRateLimiter,
      InstantSource clock,
      WorkQueueSettings settings,
      ReconcileTrigger<ClusterQueue> clusterQueues,
      ReconcileTrigger<LocalQueue> localQueues,
      ReconcileTrigger<Cohort> cohorts) {
    this.schedulerViews = schedulerViews;
    this.statusRateLimiter = statusRateLimiter;
    this.clock = clock;
    this.queue = new WorkQueue<>(any -> signalDue(), settings);
    this.clusterQueues = clusterQueues;
    this.localQueues = localQueues;
    this.cohorts = cohorts;
  }

  @Override
  public void changed(
      Set<String> clusterQueueNames, Set<LocalQueueId> localQueueIds, Set<String> cohortNames) {
    clusterQueueNames.forEach(name -> changed.add(new ClusterQueueTarget(name)));
    localQueueIds.forEach(id -> changed.add(new LocalQueueTarget(id)));
    cohortNames.stream().filter(this::sharesFairly).map(CohortTarget::new).forEach(changed::add);
    queue.enqueueAfter(STATUSES, Duration.between(clock.instant(), lastRun.plus(PAUSE)));
  }

  /** Whether the cohort takes part in fair sharing; otherwise its status is empty. */
  private boolean sharesFairly(String cohort) {
    return schedulerViews
        .cohort(cohort)
        .filter(view -> view.dominantResourceShare().isPresent())
        .isPresent();
  }

  /** Triggers what is due, and returns the delay until the next update. */
  private Optional<Duration> signalDue() {
    Instant now = clock.instant();
    lastRun = now;
    for (Target target = changed.poll(); target != null; target = changed.poll()) {
      statusRateLimiter.touch(target, hasNewProblems(target), now);
    }
    statusRateLimiter.due(now).forEach(this::signal);
    return statusRateLimiter
        .next(now)
        .map(next -> Duration.between(now, next))
        .map(delay -> delay.compareTo(PAUSE) < 0 ? PAUSE : delay);
  }

  /**
   * Whether the queue's problems changed since the last check; such changes are urgent for users.
   */
  private boolean hasNewProblems(Target target) {
    List<InactiveReason> problems =
        switch (target) {
          case ClusterQueueTarget(String name) ->
              schedulerViews.clusterQueue(name).map(view -> view.problems()).orElse(null);
          case LocalQueueTarget(LocalQueueId id) ->
              schedulerViews.localQueue(id).map(view -> view.problems()).orElse(null);
          case CohortTarget(String name) -> List.of();
        };
    if (problems == null) {
      lastProblems.remove(target);
      return true;
    }
    return !problems.equals(lastProblems.put(target, problems));
  }

  private void signal(Target target) {
    switch (target) {
      case ClusterQueueTarget(String name) -> clusterQueues.signal(name);
      case LocalQueueTarget(LocalQueueId id) ->
          localQueues.signal(new ResourceID(id.name(), id.namespace()));
      case CohortTarget(String name) -> cohorts.signal(name);
    }
  }

  @Override
  public void close() {
    queue.close();
  }

  /** An object whose status updates are rate-limited. */
  sealed interface Target {}

  record ClusterQueueTarget(String name) implements Target {}

  record LocalQueueTarget(LocalQueueId id) implements Target {}

  record CohortTarget(String name) implements Target {}
}
