package dev.sluice.app.module;

import dev.sluice.api.queueing.FlavorPrices;
import dev.sluice.api.v1beta2.ResourceFlavor;
import dev.sluice.core.engine.ClusterQueueView;
import dev.sluice.core.engine.SchedulerViews;
import dev.sluice.core.model.FlavorResource;
import dev.sluice.core.model.LabelSelector;
import dev.sluice.ledger.AttemptReader;
import dev.sluice.ledger.Baseline;
import dev.sluice.ledger.Ledger;
import dev.sluice.ledger.LedgerOptions;
import dev.sluice.ledger.UsageQuery;
import dev.sluice.metrics.LedgerMetrics;
import dev.sluice.metrics.QueueGauges.CohortPath;
import dev.sluice.queues.cache.InformerCaches;
import dev.sluice.server.endpoints.UsageEndpoint.CountedUse;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import java.io.IOException;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the ledger (docs/ledger.md). Made only if one is configured. The ledger is the first to be
 * told of a version of a Workload, so that whatever is written because of the version comes after
 * what the ledger knows of it.
 */
public final class LedgerModule implements OperatorModule {

  private static final Logger LOG = LoggerFactory.getLogger(LedgerModule.class);

  private static final Duration LAST_ROWS = Duration.ofSeconds(5);

  private final Ledger ledger;
  private final InformerCaches caches;
  private volatile @Nullable SchedulerModule scheduler;

  /** Connected to the Workloads that {@code workloads} reads; a ledger is configured. */
  public LedgerModule(OperatorContext context, InformerModule informers, WorkloadModule workloads) {
    caches = informers.caches();
    LedgerOptions options = context.options().ledger().orElseThrow();
    LedgerMetrics metrics = new LedgerMetrics(context.metrics().registry());
    ledger =
        new Ledger(
            options,
            new Ledger.Source(
                context.process().identity(),
                workloads.cache(),
                () -> context.leadership().leading(),
                () -> prices(informers.caches().flavors().all()),
                this::isQueue),
            new AttemptReader(
                workload -> scheduler().translator().charged(workload),
                workload -> scheduler().families().isParent(workload),
                this::cohortPath,
                Set.copyOf(options.labels()),
                (queue, used) -> baseline(caches, queue, used)),
            context.clock(),
            metrics);
    context.metrics().forgetting(() -> metrics.forgetRemoved(this::isQueue));
    workloads.reflector().listen(ledger);
    informers.caches().flavors().observe((before, after) -> ledger.pricesChanged());
  }

  private boolean isQueue(String clusterQueue) {
    return scheduler().engine().views().clusterQueue(clusterQueue).isPresent();
  }

  private static Optional<Baseline> baseline(
      InformerCaches caches, String clusterQueue, FlavorResource flavorResource) {
    return caches
        .clusterQueues()
        .find(clusterQueue)
        .flatMap(queue -> Baseline.of(queue, flavorResource, caches.flavors()::find));
  }

  /**
   * What a Budget counts, and since when; empty if there is no such Budget, or nobody understands
   * it. Namespaces are those that have such labels now.
   */
  Optional<CountedUse> ofBudget(String name) {
    return scheduler()
        .budget(name)
        .map(
            counted ->
                new CountedUse(
                    UsageQuery.Scope.of(
                        counted.spec().scope(), labels -> namespaces(caches, labels)),
                    counted.since()));
  }

  private static List<String> namespaces(InformerCaches caches, LabelSelector labels) {
    return caches.namespaces().all().stream()
        .map(HasMetadata::getMetadata)
        .filter(
            namespace ->
                labels.matches(Optional.ofNullable(namespace.getLabels()).orElse(Map.of())))
        .map(ObjectMeta::getName)
        .toList();
  }

  private static Optional<Map<FlavorResource, BigDecimal>> prices(
      Collection<ResourceFlavor> flavors) {
    Map<FlavorResource, BigDecimal> prices = new HashMap<>();
    for (ResourceFlavor flavor : flavors) {
      FlavorPrices.of(flavor.getMetadata().getAnnotations())
          .perHour()
          .forEach(
              (resource, price) ->
                  prices.put(new FlavorResource(flavor.getMetadata().getName(), resource), price));
    }
    return flavors.isEmpty() ? Optional.empty() : Optional.of(prices);
  }

  /** Counts what this engine counts; to be called before the start. */
  public void connect(SchedulerModule schedulerModule) {
    scheduler = schedulerModule;
  }

  /** The ledger, for whoever asks it. */
  Ledger ledger() {
    return ledger;
  }

  private SchedulerModule scheduler() {
    return Objects.requireNonNull(scheduler, "connected before the start");
  }

  private String cohortPath(String clusterQueue) {
    SchedulerViews views = scheduler().engine().views();
    List<String> path =
        new ArrayList<>(
            CohortPath.from(
                views.clusterQueue(clusterQueue).map(ClusterQueueView::cohort).orElse(""), views));
    return String.join("/", path.reversed());
  }

  @Override
  public void start(CacheSyncWaiter cacheSync) throws IOException {
    ledger.start();
  }

  @Override
  public void stop() {
    ledger.stop(LAST_ROWS);
  }

  @Override
  public void close() {
    try {
      ledger.close();
    } catch (IOException e) {
      LOG.warn("ledger closed=false reason=\"{}\"", e.getMessage());
    }
  }
}
