package dev.sluice.jobs.recovery;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.api.KueueConstants;
import dev.sluice.api.json.JsonFields;
import dev.sluice.kube.reflect.Reflector;
import dev.sluice.kube.reflect.TolerantDeserializers;
import java.io.IOException;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

/**
 * The pods that are being deleted and may be deleted by force. All other pods are seen, and not
 * kept. Readable from any thread.
 */
final class TerminatingPodStore implements Reflector.Sink<TerminatingPodStore.SeenPod> {

  /** On a pod that the operator fails: the condition that says so. */
  static final String CONDITION = "KueueFailureRecovery";

  private final ObjectMapper mapper = new ObjectMapper(TolerantDeserializers.json());
  private final Consumer<String> listener;
  private final Map<String, TerminatingPod> pods = new ConcurrentHashMap<>();
  private final Set<String> listed = new HashSet<>();

  /**
   * A pod in the watch.
   *
   * @param candidate the pod, if it is to be kept
   */
  record SeenPod(String uid, Optional<TerminatingPod> candidate) {}

  /**
   * An empty store.
   *
   * @param listener is given the UID of each kept pod that came, changed or went, after the change
   */
  TerminatingPodStore(Consumer<String> listener) {
    this.listener = listener;
  }

  /** The pod with this UID, if it is kept. */
  Optional<TerminatingPod> find(String uid) {
    return Optional.ofNullable(pods.get(uid));
  }

  /** The UIDs of all pods. */
  List<String> all() {
    return List.copyOf(pods.keySet());
  }

  /** The UIDs of the pods that are bound to a node. */
  List<String> of(String node) {
    return pods.values().stream()
        .filter(pod -> pod.node().equals(node))
        .map(TerminatingPod::uid)
        .toList();
  }

  @Override
  public SeenPod parse(byte[] bytes, int offset, int length) throws IOException {
    JsonNode pod = mapper.readTree(bytes, offset, length);
    JsonNode metadata = pod.path("metadata");
    String uid = metadata.path("uid").asText();
    return new SeenPod(uid, isOptedIn(metadata) ? candidate(uid, pod) : Optional.empty());
  }

  private static boolean isOptedIn(JsonNode metadata) {
    return metadata
        .path("annotations")
        .path(KueueConstants.SAFE_TO_FORCEFULLY_DELETE)
        .asText()
        .equals("true");
  }

  private static Optional<TerminatingPod> candidate(String uid, JsonNode pod) {
    JsonNode metadata = pod.path("metadata");
    String phase = pod.path("status").path("phase").asText();
    return JsonFields.time(metadata.path("deletionTimestamp"))
        .map(
            deletionTime ->
                new TerminatingPod(
                    metadata.path("namespace").asText(),
                    metadata.path("name").asText(),
                    uid,
                    metadata.path("resourceVersion").asText(),
                    pod.path("spec").path("nodeName").asText(),
                    deletionTime,
                    Duration.ofSeconds(
                        Math.max(0, metadata.path("deletionGracePeriodSeconds").asInt())),
                    phase.equals("Succeeded") || phase.equals("Failed"),
                    isForced(pod)));
  }

  private static boolean isForced(JsonNode pod) {
    for (JsonNode condition : pod.path("status").path("conditions")) {
      if (condition.path("type").asText().equals(CONDITION)) {
        return condition.path("status").asText().equals("True");
      }
    }
    return false;
  }

  @Override
  public void listingBegins() {
    listed.clear();
  }

  @Override
  public void seen(SeenPod pod) {
    if (pod.candidate().isEmpty()) {
      remove(pod.uid());
      return;
    }
    listed.add(pod.uid());
    TerminatingPod now = pod.candidate().get();
    if (!now.equals(pods.put(pod.uid(), now))) {
      listener.accept(pod.uid());
    }
  }

  @Override
  public void deleted(SeenPod last) {
    remove(last.uid());
  }

  private void remove(String uid) {
    if (pods.remove(uid) != null) {
      listener.accept(uid);
    }
  }

  @Override
  public void listingEnds() {
    all().stream().filter(uid -> !listed.contains(uid)).forEach(this::remove);
    listed.clear();
  }
}
