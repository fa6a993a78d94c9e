package dev.sluice.checks.multikueue.sending;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.checks.multikueue.link.RemoteObjects.Key;
import dev.sluice.checks.multikueue.sending.LocalPods.LocalPod;
import dev.sluice.workloads.Workload;
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
final class PodMirror {

  private static final Logger LOG = LoggerFactory.getLogger(PodMirror.class);

  private final Server manager;
  private final Pods pods;
  private final Map<Key, Map<String, Brought>> brought = new ConcurrentHashMap<>();

  /** What pods there are, here and in workers. */
  record Pods(LocalPods here, Elsewhere elsewhere) {}

  /** The pods in workers. */
  interface Elsewhere {

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
  private record Brought(String local, String there, String version, Course course) {}

  PodMirror(Server manager, Pods pods) {
    this.manager = manager;
    this.pods = pods;
  }

  /** The manager's pods behind a Workload. */
  List<LocalPod> here(Errand errand, Errand.Owner owner) {
    boolean single = owner.kind().pods() == SentKind.Pods.ITSELF && !owner.isGroup();
    if (!single) {
      return pods.here().group(errand.key().namespace(), errand.key().name());
    }
    String uid = errand.workload().flatMap(Workload::owner).map(Workload.Owner::uid).orElse("");
    return List.of(new LocalPod(owner.name(), uid, false));
  }

  /** The pods in a worker that stand for those of a Workload, by name. */
  Map<String, ObjectNode> there(Errand errand, String cluster) throws IOException {
    return pods.elsewhere().of(cluster, errand.key()).stream()
        .collect(
            Collectors.toMap(
                pod -> pod.path("metadata").path("name").asText(),
                pod -> pod,
                (one, other) -> other,
                TreeMap::new));
  }

  /** A worker that can be asked and has pods of a Workload which may run. */
  Optional<String> runsIn(Errand errand, Predicate<String> which) throws IOException {
    for (String cluster : pods.elsewhere().clusters()) {
      if (which.test(cluster) && runsIn(errand, cluster)) {
        return Optional.of(cluster);
      }
    }
    return Optional.empty();
  }

  private boolean runsIn(Errand errand, String cluster) throws IOException {
    try {
      return there(errand, cluster).values().stream().anyMatch(pod -> !PodStatuses.ended(pod));
    } catch (Server.RefusedException e) {
      LOG.debug("cluster={} pods=unseen, so that none were made there", cluster, e);
      return false;
    }
  }

  /** Brings the states of all pods here. */
  Optional<Duration> mirror(Errand errand, Errand.Owner owner, String cluster, Course course)
      throws IOException {
    Map<String, ObjectNode> theirs = there(errand, cluster);
    for (LocalPod pod : here(errand, owner)) {
      bring(errand, owner, pod, Optional.ofNullable(theirs.get(pod.name())), cluster, course);
    }
    return Optional.empty();
  }

  /** No pod of it is known in workers: those here wait, as they did before they were sent. */
  Optional<Duration> settle(Errand errand, Errand.Owner owner) throws IOException {
    for (LocalPod pod : here(errand, owner)) {
      bring(errand, owner, pod, Optional.empty(), "", Course.STOPPING);
    }
    if (errand.workload().filter(Workload::deleting).isPresent()) {
      forget(errand.key());
    }
    return Optional.empty();
  }

  /** What was brought here counts no more. */
  void forget(Key workload) {
    brought.remove(workload);
  }

  private void bring(
      Errand errand,
      Errand.Owner owner,
      LocalPod pod,
      Optional<ObjectNode> there,
      String cluster,
      Course course)
      throws IOException {
    JsonNode metadata = there.orElseGet(JsonNodeFactory.instance::objectNode).path("metadata");
    Brought now =
        new Brought(
            pod.uid(),
            metadata.path("uid").asText(),
            metadata.path("resourceVersion").asText(),
            course);
    Map<String, Brought> known =
        brought.computeIfAbsent(errand.key(), any -> new ConcurrentHashMap<>());
    if (now.equals(known.get(pod.name()))) {
      return;
    }
    String path = SentKinds.POD.path(errand.key().namespace(), pod.name());
    Optional<ObjectNode> local = manager.get(path);
    if (local.isPresent()) {
      ObjectNode patch = patch(errand, owner, local.get(), there, cluster, course);
      if (!patch.isEmpty()) {
        manager.patch(path + "/status", Errand.at(local.get(), patch));
      }
      known.put(pod.name(), now);
    }
  }

  private static ObjectNode patch(
      Errand errand,
      Errand.Owner owner,
      ObjectNode local,
      Optional<ObjectNode> there,
      String cluster,
      Course course) {
    if (there.isPresent()) {
      return PodStatuses.mirrored(local, there.get(), errand.now());
    }
    boolean madeAgain = owner.kind().pods() == SentKind.Pods.MADE;
    return switch (course) {
      case RUNNING ->
          madeAgain || !PodStatuses.hasRun(local)
              ? PodStatuses.held(local, errand.now())
              : PodStatuses.gone(
                  local, "The pod is gone from worker cluster \"" + cluster + "\"", errand.now());
      case STOPPING -> PodStatuses.held(local, errand.now());
      case ENDING -> JsonNodeFactory.instance.objectNode();
    };
  }
}
