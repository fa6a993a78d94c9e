package dev.sluice.kubequeue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.config.KubeQueue;
import dev.sluice.api.config.KubeQueue.Source;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.kube.client.ApiClient;
import dev.sluice.kube.client.ApiOutcome;
import dev.sluice.kube.client.ApiRequest;
import dev.sluice.kube.client.ObjectPath;
import dev.sluice.kube.controller.WorkQueue;
import dev.sluice.kube.controller.WorkQueueSettings;
import dev.sluice.kube.events.EventRecorder;
import dev.sluice.kubequeue.PlannedObject.ObjectId;
import dev.sluice.kubequeue.QueueObjects.ExistingObject;
import dev.sluice.kubequeue.QueueObjects.ObjectKind;
import dev.sluice.kubequeue.QuotaPlanner.QuotaPlan;
import dev.sluice.kubequeue.QuotaPlanner.QuotaPlan.TakenName;
import dev.sluice.kubequeue.QuotaSources.SourceNote;
import dev.sluice.kubequeue.SourceObjects.Kind;
import dev.sluice.queues.cache.InformerCaches;
import dev.sluice.workload.record.WorkloadLister;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

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
  private final QuotaSources sources;
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
    sources = new QuotaSources(settings.sources().contains(Source.PLAIN_RESOURCE_QUOTA));
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
        .filter(any -> settings.units().own() == KubeQueue.OwnUnits.MIRROR)
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

  /** The objects of the kinds that are made from quotas, as the caches have them. */
  private static final class ExistingObjects {

    private final InformerCaches caches;
    private final WorkloadLister workloads;

    ExistingObjects(InformerCaches caches, WorkloadLister workloads) {
      this.caches = caches;
      this.workloads = workloads;
    }

    /** Has a listener called when an object changes in what matters here. */
    void observe(Runnable listener) {
      caches.flavors().observe((before, after) -> tell(before, after, listener));
      caches.cohorts().observe((before, after) -> tell(before, after, listener));
      caches.clusterQueues().observe((before, after) -> tell(before, after, listener));
      caches.localQueues().observe((before, after) -> tell(before, after, listener));
      caches
          .namespaces()
          .observe(
              (before, after) -> {
                if (before == null || after == null) {
                  listener.run();
                }
              });
    }

    private static void tell(
        @Nullable HasMetadata before, @Nullable HasMetadata after, Runnable listener) {
      if (before == null
          || after == null
          || !sameIntent(before.getMetadata(), after.getMetadata())) {
        listener.run();
      }
    }

    private static boolean sameIntent(ObjectMeta before, ObjectMeta after) {
      return Objects.equals(before.getGeneration(), after.getGeneration())
          && Objects.equals(before.getAnnotations(), after.getAnnotations())
          && Objects.equals(before.getDeletionTimestamp(), after.getDeletionTimestamp());
    }

    /**
     * All objects.
     *
     * @param queues the Queues that count
     */
    Map<ObjectId, ExistingObject> all(Collection<GenericKubernetesResource> queues) {
      Map<ObjectId, ExistingObject> result = new HashMap<>();
      add(result, ObjectKind.FLAVOR, caches.flavors().all(), each -> each.getSpec());
      add(result, ObjectKind.COHORT, caches.cohorts().all(), each -> each.getSpec());
      add(result, ObjectKind.CLUSTER_QUEUE, caches.clusterQueues().all(), each -> each.getSpec());
      add(result, ObjectKind.LOCAL_QUEUE, caches.localQueues().all(), each -> each.getSpec());
      add(result, ObjectKind.QUEUE, queues, each -> each.getAdditionalProperties().get("spec"));
      return result;
    }

    private <T extends HasMetadata> void add(
        Map<ObjectId, ExistingObject> result,
        ObjectKind kind,
        Collection<T> objects,
        Function<T, @Nullable Object> spec) {
      for (T object : objects) {
        ObjectMeta metadata = object.getMetadata();
        ObjectId id =
            new ObjectId(
                kind, Objects.requireNonNullElse(metadata.getNamespace(), ""), metadata.getName());
        Map<String, String> annotations =
            Objects.requireNonNullElse(metadata.getAnnotations(), Map.of());
        boolean ours = SourceMark.of(annotations).isPresent();
        Object fields = spec.apply(object);
        // of strangers it matters in which Cohorts they are
        boolean hasCohort = kind == ObjectKind.CLUSTER_QUEUE || kind == ObjectKind.COHORT;
        JsonNode tree =
            (ours || hasCohort) && fields != null
                ? JsonMappers.JSON.valueToTree(fields)
                : MissingNode.getInstance();
        result.put(
            id,
            new ExistingObject(
                id,
                Objects.requireNonNullElse(metadata.getUid(), ""),
                annotations,
                tree,
                ours && isInUse(id),
                metadata.getDeletionTimestamp() != null));
      }
    }

    private boolean isInUse(ObjectId id) {
      return switch (id.kind()) {
        case CLUSTER_QUEUE -> !workloads.reservingIn(id.name()).isEmpty();
        case LOCAL_QUEUE ->
            workloads.inQueue(id.namespace(), id.name()).stream()
                .anyMatch(each -> !each.finished());
        case COHORT, FLAVOR, QUEUE -> false;
      };
    }
  }

  /**
   * Writes planned objects. An object is created only if none has its name, and applied, as field
   * owner {@value SourceMark#FIELD_OWNER}, only if it is still the one that was looked at.
   */
  private static final class PlanWriter {

    private static final Logger LOG = LoggerFactory.getLogger(PlanWriter.class);
    private static final String APPLY = "application/apply-patch+yaml";

    private final ApiClient requests;

    PlanWriter(ApiClient requests) {
      this.requests = requests;
    }

    /** Creates an object; false if that has to be tried again. */
    boolean create(PlannedObject object) {
      ApiOutcome outcome =
          requests
              .send(
                  ApiRequest.create(path(object.id()).collection(), body(object))
                      .by(SourceMark.FIELD_OWNER))
              .join();
      return done(object.id(), "created", outcome);
    }

    /** Makes an object as planned; false if that has to be tried again. */
    boolean apply(PlannedObject object, ExistingObject existing) {
      ObjectNode body = body(object);
      body.withObject("/metadata").put("uid", existing.uid());
      String path = path(object.id()).object();
      ApiOutcome outcome =
          requests
              .send(
                  new ApiRequest(
                      "PATCH",
                      path + "?fieldManager=" + SourceMark.FIELD_OWNER + "&force=true",
                      APPLY,
                      body.toString()))
              .join();
      if (outcome instanceof ApiOutcome.Written written
          && PlanDifference.differs(object, annotations(written), written.object().path("spec"))) {
        ObjectNode rest = PlanDifference.patch(object);
        rest.withObject("/metadata").put("uid", existing.uid());
        return done(
            object.id(),
            "patched",
            requests.send(ApiRequest.patch(path, rest).by(SourceMark.FIELD_OWNER)).join());
      }
      return done(object.id(), "applied", outcome);
    }

    private static JsonNode annotations(ApiOutcome.Written written) {
      return written.object().path("metadata").path("annotations");
    }

    /** Deletes an object; false if that has to be tried again. */
    boolean delete(ObjectId id, ExistingObject existing) {
      ApiOutcome outcome =
          requests.send(ApiRequest.delete(path(id).object(), existing.uid())).join();
      return done(id, "deleted", outcome);
    }

    private static ObjectPath path(ObjectId id) {
      return new ObjectPath(id.kind().apiVersion(), id.namespace(), id.kind().plural(), id.name());
    }

    private static ObjectNode body(PlannedObject object) {
      ObjectNode body = JsonMappers.JSON.createObjectNode();
      body.put("apiVersion", object.id().kind().apiVersion())
          .put("kind", object.id().kind().kind());
      ObjectNode metadata = body.putObject("metadata").put("name", object.id().name());
      if (!object.id().namespace().isEmpty()) {
        metadata.put("namespace", object.id().namespace());
      }
      ObjectNode annotations = metadata.putObject("annotations");
      object.annotations().forEach(annotations::put);
      if (object.id().kind() == ObjectKind.QUEUE) {
        ObjectNode labels = metadata.putObject("labels");
        QueueObjects.LABELS.forEach(labels::put);
      }
      body.set("spec", object.spec());
      return body;
    }

    private static boolean done(ObjectId id, String what, ApiOutcome outcome) {
      switch (outcome) {
        case ApiOutcome.Written written -> LOG.info("{} {}=true", id, what);
        case ApiOutcome.Gone gone ->
            LOG.info("{} {}=false reason=\"{}\"", id, what, gone.message());
        case ApiOutcome.Conflict conflict ->
            LOG.info("{} {}=false reason=\"{}\"", id, what, conflict.message());
        case ApiOutcome.Unreachable unreachable ->
            LOG.debug("{} {}=false reason=\"{}\"", id, what, unreachable.message());
        case ApiOutcome.Refused refused ->
            LOG.warn(
                "{} {}=false code={} reason=\"{}\"", id, what, refused.code(), refused.message());
      }
      return outcome instanceof ApiOutcome.Written
          || (outcome instanceof ApiOutcome.Gone && what.equals("deleted"));
    }
  }

  /**
   * The writes that a plan needs now. Quota is taken away, and that was seen, before any is given
   * to others: the scheduler learns of queues and of Cohorts by separate watches, in any order.
   * What holds quota is never in a Cohort that nobody knows (yet, or any more), because its usage
   * would not count in the tree, and others would get the quota that it uses: an object moves when
   * the Cohort was seen, and a Cohort goes when everything was seen to have left.
   *
   * @param reductions what takes quota away, and gives none
   * @param others what else is written; nothing as long as there are reductions
   * @param removed what is deleted at the end
   * @param waiting whether there is more to do when these writes, or those of others, were seen
   */
  record PlanSteps(
      List<PlannedObject> reductions,
      List<PlannedObject> others,
      List<ObjectId> removed,
      boolean waiting) {

    private static final List<String> PARENTS = List.of("cohortName", "parentName");

    /** The writes that make of these objects what is planned. */
    static PlanSteps of(QuotaPlan plan, Map<ObjectId, ExistingObject> existing) {
      List<PlannedObject> reductions = new ArrayList<>();
      List<PlannedObject> others = new ArrayList<>();
      boolean waiting = false;
      for (PlannedObject planned : plan.objects()) {
        ExistingObject before = existing.get(planned.id());
        if (before == null) {
          others.add(planned);
          continue;
        }
        boolean known = isParentKnown(planned, existing);
        waiting |= !known || before.leaving();
        PlannedObject object = known ? planned : whereItWas(planned, before);
        if (before.leaving() || !PlanDifference.differs(object, before)) {
          continue;
        }
        if (PlanDifference.reduces(object, before)) {
          reductions.add(PlanDifference.reduced(object, before));
        } else {
          others.add(object);
        }
      }
      if (!reductions.isEmpty()) {
        return new PlanSteps(reductions, List.of(), List.of(), true);
      }
      Set<String> parents = new HashSet<>();
      existing.values().forEach(each -> parents.add(parent(each.spec())));
      List<ObjectId> removed =
          plan.removed().stream()
              .filter(each -> each.kind() != ObjectKind.COHORT || !parents.contains(each.name()))
              .toList();
      return new PlanSteps(
          reductions, others, removed, waiting || removed.size() < plan.removed().size());
    }

    private static boolean isParentKnown(
        PlannedObject planned, Map<ObjectId, ExistingObject> existing) {
      String parent = parent(planned.spec());
      ExistingObject cohort = existing.get(new ObjectId(ObjectKind.COHORT, "", parent));
      return parent.isEmpty() || (cohort != null && !cohort.leaving());
    }

    private static String parent(JsonNode spec) {
      return PARENTS.stream()
          .map(field -> spec.path(field).asText())
          .filter(name -> !name.isEmpty())
          .findFirst()
          .orElse("");
    }

    /** The planned object in the Cohort in which it is. */
    private static PlannedObject whereItWas(PlannedObject planned, ExistingObject before) {
      ObjectNode spec = planned.spec().deepCopy();
      for (String field : PARENTS) {
        spec.remove(field);
        if (!before.spec().path(field).asText().isEmpty()) {
          spec.set(field, before.spec().get(field));
        }
      }
      return new PlannedObject(planned.id(), planned.annotations(), spec);
    }
  }
}
