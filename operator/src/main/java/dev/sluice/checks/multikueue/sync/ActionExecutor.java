package dev.sluice.checks.multikueue.sync;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.checks.multikueue.placement.PlacementAction;
import dev.sluice.checks.multikueue.remote.RemoteObjects.Key;
import dev.sluice.jobs.kind.MultiKueueRules;
import dev.sluice.workload.lifecycle.CheckedAdmission;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.CachedWorkload.CheckState;
import dev.sluice.workload.writing.WorkloadWriter;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
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
      if (context.reconcileState().tellsOffer()) {
        admissionCheckWriter.tellOffer(
            context, context.local().status().remotePlacement().nominated());
      }
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
}
