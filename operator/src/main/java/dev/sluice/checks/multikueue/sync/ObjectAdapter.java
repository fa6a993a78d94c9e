package dev.sluice.checks.multikueue.sync;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.queueing.CheckpointAnnotations;
import dev.sluice.checks.multikueue.placement.PlacementAction;
import dev.sluice.checks.multikueue.remote.RemoteObjects.Key;
import dev.sluice.workload.status.CheckpointRequest;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Adapter for jobs that are a single object, created in the worker under the same name. */
final class ObjectAdapter implements MultiKueueAdapter {

  private static final Logger LOG = LoggerFactory.getLogger(ObjectAdapter.class);
  private static final Duration DELETION_RETRY_DELAY = Duration.ofSeconds(1);

  private final RemoteClient manager;
  private final RemoteClients remoteClients;
  private final AdmissionCheckWriter admissionCheckWriter;
  private final OriginLabel originLabel;
  private final JobStatusSync jobStatusSync;
  private final PodStatusSync podStatusSync;
  private final SharedJobs sharedJobs;
  private final ElasticSlices elasticSlices;
  private final RemoteJobs remoteJobs;
  private final RemoteCheckpoints remoteCheckpoints;

  /** The jobs that this manager created in workers, as a watch showed them. */
  interface RemoteJobs {

    /** The job as last seen; empty if none was seen, although there may be one. */
    Optional<ObjectNode> lastSeen(String cluster, MultiKueueKind kind, Key job);
  }

  ObjectAdapter(
      RemoteClient manager,
      RemoteClients remoteClients,
      AdmissionCheckWriter admissionCheckWriter,
      OriginLabel originLabel,
      JobStatusSync jobStatusSync,
      PodStatusSync podStatusSync,
      SharedJobs sharedJobs,
      ElasticSlices elasticSlices,
      RemoteJobs remoteJobs) {
    this.elasticSlices = elasticSlices;
    this.manager = manager;
    this.remoteClients = remoteClients;
    this.admissionCheckWriter = admissionCheckWriter;
    this.originLabel = originLabel;
    this.jobStatusSync = jobStatusSync;
    this.podStatusSync = podStatusSync;
    this.sharedJobs = sharedJobs;
    this.remoteJobs = remoteJobs;
    this.remoteCheckpoints = new RemoteCheckpoints(manager, remoteClients);
  }

  @Override
  public RunResult run(
      RemoteWorkloadContext context, RemoteWorkloadContext.Owner owner, String cluster)
      throws IOException {
    String namespace = context.key().namespace();
    Optional<ObjectNode> local = manager.get(owner.path(namespace));
    if (local.isEmpty()) {
      return RunResult.after(DELETION_RETRY_DELAY);
    }
    boolean scalesRemotely = owner.kind().rules().scaling().scalesRemotely(local.get());
    context.reconcileState().scalesRemotely(scalesRemotely);
    Optional<Duration> unseen = untilSeen(context, owner, cluster);
    if (unseen.isPresent()) {
      return new RunResult.Proceeding(unseen);
    }
    RemoteClient worker = remoteClients.of(cluster);
    Optional<ObjectNode> there = remoteJob(context, owner, cluster, any -> true);
    if (there.isPresent() && !originLabel.isOn(there.get())) {
      throw new RemoteClient.RefusedException(
          "%s %s/%s exists in worker cluster \"%s\" and was not made by this one; delete or rename it"
              .formatted(owner.kind().kind(), namespace, owner.name(), cluster));
    }
    if (there.isPresent()
        && elasticSlices.isOther(context.local(), OriginLabel.workload(there.get()))) {
      return handOver(context, owner, local.get(), there.get(), worker);
    }
    if (there.isPresent()
        && (!isOf(context, owner, local.get(), there.get())
            || OriginLabel.isDeleting(there.get()))) {
      if (!OriginLabel.isDeleting(there.get())) {
        worker.delete(owner.path(namespace), there.get());
      }
      return RunResult.after(DELETION_RETRY_DELAY);
    }
    if (!AdmissionCheckWriter.runsIn(context, cluster)) {
      // before the job is created: from now on no other worker is used while this worker is
      // unreachable
      sharedJobs.claim(context, cluster);
      admissionCheckWriter.decide(context, cluster);
      return there.isEmpty()
          ? begin(context, owner, local.get(), cluster)
          : RunResult.after(Duration.ZERO);
    }
    if (there.isPresent() && owner.kind().hasWorkloadPerGroup()) {
      podStatusSync.sync(context, owner, cluster, PodStatusSync.Course.RUNNING);
      sharedJobs.push(context, owner, cluster, local.get(), there.get());
      return RunResult.done();
    }
    if (there.isPresent()) {
      push(context, owner, local.get(), there.get(), worker);
      remoteCheckpoints.request(context, cluster);
      remoteCheckpoints.answer(context, owner, local.get(), there.get());
      if (scalesRemotely && follow(context, owner, local.get(), there.get(), cluster)) {
        return RunResult.after(Duration.ZERO);
      }
    }
    if (there.isEmpty()) {
      return begin(context, owner, local.get(), cluster);
    }
    return new RunResult.Proceeding(
        tellsByPods(owner)
            ? podStatusSync.sync(context, owner, cluster, PodStatusSync.Course.RUNNING)
            : jobStatusSync.follow(context, owner, local.get(), there.get()));
  }

  /** How long to wait for the watch to show a remote job that was just created. */
  private Optional<Duration> untilSeen(
      RemoteWorkloadContext context, RemoteWorkloadContext.Owner owner, String cluster) {
    return AdmissionCheckWriter.runsIn(context, cluster)
            && !owner.kind().hasWorkloadPerGroup()
            && seen(context, owner, cluster).isEmpty()
        ? context.reconcileState().untilJobSeen(cluster, context.now())
        : Optional.empty();
  }

  /**
   * Gives the remote job of an elastic job its next slice, which has quota in the worker, and the
   * size that the manager's job has now. A job that has a later slice already keeps that. One that
   * scales itself keeps its size, and gets the slice only while it needs that.
   */
  private RunResult handOver(
      RemoteWorkloadContext context,
      RemoteWorkloadContext.Owner owner,
      JsonNode local,
      ObjectNode there,
      RemoteClient worker)
      throws IOException {
    String had = OriginLabel.workload(there);
    boolean unneeded =
        owner.kind().rules().scaling().scalesRemotely(local)
            && elasticSlices
                .replaced(context.local())
                .filter(it -> !RemoteJobFactory.outgrows(owner.kind(), local, there, it))
                .isPresent();
    if (!context.local().replacedSlice().equals(had) || OriginLabel.isDeleting(there) || unneeded) {
      return RunResult.after(DELETION_RETRY_DELAY);
    }
    ObjectNode patch =
        RemoteJobFactory.handedOver(owner.kind(), local, there, context.key().name(), originLabel);
    worker.patch(owner.path(context.key().namespace()), RemoteWorkloadContext.at(there, patch));
    LOG.info("workload={} job={} slice-before={}", context.local().id(), owner.name(), had);
    return RunResult.after(Duration.ZERO);
  }

  /** Whether a remote job was made for the manager's job as it is now. */
  private boolean isOf(
      RemoteWorkloadContext context,
      RemoteWorkloadContext.Owner owner,
      JsonNode local,
      JsonNode there) {
    return owner.kind().hasWorkloadPerGroup()
        ? SharedJobs.isFor(local, there)
        : originLabel.isOn(there, context.key());
  }

  /** Has the manager's job follow the size of a remote job; returns whether that changed it. */
  private boolean follow(
      RemoteWorkloadContext context,
      RemoteWorkloadContext.Owner owner,
      ObjectNode local,
      JsonNode there,
      String cluster)
      throws IOException {
    JsonNode copy = context.copies().getOrDefault(cluster, MissingNode.getInstance());
    ObjectNode patch = RemoteJobFactory.followed(owner.kind(), local, there, copy, context.local());
    if (patch.isEmpty()) {
      return false;
    }
    LOG.info(
        "workload={} job={} cluster={} followed={}",
        context.local().id(),
        owner.name(),
        cluster,
        patch.path("metadata"));
    manager.patch(owner.path(context.key().namespace()), RemoteWorkloadContext.at(local, patch));
    return true;
  }

  /** Copies the pushed fields of the manager's job to the running remote job. */
  private void push(
      RemoteWorkloadContext context,
      RemoteWorkloadContext.Owner owner,
      JsonNode local,
      JsonNode there,
      RemoteClient worker)
      throws IOException {
    ObjectNode patch = RemoteJobFactory.pushed(owner.kind(), local, there);
    if (context.local().elastic()) {
      patch = RemoteJobFactory.resized(owner.kind(), local, there, patch);
    }
    if (!patch.isEmpty()) {
      worker.patch(owner.path(context.key().namespace()), RemoteWorkloadContext.at(there, patch));
      LOG.info("workload={} job={} pushed={}", context.local().id(), owner.name(), patch);
    }
  }

  /**
   * Creates the job in the worker. A remote Workload that had a job before still names it, and then
   * the job is not created again.
   */
  private RunResult begin(
      RemoteWorkloadContext context,
      RemoteWorkloadContext.Owner owner,
      ObjectNode local,
      String cluster)
      throws IOException {
    RemoteClient worker = remoteClients.of(cluster);
    String namespace = context.key().namespace();
    if (!isFirst(context, cluster)) {
      Optional<ObjectNode> copy =
          worker.get(RemoteWorkloadFactory.path(namespace, context.key().name()));
      if (copy.isEmpty()) {
        return RunResult.after(DELETION_RETRY_DELAY);
      }
      if (!copy.get().path("metadata").path("ownerReferences").isEmpty()) {
        LOG.info("workload={} cluster={} job=gone", context.local().id(), cluster);
        return new RunResult.JobGone();
      }
    }
    Optional<ObjectNode> unstarted = unstarted(context, owner, local);
    if (unstarted.isEmpty()) {
      return RunResult.after(DELETION_RETRY_DELAY);
    }
    jobStatusSync.announce(context, owner, local);
    boolean made =
        worker.create(
            owner.kind().path(namespace),
            RemoteJobFactory.copy(
                owner.kind(), unstarted.get(), context.key().name(), originLabel));
    if (made) {
      context.reconcileState().created(cluster, context.now());
    }
    LOG.info("workload={} cluster={} job=created made={}", context.local().id(), cluster, made);
    return made ? RunResult.done() : RunResult.after(DELETION_RETRY_DELAY);
  }

  /**
   * The manager's job without what its start gave it, which belongs to the queues and flavors of
   * the manager: where the remote job isn't created at the first attempt, the manager's job is
   * started meanwhile. Empty if its Workload is gone.
   */
  private Optional<ObjectNode> unstarted(
      RemoteWorkloadContext context, RemoteWorkloadContext.Owner owner, ObjectNode local)
      throws IOException {
    if (!owner.kind().isStarted(local)) {
      return Optional.of(local);
    }
    return manager
        .get(RemoteWorkloadFactory.path(context.key().namespace(), context.key().name()))
        .map(workload -> owner.kind().unstarted(local, workload));
  }

  /** Whether it is certain without asking the worker that the remote Workload never had a job. */
  private static boolean isFirst(RemoteWorkloadContext context, String cluster) {
    JsonNode copy = context.copies().getOrDefault(cluster, MissingNode.getInstance());
    JsonNode metadata = copy.path("metadata");
    return metadata.path("ownerReferences").isEmpty()
        && context.reconcileState().beginsFirstJob(cluster, metadata.path("uid").asText());
  }

  /**
   * The remote job: as last seen where that shows a job of this Workload that runs, and is {@code
   * enough}; else as the worker's API server has it. What is written to it names the version that
   * was seen, so that a worker refuses what an older version led to.
   */
  private Optional<ObjectNode> remoteJob(
      RemoteWorkloadContext context,
      RemoteWorkloadContext.Owner owner,
      String cluster,
      Predicate<JsonNode> enough)
      throws IOException {
    RemoteClient worker = remoteClients.of(cluster);
    String namespace = context.key().namespace();
    Optional<ObjectNode> seen = seen(context, owner, cluster).filter(enough);
    return seen.isPresent() ? seen : worker.get(owner.path(namespace));
  }

  private static boolean tellsByPods(RemoteWorkloadContext.Owner owner) {
    return owner.kind().pods().areMade();
  }

  @Override
  public Optional<Duration> syncStatus(
      RemoteWorkloadContext context, RemoteWorkloadContext.Owner owner, String cluster)
      throws IOException {
    if (tellsByPods(owner)) {
      return podStatusSync.sync(context, owner, cluster, PodStatusSync.Course.STOPPING);
    }
    return syncStatus(context, owner, cluster, any -> true);
  }

  private Optional<Duration> syncStatus(
      RemoteWorkloadContext context,
      RemoteWorkloadContext.Owner owner,
      String cluster,
      Predicate<JsonNode> enough)
      throws IOException {
    Optional<ObjectNode> local = manager.get(owner.path(context.key().namespace()));
    Optional<ObjectNode> there =
        remoteJob(context, owner, cluster, enough)
            .filter(it -> originLabel.isOn(it, context.key()));
    if (local.isPresent() && there.isEmpty()) {
      jobStatusSync.missing(context, owner, local.get());
    }
    return local.isPresent() && there.isPresent()
        ? jobStatusSync.sync(context, owner, local.get(), there.get())
        : Optional.empty();
  }

  @Override
  public Conclusion conclude(
      RemoteWorkloadContext context,
      RemoteWorkloadContext.Owner owner,
      PlacementAction.Finish finish)
      throws IOException {
    String cluster = finish.cluster();
    if (tellsByPods(owner)) {
      return Conclusion.now(
          podStatusSync.sync(context, owner, cluster, PodStatusSync.Course.ENDING));
    }
    // The worker's Workload ends after its job, but may be seen before.
    Optional<JsonNode> seen = seen(context, owner, cluster).map(JsonNode.class::cast);
    if (seen.filter(job -> isRunning(owner, job)).isPresent()) {
      Optional<Duration> left = context.reconcileState().untilEndSeen(context.now());
      if (left.isPresent()) {
        return Conclusion.after(left.get());
      }
    }
    Optional<Duration> again =
        syncStatus(context, owner, cluster, job -> RemoteJobFactory.ended(owner.kind(), job));
    return seen.filter(job -> RemoteJobFactory.finishesAs(owner.kind(), job, finish)).isPresent()
        ? context
            .reconcileState()
            .untilFinished(context.now())
            .map(Conclusion::after)
            .orElse(Conclusion.now(again))
        : Conclusion.now(again);
  }

  /** Whether a job that would tell of its end doesn't. */
  private static boolean isRunning(RemoteWorkloadContext.Owner owner, JsonNode job) {
    return !owner.kind().status().ends().isEmpty() && !RemoteJobFactory.ended(owner.kind(), job);
  }

  /** The remote job of the Workload as a watch showed it last. */
  private Optional<ObjectNode> seen(
      RemoteWorkloadContext context, RemoteWorkloadContext.Owner owner, String cluster) {
    Key key = new Key(context.key().namespace(), owner.name());
    return owner.kind().hasWorkloadPerGroup()
        ? Optional.empty()
        : remoteJobs
            .lastSeen(cluster, owner.kind(), key)
            .filter(job -> originLabel.isOn(job, context.key()))
            .filter(job -> !OriginLabel.isDeleting(job));
  }

  @Override
  public void withdraw(
      RemoteWorkloadContext context, RemoteWorkloadContext.Owner owner, String cluster)
      throws IOException {
    if (owner.kind().hasWorkloadPerGroup()) {
      sharedJobs.withdraw(context, owner, cluster);
      podStatusSync.forget(context.key());
      return;
    }
    RemoteClient worker = remoteClients.of(cluster);
    String path = owner.path(context.key().namespace());
    Optional<ObjectNode> there =
        remoteJob(context, owner, cluster, any -> true)
            .filter(it -> originLabel.isOn(it, context.key()) && !OriginLabel.isDeleting(it));
    if (there.isPresent()) {
      worker.delete(path, there.get());
    }
    podStatusSync.forget(context.key());
  }

  @Override
  public Optional<Duration> clearPodStatus(
      RemoteWorkloadContext context, RemoteWorkloadContext.Owner owner) throws IOException {
    if (tellsByPods(owner)) {
      return clearPods(context, owner);
    }
    Optional<ObjectNode> local = manager.get(owner.path(context.key().namespace()));
    return local.isEmpty() ? Optional.empty() : jobStatusSync.clear(context, owner, local.get());
  }

  private Optional<Duration> clearPods(
      RemoteWorkloadContext context, RemoteWorkloadContext.Owner owner) throws IOException {
    // A controller that keeps its remote job makes the pods of a group again, which wait then.
    Optional<String> cluster =
        owner.kind().hasWorkloadPerGroup()
            ? podStatusSync.startedIn(context)
            : podStatusSync.runsIn(context, any -> true);
    if (cluster.isPresent()) {
      withdraw(context, owner, cluster.get());
      return Optional.of(DELETION_RETRY_DELAY);
    }
    return podStatusSync.clear(context, owner);
  }

  /**
   * Asks jobs in workers for the checkpoints that the manager wants before it preempts, and brings
   * home when they saved their work (docs/preemption.md). Thread-safe.
   */
  private static final class RemoteCheckpoints {

    private static final Logger LOG = LoggerFactory.getLogger(RemoteCheckpoints.class);

    private final RemoteClient manager;
    private final RemoteClients remoteClients;

    RemoteCheckpoints(RemoteClient manager, RemoteClients remoteClients) {
      this.manager = manager;
      this.remoteClients = remoteClients;
    }

    /**
     * Hands the manager's request to the remote Workload, from which the worker's operator tells
     * the job. A later request of the worker's own stays.
     */
    void request(RemoteWorkloadContext context, String cluster) throws IOException {
      Optional<Instant> requestedAt = CheckpointRequest.of(context.local());
      JsonNode copy = context.copies().getOrDefault(cluster, MissingNode.getInstance());
      if (requestedAt.isPresent()
          && isLater(requestedAt, time(copy, CheckpointAnnotations.REQUESTED_AT))) {
        remoteClients
            .of(cluster)
            .patch(
                RemoteWorkloadFactory.path(context.key().namespace(), context.key().name()),
                CheckpointRequest.asking(requestedAt.get()));
        LOG.info(
            "workload={} cluster={} checkpointRequested={}",
            context.local().id(),
            cluster,
            requestedAt.get());
      }
    }

    /** Writes to the manager's job when the remote job saved its work last, if that is later. */
    void answer(
        RemoteWorkloadContext context,
        RemoteWorkloadContext.Owner owner,
        JsonNode local,
        JsonNode there)
        throws IOException {
      if (isLater(
          time(there, CheckpointAnnotations.CHECKPOINTED_AT),
          time(local, CheckpointAnnotations.CHECKPOINTED_AT))) {
        ObjectNode patch = JsonNodeFactory.instance.objectNode();
        patch
            .withObjectProperty("metadata")
            .withObjectProperty("annotations")
            .put(
                CheckpointAnnotations.CHECKPOINTED_AT,
                text(there, CheckpointAnnotations.CHECKPOINTED_AT));
        manager.patch(owner.path(context.key().namespace()), patch);
      }
    }

    private static boolean isLater(Optional<Instant> time, Optional<Instant> other) {
      return time.isPresent() && (other.isEmpty() || time.get().isAfter(other.get()));
    }

    private static Optional<Instant> time(JsonNode document, String annotation) {
      return CheckpointAnnotations.parse(text(document, annotation));
    }

    private static String text(JsonNode document, String annotation) {
      return document.path("metadata").path("annotations").path(annotation).asText();
    }
  }
}
