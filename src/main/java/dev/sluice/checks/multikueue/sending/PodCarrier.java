package dev.sluice.checks.multikueue.sending;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.checks.multikueue.link.RemoteObjects.Key;
import dev.sluice.checks.multikueue.placement.Local;
import dev.sluice.checks.multikueue.sending.LocalPods.LocalPod;
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
 * Carries pods: each of the manager's is made in the worker, where the gate holds it again. Those
 * of a group go to the same worker, also those that come later.
 */
final class PodCarrier implements Carrier {

  private static final Logger LOG = LoggerFactory.getLogger(PodCarrier.class);
  private static final Duration UNTIL_GONE = Duration.ofSeconds(1);

  private final Server manager;
  private final Workers workers;
  private final Verdicts verdicts;
  private final Mark mark;
  private final PodMirror mirror;

  /** What was made in workers and not yet seen there. */
  private final Map<Key, Set<Sent>> sent = new ConcurrentHashMap<>();

  private record Sent(String cluster, String name) {}

  PodCarrier(Server manager, Workers workers, Verdicts verdicts, Mark mark, PodMirror mirror) {
    this.manager = manager;
    this.workers = workers;
    this.verdicts = verdicts;
    this.mark = mark;
    this.mirror = mirror;
  }

  /** Whether a controller in the worker made a pod, and ends it when its own object goes. */
  static boolean isMadeThere(JsonNode pod) {
    for (JsonNode owner : pod.path("metadata").path("ownerReferences")) {
      if (owner.path("controller").asBoolean()) {
        return true;
      }
    }
    return false;
  }

  @Override
  public Optional<Duration> run(Errand errand, Errand.Owner owner, String cluster)
      throws IOException {
    List<LocalPod> here = mirror.here(errand, owner);
    if (here.isEmpty()) {
      return Optional.of(UNTIL_GONE);
    }
    if (!Verdicts.runsIn(errand, cluster)) {
      // before any pod is made: from now on nobody else gets them while this worker can't be asked
      verdicts.decide(errand, cluster);
      return Optional.of(Duration.ZERO);
    }
    Optional<String> elsewhere = mirror.runsIn(errand, other -> !other.equals(cluster));
    if (elsewhere.isPresent()) {
      withdraw(errand, elsewhere.get());
      return Optional.of(UNTIL_GONE);
    }
    Map<String, ObjectNode> there = mirror.there(errand, cluster);
    if (there.values().stream().anyMatch(pod -> isFromBefore(errand, pod, cluster))) {
      withdraw(errand, cluster);
      return Optional.of(UNTIL_GONE);
    }
    there.keySet().forEach(name -> seen(errand.key(), new Sent(cluster, name)));
    follow(errand, here, there, cluster);
    boolean complete = true;
    for (LocalPod pod : here) {
      if (!there.containsKey(pod.name()) && !pod.deleting()) {
        complete &= send(errand, pod, cluster);
      }
    }
    if (complete) {
      mirror.mirror(errand, owner, cluster, PodMirror.Course.RUNNING);
    }
    return complete ? Optional.empty() : Optional.of(UNTIL_GONE);
  }

  /** It was made for an earlier copy of the Workload, which was withdrawn. */
  private static boolean isFromBefore(Errand errand, ObjectNode pod, String cluster) {
    JsonNode copy = errand.copies().get(cluster);
    return copy != null && created(pod).isBefore(created(copy));
  }

  private static Instant created(JsonNode object) {
    String time = object.path("metadata").path("creationTimestamp").asText();
    return time.isEmpty() ? Instant.MAX : Instant.parse(time);
  }

  /** What is deleted here is deleted there. */
  private void follow(
      Errand errand, List<LocalPod> here, Map<String, ObjectNode> there, String cluster)
      throws IOException {
    Map<String, ObjectNode> left = new HashMap<>(there);
    here.stream().filter(pod -> !pod.deleting()).map(LocalPod::name).forEach(left::remove);
    for (Map.Entry<String, ObjectNode> pod : left.entrySet()) {
      Optional<ObjectNode> local = manager.get(path(errand, pod.getKey()));
      if (local.filter(it -> !Mark.isGoing(it)).isEmpty()) {
        delete(errand, pod.getValue(), cluster);
      }
    }
  }

  /** Makes a pod in the worker; false if that has to wait. */
  private boolean send(Errand errand, LocalPod pod, String cluster) throws IOException {
    Optional<ObjectNode> local =
        manager.get(path(errand, pod.name())).filter(it -> !PodStatuses.ended(it));
    if (local.filter(it -> !Mark.isGoing(it)).isEmpty()) {
      return true;
    }
    if (JobMarks.gated(local.get()) instanceof Local.Sendable.No(String why)) {
      throw new Server.RefusedException(why);
    }
    Server worker = workers.of(cluster);
    if (PodStatuses.hasRun(local.get())) {
      return isAdmitted(errand, worker);
    }
    boolean made =
        worker.create(
            SentKinds.POD.path(errand.key().namespace()),
            JobCopies.copy(SentKinds.POD, local.get(), errand.key().name(), mark));
    if (made) {
      sent.computeIfAbsent(errand.key(), any -> ConcurrentHashMap.newKeySet())
          .add(new Sent(cluster, pod.name()));
      LOG.info("workload={} cluster={} pod={} made=true", errand.local().id(), cluster, pod.name());
    } else {
      inTheWay(errand, worker, pod.name(), cluster);
    }
    return made;
  }

  /**
   * A pod that has run is gone there. It is so for good only if its Workload is still admitted
   * there: otherwise it was stopped, and may run again.
   */
  private static boolean isAdmitted(Errand errand, Server worker) throws IOException {
    String path = WorkloadCopies.path(errand.key().namespace(), errand.key().name());
    return worker.get(path).filter(WorkloadCopies::isAdmitted).isPresent();
  }

  private void inTheWay(Errand errand, Server worker, String name, String cluster)
      throws IOException {
    Optional<ObjectNode> there = worker.get(path(errand, name));
    if (there.isPresent() && !mark.isOn(there.get())) {
      throw new Server.RefusedException(
          "Pod %s/%s exists in worker cluster \"%s\" and was not made by this one; delete or rename it"
              .formatted(errand.key().namespace(), name, cluster));
    }
    if (there.isPresent()
        && !mark.isOn(there.get(), errand.key())
        && !Mark.isGoing(there.get())
        && !isMadeThere(there.get())) {
      worker.delete(path(errand, name), there.get());
    }
  }

  @Override
  public Optional<Duration> mirror(Errand errand, Errand.Owner owner, String cluster)
      throws IOException {
    return mirror.mirror(errand, owner, cluster, PodMirror.Course.STOPPING);
  }

  @Override
  public Optional<Duration> conclude(Errand errand, Errand.Owner owner, String cluster)
      throws IOException {
    return mirror.mirror(errand, owner, cluster, PodMirror.Course.ENDING);
  }

  @Override
  public void withdraw(Errand errand, Errand.Owner owner, String cluster) throws IOException {
    withdraw(errand, cluster);
  }

  /** Deletes all pods there that were sent for a Workload. */
  void withdraw(Errand errand, String cluster) throws IOException {
    Map<String, ObjectNode> there = mirror.there(errand, cluster);
    for (Sent unseen : sent.getOrDefault(errand.key(), Set.of())) {
      if (unseen.cluster().equals(cluster) && !there.containsKey(unseen.name())) {
        Optional<ObjectNode> pod = workers.of(cluster).get(path(errand, unseen.name()));
        pod.ifPresent(found -> there.put(unseen.name(), found));
      }
    }
    for (ObjectNode pod : there.values()) {
      delete(errand, pod, cluster);
    }
    there.keySet().forEach(name -> seen(errand.key(), new Sent(cluster, name)));
    mirror.forget(errand.key());
  }

  private void seen(Key workload, Sent pod) {
    sent.computeIfPresent(
        workload,
        (any, unseen) -> {
          unseen.remove(pod);
          return unseen.isEmpty() ? null : unseen;
        });
  }

  private void delete(Errand errand, ObjectNode pod, String cluster) throws IOException {
    if (mark.isOn(pod, errand.key()) && !Mark.isGoing(pod) && !isMadeThere(pod)) {
      String name = pod.path("metadata").path("name").asText();
      workers.of(cluster).delete(path(errand, name), pod);
      LOG.info(
          "workload={}/{} cluster={} pod={} deleted=true",
          errand.key().namespace(),
          errand.key().name(),
          cluster,
          name);
    }
  }

  @Override
  public Optional<Duration> settle(Errand errand, Errand.Owner owner) throws IOException {
    Optional<String> cluster = mirror.runsIn(errand, any -> true);
    if (cluster.isPresent()) {
      withdraw(errand, cluster.get());
      return Optional.of(UNTIL_GONE);
    }
    return mirror.settle(errand, owner);
  }

  private static String path(Errand errand, String pod) {
    return SentKinds.POD.path(errand.key().namespace(), pod);
  }
}
