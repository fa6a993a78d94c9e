package dev.sluice.topology;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.KueueConstants;
import dev.sluice.core.model.TopologyAssignment;
import dev.sluice.kube.client.ApiClient;
import dev.sluice.kube.client.ApiOutcome;
import dev.sluice.kube.client.ApiRequest;
import dev.sluice.kube.client.Futures;
import dev.sluice.kube.controller.WorkQueue;
import dev.sluice.kube.controller.WorkQueueSettings;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.WorkloadListener;
import dev.sluice.workload.record.WorkloadLister;
import dev.sluice.workload.status.StatusPatch.AdmissionPatches;
import dev.sluice.workload.writing.WorkloadWriter;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.function.BiConsumer;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Gives the gated pods of admitted Workloads their domains: one patch per pod sets the node
 * selector and removes the gate (docs/topology.md#pods-of-an-assignment).
 */
public final class TopologyUngater implements WorkloadListener, AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(TopologyUngater.class);
  private static final Duration AFTER_CONFLICT = Duration.ofSeconds(1);
  private static final Duration AFTER_REFUSAL = Duration.ofSeconds(30);

  private final WorkloadLister workloads;
  private final PodOwners owners;
  private final PodStore pods;
  private final ApiClient client;
  private final WorkloadWriter writer;
  private final InstantSource clock;
  private final RefusedPods refused;
  private final BooleanSupplier active;
  private final BiConsumer<CachedWorkload, String> ungated;
  private final WorkQueue<PodStore.Key> queue;

  /**
   * Pods whose patch was written, by Workload and UID, until the store has them without the gate.
   * The pods of one key are used by the worker that handles the key.
   */
  private final Map<PodStore.Key, Map<String, TopologyPod>> written = new ConcurrentHashMap<>();

  /** The versions of Workloads whose places were truncated, until the cache has them. */
  private final Map<PodStore.Key, Long> truncated = new ConcurrentHashMap<>();

  /**
   * An ungater that waits for keys.
   *
   * @param client writes pods
   * @param writer writes the places of Workloads that shrank
   * @param active whether this process may write, and Workloads and pods are listed
   * @param ungated called with the Workload and the gate's name after a gate was removed from a pod
   */
  public TopologyUngater(
      WorkloadLister workloads,
      PodStore pods,
      ApiClient client,
      WorkloadWriter writer,
      WorkQueueSettings settings,
      InstantSource clock,
      BooleanSupplier active,
      BiConsumer<CachedWorkload, String> ungated) {
    this.workloads = workloads;
    this.pods = pods;
    this.client = client;
    this.writer = writer;
    this.owners = new PodOwners(workloads);
    this.clock = clock;
    this.refused = new RefusedPods(clock);
    this.active = active;
    this.ungated = ungated;
    this.queue = new WorkQueue<>(this::reconcile, settings);
  }

  @Override
  public void changed(@Nullable CachedWorkload before, @Nullable CachedWorkload after) {
    owners.changed(before, after);
    if (after != null) {
      enqueue(after);
    }
  }

  private void enqueue(CachedWorkload workload) {
    if (TopologyAssignments.isPlaced(workload)) {
      queue.enqueue(PodOwners.keyOf(workload));
    }
  }

  /** A pod of this Workload changed. */
  public void podChanged(PodStore.Key workload) {
    queue.enqueue(workload);
  }

  /** Reconciles all Workloads with an assignment: what was not done before may be done now. */
  public void enqueueAll() {
    workloads.all().forEach(this::enqueue);
  }

  @Override
  public void close() {
    queue.close();
  }

  private Optional<Duration> reconcile(PodStore.Key key) throws InterruptedException {
    List<TopologyPod> known = current(key);
    if (!active.getAsBoolean()) {
      return Optional.empty();
    }
    refused.retain(key, known);
    Optional<CachedWorkload> running = owners.running(key);
    if (running.isEmpty()) {
      truncated.remove(key);
      return Optional.empty();
    }
    CachedWorkload workload = running.get();
    if (workload.version() < truncated.getOrDefault(key, 0L)) {
      return Optional.empty();
    }
    truncated.remove(key);
    List<PodPlacement.Placed> placed = new ArrayList<>();
    if (known.stream().anyMatch(TopologyPod::gated)) {
      workload.assignments().forEach(each -> placed.addAll(placed(workload, each, known)));
    }
    Instant now = clock.instant();
    placed.removeIf(each -> refused.holds(each.pod(), now));
    Optional<Duration> again = write(workload, placed);
    Optional<Duration> afterTruncation = truncate(key, workload, known);
    return Stream.of(again, afterTruncation, refused.next(key, now))
        .flatMap(Optional::stream)
        .min(Comparator.naturalOrder());
  }

  /**
   * Gives back the places that a pod set doesn't need any more since its elastic job has shrunk.
   * Only whoever places pods can tell which ones those are.
   */
  private Optional<Duration> truncate(
      PodStore.Key key, CachedWorkload workload, List<TopologyPod> known)
      throws InterruptedException {
    Map<String, TopologyAssignment> left = TopologyAssignments.truncated(workload, known);
    if (left.isEmpty()) {
      return Optional.empty();
    }
    WorkloadWriter.Outcome outcome =
        Futures.forResult(
            writer.patchStatus(
                workload.id(),
                workload.version(),
                AdmissionPatches.placed(workload, left),
                WorkloadWriter.Urgency.DECISION));
    return switch (outcome) {
      case WorkloadWriter.Outcome.Written(var version) -> {
        truncated.put(key, version);
        LOG.info("workload={} truncated={}", workload.id(), left.keySet());
        yield Optional.empty();
      }
      case WorkloadWriter.Outcome.Gone gone -> Optional.empty();
      case WorkloadWriter.Outcome.Conflict conflict -> Optional.of(AFTER_CONFLICT);
      case WorkloadWriter.Outcome.Refused refusal -> {
        LOG.warn(
            "workload={} truncated=none code={} reason=\"{}\"",
            workload.id(),
            refusal.code(),
            refusal.message());
        yield Optional.of(AFTER_REFUSAL);
      }
    };
  }

  /** The pods as they are, with what was written to them since. */
  private List<TopologyPod> current(PodStore.Key key) {
    Map<String, TopologyPod> before = written.getOrDefault(key, Map.of());
    Map<String, TopologyPod> still = new HashMap<>();
    List<TopologyPod> result = new ArrayList<>();
    for (TopologyPod pod : pods.of(key)) {
      TopologyPod after = pod.gated() ? before.get(pod.uid()) : null;
      if (after != null) {
        still.put(pod.uid(), after);
      }
      result.add(after == null ? pod : after);
    }
    if (still.isEmpty()) {
      written.remove(key);
    } else {
      written.put(key, still);
    }
    return result;
  }

  private static List<PodPlacement.Placed> placed(
      CachedWorkload workload, CachedWorkload.Assignment assignment, List<TopologyPod> known) {
    return assignment
        .topology()
        .map(
            domains ->
                PodPlacement.of(
                    domains,
                    TopologyAssignments.ranking(workload, assignment),
                    Set.copyOf(workload.status().unhealthyNodes()),
                    known.stream().filter(pod -> pod.podSet().equals(assignment.name())).toList()))
        .orElse(List.of());
  }

  private Optional<Duration> write(CachedWorkload workload, List<PodPlacement.Placed> placed)
      throws InterruptedException {
    Map<PodPlacement.Placed, CompletableFuture<ApiOutcome>> answers = new HashMap<>();
    placed.forEach(
        each -> {
          String path =
              "/api/v1/namespaces/%s/pods/%s".formatted(each.pod().namespace(), each.pod().name());
          answers.put(each, client.send(ApiRequest.patch(path, patch(each))));
        });
    Optional<Duration> again = Optional.empty();
    RuntimeException failure = null;
    for (Map.Entry<PodPlacement.Placed, CompletableFuture<ApiOutcome>> each : answers.entrySet()) {
      try {
        Optional<Duration> delay = outcome(workload, each.getKey(), each.getValue().get());
        again = delay.isPresent() ? delay : again;
      } catch (ExecutionException e) {
        failure = new IllegalStateException(e.getCause());
      } catch (IllegalStateException e) {
        failure = e;
      }
    }
    if (failure != null) {
      throw failure;
    }
    return again;
  }

  private Optional<Duration> outcome(
      CachedWorkload workload, PodPlacement.Placed placed, ApiOutcome outcome) {
    TopologyPod pod = placed.pod();
    return switch (outcome) {
      case ApiOutcome.Written done -> {
        note(placed);
        ungated.accept(workload, KueueConstants.TOPOLOGY_GATE);
        yield Optional.empty();
      }
      case ApiOutcome.Gone gone -> Optional.empty();
      case ApiOutcome.Conflict conflict -> Optional.of(AFTER_CONFLICT);
      case ApiOutcome.Refused refusal -> {
        LOG.warn(
            "pod={}/{} ungated=false code={} reason=\"{}\"",
            pod.namespace(),
            pod.name(),
            refusal.code(),
            refusal.message());
        refused.refused(pod);
        yield Optional.empty();
      }
      case ApiOutcome.Unreachable unreachable ->
          throw new IllegalStateException(unreachable.exception());
    };
  }

  private void note(PodPlacement.Placed placed) {
    TopologyPod pod = placed.pod();
    written
        .computeIfAbsent(PodStore.Key.of(pod), any -> new HashMap<>())
        .put(pod.uid(), pod.ungated(placed.nodeSelector()));
    LOG.info(
        "pod={}/{} ungated=true workload={} domain={}",
        pod.namespace(),
        pod.name(),
        pod.workload(),
        placed.nodeSelector());
  }

  private static ObjectNode patch(PodPlacement.Placed placed) {
    ObjectNode patch = JsonNodeFactory.instance.objectNode();
    patch.putObject("metadata").put("resourceVersion", placed.pod().version());
    ObjectNode spec = patch.putObject("spec");
    ObjectNode selector = spec.putObject("nodeSelector");
    placed.nodeSelector().forEach(selector::put);
    ArrayNode gates = spec.putArray("schedulingGates");
    placed.pod().gates().stream()
        .filter(gate -> !gate.equals(KueueConstants.TOPOLOGY_GATE))
        .forEach(gate -> gates.addObject().put("name", gate));
    return patch;
  }

  /**
   * Pods whose patch the API server refused. The refusal holds until the pod changes, or until a
   * pause ends that doubles each time: what refuses, such as a webhook, may change without the pod.
   * The pods of one key are used by the worker that handles the key.
   */
  private static final class RefusedPods {

    private static final Duration FIRST_PAUSE = Duration.ofSeconds(30);
    private static final Duration LONGEST_PAUSE = Duration.ofMinutes(10);

    private record Refusal(String version, Instant until, Duration pause) {}

    private final InstantSource clock;
    private final Map<PodStore.Key, Map<String, Refusal>> refusals = new ConcurrentHashMap<>();

    RefusedPods(InstantSource clock) {
      this.clock = clock;
    }

    /** Records that the patch of a pod was refused. */
    void refused(TopologyPod pod) {
      refusals
          .computeIfAbsent(PodStore.Key.of(pod), any -> new ConcurrentHashMap<>())
          .compute(
              pod.uid(),
              (uid, before) -> {
                boolean again = before != null && before.version.equals(pod.version());
                Duration twice = again ? before.pause.multipliedBy(2) : FIRST_PAUSE;
                Duration pause = twice.compareTo(LONGEST_PAUSE) > 0 ? LONGEST_PAUSE : twice;
                return new Refusal(pod.version(), clock.instant().plus(pause), pause);
              });
    }

    /** Whether a refusal of the pod, as it is, holds. */
    boolean holds(TopologyPod pod, Instant now) {
      Refusal refusal = refusals.getOrDefault(PodStore.Key.of(pod), Map.of()).get(pod.uid());
      return refusal != null
          && refusal.version.equals(pod.version())
          && now.isBefore(refusal.until);
    }

    /**
     * The time until the next pod of a Workload can be asked for again; empty if no refusal holds.
     * A pod whose pause is over and that has no place is asked for when it gets one.
     */
    Optional<Duration> next(PodStore.Key workload, Instant now) {
      return refusals.getOrDefault(workload, Map.of()).values().stream()
          .map(Refusal::until)
          .filter(now::isBefore)
          .min(Comparator.naturalOrder())
          .map(until -> Duration.between(now, until));
    }

    /** Forgets the refusals of pods that aren't among these any more, or have no gate. */
    void retain(PodStore.Key workload, Collection<TopologyPod> pods) {
      refusals.computeIfPresent(
          workload,
          (key, known) -> {
            Set<String> gated =
                pods.stream()
                    .filter(TopologyPod::gated)
                    .map(TopologyPod::uid)
                    .collect(Collectors.toSet());
            known.keySet().retainAll(gated);
            return known.isEmpty() ? null : known;
          });
    }
  }

  /**
   * The Workloads by the name that their pods know: their own one, or that of the first slice of an
   * elastic job, whose pods outlive their slice. Thread-safe.
   */
  static final class PodOwners {

    private final WorkloadLister workloads;

    /** The names of slices that are not the first one of their job. */
    private final Map<PodStore.Key, Set<String>> laterSlices = new ConcurrentHashMap<>();

    PodOwners(WorkloadLister workloads) {
      this.workloads = workloads;
    }

    /** The name that the pods of a Workload know. */
    static PodStore.Key keyOf(CachedWorkload workload) {
      String name = workload.elastic() ? workload.sliceName() : workload.id().name();
      return new PodStore.Key(workload.id().namespace(), name);
    }

    /** A Workload was created, changed or deleted. */
    void changed(@Nullable CachedWorkload before, @Nullable CachedWorkload after) {
      if (after != null && isLater(after)) {
        laterSlices
            .computeIfAbsent(keyOf(after), any -> ConcurrentHashMap.newKeySet(1))
            .add(after.id().name());
      }
      if (before != null
          && isLater(before)
          && (after == null || !keyOf(after).equals(keyOf(before)))) {
        laterSlices.computeIfPresent(
            keyOf(before),
            (key, names) -> {
              names.remove(before.id().name());
              return names.isEmpty() ? null : names;
            });
      }
    }

    private static boolean isLater(CachedWorkload workload) {
      return !keyOf(workload).workload().equals(workload.id().name());
    }

    /** All Workloads that pods may belong to. */
    List<CachedWorkload> of(PodStore.Key key) {
      List<String> names = new ArrayList<>(laterSlices.getOrDefault(key, Set.of()));
      names.add(key.workload());
      return names.stream()
          .flatMap(name -> workloads.get(key.namespace(), name).stream())
          .filter(workload -> keyOf(workload).equals(key))
          .toList();
    }

    /**
     * The admitted Workload that pods belong to: of several slices, the one that replaced the
     * others.
     */
    Optional<CachedWorkload> running(PodStore.Key key) {
      List<CachedWorkload> running =
          of(key).stream()
              .filter(each -> each.admitted() && !each.evicted() && !each.finished())
              .toList();
      return running.stream()
          .filter(
              each ->
                  running.stream()
                      .noneMatch(other -> other.replacedSlice().equals(each.id().name())))
          .max(
              Comparator.comparing(CachedWorkload::createdAt)
                  .thenComparing(each -> each.id().name()));
    }
  }
}
