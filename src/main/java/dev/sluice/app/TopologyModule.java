package dev.sluice.app;

import dev.sluice.api.config.FeatureGate;
import dev.sluice.kube.reading.ReadErrorLog;
import dev.sluice.kube.workqueue.WorkQueueSettings;
import dev.sluice.queues.mapping.FlavorMapper;
import dev.sluice.topology.NodeStore;
import dev.sluice.topology.PodStore;
import dev.sluice.topology.TopologyReaders;
import dev.sluice.topology.TopologyUngater;
import java.io.IOException;
import java.time.Duration;
import java.util.Random;

/**
 * Topology aware scheduling outside of the engine. Nodes and pods are read while a flavor has a
 * topology, and pods of assignments are given their domains. Starts after flavors are listed, and
 * before Workloads are.
 */
final class TopologyModule implements OperatorModule {

  /** How long changes of pods are collected before the engine is told. */
  private static final Duration REPORT_DELAY = Duration.ofMillis(50);

  private static final int WRITES_AT_A_TIME = 32;

  private final OperatorContext context;
  private final InformerModule informers;
  private final TopologyReaders readers;
  private final TopologyUngater ungater;
  private volatile boolean open;
  private volatile boolean leading;

  /** Connected to the Workloads that {@code workloads} reads. */
  TopologyModule(
      OperatorContext context,
      InformerModule informers,
      SchedulerModule scheduler,
      WorkloadModule workloads,
      ReadErrorLog readErrors) {
    this.context = context;
    this.informers = informers;
    NodeStore nodes = new NodeStore(scheduler.engine(), name -> {});
    PodStore pods =
        new PodStore(
            scheduler.engine(), task -> context.schedule(REPORT_DELAY, task), this::podChanged);
    readers =
        new TopologyReaders(
            context.client(),
            nodes,
            pods,
            context.clock(),
            new Random(context.process().identity().hashCode()),
            readErrors);
    ungater =
        new TopologyUngater(
            workloads.cache(),
            pods,
            context.requests(WRITES_AT_A_TIME),
            WorkQueueSettings.of(context.executor(), context::schedule),
            this::mayAct);
    if (context.isEnabled(FeatureGate.TOPOLOGY_AWARE_SCHEDULING)) {
      workloads.reflector().listen(ungater);
      informers.caches().flavors().observe((before, after) -> flavorsChanged());
    }
  }

  private boolean mayAct() {
    return leading && context.leadership().leading() && readers.isSynced();
  }

  private void podChanged(PodStore.Key workload) {
    ungater.podChanged(workload);
  }

  private boolean isUsed() {
    return context.isEnabled(FeatureGate.TOPOLOGY_AWARE_SCHEDULING)
        && informers.caches().flavors().all().stream()
            .anyMatch(flavor -> FlavorMapper.topology(flavor).isPresent());
  }

  private void flavorsChanged() {
    if (open) {
      context.executor().execute(this::startOrStop);
    }
  }

  private void startOrStop() {
    if (!open) {
      return;
    }
    if (isUsed()) {
      var unused = readers.start().thenRun(ungater::enqueueAll);
    } else {
      readers.close();
    }
  }

  @Override
  public void start(CacheSyncWaiter cacheSync) throws IOException {
    open = true;
    if (isUsed()) {
      cacheSync.await("pods and nodes", readers.start());
    }
  }

  @Override
  public void leadershipStarted() {
    leading = true;
    ungater.enqueueAll();
  }

  @Override
  public void leadershipEnded() {
    leading = false;
  }

  @Override
  public void stop() {
    open = false;
    ungater.close();
  }

  @Override
  public void close() {
    readers.close();
  }
}
