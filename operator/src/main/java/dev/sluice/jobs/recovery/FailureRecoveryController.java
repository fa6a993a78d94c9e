package dev.sluice.jobs.recovery;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.KueueConstants;
import dev.sluice.api.json.JsonFields;
import dev.sluice.kube.client.ApiClient;
import dev.sluice.kube.client.ApiOutcome;
import dev.sluice.kube.client.ApiRequest;
import dev.sluice.kube.client.Futures;
import dev.sluice.kube.controller.WorkQueue;
import dev.sluice.kube.controller.WorkQueueSettings;
import dev.sluice.kube.events.EventRecorder;
import dev.sluice.kube.events.ObjectReference;
import dev.sluice.kube.reflect.Reflector;
import dev.sluice.kube.reflect.Reflectors;
import dev.sluice.kube.reflect.TolerantDeserializers;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Deletes pods by force that can't end because their node is unreachable, if they allow it. The
 * phase of such a pod is set to Failed before, so that its job makes another one; a pod that ended
 * before its node was lost keeps its phase. See
 * docs/workload-lifecycle.md#pods-of-unreachable-nodes.
 */
public final class FailureRecoveryController implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(FailureRecoveryController.class);
  private static final String REASON = "KueueForcefullyDeleted";
  private static final String STRATEGIC_MERGE_PATCH = "application/strategic-merge-patch+json";
  private static final Duration AGAIN = Duration.ofSeconds(1);
  private static final Duration LATER = Duration.ofSeconds(30);

  /** Pods that are bound to a node; ended ones too, because the phase is set before a deletion. */
  private static final String PODS = "api/v1/pods?fieldSelector=spec.nodeName%21%3D";

  private static final String NODES = "api/v1/nodes";

  private final ApiClient requests;
  private final EventRecorder events;
  private final InstantSource clock;
  private final BooleanSupplier leading;
  private final TerminatingPodStore pods;
  private final UnreachableNodes nodes;
  private final ForcefulDeletionPolicy policy;
  private final WorkQueue<String> queue;

  /** Pods whose deletion was accepted, until they are gone: the watch may tell of it later. */
  private final Set<String> deleted = ConcurrentHashMap.newKeySet();

  private final Reflector<TerminatingPodStore.SeenPod> podReader;
  private final Reflector<UnreachableNodes.SeenNode> nodeReader;

  /**
   * What the controller reads and writes.
   *
   * @param reflectors read pods and nodes
   * @param requests writes pods
   * @param leading whether this process may write
   */
  public record Dependencies(
      Reflectors reflectors, ApiClient requests, EventRecorder events, BooleanSupplier leading) {}

  /** A controller that is not started. */
  public FailureRecoveryController(Dependencies dependencies, WorkQueueSettings settings) {
    requests = dependencies.requests();
    events = dependencies.events();
    clock = dependencies.reflectors().clock();
    leading = dependencies.leading();
    queue = new WorkQueue<>(this::reconcile, settings);
    pods = new TerminatingPodStore(queue::enqueue);
    nodes = new UnreachableNodes(this::nodeLost);
    policy = new ForcefulDeletionPolicy(clock, nodes::contains);
    podReader = dependencies.reflectors().of("terminating-pods", PODS, pods);
    nodeReader = dependencies.reflectors().of("unreachable-nodes", NODES, nodes);
  }

  private void nodeLost(String node) {
    pods.of(node).forEach(queue::enqueue);
  }

  /** Starts reading; completes when pods and nodes are listed. */
  public CompletableFuture<Void> start() {
    return nodeReader.start().thenCompose(any -> podReader.start());
  }

  /** This process may write from now on: looks at all pods. */
  public void leadershipStarted() {
    pods.all().forEach(queue::enqueue);
  }

  /** Stops writing; returns when writes in flight have ended, or after a limited time. */
  public void stop() {
    queue.close();
  }

  @Override
  public void close() {
    queue.close();
    podReader.close();
    nodeReader.close();
  }

  private Optional<Duration> reconcile(String uid) throws InterruptedException {
    Optional<TerminatingPod> found = pods.find(uid);
    if (found.isEmpty()) {
      deleted.remove(uid);
      return Optional.empty();
    }
    if (!leading.getAsBoolean() || deleted.contains(uid)) {
      return Optional.empty();
    }
    TerminatingPod pod = found.get();
    return switch (policy.of(pod)) {
      case ForcefulDeletionPolicy.Decision.Ignore ignore -> Optional.empty();
      case ForcefulDeletionPolicy.Decision.Wait wait -> Optional.of(wait.delay());
      case ForcefulDeletionPolicy.Decision.Fail fail -> fail(pod);
      case ForcefulDeletionPolicy.Decision.Delete delete -> delete(pod);
    };
  }

  private Optional<Duration> fail(TerminatingPod pod) throws InterruptedException {
    ApiRequest request =
        new ApiRequest(
            "PATCH", path(pod) + "/status", STRATEGIC_MERGE_PATCH, failed(pod).toString());
    ApiOutcome outcome = Futures.forResult(requests.send(request));
    return outcome instanceof ApiOutcome.Written ? delete(pod) : undone(pod, outcome);
  }

  private Optional<Duration> delete(TerminatingPod pod) throws InterruptedException {
    ApiOutcome outcome =
        Futures.forResult(requests.send(ApiRequest.deleteAtOnce(path(pod), pod.uid())));
    if (!(outcome instanceof ApiOutcome.Written)) {
      return undone(pod, outcome);
    }
    deleted.add(pod.uid());
    LOG.info(
        "pod={}/{} deleted=true forcefully=true node={}", pod.namespace(), pod.name(), pod.node());
    events.record(
        new ObjectReference("v1", "Pod", pod.namespace(), pod.name(), pod.uid()),
        EventRecorder.Type.WARNING,
        REASON,
        "Termination",
        message(pod));
    return Optional.empty();
  }

  /** The delay after which a write is tried again that was not carried out. */
  private static Optional<Duration> undone(TerminatingPod pod, ApiOutcome outcome) {
    return switch (outcome) {
      case ApiOutcome.Written written -> Optional.empty();
      case ApiOutcome.Gone gone -> Optional.empty();
      case ApiOutcome.Conflict conflict -> Optional.of(AGAIN);
      case ApiOutcome.Refused refused -> {
        LOG.warn(
            "pod={}/{} deleted=false forcefully=true code={} reason=\"{}\"",
            pod.namespace(),
            pod.name(),
            refused.code(),
            refused.message());
        yield Optional.of(LATER);
      }
      case ApiOutcome.Unreachable unreachable -> throw unreachable.exception();
    };
  }

  private ObjectNode failed(TerminatingPod pod) {
    ObjectNode patch = JsonNodeFactory.instance.objectNode();
    patch.putObject("metadata").put("resourceVersion", pod.version()).put("uid", pod.uid());
    patch
        .putObject("status")
        .put("phase", "Failed")
        .putArray("conditions")
        .addObject()
        .put("type", TerminatingPodStore.CONDITION)
        .put("status", "True")
        .put("reason", REASON)
        .put("message", message(pod))
        .put("lastTransitionTime", clock.instant().truncatedTo(ChronoUnit.SECONDS).toString());
    return patch;
  }

  private static String message(TerminatingPod pod) {
    if (pod.ended() && !pod.forced()) {
      return "The pod ended, but was not removed in time because its node "
          + pod.node()
          + " is unreachable";
    }
    return "The pod did not end in time because its node " + pod.node() + " is unreachable";
  }

  private static String path(TerminatingPod pod) {
    return "/api/v1/namespaces/%s/pods/%s".formatted(pod.namespace(), pod.name());
  }

  /**
   * The names of the nodes that have the taint of unreachable nodes, which the cluster's node
   * controller sets. Readable from any thread.
   */
  static final class UnreachableNodes implements Reflector.Sink<UnreachableNodes.SeenNode> {

    static final String TAINT = "node.kubernetes.io/unreachable";

    private final ObjectMapper mapper = new ObjectMapper(TolerantDeserializers.json());
    private final Consumer<String> listener;
    private final Set<String> names = ConcurrentHashMap.newKeySet();
    private final Set<String> listed = new HashSet<>();

    /** A node in the watch. */
    record SeenNode(String name, boolean unreachable) {}

    /**
     * No nodes.
     *
     * @param listener is given the name of each node that became unreachable
     */
    UnreachableNodes(Consumer<String> listener) {
      this.listener = listener;
    }

    /** Whether the node of this name exists and has the taint. */
    boolean contains(String node) {
      return names.contains(node);
    }

    @Override
    public SeenNode parse(byte[] bytes, int offset, int length) throws IOException {
      JsonNode node = mapper.readTree(bytes, offset, length);
      boolean unreachable = false;
      for (JsonNode taint : node.path("spec").path("taints")) {
        unreachable |= taint.path("key").asText().equals(TAINT);
      }
      return new SeenNode(node.path("metadata").path("name").asText(), unreachable);
    }

    @Override
    public void listingBegins() {
      listed.clear();
    }

    @Override
    public void seen(SeenNode node) {
      if (!node.unreachable()) {
        names.remove(node.name());
        return;
      }
      listed.add(node.name());
      if (names.add(node.name())) {
        listener.accept(node.name());
      }
    }

    @Override
    public void deleted(SeenNode last) {
      names.remove(last.name());
    }

    @Override
    public void listingEnds() {
      names.retainAll(listed);
      listed.clear();
    }
  }

  /**
   * Decides which pods are deleted by force: those that should have ended a minute ago, and whose
   * node is unreachable. See docs/workload-lifecycle.md#pods-of-unreachable-nodes.
   */
  static final class ForcefulDeletionPolicy {

    /** How long the node may take to say that a pod has ended, once its grace period is over. */
    static final Duration PATIENCE = Duration.ofMinutes(1);

    private final InstantSource clock;
    private final Predicate<String> unreachable;

    /** What is done with a pod. */
    sealed interface Decision {

      /** Nothing, until the pod or its node changes. */
      record Ignore() implements Decision {}

      /** Nothing for so long. */
      record Wait(Duration delay) implements Decision {}

      /** Its phase is set to Failed, and then it is deleted. */
      record Fail() implements Decision {}

      /** It is deleted; it ended by itself, or its phase was set before. */
      record Delete() implements Decision {}
    }

    /**
     * A policy by this clock.
     *
     * @param unreachable whether a node exists and has the taint of unreachable nodes
     */
    ForcefulDeletionPolicy(InstantSource clock, Predicate<String> unreachable) {
      this.clock = clock;
      this.unreachable = unreachable;
    }

    /** The decision about a pod. */
    Decision of(TerminatingPod pod) {
      if ((pod.forced() || pod.ended()) && pod.gracePeriod().isZero()) {
        // The deletion by force was accepted; finalizers may follow.
        return new Decision.Ignore();
      }
      if (pod.forced()) {
        return new Decision.Delete();
      }
      if (!unreachable.test(pod.node())) {
        return new Decision.Ignore();
      }
      Instant due = pod.deletionTime().plus(PATIENCE);
      Duration left = Duration.between(clock.instant(), due);
      if (left.isPositive()) {
        return new Decision.Wait(left);
      }
      return pod.ended() ? new Decision.Delete() : new Decision.Fail();
    }
  }

  /**
   * The pods that are being deleted and may be deleted by force. All other pods are seen, and not
   * kept. Readable from any thread.
   */
  private static final class TerminatingPodStore
      implements Reflector.Sink<TerminatingPodStore.SeenPod> {

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
     * @param listener is given the UID of each kept pod that came, changed or went, after the
     *     change
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

  /**
   * A pod that may be deleted by force and is being deleted.
   *
   * @param version its resource version
   * @param node the node that it is bound to; empty while it is bound to none
   * @param deletionTime its {@code deletionTimestamp}: when its grace period is over
   * @param gracePeriod its {@code deletionGracePeriodSeconds}
   * @param ended whether its phase is Succeeded or Failed
   * @param forced whether it has the condition that the operator sets before it deletes the pod
   */
  record TerminatingPod(
      String namespace,
      String name,
      String uid,
      String version,
      String node,
      Instant deletionTime,
      Duration gracePeriod,
      boolean ended,
      boolean forced) {}
}
