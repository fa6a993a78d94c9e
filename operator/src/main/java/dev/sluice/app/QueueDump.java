package dev.sluice.app;

import dev.sluice.app.module.CacheSyncWaiter;
import dev.sluice.app.module.OperatorModule;
import dev.sluice.core.engine.ClusterQueueView;
import dev.sluice.core.engine.CohortView;
import dev.sluice.core.engine.FlavorUsage;
import dev.sluice.core.engine.LocalQueueView;
import dev.sluice.core.engine.PendingPosition;
import dev.sluice.core.engine.SchedulerQueries;
import dev.sluice.core.engine.SchedulerViews;
import dev.sluice.core.model.ClusterQueueSpec.InactiveReason;
import dev.sluice.core.model.ResourceAmounts;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import sun.misc.Signal;

/**
 * Writes the state of all queues to the log: quota and use of each ClusterQueue and cohort, and the
 * first pending Workloads. The process does so when it gets the signal SIGUSR2.
 */
final class QueueDump implements OperatorModule {

  private static final Logger LOG = LoggerFactory.getLogger(QueueDump.class);
  private static final String SIGNAL = "USR2";
  private static final Duration ANSWER_LIMIT = Duration.ofSeconds(10);

  /** The most pending Workloads that are told of one ClusterQueue. */
  static final int MOST_PENDING = 100;

  private final SchedulerViews views;
  private final SchedulerQueries queries;

  QueueDump(SchedulerViews views, SchedulerQueries queries) {
    this.views = views;
    this.queries = queries;
  }

  /** From now on the signal writes the state to the log; a further operator takes it over. */
  @Override
  public void start(CacheSyncWaiter cacheSync) {
    try {
      Signal.handle(
          new Signal(SIGNAL), signal -> Thread.ofVirtual().name("queue-dump").start(this::log));
    } catch (IllegalArgumentException e) {
      LOG.warn("signal=SIG{} handled=false reason=\"{}\"", SIGNAL, e.getMessage());
    }
  }

  /** Writes everything to the log. */
  void log() {
    lines().forEach(line -> LOG.info("dump {}", line));
  }

  /** The lines, in the order of names. */
  List<String> lines() {
    List<String> lines = new ArrayList<>();
    views.cohorts().stream()
        .sorted(Comparator.comparing(CohortView::name))
        .forEach(cohort -> add(lines, cohort));
    views.clusterQueues().stream()
        .sorted(Comparator.comparing(ClusterQueueView::name))
        .forEach(queue -> add(lines, queue));
    views.localQueues().stream()
        .sorted(Comparator.comparing(queue -> queue.id().toString()))
        .forEach(queue -> add(lines, queue));
    return lines;
  }

  private static void add(List<String> lines, CohortView cohort) {
    String name = "cohort=" + cohort.name();
    lines.add("%s parent=%s".formatted(name, cohort.parent()));
    cohort.usage().forEach(usage -> lines.add(name + " " + text(usage)));
  }

  private void add(List<String> lines, ClusterQueueView queue) {
    String name = "clusterQueue=" + queue.name();
    lines.add(
        "%s cohort=%s active=%d inadmissible=%d reserving=%d admitted=%d problems=\"%s\""
            .formatted(
                name,
                queue.cohort(),
                queue.pendingActive(),
                queue.pendingInadmissible(),
                queue.reserving(),
                queue.admitted(),
                text(queue.problems())));
    queue.usage().forEach(usage -> lines.add(name + " " + text(usage)));
    if (queue.pendingActive() + queue.pendingInadmissible() > 0) {
      pending(lines, name, queue.name());
    }
  }

  private void pending(List<String> lines, String prefix, String queue) {
    Optional<List<PendingPosition>> pending;
    try {
      pending =
          queries
              .pendingInClusterQueue(queue, 0, MOST_PENDING)
              .orTimeout(ANSWER_LIMIT.toMillis(), TimeUnit.MILLISECONDS)
              .join();
    } catch (CompletionException e) {
      lines.add("%s pending=unknown reason=\"%s\"".formatted(prefix, e.getCause()));
      return;
    }
    for (PendingPosition each : pending.orElse(List.of())) {
      lines.add(
          "%s position=%d workload=%s localQueue=%s priority=%d created=%s inadmissible=%s"
              .formatted(
                  prefix,
                  each.inClusterQueue(),
                  each.id(),
                  each.queueName(),
                  each.priority(),
                  each.createdAt(),
                  each.inadmissible()));
    }
  }

  private static void add(List<String> lines, LocalQueueView queue) {
    lines.add(
        "localQueue=%s clusterQueue=%s active=%d inadmissible=%d reserving=%d admitted=%d problems=\"%s\""
            .formatted(
                queue.id(),
                queue.clusterQueue(),
                queue.pendingActive(),
                queue.pendingInadmissible(),
                queue.reserving(),
                queue.admitted(),
                text(queue.problems())));
  }

  private static String text(List<InactiveReason> problems) {
    return problems.stream().map(InactiveReason::reason).collect(Collectors.joining(","));
  }

  private static String text(FlavorUsage usage) {
    return "flavor=%s resource=%s nominal=%s borrowingLimit=%s lendingLimit=%s reserved=%s admitted=%s"
        .formatted(
            usage.flavor(),
            usage.resource(),
            text(usage.nominal()),
            text(usage.borrowingLimit()),
            text(usage.lendingLimit()),
            text(usage.reserved()),
            text(usage.admitted()));
  }

  private static String text(long amount) {
    return amount == ResourceAmounts.UNLIMITED ? "unlimited" : Long.toString(amount);
  }
}
