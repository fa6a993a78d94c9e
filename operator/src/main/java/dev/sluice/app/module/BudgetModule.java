package dev.sluice.app.module;

import dev.sluice.api.queueing.FlavorPrices;
import dev.sluice.api.v1beta2.ResourceFlavor;
import dev.sluice.core.engine.SchedulerThread;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.jobs.policy.WorkloadStatuses;
import dev.sluice.kube.events.RecordedEventNotifier;
import dev.sluice.metrics.BudgetMetrics;
import dev.sluice.queues.BudgetAccounts;
import dev.sluice.workload.record.CachedWorkload;
import java.io.IOException;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Budgets, as far as the cluster has that kind (docs/budgets.md). */
final class BudgetModule implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(BudgetModule.class);

  private static final int WRITES_AT_A_TIME = 4;

  private final OperatorContext context;
  private final WorkloadModule workloads;
  private final BudgetAccounts accounts;
  private volatile Function<CachedWorkload, Optional<Duration>> runs = any -> Optional.empty();

  /** Connected to this engine; nothing is read yet. */
  BudgetModule(
      OperatorContext context,
      InformerModule informers,
      SchedulerThread schedulerThread,
      WorkloadModule workloads) {
    informers.caches().flavors().observe((before, after) -> price(schedulerThread, before, after));
    this.context = context;
    this.workloads = workloads;
    accounts =
        new BudgetAccounts(
            new BudgetAccounts.Connections(
                context.reflectors(),
                schedulerThread,
                schedulerThread::budgets,
                context.requests(WRITES_AT_A_TIME),
                new RecordedEventNotifier(context.events()),
                context.leadership(),
                this::drain,
                new BudgetMetrics(context.metrics().registry())::stands),
            context.clock(),
            context.process().identity());
  }

  /** Tells what a flavor costs, if it cost something else before. */
  private static void price(
      SchedulerThread schedulerThread,
      @Nullable ResourceFlavor before,
      @Nullable ResourceFlavor after) {
    ResourceFlavor either = after == null ? before : after;
    if (either != null && !perHour(before).equals(perHour(after))) {
      schedulerThread.submit(
          new SchedulerEvent.PricesChanged(either.getMetadata().getName(), perHour(after)));
    }
  }

  private static Map<String, BigDecimal> perHour(@Nullable ResourceFlavor flavor) {
    return flavor == null
        ? Map.of()
        : FlavorPrices.of(flavor.getMetadata().getAnnotations()).perHour();
  }

  boolean isEmpty() {
    return accounts.isEmpty();
  }

  Optional<BudgetAccounts.CountedBudget> budget(String name) {
    return accounts.budget(name);
  }

  void onPresence(Runnable listener) {
    accounts.onPresence(listener);
  }

  CompletableFuture<Boolean> named(WorkloadId id) {
    return accounts.named(id);
  }

  /** From now on this says how long Workloads run at the most. */
  void boundRunsBy(Function<CachedWorkload, Optional<Duration>> runBounds) {
    runs = runBounds;
  }

  /** How long a Workload runs at the most, if a budget may ask. */
  Optional<Duration> run(CachedWorkload workload) {
    return accounts.isEmpty() ? Optional.empty() : runs.apply(workload);
  }

  /**
   * Begins to read Budgets. A cluster that doesn't have the kind yet, or an operator that may not
   * read it, starts nevertheless: Budgets count from when they can be read.
   */
  void start(CacheSyncWaiter cacheSync) throws IOException {
    Optional<String> unreadable = context.unreadable(List.of("budgets"));
    CompletableFuture<Void> listed = accounts.start();
    if (unreadable.isPresent()) {
      LOG.warn("budgets=uncounted reason=\"{}\"", unreadable.get());
    } else {
      cacheSync.await("budgets", listed);
    }
  }

  private void drain(Set<String> uids, String why) {
    for (CachedWorkload workload : workloads.cache().all()) {
      if (uids.contains(workload.id().uid())) {
        workloads.evictions().evict(workload, WorkloadStatuses.EVICTED_BY_BUDGET, why);
      }
    }
  }

  @Override
  public void close() {
    accounts.close();
  }
}
