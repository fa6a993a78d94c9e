package dev.sluice.checks.multikueue.sync;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.placement.PlacementLimits;
import dev.sluice.checks.multikueue.capacity.CapacityEstimator;
import dev.sluice.checks.multikueue.placement.ClusterCandidates;
import dev.sluice.checks.multikueue.placement.ManagerState;
import dev.sluice.checks.multikueue.placement.WorkerState;
import dev.sluice.checks.multikueue.remote.ConnectionState;
import dev.sluice.checks.multikueue.remote.RemoteConnections;
import dev.sluice.checks.multikueue.remote.RemoteObjects.Key;
import dev.sluice.queues.cache.LocalClusters;
import dev.sluice.workload.CachedWorkload;
import dev.sluice.workload.CachedWorkload.CheckState;
import java.io.IOException;
import java.time.Instant;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/** How a Workload stands here and in each worker, as plans know it. */
final class WorkloadStateReader {

  private final RemoteConnections links;
  private final ActionExecutor actionExecutor;
  private final CapacityEstimator capacityEstimator;
  private final LocalClusters localClusters;
  private final RemoteWorkloadFactory copies = new RemoteWorkloadFactory();

  WorkloadStateReader(
      RemoteConnections links,
      ActionExecutor actionExecutor,
      CapacityEstimator capacityEstimator,
      LocalClusters localClusters) {
    this.localClusters = localClusters;
    this.links = links;
    this.actionExecutor = actionExecutor;
    this.capacityEstimator = capacityEstimator;
  }

  /** What is remembered of a Workload between looks; for one thread at a time. */
  static final class ReconcileNotes {
    private volatile Optional<Instant> lastRound = Optional.empty();
    private volatile Optional<ManagerState.Sendable> sendable = Optional.empty();
    private final MessageThrottle messageThrottle = new MessageThrottle();

    /** Clusters were nominated. */
    void began(Instant round) {
      lastRound = Optional.of(round);
    }

    /** When what is said to people is due. */
    MessageThrottle telling() {
      return messageThrottle;
    }
  }

  /** What each worker has of a Workload, or had when last seen. */
  Map<String, JsonNode> copies(Key key) {
    Map<String, JsonNode> result = new TreeMap<>();
    for (String cluster : links.connected().keySet()) {
      links
          .workloads(cluster)
          .flatMap(objects -> objects.find(key))
          .ifPresent(copy -> result.put(cluster, copy));
    }
    return result;
  }

  /**
   * How it stands in each worker. One that it runs in and that is no worker any more counts as
   * lost: nobody knows what goes on there.
   *
   * @param leadingSince since when this process looks at all
   */
  Map<String, WorkerState> remotes(WorkloadGroup workloadGroup, Instant leadingSince)
      throws IOException {
    Map<String, WorkerState> result = new LinkedHashMap<>();
    for (Map.Entry<String, Boolean> link : links.connected().entrySet()) {
      JsonNode object = workloadGroup.copies().get(link.getKey());
      Optional<WorkerState.Copy> copy =
          object == null
              ? Optional.empty()
              : Optional.of(copies.read(object, workloadGroup.workload()));
      result.put(
          link.getKey(),
          new WorkerState(
              link.getValue(),
              links.state(link.getKey()).flatMap(ConnectionState::lostSince),
              copy));
    }
    workloadGroup
        .workload()
        .map(it -> it.status().remotePlacement().cluster())
        .filter(cluster -> !cluster.isEmpty() && !result.containsKey(cluster))
        .ifPresent(
            cluster ->
                result.put(
                    cluster,
                    new WorkerState(
                        false,
                        Optional.of(links.forgottenSince(cluster).orElse(leadingSince)),
                        Optional.empty())));
    return result;
  }

  /** Which workers it may go to, of those that its check chooses from. */
  ClusterCandidates candidates(WorkloadGroup workloadGroup, ClusterSelector clusterSelector) {
    List<String> configured = workloadGroup.check().flatMap(clusterSelector::of).orElse(List.of());
    PlacementLimits limits =
        PlacementLimits.of(
            workloadGroup.workload().map(CachedWorkload::annotations).orElse(Map.of()));
    Map<String, String> excluded = new HashMap<>();
    configured.stream()
        .filter(localClusters::isHere)
        .forEach(name -> excluded.put(name, "it got no quota of this cluster's flavors"));
    configured.forEach(
        name ->
            limits
                .forbids(name, clusterSelector.labels(name))
                .ifPresent(why -> excluded.put(name, why)));
    return new ClusterCandidates(configured, excluded);
  }

  /** Whose quota it holds. One that runs here does so until it is sent back. */
  LocalClusters.QuotaLocation home(WorkloadGroup workloadGroup) {
    if (workloadGroup.workload().filter(LocalClusters::isMarked).isEmpty()) {
      return new LocalClusters.QuotaLocation.Remote();
    }
    CachedWorkload workload = workloadGroup.local();
    boolean runsHere =
        workloadGroup.quotaState() == ManagerState.Check.READY
            && workload.status().remotePlacement().cluster().isEmpty();
    LocalClusters.QuotaLocation quotaLocation = localClusters.quotaLocation(workload);
    if (quotaLocation instanceof LocalClusters.QuotaLocation.Remote && runsHere) {
      return new LocalClusters.QuotaLocation.Local("");
    }
    return quotaLocation;
  }

  /** How it stands here. */
  ManagerState local(WorkloadGroup workloadGroup, ReconcileNotes file) throws IOException {
    boolean over =
        workloadGroup.workload().filter(it -> !it.deleting() && !it.finished()).isEmpty();
    if (over || workloadGroup.check().isEmpty()) {
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
    CachedWorkload workload = workloadGroup.local();
    if (workload.status().remotePlacement().nominated().isEmpty()) {
      file.lastRound = Optional.empty();
    }
    return new ManagerState(
        false,
        workload.quotaReserved(),
        workload.evicted(),
        workloadGroup.quotaState(),
        workload.status().admissionChecks().stream()
            .filter(it -> !it.name().equals(workloadGroup.check().orElse("")))
            .allMatch(it -> it.is(CheckState.READY)),
        sendable(workloadGroup, file),
        Optional.of(workload.status().remotePlacement().cluster()).filter(name -> !name.isEmpty()),
        workload.status().remotePlacement().nominated(),
        file.lastRound,
        workload.quotaReserved() && workload.status().remotePlacement().nominated().isEmpty()
            ? capacityEstimator.of(workload)
            : Set.of());
  }

  /** Asked of the job once: who runs it is decided when it is created. */
  private ManagerState.Sendable sendable(WorkloadGroup workloadGroup, ReconcileNotes file)
      throws IOException {
    if (file.sendable.isPresent() || !workloadGroup.local().quotaReserved()) {
      return file.sendable.orElseGet(ManagerState.Sendable.Yes::new);
    }
    Optional<WorkloadGroup.Owner> owner = workloadGroup.owner();
    if (owner.isEmpty()) {
      String kind = workloadGroup.local().owner().map(CachedWorkload.Owner::kind).orElse("none");
      ManagerState.Sendable no =
          new ManagerState.Sendable.No(
              "Jobs of kind \""
                  + kind
                  + "\" can't be sent to worker clusters; allowed: "
                  + workloadGroup.kinds().names());
      file.sendable = Optional.of(no);
      return no;
    }
    Optional<ObjectNode> job = actionExecutor.job(workloadGroup, owner.get());
    if (job.isEmpty()) {
      return new ManagerState.Sendable.Yes();
    }
    ManagerState.Sendable answer = ManagedByCheck.sendable(owner.get().kind(), job.get());
    file.sendable = Optional.of(answer);
    return answer;
  }
}
