package dev.sluice.checks.multikueue.sync;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.checks.multikueue.remote.RemoteObjects.Key;
import dev.sluice.checks.multikueue.sync.MultiKueueWorkloadReconciler.LocalPods;
import dev.sluice.checks.multikueue.sync.MultiKueueWorkloadReconciler.LocalPods.LocalPod;
import dev.sluice.checks.multikueue.sync.WorkloadStateReader.ManagedByCheck;
import dev.sluice.jobs.kind.MultiKueueRules;
import dev.sluice.workload.record.CachedWorkload;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Copies the status of remote pods to the manager's pods of the same names. A local pod is read and
 * written only when its remote pod changed since the last copy. Thread-safe; for one Workload, one
 * thread at a time.
 */
final class PodStatusSync {

  private static final Logger LOG = LoggerFactory.getLogger(PodStatusSync.class);

  private final RemoteClient manager;
  private final RemoteClients remoteClients;
  private final Pods pods;
  private final Map<Key, Map<String, SyncedStatus>> copied = new ConcurrentHashMap<>();

  /** Access to pods of the manager and of the workers. */
  record Pods(LocalPods localPods, RemotePods remotePods) {}

  /** Access to the pods in workers. */
  interface RemotePods {

    /** The connected workers. */
    Set<String> clusters();

    /**
     * The pods in the worker that this manager, or a controller there on its behalf, created for a
     * Workload.
     */
    List<ObjectNode> of(String cluster, Key workload) throws IOException;
  }

  /** The state of the job whose pods are copied. */
  enum Course {
    /** The job runs: a remote pod that is gone is lost. */
    RUNNING,
    /** The job is being stopped: a remote pod that is gone may run again. */
    STOPPING,
    /** The job has ended: a remote pod that is gone has ended. */
    ENDING
  }

  /**
   * Records which state of a remote pod was copied to which local pod; {@code version} is empty if
   * the remote pod did not exist.
   */
  private record SyncedStatus(String local, String there, String version, Course course) {}

  PodStatusSync(RemoteClient manager, RemoteClients remoteClients, Pods pods) {
    this.manager = manager;
    this.remoteClients = remoteClients;
    this.pods = pods;
  }

  /** The manager's pods of a Workload. */
  List<LocalPod> local(RemoteWorkloadContext context, RemoteWorkloadContext.Owner owner) {
    boolean single = owner.kind().pods() == MultiKueueRules.Pods.ITSELF && !owner.isGroup();
    if (!single) {
      return pods.localPods().group(context.key().namespace(), context.key().name());
    }
    String uid =
        context.workload().flatMap(CachedWorkload::owner).map(CachedWorkload.Owner::uid).orElse("");
    return List.of(new LocalPod(owner.name(), uid, false));
  }

  /** The remote pods of a Workload in a worker, by name. */
  Map<String, ObjectNode> remote(RemoteWorkloadContext context, String cluster) throws IOException {
    return pods.remotePods().of(cluster, context.key()).stream()
        .collect(
            Collectors.toMap(
                pod -> pod.path("metadata").path("name").asText(),
                pod -> pod,
                (one, other) -> other,
                TreeMap::new));
  }

  /** A connected worker that has pods of the Workload which may run. */
  Optional<String> runsIn(RemoteWorkloadContext context, Predicate<String> which)
      throws IOException {
    return findIn(context, which, pod -> !PodStatuses.ended(pod));
  }

  /** A connected worker in which pods of the Workload were let go, and haven't ended. */
  Optional<String> startedIn(RemoteWorkloadContext context) throws IOException {
    return findIn(
        context, any -> true, pod -> !PodStatuses.ended(pod) && !ManagedByCheck.isGated(pod));
  }

  private Optional<String> findIn(
      RemoteWorkloadContext context, Predicate<String> which, Predicate<ObjectNode> pod)
      throws IOException {
    for (String cluster : pods.remotePods().clusters()) {
      if (which.test(cluster) && has(context, cluster, pod)) {
        return Optional.of(cluster);
      }
    }
    return Optional.empty();
  }

  private boolean has(RemoteWorkloadContext context, String cluster, Predicate<ObjectNode> pod)
      throws IOException {
    try {
      return remote(context, cluster).values().stream().anyMatch(pod);
    } catch (RemoteClient.RefusedException e) {
      LOG.debug("cluster={} pods=unseen, so that none were made there", cluster, e);
      return false;
    }
  }

  /** Copies the status of all pods. */
  Optional<Duration> sync(
      RemoteWorkloadContext context,
      RemoteWorkloadContext.Owner owner,
      String cluster,
      Course course)
      throws IOException {
    Map<String, ObjectNode> theirs = remote(context, cluster);
    for (LocalPod pod : local(context, owner)) {
      Optional<ObjectNode> there = Optional.ofNullable(theirs.get(pod.name()));
      if (course == Course.ENDING && there.filter(it -> !PodStatuses.ended(it)).isPresent()) {
        there = latest(context, pod, cluster).or(() -> Optional.ofNullable(theirs.get(pod.name())));
      }
      copy(context, owner, pod, there, cluster, course);
    }
    return Optional.empty();
  }

  /**
   * The pod as the worker's API server has it. The end of the remote Workload may be known before
   * the end of its pods, which are deleted once their status was copied.
   */
  private Optional<ObjectNode> latest(RemoteWorkloadContext context, LocalPod pod, String cluster)
      throws IOException {
    return remoteClients
        .of(cluster)
        .get(MultiKueueKinds.POD.path(context.key().namespace(), pod.name()));
  }

  /** No worker holds a pod of the Workload: resets the local pods to the gated state. */
  Optional<Duration> clear(RemoteWorkloadContext context, RemoteWorkloadContext.Owner owner)
      throws IOException {
    for (LocalPod pod : local(context, owner)) {
      copy(context, owner, pod, Optional.empty(), "", Course.STOPPING);
    }
    if (context.workload().filter(CachedWorkload::deleting).isPresent()) {
      forget(context.key());
    }
    return Optional.empty();
  }

  /** Forgets which states were copied for a Workload. */
  void forget(Key workload) {
    copied.remove(workload);
  }

  private void copy(
      RemoteWorkloadContext context,
      RemoteWorkloadContext.Owner owner,
      LocalPod pod,
      Optional<ObjectNode> there,
      String cluster,
      Course course)
      throws IOException {
    JsonNode metadata = there.orElseGet(JsonNodeFactory.instance::objectNode).path("metadata");
    SyncedStatus now =
        new SyncedStatus(
            pod.uid(),
            metadata.path("uid").asText(),
            metadata.path("resourceVersion").asText(),
            course);
    Map<String, SyncedStatus> known =
        copied.computeIfAbsent(context.key(), any -> new ConcurrentHashMap<>());
    if (now.equals(known.get(pod.name()))) {
      return;
    }
    String path = MultiKueueKinds.POD.path(context.key().namespace(), pod.name());
    Optional<ObjectNode> local = manager.get(path);
    if (local.isPresent()) {
      ObjectNode patch = patch(context, owner, local.get(), there, cluster, course);
      if (!patch.isEmpty()) {
        manager.patch(path + "/status", RemoteWorkloadContext.at(local.get(), patch));
      }
      known.put(pod.name(), now);
    }
  }

  private static ObjectNode patch(
      RemoteWorkloadContext context,
      RemoteWorkloadContext.Owner owner,
      ObjectNode local,
      Optional<ObjectNode> there,
      String cluster,
      Course course) {
    if (there.isPresent()) {
      return PodStatuses.synced(local, there.get(), context.now());
    }
    boolean madeAgain = owner.kind().pods().areMade();
    return switch (course) {
      case RUNNING ->
          madeAgain || !PodStatuses.hasRun(local)
              ? PodStatuses.gated(local, context.now())
              : PodStatuses.gone(
                  local, "The pod is gone from worker cluster \"" + cluster + "\"", context.now());
      case STOPPING -> PodStatuses.gated(local, context.now());
      case ENDING -> JsonNodeFactory.instance.objectNode();
    };
  }
}
