package dev.sluice.kubequeue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.json.JsonFields;
import dev.sluice.api.v1beta2.ClusterQueue;
import dev.sluice.api.v1beta2.LocalQueue;
import dev.sluice.jobs.controller.IntegrationRegistry;
import dev.sluice.jobs.kind.ObjectKey;
import dev.sluice.jobs.policy.CachedJob;
import dev.sluice.kube.client.ApiClient;
import dev.sluice.kube.client.ApiOutcome;
import dev.sluice.kube.client.ApiRequest;
import dev.sluice.kube.client.Futures;
import dev.sluice.kube.controller.WorkQueue;
import dev.sluice.kube.controller.WorkQueueSettings;
import dev.sluice.kube.events.EventRecorder;
import dev.sluice.kube.events.ObjectReference;
import dev.sluice.queues.cache.InformerCaches;
import dev.sluice.queues.mapping.UnsupportedFields;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.WorkloadListener;
import dev.sluice.workload.record.WorkloadLister;
import dev.sluice.workload.writing.WorkloadWriter;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps a QueueUnit for the Workload of each job in a queue that was made from a quota. A unit is
 * written after its Workload, and never ahead of it; changes that come while it is written are
 * written together. A unit that others changed is written again, but for the fields by which people
 * steer ({@link UnitEdit}): these go to the Workload first. A unit of the same name that isn't ours
 * is left alone; ours has another name then.
 */
public final class QueueUnitMirror implements WorkloadListener, AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(QueueUnitMirror.class);
  private static final String APPLY = "application/apply-patch+yaml";
  private static final Duration SOON = Duration.ofSeconds(1);
  private static final Duration LATER = Duration.ofSeconds(30);

  /** Why slices of elastic jobs are finished whose jobs go on. */
  private static final Set<String> ENDS_OF_SLICES = Set.of("WorkloadSliceReplaced", "OutOfSync");

  private final Dependencies dependencies;
  private final WorkQueue<ObjectKey> queue;

  /** What was last written, by unit. */
  private final Map<ObjectKey, WrittenUnit> written = new ConcurrentHashMap<>();

  /** The units that name a Workload, by Workload. */
  private final Map<ObjectKey, String> units = new ConcurrentHashMap<>();

  /** Whether the status is written with the unit: the definition has no status subresource. */
  private volatile boolean whole;

  /** A unit as it was written, and the version that the write led to. */
  private record WrittenUnit(QueueUnitManifest manifest, long version) {}

  /**
   * What a mirror reads and writes.
   *
   * @param leading whether this process may write, at the moment of asking
   */
  public record Dependencies(
      WorkloadLister workloads,
      WorkloadWriter writer,
      InformerCaches caches,
      IntegrationRegistry jobs,
      ApiClient client,
      EventRecorder events,
      WorkQueueSettings queue,
      BooleanSupplier leading) {}

  /** A mirror that writes nothing before {@link #enqueueAll}, or a change. */
  public QueueUnitMirror(Dependencies dependencies) {
    this.dependencies = dependencies;
    this.queue = new WorkQueue<>(this::reconcile, dependencies.queue());
    dependencies.jobs().observe(this::jobChanged);
  }

  /** Looks at all Workloads. */
  public void enqueueAll() {
    dependencies.workloads().all().forEach(workload -> queue.enqueue(key(workload)));
  }

  private static ObjectKey key(CachedWorkload workload) {
    return new ObjectKey(workload.id().namespace(), workload.id().name());
  }

  @Override
  public void synced() {
    enqueueAll();
  }

  @Override
  public void changed(@Nullable CachedWorkload before, @Nullable CachedWorkload after) {
    CachedWorkload workload = Objects.requireNonNull(after == null ? before : after);
    queue.enqueue(key(workload));
    if (workload.elastic()) {
      slices(workload).forEach(slice -> queue.enqueue(key(slice)));
    }
  }

  private List<CachedWorkload> slices(CachedWorkload workload) {
    return workload.owner().stream()
        .flatMap(owner -> dependencies.workloads().ownedBy(owner.uid()).stream())
        .filter(it -> !it.deleting())
        .toList();
  }

  /**
   * Whether a Workload is the one by which its job is shown. Of the slices of an elastic job that
   * is the one that holds quota, until its replacement does.
   */
  private boolean isShown(CachedWorkload workload) {
    List<CachedWorkload> others =
        slices(workload).stream().filter(it -> !it.id().equals(workload.id())).toList();
    return workload.finished()
        ? others.isEmpty()
            || (!endedBeforeJob(workload) && others.stream().allMatch(CachedWorkload::finished))
        : others.stream()
            .noneMatch(it -> !it.finished() && it.id().name().equals(workload.replacedSlice()));
  }

  private static boolean endedBeforeJob(CachedWorkload workload) {
    return workload
        .status()
        .condition("Finished")
        .filter(end -> ENDS_OF_SLICES.contains(end.reason()))
        .isPresent();
  }

  private void jobChanged(@Nullable CachedJob before, @Nullable CachedJob after) {
    CachedJob job = Objects.requireNonNull(after == null ? before : after);
    if (job.ref().kind().equals(ForeignQueueUnit.KIND)) {
      String workload = job.annotations().getOrDefault(QueueUnits.WORKLOAD, "");
      if (isMirror(job) && !workload.isEmpty()) {
        ObjectKey key = new ObjectKey(job.ref().namespace(), workload);
        if (after != null) {
          units.put(key, job.ref().name());
        }
        queue.enqueue(key);
      }
    } else if (before == null
        || after == null
        || before.state().podsReady() != after.state().podsReady()
        || !before.labels().equals(after.labels())) {
      dependencies
          .workloads()
          .ownedBy(job.ref().uid())
          .forEach(workload -> queue.enqueue(key(workload)));
    }
  }

  private static boolean isMirror(CachedJob unit) {
    return unit.labels().getOrDefault(QueueUnits.MIRROR, "").equals("true");
  }

  private Optional<Duration> reconcile(ObjectKey key) throws InterruptedException {
    if (!dependencies.leading().getAsBoolean()) {
      return Optional.empty();
    }
    Optional<CachedWorkload> workload =
        dependencies.workloads().get(key.namespace(), key.name()).filter(it -> !it.deleting());
    Optional<CachedWorkload.Owner> owner =
        workload
            .flatMap(CachedWorkload::owner)
            .filter(it -> !ForeignQueueUnit.KIND.is(it.apiVersion(), it.kind()));
    Optional<String> clusterQueue = workload.flatMap(this::quotaQueue);
    if (owner.isEmpty() || clusterQueue.isEmpty()) {
      return remove(key);
    }
    if (!isShown(workload.get())) {
      units.remove(key);
      return Optional.empty();
    }
    if (!dependencies.jobs().knows(ForeignQueueUnit.KIND.apiVersion(), QueueUnits.KIND)) {
      return Optional.of(LATER);
    }
    return show(workload.get(), owner.get(), clusterQueue.get());
  }

  /** The ClusterQueue of a Workload, if it was made from a quota. */
  private Optional<String> quotaQueue(CachedWorkload workload) {
    return dependencies
        .caches()
        .localQueues()
        .find(workload.id().namespace(), workload.spec().queueName())
        .map(LocalQueue::getSpec)
        .map(spec -> Objects.requireNonNullElse(spec.clusterQueue(), ""))
        .flatMap(name -> dependencies.caches().clusterQueues().find(name))
        .filter(made -> SourceMark.of(made).isPresent())
        .map((ClusterQueue made) -> made.getMetadata().getName());
  }

  private Optional<CachedJob> unit(ObjectKey unit) {
    return dependencies.jobs().find(ForeignQueueUnit.KIND, unit.namespace(), unit.name());
  }

  private Optional<Duration> show(
      CachedWorkload workload, CachedWorkload.Owner owner, String clusterQueue)
      throws InterruptedException {
    String namespace = workload.id().namespace();
    Optional<CachedJob> job = dependencies.jobs().find(namespace, CachedJob.Controller.of(owner));
    ObjectKey shown = key(workload);
    String base = QueueUnits.name(owner.kind(), owner.name());
    ObjectKey key = new ObjectKey(namespace, units.getOrDefault(shown, base));
    QueueUnitManifest manifest =
        QueueUnitManifest.of(key.name(), workload, owner, job, clusterQueue);
    Optional<CachedJob> seen = unit(key);
    Optional<WrittenUnit> untouched =
        Optional.ofNullable(written.get(key))
            .filter(it -> seen.isPresent() && seen.get().version() <= it.version());
    if (untouched.isPresent() && untouched.get().manifest().equals(manifest)) {
      return Optional.empty();
    }
    if (untouched.isEmpty()) {
      Optional<JsonNode> found = read(key);
      if (found.isPresent() && isTaken(found.get(), workload)) {
        String other = QueueUnits.nameBesideTaken(base, owner.uid());
        if (key.name().equals(other)) {
          LOG.debug("queueunit={} mirrored=false reason=\"it is not ours\"", key);
          return Optional.empty();
        }
        units.put(shown, other);
        warn(
            namespace,
            owner,
            QuotaReconciler.NAME_TAKEN,
            "the name of the QueueUnit %s is taken, so that it is %s".formatted(key.name(), other));
        return Optional.of(Duration.ZERO);
      }
      Optional<UnitEdit> edit = found.map(it -> UnitEdit.of(it, workload, dependencies.caches()));
      edit.flatMap(it -> it.refusal(key.name()))
          .ifPresent(why -> warn(namespace, owner, UnsupportedFields.REASON, why));
      Optional<ObjectNode> patch = edit.flatMap(UnitEdit::patch);
      if (patch.isPresent()) {
        return steer(workload, patch.get());
      }
    }
    return write(key, manifest, untouched.map(WrittenUnit::manifest));
  }

  private void warn(String namespace, CachedWorkload.Owner owner, String reason, String note) {
    dependencies
        .events()
        .record(
            new ObjectReference(
                owner.apiVersion(), owner.kind(), namespace, owner.name(), owner.uid()),
            EventRecorder.Type.WARNING,
            reason,
            "Sync",
            note);
  }

  /** Whether a unit was made by somebody else, or shows another Workload that is still there. */
  private boolean isTaken(JsonNode unit, CachedWorkload workload) {
    String of = JsonFields.text(unit, "metadata", "annotations", QueueUnits.WORKLOAD);
    return !QueueUnits.isMirror(unit)
        || (!of.isEmpty()
            && !of.equals(workload.id().name())
            && dependencies
                .workloads()
                .get(workload.id().namespace(), of)
                .filter(it -> !it.deleting() && isShown(it))
                .isPresent());
  }

  private Optional<JsonNode> read(ObjectKey unit) throws InterruptedException {
    return switch (Futures.forResult(dependencies.client().send(ApiRequest.get(path(unit))))) {
      case ApiOutcome.Written found -> Optional.of(found.object());
      case ApiOutcome.Gone gone -> Optional.empty();
      case ApiOutcome.Conflict conflict -> throw new IllegalStateException(conflict.message());
      case ApiOutcome.Refused refused -> throw new IllegalStateException(refused.message());
      case ApiOutcome.Unreachable unreachable -> throw unreachable.exception();
    };
  }

  private static String path(ObjectKey unit) {
    return ForeignQueueUnit.KIND.path(unit.namespace(), unit.name());
  }

  /** The Workload first: the unit is written when the Workload's change is seen. */
  private Optional<Duration> steer(CachedWorkload workload, ObjectNode patch)
      throws InterruptedException {
    WorkloadWriter.Outcome outcome =
        Futures.forResult(dependencies.writer().patch(workload.id(), workload.version(), patch));
    LOG.info(
        "workload={} steered={} patch={}",
        workload.id(),
        outcome instanceof WorkloadWriter.Outcome.Written,
        patch);
    return Optional.of(SOON);
  }

  private Optional<Duration> write(
      ObjectKey key, QueueUnitManifest manifest, Optional<QueueUnitManifest> last)
      throws InterruptedException {
    if (whole) {
      return writeWhole(key, manifest);
    }
    if (last.filter(it -> it.object().equals(manifest.object())).isEmpty()) {
      ApiOutcome outcome = apply(path(key), manifest.object());
      if (!(outcome instanceof ApiOutcome.Written)) {
        return refused(key, outcome);
      }
    }
    ApiOutcome outcome = apply(path(key) + "/status", manifest.status());
    return switch (outcome) {
      case ApiOutcome.Written now -> written(key, manifest, now.object());
      case ApiOutcome.Gone gone -> writeWhole(key, manifest);
      default -> refused(key, outcome);
    };
  }

  /** One write, as a definition without the status subresource takes it. */
  private Optional<Duration> writeWhole(ObjectKey key, QueueUnitManifest manifest)
      throws InterruptedException {
    ApiOutcome outcome = apply(path(key), manifest.whole());
    if (!(outcome instanceof ApiOutcome.Written now)) {
      return refused(key, outcome);
    }
    ObjectNode unit = now.object();
    whole =
        unit.path("status").path("phase").equals(manifest.status().path("status").path("phase"));
    return whole ? written(key, manifest, unit) : Optional.of(SOON);
  }

  private Optional<Duration> written(ObjectKey key, QueueUnitManifest manifest, JsonNode unit) {
    long version = unit.path("metadata").path("resourceVersion").asLong();
    written.put(key, new WrittenUnit(manifest, version));
    return Optional.empty();
  }

  private ApiOutcome apply(String path, ObjectNode body) throws InterruptedException {
    String query = "?fieldManager=" + SourceMark.FIELD_OWNER + "&force=true";
    return Futures.forResult(
        dependencies.client().send(new ApiRequest("PATCH", path + query, APPLY, body.toString())));
  }

  private static Optional<Duration> refused(ObjectKey unit, ApiOutcome outcome) {
    return switch (outcome) {
      case ApiOutcome.Refused refused -> {
        LOG.warn("queueunit={} written=false reason=\"{}\"", unit, refused.message());
        yield Optional.of(LATER);
      }
      case ApiOutcome.Unreachable unreachable -> throw unreachable.exception();
      default -> Optional.of(SOON);
    };
  }

  /** Deletes the unit of a Workload that is not shown any more. */
  private Optional<Duration> remove(ObjectKey workload) throws InterruptedException {
    String name = units.remove(workload);
    if (name == null) {
      return Optional.empty();
    }
    ObjectKey key = new ObjectKey(workload.namespace(), name);
    written.remove(key);
    Optional<CachedJob> unit =
        unit(key)
            .filter(QueueUnitMirror::isMirror)
            .filter(
                it ->
                    it.annotations().getOrDefault(QueueUnits.WORKLOAD, "").equals(workload.name()));
    if (unit.isPresent()) {
      var unused =
          Futures.forResult(
              dependencies.client().send(ApiRequest.delete(path(key), unit.get().ref().uid())));
    }
    return Optional.empty();
  }

  @Override
  public void close() {
    queue.close();
  }
}
