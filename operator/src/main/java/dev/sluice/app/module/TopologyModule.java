package dev.sluice.app.module;

import dev.sluice.accounting.PodRecord;
import dev.sluice.api.config.FeatureGate;
import dev.sluice.core.model.Toleration;
import dev.sluice.jobs.kind.JobKind;
import dev.sluice.queues.mapping.FlavorMapper;
import dev.sluice.topology.FailedNodeController;
import dev.sluice.topology.FailedNodePolicy;
import dev.sluice.topology.NodeState;
import dev.sluice.topology.NodeStore;
import dev.sluice.topology.PodStore;
import dev.sluice.topology.TopologyAssignments;
import dev.sluice.topology.TopologyReaders;
import dev.sluice.topology.TopologyUngater;
import dev.sluice.workload.record.CachedWorkload;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Topology aware scheduling outside of the engine. Nodes and pods are read while a flavor has a
 * topology, and pods of assignments are given their domains. Starts after flavors are listed, and
 * before Workloads are.
 */
public final class TopologyModule implements OperatorModule {

  /** How long changes of pods are collected before the engine is told. */
  private static final Duration REPORT_DELAY = Duration.ofMillis(50);

  private static final int WRITES_AT_A_TIME = 32;

  private final OperatorContext context;
  private final InformerModule informers;
  private final AccountingModule accounting;
  private final NodeStore nodes;
  private final PodStore pods;
  private final TopologyReaders readers;
  private final TopologyUngater ungater;
  private final FailedNodeController failedNodes;
  private volatile boolean open;
  private volatile boolean leading;

  /** Connected to the Workloads that {@code workloads} reads. */
  public TopologyModule(
      OperatorContext context,
      InformerModule informers,
      SchedulerModule scheduler,
      WorkloadModule workloads,
      AccountingModule accounting,
      MetricsModule metrics) {
    this.context = context;
    this.informers = informers;
    this.accounting = accounting;
    nodes = new NodeStore(scheduler.engine(), this::nodeChanged);
    pods =
        new PodStore(
            scheduler.engine(),
            task -> context.schedule(REPORT_DELAY, task),
            this::podChanged,
            accounting.parser(),
            accounting.records(),
            this::isAssigned);
    workloads.reflector().listen(this::assignmentChanged);
    accounting.accounts().lostNodes(this::isLost);
    readers = new TopologyReaders(context.reflectors(), nodes, pods);
    accounting.readBy(readers::isSynced);
    scheduler.reservations().findNodesBy(labels -> !readers.isSynced() || isOnNodes(labels));
    ungater =
        new TopologyUngater(
            workloads.cache(),
            pods,
            context.requests(WRITES_AT_A_TIME),
            workloads.writer(),
            context.workQueue(JobKind.WORKLOAD),
            context.clock(),
            this::mayAct,
            metrics::recordGateRemoval);
    failedNodes = failedNodes(scheduler, workloads, nodes, pods);
    if (context.isEnabled(FeatureGate.TOPOLOGY_AWARE_SCHEDULING)) {
      workloads.reflector().listen(ungater);
      informers.caches().flavors().observe((before, after) -> flavorsChanged());
    }
  }

  private boolean isOnNodes(Map<String, String> labels) {
    return nodes.all().stream()
        .anyMatch(each -> each.node().labels().entrySet().containsAll(labels.entrySet()));
  }

  private FailedNodeController failedNodes(
      SchedulerModule scheduler, WorkloadModule workloads, NodeStore nodes, PodStore pods) {
    FailedNodeController controller =
        new FailedNodeController(
            new FailedNodeController.Dependencies(
                workloads.cache(),
                nodes,
                pods,
                workloads.writer(),
                this::tolerations,
                scheduler.events(),
                context.requests(WRITES_AT_A_TIME),
                context.events(),
                context.clock()),
            new FailedNodePolicy(
                context.isEnabled(FeatureGate.TAS_REPLACE_NODE_ON_POD_TERMINATION),
                context.isEnabled(FeatureGate.TAS_REPLACE_NODE_ON_NODE_TAINTS),
                context.isEnabled(FeatureGate.TAS_REPLACE_NODE_DUE_TO_NOT_READY_OVER_FIXED_TIME),
                context.isEnabled(FeatureGate.TAS_REPLACE_MULTIPLE_FAILED_NODES)),
            context.workQueue(JobKind.WORKLOAD),
            this::mayAct);
    if (replacesNodes()) {
      workloads.reflector().listen(controller);
    }
    return controller;
  }

  private boolean replacesNodes() {
    return context.isEnabled(FeatureGate.TOPOLOGY_AWARE_SCHEDULING)
        && context.isEnabled(FeatureGate.TAS_FAILED_NODE_REPLACEMENT);
  }

  private boolean mayAct() {
    return leading && context.leadership().leading() && readers.isSynced();
  }

  private List<Toleration> tolerations(String flavor) {
    return informers
        .caches()
        .flavors()
        .find(flavor)
        .map(found -> FlavorMapper.translate(found).tolerations())
        .orElse(List.of());
  }

  private void podChanged(PodStore.Key workload) {
    ungater.podChanged(workload);
    if (replacesNodes()) {
      failedNodes.podChanged(workload);
    }
  }

  /**
   * Whether a pod runs where one of its Workloads was assigned to. As long as Workloads are listed,
   * and where pods aren't counted, what it says of itself is believed.
   */
  private boolean isAssigned(PodRecord pod) {
    if (!leading || !accounting.enabled()) {
      return true;
    }
    Map<String, String> labels =
        nodes.find(pod.node()).map(state -> state.node().labels()).orElse(Map.of());
    return accounting.accounts().charged(pod).stream()
        .anyMatch(workload -> TopologyAssignments.isAssigned(workload, pod.node(), labels));
  }

  /** Pods that a Workload was assigned places for, or isn't any more, are counted anew. */
  private void assignmentChanged(@Nullable CachedWorkload before, @Nullable CachedWorkload after) {
    CachedWorkload workload = after == null ? before : after;
    if (!leading
        || workload == null
        || (before != null && after != null && !differ(before, after))) {
      return;
    }
    if (TopologyAssignments.isPlaced(workload)
        || (before != null && TopologyAssignments.isPlaced(before))) {
      accounting
          .accounts()
          .podsOf(accounting.accounts().accountOf(workload))
          .forEach(pods::ownersChanged);
    }
  }

  private static boolean differ(CachedWorkload before, CachedWorkload after) {
    return before.quotaReserved() != after.quotaReserved()
        || before.finished() != after.finished()
        || !before.status().admission().equals(after.status().admission());
  }

  private boolean isLost(String node) {
    return readers.isSynced() && nodes.find(node).filter(found -> !found.isUnreachable()).isEmpty();
  }

  private void nodeChanged(@Nullable NodeState before, @Nullable NodeState after) {
    NodeState node = after == null ? before : after;
    if (node != null && accounting.enabled() && readers.isSynced()) {
      accounting.accounts().nodeChanged(node.node().name());
    }
    if (replacesNodes() && readers.isSynced()) {
      failedNodes.nodeChanged(before, after);
    }
  }

  private void enqueueAll() {
    ungater.enqueueAll();
    if (replacesNodes()) {
      failedNodes.enqueueAll();
    }
  }

  /** Pods and nodes are read while a flavor has a topology, or pods are counted. */
  private boolean isUsed() {
    return accounting.enabled() || isPlacing();
  }

  private boolean isPlacing() {
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
      var unused = readers.start().thenRun(this::enqueueAll);
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
    pods.allOwnersChanged();
    enqueueAll();
  }

  @Override
  public void leadershipEnded() {
    leading = false;
  }

  @Override
  public void stop() {
    open = false;
    ungater.close();
    failedNodes.close();
  }

  @Override
  public void close() {
    readers.close();
  }
}
