package dev.sluice.checks.multikueue.sending;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Carries jobs that are one object, which is made in the worker under the same name. */
final class ObjectCarrier implements Carrier {

  private static final Logger LOG = LoggerFactory.getLogger(ObjectCarrier.class);
  private static final Duration UNTIL_GONE = Duration.ofSeconds(1);

  private final Server manager;
  private final Workers workers;
  private final Verdicts verdicts;
  private final Mark mark;
  private final JobMirror mirror;
  private final PodMirror podMirror;
  private final Withdrawal withdrawal;

  /** Takes back from a worker all that it has of a Workload. */
  @FunctionalInterface
  interface Withdrawal {

    void from(Errand errand, String cluster) throws IOException;
  }

  ObjectCarrier(
      Server manager,
      Workers workers,
      Verdicts verdicts,
      Mark mark,
      PodMirror podMirror,
      Withdrawal withdrawal) {
    this.manager = manager;
    this.workers = workers;
    this.verdicts = verdicts;
    this.mark = mark;
    this.mirror = new JobMirror(manager);
    this.podMirror = podMirror;
    this.withdrawal = withdrawal;
  }

  @Override
  public Optional<Duration> run(Errand errand, Errand.Owner owner, String cluster)
      throws IOException {
    String namespace = errand.key().namespace();
    Optional<ObjectNode> local = manager.get(owner.path(namespace));
    if (local.isEmpty()) {
      return Optional.of(UNTIL_GONE);
    }
    Server worker = workers.of(cluster);
    Optional<ObjectNode> there = worker.get(owner.path(namespace));
    if (there.isPresent() && !mark.isOn(there.get())) {
      throw new Server.RefusedException(
          "%s %s/%s exists in worker cluster \"%s\" and was not made by this one; delete or rename it"
              .formatted(owner.kind().kind(), namespace, owner.name(), cluster));
    }
    if (there.isPresent() && (!mark.isOn(there.get(), errand.key()) || Mark.isGoing(there.get()))) {
      if (!Mark.isGoing(there.get())) {
        worker.delete(owner.path(namespace), there.get());
      }
      return Optional.of(UNTIL_GONE);
    }
    if (!Verdicts.runsIn(errand, cluster)) {
      // before the job is made: from now on nobody else gets it while this worker can't be asked
      verdicts.decide(errand, cluster);
      return Optional.of(Duration.ZERO);
    }
    if (there.isPresent()) {
      push(errand, owner, local.get(), there.get(), worker);
    }
    if (there.isEmpty()) {
      return begin(errand, owner, local.get(), cluster);
    }
    return tellsByPods(owner)
        ? podMirror.mirror(errand, owner, cluster, PodMirror.Course.RUNNING)
        : mirror.mirror(errand, owner, local.get(), there.get());
  }

  /** Has a running job follow the manager's. */
  private void push(
      Errand errand, Errand.Owner owner, JsonNode local, JsonNode there, Server worker)
      throws IOException {
    ObjectNode patch = JobCopies.pushed(owner.kind(), local, there);
    if (!patch.isEmpty()) {
      worker.patch(owner.path(errand.key().namespace()), Errand.at(there, patch));
      LOG.info("workload={} job={} pushed={}", errand.local().id(), owner.name(), patch);
    }
  }

  /**
   * Makes the job in the worker that it is to run in, unless it was there before: a copy that has
   * had a job still names it.
   */
  private Optional<Duration> begin(
      Errand errand, Errand.Owner owner, JsonNode local, String cluster) throws IOException {
    Server worker = workers.of(cluster);
    String namespace = errand.key().namespace();
    Optional<ObjectNode> copy = worker.get(WorkloadCopies.path(namespace, errand.key().name()));
    if (copy.isEmpty()) {
      return Optional.of(UNTIL_GONE);
    }
    if (!copy.get().path("metadata").path("ownerReferences").isEmpty()) {
      return gone(errand, cluster);
    }
    mirror.announce(errand, owner, local);
    boolean made =
        worker.create(
            owner.kind().path(namespace),
            JobCopies.copy(owner.kind(), local, errand.key().name(), mark));
    LOG.info("workload={} cluster={} job=created made={}", errand.local().id(), cluster, made);
    return made ? Optional.empty() : Optional.of(UNTIL_GONE);
  }

  /** The job went without its Workload: what is left is withdrawn, and the loss is seen next. */
  private Optional<Duration> gone(Errand errand, String cluster) throws IOException {
    LOG.info("workload={} cluster={} job=gone", errand.local().id(), cluster);
    withdrawal.from(errand, cluster);
    return Optional.empty();
  }

  private static boolean tellsByPods(Errand.Owner owner) {
    return owner.kind().pods() == SentKind.Pods.MADE;
  }

  @Override
  public Optional<Duration> mirror(Errand errand, Errand.Owner owner, String cluster)
      throws IOException {
    if (tellsByPods(owner)) {
      return podMirror.mirror(errand, owner, cluster, PodMirror.Course.STOPPING);
    }
    String path = owner.path(errand.key().namespace());
    Optional<ObjectNode> local = manager.get(path);
    Optional<ObjectNode> there =
        workers.of(cluster).get(path).filter(it -> mark.isOn(it, errand.key()));
    if (local.isPresent() && there.isEmpty()) {
      mirror.missing(errand, owner, local.get());
    }
    return local.isPresent() && there.isPresent()
        ? mirror.mirror(errand, owner, local.get(), there.get())
        : Optional.empty();
  }

  @Override
  public Optional<Duration> conclude(Errand errand, Errand.Owner owner, String cluster)
      throws IOException {
    return tellsByPods(owner)
        ? podMirror.mirror(errand, owner, cluster, PodMirror.Course.ENDING)
        : mirror(errand, owner, cluster);
  }

  @Override
  public void withdraw(Errand errand, Errand.Owner owner, String cluster) throws IOException {
    Server worker = workers.of(cluster);
    String path = owner.path(errand.key().namespace());
    Optional<ObjectNode> there =
        worker.get(path).filter(it -> mark.isOn(it, errand.key()) && !Mark.isGoing(it));
    if (there.isPresent()) {
      worker.delete(path, there.get());
    }
    podMirror.forget(errand.key());
  }

  @Override
  public Optional<Duration> settle(Errand errand, Errand.Owner owner) throws IOException {
    if (tellsByPods(owner)) {
      return settlePods(errand, owner);
    }
    Optional<ObjectNode> local = manager.get(owner.path(errand.key().namespace()));
    return local.isEmpty() ? Optional.empty() : mirror.settle(errand, owner, local.get());
  }

  private Optional<Duration> settlePods(Errand errand, Errand.Owner owner) throws IOException {
    Optional<String> cluster = podMirror.runsIn(errand, any -> true);
    if (cluster.isPresent()) {
      withdraw(errand, owner, cluster.get());
      return Optional.of(UNTIL_GONE);
    }
    return podMirror.settle(errand, owner);
  }
}
