package dev.sluice.checks.multikueue.sync;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.checks.multikueue.placement.ManagerState;
import dev.sluice.checks.multikueue.placement.PlacementAction;
import dev.sluice.checks.multikueue.remote.RemoteObjects.Key;
import dev.sluice.checks.multikueue.sync.LocalPods.LocalPod;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Adapter for pods: creates each pod of the manager in the worker, where it is gated again. All
 * pods of a group go to the same worker, including pods that are created later.
 */
final class PodAdapter implements MultiKueueAdapter {

  private static final Logger LOG = LoggerFactory.getLogger(PodAdapter.class);
  private static final Duration DELETION_RETRY_DELAY = Duration.ofSeconds(1);

  private final RemoteClient manager;
  private final RemoteClients remoteClients;
  private final AdmissionCheckWriter admissionCheckWriter;
  private final OriginLabel originLabel;
  private final PodStatusSync podStatusSync;

  /** Pods that were created in workers and have not been observed there yet. */
  private final Map<Key, Set<CreatedPod>> unobserved = new ConcurrentHashMap<>();

  private record CreatedPod(String cluster, String name) {}

  PodAdapter(
      RemoteClient manager,
      RemoteClients remoteClients,
      AdmissionCheckWriter admissionCheckWriter,
      OriginLabel originLabel,
      PodStatusSync podStatusSync) {
    this.manager = manager;
    this.remoteClients = remoteClients;
    this.admissionCheckWriter = admissionCheckWriter;
    this.originLabel = originLabel;
    this.podStatusSync = podStatusSync;
  }

  /**
   * Whether a controller in the worker created the pod; that controller deletes it with its owner.
   */
  static boolean isMadeThere(JsonNode pod) {
    for (JsonNode owner : pod.path("metadata").path("ownerReferences")) {
      if (owner.path("controller").asBoolean()) {
        return true;
      }
    }
    return false;
  }

  @Override
  public RunResult run(
      RemoteWorkloadContext context, RemoteWorkloadContext.Owner owner, String cluster)
      throws IOException {
    List<LocalPod> here = podStatusSync.local(context, owner);
    if (here.isEmpty()) {
      return RunResult.after(DELETION_RETRY_DELAY);
    }
    if (!AdmissionCheckWriter.runsIn(context, cluster)) {
      // before any pod is created: from now on no other worker is used while this worker is
      // unreachable
      admissionCheckWriter.decide(context, cluster);
      return RunResult.after(Duration.ZERO);
    }
    Optional<String> elsewhere = podStatusSync.runsIn(context, other -> !other.equals(cluster));
    if (elsewhere.isPresent()) {
      withdraw(context, elsewhere.get());
      return RunResult.after(DELETION_RETRY_DELAY);
    }
    Map<String, ObjectNode> there = podStatusSync.remote(context, cluster);
    if (there.values().stream().anyMatch(pod -> isFromBefore(context, pod, cluster))) {
      withdraw(context, cluster);
      return RunResult.after(DELETION_RETRY_DELAY);
    }
    there.keySet().forEach(name -> seen(context.key(), new CreatedPod(cluster, name)));
    deleteWithLocal(context, here, there, cluster);
    boolean complete = true;
    for (LocalPod pod : here) {
      if (!there.containsKey(pod.name()) && !pod.deleting()) {
        complete &= send(context, pod, cluster);
      }
    }
    if (complete) {
      podStatusSync.sync(context, owner, cluster, PodStatusSync.Course.RUNNING);
    }
    return complete ? RunResult.done() : RunResult.after(DELETION_RETRY_DELAY);
  }

  /** Whether the pod was created for an earlier remote Workload, which was withdrawn. */
  private static boolean isFromBefore(
      RemoteWorkloadContext context, ObjectNode pod, String cluster) {
    JsonNode copy = context.copies().get(cluster);
    return copy != null && created(pod).isBefore(created(copy));
  }

  private static Instant created(JsonNode object) {
    String time = object.path("metadata").path("creationTimestamp").asText();
    return time.isEmpty() ? Instant.MAX : Instant.parse(time);
  }

  /** Deletes remote pods whose local pods are being deleted. */
  private void deleteWithLocal(
      RemoteWorkloadContext context,
      List<LocalPod> here,
      Map<String, ObjectNode> there,
      String cluster)
      throws IOException {
    Map<String, ObjectNode> left = new HashMap<>(there);
    here.stream().filter(pod -> !pod.deleting()).map(LocalPod::name).forEach(left::remove);
    for (Map.Entry<String, ObjectNode> pod : left.entrySet()) {
      Optional<ObjectNode> local = manager.get(path(context, pod.getKey()));
      if (local.filter(it -> !OriginLabel.isDeleting(it)).isEmpty()) {
        delete(context, pod.getValue(), cluster);
      }
    }
  }

  /** Creates a pod in the worker; false if the creation must wait. */
  private boolean send(RemoteWorkloadContext context, LocalPod pod, String cluster)
      throws IOException {
    Optional<ObjectNode> local =
        manager.get(path(context, pod.name())).filter(it -> !PodStatuses.ended(it));
    if (local.filter(it -> !OriginLabel.isDeleting(it)).isEmpty()) {
      return true;
    }
    if (ManagedByCheck.gated(local.get()) instanceof ManagerState.Sendable.No(String why)) {
      throw new RemoteClient.RefusedException(why);
    }
    RemoteClient worker = remoteClients.of(cluster);
    if (PodStatuses.hasRun(local.get())) {
      return isAdmitted(context, worker);
    }
    boolean made =
        worker.create(
            MultiKueueKinds.POD.path(context.key().namespace()),
            RemoteJobFactory.copy(
                MultiKueueKinds.POD, local.get(), context.key().name(), originLabel));
    if (made) {
      unobserved
          .computeIfAbsent(context.key(), any -> ConcurrentHashMap.newKeySet())
          .add(new CreatedPod(cluster, pod.name()));
      LOG.info(
          "workload={} cluster={} pod={} made=true", context.local().id(), cluster, pod.name());
    } else {
      findConflicting(context, worker, pod.name(), cluster);
    }
    return made;
  }

  /**
   * Whether the Workload is still admitted in the worker. A pod that has run and is gone there is
   * lost for good only in this case; otherwise it was stopped and may run again.
   */
  private static boolean isAdmitted(RemoteWorkloadContext context, RemoteClient worker)
      throws IOException {
    String path = RemoteWorkloadFactory.path(context.key().namespace(), context.key().name());
    return worker.get(path).filter(RemoteWorkloadFactory::isAdmitted).isPresent();
  }

  private void findConflicting(
      RemoteWorkloadContext context, RemoteClient worker, String name, String cluster)
      throws IOException {
    Optional<ObjectNode> there = worker.get(path(context, name));
    if (there.isPresent() && !originLabel.isOn(there.get())) {
      throw new RemoteClient.RefusedException(
          "Pod %s/%s exists in worker cluster \"%s\" and was not made by this one; delete or rename it"
              .formatted(context.key().namespace(), name, cluster));
    }
    if (there.isPresent()
        && !originLabel.isOn(there.get(), context.key())
        && !OriginLabel.isDeleting(there.get())
        && !isMadeThere(there.get())) {
      worker.delete(path(context, name), there.get());
    }
  }

  @Override
  public Optional<Duration> syncStatus(
      RemoteWorkloadContext context, RemoteWorkloadContext.Owner owner, String cluster)
      throws IOException {
    return podStatusSync.sync(context, owner, cluster, PodStatusSync.Course.STOPPING);
  }

  @Override
  public Conclusion conclude(
      RemoteWorkloadContext context,
      RemoteWorkloadContext.Owner owner,
      PlacementAction.Finish finish)
      throws IOException {
    return Conclusion.now(
        podStatusSync.sync(context, owner, finish.cluster(), PodStatusSync.Course.ENDING));
  }

  @Override
  public void withdraw(
      RemoteWorkloadContext context, RemoteWorkloadContext.Owner owner, String cluster)
      throws IOException {
    withdraw(context, cluster);
  }

  /** Deletes all pods in the worker that were created for a Workload. */
  void withdraw(RemoteWorkloadContext context, String cluster) throws IOException {
    Map<String, ObjectNode> there = podStatusSync.remote(context, cluster);
    for (CreatedPod unseen : unobserved.getOrDefault(context.key(), Set.of())) {
      if (unseen.cluster().equals(cluster) && !there.containsKey(unseen.name())) {
        Optional<ObjectNode> pod = remoteClients.of(cluster).get(path(context, unseen.name()));
        pod.ifPresent(found -> there.put(unseen.name(), found));
      }
    }
    for (ObjectNode pod : there.values()) {
      delete(context, pod, cluster);
    }
    there.keySet().forEach(name -> seen(context.key(), new CreatedPod(cluster, name)));
    podStatusSync.forget(context.key());
  }

  private void seen(Key workload, CreatedPod pod) {
    unobserved.computeIfPresent(
        workload,
        (any, unseen) -> {
          unseen.remove(pod);
          return unseen.isEmpty() ? null : unseen;
        });
  }

  private void delete(RemoteWorkloadContext context, ObjectNode pod, String cluster)
      throws IOException {
    if (originLabel.isOn(pod, context.key()) && !OriginLabel.isDeleting(pod) && !isMadeThere(pod)) {
      String name = pod.path("metadata").path("name").asText();
      remoteClients.of(cluster).delete(path(context, name), pod);
      LOG.info(
          "workload={}/{} cluster={} pod={} deleted=true",
          context.key().namespace(),
          context.key().name(),
          cluster,
          name);
    }
  }

  @Override
  public Optional<Duration> clearPodStatus(
      RemoteWorkloadContext context, RemoteWorkloadContext.Owner owner) throws IOException {
    Optional<String> cluster = podStatusSync.runsIn(context, any -> true);
    if (cluster.isPresent()) {
      withdraw(context, cluster.get());
      return Optional.of(DELETION_RETRY_DELAY);
    }
    return podStatusSync.clear(context, owner);
  }

  private static String path(RemoteWorkloadContext context, String pod) {
    return MultiKueueKinds.POD.path(context.key().namespace(), pod);
  }
}
