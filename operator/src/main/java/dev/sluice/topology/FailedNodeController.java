package dev.sluice.topology;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.core.model.Toleration;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.kube.client.ApiClient;
import dev.sluice.kube.client.ApiOutcome;
import dev.sluice.kube.client.ApiRequest;
import dev.sluice.kube.client.Futures;
import dev.sluice.kube.controller.WorkQueue;
import dev.sluice.kube.controller.WorkQueueSettings;
import dev.sluice.kube.events.EventRecorder;
import dev.sluice.kube.events.ObjectReference;
import dev.sluice.topology.TopologyUngater.PodOwners;
import dev.sluice.workload.lifecycle.LifecycleAction;
import dev.sluice.workload.lifecycle.WorkloadLifecycle.LifecycleEvents;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.WorkloadListener;
import dev.sluice.workload.record.WorkloadLister;
import dev.sluice.workload.status.StatusPatch.NodeFailures;
import dev.sluice.workload.status.Variants;
import dev.sluice.workload.writing.WorkloadWriter;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes which nodes of an assignment have failed into the status of its Workload, and evicts a
 * Workload that lost several.
 */
public final class FailedNodeController implements WorkloadListener, AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(FailedNodeController.class);
  private static final Duration AGAIN = Duration.ofSeconds(1);

  /** What refuses, such as a policy, may change without an event of the pod or Workload. */
  private static final Duration AFTER_REFUSAL = Duration.ofSeconds(30);

  /** Pods that will have ended by then take no room: who waits for them will be bound. */
  private static final Duration SOON_GONE = Duration.ofSeconds(60);

  private final Dependencies dependencies;
  private final FailedNodePolicy policy;
  private final BooleanSupplier active;
  private final StrandedPods strandedPods;
  private final WorkQueue<PodStore.Key> queue;
  private final WorkloadsByNode byNode = new WorkloadsByNode();
  private final PodOwners owners;

  /** Pods of these names were found without an admission when they were looked at last. */
  private final Set<PodStore.Key> unadmitted = ConcurrentHashMap.newKeySet();

  /**
   * What the controller reads and writes.
   *
   * @param flavorTolerations the tolerations that a flavor adds to pods
   * @param events records evictions
   * @param client writes the status of pods
   * @param podEvents records events of pods
   */
  public record Dependencies(
      WorkloadLister workloads,
      NodeStore nodes,
      PodStore pods,
      WorkloadWriter writer,
      Function<String, List<Toleration>> flavorTolerations,
      LifecycleEvents events,
      ApiClient client,
      EventRecorder podEvents,
      InstantSource clock) {}

  /**
   * A controller that waits for keys.
   *
   * @param active whether this process may write, and Workloads, pods and nodes are listed
   */
  public FailedNodeController(
      Dependencies dependencies,
      FailedNodePolicy policy,
      WorkQueueSettings settings,
      BooleanSupplier active) {
    this.dependencies = dependencies;
    this.policy = policy;
    this.active = active;
    this.strandedPods = new StrandedPods(dependencies.client(), dependencies.podEvents());
    this.owners = new PodOwners(dependencies.workloads());
    this.queue = new WorkQueue<>(this::reconcile, settings);
  }

  @Override
  public void changed(@Nullable CachedWorkload before, @Nullable CachedWorkload after) {
    byNode.changed(before, after);
    owners.changed(before, after);
    if (after != null) {
      enqueue(after);
    }
  }

  private void enqueue(CachedWorkload workload) {
    if (TopologyAssignments.isPlaced(workload)
        || !dependencies.pods().of(PodOwners.keyOf(workload)).isEmpty()) {
      queue.enqueue(new PodStore.Key(workload.id().namespace(), workload.id().name()));
    }
  }

  /** A pod of this Workload changed. */
  public void podChanged(PodStore.Key workload) {
    owners.of(workload).forEach(this::enqueue);
  }

  /** A node changed, appeared or disappeared: reconciles the Workloads that are assigned to it. */
  public void nodeChanged(@Nullable NodeState before, @Nullable NodeState after) {
    Stream.of(Optional.ofNullable(before), Optional.ofNullable(after))
        .flatMap(Optional::stream)
        .map(state -> state.node().hostname())
        .distinct()
        .forEach(hostname -> byNode.of(hostname).forEach(queue::enqueue));
  }

  /** Reconciles all Workloads with an assignment. */
  public void enqueueAll() {
    dependencies.workloads().all().forEach(this::enqueue);
  }

  @Override
  public void close() {
    queue.close();
  }

  private Optional<Duration> reconcile(PodStore.Key key) throws InterruptedException {
    Optional<CachedWorkload> found = dependencies.workloads().get(key.namespace(), key.workload());
    if (!active.getAsBoolean() || found.isEmpty()) {
      return Optional.empty();
    }
    CachedWorkload workload = found.get();
    if (Variants.isVariant(workload)) {
      // Its pods are those of its parent, and so are the nodes that fail.
      return Optional.empty();
    }
    PodStore.Key ofPods = PodOwners.keyOf(workload);
    if (!mayRun(workload)) {
      return endUnadmitted(ofPods);
    }
    unadmitted.remove(ofPods);
    if (owners.running(ofPods).filter(running -> running.id().equals(workload.id())).isEmpty()) {
      // Another slice has taken its place, and its pods.
      return Optional.empty();
    }
    Instant now = dependencies.clock().instant();
    Map<String, Map<String, Long>> requested = new HashMap<>();
    FailedNodePolicy.NodeContext context =
        new FailedNodePolicy.NodeContext(
            dependencies.nodes()::findHost,
            dependencies.pods().of(ofPods),
            assignment -> tolerations(workload, assignment),
            (node, pod) ->
                hasRoom(
                    node,
                    requested.computeIfAbsent(
                        node.node().name(),
                        name -> dependencies.pods().requestedOn(name, now.plus(SOON_GONE))),
                    dependencies.pods().requestsOf(pod)),
            now);
    Optional<Duration> again =
        strandedPods.end(policy.stranded(workload, context), "has failed", now);
    FailedNodePolicy.NodeVerdict verdict = policy.of(workload, context);
    if (verdict.evicted().isPresent()) {
      return WorkQueue.earliest(again, evict(workload, verdict.evicted().get()));
    }
    if (!verdict.unhealthy().equals(workload.status().unhealthyNodes())) {
      return WorkQueue.earliest(again, list(workload, verdict.unhealthy()));
    }
    return WorkQueue.earliest(again, verdict.lookAgainAt().map(at -> Duration.between(now, at)));
  }

  /**
   * Ends the pods that were sent to a node although no Workload of theirs has an admission. They
   * are looked at twice, because the watches of Workloads and of pods may be behind one another.
   */
  private Optional<Duration> endUnadmitted(PodStore.Key ofPods) throws InterruptedException {
    List<TopologyPod> sent = FailedNodePolicy.sent(dependencies.pods().of(ofPods));
    boolean admitted =
        owners.of(ofPods).stream().anyMatch(each -> each.status().admission().isPresent());
    if (sent.isEmpty() || admitted) {
      unadmitted.remove(ofPods);
      return Optional.empty();
    }
    if (unadmitted.add(ofPods)) {
      return Optional.of(AGAIN);
    }
    return strandedPods.end(
        sent,
        "is not assigned to its Workload, which has no admission",
        dependencies.clock().instant());
  }

  /** Whether a node has these amounts beside those that are requested of it. */
  private static boolean hasRoom(
      NodeState node, Map<String, Long> requested, Map<String, Long> more) {
    return more.entrySet().stream()
        .allMatch(
            each ->
                ResourceAmounts.add(each.getValue(), requested.getOrDefault(each.getKey(), 0L))
                    <= node.node().allocatable().getOrDefault(each.getKey(), 0L));
  }

  private static boolean mayRun(CachedWorkload workload) {
    return workload.admitted() && !workload.evicted() && !workload.finished();
  }

  /** The tolerations of the pod template, of the flavors, and of what checks add. */
  private List<Toleration> tolerations(
      CachedWorkload workload, CachedWorkload.Assignment assignment) {
    List<Toleration> result = new ArrayList<>();
    workload.spec().podSets().stream()
        .filter(podSet -> podSet.name().equals(assignment.name()))
        .forEach(podSet -> result.addAll(podSet.template().nodeConstraints().tolerations()));
    assignment
        .flavors()
        .values()
        .forEach(flavor -> result.addAll(dependencies.flavorTolerations().apply(flavor)));
    workload.status().admissionChecks().stream()
        .filter(check -> check.is(CachedWorkload.CheckState.READY))
        .flatMap(check -> check.podSetUpdates().stream())
        .filter(update -> update.name().equals(assignment.name()))
        .flatMap(update -> update.tolerations().stream())
        .forEach(
            each ->
                result.add(
                    new Toleration(
                        each.key(),
                        each.operator(),
                        each.value(),
                        each.effect(),
                        each.seconds().isPresent())));
    return result;
  }

  private Optional<Duration> list(CachedWorkload workload, List<String> unhealthy)
      throws InterruptedException {
    ObjectNode status = NodeFailures.list(JsonNodeFactory.instance.objectNode(), unhealthy);
    return write(
        workload,
        status,
        () -> LOG.info("workload={} unhealthyNodes={}", name(workload), unhealthy));
  }

  private Optional<Duration> evict(CachedWorkload workload, String message)
      throws InterruptedException {
    ObjectNode status = NodeFailures.evicted(workload, message, dependencies.clock().instant());
    return write(workload, status, () -> tellEvicted(workload, message));
  }

  private void tellEvicted(CachedWorkload workload, String message) {
    LOG.info(
        "workload={} evicted=true reason=\"{}: {}\"", name(workload), NodeFailures.REASON, message);
    dependencies
        .events()
        .record(
            workload.id(),
            new LifecycleAction.EventSpec(false, "EvictedDueTo" + NodeFailures.REASON, message));
  }

  /**
   * Writes the status of a Workload.
   *
   * @param written what is done when it stands
   * @return the delay after which to try again; empty if an event will follow
   */
  private Optional<Duration> write(CachedWorkload workload, ObjectNode status, Runnable written)
      throws InterruptedException {
    WorkloadWriter.Outcome outcome =
        Futures.forResult(
            dependencies
                .writer()
                .patchStatus(
                    workload.id(), workload.version(), status, WorkloadWriter.Urgency.DECISION));
    return switch (outcome) {
      case WorkloadWriter.Outcome.Written stands -> {
        written.run();
        yield Optional.empty();
      }
      case WorkloadWriter.Outcome.Gone gone -> Optional.empty();
      case WorkloadWriter.Outcome.Conflict conflict -> Optional.of(AGAIN);
      case WorkloadWriter.Outcome.Refused refused -> {
        LOG.warn(
            "workload={} written=false code={} reason=\"{}\"",
            name(workload),
            refused.code(),
            refused.message());
        yield Optional.of(AFTER_REFUSAL);
      }
    };
  }

  private static String name(CachedWorkload workload) {
    return workload.id().namespace() + "/" + workload.id().name();
  }

  /** The Workloads whose assignment names a node, by its hostname. Thread-safe. */
  static final class WorkloadsByNode {

    private final Map<String, Set<PodStore.Key>> byNode = new ConcurrentHashMap<>();

    /** A Workload was created, changed or deleted. */
    void changed(@Nullable CachedWorkload before, @Nullable CachedWorkload after) {
      Set<String> had = nodesOf(before);
      Set<String> has = nodesOf(after);
      if (after != null) {
        has.stream()
            .filter(node -> !had.contains(node))
            .forEach(
                node ->
                    byNode
                        .computeIfAbsent(node, any -> ConcurrentHashMap.newKeySet(1))
                        .add(keyOf(after.id())));
      }
      if (before != null) {
        had.stream()
            .filter(node -> !has.contains(node))
            .forEach(node -> remove(node, keyOf(before.id())));
      }
    }

    private void remove(String node, PodStore.Key key) {
      byNode.computeIfPresent(
          node,
          (same, keys) -> {
            keys.remove(key);
            return keys.isEmpty() ? null : keys;
          });
    }

    /** The Workloads that are assigned to a node. */
    List<PodStore.Key> of(String hostname) {
      return List.copyOf(byNode.getOrDefault(hostname, Set.of()));
    }

    private static PodStore.Key keyOf(WorkloadId id) {
      return new PodStore.Key(id.namespace(), id.name());
    }

    private static Set<String> nodesOf(@Nullable CachedWorkload workload) {
      Set<String> nodes = new HashSet<>();
      if (workload != null) {
        workload
            .assignments()
            .forEach(assignment -> nodes.addAll(FailedNodePolicy.nodesOf(assignment)));
      }
      return nodes;
    }
  }

  /**
   * Sets the phase of pods that wait for a node that they can't run on any more to Failed, so that
   * their job makes others (docs/topology.md#failed-nodes).
   */
  private static final class StrandedPods {

    private static final Logger LOG = LoggerFactory.getLogger(StrandedPods.class);
    private static final String STRATEGIC_MERGE_PATCH = "application/strategic-merge-patch+json";

    private final ApiClient client;
    private final EventRecorder events;

    StrandedPods(ApiClient client, EventRecorder events) {
      this.client = client;
      this.events = events;
    }

    /**
     * Ends pods.
     *
     * @param reason what is wrong with the nodes that they are assigned to, or their assignment
     * @return the delay after which to try again; empty if nothing is left to do
     */
    Optional<Duration> end(List<TopologyPod> pods, String reason, Instant now)
        throws InterruptedException {
      Optional<Duration> again = Optional.empty();
      for (TopologyPod pod : pods) {
        again = WorkQueue.earliest(again, end(pod, reason, now));
      }
      return again;
    }

    private Optional<Duration> end(TopologyPod pod, String reason, Instant now)
        throws InterruptedException {
      String node = pod.target();
      String message = "The node " + node + ", which the pod is assigned to, " + reason;
      String path = "/api/v1/namespaces/%s/pods/%s/status".formatted(pod.namespace(), pod.name());
      ApiOutcome outcome =
          Futures.forResult(
              client.send(
                  new ApiRequest(
                      "PATCH", path, STRATEGIC_MERGE_PATCH, patch(pod, message, now).toString())));
      return switch (outcome) {
        case ApiOutcome.Written written -> {
          LOG.info("pod={}/{} failed=true node={}", pod.namespace(), pod.name(), node);
          events.record(
              new ObjectReference("v1", "Pod", pod.namespace(), pod.name(), pod.uid()),
              EventRecorder.Type.NORMAL,
              "PodTerminatedByKueue",
              "Termination",
              message);
          yield Optional.empty();
        }
        case ApiOutcome.Gone gone -> Optional.empty();
        case ApiOutcome.Conflict conflict -> Optional.of(AGAIN);
        case ApiOutcome.Refused refused -> {
          LOG.warn(
              "pod={}/{} failed=false code={} reason=\"{}\"",
              pod.namespace(),
              pod.name(),
              refused.code(),
              refused.message());
          yield Optional.of(AFTER_REFUSAL);
        }
        case ApiOutcome.Unreachable unreachable ->
            throw new IllegalStateException(unreachable.exception());
      };
    }

    private static ObjectNode patch(TopologyPod pod, String message, Instant now) {
      ObjectNode patch = JsonNodeFactory.instance.objectNode();
      patch.putObject("metadata").put("resourceVersion", pod.version()).put("uid", pod.uid());
      ObjectNode status = patch.putObject("status").put("phase", "Failed");
      status
          .putArray("conditions")
          .addObject()
          .put("type", "TerminatedByKueue")
          .put("status", "True")
          .put("reason", "UnschedulableOnAssignedNode")
          .put("message", message)
          .put("lastTransitionTime", now.truncatedTo(ChronoUnit.SECONDS).toString());
      return patch;
    }
  }
}
