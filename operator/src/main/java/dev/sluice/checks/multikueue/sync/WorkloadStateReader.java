package dev.sluice.checks.multikueue.sync;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.KueueConstants;
import dev.sluice.api.placement.PlacementLimits;
import dev.sluice.checks.multikueue.capacity.CapacityEstimator;
import dev.sluice.checks.multikueue.placement.ClusterCandidates;
import dev.sluice.checks.multikueue.placement.ManagerState;
import dev.sluice.checks.multikueue.placement.WorkerState;
import dev.sluice.checks.multikueue.remote.RemoteConnections;
import dev.sluice.checks.multikueue.remote.RemoteConnections.ConnectionState;
import dev.sluice.checks.multikueue.remote.RemoteObjects;
import dev.sluice.checks.multikueue.remote.RemoteObjects.Key;
import dev.sluice.checks.multikueue.sync.JobStatusSync.RemoteStatus;
import dev.sluice.checks.multikueue.sync.MultiKueueWorkloadReconciler.ClusterSelector;
import dev.sluice.queues.cache.LocalClusters;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.CachedWorkload.CheckState;
import dev.sluice.workload.status.Evictions;
import java.io.IOException;
import java.time.Instant;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** Reads the state of a Workload in the manager and in each worker, as input of placement. */
final class WorkloadStateReader {

  private final RemoteConnections connections;
  private final RemoteClient manager;
  private final CapacityEstimator capacityEstimator;
  private final LocalClusters localClusters;
  private final RemoteWorkloadFactory remoteWorkloadFactory = new RemoteWorkloadFactory();

  WorkloadStateReader(
      RemoteConnections connections,
      RemoteClient manager,
      CapacityEstimator capacityEstimator,
      LocalClusters localClusters) {
    this.localClusters = localClusters;
    this.connections = connections;
    this.manager = manager;
    this.capacityEstimator = capacityEstimator;
  }

  /** The workers that are connected now. */
  Set<String> connected() {
    return connections.connected().entrySet().stream()
        .filter(Map.Entry::getValue)
        .map(Map.Entry::getKey)
        .collect(Collectors.toSet());
  }

  /** The copies of the Workload by worker, as last seen. */
  Map<String, JsonNode> copies(Key key) {
    Map<String, JsonNode> result = new TreeMap<>();
    for (String cluster : connections.connected().keySet()) {
      connections
          .workloads(cluster)
          .flatMap(objects -> objects.find(key))
          .ifPresent(copy -> result.put(cluster, copy));
    }
    return result;
  }

  /** The connected worker in which the copy of a Workload holds quota. */
  Optional<String> holding(Key key) {
    Map<String, Boolean> connected = connections.connected();
    return copies(key).entrySet().stream()
        .filter(copy -> connected.getOrDefault(copy.getKey(), false))
        .filter(copy -> RemoteWorkloadFactory.holdsQuota(copy.getValue()))
        .map(Map.Entry::getKey)
        .findFirst();
  }

  /**
   * The state in each worker. A worker that is not configured any more but runs the Workload counts
   * as lost: its state is unknown. So does one that it was sent back from.
   *
   * @param leadingSince since when this process is the leader
   */
  Map<String, WorkerState> remotes(RemoteWorkloadContext context, Instant leadingSince) {
    Map<String, WorkerState> result = new LinkedHashMap<>();
    Optional<SentBack> sentBack = context.workload().flatMap(WorkloadStateReader::sentBack);
    for (Map.Entry<String, Boolean> link : connections.connected().entrySet()) {
      JsonNode object = context.copies().get(link.getKey());
      Optional<WorkerState.Copy> copy =
          object == null
              ? Optional.empty()
              : Optional.of(
                  remoteWorkloadFactory.read(
                      object, context.workload(), context.reconcileState().scalesRemotely()));
      result.put(
          link.getKey(),
          new WorkerState(
              link.getValue(),
              connections.state(link.getKey()).flatMap(ConnectionState::lostSince),
              copy,
              sentBack
                  .filter(from -> from.cluster().equals(link.getKey()) && !link.getValue())
                  .filter(
                      from -> copy.map(WorkerState.Copy::mayRun).orElse(!isListed(link.getKey())))
                  .map(SentBack::at)));
    }
    context
        .workload()
        .map(it -> it.status().remotePlacement().cluster())
        .filter(cluster -> !cluster.isEmpty())
        .or(() -> sentBack.map(SentBack::cluster))
        .filter(cluster -> !result.containsKey(cluster))
        .ifPresent(
            cluster ->
                result.put(
                    cluster,
                    new WorkerState(
                        false,
                        Optional.of(connections.forgottenSince(cluster).orElse(leadingSince)),
                        Optional.empty(),
                        sentBack.map(SentBack::at))));
    return result;
  }

  /** From which worker a Workload was sent back, and when. */
  private record SentBack(String cluster, Instant at) {}

  /** The last time that a Workload was sent back, unless another worker was chosen since. */
  private static Optional<SentBack> sentBack(CachedWorkload workload) {
    String cluster = workload.status().remotePlacement().cluster();
    return cluster.isEmpty()
        ? Evictions.lastCluster(workload)
            .map(from -> new SentBack(from.message(), from.lastTransitionTime()))
        : workload
            .status()
            .trueCondition("Evicted")
            .map(evicted -> new SentBack(cluster, evicted.lastTransitionTime()));
  }

  /** Whether a worker's Workloads were read by this process. */
  private boolean isListed(String cluster) {
    return connections.workloads(cluster).filter(RemoteObjects::listed).isPresent();
  }

  /** The workers that the Workload may use, out of those that its check selects. */
  ClusterCandidates candidates(RemoteWorkloadContext context, ClusterSelector clusterSelector) {
    List<String> configured = context.check().flatMap(clusterSelector::of).orElse(List.of());
    PlacementLimits limits =
        PlacementLimits.of(context.workload().map(CachedWorkload::annotations).orElse(Map.of()));
    Map<String, String> excluded = new HashMap<>();
    configured.stream()
        .filter(localClusters::isHere)
        .forEach(name -> excluded.put(name, "it got no quota of this cluster's flavors"));
    configured.forEach(
        name ->
            limits
                .forbids(name, clusterSelector.labels(name))
                .ifPresent(why -> excluded.put(name, why)));
    return new ClusterCandidates(configured, excluded, clusterSelector.listed());
  }

  /**
   * The location of the quota that the Workload holds. A Workload that runs in the manager stays
   * there until it is evicted.
   */
  LocalClusters.QuotaLocation home(RemoteWorkloadContext context) {
    if (context.workload().filter(LocalClusters::isMarked).isEmpty()) {
      return new LocalClusters.QuotaLocation.Remote();
    }
    CachedWorkload workload = context.local();
    boolean runsHere =
        context.quotaState() == ManagerState.Check.READY
            && workload.status().remotePlacement().cluster().isEmpty();
    LocalClusters.QuotaLocation quotaLocation = localClusters.quotaLocation(workload);
    if (quotaLocation instanceof LocalClusters.QuotaLocation.Remote && runsHere) {
      return new LocalClusters.QuotaLocation.Local("");
    }
    return quotaLocation;
  }

  /** The state in the manager. */
  ManagerState local(RemoteWorkloadContext context) throws IOException {
    ReconcileState reconcileState = context.reconcileState();
    boolean over = context.workload().filter(it -> !it.deleting() && !it.finished()).isEmpty();
    if (over || context.check().isEmpty()) {
      return new ManagerState(
          over,
          false,
          false,
          ManagerState.Check.PENDING,
          false,
          new ManagerState.Sendable.Yes(),
          Optional.empty(),
          List.of(),
          Optional.empty());
    }
    CachedWorkload workload = context.local();
    if (workload.status().remotePlacement().nominated().isEmpty()) {
      reconcileState.withoutRound();
    }
    return new ManagerState(
        false,
        workload.quotaReserved(),
        workload.evicted(),
        context.quotaState(),
        workload.status().admissionChecks().stream()
            .filter(it -> !it.name().equals(context.check().orElse("")))
            .allMatch(it -> it.is(CheckState.READY)),
        sendable(context),
        Optional.of(workload.status().remotePlacement().cluster()).filter(name -> !name.isEmpty()),
        workload.status().remotePlacement().nominated(),
        reconcileState.lastRound(),
        workload.quotaReserved() && workload.status().remotePlacement().nominated().isEmpty()
            ? capacityEstimator.of(workload)
            : Set.of());
  }

  /**
   * Reads a job that can be sent once: its managed-by field can't be taken back. One that can't be
   * sent may be another job, or a changed one, when its Workload is activated again.
   */
  private ManagerState.Sendable sendable(RemoteWorkloadContext context) throws IOException {
    ReconcileState reconcileState = context.reconcileState();
    if (reconcileState.isSendable() || !context.local().quotaReserved()) {
      return new ManagerState.Sendable.Yes();
    }
    Optional<RemoteWorkloadContext.Owner> owner = context.owner();
    if (owner.isEmpty()) {
      String kind = context.local().owner().map(CachedWorkload.Owner::kind).orElse("none");
      return new ManagerState.Sendable.No(
          "Jobs of kind \""
              + kind
              + "\" can't be sent to worker clusters; allowed: "
              + context.kinds().names());
    }
    Optional<ObjectNode> job = job(context, owner.get());
    if (job.isEmpty()) {
      return new ManagerState.Sendable.Yes();
    }
    ManagerState.Sendable answer = ManagedByCheck.sendable(owner.get().kind(), job.get());
    if (answer instanceof ManagerState.Sendable.Yes) {
      reconcileState.sendsJob();
    }
    reconcileState.scalesRemotely(owner.get().kind().rules().scaling().scalesRemotely(job.get()));
    return answer;
  }

  /** The manager's job of a Workload; empty if the job was deleted or is a pod group. */
  Optional<ObjectNode> job(RemoteWorkloadContext context, RemoteWorkloadContext.Owner owner)
      throws IOException {
    return owner.isGroup() ? Optional.empty() : manager.get(owner.path(context.key().namespace()));
  }

  /** Checks whether a job is marked as managed by MultiKueue. */
  static final class ManagedByCheck {

    private ManagedByCheck() {}

    static ManagerState.Sendable sendable(MultiKueueKind kind, JsonNode job) {
      return switch (kind.pods()) {
        case NONE -> marked(kind, job);
        case ITSELF -> gated(job);
        case MADE, MADE_IN_GROUPS -> new ManagerState.Sendable.Yes();
      };
    }

    /**
     * A pod without a mark may be dispatched only while its scheduling gate keeps it from running
     * in the manager.
     */
    static ManagerState.Sendable gated(JsonNode pod) {
      return isGated(pod) || PodStatuses.ended(pod)
          ? new ManagerState.Sendable.Yes()
          : new ManagerState.Sendable.No(
              "spec.schedulingGates of pod %s has no %s; it may run in this cluster, and isn't sent"
                  .formatted(
                      pod.path("metadata").path("name").asText(), KueueConstants.ADMISSION_GATE));
    }

    /** Whether a pod waits at the gate that keeps it from being scheduled before it may run. */
    static boolean isGated(JsonNode pod) {
      for (JsonNode gate : pod.path("spec").path("schedulingGates")) {
        if (gate.path("name").asText().equals(KueueConstants.ADMISSION_GATE)) {
          return true;
        }
      }
      return false;
    }

    private static ManagerState.Sendable marked(MultiKueueKind kind, JsonNode job) {
      List<String> managedByValues =
          kind.managedBy().stream().map(path -> RemoteJobFactory.at(job, path).asText()).toList();
      return managedByValues.contains(KueueConstants.MULTIKUEUE) || RemoteStatus.isFor(kind, job)
          ? new ManagerState.Sendable.Yes()
          : new ManagerState.Sendable.No(
              "%s is \"%s\"; allowed for jobs that are sent to worker clusters: %s"
                  .formatted(
                      String.join(".", kind.managedBy().getFirst()),
                      managedByValues.getFirst(),
                      KueueConstants.MULTIKUEUE));
    }
  }
}
