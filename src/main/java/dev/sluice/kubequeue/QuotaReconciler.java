package dev.sluice.kubequeue;

import dev.sluice.api.config.KubeQueue;
import dev.sluice.kube.client.ApiClient;
import dev.sluice.kube.controller.WorkQueue;
import dev.sluice.kube.controller.WorkQueueSettings;
import dev.sluice.kube.events.EventRecorder;
import dev.sluice.kubequeue.PlannedObject.ObjectId;
import dev.sluice.kubequeue.QuotaPlan.TakenName;
import dev.sluice.kubequeue.QuotaSources.SourceNote;
import dev.sluice.kubequeue.SourceObjects.Kind;
import dev.sluice.queues.cache.InformerCaches;
import dev.sluice.workload.record.WorkloadLister;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;

/**
 * Keeps Cohorts, ClusterQueues and LocalQueues as the quotas say. All of them are looked at
 * together, whenever a quota or one of them changes.
 */
public final class QuotaReconciler implements AutoCloseable {

  private static final String ALL = "quotas of kube-queue";

  /** The reason of an event about a name that somebody else's object has. */
  static final String NAME_TAKEN = "NameTaken";

  /** Changes that come within this time are acted upon together. */
  private static final Duration GATHER = Duration.ofMillis(50);

  private static final Duration LATER = Duration.ofSeconds(2);

  private final KubeQueue settings;
  private final Dependencies dependencies;
  private final SourceObjects objects;
  private final QuotaSources sources = new QuotaSources();
  private final ExistingObjects existing;
  private final PlanWriter writer;
  private final WorkQueue<String> work;
  private Set<SourceNote> told = Set.of();
  private volatile boolean started;

  /**
   * What the reconciler needs.
   *
   * @param leading whether this process may write, and knows what was written before
   */
  public record Dependencies(
      InformerCaches caches,
      WorkloadLister workloads,
      ApiClient requests,
      EventRecorder events,
      BooleanSupplier leading,
      WorkQueueSettings work) {}

  /** Makes a reader of sources that calls the listener after each change. */
  public interface Reader {

    /** Reads nothing before it is started. */
    SourceObjects read(Runnable changed);
  }

  /** Does nothing before {@link #start}. */
  public QuotaReconciler(KubeQueue settings, Dependencies dependencies, Reader reader) {
    this.settings = settings;
    this.dependencies = dependencies;
    objects = reader.read(this::changed);
    existing = new ExistingObjects(dependencies.caches(), dependencies.workloads());
    writer = new PlanWriter(dependencies.requests());
    work = new WorkQueue<>(any -> reconcile(), dependencies.work());
    existing.observe(this::changed);
  }

  /** The objects that quotas are read from. */
  public SourceObjects objects() {
    return objects;
  }

  /** Begins: the caches are complete, and this process leads. */
  public void start() {
    started = true;
    changed();
  }

  private void changed() {
    if (started) {
      work.enqueueAfter(ALL, GATHER);
    }
  }

  private Optional<Duration> reconcile() {
    if (!dependencies.leading().getAsBoolean() || objects.isListing()) {
      return Optional.of(LATER);
    }
    QuotaSources.Reading reading = sources.read(objects);
    QueueOverrides overrides =
        new QueueOverrides(settings, objects.all(Kind.QUEUE), sources.elasticQuotas(objects));
    Map<ObjectId, ExistingObject> found = existing.all(queues());
    QuotaPlan plan =
        QuotaPlanner.plan(
            settings,
            new QuotaPlanner.Input(
                reading.trees(),
                reading.readable(),
                found,
                namespaces(),
                overrides::of,
                queueNamespace()));
    reading.notes().addAll(overrides.notes());
    tell(reading, plan);
    boolean complete = write(plan, found);
    return complete && !plan.waiting() ? Optional.empty() : Optional.of(LATER);
  }

  /** Where Queues are made: if they are wanted, their kind is served and the namespace exists. */
  private Optional<String> queueNamespace() {
    return Optional.of(settings.namespace())
        .filter(any -> settings.queueUnits() == KubeQueue.OwnUnits.MIRROR)
        .filter(any -> objects.isServed(Kind.QUEUE))
        .filter(namespaces()::contains);
  }

  /** Those whose names count, and those of ours that were made in another namespace. */
  private List<GenericKubernetesResource> queues() {
    return objects.all(Kind.QUEUE).stream()
        .filter(
            each ->
                settings.namespace().equals(each.getMetadata().getNamespace())
                    || QueueOverrides.isMirror(each))
        .toList();
  }

  private Set<String> namespaces() {
    return dependencies.caches().namespaces().all().stream()
        .filter(each -> each.getMetadata().getDeletionTimestamp() == null)
        .map(each -> each.getMetadata().getName())
        .collect(Collectors.toUnmodifiableSet());
  }

  /** Nothing is given before all was taken away that others get. */
  private boolean write(QuotaPlan plan, Map<ObjectId, ExistingObject> found) {
    PlanSteps steps = PlanSteps.of(plan, found);
    for (PlannedObject object : steps.reductions()) {
      if (!writer.apply(object, Objects.requireNonNull(found.get(object.id())))) {
        return false;
      }
    }
    boolean written = true;
    for (PlannedObject object : steps.others()) {
      ExistingObject before = found.get(object.id());
      written &= before == null ? writer.create(object) : writer.apply(object, before);
    }
    boolean complete = written && !steps.waiting();
    for (ObjectId id : steps.removed()) {
      ExistingObject before = found.get(id);
      // what people wrote into a Queue isn't lost while the one that takes its place isn't there
      boolean early = id.kind() == ObjectKind.QUEUE && !written;
      complete &= !early && (before == null || writer.delete(id, before));
    }
    return complete;
  }

  /** Tells each note once, until it has not applied for a while. */
  private void tell(QuotaSources.Reading reading, QuotaPlan plan) {
    Set<SourceNote> now = new HashSet<>(reading.notes());
    for (TakenName name : plan.taken()) {
      now.add(new SourceNote(QuotaSources.reference(name.source()), NAME_TAKEN, name.note()));
    }
    for (SourceNote note : now) {
      if (!told.contains(note)) {
        dependencies
            .events()
            .record(note.about(), EventRecorder.Type.WARNING, note.reason(), "Sync", note.note());
      }
    }
    told = now;
  }

  @Override
  public void close() {
    work.close();
    objects.close();
  }
}
