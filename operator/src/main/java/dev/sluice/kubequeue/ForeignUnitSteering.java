package dev.sluice.kubequeue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.jobs.controller.IntegrationRegistry;
import dev.sluice.jobs.kind.JobRef;
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
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Gives the Workload of a QueueUnit that an extension made the priority that the unit has, and
 * makes it inactive while the unit is: the fields of a unit that may change while it waits.
 */
public final class ForeignUnitSteering implements WorkloadListener, AutoCloseable {

  private static final Duration SOON = Duration.ofSeconds(1);

  private final Dependencies dependencies;
  private final WorkQueue<ObjectKey> work;

  /** The unit and the Workload that were last found to agree, by unit. */
  private final Map<ObjectKey, Agreed> agreed = new ConcurrentHashMap<>();

  private record Agreed(String uid, long version, int priority, boolean active) {}

  /**
   * What is read and written.
   *
   * @param leading whether this process may write
   */
  public record Dependencies(
      WorkloadLister workloads,
      WorkloadWriter writer,
      InformerCaches caches,
      IntegrationRegistry jobs,
      ApiClient client,
      EventRecorder events,
      WorkQueueSettings work,
      BooleanSupplier leading) {}

  /** Follows units and Workloads at once. */
  public ForeignUnitSteering(Dependencies dependencies) {
    this.dependencies = dependencies;
    work = new WorkQueue<>(this::reconcile, dependencies.work());
    dependencies.jobs().observe(this::unitChanged);
  }

  private void unitChanged(@Nullable CachedJob before, @Nullable CachedJob after) {
    CachedJob unit = Objects.requireNonNull(after == null ? before : after);
    if (unit.ref().kind().equals(ForeignQueueUnit.KIND)) {
      work.enqueue(new ObjectKey(unit.ref().namespace(), unit.ref().name()));
    }
  }

  /** Looks at the units of all Workloads. */
  public void enqueueAll() {
    dependencies.workloads().all().forEach(this::enqueue);
  }

  @Override
  public void synced() {
    enqueueAll();
  }

  @Override
  public void changed(@Nullable CachedWorkload before, @Nullable CachedWorkload after) {
    if (after != null) {
      enqueue(after);
    }
  }

  private void enqueue(CachedWorkload workload) {
    workload
        .owner()
        .filter(it -> ForeignQueueUnit.KIND.is(it.apiVersion(), it.kind()))
        .ifPresent(it -> work.enqueue(new ObjectKey(workload.id().namespace(), it.name())));
  }

  private Optional<Duration> reconcile(ObjectKey key) throws InterruptedException {
    Optional<CachedJob> unit =
        dependencies.jobs().find(ForeignQueueUnit.KIND, key.namespace(), key.name());
    if (unit.isEmpty()) {
      agreed.remove(key);
      return Optional.empty();
    }
    Optional<CachedWorkload> found =
        dependencies.workloads().ownedBy(unit.get().ref().uid()).stream()
            .filter(it -> !it.finished() && !it.deleting())
            .findFirst();
    if (found.isEmpty() || !dependencies.leading().getAsBoolean()) {
      return Optional.empty();
    }
    CachedWorkload workload = found.get();
    Agreed now =
        new Agreed(
            unit.get().ref().uid(),
            unit.get().version(),
            QueueUnitManifest.priority(workload),
            workload.spec().active());
    if (now.equals(agreed.get(key))) {
      return Optional.empty();
    }
    Optional<JsonNode> read = read(key);
    Optional<UnitEdit> edit =
        read.map(it -> UnitEdit.ofForeign(it, workload, dependencies.caches()));
    edit.flatMap(it -> it.refusal(key.name())).ifPresent(why -> warn(unit.get().ref(), why));
    Optional<ObjectNode> patch = edit.flatMap(UnitEdit::patch);
    if (patch.isEmpty()) {
      agreed.put(key, now);
      return Optional.empty();
    }
    WorkloadWriter.Outcome unused =
        Futures.forResult(
            dependencies.writer().patch(workload.id(), workload.version(), patch.get()));
    return Optional.of(SOON);
  }

  private void warn(JobRef unitRef, String note) {
    dependencies
        .events()
        .record(
            new ObjectReference(
                ForeignQueueUnit.KIND.apiVersion(),
                QueueUnits.KIND,
                unitRef.namespace(),
                unitRef.name(),
                unitRef.uid()),
            EventRecorder.Type.WARNING,
            UnsupportedFields.REASON,
            "Sync",
            note);
  }

  private Optional<JsonNode> read(ObjectKey unit) throws InterruptedException {
    String path = ForeignQueueUnit.KIND.path(unit.namespace(), unit.name());
    return switch (Futures.forResult(dependencies.client().send(ApiRequest.get(path)))) {
      case ApiOutcome.Written found -> Optional.of(found.object());
      case ApiOutcome.Gone gone -> Optional.empty();
      case ApiOutcome.Conflict conflict -> throw new IllegalStateException(conflict.message());
      case ApiOutcome.Refused refused -> throw new IllegalStateException(refused.message());
      case ApiOutcome.Unreachable unreachable -> throw unreachable.exception();
    };
  }

  @Override
  public void close() {
    work.close();
  }
}
