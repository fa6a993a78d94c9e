package dev.sluice.checks.multikueue.sending;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.checks.multikueue.link.RemoteObjects.Key;
import dev.sluice.checks.multikueue.placement.Action;
import dev.sluice.workloads.CheckStates;
import dev.sluice.workloads.StatusPatch;
import dev.sluice.workloads.Workload;
import dev.sluice.workloads.Workload.CheckState;
import dev.sluice.workloads.WorkloadWriter;
import dev.sluice.workloads.WorkloadWriter.Outcome;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Carries out one action at a time. Each may be done again without harm. From any thread. */
final class Sender {

  private static final Logger LOG = LoggerFactory.getLogger(Sender.class);
  private static final Duration UNTIL_GONE = Duration.ofSeconds(1);

  private final Server manager;
  private final JobMirror mirror;
  private final Workers workers;
  private final WorkloadWriter writer;
  private final Mark mark;
  private final Renewals renewals;
  private final Told told;
  private final boolean orchestrated;
  private final Orders orders;

  /**
   * Writes to the manager's API server, and to those of workers.
   *
   * @param orchestrated whether workers may preempt only when they are told so
   */
  Sender(
      KubernetesClient manager,
      Workers workers,
      WorkloadWriter writer,
      Mark mark,
      Renewals renewals,
      Told told,
      boolean orchestrated) {
    this.manager = new Server(manager);
    this.mirror = new JobMirror(this.manager);
    this.workers = workers;
    this.writer = writer;
    this.mark = mark;
    this.renewals = renewals;
    this.told = told;
    this.orchestrated = orchestrated;
    this.orders = new Orders(workers, told);
  }

  /** The manager's job of a Workload; empty when it is gone. */
  Optional<ObjectNode> job(Errand errand, Errand.Owner owner) throws IOException {
    return manager.get(owner.path(errand.key().namespace()));
  }

  /**
   * Does it.
   *
   * @return when the next actions have to wait, or there is more to do about this one: how long
   * @throws IOException when it failed, or is uncertain
   */
  Optional<Duration> act(Errand errand, Action action) throws IOException {
    return switch (action) {
      case Action.Reject(String why) -> check(errand, CheckState.REJECTED, why);
      case Action.Retry(String why) -> check(errand, CheckState.RETRY, why);
      case Action.Nominate nominate -> nominate(errand, nominate);
      case Action.Offer(String cluster) -> offer(errand, cluster);
      case Action.Withdraw(String cluster) -> withdraw(errand, cluster);
      case Action.Align(String cluster) -> align(errand, cluster);
      case Action.OpenGate(String cluster) -> orders.openGate(errand, cluster);
      case Action.StopThere(String cluster) -> orders.stop(errand, cluster);
      case Action.Run(String cluster) -> run(errand, cluster);
      case Action.RunHere(String cluster) -> runHere(errand, cluster);
      case Action.Mirror(String cluster) -> mirror(errand, cluster);
      case Action.Settle settle -> settle(errand);
      case Action.Finish finish -> finish(errand, finish);
    };
  }

  private Server worker(String cluster) throws IOException {
    return workers.of(cluster);
  }

  private Optional<Duration> check(Errand errand, String state, String message) throws IOException {
    ObjectNode status = JsonNodeFactory.instance.objectNode();
    status.set("admissionChecks", CheckStates.json(errand.checksWith(state, message)));
    write(errand, status);
    LOG.info("workload={} check={} reason=\"{}\"", errand.local().id(), state, message);
    told.said(errand.local(), true, message);
    if (state.equals(CheckState.RETRY)) {
      told.requeued(
          errand.local(), errand.clusterQueue(), errand.local().status().elsewhere().cluster());
    }
    return Optional.empty();
  }

  /** Writes down for people what workers answered. */
  void tell(Errand errand, String text) throws IOException {
    ObjectNode status = JsonNodeFactory.instance.objectNode();
    status.set("admissionChecks", CheckStates.json(errand.checksSaying(text)));
    write(errand, status);
    LOG.info("workload={} waits=\"{}\"", errand.local().id(), text);
  }

  private Optional<Duration> nominate(Errand errand, Action.Nominate nominate) throws IOException {
    ObjectNode status = JsonNodeFactory.instance.objectNode();
    ArrayNode names = status.putArray("nominatedClusterNames");
    nominate.clusters().forEach(names::add);
    write(errand, status);
    LOG.info("workload={} nominated={}", errand.local().id(), nominate.clusters());
    told.said(
        errand.local(),
        false,
        "Offered to worker clusters " + String.join(", ", nominate.clusters()));
    return Optional.empty();
  }

  private void write(Errand errand, ObjectNode status) throws IOException {
    Workload local = errand.local();
    try {
      Outcome outcome =
          writer
              .patchStatus(local.id(), local.version(), status, WorkloadWriter.Urgency.DECISION)
              .get();
      switch (outcome) {
        case Outcome.Written written ->
            LOG.debug("workload={} version={}", local.id(), written.version());
        case Outcome.Conflict conflict -> throw new Server.ConflictException("it has moved on");
        case Outcome.Gone gone -> throw new Server.ConflictException("it is gone");
        case Outcome.Refused refused -> throw new Server.RefusedException(refused.message());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("interrupted");
    } catch (ExecutionException e) {
      throw new IOException(String.valueOf(e.getCause()), e);
    }
  }

  private Optional<Duration> offer(Errand errand, String cluster) throws IOException {
    String namespace = errand.key().namespace();
    Optional<ObjectNode> workload =
        manager.get(WorkloadCopies.path(namespace, errand.key().name()));
    if (workload.isEmpty()
        || !workload
            .get()
            .path("metadata")
            .path("uid")
            .asText()
            .equals(errand.local().id().uid())) {
      throw new Server.ConflictException("it is another one now");
    }
    Server worker = worker(cluster);
    Optional<Duration> fence = renewals.stopAfter(cluster, worker, workload.get());
    boolean made =
        worker.create(
            WorkloadCopies.path(namespace),
            WorkloadCopies.copy(workload.get(), mark, orchestrated, fence));
    if (made) {
      LOG.info("workload={} cluster={} offered=true", errand.local().id(), cluster);
      told.dispatched(errand.local(), errand.clusterQueue(), cluster);
    }
    return Optional.empty();
  }

  private Optional<Duration> withdraw(Errand errand, String cluster) throws IOException {
    Server worker = worker(cluster);
    String namespace = errand.key().namespace();
    String path = WorkloadCopies.path(namespace, errand.key().name());
    Optional<ObjectNode> copy = worker.get(path);
    if (copy.isEmpty() || !mark.isOn(copy.get())) {
      return Optional.empty();
    }
    Optional<Errand.Owner> owner = errand.owner(copy.get());
    if (owner.isPresent()) {
      String job = owner.get().path(namespace);
      Optional<ObjectNode> there = worker.get(job).filter(it -> isOurs(it, errand));
      if (there.isPresent()) {
        if (!isGoing(there.get())) {
          worker.delete(job, there.get());
        }
      }
    }
    if (!isGoing(copy.get())) {
      worker.delete(path, copy.get());
    }
    LOG.info("workload={}/{} cluster={} withdrawn=true", namespace, errand.key().name(), cluster);
    return Optional.empty();
  }

  /** Deletes a job of ours whose Workload is gone. */
  void remove(String cluster, SentKind kind, Key workload, String name) {
    try {
      Server worker = worker(cluster);
      String path = kind.path(workload.namespace(), name);
      Optional<ObjectNode> job = worker.get(path);
      if (job.isPresent()
          && mark.isOn(job.get())
          && Mark.workload(job.get()).equals(workload.name())
          && !isGoing(job.get())) {
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

  /** Only what says that it was made by us, and for this Workload, may be deleted. */
  private boolean isOurs(JsonNode job, Errand errand) {
    return mark.isOn(job) && Mark.workload(job).equals(errand.key().name());
  }

  private static boolean isGoing(JsonNode object) {
    return object.path("metadata").hasNonNull("deletionTimestamp");
  }

  private Optional<Duration> align(Errand errand, String cluster) throws IOException {
    worker(cluster)
        .patch(
            WorkloadCopies.path(errand.key().namespace(), errand.key().name()),
            WorkloadCopies.aligned(errand.local()));
    LOG.info(
        "workload={} cluster={} priority={}",
        errand.local().id(),
        cluster,
        errand.local().spec().priority());
    return Optional.empty();
  }

  private Optional<Duration> run(Errand errand, String cluster) throws IOException {
    Errand.Owner owner = errand.owner().orElseThrow(() -> new IOException("it has no owner"));
    String namespace = errand.key().namespace();
    Optional<ObjectNode> local = manager.get(owner.path(namespace));
    if (local.isEmpty()) {
      return Optional.of(UNTIL_GONE);
    }
    Server worker = worker(cluster);
    Optional<ObjectNode> there = worker.get(owner.path(namespace));
    if (there.isPresent() && !mark.isOn(there.get())) {
      throw new Server.RefusedException(
          "%s %s/%s exists in worker cluster \"%s\" and was not made by this one; delete or rename it"
              .formatted(owner.kind().kind(), namespace, owner.name(), cluster));
    }
    if (there.isPresent() && (!isOurs(there.get(), errand) || isGoing(there.get()))) {
      if (!isGoing(there.get())) {
        worker.delete(owner.path(namespace), there.get());
      }
      return Optional.of(UNTIL_GONE);
    }
    boolean ready = errand.state().filter(it -> it.is(CheckState.READY)).isPresent();
    if (!ready || !errand.local().status().elsewhere().cluster().equals(cluster)) {
      // before the job is made: from now on nobody else gets it while this worker can't be asked
      runsIn(errand, cluster);
      return Optional.of(Duration.ZERO);
    }
    if (there.isPresent()) {
      push(errand, owner, local.get(), there.get(), worker);
    }
    return there.isPresent()
        ? mirror.mirror(errand, owner, local.get(), there.get())
        : begin(errand, owner, local.get(), cluster);
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
    Server worker = worker(cluster);
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
    return withdraw(errand, cluster);
  }

  private Optional<Duration> runHere(Errand errand, String cluster) throws IOException {
    String message =
        "The workload runs in this cluster, which is worker cluster \"" + cluster + "\"";
    ObjectNode status = JsonNodeFactory.instance.objectNode();
    status.set("admissionChecks", CheckStates.json(errand.checksWith(CheckState.READY, message)));
    status.putNull("nominatedClusterNames");
    write(errand, status);
    LOG.info("workload={} cluster={} check=Ready here=true", errand.local().id(), cluster);
    told.admitted(errand.local(), errand.clusterQueue(), cluster);
    told.said(errand.local(), false, message);
    return Optional.empty();
  }

  private void runsIn(Errand errand, String cluster) throws IOException {
    String message = "The workload runs in worker cluster \"" + cluster + "\"";
    ObjectNode status = JsonNodeFactory.instance.objectNode();
    status.set("admissionChecks", CheckStates.json(errand.checksWith(CheckState.READY, message)));
    status.put("clusterName", cluster).putNull("nominatedClusterNames");
    write(errand, status);
    LOG.info("workload={} cluster={} check=Ready", errand.local().id(), cluster);
    told.admitted(errand.local(), errand.clusterQueue(), cluster);
    told.said(errand.local(), false, message);
  }

  private Optional<Duration> mirror(Errand errand, String cluster) throws IOException {
    Optional<Errand.Owner> owner = errand.owner();
    if (owner.isEmpty()) {
      return Optional.empty();
    }
    String path = owner.get().path(errand.key().namespace());
    Optional<ObjectNode> local = manager.get(path);
    Optional<ObjectNode> there = worker(cluster).get(path).filter(it -> isOurs(it, errand));
    if (local.isPresent() && there.isEmpty()) {
      mirror.missing(errand, owner.get(), local.get());
    }
    return local.isPresent() && there.isPresent()
        ? mirror.mirror(errand, owner.get(), local.get(), there.get())
        : Optional.empty();
  }

  private Optional<Duration> settle(Errand errand) throws IOException {
    Optional<Errand.Owner> owner = errand.owner();
    Optional<ObjectNode> local = owner.isEmpty() ? Optional.empty() : job(errand, owner.get());
    return local.isEmpty()
        ? Optional.empty()
        : mirror.settle(errand, owner.orElseThrow(), local.get());
  }

  private Optional<Duration> finish(Errand errand, Action.Finish finish) throws IOException {
    Optional<Duration> heldBack = mirror(errand, finish.cluster());
    ObjectNode status =
        StatusPatch.of(errand.local(), errand.now())
            .condition("Finished", true, finish.reason(), finish.message())
            .build();
    write(errand, status);
    LOG.info(
        "workload={} cluster={} finished=true reason={}",
        errand.local().id(),
        finish.cluster(),
        finish.reason());
    return heldBack;
  }
}
