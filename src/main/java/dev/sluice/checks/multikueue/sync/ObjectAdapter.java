package dev.sluice.checks.multikueue.sync;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.checks.multikueue.placement.PlacementAction;
import dev.sluice.checks.multikueue.remote.RemoteObjects.Key;
import java.io.IOException;
import java.time.Duration;
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
  private final Withdrawal withdrawal;

  /** Withdraws all objects of a Workload from a worker. */
  @FunctionalInterface
  interface Withdrawal {

    void fromRemote(WorkloadGroup workloadGroup, String cluster) throws IOException;
  }

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
      RemoteJobs remoteJobs,
      Withdrawal withdrawal) {
    this.elasticSlices = elasticSlices;
    this.manager = manager;
    this.remoteClients = remoteClients;
    this.admissionCheckWriter = admissionCheckWriter;
    this.originLabel = originLabel;
    this.jobStatusSync = jobStatusSync;
    this.podStatusSync = podStatusSync;
    this.sharedJobs = sharedJobs;
    this.remoteJobs = remoteJobs;
    this.withdrawal = withdrawal;
  }

  @Override
  public Optional<Duration> run(
      WorkloadGroup workloadGroup, WorkloadGroup.Owner owner, String cluster) throws IOException {
    String namespace = workloadGroup.key().namespace();
    Optional<ObjectNode> local = manager.get(owner.path(namespace));
    if (local.isEmpty()) {
      return Optional.of(DELETION_RETRY_DELAY);
    }
    Optional<Duration> unseen = untilSeen(workloadGroup, owner, cluster);
    if (unseen.isPresent()) {
      return unseen;
    }
    RemoteClient worker = remoteClients.of(cluster);
    Optional<ObjectNode> there = remoteJob(workloadGroup, owner, cluster, any -> true);
    if (there.isPresent() && !originLabel.isOn(there.get())) {
      throw new RemoteClient.RefusedException(
          "%s %s/%s exists in worker cluster \"%s\" and was not made by this one; delete or rename it"
              .formatted(owner.kind().kind(), namespace, owner.name(), cluster));
    }
    if (there.isPresent()
        && elasticSlices.isOther(workloadGroup.local(), OriginLabel.workload(there.get()))) {
      return handOver(workloadGroup, owner, local.get(), there.get(), worker);
    }
    if (there.isPresent()
        && (!isOf(workloadGroup, owner, local.get(), there.get())
            || OriginLabel.isDeleting(there.get()))) {
      if (!OriginLabel.isDeleting(there.get())) {
        worker.delete(owner.path(namespace), there.get());
      }
      return Optional.of(DELETION_RETRY_DELAY);
    }
    if (!AdmissionCheckWriter.runsIn(workloadGroup, cluster)) {
      // before the job is created: from now on no other worker is used while this worker is
      // unreachable
      sharedJobs.claim(workloadGroup, cluster);
      admissionCheckWriter.decide(workloadGroup, cluster);
      return there.isEmpty()
          ? begin(workloadGroup, owner, local.get(), cluster)
          : Optional.of(Duration.ZERO);
    }
    if (there.isPresent() && owner.kind().hasWorkloadPerGroup()) {
      podStatusSync.sync(workloadGroup, owner, cluster, PodStatusSync.Course.RUNNING);
      sharedJobs.push(workloadGroup, owner, cluster, local.get(), there.get());
      return Optional.empty();
    }
    if (there.isPresent()) {
      push(workloadGroup, owner, local.get(), there.get(), worker);
    }
    if (there.isEmpty()) {
      return begin(workloadGroup, owner, local.get(), cluster);
    }
    return tellsByPods(owner)
        ? podStatusSync.sync(workloadGroup, owner, cluster, PodStatusSync.Course.RUNNING)
        : jobStatusSync.follow(workloadGroup, owner, local.get(), there.get());
  }

  /** How long to wait for the watch to show a remote job that was just created. */
  private Optional<Duration> untilSeen(
      WorkloadGroup workloadGroup, WorkloadGroup.Owner owner, String cluster) {
    return AdmissionCheckWriter.runsIn(workloadGroup, cluster)
            && !owner.kind().hasWorkloadPerGroup()
            && seen(workloadGroup, owner, cluster).isEmpty()
        ? workloadGroup.notes().untilJobSeen(cluster, workloadGroup.now())
        : Optional.empty();
  }

  /**
   * Gives the remote job of an elastic job its next slice, which has quota in the worker, and the
   * size that the manager's job has now. A job that has a later slice already keeps that.
   */
  private Optional<Duration> handOver(
      WorkloadGroup workloadGroup,
      WorkloadGroup.Owner owner,
      JsonNode local,
      ObjectNode there,
      RemoteClient worker)
      throws IOException {
    String had = OriginLabel.workload(there);
    if (!workloadGroup.local().replacedSlice().equals(had) || OriginLabel.isDeleting(there)) {
      return Optional.of(DELETION_RETRY_DELAY);
    }
    ObjectNode patch =
        RemoteJobFactory.handedOver(
            owner.kind(), local, there, workloadGroup.key().name(), originLabel);
    worker.patch(owner.path(workloadGroup.key().namespace()), WorkloadGroup.at(there, patch));
    LOG.info("workload={} job={} slice-before={}", workloadGroup.local().id(), owner.name(), had);
    return Optional.of(Duration.ZERO);
  }

  /** Whether a remote job was made for the manager's job as it is now. */
  private boolean isOf(
      WorkloadGroup workloadGroup, WorkloadGroup.Owner owner, JsonNode local, JsonNode there) {
    return owner.kind().hasWorkloadPerGroup()
        ? SharedJobs.isFor(local, there)
        : originLabel.isOn(there, workloadGroup.key());
  }

  /** Copies the pushed fields of the manager's job to the running remote job. */
  private void push(
      WorkloadGroup workloadGroup,
      WorkloadGroup.Owner owner,
      JsonNode local,
      JsonNode there,
      RemoteClient worker)
      throws IOException {
    ObjectNode patch = RemoteJobFactory.pushed(owner.kind(), local, there);
    if (workloadGroup.local().elastic()) {
      patch = RemoteJobFactory.resized(owner.kind(), local, there, patch);
    }
    if (!patch.isEmpty()) {
      worker.patch(owner.path(workloadGroup.key().namespace()), WorkloadGroup.at(there, patch));
      LOG.info("workload={} job={} pushed={}", workloadGroup.local().id(), owner.name(), patch);
    }
  }

  /**
   * Creates the job in the worker. A remote Workload that had a job before still names it, and then
   * the job is not created again.
   */
  private Optional<Duration> begin(
      WorkloadGroup workloadGroup, WorkloadGroup.Owner owner, JsonNode local, String cluster)
      throws IOException {
    RemoteClient worker = remoteClients.of(cluster);
    String namespace = workloadGroup.key().namespace();
    if (!isFirst(workloadGroup, cluster)) {
      Optional<ObjectNode> copy =
          worker.get(RemoteWorkloadFactory.path(namespace, workloadGroup.key().name()));
      if (copy.isEmpty()) {
        return Optional.of(DELETION_RETRY_DELAY);
      }
      if (!copy.get().path("metadata").path("ownerReferences").isEmpty()) {
        return gone(workloadGroup, cluster);
      }
    }
    jobStatusSync.announce(workloadGroup, owner, local);
    boolean made =
        worker.create(
            owner.kind().path(namespace),
            RemoteJobFactory.copy(owner.kind(), local, workloadGroup.key().name(), originLabel));
    if (made) {
      workloadGroup.notes().created(cluster, workloadGroup.now());
    }
    LOG.info(
        "workload={} cluster={} job=created made={}", workloadGroup.local().id(), cluster, made);
    return made ? Optional.empty() : Optional.of(DELETION_RETRY_DELAY);
  }

  /** Whether it is certain without asking the worker that the remote Workload never had a job. */
  private static boolean isFirst(WorkloadGroup workloadGroup, String cluster) {
    JsonNode copy = workloadGroup.copies().getOrDefault(cluster, MissingNode.getInstance());
    JsonNode metadata = copy.path("metadata");
    return metadata.path("ownerReferences").isEmpty()
        && workloadGroup.notes().beginsFirstJob(cluster, metadata.path("uid").asText());
  }

  /**
   * The manager's job was deleted without its Workload: withdraws the remote objects; the next
   * reconciliation handles the loss.
   */
  private Optional<Duration> gone(WorkloadGroup workloadGroup, String cluster) throws IOException {
    LOG.info("workload={} cluster={} job=gone", workloadGroup.local().id(), cluster);
    withdrawal.fromRemote(workloadGroup, cluster);
    return Optional.empty();
  }

  /**
   * The remote job: as last seen where that shows a job of this Workload that runs, and is {@code
   * enough}; else as the worker's API server has it. What is written to it names the version that
   * was seen, so that a worker refuses what an older version led to.
   */
  private Optional<ObjectNode> remoteJob(
      WorkloadGroup workloadGroup,
      WorkloadGroup.Owner owner,
      String cluster,
      Predicate<JsonNode> enough)
      throws IOException {
    RemoteClient worker = remoteClients.of(cluster);
    String namespace = workloadGroup.key().namespace();
    Optional<ObjectNode> seen = seen(workloadGroup, owner, cluster).filter(enough);
    return seen.isPresent() ? seen : worker.get(owner.path(namespace));
  }

  private static boolean tellsByPods(WorkloadGroup.Owner owner) {
    return owner.kind().pods().areMade();
  }

  @Override
  public Optional<Duration> syncStatus(
      WorkloadGroup workloadGroup, WorkloadGroup.Owner owner, String cluster) throws IOException {
    if (tellsByPods(owner)) {
      return podStatusSync.sync(workloadGroup, owner, cluster, PodStatusSync.Course.STOPPING);
    }
    return syncStatus(workloadGroup, owner, cluster, any -> true);
  }

  private Optional<Duration> syncStatus(
      WorkloadGroup workloadGroup,
      WorkloadGroup.Owner owner,
      String cluster,
      Predicate<JsonNode> enough)
      throws IOException {
    Optional<ObjectNode> local = manager.get(owner.path(workloadGroup.key().namespace()));
    Optional<ObjectNode> there =
        remoteJob(workloadGroup, owner, cluster, enough)
            .filter(it -> originLabel.isOn(it, workloadGroup.key()));
    if (local.isPresent() && there.isEmpty()) {
      jobStatusSync.missing(workloadGroup, owner, local.get());
    }
    return local.isPresent() && there.isPresent()
        ? jobStatusSync.sync(workloadGroup, owner, local.get(), there.get())
        : Optional.empty();
  }

  @Override
  public Conclusion conclude(
      WorkloadGroup workloadGroup, WorkloadGroup.Owner owner, PlacementAction.Finish finish)
      throws IOException {
    String cluster = finish.cluster();
    if (tellsByPods(owner)) {
      return Conclusion.now(
          podStatusSync.sync(workloadGroup, owner, cluster, PodStatusSync.Course.ENDING));
    }
    // The worker's Workload ends after its job, but may be seen before.
    Optional<JsonNode> seen = seen(workloadGroup, owner, cluster).map(JsonNode.class::cast);
    if (seen.filter(job -> isRunning(owner, job)).isPresent()) {
      Optional<Duration> left = workloadGroup.notes().untilEndSeen(workloadGroup.now());
      if (left.isPresent()) {
        return Conclusion.after(left.get());
      }
    }
    Optional<Duration> again =
        syncStatus(workloadGroup, owner, cluster, job -> RemoteJobFactory.ended(owner.kind(), job));
    return seen.filter(job -> RemoteJobFactory.finishesAs(owner.kind(), job, finish)).isPresent()
        ? workloadGroup
            .notes()
            .untilFinished(workloadGroup.now())
            .map(Conclusion::after)
            .orElse(Conclusion.now(again))
        : Conclusion.now(again);
  }

  /** Whether a job that would tell of its end doesn't. */
  private static boolean isRunning(WorkloadGroup.Owner owner, JsonNode job) {
    return !owner.kind().status().ends().isEmpty() && !RemoteJobFactory.ended(owner.kind(), job);
  }

  /** The remote job of the Workload as a watch showed it last. */
  private Optional<ObjectNode> seen(
      WorkloadGroup workloadGroup, WorkloadGroup.Owner owner, String cluster) {
    Key key = new Key(workloadGroup.key().namespace(), owner.name());
    return owner.kind().hasWorkloadPerGroup()
        ? Optional.empty()
        : remoteJobs
            .lastSeen(cluster, owner.kind(), key)
            .filter(job -> originLabel.isOn(job, workloadGroup.key()))
            .filter(job -> !OriginLabel.isDeleting(job));
  }

  @Override
  public void withdraw(WorkloadGroup workloadGroup, WorkloadGroup.Owner owner, String cluster)
      throws IOException {
    if (owner.kind().hasWorkloadPerGroup()) {
      sharedJobs.withdraw(workloadGroup, owner, cluster);
      podStatusSync.forget(workloadGroup.key());
      return;
    }
    RemoteClient worker = remoteClients.of(cluster);
    String path = owner.path(workloadGroup.key().namespace());
    Optional<ObjectNode> there =
        remoteJob(workloadGroup, owner, cluster, any -> true)
            .filter(it -> originLabel.isOn(it, workloadGroup.key()) && !OriginLabel.isDeleting(it));
    if (there.isPresent()) {
      worker.delete(path, there.get());
    }
    podStatusSync.forget(workloadGroup.key());
  }

  @Override
  public Optional<Duration> clearPodStatus(WorkloadGroup workloadGroup, WorkloadGroup.Owner owner)
      throws IOException {
    if (tellsByPods(owner)) {
      return clearPods(workloadGroup, owner);
    }
    Optional<ObjectNode> local = manager.get(owner.path(workloadGroup.key().namespace()));
    return local.isEmpty()
        ? Optional.empty()
        : jobStatusSync.clear(workloadGroup, owner, local.get());
  }

  private Optional<Duration> clearPods(WorkloadGroup workloadGroup, WorkloadGroup.Owner owner)
      throws IOException {
    // A controller that keeps its remote job makes the pods of a group again, which wait then.
    Optional<String> cluster =
        owner.kind().hasWorkloadPerGroup()
            ? podStatusSync.startedIn(workloadGroup)
            : podStatusSync.runsIn(workloadGroup, any -> true);
    if (cluster.isPresent()) {
      withdraw(workloadGroup, owner, cluster.get());
      return Optional.of(DELETION_RETRY_DELAY);
    }
    return podStatusSync.clear(workloadGroup, owner);
  }
}
