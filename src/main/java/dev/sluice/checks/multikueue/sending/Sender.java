package dev.sluice.checks.multikueue.sending;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.checks.multikueue.link.RemoteObjects.Key;
import dev.sluice.checks.multikueue.placement.Action;
import dev.sluice.workloads.Workload.CheckState;
import dev.sluice.workloads.WorkloadWriter;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Carries out one action at a time. Each may be done again without harm. From any thread. */
final class Sender {

  private static final Logger LOG = LoggerFactory.getLogger(Sender.class);

  private final Server manager;
  private final Workers workers;
  private final Verdicts verdicts;
  private final Carrier objects;
  private final PodCarrier pods;
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
      PodMirror.Pods pods,
      boolean orchestrated) {
    this.manager = new Server(manager);
    this.workers = workers;
    this.verdicts = new Verdicts(writer, told);
    this.mark = mark;
    this.renewals = renewals;
    this.told = told;
    this.orchestrated = orchestrated;
    this.orders = new Orders(workers, told);
    PodMirror podMirror = new PodMirror(this.manager, pods);
    this.pods = new PodCarrier(this.manager, workers, verdicts, mark, podMirror);
    this.objects =
        new ObjectCarrier(this.manager, workers, verdicts, mark, podMirror, this::withdraw);
  }

  /** The manager's job of a Workload; empty when it is gone, or a group. */
  Optional<ObjectNode> job(Errand errand, Errand.Owner owner) throws IOException {
    return owner.isGroup() ? Optional.empty() : manager.get(owner.path(errand.key().namespace()));
  }

  /** Writes down for people what workers answered. */
  void tell(Errand errand, String text) throws IOException {
    verdicts.tell(errand, text);
  }

  /**
   * Does it.
   *
   * @return when the next actions have to wait, or there is more to do about this one: how long
   * @throws IOException when it failed, or is uncertain
   */
  Optional<Duration> act(Errand errand, Action action) throws IOException {
    return switch (action) {
      case Action.Reject(String why) -> verdicts.check(errand, CheckState.REJECTED, why);
      case Action.Retry(String why) -> verdicts.check(errand, CheckState.RETRY, why);
      case Action.Nominate nominate -> verdicts.nominate(errand, nominate);
      case Action.Offer(String cluster) -> offer(errand, cluster);
      case Action.Withdraw(String cluster) -> {
        withdraw(errand, cluster);
        yield Optional.empty();
      }
      case Action.Align(String cluster) -> align(errand, cluster);
      case Action.OpenGate(String cluster) -> orders.openGate(errand, cluster);
      case Action.StopThere(String cluster) -> orders.stop(errand, cluster);
      case Action.Run(String cluster) -> run(errand, cluster);
      case Action.RunHere(String cluster) -> verdicts.runHere(errand, cluster);
      case Action.Mirror(String cluster) -> mirror(errand, cluster);
      case Action.Settle settle -> settle(errand);
      case Action.Finish finish -> finish(errand, finish);
    };
  }

  private Server worker(String cluster) throws IOException {
    return workers.of(cluster);
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

  private void withdraw(Errand errand, String cluster) throws IOException {
    Server worker = worker(cluster);
    String namespace = errand.key().namespace();
    String path = WorkloadCopies.path(namespace, errand.key().name());
    Optional<ObjectNode> copy = worker.get(path);
    if (copy.isEmpty() || !mark.isOn(copy.get())) {
      return;
    }
    Optional<Errand.Owner> owner = errand.owner(copy.get());
    if (owner.isPresent()) {
      carrier(owner.get()).withdraw(errand, owner.get(), cluster);
    } else {
      pods.withdraw(errand, cluster);
    }
    if (!Mark.isGoing(copy.get())) {
      worker.delete(path, copy.get());
    }
    LOG.info("workload={}/{} cluster={} withdrawn=true", namespace, errand.key().name(), cluster);
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
          && !Mark.isGoing(job.get())
          && !PodCarrier.isMadeThere(job.get())) {
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
    return carrier(owner).run(errand, owner, cluster);
  }

  private Optional<Duration> mirror(Errand errand, String cluster) throws IOException {
    Optional<Errand.Owner> owner = errand.owner();
    return owner.isEmpty()
        ? Optional.empty()
        : carrier(owner.get()).mirror(errand, owner.get(), cluster);
  }

  private Optional<Duration> settle(Errand errand) throws IOException {
    Optional<Errand.Owner> owner = errand.owner();
    return owner.isEmpty() ? Optional.empty() : carrier(owner.get()).settle(errand, owner.get());
  }

  private Optional<Duration> finish(Errand errand, Action.Finish finish) throws IOException {
    Optional<Errand.Owner> owner = errand.owner();
    Optional<Duration> heldBack =
        owner.isEmpty()
            ? Optional.empty()
            : carrier(owner.get()).conclude(errand, owner.get(), finish.cluster());
    verdicts.finish(errand, finish);
    return heldBack;
  }

  private Carrier carrier(Errand.Owner owner) {
    return owner.kind().pods() == SentKind.Pods.ITSELF ? pods : objects;
  }
}
