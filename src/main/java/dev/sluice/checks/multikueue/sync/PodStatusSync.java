package dev.sluice.checks.multikueue.sync;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.checks.multikueue.remote.RemoteObjects.Key;
import dev.sluice.checks.multikueue.sync.LocalPods.LocalPod;
import dev.sluice.workload.CachedWorkload;
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
 * Writes to the manager's pods how those in a worker are doing, pod by pod, by their names. A pod
 * is read and written only when the one there is another than when it was last brought here. From
 * any thread, for one Workload by one at a time.
 */
final class PodStatusSync {

  private static final Logger LOG = LoggerFactory.getLogger(PodStatusSync.class);

  private final RemoteClient manager;
  private final Pods pods;
  private final Map<Key, Map<String, SyncedStatus>> copied = new ConcurrentHashMap<>();

  /** What pods there are, here and in workers. */
  record Pods(LocalPods here, RemotePods remotePods) {}

  /** The pods in workers. */
  interface RemotePods {

    /** The workers that can be asked. */
    Set<String> clusters();

    /** Those that this manager sent there for a Workload, or had made there. */
    List<ObjectNode> of(String cluster, Key workload) throws IOException;
  }

  /** Why the pods are looked at. */
  enum Course {
    /** They run there: what is gone there is gone. */
    RUNNING,
    /** They are being stopped: what is gone there may run again. */
    STOPPING,
    /** They have ended: what is gone there was seen to end. */
    ENDING
  }

  /** Which pod's state was brought to which one; the version is empty when there was none. */
  private record SyncedStatus(String local, String there, String version, Course course) {}

  PodStatusSync(RemoteClient manager, Pods pods) {
    this.manager = manager;
    this.pods = pods;
  }

  /** The manager's pods behind a Workload. */
  List<LocalPod> local(WorkloadGroup workloadGroup, WorkloadGroup.Owner owner) {
    boolean single = owner.kind().pods() == MultiKueueKind.Pods.ITSELF && !owner.isGroup();
    if (!single) {
      return pods.here().group(workloadGroup.key().namespace(), workloadGroup.key().name());
    }
    String uid =
        workloadGroup
            .workload()
            .flatMap(CachedWorkload::owner)
            .map(CachedWorkload.Owner::uid)
            .orElse("");
    return List.of(new LocalPod(owner.name(), uid, false));
  }

  /** The pods in a worker that stand for those of a Workload, by name. */
  Map<String, ObjectNode> remote(WorkloadGroup workloadGroup, String cluster) throws IOException {
    return pods.remotePods().of(cluster, workloadGroup.key()).stream()
        .collect(
            Collectors.toMap(
                pod -> pod.path("metadata").path("name").asText(),
                pod -> pod,
                (one, other) -> other,
                TreeMap::new));
  }

  /** A worker that can be asked and has pods of a Workload which may run. */
  Optional<String> runsIn(WorkloadGroup workloadGroup, Predicate<String> which) throws IOException {
    for (String cluster : pods.remotePods().clusters()) {
      if (which.test(cluster) && runsIn(workloadGroup, cluster)) {
        return Optional.of(cluster);
      }
    }
    return Optional.empty();
  }

  private boolean runsIn(WorkloadGroup workloadGroup, String cluster) throws IOException {
    try {
      return remote(workloadGroup, cluster).values().stream()
          .anyMatch(pod -> !PodStatuses.ended(pod));
    } catch (RemoteClient.RefusedException e) {
      LOG.debug("cluster={} pods=unseen, so that none were made there", cluster, e);
      return false;
    }
  }

  /** Brings the states of all pods here. */
  Optional<Duration> sync(
      WorkloadGroup workloadGroup, WorkloadGroup.Owner owner, String cluster, Course course)
      throws IOException {
    Map<String, ObjectNode> theirs = remote(workloadGroup, cluster);
    for (LocalPod pod : local(workloadGroup, owner)) {
      copy(workloadGroup, owner, pod, Optional.ofNullable(theirs.get(pod.name())), cluster, course);
    }
    return Optional.empty();
  }

  /** No pod of it is known in workers: those here wait, as they did before they were sent. */
  Optional<Duration> clear(WorkloadGroup workloadGroup, WorkloadGroup.Owner owner)
      throws IOException {
    for (LocalPod pod : local(workloadGroup, owner)) {
      copy(workloadGroup, owner, pod, Optional.empty(), "", Course.STOPPING);
    }
    if (workloadGroup.workload().filter(CachedWorkload::deleting).isPresent()) {
      forget(workloadGroup.key());
    }
    return Optional.empty();
  }

  /** What was brought here counts no more. */
  void forget(Key workload) {
    copied.remove(workload);
  }

  private void copy(
      WorkloadGroup workloadGroup,
      WorkloadGroup.Owner owner,
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
        copied.computeIfAbsent(workloadGroup.key(), any -> new ConcurrentHashMap<>());
    if (now.equals(known.get(pod.name()))) {
      return;
    }
    String path = MultiKueueKinds.POD.path(workloadGroup.key().namespace(), pod.name());
    Optional<ObjectNode> local = manager.get(path);
    if (local.isPresent()) {
      ObjectNode patch = patch(workloadGroup, owner, local.get(), there, cluster, course);
      if (!patch.isEmpty()) {
        manager.patch(path + "/status", WorkloadGroup.at(local.get(), patch));
      }
      known.put(pod.name(), now);
    }
  }

  private static ObjectNode patch(
      WorkloadGroup workloadGroup,
      WorkloadGroup.Owner owner,
      ObjectNode local,
      Optional<ObjectNode> there,
      String cluster,
      Course course) {
    if (there.isPresent()) {
      return PodStatuses.synced(local, there.get(), workloadGroup.now());
    }
    boolean madeAgain = owner.kind().pods() == MultiKueueKind.Pods.MADE;
    return switch (course) {
      case RUNNING ->
          madeAgain || !PodStatuses.hasRun(local)
              ? PodStatuses.gated(local, workloadGroup.now())
              : PodStatuses.gone(
                  local,
                  "The pod is gone from worker cluster \"" + cluster + "\"",
                  workloadGroup.now());
      case STOPPING -> PodStatuses.gated(local, workloadGroup.now());
      case ENDING -> JsonNodeFactory.instance.objectNode();
    };
  }
}
