package dev.sluice.app.module;

import dev.sluice.api.config.Configuration.CustomLabel;
import dev.sluice.api.config.Configuration.SourceKind;
import dev.sluice.api.config.FeatureGate;
import dev.sluice.api.config.LedgerSettings;
import dev.sluice.kube.client.MonotonicClock;
import dev.sluice.workload.reading.WorkloadReflector;
import dev.sluice.workload.reading.WorkloadReflector.ReflectorOptions;
import dev.sluice.workload.record.WorkloadCache;
import dev.sluice.workload.record.WorkloadParser;
import dev.sluice.workload.writing.EvictionWriter;
import dev.sluice.workload.writing.PatchingWorkloadWriter;
import java.io.IOException;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The Workload cache, the reflector that fills it, and the writer of Workloads. Starts last: a
 * Workload is of use to the engine when its queues are known. It is listed while they are.
 */
public final class WorkloadModule implements OperatorModule {

  private static final Logger LOG = LoggerFactory.getLogger(WorkloadModule.class);
  private static final int WRITES_AT_A_TIME = 32;

  private final WorkloadCache cache = new WorkloadCache();
  private final WorkloadReflector reflector;
  private final PatchingWorkloadWriter writer;
  private final EvictionWriter evictions;

  /** {@code readErrors} is told of Workloads that can't be read. */
  public WorkloadModule(OperatorContext context) {
    WorkloadParser parser =
        new WorkloadParser(
            measuredKeys(context),
            context.isEnabled(FeatureGate.CONFIGURABLE_PREEMPTIONS)
                || context.isEnabled(FeatureGate.TAS_TOPOLOGY_SPREADING));
    Random jitter = new Random(context.process().identity().hashCode());
    reflector =
        new WorkloadReflector(
            context.client(),
            parser,
            cache,
            ReflectorOptions.DEFAULT,
            new MonotonicClock(context.clock()),
            jitter,
            context.readErrors());
    writer =
        new PatchingWorkloadWriter(
            context.requests(WRITES_AT_A_TIME + 1),
            parser,
            cache::answered,
            WRITES_AT_A_TIME,
            context.clock(),
            jitter);
    evictions = new EvictionWriter(writer, context.clock(), new MonotonicClock(context.clock()));
  }

  /** The keys of labels and annotations of Workloads that metrics and the ledger have. */
  private static Set<String> measuredKeys(OperatorContext context) {
    LedgerSettings ledger = context.configuration().ledger();
    return Stream.concat(
            context.configuration().metrics().customLabels().stream()
                .filter(label -> label.sourceKind() == SourceKind.WORKLOAD)
                .map(CustomLabel::sourceKey),
            ledger.enabled() ? ledger.kept().stream() : Stream.empty())
        .collect(Collectors.toUnmodifiableSet());
  }

  /** The records of all Workloads, as they were last read. */
  public WorkloadCache cache() {
    return cache;
  }

  /** The reader that fills {@link #cache}. */
  WorkloadReflector reflector() {
    return reflector;
  }

  PatchingWorkloadWriter writer() {
    return writer;
  }

  /** Writes the evictions that are asked for again and again. */
  EvictionWriter evictions() {
    return evictions;
  }

  /** Completes when the cache has everything that was committed before this call. */
  public CompletableFuture<Void> caughtUp() {
    return reflector.caughtUp();
  }

  /** Begins to list Workloads, which get into the cache after the start only. Returns at once. */
  public void beginListing() {
    reflector.begin();
  }

  @Override
  public void start(CacheSyncWaiter cacheSync) throws IOException {
    cacheSync.await("Workloads", reflector.start());
    LOG.info("workloads={} world=listed", cache.size());
  }

  @Override
  public void close() {
    reflector.close();
  }
}
