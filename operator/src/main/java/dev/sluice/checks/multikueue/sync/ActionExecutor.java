package dev.sluice.checks.multikueue.sync;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.checks.multikueue.placement.ManagerState;
import dev.sluice.checks.multikueue.placement.PlacementAction;
import dev.sluice.checks.multikueue.placement.WorkloadPlacement.PlacementPlan;
import dev.sluice.checks.multikueue.remote.RemoteObjects.Key;
import dev.sluice.checks.multikueue.sync.MultiKueueWorkloadReconciler.DispatchListener;
import dev.sluice.checks.multikueue.sync.MultiKueueWorkloadReconciler.LocalPods.LocalPod;
import dev.sluice.checks.multikueue.sync.WorkloadStateReader.ManagedByCheck;
import dev.sluice.jobs.kind.MultiKueueRules;
import dev.sluice.workload.lifecycle.CheckedAdmission;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.CachedWorkload.CheckState;
import dev.sluice.workload.writing.WorkloadWriter;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Executes placement actions one at a time. All actions are idempotent. Thread-safe. */
final class ActionExecutor {

  private static final Logger LOG = LoggerFactory.getLogger(ActionExecutor.class);

  private static final Duration UNTIL_STARTED = Duration.ofSeconds(2);

  private final RemoteClient manager;
  private final RemoteClients remoteClients;
  private final AdmissionCheckWriter admissionCheckWriter;
  private final ObjectAdapter objectAdapter;
  private final PodAdapter podAdapter;
  private final OriginLabel originLabel;
  private final LeaseHeartbeat leaseHeartbeat;
  private final DispatchListener dispatchListener;
  private final ElasticSlices elasticSlices;
  private final boolean orchestrated;
  private final RemotePreemptionControl remotePreemptionControl;

  /**
   * Creates an executor that writes to the manager's API server and to those of the workers.
   *
   * @param orchestrated whether workers may preempt only after the manager opened their gate
   */
  ActionExecutor(
      RemoteClient manager,
      RemoteClients remoteClients,
      WorkloadWriter writer,
      OriginLabel originLabel,
      LeaseHeartbeat leaseHeartbeat,
      DispatchListener dispatchListener,
      CheckedAdmission checkedAdmission,
      Predicate<CachedWorkload> awaitsPods,
      PodStatusSync.Pods pods,
      ObjectAdapter.RemoteJobs remoteJobs,
      JobGroups jobGroups,
      ElasticSlices elasticSlices,
      boolean orchestrated) {
    this.elasticSlices = elasticSlices;
    this.manager = manager;
    this.remoteClients = remoteClients;
    this.admissionCheckWriter =
        new AdmissionCheckWriter(writer, checkedAdmission, dispatchListener);
    this.originLabel = originLabel;
    this.leaseHeartbeat = leaseHeartbeat;
    this.dispatchListener = dispatchListener;
    this.orchestrated = orchestrated;
    this.remotePreemptionControl = new RemotePreemptionControl(remoteClients, dispatchListener);
    PodStatusSync podStatusSync = new PodStatusSync(this.manager, remoteClients, pods);
    this.podAdapter =
        new PodAdapter(
            this.manager, remoteClients, admissionCheckWriter, originLabel, podStatusSync);
    this.objectAdapter =
        new ObjectAdapter(
            this.manager,
            remoteClients,
            admissionCheckWriter,
            originLabel,
            new JobStatusSync(this.manager, awaitsPods),
            podStatusSync,
            new SharedJobs(this.manager, remoteClients, originLabel, jobGroups),
            elasticSlices,
            remoteJobs);
  }

  /** Writes the workers' answers into the message of the check. */
  void notify(RemoteWorkloadContext context, String text) throws IOException {
    admissionCheckWriter.notify(context, text);
  }

  /** Tells users whom a Workload was offered to, unless they know whom it is nominated for. */
  void tellOffer(RemoteWorkloadContext context, PlacementPlan placementPlan) {
    List<String> clusters =
        placementPlan.offeredTo().stream().filter(context.reconcileState()::isOffered).toList();
    if (!clusters.isEmpty() && context.reconcileState().tellsOffer()) {
      admissionCheckWriter.tellOffer(context, clusters);
    }
  }

  /**
   * Executes an action.
   *
   * @return if the next actions must wait, or this action must be repeated: the delay
   * @throws IOException when the action failed or its result is unknown
   */
  Optional<Duration> act(RemoteWorkloadContext context, PlacementAction placementAction)
      throws IOException {
    return switch (placementAction) {
      case PlacementAction.Reject(String why) ->
          admissionCheckWriter.check(context, CheckState.REJECTED, why);
      case PlacementAction.Retry(String why) ->
          admissionCheckWriter.check(context, CheckState.RETRY, why);
      case PlacementAction.Nominate nominate -> admissionCheckWriter.nominate(context, nominate);
      case PlacementAction.Offer(String cluster) -> offer(context, cluster);
      case PlacementAction.Withdraw(String cluster) -> {
        withdraw(context, cluster);
        yield Optional.empty();
      }
      case PlacementAction.SyncSpec(String cluster) -> syncSpec(context, cluster);
      case PlacementAction.OpenGate(String cluster) ->
          remotePreemptionControl.openGate(context, cluster);
      case PlacementAction.EvictRemote(String cluster) ->
          remotePreemptionControl.stop(context, cluster);
      case PlacementAction.Run(String cluster) -> run(context, cluster);
      case PlacementAction.RunHere(String cluster) ->
          admissionCheckWriter.runHere(context, cluster);
      case PlacementAction.SyncStatus(String cluster) -> syncStatus(context, cluster);
      case PlacementAction.ClearPodStatus clearPodStatus -> clearPodStatus(context);
      case PlacementAction.Finish finish -> finish(context, finish);
    };
  }

  private RemoteClient worker(String cluster) throws IOException {
    return remoteClients.of(cluster);
  }

  private Optional<Duration> offer(RemoteWorkloadContext context, String cluster)
      throws IOException {
    String namespace = context.key().namespace();
    Optional<ObjectNode> workload =
        manager.get(RemoteWorkloadFactory.path(namespace, context.key().name()));
    if (workload.isEmpty()
        || !workload
            .get()
            .path("metadata")
            .path("uid")
            .asText()
            .equals(context.local().id().uid())) {
      throw new RemoteClient.ConflictException("it is another one now");
    }
    RemoteClient worker = worker(cluster);
    Optional<ObjectNode> remoteJob = Optional.empty();
    if (elasticSlices.replaced(context.local()).isPresent()) {
      remoteJob = remoteJob(context, worker);
      if (remoteJob.isEmpty()) {
        return Optional.of(UNTIL_STARTED);
      }
    }
    Optional<Duration> fence = leaseHeartbeat.stopAfter(cluster, worker, workload.get());
    ObjectNode copy = RemoteWorkloadFactory.copy(workload.get(), originLabel, orchestrated, fence);
    remoteJob.ifPresent(job -> RemoteWorkloadFactory.own(copy, job));
    Optional<ObjectNode> made = worker.created(RemoteWorkloadFactory.path(namespace), copy);
    if (made.isPresent()) {
      context.reconcileState().offered(cluster, made.get().path("metadata").path("uid").asText());
      LOG.info("workload={} cluster={} offered=true", context.local().id(), cluster);
      dispatchListener.dispatched(context.local(), context.clusterQueue(), cluster);
    }
    return Optional.empty();
  }

  /** The remote job that a replacement is for: only then does it share quota in the worker. */
  private Optional<ObjectNode> remoteJob(RemoteWorkloadContext context, RemoteClient worker)
      throws IOException {
    Optional<RemoteWorkloadContext.Owner> owner = context.owner();
    return owner.isEmpty()
        ? Optional.empty()
        : worker
            .get(owner.get().path(context.key().namespace()))
            .filter(originLabel::isOn)
            .filter(job -> !OriginLabel.isDeleting(job));
  }

  private void withdraw(RemoteWorkloadContext context, String cluster) throws IOException {
    RemoteClient worker = worker(cluster);
    String namespace = context.key().namespace();
    String path = RemoteWorkloadFactory.path(namespace, context.key().name());
    Optional<JsonNode> copy =
        Optional.ofNullable(context.copies().get(cluster)).filter(originLabel::isOn);
    if (copy.isEmpty()) {
      copy = worker.get(path).filter(originLabel::isOn).map(JsonNode.class::cast);
    }
    if (copy.isEmpty()) {
      return;
    }
    Optional<RemoteWorkloadContext.Owner> owner = context.owner(copy.get());
    if (owner.isPresent()) {
      adapter(owner.get()).withdraw(context, owner.get(), cluster);
    } else {
      podAdapter.withdraw(context, cluster);
    }
    if (!OriginLabel.isDeleting(copy.get())) {
      worker.delete(path, copy.get());
    }
    LOG.info("workload={}/{} cluster={} withdrawn=true", namespace, context.key().name(), cluster);
  }

  /** Deletes a remote job of this manager whose Workload is gone. */
  void remove(String cluster, MultiKueueKind kind, Key workload, String name) {
    try {
      RemoteClient worker = worker(cluster);
      String path = kind.path(workload.namespace(), name);
      Optional<ObjectNode> job = worker.get(path);
      if (job.isPresent()
          && originLabel.isOn(job.get())
          && (kind.hasWorkloadPerGroup() || OriginLabel.workload(job.get()).equals(workload.name()))
          && !OriginLabel.isDeleting(job.get())
          && !PodAdapter.isMadeThere(job.get())) {
        worker.delete(path, job.get());
        LOG.info("job={}/{} cluster={} collected=true", workload.namespace(), name, cluster);
      }
    } catch (IOException e) {
      LOG.info(
          "job={}/{} cluster={} collected=false reason=\"{}\"",
          workload.namespace(),
          name,
          cluster,
          e.toString());
    }
  }

  private Optional<Duration> syncSpec(RemoteWorkloadContext context, String cluster)
      throws IOException {
    String path = RemoteWorkloadFactory.path(context.key().namespace(), context.key().name());
    ObjectNode patch = RemoteWorkloadFactory.withSpecOf(context.local());
    if (context.local().elastic()) {
      manager
          .get(path)
          .ifPresent(
              ours ->
                  RemoteWorkloadFactory.resizePending(patch, ours, context.copies().get(cluster)));
    }
    worker(cluster).patch(path, patch);
    LOG.info(
        "workload={} cluster={} priority={}",
        context.local().id(),
        cluster,
        context.local().spec().priority());
    return Optional.empty();
  }

  private Optional<Duration> run(RemoteWorkloadContext context, String cluster) throws IOException {
    RemoteWorkloadContext.Owner owner =
        context.owner().orElseThrow(() -> new IOException("it has no owner"));
    return switch (adapter(owner).run(context, owner, cluster)) {
      case MultiKueueAdapter.RunResult.Proceeding(Optional<Duration> requeueAfter) -> requeueAfter;
      case MultiKueueAdapter.RunResult.JobGone gone -> {
        withdraw(context, cluster);
        yield Optional.empty();
      }
    };
  }

  private Optional<Duration> syncStatus(RemoteWorkloadContext context, String cluster)
      throws IOException {
    Optional<RemoteWorkloadContext.Owner> owner = context.owner();
    return owner.isEmpty()
        ? Optional.empty()
        : adapter(owner.get()).syncStatus(context, owner.get(), cluster);
  }

  private Optional<Duration> clearPodStatus(RemoteWorkloadContext context) throws IOException {
    Optional<RemoteWorkloadContext.Owner> owner = context.owner();
    return owner.isEmpty()
        ? Optional.empty()
        : adapter(owner.get()).clearPodStatus(context, owner.get());
  }

  private Optional<Duration> finish(RemoteWorkloadContext context, PlacementAction.Finish finish)
      throws IOException {
    Optional<RemoteWorkloadContext.Owner> owner = context.owner();
    Optional<Duration> again = Optional.empty();
    if (owner.isPresent()) {
      MultiKueueAdapter.Conclusion conclusion =
          adapter(owner.get()).conclude(context, owner.get(), finish);
      if (conclusion.finishesLater()) {
        return conclusion.again();
      }
      again = conclusion.again();
    }
    admissionCheckWriter.finish(context, finish);
    return again;
  }

  private MultiKueueAdapter adapter(RemoteWorkloadContext.Owner owner) {
    return owner.kind().pods() == MultiKueueRules.Pods.ITSELF ? podAdapter : objectAdapter;
  }

  /** Controls a worker's handling of a remote Workload through the Workload's status. */
  private static final class RemotePreemptionControl {

    private static final Logger LOG = LoggerFactory.getLogger(RemotePreemptionControl.class);

    private final RemoteClients remoteClients;
    private final DispatchListener dispatchListener;

    RemotePreemptionControl(RemoteClients remoteClients, DispatchListener dispatchListener) {
      this.remoteClients = remoteClients;
      this.dispatchListener = dispatchListener;
    }

    /** Opens the preemption gate: the worker may preempt for the remote Workload. */
    Optional<Duration> openGate(RemoteWorkloadContext context, String cluster) throws IOException {
      JsonNode copy = context.copies().getOrDefault(cluster, JsonNodeFactory.instance.objectNode());
      ObjectNode patch = RemoteWorkloadFactory.opened(copy, context.now());
      if (!patch.isEmpty()) {
        String path = RemoteWorkloadFactory.path(context.key().namespace(), context.key().name());
        remoteClients.of(cluster).patch(path + "/status", patch);
        LOG.info("workload={} cluster={} preemptionGate=Open", context.local().id(), cluster);
        dispatchListener.reported(
            context.local(),
            false,
            "Worker cluster \"" + cluster + "\" may preempt for it from now on");
      }
      return Optional.empty();
    }

    /** Makes the worker stop the job and release its quota. */
    Optional<Duration> stop(RemoteWorkloadContext context, String cluster) throws IOException {
      JsonNode copy = context.copies().getOrDefault(cluster, JsonNodeFactory.instance.objectNode());
      ObjectNode patch = RemoteWorkloadFactory.stopped(copy, context.now());
      if (!patch.isEmpty() && copy.path("spec").path("active").asBoolean(true)) {
        String path = RemoteWorkloadFactory.path(context.key().namespace(), context.key().name());
        remoteClients.of(cluster).patch(path + "/status", patch);
        LOG.info(
            "workload={} cluster={} stopped=true reason=EvictedOnManagerCluster",
            context.local().id(),
            cluster);
      }
      return Optional.empty();
    }
  }

  /**
   * Adapter for pods: creates each pod of the manager in the worker, where it is gated again. All
   * pods of a group go to the same worker, including pods that are created later.
   */
  private static final class PodAdapter implements MultiKueueAdapter {

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
     * Whether a controller in the worker created the pod; that controller deletes it with its
     * owner.
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
      if (originLabel.isOn(pod, context.key())
          && !OriginLabel.isDeleting(pod)
          && !isMadeThere(pod)) {
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
}
